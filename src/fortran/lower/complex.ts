import { binary, call, cast, compare, constant, int, logical, select, unary } from "../../ir/expressions.js";
import { isFloat } from "../../ir/scalars.js";
import type { Expr, Location, ScalarType } from "../../ir/types.js";
import { findProcedure } from "../analyse/symbols.js";
import { COMPLEX_POWER, IMAGINARY_PART, MODULUS, REFUSED } from "../complex/nodes.js";
import type { Apply, Binary, Expr as Tree } from "../tree/index.js";
import { fortranConstant } from "./constants.js";
import type { FortranLowering, ProcedureFrame } from "./lowering.js";
import { converted, promoted, treeName, Unlowerable, ZERO } from "./values.js";

/* Complex numbers as two values, with the operations in the order that gfortran gives them: products without a check of NaN, quotients by Smith. */

interface Pair {
  readonly re: Expr;
  readonly im: Expr;
}

type Place = readonly [cx: FortranLowering, frame: ProcedureFrame, index: readonly Expr[]];

/** The real number that is asked of a complex expression. */
export function partOfComplex(cx: FortranLowering, frame: ProcedureFrame, e: Apply, index: readonly Expr[]): Expr {
  const [arg] = e.args;
  const name = treeName(e.base);
  if (name === REFUSED) throw refusedComplex(e);
  const { re, im } = complexValue(cx, frame, (arg as { value: Tree }).value, index);
  if (name === MODULUS) return call("hypot", re as never, im);
  return name === IMAGINARY_PART ? im : re;
}

/** The reason, by complex/nodes, why an expression cannot be written with pairs. */
function refusedComplex({ args, at }: Apply): Unlowerable {
  const [construct, why, remedy] = args.map((arg) => (arg.kind === "value" && arg.value.kind === "literal" ? arg.value.text : ""));
  return new Unlowerable(at, construct, why, remedy);
}

/** Both values of a complex expression. @throws Unlowerable */
export function complexValue(cx: FortranLowering, frame: ProcedureFrame, e: Tree, index: readonly Expr[] = []): Pair {
  const place: Place = [cx, frame, index];
  switch (e.kind) {
    case "complex":
      return alike([cx.parts.value(cx, frame, e.re, index), cx.parts.value(cx, frame, e.im, index)], e.at);
    case "group":
      return complexValue(cx, frame, e.a, index);
    case "unary": {
      const { re, im } = complexValue(cx, frame, e.a, index);
      return e.op === "-" ? { re: unary("neg", re), im: unary("neg", im) } : { re, im };
    }
    case "binary":
      return operated(place, e);
    case "apply":
      return applied(place, e);
    // Any other expression would be a leaf, which is a pair.
    default:
      throw new Unlowerable(e.at, treeName(e), "it is not a complex number", "write cmplx(x, y)");
  }
}

function alike([re, im]: readonly Expr[], at: Location): Pair {
  const type = promoted(promoted(re.type, im.type), "f32");
  return { re: converted(type, re, at), im: converted(type, im, at) };
}

const inType = (type: ScalarType, { re, im }: Pair, at: Location): Pair => ({ re: converted(type, re, at), im: converted(type, im, at) });

const kept = (cx: FortranLowering, { re, im }: Pair): Pair => ({ re: cx.stable(re, "re"), im: cx.stable(im, "im") });

function operated([cx, frame, index]: Place, e: Binary): Pair {
  const { op, at } = e;
  const left = complexValue(cx, frame, e.a, index);
  if (op === "**") return power(cx, left, cx.parts.value(cx, frame, e.b, index), at);
  const right = complexValue(cx, frame, e.b, index);
  const type = promoted(left.re.type, right.re.type);
  const [a, b] = [inType(type, left, at), inType(type, right, at)];
  switch (op) {
    case "+":
    case "-": {
      const fn = op === "+" ? "add" : "sub";
      return { re: binary(fn, a.re, b.re), im: binary(fn, a.im, b.im) };
    }
    case "*":
      return kept(cx, product(kept(cx, a), kept(cx, b)));
    case "/":
      return quotient(cx, kept(cx, a), kept(cx, b));
    // Any other operator is refused.
    default:
      throw new Unlowerable(at, op, "it is not an operation of complex numbers", "compare real(z) and aimag(z)");
  }
}

const product = (a: Pair, b: Pair): Pair => ({
  re: binary("sub", binary("mul", a.re, b.re), binary("mul", a.im, b.im)),
  im: binary("add", binary("mul", a.re, b.im), binary("mul", a.im, b.re)),
});

