import { analyseAccess } from "../analysis/access.js";
import { assignedKeys } from "../analysis/assigned.js";
import { meetAlong } from "../analysis/races.js";
import { binary, compare, int, select } from "../expressions.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf, changedIn, declares, exprsOf, hasJump, mapExpr, mapStmts, readOf, someExpr, walkExpr, walkStmts } from "../walk.js";

type For = Extract<Stmt, { kind: "for" }>;

/** A kernel whose range has an axis more. */
interface LoopAxis {
  readonly ir: KernelIR;
  /** The place of the new axis. */
  readonly axis: number;
  /** How often the loop ran: an expression of parameters. */
  readonly trips: Expr;
}

/**
 * Makes an axis of the range of a loop that is all that a kernel does, where its iterations need no order: they share nothing but what they read. The
 * axis stands where the first store has it among its indices, so that neighbours of the range are neighbours in memory. CPUs gain vectors and caches by it,
 * GPUs elements. Undefined if there is no such loop, or it cannot be proved.
 *
 * @param ir optimised, with private arrays that are undefined until code writes them, as in Fortran; that elements share nothing may be asserted, not proved
 */
export function loopAsAxis(ir: KernelIR): LoopAxis | undefined {
  const loop = ir.body.at(-1);
  const head = ir.body.slice(0, -1);
  if (ir.policy.kind !== "range" || loop?.kind !== "for" || !head.every(({ kind }) => kind === "let" || kind === "array")) return undefined;
  // Folds have an order, which axes give.
  if (hasJump(loop.body) || changedIn(loop.body, "reduction", "scatter").size > 0) return undefined;
  if (!isOfParameters(loop.start) || !isOfParameters(loop.stop) || !isIndependent(head, loop)) return undefined;
  const { start, stop, step } = loop;
  const distance = step > 0 ? binary("sub", stop, start) : binary("sub", start, stop);
  const by = Math.abs(step);
  const turns = by === 1 ? distance : binary("add", binary("div", binary("sub", distance, int(1)), int(by)), int(1));
  // A distance beyond i32 wraps to what no range has: it is negative.
  const trips = select(compare(step > 0 ? "lt" : "gt", start, stop), turns, int(0));
  const axis = placeOf(head, loop);
  const moved = (expr: Expr): Expr =>
    mapExpr(expr, (node) => (node.op === "index" && node.axis >= axis ? { ...node, axis: node.axis + 1 } : node));
  const index: Expr = { op: "index", type: "i32", axis };
  const init = binary("add", step === 1 ? index : binary("mul", index, int(step)), start);
  const counter: Stmt = { kind: "let", name: loop.name, type: "i32", init, location: loop.location };
  const body = [...mapStmts(head, { expr: moved }), counter, ...mapStmts(loop.body, { expr: moved })];
  const found: KernelIR = { ...ir, policy: { kind: "range", rank: ir.policy.rank + 1 }, body };
  return meetAlong(axis, found, analyseAccess(found)) ? undefined : { ir: found, axis, trips };
}

/** Whether a value is known before the launch. */
export const isOfParameters = (expr: Expr): boolean =>
  !someExpr(expr, ({ op }) => ["local", "index", "load", "element", "table", "checked", "failed", "teamSize"].includes(op));

/** Position of the loop's counter among the axes, by the indices of the first store that has it; the outermost if none has it. */
function placeOf(head: readonly Stmt[], loop: For): number {
  const axesOf = new Map<string, ReadonlySet<number>>([[loop.name, new Set([-1])]]);
  const found = (expr: Expr): Set<number> => {
    const axes = new Set<number>();
    walkExpr(expr, (node) => {
      if (node.op === "index") axes.add(node.axis);
      if (node.op === "local") for (const axis of axesOf.get(node.name) ?? []) axes.add(axis);
    });
    return axes;
  };
  for (const stmt of head) if (stmt.kind === "let" && stmt.init) axesOf.set(stmt.name, found(stmt.init));
  let place: number | undefined;
  walkStmts(loop.body, (stmt) => {
    if (stmt.kind === "let" && stmt.init) axesOf.set(stmt.name, found(stmt.init));
    if (place !== undefined || stmt.kind !== "store") return;
    const indices = stmt.indices.map(found);
    const own = indices.findIndex((axes) => axes.has(-1));
    if (own >= 0) place = new Set(indices.slice(0, own).flatMap((axes) => [...axes])).size;
  });
  return place ?? 0;
}

