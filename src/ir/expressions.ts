import { IRError } from "../base/errors.js";
import { ELEMENTS, isFloat, isIndex, isWide, valueType, wrap } from "./scalars.js";
import { printExpr } from "./kernel-text.js";
import { argumentType } from "./operators.js";
import { representable, typeProblem, type Operation } from "./type-rules.js";
import type {
  BinaryFn,
  CompareFn,
  ElementType,
  Expr,
  Location,
  MathFn,
  NumericType,
  ScalarType,
  ScatterParam,
  Table,
  UnaryFn,
  ViewParam,
} from "./types.js";

/*
 * Builders of expressions. Each checks the types of what it is given and throws IRError at once. Where an operand is a plain number or a
 * truth value, it is a constant of the other operand's type. Nothing is converted by itself: write `cast`.
 */

/** An expression of one type, known to the type checker. */
export type Typed<T extends ScalarType> = Expr & { readonly type: T };
/** An expression, or a value that becomes a constant of the type that is wanted. */
export type Operand = Expr | number | bigint | boolean;
/** Type of a view's element in an expression: packed integers are read as i32, floats of 16 bits as f32. */
export type ValueOf<E extends ElementType> = (typeof ELEMENTS)[E]["value"];

/** A private array, or scratch of a team. */
export interface ArrayRef<T extends NumericType = NumericType> {
  readonly name: string;
  readonly type: T;
  readonly length: number;
}

const fail = (problem: string): never => {
  throw new IRError(undefined, undefined, problem);
};

function checked<T extends ScalarType>(node: Operation): Typed<T> {
  const problem = typeProblem(node);
  return problem === undefined ? (node as Typed<T>) : fail(`${printExpr(node)}: ${problem}`);
}

/** A constant: of f32 the nearest value, of integers a whole number that the type holds; of i64 and u64 also a bigint. */
export function constant<T extends ScalarType>(type: T, value: number | bigint | boolean): Typed<T> {
  if (typeof value === "boolean" || type === "bool") return checked({ op: "const", type, value });
  // Integers have one zero, and small ones of 64 bits may be given as numbers.
  const rounded = isWide(type) ? wholeBigint(value) : typeof value === "bigint" ? value : isFloat(type) ? wrap(type, value) : value + 0;
  return representable(type, rounded)
    ? ({ op: "const", type, value: rounded } as Typed<T>)
    : fail(`${value} is not a value of ${type}; convert it, or use another type`);
}

const wholeBigint = (value: number | bigint): number | bigint => (Number.isSafeInteger(value) ? BigInt(value) : value);

/** A constant of type i32. */
export const int = (value: number): Typed<"i32"> => constant("i32", value);
/** A constant of type bool. */
export const truth = (value: boolean): Typed<"bool"> => constant("bool", value);

/** An expression as it is, a plain value as a constant of `type`. */
export function operand<T extends ScalarType>(type: T, given: Operand): Typed<T> {
  return typeof given === "object" ? (given as Typed<T>) : constant(type, given);
}

const isPlain = (given: Operand): given is number | bigint | boolean => typeof given !== "object";

/** Two operands; at most one is a plain value. */
function both(a: Operand, b: Operand): [Expr, Expr] {
  if (isPlain(a) && isPlain(b)) return fail(`operands ${a} and ${b} have no type: write constant(type, value) for one of them`);
  return [isPlain(a) ? constant((b as Expr).type, a) : a, isPlain(b) ? constant((a as Expr).type, b) : b];
}

/* Leaves. */

/** The index of the range's element along `axis`; of a team kernel, axis 0 is the team's rank in the league. */
export const index = (axis: number): Typed<"i32"> => ({ op: "index", type: "i32", axis });
/** Number of members of the team. */
export const teamSize = (): Typed<"i32"> => ({ op: "teamSize", type: "i32" });

/** The extent of an array along `axis`. */
export function extent(array: ViewParam | ScatterParam, axis = 0): Typed<"i32"> {
  if (!(axis >= 0 && axis < array.rank)) fail(`${array.name} has no axis ${axis}: its rank is ${array.rank}`);
  return { op: "extent", type: "i32", view: array.name, axis };
}

/** Indices of an array of some rank: i32, and as many as it has axes. */
export function subscripts(name: string, rank: number, given: Operand | readonly Operand[]): Typed<"i32">[] {
  const indices = (Array.isArray(given) ? (given as readonly Operand[]) : [given as Operand]).map((at) => operand("i32", at));
  if (indices.length !== rank) fail(`${indices.length} indices of ${name}, which has rank ${rank}`);
  for (const at of indices)
    if (!isIndex(at.type)) fail(`${name} is indexed by ${printExpr(at)}, which is ${(at as Expr).type}: cast it to i32`);
  return indices;
}

/** An element of a view; `location` is named by errors about its indices. */
export function load<E extends ElementType>(
  view: ViewParam & { readonly element: E },
  at: Operand | readonly Operand[],
  location?: Location,
): Typed<ValueOf<E>> {
  const type: NumericType = valueType(view.element);
  const node: Expr = { op: "load", type, view: view.name, indices: subscripts(view.name, view.rank, at), ...(location && { location }) };
  return node as unknown as Typed<ValueOf<E>>;
}

