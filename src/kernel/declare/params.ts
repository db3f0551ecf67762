import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { identityOf } from "../../ir/identity.js";
import { requireOptions } from "../../base/own.js";
import { isRank, MAX_RANK } from "../../base/rank.js";
import { ELEMENTS, isPacked, isWide, NUMERIC_TYPES, type PackedType, type ValueIn } from "../../ir/scalars.js";
import type { AnyComposite, ComponentType, CompositeToken, CompositeType } from "./composite.js";
import { bigintsOf, isBigintOf, mistyped } from "./table-values.js";
import { callSite } from "./location.js";
import type { ElementMeaning, StorageToken, StoredToken } from "./storage.js";
import { plainRecord, type AnyStruct, type StructFields, type StructToken, type StructType, type StructValue } from "./struct.js";
import { originalPosition } from "#source-map";
import type { AtomicType, ElementType, NumericType, ReduceOp, ScalarType, ScatterOp } from "../../ir/types.js";

/*
 * Declarations of a kernel's parameters. Each value is also a TypeScript type: the kernel's body and the launch's arguments are
 * checked against it in the editor.
 */

/** A type of numbers or truth values; as a parameter, one value that is given with each launch. */
export interface ScalarToken<T extends ScalarType = ScalarType> {
  readonly kind: "scalar";
  readonly type: T;
}

/** A number of double precision, 64 bits. */
export const f64: ScalarToken<"f64"> = { kind: "scalar", type: "f64" };
/** A number of single precision, 32 bits. */
export const f32: ScalarToken<"f32"> = { kind: "scalar", type: "f32" };
/** A whole number from -2^31 to 2^31 - 1. */
export const i32: ScalarToken<"i32"> = { kind: "scalar", type: "i32" };
/** A whole number from 0 to 2^32 - 1. */
export const u32: ScalarToken<"u32"> = { kind: "scalar", type: "u32" };
/** A whole number from -2^63 to 2^63 - 1, a bigint: `3n`. */
export const i64: ScalarToken<"i64"> = { kind: "scalar", type: "i64" };
/** A whole number from 0 to 2^64 - 1, a bigint. */
export const u64: ScalarToken<"u64"> = { kind: "scalar", type: "u64" };
/** A truth value, as the parameter of a kernel. */
export const bool: ScalarToken<"bool"> = { kind: "scalar", type: "bool" };

/** The token of an element type. */
export const elementToken = (type: ElementType): ElementToken =>
  isPacked(type) ? { kind: "storage", type } : ({ kind: "scalar", type } as NumericToken);

const SCATTER_OPS: readonly ScatterOp[] = ["sum", "min", "max"];

/** The type of a token given to `maker`. Throws LaunchError if it has none, as with a missing import. */
function typeOf<T extends ScalarType | ElementType>(token: { readonly type: T }, name: string, maker: Function): T {
  const type = (token as typeof token | undefined)?.type;
  if (type && (type === "bool" || Object.hasOwn(ELEMENTS, type))) return type;
  throw refusal(name, maker, `is given ${describe(token)} for a type; use f64, f32, i32, u32, i64 or u64`);
}

/** Throws LaunchError for a type of 64-bit integers, with what to do instead. */
function requireNumbers<T extends NumericType>(type: T, name: string, maker: Function, remedy: string): T {
  if (isWide(type)) throw refusal(name, maker, `is given ${type}, which it does not take; ${remedy}`);
  return type;
}

function refusal(name: string, maker: Function, problem: string): LaunchError {
  const { file, line } = originalPosition(callSite(maker));
  return new LaunchError(`${name}(...) (${file}:${line}) ${problem}`);
}

const shownValue = (value: unknown): string => (typeof value === "bigint" ? `${value}n` : describe(value));

const rankProblem = (rank: unknown): string => `is given ${describe(rank)} for its rank; use a whole number from 1 to ${MAX_RANK}`;

