import { unreachable } from "../../base/unreachable.js";
import type { ActualArgument, Apply, ComponentRef, Constructor, Expr, ImpliedDo, Name, TypeSpec } from "../tree/index.js";
import {
  applied,
  BOTH_PARTS,
  COMPLEX_POWER,
  IMAGINARY_PART,
  MODULUS,
  REAL_PART,
  refusedTree,
  wholeLiteral,
  zero,
  type ComplexPart,
} from "./nodes.js";
import {
  BY_PARTS,
  procedureCalled,
  complexVariable,
  generalName,
  isComplex,
  isFunctionOfPairs,
  functionResult,
  type PairPlace,
} from "./types.js";

/*
 * Expressions with pairs of reals in place of complex numbers. Sums and the like are split part by part here; products, quotients and functions
 * stay whole, and lower/complex computes them.
 */

const LETTERS: Readonly<Record<ComplexPart, 0 | 1>> = { re: 0, im: 1 };

/** `z_re` of a scalar, `z(1, :, :)` of an array. */
function partOfVariable(place: PairPlace, e: Name | ComponentRef, part: ComplexPart): Expr | undefined {
  const found = complexVariable(place, e);
  if (!found) return undefined;
  const n = LETTERS[part];
  const base = realDesignator(place, e);
  if (found.rank === 0 && !found.isResult) return { ...base, name: place.pair(e.name)[n] };
  const axes = Array.from({ length: found.rank }, (): ActualArgument => ({ kind: "section" }));
  return { kind: "apply", base, args: [{ kind: "value", value: wholeLiteral(n + 1, e.at) }, ...axes], at: e.at };
}

/** A component, whose object's subscripts may read complex numbers. */
const realDesignator = <T extends Name | ComponentRef>(place: PairPlace, e: T): T =>
  e.kind === "part" ? { ...e, base: realExpr(place, e.base) } : e;

/** One of the two reals of an expression; of a real one, itself and 0. */
export function partOf(place: PairPlace, e: Expr, part: ComplexPart): Expr {
  const of = (inner: Expr): Expr => partOf(place, inner, part);
  if (!isComplex(place, e)) return part === "re" ? realExpr(place, e) : zero(e.at);
  switch (e.kind) {
    case "complex": {
      const given = realExpr(place, part === "re" ? e.re : e.im);
      return isWhole(given) ? applied("real", [given], e.at) : given;
    }
    case "name":
    case "part":
      return partOfVariable(place, e, part)!;
    case "unary":
    case "group":
      return { ...e, a: of(e.a) };
    case "binary":
      if (e.op === "+" || e.op === "-") return { ...e, a: of(e.a), b: of(e.b) };
      return applied(part === "re" ? REAL_PART : IMAGINARY_PART, [complexTree(place, e)], e.at);
    case "constructor":
      return constructorOf(e, of);
    case "apply":
      return partOfApplied(place, e, part);
    case "literal":
      return e;
    default:
      return unreachable(e);
  }
}

function isWhole(e: Expr): boolean {
  if (e.kind === "unary" || e.kind === "group") return isWhole(e.a);
  return e.kind === "literal" && e.type === "integer";
}

function constructorOf(e: Constructor, of: (item: Expr) => Expr): Constructor {
  const type: TypeSpec | undefined = e.type && realType(e.type);
  const items = e.items.map((item): Expr | ImpliedDo => (item.kind === "implied-do" ? { ...item, items: item.items.map(of) } : of(item)));
  return { ...e, ...(type && { type }), items };
}

/** The type of both parts. */
export function realType(spec: TypeSpec): TypeSpec {
  const { kindOf, at } = spec;
  if (spec.type === "double complex") return { type: "double precision", text: "double precision", at };
  if (spec.type !== "complex") return spec;
  const half = kindOf?.kind === "literal" && spec.text.includes("*") ? { ...kindOf, text: String(Number(kindOf.text) / 2) } : kindOf;
  return { type: "real", ...(half && { kindOf: half }), text: "real", at };
}

