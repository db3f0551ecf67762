import type { ValueIn } from "../../ir/scalars.js";
import type { AtomicType, NumberType, NumericType, ReduceOp, ScalarType, ScatterOp, WideType } from "../../ir/types.js";
import type { AnyComposite, ComponentType, CompositeToken } from "./composite.js";
import type {
  ArrayType,
  AtomicToken,
  CompositeReduceToken,
  CompositeScatterToken,
  CompositeViewToken,
  ExtremumToken,
  FixedToken,
  Helper,
  ListElement,
  ListToken,
  Params,
  Rank,
  ReduceEachToken,
  ReduceToken,
  ScalarToken,
  ScatterToken,
  StructReduceToken,
  StructViewToken,
  TableOf,
  TableToken,
  TruthViewToken,
  ViewToken,
} from "./params.js";
import type { AnyStruct, StructPlace, StructToken, StructValue } from "./struct.js";

/* Parameters as the body of a kernel sees them. */

interface Nest<T> {
  [index: number]: T;
  readonly length: number;
}
/** Elements one after the other, too: `for (const v of a)` and `for (const [k, v] of a.entries())`. */
export interface Elements<T> extends Nest<T>, Iterable<T> {
  entries(): Iterable<[k: number, value: T]>;
}
type Row = Elements<number>;
/** By rank. */
interface Nests {
  1: Row;
  2: Nest<Nests[1]>;
  3: Nest<Nests[2]>;
  4: Nest<Nests[3]>;
  5: Nest<Nests[4]>;
  6: Nest<Nests[5]>;
  7: Nest<Nests[6]>;
}
/** The same of vectors. */
type NestOf<E, R extends Rank> = R extends 1
  ? Elements<E>
  : R extends 2
    ? Nest<Elements<E>>
    : R extends 3
      ? Nest<Nest<Elements<E>>>
      : R extends 4
        ? Nest<Nest<Nest<Elements<E>>>>
        : R extends 5
          ? Nest<Nest<Nest<Nest<Elements<E>>>>>
          : Nest<Nest<Nest<Nest<Nest<Elements<E>>>>>>;
interface Indices {
  1: [i: number];
  2: [i: number, j: number];
  3: [i: number, j: number, k: number];
  4: [i: number, j: number, k: number, l: number];
  5: [...Indices[4], m: number];
  6: [...Indices[5], n: number];
  7: [...Indices[6], o: number];
}
/** Methods of atomic arrays; all but `store` give the value before. */
interface AtomicMethods<R extends Rank> {
  add(...args: [...Indices[R], value: number]): number;
  sub(...args: [...Indices[R], value: number]): number;
  min(...args: [...Indices[R], value: number]): number;
  max(...args: [...Indices[R], value: number]): number;
  and(...args: [...Indices[R], value: number]): number;
  or(...args: [...Indices[R], value: number]): number;
  xor(...args: [...Indices[R], value: number]): number;
  exchange(...args: [...Indices[R], value: number]): number;
  /** Stores `value` where the element is `expected`: it has where the result is that. */
  compareExchange(...args: [...Indices[R], expected: number, value: number]): number;
  load(...indices: Indices[R]): number;
  store(...args: [...Indices[R], value: number]): void;
}
type ScatterMethod<O extends ScatterOp> = O extends "sum" ? "add" : O;
export type ReduceMethod<O extends ReduceOp> = O extends "sum" ? "add" : O extends "custom" ? "merge" : O;
/** A scalar of some type, as the body sees it. */
type BodyNumber<T extends ScalarType> = [ScalarType] extends [T] ? number : T extends NumericType ? ValueIn<T> : number;
export type BodyParam<P> = P extends number
  ? number
  : P extends bigint
    ? bigint
    : P extends boolean
      ? boolean
      : P extends ScalarToken<infer T>
        ? T extends "bool"
          ? boolean
          : BodyNumber<T>
        : P extends FixedToken<infer T>
          ? T extends "bool"
            ? boolean
            : BodyNumber<T>
          : P extends CompositeViewToken<infer E, ComponentType, infer R>
            ? NestOf<E, R>
            : P extends TruthViewToken<infer R>
              ? NestOf<boolean, R>
              : P extends AtomicToken<AtomicType, infer R>
                ? AtomicMethods<R>
                : P extends ViewToken<infer T, infer R>
                  ? [ValueIn<T>] extends [number]
                    ? Nests[R]
                    : NestOf<bigint, R>
                  : P extends AnyCompositeParam
                    ? BodyComposite<P>
                    : P extends ScatterToken<infer T, infer R, infer O>
                      ? { [M in ScatterMethod<O>]: (...args: [...Indices[R], value: ValueIn<T>]) => void }
                      : P extends ReduceToken<infer T, infer O>
                        ? { [M in ReduceMethod<O>]: (value: ValueIn<T>) => void }
                        : P extends ReduceEachToken<infer T, infer O>
                          ? { [M in ReduceMethod<O>]: (k: number, value: ValueIn<T>) => void }
                          : P extends TableToken<infer V>
                            ? TableOf<V>
                            : P extends Helper | ArrayType
                              ? P
                              : never;
type AnyCompositeParam =
  | AnyComposite
  | CompositeScatterToken
  | CompositeReduceToken
  | ExtremumToken
  | StructReduceToken
  | StructViewToken
  | ListToken
  | AnyStruct;