export type NumericToken = ScalarToken<NumericType>;
type ElementToken = NumericToken | StorageToken;

/** A parameter of a kernel that `view(...)` declares. */
export interface ViewToken<T extends ElementType = ElementType, R extends Rank = Rank, D extends boolean = boolean> {
  readonly kind: "view";
  readonly element: T;
  readonly rank: R;
  readonly disjoint: D;
  /** The type of values whose components lie along the last axes. */
  readonly of?: CompositeType;
  /** Meaning of its elements to the body, where it is not what they hold. */
  readonly meaning?: ElementMeaning;
}

/** An array of bytes that a body sees as truth values: 0 is false. */
export interface TruthViewToken<R extends Rank = Rank, D extends boolean = boolean> extends ViewToken<"u8", R, D> {
  readonly meaning: "truth";
}
export type Rank = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** A parameter that is an array of vectors or other values of several numbers: a launch gives it an array with more axes, the components. */
export interface CompositeViewToken<
  P = unknown,
  T extends ComponentType = ComponentType,
  R extends Rank = Rank,
  D extends boolean = boolean,
> extends ViewToken<T, Rank, D> {
  readonly of: CompositeType;
  /** Stands in the type alone: an element as the body sees it, and the number of indices. */
  readonly place?: P;
  readonly indices?: R;
}
/**
 * An array of `rank` 1 to 7 that the kernel reads or writes, indexed as `a[i]`, `a[i][j]`, ...
 * `disjoint: true` asserts that no two elements of the range write one location where the analysis cannot see it; js-debug checks it.
 */
export function view<T extends ElementToken>(element: T): ViewToken<T["type"], 1, false>;
export function view<T extends ElementToken, R extends Rank, D extends boolean = false>(
  element: T,
  rank: R,
  options?: { disjoint?: D },
): ViewToken<T["type"], R, D>;
export function view(element: ScalarToken<"bool">): TruthViewToken<1, false>;
export function view<R extends Rank, D extends boolean = false>(
  element: ScalarToken<"bool">,
  rank: R,
  options?: { disjoint?: D },
): TruthViewToken<R, D>;
export function view<T extends PackedType>(element: StoredToken<T>): ViewToken<T, 1, false>;
export function view<T extends PackedType, R extends Rank, D extends boolean = false>(
  element: StoredToken<T>,
  rank: R,
  options?: { disjoint?: D },
): ViewToken<T, R, D>;
export function view<P, T extends ComponentType>(of: CompositeToken<unknown, P, T, never>): CompositeViewToken<P, T, 1, false>;
export function view<P, T extends ComponentType, R extends Rank, D extends boolean = false>(
  of: CompositeToken<unknown, P, T, never>,
  rank: R,
  options?: { disjoint?: D },
): CompositeViewToken<P, T, R, D>;
export function view<F extends StructFields>(of: StructToken<F>): StructViewToken<F, 1, false>;
export function view<F extends StructFields, R extends Rank, D extends boolean = false>(
  of: StructToken<F>,
  rank: R,
  options?: { disjoint?: D },
): StructViewToken<F, R, D>;
export function view(
  element: ElementToken | ScalarToken<"bool"> | StoredToken | AnyComposite | AnyStruct,
  rank: Rank = 1,
  options: { disjoint?: boolean } = {},
): ViewToken | StructViewToken {
  requireOptions("view(...)", options, ["disjoint"]);
  if (!isRank(rank)) throw refusal("view", view, rankProblem(rank));
  if (element?.kind === "struct") return { kind: "structView", struct: element.struct, rank, disjoint: options.disjoint ?? false };
  if (element?.kind === "composite") {
    const { composite: of } = element;
    return { kind: "view", element: of.element, rank: deeper("view", view, rank, of), disjoint: options.disjoint ?? false, of };
  }
  const { disjoint = false } = options;
  if (element?.kind === "stored") return { kind: "view", element: element.element, rank, disjoint, meaning: { scale: element.scale } };
  const type = typeOf(element, "view", view);
  return type === "bool"
    ? { kind: "view", element: "u8", rank, disjoint, meaning: "truth" }
    : { kind: "view", element: type, rank, disjoint };
}

