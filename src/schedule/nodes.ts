/**
 * The scheduled IR: a kernel for a GPU after it has been decided which threads do what, and before it is text. It has the operators of the
 * kernel's IR (ir/types.ts); a schedule adds threads and blocks, memory with offsets, barriers, and values that threads exchange. Indices of
 * the policy, extents, strides, teams, scatters and reductions are gone.
 */

import type { Identifier } from "../base/names.js";
import type {
  AtomicFn,
  AtomicType,
  BinaryFn,
  CompareFn,
  ElementType,
  MathFn,
  NumericType,
  ScalarType,
  ScatterOp,
  Table,
  UnaryFn,
} from "../ir/types.js";

/**
 * Type of a value. Arithmetic of `i32` wraps; of `int` (32 bits), `i64`, and `index`, which is one of the two as the launch's addresses
 * want, it is exact by construction.
 */
export type Type = ScalarType | "int" | "index" | "long";

/** Type of the elements of an array in memory. */
export type Element = ElementType | "long";

/** Memory that all threads of the device, the threads of a block, or one thread can reach. */
type Space = "device" | "block" | "thread";

/** An array, or a variable that points into one. */
export interface Memory {
  readonly id: Identifier;
  readonly element: Element;
  readonly space: Space;
  /** Others change it meanwhile. */
  readonly volatile?: true;
}

export type Axis = "x" | "y" | "z";

/** Threads of a block along x, y and z. */
export type BlockShape = readonly [number, number, number];

export type Expr =
  /** `short`: of a schedule, whose unsigned numbers have no suffix where a language lets it be left out. */
  | { readonly op: "const"; readonly type: Type; readonly value: number | bigint | boolean; readonly short?: true }
  | { readonly op: "local"; readonly type: Type; readonly id: Identifier }
  /** A number that the launch gives. */
  | { readonly op: "number"; readonly type: Type; readonly id: Identifier }
  /** Number of the thread in its block or of the block, and how many there are, along an axis. */
  | { readonly op: "place"; readonly type: "u32"; readonly of: "thread" | "block" | "threads" | "blocks"; readonly axis: Axis }
  | { readonly op: "read"; readonly type: Type; readonly from: Memory; readonly offset: Expr }
  /** Place of an element, or a whole array; an argument of functions. */
  | { readonly op: "address"; readonly type: "long"; readonly of: Memory; readonly offset?: Expr }
  | { readonly op: "table"; readonly type: NumericType; readonly table: Table; readonly id: Identifier; readonly indices: readonly Expr[] }
  | { readonly op: "unary"; readonly type: Type; readonly fn: UnaryFn; readonly a: Expr }
  /** `plain`: of a schedule, whose operands are such that the operator of any language gives the result. */
  | { readonly op: "binary"; readonly type: Type; readonly fn: BinaryFn; readonly a: Expr; readonly b: Expr; readonly plain?: true }
  | { readonly op: "compare"; readonly type: "bool"; readonly fn: CompareFn; readonly a: Expr; readonly b: Expr }
  | { readonly op: "logical"; readonly type: "bool"; readonly fn: "and" | "or"; readonly a: Expr; readonly b: Expr }
  | { readonly op: "select"; readonly type: Type; readonly cond: Expr; readonly a: Expr; readonly b: Expr }
  | { readonly op: "cast"; readonly type: Type; readonly a: Expr }
  | { readonly op: "call"; readonly type: NumericType; readonly fn: MathFn; readonly args: readonly Expr[] }
  /** A value that all threads of the block have alike, whatever it was made of. */
  | { readonly op: "agreed"; readonly type: Type; readonly a: Expr }
  /** The value of another thread of the warp: `by` numbers on, or where the bits of `by` differ. `among`: only threads of this group take part. */
  | {
      readonly op: "shuffle";
      readonly type: Type;
      readonly how: "down" | "xor";
      readonly value: Expr;
      readonly by: Expr;
      readonly among?: Expr;
    }
  /** Sets an integer to `wanted` if it is `seen`, and gives what it was. */
  | {
      readonly op: "exchange";
      readonly type: "i32" | "u32";
      readonly at: Memory;
      readonly offset: Expr;
      readonly seen: Expr;
      readonly wanted: Expr;
    }
  /** Replaces an integer by an atomic operation, and gives what it was. */
  | {
      readonly op: "fetch";
      /** The array by its author's name. */
      readonly array: string;
      readonly fn: AtomicFn;
      readonly type: AtomicType;
      readonly at: Memory;
      readonly offset: Expr;
      readonly operands: readonly Expr[];
    }
  /** Raises a counter by one, and gives what it was. */
  | { readonly op: "next"; readonly type: "u32"; readonly at: Memory; readonly offset: Expr }
  /** A word of the language's own, by its name there. */
  | { readonly op: "word"; readonly type: Type; readonly word: Word; readonly args: readonly Expr[] }
  /** A function of the program. */
  | { readonly op: "apply"; readonly type: Type; readonly fn: Func; readonly args: readonly Expr[] };

