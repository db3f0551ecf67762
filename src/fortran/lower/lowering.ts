import { isOfParameters } from "../../ir/passes/loop-axis.js";
import { affordable, productExpr } from "./constants.js";
import type { NumberElement, Expr, Location, Param, ScalarType, ScatterOp, Stmt, Table, ViewParam } from "../../ir/types.js";
import { find, ownerOf, namedVariable, type UnitScope, type Variable } from "../analyse/symbols.js";
import { isTextNumber } from "../analyse/texts.js";
import { variableName } from "../analyse/walk.js";
import type { Apply, ActualArgument, Expr as Tree, Name, ComponentRef, ReductionOp, Stmt as TreeStmt } from "../tree/index.js";
import { constantLength, privateArray, rowArray, type ArrayValue } from "./arrays.js";
import { memoryType, Unlowerable } from "./values.js";
import { narrowed, type Wide } from "./wide.js";

/* State of the lowering of one kernel's statements. */

/** Meaning of a name. */
export type Meaning =
  | { readonly kind: "value"; readonly expr: Expr }
  | { readonly kind: "local"; readonly name: string; readonly type: ScalarType }
  | { readonly kind: "array"; readonly array: ArrayValue }
  /** Accumulated, and never read. */
  | { readonly kind: "reduction"; readonly target: string; readonly type: ScalarType; readonly op: ReductionOp };

/** The names of one procedure, or of one use of it. */
export interface ProcedureFrame {
  readonly scope: UnitScope;
  readonly meanings: Map<string, Meaning>;
  /** All that is lowered in it. */
  readonly body: readonly TreeStmt[];
  /** Loops around, by their names in Fortran, and other constructs that an `exit` leaves by their names. */
  readonly loops: { readonly name?: string; readonly label: string; readonly isLoop: boolean }[];
  /** For the body of a parallel loop: `cycle` outside of its own loops, without a name or with the parallel loop's, ends the element. */
  readonly element?: { readonly loopName?: string };
  /** The body of a procedure that is called in a kernel: arguments without a meaning are absent. */
  readonly isCalled?: boolean;
  /** Objects that stand for others: arguments for the caller's, in its frame. */
  readonly objects?: ReadonlyMap<string, { readonly frame: ProcedureFrame; readonly of: Name | ComponentRef }>;
}

/** The variable or component that is meant, and the frame that knows it. */
export function objectOf(frame: ProcedureFrame, of: Name | ComponentRef): [ProcedureFrame, Name | ComponentRef] {
  if (of.kind === "name") {
    const found = frame.objects?.get(of.name);
    return found ? objectOf(found.frame, found.of) : [frame, of];
  }
  if (of.base.kind !== "name" && of.base.kind !== "part") return [frame, of];
  const [at, base] = objectOf(frame, of.base);
  return base === of.base ? [frame, of] : [at, { ...of, base }];
}

export function variableIn(frame: ProcedureFrame, of: Name | ComponentRef): Variable | undefined {
  const [{ scope }, what] = objectOf(frame, of);
  return namedVariable(scope, what);
}

/** An array that exclusive statements write. */
interface Exclusive {
  readonly at: Location;
  /** Operation by which iterations fold into it; undefined if one of the statements is not a fold. */
  readonly op?: ScatterOp;
}

/** Origin of a parameter's value: a scalar or array of the program. */
export interface ParamSource {
  readonly name: string;
  readonly variable: Variable;
  /** For an array, extents in Fortran's order as far as the declaration gives them: expressions of parameters. */
  readonly extents?: readonly (Expr | undefined)[];
  /** The parameter says whether there is such a variable: an argument that is present, an array that is allocated. */
  readonly asks?: true;
  /** The parameter is the lower bound of this axis of the array, counted from 0. */
  readonly lower?: number;
}

/** A view with a row for each element of the range: an array of the element's own. */
export interface RowView {
  readonly param: string;
  readonly type: NumberElement;
  /** Length of a row: an expression of parameters. */
  readonly length: Expr;
}

/** The parts of lowering that use each other. */
export interface Parts {
  /** `index` picks an element of expressions that are arrays, counted from 0. */
  value(cx: FortranLowering, frame: ProcedureFrame, e: Tree, index?: readonly Expr[]): Expr;
  statements(cx: FortranLowering, list: readonly TreeStmt[], frame: ProcedureFrame): void;
  /** Puts a procedure in place of its call; gives a function's result. */
  inline(
    cx: FortranLowering,
    frame: ProcedureFrame,
    procedure: UnitScope,
    args: readonly ActualArgument[],
    at: Location,
  ): Meaning | undefined;
  /** The extents of what a function over arrays gives; undefined of one value, and of other names. */
  arrayShape(cx: FortranLowering, frame: ProcedureFrame, e: Apply): readonly Expr[] | undefined;
  /** Result of a function over arrays, or one element of it; undefined for other names. */
  overArrays(cx: FortranLowering, frame: ProcedureFrame, e: Apply, index: readonly Expr[]): Expr | undefined;
  /** Makes an array of the program a parameter. */
  arrayOf(cx: FortranLowering, variable: Variable, name: string): ArrayValue;
}