/** A parameter of a kernel that `atomic(...)` declares. */
export interface AtomicToken<T extends AtomicType = AtomicType, R extends Rank = Rank> extends ViewToken<T, R, false> {
  readonly atomic: true;
}

/**
 * An array of whole numbers that any element may change at any index, and learn what was there: `n.add(i, v)` gives the old value, as do `sub`, `min`, `max`,
 * `and`, `or`, `xor`, `exchange`, `compareExchange(i, expected, v)`; `n.load(i)` and `n.store(i, v)` read and write. Nothing else orders memory: what
 * other arrays hold may be seen later.
 */
export function atomic<T extends AtomicType>(element: ScalarToken<T>): AtomicToken<T, 1>;
export function atomic<T extends AtomicType, R extends Rank>(element: ScalarToken<T>, rank: R): AtomicToken<T, R>;
export function atomic(element: ScalarToken<AtomicType>, rank: Rank = 1): AtomicToken {
  if (!isRank(rank)) throw refusal("atomic", atomic, rankProblem(rank));
  const type: ScalarType = typeOf(element, "atomic", atomic);
  if (type !== "i32" && type !== "u32")
    throw refusal("atomic", atomic, `is given ${type} for its elements; use i32 or u32, and for sums of floats scatter(${type})`);
  return { kind: "view", element: type, rank, disjoint: false, atomic: true };
}

/** A parameter that is an array of records: a launch gives it a view for each field. */
export interface StructViewToken<F extends StructFields = StructFields, R extends Rank = Rank, D extends boolean = boolean> {
  readonly kind: "structView";
  readonly struct: StructType<F>;
  readonly rank: R;
  readonly disjoint: D;
}

/** The rank of an array of `rank` axes of such values. */
function deeper(name: string, maker: Function, rank: Rank, { name: of, axes }: CompositeType): Rank {
  const whole = rank + axes.length;
  if (isRank(whole)) return whole as Rank;
  throw refusal(name, maker, `has ${rank} axes of ${of}; use at most ${MAX_RANK - axes.length}`);
}

/** A parameter of a kernel that `scatter(...)` declares. */
export interface ScatterToken<T extends NumericType = NumericType, R extends Rank = Rank, O extends ScatterOp = ScatterOp> {
  readonly kind: "scatter";
  readonly element: T;
  readonly rank: R;
  readonly op: O;
  /** The type of values whose components lie along the last axes. */
  readonly of?: CompositeType;
}

/** The same of vectors and other values of several numbers, each folded component by component. */
export interface CompositeScatterToken<
  V = unknown,
  T extends ComponentType = ComponentType,
  R extends Rank = Rank,
  O extends ScatterOp = ScatterOp,
> extends ScatterToken<T, Rank, O> {
  readonly of: CompositeType;
  /** Stands in the type alone, as the number of indices does. */
  readonly value?: V;
  readonly indices?: R;
}