/** An element of a private array, or of scratch. */
export function element<T extends NumericType>(array: ArrayRef<T>, at: Operand, location?: Location): Typed<T> {
  const [index] = subscripts(array.name, 1, at);
  const node: Expr = { op: "element", type: array.type, array: array.name, index: index!, ...(location && { location }) };
  return node as Typed<T>;
}

/** An entry of a constant table. */
export function entry<T extends NumericType>(
  table: Table & { readonly type: T },
  at: Operand | readonly Operand[],
  location?: Location,
): Typed<T> {
  const indices = subscripts(table.name, table.shape.length, at);
  const node: Expr = { op: "table", type: table.type, table: table.name, indices, ...(location && { location }) };
  return node as Typed<T>;
}

/* Operators. */

/** `clz` gives i32; all others the type of their operand. */
export function unary<T extends ScalarType>(fn: Exclude<UnaryFn, "clz">, a: Typed<T>): Typed<T>;
export function unary(fn: UnaryFn, a: Expr): Expr;
export function unary(fn: UnaryFn, a: Expr): Expr {
  return checked({ op: "unary", type: fn === "clz" ? "i32" : a.type, fn, a });
}

/** Both operands, and the result, have one type. */
export function binary<T extends ScalarType>(fn: BinaryFn, a: Typed<T>, b: Operand): Typed<T>;
export function binary<T extends ScalarType>(fn: BinaryFn, a: number, b: Typed<T>): Typed<T>;
export function binary(fn: BinaryFn, a: Operand, b: Operand): Expr;
export function binary(fn: BinaryFn, a: Operand, b: Operand): Expr {
  const [left, right] = both(a, b);
  return checked({ op: "binary", type: left.type, fn, a: left, b: right });
}

/** `eq` and `ne` compare truth values, too. */
export function compare(fn: CompareFn, a: Operand, b: Operand): Typed<"bool"> {
  const [left, right] = both(a, b);
  return checked({ op: "compare", type: "bool", fn, a: left, b: right });
}

/** `b` is evaluated only where `a` does not decide. */
export function logical(fn: "and" | "or", a: Operand, b: Operand): Typed<"bool"> {
  return checked({ op: "logical", type: "bool", fn, a: operand("bool", a), b: operand("bool", b) });
}

/** Only the chosen side is evaluated. */
export function select<T extends ScalarType>(cond: Operand, a: Typed<T>, b: Operand): Typed<T>;
export function select<T extends ScalarType>(cond: Operand, a: number | bigint | boolean, b: Typed<T>): Typed<T>;
export function select(cond: Operand, a: Operand, b: Operand): Expr {
  const [yes, no] = both(a, b);
  return checked({ op: "select", type: yes.type, cond: operand("bool", cond), a: yes, b: no });
}

/** The value in another type, by the rules of types.ts; the expression itself where it has the type. */
export function cast<T extends ScalarType>(type: T, a: Expr): Typed<T> {
  return a.type === type ? (a as Typed<T>) : checked({ op: "cast", type, a });
}

/** A function of floats: see `MathFn`. */
export function call<T extends ScalarType>(fn: MathFn, a: Typed<T>, b?: Operand): Typed<T> {
  const args: Expr[] = b === undefined ? [a] : [a, operand(argumentType(fn, 1, a.type), b)];
  return checked({ op: "call", type: a.type as NumericType, fn, args });
}

interface Binary {
  <T extends ScalarType>(a: Typed<T>, b: Operand): Typed<T>;
  <T extends ScalarType>(a: number, b: Typed<T>): Typed<T>;
}
const binaryOf = (fn: BinaryFn): Binary => ((a: Operand, b: Operand) => binary(fn, a, b)) as Binary;
const compareOf =
  (fn: CompareFn) =>
  (a: Operand, b: Operand): Typed<"bool"> =>
    compare(fn, a, b);

/** a + b. */
export const add = binaryOf("add");
/** a - b. */
export const sub = binaryOf("sub");
/** a * b. */
export const mul = binaryOf("mul");
/** a / b; of whole numbers, rounded towards zero, and 0 where b is 0. */
export const div = binaryOf("div");
/** The rest of a / b, with the sign of a. */
export const rem = binaryOf("rem");
/** Whether a equals b. */
export const eq = compareOf("eq");
/** Whether a differs from b. */
export const ne = compareOf("ne");
/** Whether a < b. */
export const lt = compareOf("lt");
/** Whether a <= b. */
export const le = compareOf("le");
/** Whether a > b. */
export const gt = compareOf("gt");
/** Whether a >= b. */
export const ge = compareOf("ge");
/** -a. */
export const neg = <T extends ScalarType>(a: Typed<T>): Typed<T> => unary("neg", a);
/** Not a. */
export const not = (a: Expr): Typed<"bool"> => checked({ op: "unary", type: "bool", fn: "not", a });
/** a and b; b is evaluated only where a is true. */
export const and = (a: Operand, b: Operand): Typed<"bool"> => logical("and", a, b);
/** a or b; b is evaluated only where a is false. */
export const or = (a: Operand, b: Operand): Typed<"bool"> => logical("or", a, b);
