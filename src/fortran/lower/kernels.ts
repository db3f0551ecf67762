import { binary, int } from "../../ir/expressions.js";
import { identityOf } from "../../ir/identity.js";
import { IRError } from "../../base/errors.js";
import type { Expr, KernelIR, Location, NumberType, Param, ScalarType, Stmt } from "../../ir/types.js";
import { loopAsAxis } from "../../ir/passes/loop-axis.js";
import { optimise } from "../../ir/passes/optimise.js";
import { verify } from "../../ir/verify.js";
import { walkStmts } from "../../ir/walk.js";
import { findAllocation } from "../analyse/allocations.js";
import type { LoopAxis, ParallelRegion } from "../analyse/regions.js";
import { find, findNamed, ownerOf, type UnitScope, type Variable } from "../analyse/symbols.js";
import { namesInTree } from "../analyse/visit.js";
import { namesIn } from "../analyse/walk.js";
import { assignedIn, calledBy, writesOf } from "../analyse/writes.js";
import type { Expr as Tree, ReductionOp, Stmt as TreeStmt } from "../tree/index.js";
import { arrayShape, overArrays } from "./array-functions.js";
import { prove, settled } from "./atomic.js";
import { constantLength, declaredShape, type ArrayValue } from "./arrays.js";
import { blockIndices } from "./blocks.js";
import { inlineProcedure, structured } from "./calls.js";
import { minus, plus, productExpr } from "./constants.js";
import { declaring, indexOf, extentsOfExpr, value, valueAs } from "./expressions.js";
import { declared, initialOf } from "./locals.js";
import { handOn, keepLeft } from "./left.js";
import { FortranLowering, type ProcedureFrame, type Meaning, type Parts, type RowView, type ParamSource } from "./lowering.js";
import type { Outcome } from "./outcome.js";
import { arrayParameter } from "./parameters.js";
import { racesIn } from "./races.js";
import { lowerBody } from "./statements.js";
import { ONE, Unlowerable } from "./values.js";
import { narrowed } from "./wide.js";

/* Kernels from loop nests and from statements in order. */

const PARTS: Parts = {
  value,
  statements: lowerBody,
  inline: inlineProcedure,
  arrayShape,
  overArrays,
  arrayOf: (cx, variable, name) => {
    // Bounds are as they were when the arrays came: no local takes part.
    const isOthers = variable.dummy || variable.scope.unit.kind === "module";
    const frame = declaring({ scope: isOthers ? (findAllocation(variable)?.scope ?? variable.scope) : cx.scope });
    return arrayParameter(cx, variable, name, (bound) => indexOf(cx, frame, bound));
  },
};

/** Code for devices, with what the host must know of it. */
export interface LoweredKernel {
  readonly ir: KernelIR;
  /** By the names of parameters. */
  readonly sources: ReadonlyMap<string, ParamSource>;
  readonly outcomes: readonly Outcome[];
  /** The trips of each axis, outermost first: expressions of parameters. Without `stop` the launch's grid tells. */
  readonly trips: readonly (Expr | undefined)[];
  /** The loops that the axes are; none of statements in order. */
  readonly axes: readonly LoopAxis[];
  /** Scalars that each element begins with as they were before the loop, and changes for itself. */
  readonly carried: readonly string[];
  /** Arrays of run-time size that each element has for itself: a launch makes the views. */
  readonly rows: readonly RowView[];
  readonly dropped: FortranLowering["dropped"];
  /** One team for each block of a launch. */
  readonly ofBlocks?: true;
}

const lowering = (scope: UnitScope, at: Location, written: ReadonlySet<string>): FortranLowering =>
  new FortranLowering(scope, at, written, PARTS);

/** Names the problems of the IR's own rules at the Fortran that they come from. */
export function built(make: () => KernelIR): KernelIR {
  try {
    const ir = make();
    verify(ir);
    return ir;
  } catch (error) {
    if (error instanceof IRError && error.location)
      throw new Unlowerable(error.location, "statement", `it has no form as kernel code: ${error.problem}`);
    throw error;
  }
}

/** How the IR folds, or the function of its own fold and what changes nothing. */
const FOLDS: Readonly<Record<ReductionOp, "sum" | "min" | "max" | readonly [fn: "mul" | "and" | "or" | "xor", identity: number]>> = {
  "+": "sum",
  "*": ["mul", 1],
  min: "min",
  max: "max",
  ".and.": "min",
  ".or.": "max",
  iand: ["and", -1],
  ior: ["or", 0],
  ieor: ["xor", 0],
  ".neqv.": ["xor", 0],
  ".eqv.": ["xor", 1],
};