/** An array that any element may add into, at any index: `h.add(i, v)`, `h.add(i, j, v)`. The kernel cannot read it. */
export function scatter<T extends NumericToken>(element: T): ScatterToken<T["type"], 1, "sum">;
export function scatter<T extends NumericToken, R extends Rank>(element: T, rank: R): ScatterToken<T["type"], R, "sum">;
export function scatter<T extends NumericToken, R extends Rank, O extends ScatterOp>(
  element: T,
  rank: R,
  op: O,
): ScatterToken<T["type"], R, O>;
export function scatter<V, T extends ComponentType, R extends Rank = 1, O extends ScatterOp = "sum">(
  of: CompositeToken<V, unknown, T, never>,
  rank?: R,
  op?: O,
): CompositeScatterToken<V, T, R, O>;
export function scatter(element: NumericToken | AnyComposite, rank: Rank = 1, op: ScatterOp = "sum"): ScatterToken {
  if (!isRank(rank)) throw refusal("scatter", scatter, rankProblem(rank));
  if (!SCATTER_OPS.includes(op)) throw refusal("scatter", scatter, `folds by "${op}"; use ${SCATTER_OPS.join(", ")}`);
  if (element?.kind === "composite") {
    const { composite: of } = element;
    return { kind: "scatter", element: of.element, rank: deeper("scatter", scatter, rank, of), op, of };
  }
  return { kind: "scatter", element: typeOf(element, "scatter", scatter), rank, op };
}

/** A reduction that `sum`, `min`, `max` or `reducer` declares. */
export interface ReduceToken<T extends NumericType = NumericType, O extends ReduceOp = ReduceOp> {
  readonly kind: "reduce";
  readonly type: T;
  readonly op: O;
  readonly identity: number | bigint;
  readonly combine?: (a: never, b: never) => number | bigint;
}

/** Several reductions of one kind that `sum`, `min` or `max` declares. */
export interface ReduceEachToken<T extends NumericType = NumericType, O extends ScatterOp = ScatterOp> {
  readonly kind: "reduceEach";
  readonly type: T;
  readonly op: O;
  readonly identity: number | bigint;
  readonly components: number;
}

/** A reduction of vectors or other values of several numbers, component by component, that `sum`, `min` or `max` declares. */
export interface CompositeReduceToken<V = unknown, T extends ComponentType = ComponentType, O extends ScatterOp = ScatterOp> {
  readonly kind: "reduceComposite";
  readonly type: T;
  readonly op: O;
  readonly identity: number;
  readonly of: CompositeType;
  /** Stands in the type alone. */
  readonly value?: V;
}

/** A number on the devices that takes the result of a container's reduction: see `Scalar`. */
interface ResultScalar<T extends NumericType = NumericType> {
  readonly name: string;
  readonly type: T;
  /** One copy on each device. */
  readonly views: readonly unknown[];
  /** Components. Default: 1. */
  readonly cardinality?: number;
}

/** A reduction of a container, whose result goes into a scalar on the devices. */
export interface ReduceIntoToken<S extends ResultScalar = ResultScalar, O extends ReduceOp = ReduceOp> extends ReduceToken<S["type"], O> {
  readonly into: S;
  /** The old value takes part. */
  readonly accumulate?: boolean;
  /** The first of the components that take results, and the one after the last. Default: all. */
  readonly components?: readonly [first: number, end: number];
}

interface ReduceOptions {
  /** The old value of an array along axes takes part: results of several runs come together. */
  accumulate?: boolean;
  /** The first of the components of an array along axes that take results, number 0 in the body, and the one after the last. Default: all. */
  components?: readonly [first: number, end: number];
}

/**
 * A sum over all elements: `s.add(v)`. `sum(f64, 4)` has four, `s.add(k, v)`, for which a launch gives a view of four elements. Of a container,
 * `sum(scalar)`: the result goes into the scalar, or the array along axes.
 */
export function sum<T extends NumericToken>(type: T): ReduceToken<T["type"], "sum">;
export function sum<T extends NumericToken>(type: T, components: number): ReduceEachToken<T["type"], "sum">;
export function sum<S extends ResultScalar>(into: S, options?: ReduceOptions): ReduceIntoToken<S, "sum">;
export function sum<V, T extends ComponentType>(of: CompositeToken<V, unknown, T, never>): CompositeReduceToken<V, T, "sum">;
export function sum(of: ReduceOf, options?: ReduceOptions | number): AnyReduceToken {
  return reduction("sum", sum, of, options);
}