/** Whether no iteration reads what another has left in a local or a private array. */
function isIndependent(head: readonly Stmt[], loop: For): boolean {
  const changed = changedIn(loop.body, "local");
  const outer = new Set(head.flatMap((stmt) => (stmt.kind === "let" && changed.has(stmt.name) ? [stmt.name] : [])));
  const { exposed } = assignedKeys<string>(
    loop.body,
    (node) => (node.op === "local" && outer.has(node.name) ? [node.name] : []),
    (stmt) => (stmt.kind === "assign" ? stmt.name : undefined),
  );
  if (exposed.size > 0) return false;
  const arrays = head.flatMap((stmt) => (stmt.kind === "array" ? [stmt.name] : []));
  const varying = new Set([...changed, loop.name]);
  walkStmts(loop.body, (stmt) => declares(stmt).forEach((name) => varying.add(name)));
  return arrays.every((name) => new ArrayUse(name, varying).isOwn(loop.body));
}

/** How a loop uses a private array from outside of it. */
class ArrayUse {
  constructor(
    private readonly name: string,
    /** Locals that differ between iterations. */
    private readonly varying: ReadonlySet<string>,
  ) {}

  /**
   * Whether no iteration reads what another one has written. All iterations write the same elements, in the same order; then an element that is read before it is
   * written would be undefined in the first iteration already, if all read it.
   */
  isOwn(stmts: readonly Stmt[]): boolean {
    const used = stmts.filter((stmt) => this.reads(stmt) || this.writes(stmt));
    const [only] = used;
    if (only && used.length === 1 && blocksOf(only).length > 0 && !exprsOf(only).some(this.readsIn))
      return blocksOf(only).every((block) => this.isOwn(block));
    const last = used.findLastIndex((stmt) => this.writes(stmt));
    return used.every((stmt, n) => n > last || this.isSame(stmt, new Set()));
  }

  private readsIn = (expr: Expr): boolean => someExpr(expr, (node) => node.op === "element" && node.array === this.name);

  private reads(stmt: Stmt): boolean {
    let found = false;
    walkStmts([stmt], (each) => {
      found ||= exprsOf(each).some(this.readsIn);
    });
    return found;
  }

  private writes(stmt: Stmt): boolean {
    return changedIn([stmt], "array").has(this.name);
  }

  /** Whether a statement writes and reads the same elements in all iterations. @param counters of loops around it that run alike in all */
  private isSame(stmt: Stmt, counters: ReadonlySet<string>): boolean {
    const isOther = (node: Expr): boolean => node.op === "element" && node.array === this.name && !this.isConstant(node.index, counters);
    if (exprsOf(stmt).some((expr) => someExpr(expr, isOther))) return false;
    if (stmt.kind === "setElement") return stmt.array !== this.name || this.isConstant(stmt.index, counters);
    if (!this.reads(stmt) && !this.writes(stmt)) return true;
    const blocks = blocksOf(stmt);
    if (blocks.length === 0) return true;
    const all = (inner: ReadonlySet<string>): boolean => blocks.every((block) => block.every((each) => this.isSame(each, inner)));
    if (stmt.kind === "if") return this.isConstant(stmt.cond, counters) && all(counters);
    if (stmt.kind !== "for" || hasJump(stmt.body) || !this.isConstant(stmt.start, counters) || !this.isConstant(stmt.stop, counters))
      return false;
    return all(new Set([...counters, stmt.name]));
  }

  /** Whether an expression has the same value in all iterations, or values, over the counters. */
  private isConstant(expr: Expr, counters: ReadonlySet<string>): boolean {
    return !someExpr(expr, (node) =>
      node.op === "local" ? !counters.has(node.name) && this.varying.has(node.name) : readOf(node) !== undefined,
    );
  }
}