function reduction(cx: FortranLowering, name: string, type: ScalarType, op: ReductionOp): Meaning {
  const target = cx.unique(name);
  const held: NumberType = type === "bool" ? "i32" : (type as NumberType);
  const fold = FOLDS[op];
  if (typeof fold !== "string") {
    const [fn, identity] = fold;
    const [a, b] = ["a", "b"].map((wish) => cx.unique(wish));
    const [x, y]: Expr[] = [a, b].map((local) => ({ op: "local", type: held, name: local }));
    const both = binary(fn, x, y);
    const body = op === ".eqv." ? binary("xor", both, int(1)) : both;
    cx.params.push({ kind: "reduce", name: target, type: held, op: "custom", identity, combine: { a, b, body } });
  } else {
    const identity = type === "bool" ? (op === ".and." ? 1 : 0) : identityOf(fold, held);
    cx.params.push({ kind: "reduce", name: target, type: held, op: fold, identity } as Param);
  }
  return { kind: "reduction", target, type, op };
}

/** The kernel of a region; with `asksBounds` its parameters tell the lower bounds of allocated arrays. @throws Unlowerable */
export function lowerRegion(region: ParallelRegion, asksBounds = false): LoweredKernel {
  const { scope, axes, at, ofBlocks } = region;
  const cx = lowering(scope, at, region.written);
  cx.asksBounds = asksBounds;
  cx.parallel = axes.length > 0 || ofBlocks === true;
  cx.ofBlocks = ofBlocks === true;
  cx.assignedFirst = new Set([...region.written].filter((name) => !region.carried.has(name)));
  if (!ofBlocks) cx.axes = Math.max(axes.length, 1);
  const frame: ProcedureFrame = { scope, meanings: new Map(), loops: [], body: region.body, ...(axes.length > 0 && { element: region }) };
  cx.element = frame;
  const outside = declaring({ scope });
  const outcomes: Outcome[] = [];
  for (const { name, op } of region.reductions) {
    const variable = find(scope, name);
    if (!variable) throw new Unlowerable(at, name, "the reduction's variable is not known", "declare it");
    const { refused } = variable;
    if (refused) throw new Unlowerable(at, refused.construct, refused.why, refused.remedy);
    const made = reduction(cx, name, variable.type, op);
    frame.meanings.set(name, made);
    if (made.kind === "reduction") outcomes.push({ param: made.target, name, type: variable.type, op });
  }
  const leftParams = region.left.map(({ name }) => cx.unique(name));
  const trips = axes.map(({ start, stop, step }) => {
    if (!stop) return undefined;
    const [first, last] = [indexOf(cx, outside, start), indexOf(cx, outside, stop)];
    if (!step) return plus(minus(last, first), ONE);
    const by = indexOf(cx, outside, step);
    return binary("div", plus(minus(last, first), by), by);
  });
  const block = ofBlocks && blockIndices(cx, frame);
  const head = cx.collect(() => {
    block?.declare();
    axes.forEach(({ variable, start, step }, axis) => {
      const first = indexOf(cx, outside, start);
      const index: Expr = { op: "index", type: "i32", axis };
      const expr = plus(step ? productExpr(index, indexOf(cx, outside, step)) : index, first);
      const written = writesOf(scope, region.body).has(variable);
      frame.meanings.set(variable, written ? cx.local(variable, "i32", expr) : { kind: "value", expr: cx.kept(variable, expr) });
    });
    const used = new Set([...namesIn(region.body), ...region.left.map(({ name }) => name)]);
    // A component that procedures may name.
    const isPassed = (part: string): boolean => region.written.has(part) || [...used].some((name) => part.startsWith(`${name}_`));
    for (const name of new Set([...region.written, ...region.privates])) {
      const variable = findNamed(scope, name);
      if (!variable || variable.value || frame.meanings.has(name) || !(used.has(name) || (variable.component && isPassed(name)))) continue;
      if (variable.derived || (variable.dims && !isPrivate(region, cx, name))) continue;
      const before = region.carried.has(name) && !variable.dims ? cx.given(scope, variable, name) : undefined;
      const init = before?.kind === "value" ? before.expr : initialOf(cx, variable);
      const made = declared(cx, variable.component ? declaring(variable) : outside, narrowed(variable), init);
      if (region.carried.has(name) && made.kind === "array") copied(cx, made.array, cx.given(scope, variable, name));
      frame.meanings.set(name, made);
    }
  });
  const kept: ReturnType<typeof keepLeft> = [];
  head.push(...cx.collect(() => void kept.push(...keepLeft(cx, region.left, leftParams, frame, at))));
  const body = cx.collect(() => {
    if (!region.mask) return lowerBody(cx, region.body, frame);
    const masked: TreeStmt = { kind: "if", branches: [{ cond: region.mask, body: region.body, at }], oneLine: false, at };
    lowerBody(cx, [masked], frame);
  });
  const handed = handOn(cx, kept, structured(cx, body, at), trips, at);
  outcomes.push(...handed.outcomes);
  const thread = [...head, ...handed.body];
  const policy: KernelIR["policy"] = block ? { kind: "team" } : { kind: "range", rank: Math.max(axes.length, 1) };
  const kernel = kernelOf(cx, region.name, at, policy, block ? block.team(thread) : thread);
  if (region.isOpen) proveIndependent(region, kernel);
  if (block) return { ...kernel, outcomes, trips, axes, carried: [...region.carried], ofBlocks };
  return { ...kernel, outcomes, trips, axes, carried: [...region.carried], ...withLoopsAsAxes(region, kernel, trips) };
}