/** The least value over all elements: `m.min(v)`; of no elements, the type's greatest value (Infinity for floats). */
export function min<T extends NumericToken>(type: T): ReduceToken<T["type"], "min">;
export function min<T extends NumericToken>(type: T, components: number): ReduceEachToken<T["type"], "min">;
export function min<S extends ResultScalar>(into: S, options?: ReduceOptions): ReduceIntoToken<S, "min">;
export function min<V, T extends ComponentType>(of: CompositeToken<V, unknown, T, never>): CompositeReduceToken<V, T, "min">;
export function min(of: ReduceOf, options?: ReduceOptions | number): AnyReduceToken {
  return reduction("min", min, of, options);
}

/** The greatest value over all elements: `m.max(v)`. */
export function max<T extends NumericToken>(type: T): ReduceToken<T["type"], "max">;
export function max<T extends NumericToken>(type: T, components: number): ReduceEachToken<T["type"], "max">;
export function max<S extends ResultScalar>(into: S, options?: ReduceOptions): ReduceIntoToken<S, "max">;
export function max<V, T extends ComponentType>(of: CompositeToken<V, unknown, T, never>): CompositeReduceToken<V, T, "max">;
export function max(of: ReduceOf, options?: ReduceOptions | number): AnyReduceToken {
  return reduction("max", max, of, options);
}

/** A scalar on the devices to which a scalar step gives a value. */
export interface AssignToken<S extends ResultScalar = ResultScalar> {
  readonly kind: "assign";
  readonly type: S["type"];
  readonly into: S;
}

/** In a scalar step, `assign(scalar)`: `s.set(v)` gives the scalar a value, `s.get()` is the one that it has. */
export const assign = <S extends ResultScalar>(scalar: S): AssignToken<S> => ({ kind: "assign", type: scalar.type, into: scalar });

/** Components of a reduction, at most: each is one more result of the launch. */
const MOST_COMPONENTS = 64;

type ReduceOf = NumericToken | ResultScalar | AnyComposite;
type AnyReduceToken = ReduceToken | ReduceEachToken | ReduceIntoToken | CompositeReduceToken;

function reduction(op: ScatterOp, maker: Function, of: ReduceOf, options: ReduceOptions | number = {}): AnyReduceToken {
  if ("kind" in (of ?? {}) && (of as AnyComposite).kind === "composite") {
    const { composite } = of as AnyComposite;
    if (typeof options === "number") throw refusal(op, maker, `has components by itself; write ${op}(${composite.name})`);
    return { kind: "reduceComposite", type: composite.element, op, identity: identityOf(op, composite.element), of: composite };
  }
  const type = typeOf(of as NumericToken | ResultScalar, op, maker);
  const identity = identityOf(op, type);
  if (typeof options === "number") {
    if (!(Number.isInteger(options) && options >= 1 && options <= MOST_COMPONENTS))
      throw refusal(op, maker, `is given ${options} components; use a whole number from 1 to ${MOST_COMPONENTS}`);
    return { kind: "reduceEach", type, op, identity, components: options };
  }
  const { accumulate = false, components } = options;
  const token: ReduceToken = { kind: "reduce", type, op, identity };
  return "views" in of ? { ...token, into: of, accumulate, ...(components && { components }) } : token;
}

/** A reduction of records by a fold of the author's, that `reducer` declares. */
export interface StructReduceToken<F extends StructFields = StructFields> {
  readonly kind: "reduceStruct";
  readonly struct: StructType<F>;
  readonly identity: StructValue<F>;
  combine(a: StructValue<F>, b: StructValue<F>): StructValue<F>;
}

/**
 * A fold of one's own: `r.merge(v)`. `combine` is an associative expression of its two arguments, `identity` its neutral element. Of a type of records, `combine` gives
 * a record: `reducer(Pair, { n: 0, mean: 0 }, (a, b) => ({ n: a.n + b.n, mean: ... }))`.
 */