function partOfApplied(place: PairPlace, e: Apply, part: ComplexPart): Expr {
  const { at, args } = e;
  const procedure = procedureCalled(place, e);
  if (!procedure) {
    if (complexVariable(place, e.base)) return elementOf(place, e, part);
    const name = e.base.kind === "name" ? generalName(e.base.name) : "";
    if (name === "cmplx" || name === "dcmplx") return made(place, e, name, part);
    if (BY_PARTS.includes(name)) {
      const named = { ...e, base: { ...(e.base as Name), name } };
      if (name !== "conjg") return { ...named, args: args.map((arg, n) => partOfArgument(place, arg, name, n, part)) };
      const [arg] = args;
      const inner =
        arg?.kind === "value" ? partOf(place, arg.value, part) : refusedTree(name, "it is called with a range", "pass a value", at);
      return part === "re" ? inner : { kind: "unary", op: "-", a: { kind: "group", a: inner, at }, at };
    }
    if (name === "dot_product") return partOf(place, dotProduct(e), part);
    if (!isFunctionOfPairs(name)) return refusedTree(name, "it is not supported for complex numbers", "write a loop", at);
  }
  return applied(part === "re" ? REAL_PART : IMAGINARY_PART, [complexTree(place, e)], at);
}

/** `sum(conjg(a)*b)` */
function dotProduct({ args, at }: Apply): Expr {
  const [a, b] = args.map((arg) => (arg.kind === "value" ? arg.value : wholeLiteral(0, at)));
  const product: Expr = { kind: "binary", op: "*", a: applied("conjg", [a], at), b, at };
  return applied("sum", [product], at);
}

/** The first argument, and others that are values: `merge(a, b, mask)`. */
function partOfArgument(place: PairPlace, arg: ActualArgument, name: string, n: number, part: ComplexPart): ActualArgument {
  if (arg.kind !== "value") return realArgument(place, arg);
  const isValue = isComplex(place, arg.value) || (name === "merge" && n < 2);
  return { ...arg, value: isValue ? partOf(place, arg.value, part) : realExpr(place, arg.value) };
}

function elementOf(place: PairPlace, e: Apply, part: ComplexPart): Apply {
  const first: ActualArgument = { kind: "value", value: wholeLiteral(LETTERS[part] + 1, e.at) };
  return { ...e, base: realDesignator(place, e.base), args: [first, ...e.args.map((arg) => realArgument(place, arg))] };
}

/** `cmplx(x, y, kind)`, of 4 bytes without a kind. */
function made(place: PairPlace, { args, at }: Apply, name: string, part: ComplexPart): Expr {
  const values = args.flatMap((arg) => (arg.kind === "value" ? [arg] : []));
  const plain = values.filter(({ keyword }) => keyword === undefined);
  const named = (keyword: string): Expr | undefined => values.find((arg) => arg.keyword === keyword)?.value;
  const x = named("x") ?? plain[0]?.value;
  if (!x) return refusedTree(name, "it is called without an argument", "give the real part", at);
  const isPair = isComplex(place, x);
  const kind = named("kind") ?? plain[isPair ? 1 : 2]?.value;
  const y = isPair ? undefined : (named("y") ?? plain[1]?.value);
  const given = part === "re" || isPair ? partOf(place, x, part) : y ? realExpr(place, y) : zero(at);
  return name === "dcmplx" ? applied("dble", [given], at) : applied("real", kind ? [given, kind] : [given], at);
}