export class FortranLowering {
  readonly params: Param[] = [];
  readonly tables: Table[] = [];
  /** By the names of parameters. */
  readonly sources = new Map<string, ParamSource>();
  /** Locals that something assigns: their values differ from place to place. */
  readonly changing = new Set<string>();
  out: Stmt[] = [];
  location: Location;
  /** Integers of 64 bits among the values. */
  readonly wide = new WeakMap<Expr, Wide>();
  /** Procedures that are being inlined. */
  readonly stack: UnitScope[] = [];
  /** Statements that a kernel leaves out, such as prints. */
  readonly dropped: { readonly at: Location; readonly what: string }[] = [];
  /** For a parallel loop: prints are part of the kernel, and `atomic` takes effect. */
  parallel = false;
  /** The frame of a parallel loop's body. */
  element: ProcedureFrame | undefined;
  /** Variables that iterations assign and do not read before: `atomic write` of them needs no order. */
  assignedFirst: ReadonlySet<string> = new Set();
  /** For a thread of a block: it may wait for the others. */
  ofBlocks = false;
  /** Bounds that declarations leave open, or that are of another time than the loop, come as parameters. */
  asksBounds = false;
  /** Axes of a range whose elements may have rows of views for themselves; undefined if there is no such range. */
  axes: number | undefined;
  readonly rows: RowView[] = [];
  /** Arrays that threads of a block share, by their names in the kernel. */
  readonly shared = new Set<string>();
  /** Arrays that iterations write one at a time, by the names of parameters. */
  readonly exclusive = new Map<string, Exclusive>();
  private readonly taken = new Set<string>();
  /** Variables whose bounds are being lowered. */
  private readonly making = new Set<Variable>();
  /** Parameters by scope and name. */
  private readonly outer = new Map<UnitScope, Map<string, Meaning>>();

  constructor(
    readonly scope: UnitScope,
    at: Location,
    /** Names of arrays that are written. */
    readonly written: ReadonlySet<string>,
    readonly parts: Parts,
  ) {
    this.location = at;
  }

  /** A free name like the one that is wished for. */
  unique(wish: string): string {
    let name = wish;
    for (let n = 2; this.taken.has(name); n++) name = `${wish}_${n}`;
    this.taken.add(name);
    return name;
  }

  push(stmt: Stmt): void {
    this.out.push(stmt);
  }

  /** The statements that `build` lowers. */
  collect(build: () => void): Stmt[] {
    const { out } = this;
    this.out = [];
    try {
      build();
      return this.out;
    } finally {
      this.out = out;
    }
  }

  /** A local that keeps a value. */
  kept(wish: string, init: Expr): Expr {
    const name = this.unique(wish);
    this.push({ kind: "let", name, type: init.type, init, location: this.location });
    return { op: "local", type: init.type, name };
  }

  /** A local to be assigned. */
  local(wish: string, type: ScalarType, init?: Expr): Extract<Meaning, { kind: "local" }> {
    const name = this.unique(wish);
    this.changing.add(name);
    this.push({ kind: "let", name, type, ...(init && { init }), location: this.location });
    return { kind: "local", name, type };
  }

  /** Whether an element may have an array of these extents for itself: constants, or what is known before the launch. */
  canHave(extents: readonly (Expr | undefined)[]): extents is readonly Expr[] {
    const known = (extent: Expr | undefined): boolean => extent !== undefined && isOfParameters(extent);
    return constantLength(extents) !== undefined || (this.axes !== undefined && extents.every(known));
  }

  /** An array of the element's own; zero at first, or undefined if its size is known at the launch alone. */
  array(wish: string, type: ScalarType, shape: Pick<ArrayValue, "lowers" | "extents">, at: Location): ArrayValue {
    if (!this.canHave(shape.extents))
      throw new Unlowerable(
        at,
        wish,
        "the size of a private array is not known before the launch",
        "make its bounds parameters or arguments",
      );
    const length = constantLength(shape.extents);
    if (length === undefined) return this.row(wish, type, shape);
    const ref = { name: this.unique(wish), type: memoryType(type), length: Math.max(length, 1) };
    this.push({ kind: "array", ...ref, space: "private", location: this.location });
    return privateArray(ref, type, shape);
  }