/** Smith, Algorithm 116, Comm. ACM 5 (1962): divides by the greater part of the divisor. */
function quotient(cx: FortranLowering, a: Pair, b: Pair): Pair {
  const isSmall = cx.kept("small", compare("lt", unary("abs", b.re), unary("abs", b.im)));
  const [most, least] = [select(isSmall, b.im, b.re), select(isSmall, b.re, b.im)].map((e) => cx.kept("divisor", e));
  const ratio = cx.kept("ratio", binary("div", least, most));
  const by = cx.kept("by", binary("add", binary("mul", least, ratio), most));
  const [x, y] = [cx.kept("x", binary("mul", a.re, ratio)), cx.kept("y", binary("mul", a.im, ratio))];
  const re = select(isSmall, binary("add", x, a.im), binary("add", y, a.re));
  const im = select(isSmall, binary("sub", y, a.re), binary("sub", a.im, x));
  return kept(cx, { re: binary("div", re, by), im: binary("div", im, by) });
}

/** Whole powers are products, in the order of libgfortran's `pow_c8_i4`; others are `exp(y*log(x))`. */
function power(cx: FortranLowering, given: Pair, exponent: Expr, at: Location): Pair {
  const { type } = given.re;
  if (isFloat(exponent.type)) {
    const wide = promoted(type, exponent.type);
    return ofPowers(cx, inType(wide, given, at), { re: converted(wide, exponent, at), im: constant(wide, 0) });
  }
  const one: Pair = { re: constant(type, 1), im: constant(type, 0) };
  const n = fortranConstant(exponent);
  if (typeof n !== "number") return turned(cx, given, exponent, one);
  let factor = kept(cx, n < 0 ? quotient(cx, one, kept(cx, given)) : given);
  let made: Pair | undefined;
  for (let rest = Math.abs(n) >>> 0; rest > 0; rest >>>= 1) {
    if (rest & 1) made = made ? kept(cx, product(made, factor)) : factor;
    if (rest > 1) factor = kept(cx, product(factor, factor));
  }
  return made ?? one;
}

/** A power whose exponent is known only where it runs. */
function turned(cx: FortranLowering, given: Pair, exponent: Expr, one: Pair): Pair {
  const { type } = given.re;
  const { location } = cx;
  const n = cx.kept("exponent", exponent);
  const x = kept(cx, given);
  const inverse = quotient(cx, one, x);
  const isNegative = compare("lt", n, ZERO);
  const local = (wish: string, init: Expr): Expr => {
    const made = cx.local(wish, init.type, init);
    return { op: "local", type: made.type, name: made.name };
  };
  const so: Pair = { re: local("power_re", one.re), im: local("power_im", one.im) };
  const by: Pair = { re: local("by_re", select(isNegative, inverse.re, x.re)), im: local("by_im", select(isNegative, inverse.im, x.im)) };
  const rest = local("rest", cast("u32", unary("abs", n)));
  const set = (to: Pair, e: Pair): void => {
    const [re, im] = [cx.kept("re", e.re), cx.kept("im", e.im)];
    cx.assign((to.re as { name: string }).name, re);
    cx.assign((to.im as { name: string }).name, im);
  };
  const body = cx.collect(() => {
    const then = cx.collect(() => set(so, product(so, by)));
    cx.push({ kind: "if", cond: compare("ne", binary("and", rest, 1), 0), then, else: [], location });
    set(by, product(by, by));
    cx.assign((rest as { name: string }).name, binary("shr", rest, constant("u32", 1)));
  });
  cx.push({ kind: "while", cond: compare("ne", rest, 0), body, update: [], location });
  return { re: cx.kept("re", converted(type, so.re, location)), im: cx.kept("im", so.im) };
}

function ofPowers(cx: FortranLowering, a: Pair, b: Pair): Pair {
  const x = kept(cx, a);
  const made = FUNCTIONS.exp(cx, product(FUNCTIONS.log(cx, x), kept(cx, b)));
  const { type } = x.re;
  const zero = constant(type, 0);
  const isZero = logical("and", compare("eq", x.re, zero), compare("eq", x.im, zero));
  return kept(cx, { re: select(isZero, zero, made.re), im: select(isZero, zero, made.im) });
}

const fn = (name: "exp" | "log" | "sin" | "cos" | "sinh" | "cosh" | "hypot" | "atan2", a: Expr, b?: Expr): Expr =>
  call(name, a as never, b);