export function reducer<T extends NumericToken>(
  type: T,
  identity: ValueIn<T["type"]>,
  combine: (a: ValueIn<T["type"]>, b: ValueIn<T["type"]>) => ValueIn<T["type"]>,
): ReduceToken<T["type"], "custom">;
export function reducer<F extends StructFields>(
  of: StructToken<F>,
  identity: StructValue<F>,
  combine: (a: StructValue<F>, b: StructValue<F>) => StructValue<F>,
): StructReduceToken<F>;
export function reducer(
  of: NumericToken | AnyStruct,
  identity: unknown,
  combine: (a: never, b: never) => unknown,
): ReduceToken | StructReduceToken {
  if (of?.kind === "struct") requireFields(of.struct);
  if (of?.kind === "struct")
    return { kind: "reduceStruct", struct: of.struct, identity: plainRecord(of.struct, identity) as never, combine: combine as never };
  const type = typeOf(of as NumericToken, "reducer", reducer);
  if (isWide(type) && !isBigintOf(type, identity))
    throw refusal("reducer", reducer, `is given ${shownValue(identity)} for its neutral element; use ${bigintsOf(type)}`);
  return { kind: "reduce", type, op: "custom", identity: identity as number | bigint, combine: combine as never };
}

const WITH_PLACE = "find the value by min or max, and its place by a second kernel";

function requireFields({ fields }: StructType): void {
  for (const [field, token] of Object.entries(fields))
    if (token.kind === "struct") requireFields(token.struct);
    else if (token.kind === "scalar")
      requireNumbers(token.type, "reducer", reducer, `its field ${field} is one: fold it by a reduction of its own, sum(${token.type})`);
}

/** A least or greatest value and its place, that `argmin` or `argmax` declares. */
export interface ExtremumToken<T extends NumericType = NumericType, O extends "min" | "max" = "min" | "max"> {
  readonly kind: "extremum";
  readonly type: T;
  readonly op: O;
}

/**
 * The least value and its index, `best.min(value, index)`: the result is `{ value, index }`. NaN comes first, as with NumPy, and of equal values, -0 and 0
 * among them, the one with the smallest index. Of no elements it is the type's greatest value (Infinity for floats) at -1. Fast mode gives the same bits.
 */
export const argmin = <T extends NumericToken>(type: T): ExtremumToken<T["type"], "min"> => ({
  kind: "extremum",
  type: requireNumbers(typeOf(type, "argmin", argmin), "argmin", argmin, WITH_PLACE),
  op: "min",
});

/** The greatest value and its index, `best.max(value, index)`; of no elements -Infinity at -1. */
export const argmax = <T extends NumericToken>(type: T): ExtremumToken<T["type"], "max"> => ({
  kind: "extremum",
  type: requireNumbers(typeOf(type, "argmax", argmax), "argmax", argmax, WITH_PLACE),
  op: "max",
});

/** The type of a list's elements. */
export type ListElement = ElementToken | ScalarToken<"bool"> | StoredToken | AnyComposite | AnyStruct;

/** A list that elements append to, that `list(...)` declares. */
export interface ListToken<T extends ListElement = ListElement> {
  readonly kind: "list";
  readonly of: T;
  /** How often one element of the range appends at most. */
  readonly most: number;
  /** The array of its elements, as the code that fills it has it. */
  readonly elements: ViewToken | StructViewToken;
}

/** The token of a list, for `list`, which is the `maker`. Throws LaunchError for another type or number. */
export function listToken<T extends ListElement>(of: T, most: number, maker: Function): ListToken<T> {
  if (!(Number.isInteger(most) && most >= 1 && most <= MOST_PUSHES))
    throw refusal(
      "list",
      maker,
      `is given ${describe(most)} for how often an element appends at most; use a whole number from 1 to ${MOST_PUSHES}`,
    );
  const known = ["scalar", "storage", "stored", "composite", "struct"].includes(of?.kind);
  if (!known) throw refusal("list", maker, `is given ${describe(of)} for a type; use f64, i32, u8, vec3, a struct or the like`);
  return { kind: "list", of, most, elements: view(of as never, 1, { disjoint: true }) };
}
const MOST_PUSHES = 65536;

