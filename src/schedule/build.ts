import { ownIdentifier, type OwnWord } from "../base/names.js";
import { ELEMENTS } from "../ir/scalars.js";
import type { BinaryFn, CompareFn } from "../ir/types.js";
import type { Axis, Expr, Func, Memory, Place, LoopStep, Stmt, Type, Word } from "./nodes.js";

/* Constructors of the scheduled IR, by which a schedule reads like the code that it makes. */

/** An expression, or a number of the type of what stands beside it. */
type Value = Expr | number;

/** A constant of a schedule's own. */
export const num = (value: number, type: Type = "int"): Expr => ({ op: "const", type, value, short: true });
export const local = <const T extends string>(name: OwnWord<T>, type: Type): Expr => ({ op: "local", type, id: ownIdentifier(name) });
const lift = (value: Value, type: Type): Expr => (typeof value === "number" ? num(value, type) : value);

const binary =
  (fn: BinaryFn) =>
  (a: Expr, b: Value): Expr => ({ op: "binary", type: a.type, fn, a, b: lift(b, a.type), plain: true });
export const mul = binary("mul");
export const div = binary("div");
export const rem = binary("rem");
export const bits = { and: binary("and"), or: binary("or"), shl: binary("shl"), shr: binary("shr") };
/** A sum; a negative constant is subtracted. */
export function add(a: Expr, b: Value): Expr {
  const value = typeof b === "number" ? b : b.op === "const" && b.short ? Number(b.value) : 0;
  return value < 0 ? sub(a, -value) : plus(a, b);
}
const plus = binary("add");
export const sub = binary("sub");

const compare =
  (fn: CompareFn) =>
  (a: Expr, b: Value): Expr => ({ op: "compare", type: "bool", fn, a, b: lift(b, a.type) });
export const lt = compare("lt");
export const le = compare("le");
export const gt = compare("gt");
export const ge = compare("ge");
export const eq = compare("eq");
export const ne = compare("ne");
export const not = (a: Expr): Expr => ({ op: "unary", type: "bool", fn: "not", a });
export const and = (a: Expr, ...rest: readonly Expr[]): Expr =>
  rest.reduce((left, b): Expr => ({ op: "logical", type: "bool", fn: "and", a: left, b }), a);
export const or = (a: Expr, ...rest: readonly Expr[]): Expr =>
  rest.reduce((left, b): Expr => ({ op: "logical", type: "bool", fn: "or", a: left, b }), a);
export const select = (cond: Expr, a: Expr, b: Expr): Expr => ({ op: "select", type: a.type, cond, a, b });
/** The lesser of two integers. */
export const least = (a: Expr, b: Expr): Expr => select(lt(a, b), a, b);
/** The same value. All threads of the block have it alike, as a schedule knows. */
export const agreed = (a: Expr): Expr => ({ op: "agreed", type: a.type, a });
/** The same value in another type. */
export function cast(a: Expr, type: Type): Expr {
  if (a.type === type) return a;
  return a.op === "const" && a.short && isWhole(type) && Number(a.value) >= 0 ? { ...a, type } : { op: "cast", type, a };
}
const isWhole = (type: Type): boolean => type === "int" || type === "index" || type === "long" || type === "u32";

export const thread = (axis: Axis): Expr => ({ op: "place", type: "u32", of: "thread", axis });
export const block = (axis: Axis): Expr => ({ op: "place", type: "u32", of: "block", axis });
export const threads = (axis: Axis): Expr => ({ op: "place", type: "u32", of: "threads", axis });
export const blocks = (axis: Axis): Expr => ({ op: "place", type: "u32", of: "blocks", axis });

/** The type of an element's value: packed integers are i32, floats of 16 bits f32. */
export const valueType = ({ element }: Memory): Type => (element === "long" ? element : ELEMENTS[element].value);
export const read = (from: Memory, offset: Expr, type: Type = valueType(from)): Expr => ({ op: "read", type, from, offset });
export const address = (of: Memory, offset?: Expr): Expr => ({ op: "address", type: "long", of, offset });
export const word = (name: Word, type: Type, ...args: readonly Expr[]): Expr => ({ op: "word", type, word: name, args });
export const apply = (fn: Func, ...args: readonly Expr[]): Expr => ({ op: "apply", type: fn.result ?? "bool", fn, args });

export const variable = <const T extends string>(name: OwnWord<T>, type: Type): Place => ({ id: ownIdentifier(name), type });
export const element = (memory: Memory, offset: Expr): Place => ({ memory, offset, type: valueType(memory) });
/** The value at a place. */
export const valueOf = (place: Place): Expr => ("id" in place ? local(place.id, place.type) : read(place.memory, place.offset, place.type));

export const fixed = <const T extends string>(name: OwnWord<T>, value: Expr, type: Type = value.type): Stmt => ({
  kind: "let",
  id: ownIdentifier(name),
  type,
  value: cast(value, type),
  fixed: true,
});
export const declare = <const T extends string>(name: OwnWord<T>, type: Type, value?: Expr): Stmt => ({
  kind: "let",
  id: ownIdentifier(name),
  type,
  value: value && cast(value, type),
});
export const assign = (to: Place, value: Expr): Stmt => ({ kind: "assign", to, value });
export const increase = (to: Place, by: Value): Stmt => ({ kind: "increase", to, by: lift(by, to.type) });
export const write = (memory: Memory, offset: Expr, value: Expr): Stmt => assign(element(memory, offset), value);
export const when = (cond: Expr, then: readonly Stmt[], otherwise: readonly Stmt[] = []): Stmt => ({
  kind: "if",
  cond,
  then,
  else: otherwise,
});
export const inBlock = (body: readonly Stmt[]): Stmt => ({ kind: "block", body });
export const perform = (call: Expr): Stmt => ({ kind: "do", call });
export const BARRIER: Stmt = { kind: "barrier" };

const step = (fn: LoopStep["fn"], by: Value, type: Type): LoopStep => ({ fn, by: lift(by, type) });
/** `for (name = start; name < stop; name += by)`. */
export const upTo = <const T extends string>(
  name: OwnWord<T>,
  start: Expr,
  stop: Value,
  by: Value,
  body: readonly Stmt[],
  unroll?: number,
): Stmt => ({
  kind: "loop",
  id: ownIdentifier(name),
  type: start.type,
  start,
  cond: lt(local(name, start.type), stop),
  step: step("add", by, start.type),
  body,
  unroll,
});
/** `for (name = from; name > above; name /= 2)`. */
export const halving = <const T extends string>(name: OwnWord<T>, from: number, body: readonly Stmt[], above = 0): Stmt => ({
  kind: "loop",
  id: ownIdentifier(name),
  type: "int",
  start: num(from),
  cond: gt(local(name, "int"), above),
  step: step("div", 2, "int"),
  body,
});
/** `while (cond)`. */
export const asLongAs = (cond: Expr, body: readonly Stmt[]): Stmt => ({ kind: "while", cond, body, update: [] });