/** An element of a list, as a kernel appends it. */
type Listed<T extends ListElement> =
  T extends StructToken<infer F>
    ? StructValue<F>
    : T extends CompositeToken<infer V, unknown, ComponentType, never>
      ? V
      : T extends ScalarToken<"bool">
        ? boolean
        : T extends ScalarToken<infer N extends NumericType>
          ? ValueIn<N>
          : number;
/** Values of several numbers, records, arrays and lists of these, and what folds them. */
type BodyComposite<P> =
  P extends ListToken<infer T>
    ? { push: (value: Listed<T>) => void }
    : P extends StructViewToken<infer F, infer R>
      ? NestOf<StructPlace<F>, R>
      : P extends StructToken<infer F>
        ? StructValue<F>
        : P extends CompositeToken<infer V, unknown, ComponentType, never>
          ? V
          : P extends CompositeScatterToken<infer V, ComponentType, infer R, infer O>
            ? { [M in ScatterMethod<O>]: (...args: [...Indices[R], value: V]) => void }
            : P extends CompositeReduceToken<infer V, ComponentType, infer O>
              ? { [M in ReduceMethod<O>]: (value: V) => void }
              : P extends ExtremumToken<NumericType, infer O>
                ? { [M in O]: (value: number, index: number) => void }
                : P extends StructReduceToken<infer F>
                  ? { merge: (value: StructValue<F>) => void }
                  : never;
/** The parameters as a kernel's body sees them. */
export type BodyParams<P extends Params> = { [K in keyof P]: BodyParam<P[K]> };

type TeamOp = "sum" | "min" | "max";
/** One result of a team's loop, or several. */
export type TeamSpec = TeamOp | readonly [op: TeamOp, components: number];
type TeamFold<O extends TeamSpec> = O extends TeamOp
  ? { [M in ReduceMethod<O>]: (value: number) => void }
  : O extends readonly [infer E extends TeamOp, number]
    ? { [M in ReduceMethod<E>]: (k: number, value: number) => void }
    : never;
type TeamFolds<R extends Record<string, TeamSpec>> = { [K in keyof R]: TeamFold<R[K]> };
/** Results of a team's loop: numbers, by component where there are several. */
export type TeamValues<R extends Record<string, TeamSpec>> = {
  [K in keyof R]: R[K] extends TeamOp ? number : { readonly [k: number]: number; readonly length: number };
};

/** The second argument of a team kernel's body. Each method is a barrier for the team. */
export interface Team {
  /** Rank of this team in the league. */
  readonly index: number;
  /** Number of members; 1 where a team runs on one worker. */
  readonly size: number;
  /** Members share out j = 0 .. count-1. */
  range(count: number, body: (j: number, lanes: Lanes) => void): void;
  /** A sum (least, greatest value) over j = 0 .. count-1, known to all members. */
  sum(count: number, value: (j: number, lanes: Lanes) => number): number;
  min(count: number, value: (j: number, lanes: Lanes) => number): number;
  max(count: number, value: (j: number, lanes: Lanes) => number): number;
  /**
   * Several results in one pass: `const r = team.reduce(n, { a: "sum", b: "max" }, (j, r) => { r.a.add(x[j]); r.b.max(y[j]); })`, then `r.a`, `r.b`.
   * `["sum", 12]` makes twelve of one name, `r.a.add(k, x[j])`, then `r.a[k]`. All are f64.
   */
  reduce<R extends Record<string, TeamSpec>>(
    count: number,
    results: R,
    body: (j: number, r: TeamFolds<R>, lanes: Lanes) => void,
  ): TeamValues<R>;
  /** One member runs the body. */
  single(body: () => void): void;
  /**
   * Memory shared by the team, undefined at first. The type is a word, or a type as of private arrays, or f64 and its kin where they are listed. On level 0, the usual one, it is
   * a GPU's shared memory and of constant length; on level 1 it is the device's memory, and the length may be computed from scalars and extents.
   * `disjoint: true` asserts that no two members touch one element in a step where one writes it, where the analysis cannot see it; js-debug checks it.
   */
  scratch(
    type: NumberType | Exclude<ArrayType, BigInt64ArrayConstructor | BigUint64ArrayConstructor> | ScalarToken<NumberType>,
    length: number,
    options?: { level?: 0 | 1; disjoint?: boolean },
  ): { [index: number]: number; readonly length: number };
  scratch(
    type: WideType | BigInt64ArrayConstructor | BigUint64ArrayConstructor | ScalarToken<WideType>,
    length: number,
    options?: { level?: 0 | 1; disjoint?: boolean },
  ): { [index: number]: bigint; readonly length: number };
}

/**
 * The lanes of one member, the level below it: neighbouring threads of a GPU, elements of a CPU's vectors. What the member does outside of
 * their loops is done once. After each method the member goes on with all lanes together.
 */
export interface Lanes {
  /** Lanes share out k = 0 .. count-1. */
  range(count: number, body: (k: number) => void): void;
  /** A sum (least, greatest value) over k = 0 .. count-1, known to all lanes. */
  sum(count: number, value: (k: number) => number): number;
  min(count: number, value: (k: number) => number): number;
  max(count: number, value: (k: number) => number): number;
  /** Several results in one pass, as of `team.reduce`. */
  reduce<R extends Record<string, TeamSpec>>(count: number, results: R, body: (k: number, r: TeamFolds<R>) => void): TeamValues<R>;
}
