import { binary, call, cast, compare, constant, int, logical, not, select, unary } from "../../ir/expressions.js";
import type { MathFn } from "../../ir/operators.js";
import { ELEMENTS, isFloat } from "../../ir/scalars.js";
import type { Expr, Location, NumberType, ScalarType } from "../../ir/types.js";
import { EXTREMES } from "../analyse/writes.js";
import type { FortranLowering } from "./lowering.js";
import { promoted, Unlowerable } from "./values.js";

/* Fortran's elemental functions. */

interface Call {
  readonly name: string;
  readonly at: Location;
  readonly cx: FortranLowering;
}
type Elemental = (args: Expr[], call: Call) => Expr;

const NAMED = ["exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "atan2"] as const;
const MATHS: Readonly<Record<string, MathFn>> = {
  ...Object.fromEntries(NAMED.flatMap((fn) => [fn, `d${fn}`].map((name) => [name, fn]))),
  hypot: "hypot",
  alog: "log",
  alog10: "log10",
};

const alike = (args: Expr[]): Expr[] => {
  const type = args.map(({ type }) => type).reduce(promoted);
  return args.map((arg) => cast(type, arg));
};

/** The least or greatest. Of reals one comparison decides: Fortran leaves open which of 0 and -0 it takes, and what becomes of a NaN. */
const extreme =
  (fn: "min" | "max"): Elemental =>
  (args, { cx }) =>
    alike(args).reduce((a, b) => {
      if (!isFloat(a.type)) return binary(fn, a, b);
      const [x, y] = [cx.stable(a, fn), cx.stable(b, fn)];
      return select(compare(fn === "min" ? "lt" : "gt", x, y), x, y);
    });

const below = (a: Expr): Expr => compare("lt", a, constant(a.type, 0));

/** |a| with the sign of b; -0 is negative. */
function signed(a: Expr, b: Expr, cx: FortranLowering): Expr {
  if (isFloat(a.type)) return binary("copysign", a, b);
  const size = cx.stable(unary("abs", a), "size");
  return select(below(b), unary("neg", size), size);
}

/** To the nearest integer, halves away from zero. */
function nearest(a: Expr, cx: FortranLowering): Expr {
  const x = cx.stable(a, "x");
  const whole = cx.kept("whole", unary("trunc", x));
  const one = constant(x.type, 1);
  const far = compare("ge", unary("abs", binary("sub", x, whole)), constant(x.type, 0.5));
  return select(far, select(below(x), binary("sub", whole, one), binary("add", whole, one)), whole);
}

/** The remainder with the sign of the divisor. */
function modulo(a: Expr, p: Expr, cx: FortranLowering): Expr {
  const divisor = cx.stable(p, "p");
  const rest = cx.kept("rest", binary("rem", a, divisor));
  const zero = constant(a.type, 0);
  const turned = logical("and", compare("ne", rest, zero), compare("ne", compare("lt", rest, zero), compare("lt", divisor, zero)));
  return select(turned, binary("add", rest, divisor), rest);
}

const remainder: Elemental = (args) => {
  const [a, p] = alike(args);
  return binary("rem", a, p);
};

/** A whole number of reals that is an integer: as `int(…)`, by truncation. */
const toInteger = (e: Expr): Expr => cast("i32", e);

const LIMITS: Readonly<Record<NumberType, { huge: number; tiny: number; epsilon: number }>> = {
  f64: { huge: Number.MAX_VALUE, tiny: 2 ** -1022, epsilon: 2 ** -52 },
  f32: { huge: (2 - 2 ** -23) * 2 ** 127, tiny: 2 ** -126, epsilon: 2 ** -23 },
  i32: { huge: ELEMENTS.i32.greatest, tiny: 0, epsilon: 0 },
  u32: { huge: ELEMENTS.u32.greatest, tiny: 0, epsilon: 0 },
};
const limit =
  (of: "huge" | "tiny" | "epsilon"): Elemental =>
  ([a]) =>
    constant(a.type, LIMITS[a.type as NumberType][of]);

const bits =
  (fn: "and" | "or" | "xor"): Elemental =>
  ([a, b]) =>
    binary(fn, a, b);

/** The bit at a place. */
const bit = (place: Expr): Expr => binary("shl", int(1), place);

/** A shift by 0 to 32 places: devices take the count modulo 32. */
const shifted =
  (to: "left" | "right") =>
  ([a, n]: readonly Expr[], cx: FortranLowering): Expr => {
    const count = cx.stable(n, "shift");
    const moved = to === "left" ? binary("shl", a, count) : cast("i32", binary("shr", cast("u32", a), cast("u32", count)));
    if (count.op === "const") return Number(count.value) < 32 ? moved : int(0);
    return select(compare("lt", count, int(32)), moved, int(0));
  };
const left = shifted("left");
const right = shifted("right");

const isNaN: Elemental = ([a], { cx }) => {
  const x = cx.stable(a, "x");
  return compare("ne", x, x);
};

/** How many bits are 1: sums of neighbours, twice as wide at each step. */
function ones(a: Expr, cx: FortranLowering): Expr {
  const u32 = (n: number): Expr => constant("u32", n);
  let sum: Expr = cast("u32", a);
  [0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff].forEach((mask, n) => {
    const x = cx.kept("bits", sum);
    sum = binary("add", binary("and", x, u32(mask)), binary("and", binary("shr", x, u32(2 ** n)), u32(mask)));
  });
  return cast("i32", sum);
}

/** Zeros below the lowest bit that is 1. */
const zerosBelow = (x: Expr, cx: FortranLowering): Expr => ones(binary("and", unary("bitnot", x), binary("sub", x, int(1))), cx);

/** Zeros above the highest bit that is 1: the bits below it are set first. */
function zerosAbove(a: Expr, cx: FortranLowering): Expr {
  let bits: Expr = cast("u32", a);
  for (const by of [1, 2, 4, 8, 16]) {
    const x = cx.kept("bits", bits);
    bits = binary("or", x, binary("shr", x, constant("u32", by)));
  }
  return binary("sub", int(32), ones(cast("i32", cx.kept("bits", bits)), cx));
}

const ELEMENTAL: Readonly<Record<string, Elemental>> = {
  abs: ([a]) => unary("abs", a),
  dabs: ([a]) => unary("abs", a),
  iabs: ([a]) => unary("abs", a),
  sqrt: ([a]) => unary("sqrt", a),
  dsqrt: ([a]) => unary("sqrt", a),
  ...Object.fromEntries(Object.entries(EXTREMES).map(([name, of]) => [name, extreme(of)])),
  sign: ([a, b], { cx }) => {
    const [x, y] = alike([a, b]);
    return signed(x, y, cx);
  },
  mod: remainder,
  dmod: remainder,
  amod: remainder,
  modulo: (args, { cx }) => {
    const [a, p] = alike(args);
    return modulo(a, p, cx);
  },
  nint: ([a], { cx }) => toInteger(nearest(a, cx)),
  anint: ([a], { cx }) => nearest(a, cx),
  aint: ([a]) => unary("trunc", a),
  floor: ([a]) => toInteger(unary("floor", a)),
  ceiling: ([a]) => toInteger(unary("ceil", a)),
  merge: ([a, b, mask]) => select(mask, ...(alike([a, b]) as [Expr, Expr])),
  dim: (args) => {
    const [a, b] = alike(args);
    return binary("max", binary("sub", a, b), constant(a.type, 0));
  },
  huge: limit("huge"),
  tiny: limit("tiny"),
  epsilon: limit("epsilon"),
  iand: bits("and"),
  ior: bits("or"),
  ieor: bits("xor"),
  not: ([a]) => (a.type === "bool" ? not(a) : unary("bitnot", a)),
  ishft: ([a, n], { cx }) => {
    const count = cx.stable(n, "shift");
    if (count.op === "const") return Number(count.value) < 0 ? right([a, unary("neg", count)], cx) : left([a, count], cx);
    return select(compare("lt", count, int(0)), right([a, unary("neg", count)], cx), left([a, count], cx));
  },
  shifta: ([a, n]) => binary("shr", a, binary("min", n, int(31))),
  popcnt: ([a], { cx }) => ones(a, cx),
  isnan: isNaN,
  ieee_is_nan: isNaN,
  ieee_is_finite: ([a]) => compare("le", unary("abs", a), constant(a.type, LIMITS[a.type as NumberType].huge)),
  trailz: ([a], { cx }) => zerosBelow(cx.stable(a, "x"), cx),
  leadz: ([a], { cx }) => zerosAbove(a, cx),
  shiftl: (args, { cx }) => left(args, cx),
  shiftr: (args, { cx }) => right(args, cx),
  btest: ([a, place]) => compare("ne", binary("and", a, bit(place)), int(0)),
  ibset: ([a, place]) => binary("or", a, bit(place)),
  ibclr: ([a, place]) => binary("and", a, unary("bitnot", bit(place))),
  ibits: ([a, place, length], { cx }) => binary("and", right([a, place], cx), binary("sub", left([int(1), length], cx), int(1))),
};

/** Functions whose second argument is a kind, and the type that they give without it. */
const CONVERSIONS: Readonly<Record<string, ScalarType>> = {
  int: "i32",
  real: "f32",
  dble: "f64",
  float: "f32",
  sngl: "f32",
  ifix: "i32",
  idint: "i32",
  dfloat: "f64",
  logical: "bool",
};

export const conversionOf = (name: string): ScalarType | undefined => (Object.hasOwn(CONVERSIONS, name) ? CONVERSIONS[name] : undefined);

export const isElemental = (name: string): boolean => Object.hasOwn(ELEMENTAL, name) || Object.hasOwn(MATHS, name);

/** @throws Unlowerable */
export function elemental(name: string, args: Expr[], at: Location, cx: FortranLowering): Expr {
  const wrong = (why: string): never => {
    throw new Unlowerable(at, name, why);
  };
  if (Object.hasOwn(MATHS, name)) {
    const given = alike(args);
    if (!given.every(({ type }) => isFloat(type)))
      wrong(`it takes real numbers, and is called with ${args.map(({ type }) => type).join(", ")}`);
    return call(MATHS[name], given[0] as never, given[1]);
  }
  if (args.length === 0) wrong("it is called without arguments");
  try {
    return ELEMENTAL[name](args, { name, at, cx });
  } catch (error) {
    if (error instanceof Unlowerable) throw error;
    return wrong(`it does not take ${args.map(({ type }) => type).join(", ")}`);
  }
}