/** @throws Unlowerable if an iteration may need what another one leaves */
function proveIndependent({ at, carried, privates }: ParallelRegion, { ir, sources }: Pick<LoweredKernel, "ir" | "sources">): void {
  const views = ir.params.flatMap((param) => (param.kind === "view" ? [param.name] : []));
  const [meeting] = [...carried].filter((name) => !privates.has(name)).concat([...racesIn(ir, new Set(views)).keys()]);
  if (meeting === undefined) return;
  const name = sources.get(meeting)?.name ?? meeting;
  const remedy = "write `!$acc loop independent` before the loop, or `!$acc loop seq` if iterations need their order";
  throw new Unlowerable(at, `kernels: ${name}`, "iterations may read values that other iterations write to it", remedy);
}

/** Gives an array of the element's own the values of another. */
function copied(cx: FortranLowering, array: ArrayValue, from: Meaning): void {
  if (from.kind !== "array") return;
  const { location } = cx;
  const name = cx.unique("n");
  const stop = array.extents.reduce(productExpr);
  const n: Expr = { op: "local", type: "i32", name };
  const body = [array.nth(n).store(from.array.nth(n).load(location), location)];
  cx.push({ kind: "for", name, start: int(0), stop, step: 1, body, location });
}

/** Kernels over fewer axes walk along the last one of a grid themselves. */
const OF_A_GRID = 3;

/** A kernel that does nothing but a loop whose iterations need no order has it as an axis. */
function withLoopsAsAxes(
  { body, axes, left }: ParallelRegion,
  { ir, rows }: Pick<LoweredKernel, "ir" | "rows">,
  trips: LoweredKernel["trips"],
): Partial<LoweredKernel> {
  if (rows.length > 0 || left.length > 0) return {};
  const [only, more] = body.filter(({ kind }) => kind !== "comment" && kind !== "continue");
  if (more || only?.kind !== "do" || axes.length === 0 || axes.length >= OF_A_GRID || trips.includes(undefined)) return {};
  const found = loopAsAxis(optimise(ir));
  return found ? { ir: found.ir, trips: trips.toSpliced(found.axis, 0, found.trips), axes: axes.toSpliced(found.axis, 0, only) } : {};
}

/** Whether an array belongs to each element: by a clause, or in code for GPUs by being neither an argument nor on the device. */
function isPrivate(region: ParallelRegion, cx: FortranLowering, name: string): boolean {
  if (region.privates.has(name)) return true;
  const variable = findNamed(region.scope, name)!;
  const cuda = region.stmt === undefined || (region.stmt.kind === "directed" && region.stmt.directive.sentinel === "cuf");
  if (!cuda || variable.dummy || ownerOf(variable) !== region.scope) return false;
  if (["device", "managed", "allocatable", "save"].some((attribute) => variable.attributes.has(attribute))) return false;
  try {
    return (
      constantLength(declaredShape(variable.dims!, (bound) => indexOf(cx, declaring(region), bound)).map(({ extent }) => extent)) !==
      undefined
    );
  } catch (error) {
    if (error instanceof Unlowerable) return false;
    throw error;
  }
}