/** A constant table that `table(...)` declares. */
export interface TableToken<V = Nested> {
  readonly kind: "table";
  readonly type: NumericType;
  readonly values: V;
}
export type Nested = number | bigint | readonly Nested[];

/**
 * A constant table of rank 1 to 4, indexed like a view; constant indices are folded into the code. It has its values as an array has, so that
 * functions may name it, whether compiled or called.
 */
export const table = <const V extends readonly Nested[]>(type: NumericToken, values: V): TableToken<V> & TableOf<V> => {
  const known = typeOf(type, "table", table);
  if (typeof values !== "object")
    throw refusal("table", table, `is given ${describe(values)} for its values; give a list of numbers, or of lists`);
  const wrong = mistyped(known, values);
  if (wrong !== undefined)
    throw refusal("table", table, `of ${known} has the value ${shownValue(wrong)}; give ${isWide(known) ? bigintsOf(known) : "numbers"}`);
  const token = { ...values, length: values.length, kind: "table", type: known, values };
  return Object.defineProperties(token, {
    [Symbol.iterator]: { value: () => values[Symbol.iterator]() },
    entries: { value: () => values.entries() },
  }) as unknown as TableToken<V> & TableOf<V>;
};

/** A parameter of a kernel that `fixed(...)` declares. */
export interface FixedToken<T extends ScalarType = ScalarType> {
  readonly kind: "fixed";
  readonly type: T;
}
/** A scalar whose value is compiled into the code: loop counts, orders, switches. */
export const fixed = <T extends ScalarToken>(type: T): FixedToken<T["type"]> => ({ kind: "fixed", type: typeOf(type, "fixed", fixed) });

/** A function that the kernel calls; it is inlined. It follows the rules of kernels, and captures what is listed, and other parameters. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Helper = (...args: any[]) => any;

/** The type of private arrays, so that one source serves several: `new Real(19)` where `Real: Float32Array` is a parameter. */
export type ArrayType =
  | Float64ArrayConstructor
  | Float32ArrayConstructor
  | Int32ArrayConstructor
  | Uint32ArrayConstructor
  | BigInt64ArrayConstructor
  | BigUint64ArrayConstructor;

/** The element type of a private array that the constructor makes; undefined for other functions. */
export const arrayTypeOf = (token: unknown): NumericType | undefined => ARRAY_TYPES.get(token);
const ARRAY_TYPES = new Map<unknown, NumericType>(NUMERIC_TYPES.map((type) => [ELEMENTS[type].array, type]));

/** Numbers and truth values are constants of the code, f64 and bool. */
export type ParamToken =
  | ScalarToken
  | ViewToken
  | ScatterToken
  | ReduceToken
  | ReduceEachToken
  | CompositeReduceToken
  | ExtremumToken
  | StructReduceToken
  | AnyComposite
  | StructViewToken
  | AnyStruct
  | ListToken
  | TableToken
  | FixedToken
  | Helper
  | ArrayType
  | number
  | bigint
  | boolean;
/** The parameters of a kernel, by name. */
export type Params = Record<string, ParamToken>;

/** Methods that fold, by operation. */
export const METHODS = { sum: "add", min: "min", max: "max", custom: "merge", joint: "merge" } as const;

/** A table as kernels see it. */
export type TableOf<V> = V extends readonly (infer E)[]
  ? {
      readonly [index: number]: TableOf<E>;
      readonly length: number;
      [Symbol.iterator](): Iterator<TableOf<E>>;
      entries(): Iterable<[k: number, value: TableOf<E>]>;
    }
  : V extends bigint
    ? bigint
    : number;