/** A complex expression as lower/complex takes it: its leaves are pairs. */
function complexTree(place: PairPlace, e: Expr): Expr {
  const { at } = e;
  const pair = (): Expr => ({ kind: "complex", re: partOf(place, e, "re"), im: partOf(place, e, "im"), at });
  if (!isComplex(place, e)) return pair();
  switch (e.kind) {
    case "unary":
    case "group":
      return { ...e, a: complexTree(place, e.a) };
    case "binary":
      if (e.op !== "**") return { ...e, a: complexTree(place, e.a), b: complexTree(place, e.b) };
      if (isComplex(place, e.b)) return applied(COMPLEX_POWER, [complexTree(place, e.a), complexTree(place, e.b)], at);
      return { ...e, a: complexTree(place, e.a), b: realExpr(place, e.b) };
    case "apply": {
      const procedure = procedureCalled(place, e);
      if (procedure) return { ...e, args: pairedArguments(place, e, e.args) };
      const name = e.base.kind === "name" && !complexVariable(place, e.base) ? generalName(e.base.name) : "";
      const [arg] = e.args;
      return (isFunctionOfPairs(name) || name === "conjg") && arg?.kind === "value"
        ? applied(name, [complexTree(place, arg.value)], at)
        : pair();
    }
    // Any other expression is a pair of its parts.
    default:
      return pair();
  }
}

/** A complex array as its parts, interleaved. */
export const bothParts = (place: PairPlace, e: Expr): Expr => applied(BOTH_PARTS, [complexTree(place, e)], e.at);

/** An expression that is not complex, with pairs in the place of the complex numbers in it. */
export function realExpr(place: PairPlace, e: Expr): Expr {
  const of = (inner: Expr): Expr => realExpr(place, inner);
  switch (e.kind) {
    case "literal":
    case "name":
      return e;
    case "complex":
      return refusedTree("(…, …)", "a complex number is used where a real one is needed", "write real(z) or aimag(z)", e.at);
    case "part": {
      const isPart = (e.name === "re" || e.name === "im") && isComplex(place, e.base);
      return isPart ? partOf(place, e.base, e.name as ComplexPart) : realDesignator(place, e);
    }
    case "unary":
    case "group":
      return { ...e, a: of(e.a) };
    case "binary":
      return compared(place, e) ?? { ...e, a: of(e.a), b: of(e.b) };
    case "constructor":
      return constructorOf(e, of);
    case "apply":
      return realApplied(place, e);
    default:
      return unreachable(e);
  }
}

function compared(place: PairPlace, e: Extract<Expr, { kind: "binary" }>): Expr | undefined {
  const { a, b, op, at } = e;
  if (!(isComplex(place, a) || isComplex(place, b)) || (op !== "==" && op !== "/=")) return undefined;
  const [re, im] = (["re", "im"] as const).map((part): Expr => ({ ...e, a: partOf(place, a, part), b: partOf(place, b, part) }));
  return { kind: "group", a: { kind: "binary", op: op === "==" ? ".and." : ".or.", a: re, b: im, at }, at };
}

/** Functions that ask about an array as a whole. */
const ASKS: ReadonlySet<string> = new Set(["allocated", "associated", "present"]);
const SHAPES: ReadonlySet<string> = new Set(["size", "shape", "lbound", "ubound"]);

function realApplied(place: PairPlace, e: Apply): Expr {
  if (procedureCalled(place, e)) return { ...e, args: pairedArguments(place, e, e.args) };
  const arg = e.args[0]?.kind === "value" ? e.args[0].value : undefined;
  if (arg && isComplex(place, arg)) return askedOf(place, e, arg);
  return { ...e, base: realDesignator(place, e.base), args: e.args.map((each) => realArgument(place, each)) };
}