  private row(wish: string, type: ScalarType, shape: Pick<ArrayValue, "lowers" | "extents">): ArrayValue {
    const axes = Array.from({ length: this.axes! }, (_, axis) => axis);
    const name = this.unique(`${wish}_rows`);
    const param: ViewParam = { kind: "view", name, element: memoryType(type), rank: axes.length + 1, disjoint: false };
    this.params.push(param);
    this.rows.push({ param: name, type: memoryType(type), length: shape.extents.reduce(productExpr) });
    return rowArray(param, type, shape, axes);
  }

  assign(name: string, value: Expr): void {
    this.push({ kind: "assign", name, value, location: this.location });
  }

  /** The expression where its value cannot change, else a local that keeps it. */
  stable(e: Expr, wish: string): Expr {
    return affordable(e, this.changing) ? e : this.kept(wish, e);
  }

  private declared(frame: ProcedureFrame, of: Name | ComponentRef): Variable {
    const variable = variableIn(frame, of);
    if (of.kind === "part" && of.base.kind === "apply")
      throw new Unlowerable(of.at, variableName(of), "this array of objects is not supported here", "make each component an array");
    if (!variable) throw new Unlowerable(of.at, variableName(of), "it is unknown here", "declare it, or give the file with its module");
    return variable;
  }

  /** Meaning of a name in a frame. @throws Unlowerable */
  meaning(frame: ProcedureFrame, of: Name | ComponentRef): Meaning {
    const [at, what] = objectOf(frame, of);
    const name = variableName(what);
    if (what.kind === "part" && find(at.scope, name))
      throw new Unlowerable(of.at, name, "a variable has the name of the component", "rename the variable");
    const known = at.meanings.get(name);
    if (known) return known;
    const variable = this.declared(frame, of);
    const { refused } = narrowed(variable);
    if (refused) throw new Unlowerable(of.at, refused.construct, refused.why, refused.remedy);
    // Procedures that are called see what statements in order have assigned, and what the element has for itself.
    const seen = at.isCalled && (this.now(variable).get(variable.name) ?? this.ownOf(variable));
    return seen || this.given(at.scope, variable, name);
  }

  /** The element's own value in place of a variable around a called procedure. */
  private ownOf(variable: Variable): Meaning | undefined {
    const { element } = this;
    const meant = element && find(element.scope, variable.name);
    return meant && ownerOf(meant) === ownerOf(variable) ? element.meanings.get(variable.name) : undefined;
  }

  private readonly assigned = new Map<UnitScope, Map<string, Meaning>>();

  /** Current meanings of variables that a sequence of statements assigns, among the variables declared in the same scope. */
  now(variable: Variable): Map<string, Meaning> {
    const owner = ownerOf(variable);
    const found = this.assigned.get(owner) ?? new Map<string, Meaning>();
    this.assigned.set(owner, found);
    return found;
  }

  /** A variable of the program as a parameter. */
  given(scope: UnitScope, variable: Variable, name: string): Meaning {
    const owner = ownerOf(variable);
    const meanings = this.outer.get(owner) ?? new Map<string, Meaning>();
    this.outer.set(owner, meanings);
    const known = meanings.get(variable.name);
    if (known) return known;
    if (this.making.has(variable)) throw new Unlowerable(variable.at, name, "its bounds depend on itself", "take a scalar for them");
    this.making.add(variable);
    try {
      const made = this.parameter(variable, name);
      meanings.set(variable.name, made);
      return made;
    } finally {
      this.making.delete(variable);
    }
  }

  /** Whether an argument is present, an array allocated or a pointer associated. */
  asked(frame: ProcedureFrame, of: Name | ComponentRef): Expr {
    const wish = variableName(objectOf(frame, of)[1]);
    const variable = this.declared(frame, of);
    const name = this.unique(`has_${wish}`);
    this.params.push({ kind: "scalar", name, type: "bool" });
    this.sources.set(name, { name: wish, variable, asks: true });
    return { op: "param", type: "bool", name };
  }

  private parameter(variable: Variable, wish: string): Meaning {
    if (variable.dims) return { kind: "array", array: this.parts.arrayOf(this, variable, wish) };
    if (this.parallel && isTextNumber(variable))
      throw new Unlowerable(this.location, wish, "kernels have no character strings", "decide before the loop, or keep a logical variable");
    const name = this.unique(wish);
    this.params.push({ kind: "scalar", name, type: variable.type });
    this.sources.set(name, { name: wish, variable });
    return { kind: "value", expr: { op: "param", type: variable.type, name } };
  }
}
