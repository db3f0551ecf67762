import type { FloatType, HalfType, IntegerType, NumericType } from "../../ir/scalars.js";
import type { InexactFn } from "../../ir/operators.js";
import type { AtomicFn, AtomicType, ElementType, ScalarType, Stmt } from "../../ir/types.js";

/** `index` is the signed type in which addresses and loop counters are computed: 64 bits on CPUs, and 32 on GPUs where every view is small enough. */
type CType = ScalarType | ElementType | "index";

/** Exact functions that every C library has; the rest of UnaryFn and BinaryFn is written as operators or helpers. */
type ExactFn = "sqrt" | "floor" | "ceil" | "trunc" | "fabs" | "fmod" | "copysign";

export type LibraryFn = InexactFn | ExactFn;

/** The functions of C's library, whose names other languages have taken over. */
export const LIBRARY: Record<LibraryFn, string> = {
  exp: "exp",
  expm1: "expm1",
  exp2: "exp2",
  log: "log",
  log1p: "log1p",
  log2: "log2",
  log10: "log10",
  pow: "pow",
  sin: "sin",
  cos: "cos",
  tan: "tan",
  asin: "asin",
  acos: "acos",
  atan: "atan",
  atan2: "atan2",
  sinh: "sinh",
  cosh: "cosh",
  tanh: "tanh",
  cbrt: "cbrt",
  hypot: "hypot",
  sqrt: "sqrt",
  floor: "floor",
  ceil: "ceil",
  trunc: "trunc",
  fabs: "fabs",
  fmod: "fmod",
  copysign: "copysign",
};

/** How C prints a truth value. */
export const PRINTF: Dialect["printf"] = { format: "%s", bool: (value) => `(${value}) ? "true" : "false"` };

/** Names of the functions in helpers.ts: operation and type, or `to_from` types for casts. */
export type CHelper =
  | `${"min" | "max"}_${NumericType}`
  | `${"div" | "rem"}_${IntegerType}`
  | "div_f32"
  | `${IntegerType | "bool"}_from_${FloatType}`
  | `${"pow" | "powi" | "copysign" | "round" | "max_abs"}_${FloatType}`
  | `abs_${"i32" | "i64"}`
  | `${HalfType}_from_f32`
  | `f32_from_${HalfType}`
  | `${"fetch_min" | "fetch_max" | "exchange_if"}_${AtomicType}`
  | "clz_u32"
  | "mulhi_u32";

/** A table of floats as whole numbers with the same bits: their type, the end of their literals, and the float of such a word. */
export interface TableBits {
  readonly type: string;
  readonly suffix: string;
  value(word: string): string;
}

/** The text of an atomic operation on the whole number at a pointer, which gives what was there. */
export type Fetch = (
  fn: AtomicFn,
  type: AtomicType,
  pointer: string,
  operands: readonly string[],
  use: (helper: CHelper) => string,
) => string;

/** How one C-like language spells what the shared emitter writes. */
export interface Dialect {
  readonly name: string;
  /** Elements of 16-bit floats are words with the same bits, which helpers convert. */
  readonly types: Readonly<Record<CType, string>>;
  /** The bits of an f32 as a u32, and the f32 with such bits. */
  readonly bits: { of(value: string): string; value(word: string): string };
  /** Before a helper function, such as `static inline`. */
  readonly helperPrefix: string;
  /** Before a constant table at file scope, such as `static const`. */
  readonly tablePrefix: string;
  /** True where the compiler is told that signed arithmetic wraps; elsewhere it goes through the unsigned type. */
  readonly signedWraps: boolean;
  /** True where the operator divides f32 less exactly than rounding, so that a helper must. */
  readonly roughDivision?: boolean;
  /** Marks a condition as likely. If omitted, it is left unmarked. */
  likely?(condition: string): string;
  /** Bit patterns for tables of floats, where infinities and NaN are not constant expressions; undefined where they are. */
  readonly tableBits?: Readonly<Record<FloatType, TableBits>>;
  /** Expressions of type double. */
  readonly infinity: string;
  readonly nan: string;
  /** Name of a library function for operands of `type`. */
  math(fn: LibraryFn, type: FloatType): string;
  /** An expression that raises the i32 at a pointer by 1, whatever other threads do there, and gives what it was. */
  next(pointer: string): string;
  /** Undefined if the language has no atomic operations that give the old value. */
  readonly fetch?: Fetch;
  /** How a truth value is printed; undefined if kernels in this language cannot print. */
  readonly printf?: { readonly format: string; bool(value: string): string };
  /** Definitions that take the place of those in helpers.ts, by their names. */
  readonly helpers: Readonly<Partial<Record<CHelper, string>>>;
}

type StmtOf<K extends Stmt["kind"]> = Extract<Stmt, { kind: K }>;

/**
 * Surroundings of a kernel's body in one generated function: its indices, views and folds. Statements are written through
 * `body`: `body.code` takes lines, `body.value(expr)` and `body.statements(list)` emit what is inside.
 */
export interface CFrame<Body> {
  /** The policy index along `axis`: the name of a variable of the `index` type. */
  index(axis: number): string;
  /** An i32 expression, a single term. */
  teamSize(): string;
  /** An i32 expression, a single term. */
  extent(view: string, axis: number): string;
  /** The pointer to element 0 of a view or scatter array: a single term. */
  pointer(view: string): string;
  /** Element strides of a view or scatter array: names of variables of the `index` type, or integer literals; `1` is left out of addresses. */
  strides(view: string): readonly string[];
  /** Writes a store, where a plain assignment will not do (non-temporal stores, one member of a team). */
  store?(body: Body, stmt: StmtOf<"store">, place: string, value: string): void;
  /** The same for an element of an array. */
  setElement?(body: Body, stmt: StmtOf<"setElement">, place: string, value: string): void;
  /** Adds into the element at `offset` of the target, an expression of the `index` type. */
  scatter(body: Body, stmt: StmtOf<"scatter">, offset: string, value: string): void;
  /** A fold into a reduce parameter, or into a result of the enclosing teamReduce. */
  reduce(body: Body, stmt: StmtOf<"reduce">, value: string): void;
  /** The same of values into reduce parameters that fold jointly. */
  reduceJointly(body: Body, stmt: StmtOf<"reduceJointly">, values: readonly string[]): void;
  /** Writes all that is done for one element or member, where that is more than its statements. */
  element?(body: Body, list: readonly Stmt[]): void;
  /**
   * In code with checked indices: an expression (of type void, say) that sets `failed`, and notes the index in the variable `at` as the
   * element's failure at the site where `failed` was not set before.
   */
  fault(body: Body, site: number, at: string): string;
  /** A variable of the element, false at its start: true once an index was outside. */
  failed(): string;
  /** A line before a serial loop. */
  lineBefore?(stmt: StmtOf<"for">): string | undefined;
  /** A line at the start of each turn of a serial loop. */
  turn?(stmt: StmtOf<"for">): string | undefined;
  /** Declares an array; where the frame has no such method a private one is a zeroed local array, a scratch one a local array. */
  array?(body: Body, stmt: StmtOf<"array">): void;
  teamFor(body: Body, stmt: StmtOf<"teamFor">): void;
  teamReduce(body: Body, stmt: StmtOf<"teamReduce">): void;
  single(body: Body, stmt: StmtOf<"single">): void;
}