/** Words that targets have of their own; each spells the ones that its features promise. */
export type Word =
  /** The fold of a value over a subgroup; whether this is its first thread, its number, and how many there are. */
  | "groupSum"
  | "groupMin"
  | "groupMax"
  | "isFirstOfGroup"
  | "groupNumber"
  | "groups"
  /** The group of `lanes` neighbours, in which thread (first argument) is number lane (second); lanes is the third. */
  | "lanesTogether"
  /** How many blocks have taken a ticket before; it starts at 0 again after `last`, the second argument. */
  | "ticket"
  /** Nanoseconds from some beginning. */
  | "clock"
  /** Fetches what lies at an address nearer. */
  | "ask"
  /** Reads two adjacent words (first argument), seen after the stores that came before theirs, into two variables. */
  | "poll"
  /** Lets others work; ends the kernel with an error. */
  | "pause"
  | "fail"
  /** The value whose bits are the lowest of an i64. */
  | "sameBits";

/** A variable or an element. */
export type Place =
  | { readonly id: Identifier; readonly type: Type }
  | { readonly memory: Memory; readonly offset: Expr; readonly type: Type };

/** A line of the source that a statement comes from, and 0 for a schedule's own. */
interface Located {
  readonly line?: number;
}

/** `ifUsed`: a variable that is left out where nothing mentions it: compilers warn of it. */
export type Stmt = Located &
  (
    | {
        readonly kind: "let";
        readonly id: Identifier;
        readonly type: Type;
        readonly value?: Expr;
        readonly fixed?: true;
        readonly ifUsed?: true;
      }
    | { readonly kind: "assign"; readonly to: Place; readonly value: Expr }
    /** Adds to a variable or an element. */
    | { readonly kind: "increase"; readonly to: Place; readonly by: Expr }
    /** Puts a value at the place that a counter tells, and raises that by one. */
    | { readonly kind: "append"; readonly to: Memory; readonly at: Place; readonly value: Expr }
    /** An array of the thread, each element like `fill`; left as it is where that is missing. */
    | { readonly kind: "array"; readonly memory: Memory; readonly length: number; readonly fill?: Expr | "zero" }
    /** A variable that points into memory, at an offset or at an address that was read. */
    | {
        readonly kind: "pointer";
        readonly memory: Memory;
        readonly to: Target | undefined;
        readonly fixed?: true;
        readonly constant?: true;
      }
    | { readonly kind: "point"; readonly memory: Memory; readonly to: Target }
    /** Folds into an element, whatever other threads do there. */
    | { readonly kind: "atomic"; readonly fn: ScatterOp; readonly at: Memory; readonly offset: Expr; readonly value: Expr }
    | { readonly kind: "if"; readonly cond: Expr; readonly then: readonly Stmt[]; readonly else: readonly Stmt[] }
    /** While `cond`; then `step`. `name` is declared where it has a `start`. */
    | {
        readonly kind: "loop";
        readonly id: Identifier;
        readonly type: Type;
        readonly start?: Expr;
        readonly cond?: Expr;
        readonly step?: LoopStep;
        readonly body: readonly Stmt[];
        readonly unroll?: number;
      }
    | { readonly kind: "while"; readonly cond: Expr; readonly body: readonly Stmt[]; readonly update: readonly Stmt[] }
    /** Once, and as long as `again` holds, before which `name` takes its step. */
    | { readonly kind: "repeat"; readonly id: Identifier; readonly by: number; readonly again: Expr; readonly body: readonly Stmt[] }
    | { readonly kind: "block"; readonly body: readonly Stmt[] }
    | { readonly kind: "break" }
    | { readonly kind: "continue" }
    | { readonly kind: "return" }
    /** All threads of the block have come here, and see each other's stores. */
    | { readonly kind: "barrier" }
    /** The same for a group of lanes. */
    | { readonly kind: "lanesBarrier"; readonly lanes: Expr }
    /** Stores before it are seen by others before those after it: by the device, or by all. */
    | { readonly kind: "fence"; readonly scope: "device" | "system" }
    | { readonly kind: "do"; readonly call: Expr }
    /** The body of a function of threads that act as one (see `runFold`). */
    | { readonly kind: "foldRun"; readonly value: Place; readonly folded: Expr }
    | { readonly kind: "print"; readonly items: readonly (string | Expr)[] }
  );

/** Place that a variable points to: an array or an address that was read, or elements after or before it. */
export type Target = ({ readonly of: Memory } | { readonly address: Expr }) & { readonly offset?: Expr; readonly before?: Expr };

/** Next value of a loop variable: a sum or a quotient. */
export interface LoopStep {
  readonly fn: "add" | "div";
  readonly by: Expr;
}

/** A function that entries call. Values that it `changes` are its own, or the caller's as well. */
export interface Func {
  readonly id: Identifier;
  readonly params: readonly (
    | { readonly memory: Memory }
    | { readonly id: Identifier; readonly type: Type; readonly changes?: "inside" | "outside" }
  )[];
  readonly result?: Type;
  /** Better called than copied to where it is. */
  readonly apart: boolean;
  readonly body: readonly Stmt[];
}
