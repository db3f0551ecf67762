import type { AtomicType, Expr, NumericType, PlainValue, ReduceOp, ScalarType, ScatterOp } from "../../ir/types.js";
import type { Dimension, Level } from "../declare/cells.js";
import type { CompositeType } from "../declare/composite.js";
import type { StructType } from "../declare/struct.js";
import type { FunctionNode, FunctionSource } from "../read/source.js";

/**
 * Value that a name or an expression of the source stands for while it is lowered. Only scalars exist at run time; the rest (views, tuples,
 * records, functions, the team) is resolved here.
 */
export type LoweredValue =
  | ScalarValue
  | LocalVariable
  /** `of`: its elements along the last axes are the components of values of that type. */
  | { kind: "view"; name: string; element: NumericType; rank: number; prefix: Expr[]; of?: CompositeType }
  /** An array of whole numbers that is reached by atomic operations alone. */
  | { kind: "atomic"; name: string; element: AtomicType; rank: number }
  | FieldValue
  /** Components of one cell of a field with several; `own` if it is the body's cell, which may be written. */
  | { kind: "components"; field: FieldValue; cell: Expr[]; own: boolean }
  | CellValue
  /** Values for each coordinate along kernel axes, in rising order, and `ghosts` before each. */
  | { kind: "axis"; name: string; element: NumericType; axes: readonly number[]; cardinality: number; ghosts: number }
  /** The particle's place in the columns, in a local. */
  | { kind: "particle"; index: string }
  | { kind: "deposit"; name: string; element: NumericType; cardinality: number }
  | { kind: "scatter"; name: string; element: NumericType; rank: number; op: ScatterOp; of?: CompositeType }
  | { kind: "reduce"; name: string; type: NumericType; op: ReduceOp; result?: LocalVariable }
  /** A scalar that a scalar step sets. */
  | { kind: "assign"; name: string; type: NumericType }
  /** A reduction of several components, which a private array holds until the body, or the turn of a shared loop, ends. */
  | { kind: "reduceEach"; name: string; type: NumericType; op: ScatterOp; array: string; result?: LocalVariable }
  /** A reduction of values of several numbers, each component by a parameter of its own. */
  | { kind: "reduceComposite"; name: string; op: ScatterOp; of: CompositeType; parts: readonly string[] }
  /** A least or greatest value with its place, whose parts are parameters of their own. */
  | { kind: "extremum"; name: string; op: "min" | "max"; type: NumericType; parts: readonly string[] }
  /** A fold of records by the author, each number by a parameter of its own. */
  | { kind: "reduceStruct"; name: string; struct: StructType; parts: readonly string[] }
  /** A list; `elements` is an array with room for them, and the local `at` the place of the next. */
  | { kind: "list"; name: string; at: string; elements: LoweredValue }
  /** `length` counts values of type `of`, if it has one. */
  | { kind: "array"; name: string; type: NumericType; length: number; of?: CompositeType }
  | { kind: "table"; name: string; type: NumericType; shape: number[]; prefix: Expr[] }
  | { kind: "tuple"; items: LoweredValue[] }
  | RecordParts
  /** An array of records: a view for each field, indexed as far as this is. */
  | { kind: "structView"; name: string; rank: number; struct: StructType; fields: ReadonlyMap<string, LoweredValue> }
  /** A type of records, which constructs them. */
  | { kind: "struct"; of: StructType }
  /** A type of values of several numbers, which constructs them. */
  | { kind: "composite"; of: CompositeType }
  | FunctionValue
  | { kind: "builtin"; name: string }
  | { kind: "arrayType"; type: NumericType }
  | { kind: "namespace"; name: Namespace }
  | { kind: "params" }
  | { kind: "team" }
  /** The lanes of a member of the team. */
  | { kind: "lanes" }
  | { kind: "void" };

/** Objects of JavaScript's own that bodies name. */
export type Namespace = "Math" | "Number" | "BigInt" | "console";
const NAMESPACES: ReadonlySet<string> = new Set<Namespace>(["Math", "Number", "BigInt", "console"]);
export const isNamespace = (name: string): name is Namespace => NAMESPACES.has(name);

/** An object, or a value of several numbers such as a vector. */
interface RecordParts {
  kind: "record";
  fields: Map<string, LoweredValue>;
  /** The type of such a value. */
  of?: CompositeType;
  /** The name of the variable that holds it, which may take another one. */
  variable?: string;
  /** Its fields are expressions that have yet to be evaluated. */
  lazy?: true;
  /** The array of records that it is an element of. */
  elementOf?: { name: string; struct: StructType };
  /** The element of a view, or of a private array, that it is. */
  place?: { kind: "view" | "array"; name: string; element: NumericType; indices: readonly Expr[]; of: CompositeType };
}

/**
 * A number or truth value. A literal's type is open: `weak` literals (and variables that only ever held such) take the type of
 * what they meet; left alone, `int` becomes i32, `float` f64, and `wide` i64.
 */
export interface ScalarValue {
  kind: "scalar";
  expr: Expr;
  weak?: Weak;
}

type Weak = "int" | "float" | "wide";

export interface LocalVariable {
  kind: "variable";
  name: string;
  type: ScalarType;
  weak?: Weak;
  constant: boolean;
  /** Finds what an earlier attempt learnt of its type. */
  key: string;
  /** It began with a literal or nothing, so that it takes the widest type of what it is given. */
  open: boolean;
  /** It was declared without a value. */
  later?: true;
}

export interface FunctionValue {
  kind: "function";
  name: string;
  node: FunctionNode;
  source: FunctionSource;
  scope: Scope;
}

export interface CellValue {
  kind: "cell";
  dimension: Dimension;
  /** The kernel axis along which the container is declared to march. */
  marches?: number;
  /** The cell that a march has come to, a counter's cells further along an axis. */
  at?: { axis: number; counter: string };
}

export interface FieldValue {
  kind: "field";
  name: string;
  element: NumericType;
  cardinality: number;
  level: Level;
  /** True for an array along axes, which bodies do not assign. */
  constant?: true;
}

/** Names visible at a point of the source. */
export class Scope {
  private readonly names = new Map<string, LoweredValue>();
  constructor(readonly parent?: Scope) {}
  find(name: string): LoweredValue | undefined {
    return this.names.get(name) ?? this.parent?.find(name);
  }
  bind(name: string, value: LoweredValue): void {
    this.names.set(name, value);
  }
}

/** True for expressions that may be repeated without cost. */
export const isLeaf = (e: Expr): boolean =>
  e.op === "const" || e.op === "local" || e.op === "param" || e.op === "index" || e.op === "extent" || e.op === "teamSize";

/** True for sums and products of these, which may be written again where a place is both read and written. */
export const isShort = (e: Expr): boolean => isLeaf(e) || (e.op === "binary" && isShort(e.a) && isShort(e.b));

export const constantExpr = (type: ScalarType, value: PlainValue): Expr => ({ op: "const", type, value });