function kernelOf(
  cx: FortranLowering,
  name: string,
  location: Location,
  policy: KernelIR["policy"],
  body: Stmt[],
): Pick<LoweredKernel, "ir" | "sources" | "dropped" | "rows"> {
  const { unproved, params } = settled(cx, body);
  const ir = built(() => ({ name, policy, params, tables: cx.tables, body, location }));
  prove(ir, unproved);
  return { ir, sources: cx.sources, rows: cx.rows, dropped: cx.dropped };
}

/** Statements, or a value, that the host's side works out in order. */
export interface LoweredSequence {
  readonly at: Location;
  readonly stmts: readonly Stmt[];
  readonly params: readonly Param[];
  readonly sources: ReadonlyMap<string, ParamSource>;
  /** The locals that hold the assigned scalars after the statements. */
  readonly results: readonly (Pick<Outcome, "name" | "type" | "variable"> & { readonly local: string })[];
  readonly dropped: FortranLowering["dropped"];
}

/** Statements without jumps out of them. @throws Unlowerable */
export function lowerSequence(scope: UnitScope, list: readonly TreeStmt[]): LoweredSequence {
  const at = list[0].at;
  const written = writesOf(scope, list);
  const cx = lowering(scope, at, written);
  const frame: ProcedureFrame = { scope, meanings: new Map(), loops: [], body: list };
  const results: LoweredSequence["results"][number][] = [];
  const stmts = cx.collect(() => {
    for (const variable of assignedIn(scope, list)) {
      const { name, type } = variable;
      if (variable.dims || variable.value || narrowed(variable).refused) continue;
      const before = isAssignedFirst(scope, list, variable) ? undefined : cx.given(scope, variable, name);
      const made = cx.local(name, type, before?.kind === "value" ? before.expr : undefined);
      cx.now(variable).set(name, made);
      results.push({ local: made.name, name, type, variable });
    }
    // Procedures may assign by another name what is read here.
    for (const name of new Set([...written, ...namesIn(list)])) {
      const variable = findNamed(scope, name);
      const made = variable && cx.now(variable).get(variable.name);
      if (made) frame.meanings.set(name, made);
    }
    const body = cx.collect(() => lowerBody(cx, list, frame));
    for (const stmt of structured(cx, body, at)) cx.push(stmt);
  });
  return { at, stmts, params: cx.params, sources: cx.sources, results, dropped: cx.dropped };
}

/** Whether statements assign a scalar before anything can read it. */
function isAssignedFirst(scope: UnitScope, list: readonly TreeStmt[], variable: Variable): boolean {
  const names = new Set([...namesInTree(list)].filter((name) => find(scope, name) === variable));
  const mentions = (tree: unknown): boolean => [...namesInTree(tree)].some((name) => names.has(name));
  const first = list.findIndex(mentions);
  const stmt = list[first];
  if (stmt?.kind !== "assign" || stmt.target.kind !== "name") return false;
  return names.has(stmt.target.name) && !mentions(stmt.value) && calledBy(scope, list.slice(0, first + 1)).size === 0;
}

/** The value of an expression that stands on the host's side; its result is named "". @throws Unlowerable */
export function lowerValue(scope: UnitScope, e: Tree, type?: ScalarType): LoweredSequence {
  const frame = declaring({ scope });
  return lowered(scope, e.at, (cx) => (type ? valueAs(cx, frame, type, e) : value(cx, frame, e)));
}

function lowered(scope: UnitScope, at: Location, of: (cx: FortranLowering) => Expr): LoweredSequence {
  const cx = lowering(scope, at, new Set());
  const results: LoweredSequence["results"][number][] = [];
  const stmts = cx.collect(() => {
    const made = cx.kept("value", of(cx));
    if (made.op === "local") results.push({ local: made.name, name: "", type: made.type });
  });
  return { at, stmts, params: cx.params, sources: cx.sources, results, dropped: cx.dropped };
}

/** The extents of an expression that is an array; undefined of a single value. @throws Unlowerable */
export function lowerShape(scope: UnitScope, e: Tree): LoweredSequence[] | undefined {
  const shape = (cx: FortranLowering): readonly Expr[] | undefined => extentsOfExpr(cx, declaring({ scope }), e);
  return shape(lowering(scope, e.at, new Set()))?.map((_, axis) => lowered(scope, e.at, (cx) => shape(cx)![axis]));
}

/** Whether statements need memory, of the program or of procedures among them. */
export function usesArrays({ params, stmts }: LoweredSequence): boolean {
  let found = params.some(({ kind }) => kind === "view");
  walkStmts(stmts, ({ kind }) => void (found ||= kind === "array"));
  return found;
}