/** exp(x), sin(x) and the like of real numbers, as both are needed. */
const pairOf = (cx: FortranLowering, x: Expr, ...names: readonly [Parameters<typeof fn>[0], Parameters<typeof fn>[0]]): [Expr, Expr] => [
  cx.kept(names[0], fn(names[0], x)),
  cx.kept(names[1], fn(names[1], x)),
];

const FUNCTIONS: Readonly<Record<string, (cx: FortranLowering, z: Pair) => Pair>> = {
  exp(cx, { re, im }) {
    const size = cx.kept("exp", fn("exp", re));
    const [sin, cos] = pairOf(cx, im, "sin", "cos");
    return kept(cx, { re: binary("mul", size, cos), im: binary("mul", size, sin) });
  },
  log: (cx, { re, im }) => ({ re: cx.kept("log", fn("log", fn("hypot", re, im))), im: cx.kept("angle", fn("atan2", im, re)) }),
  sqrt: root,
  sin(cx, { re, im }) {
    const [sin, cos] = pairOf(cx, re, "sin", "cos");
    const [sinh, cosh] = pairOf(cx, im, "sinh", "cosh");
    return { re: binary("mul", sin, cosh), im: binary("mul", cos, sinh) };
  },
  cos(cx, { re, im }) {
    const [sin, cos] = pairOf(cx, re, "sin", "cos");
    const [sinh, cosh] = pairOf(cx, im, "sinh", "cosh");
    return { re: binary("mul", cos, cosh), im: unary("neg", binary("mul", sin, sinh)) };
  },
  sinh(cx, { re, im }) {
    const [sin, cos] = pairOf(cx, im, "sin", "cos");
    const [sinh, cosh] = pairOf(cx, re, "sinh", "cosh");
    return { re: binary("mul", sinh, cos), im: binary("mul", cosh, sin) };
  },
  cosh(cx, { re, im }) {
    const [sin, cos] = pairOf(cx, im, "sin", "cos");
    const [sinh, cosh] = pairOf(cx, re, "sinh", "cosh");
    return { re: binary("mul", cosh, cos), im: binary("mul", sinh, sin) };
  },
  tan: (cx, z) => quotient(cx, kept(cx, FUNCTIONS.sin(cx, z)), kept(cx, FUNCTIONS.cos(cx, z))),
  tanh: (cx, z) => quotient(cx, kept(cx, FUNCTIONS.sinh(cx, z)), kept(cx, FUNCTIONS.cosh(cx, z))),
  conjg: (_, { re, im }) => ({ re, im: unary("neg", im) }),
};

/** The root with a real part that is not negative, from the greater of both parts, so that nothing cancels. */
function root(cx: FortranLowering, { re, im }: Pair): Pair {
  const { type } = re;
  const [zero, half] = [constant(type, 0), constant(type, 0.5)];
  const sum = binary("add", unary("abs", re), fn("hypot", re, im));
  const most = cx.kept("root", unary("sqrt", binary("mul", half, sum)));
  const least = cx.kept("other", select(compare("eq", most, zero), zero, binary("div", binary("mul", half, unary("abs", im)), most)));
  const isRight = compare("ge", re, zero);
  return kept(cx, { re: select(isRight, most, least), im: binary("copysign", select(isRight, least, most), im) });
}

function applied([cx, frame, index]: Place, e: Apply): Pair {
  const name = treeName(e.base);
  const { at } = e;
  const procedure = findProcedure(frame.scope, name);
  if (procedure) {
    const made = cx.parts.inline(cx, frame, procedure, e.args, at);
    const array = made?.kind === "array" ? made.array : undefined;
    if (array?.extents.length !== 1) throw new Unlowerable(at, name, "its result is an array", "assign it to an array first");
    const [re, im] = [0, 1].map((n) => cx.kept("result", array.at([int(n)]).load(at)));
    return { re, im };
  }
  const trees = e.args.map((arg) => (arg as { value: Tree }).value);
  const given = trees.map((tree) => complexValue(cx, frame, tree, index));
  if (name === COMPLEX_POWER) {
    const type = promoted(given[0].re.type, given[1].re.type);
    return ofPowers(cx, inType(type, given[0], at), inType(type, given[1], at));
  }
  if (Object.hasOwn(FUNCTIONS, name)) return FUNCTIONS[name](cx, kept(cx, given[0]));
  throw new Unlowerable(at, name, "it is not supported for complex numbers", "write it with real(z) and aimag(z)");
}