/** A real value that a function of the language gives of a complex number. */
function askedOf(place: PairPlace, e: Apply, arg: Expr): Expr {
  const { at, args } = e;
  const name = e.base.kind === "name" ? generalName(e.base.name) : "";
  const re = (): Expr => partOf(place, arg, "re");
  const variable = arg.kind === "name" || arg.kind === "part" ? complexVariable(place, arg) : undefined;
  if (ASKS.has(name) && variable) {
    const isArray = variable.rank > 0 || variable.isResult;
    return { ...e, args: [{ kind: "value", value: isArray ? asArray(place, arg) : re() }] };
  }
  if (SHAPES.has(name)) return shapeOf(e, arg, variable !== undefined, re);
  switch (name) {
    case "real":
      return args[1]?.kind === "value" ? applied("real", [re(), args[1].value], at) : re();
    case "dble":
    case "int":
    case "precision":
    case "range":
    case "kind":
      return { ...e, args: [{ kind: "value", value: re() }, ...args.slice(1)] };
    case "aimag":
      return partOf(place, arg, "im");
    case "abs":
      return applied(MODULUS, [complexTree(place, arg)], at);
    // Any other function is refused.
    default:
      return refusedTree(name || "(…)", "it is not supported for complex numbers", "take real(z) and aimag(z)", at);
  }
}

/** Bounds are of the array's own axes, after the first one. */
function shapeOf(e: Apply, arg: Expr, isVariable: boolean, re: () => Expr): Expr {
  const [, axis] = e.args;
  if (!isVariable || axis?.kind !== "value") return { ...e, args: [{ kind: "value", value: re() }, ...e.args.slice(1)] };
  const behind: Expr = { kind: "binary", op: "+", a: axis.value, b: wholeLiteral(1, e.at), at: e.at };
  return { ...e, args: [{ kind: "value", value: arg }, { ...axis, value: behind }, ...e.args.slice(2)] };
}

function realArgument(place: PairPlace, arg: ActualArgument): ActualArgument {
  const of = (e: Expr | undefined): Expr | undefined => e && realExpr(place, e);
  if (arg.kind === "value") return { ...arg, value: realExpr(place, arg.value) };
  const [lower, upper, step] = [of(arg.lower), of(arg.upper), of(arg.step)];
  return { kind: "section", ...(lower && { lower }), ...(upper && { upper }), ...(step && { step }) };
}

/** Arguments of a procedure: both parts for a complex scalar, the array of pairs for an array. */
export function pairedArguments(place: PairPlace, call: Pick<Apply, "base">, args: readonly ActualArgument[]): ActualArgument[] {
  const procedure = procedureCalled(place, call as Apply);
  const unit = procedure?.unit.kind === "procedure" ? procedure.unit : undefined;
  return args.flatMap((arg, n): ActualArgument[] => {
    if (arg.kind !== "value" || !isComplex(place, arg.value)) return [realArgument(place, arg)];
    const name = arg.keyword ?? unit?.dummies[n];
    const dummy = name === undefined ? undefined : procedure?.variables.get(name);
    if (dummy?.dims) return [{ ...arg, value: asArray(place, arg.value) }];
    const names = arg.keyword === undefined ? undefined : place.pair(arg.keyword);
    return (["re", "im"] as const).map((part, at) => ({
      kind: "value",
      ...(names && { keyword: names[at] }),
      value: partOf(place, arg.value, part),
    }));
  });
}

/** An array, or its part from an element on, as an array of pairs. */
export function asArray(place: PairPlace, e: Expr): Expr {
  if (e.kind === "name" || e.kind === "part") return e.kind === "name" ? e : realDesignator(place, e);
  const isArray = e.kind === "apply" && complexVariable(place, e.base);
  if (!isArray) return refusedTree("argument", "an expression is given for an array", "assign it to an array first", e.at);
  const isElement = e.args.every((arg) => arg.kind === "value");
  const first: ActualArgument = isElement ? { kind: "value", value: wholeLiteral(1, e.at) } : { kind: "section" };
  return { ...e, base: realDesignator(place, e.base), args: [first, ...e.args.map((arg) => realArgument(place, arg))] };
}

/** Whether a function of the program gives a complex array. */
export function givesComplexArray(place: PairPlace, e: Expr): e is Apply {
  const procedure = e.kind === "apply" ? procedureCalled(place, e) : undefined;
  const result = procedure && functionResult(procedure);
  return result?.complex === true && result.dims !== undefined;
}
