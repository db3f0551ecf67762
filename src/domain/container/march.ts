import { ContainerError, KernelError } from "../../base/errors.js";
import { int } from "../../ir/expressions.js";
import type { Expr, KernelIR, Location, Stmt } from "../../ir/types.js";
import { blocksOf, changedIn, exprsOf, mapExpr, mapStmts, someExpr, walkExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import type { ContainerOptions, FieldUse, Grid } from "../grid/grid.js";

/*
 * Containers that go cell by cell up stretches of a column, and carry values along. The body before the loop tells the values at any cell, so that
 * a stretch may begin anywhere: at each cell, it is a container like others.
 */

type Loop = Extract<Stmt, { kind: "for" }>;

/** The kernel axis along which a container is declared to march. Throws ContainerError for an axis that the grid does not have. */
export function marchAxis(grid: Grid, name: string, { march, stretch }: ContainerOptions, location: Location): number | undefined {
  const fail = (problem: string, remedy: string): never => {
    throw new ContainerError(name, location, problem, remedy);
  };
  const axes = ["x", "y", "z"].slice(0, grid.dimension);
  if (march !== undefined && !axes.includes(march))
    fail(`marches along "${String(march)}" on a grid of ${axes.length} dimensions`, `march along ${axes.join(" or ")}`);
  if (stretch !== undefined && (march === undefined || !Number.isInteger(stretch) || stretch < 1))
    fail(
      `has stretches of ${String(stretch)} cells${march === undefined ? " and no axis to march along" : ""}`,
      'give a whole number of cells beside the axis: { march: "y", stretch: 32 }',
    );
  return march === undefined ? undefined : grid.dimension - 1 - axes.indexOf(march);
}

/** The loop of `c.march`, which ends the body. Throws KernelError if there is none, or what it carries depends on where the march began. */
export function marchLoop(ir: KernelIR, axis: number): Loop {
  const loop = ir.body.at(-1);
  if (!isMarch(loop))
    throw new KernelError(
      ir.name,
      ir.location,
      "marches along an axis, and its body does not end in c.march",
      "write c.march((cell) => ...) last, outside of branches and loops",
    );
  const fail = (problem: string, remedy: string): never => {
    throw new KernelError(ir.name, loop.location, problem, remedy);
  };
  const before = ir.body.slice(0, -1);
  const placed = placedLocals(before, axis);
  const stale = staleLocal(loop, placed);
  if (stale !== undefined)
    fail(
      `"${stale}" is computed where the march begins, and used at cells further on`,
      "compute it in the function of c.march, or give it there the value for the next cell",
    );
  const drifting = driftingLocal(before, loop, placed);
  if (drifting !== undefined)
    fail(
      `"${drifting}" has the same value wherever a march begins, and changes further on`,
      "carry what the body would compute at the next cell: the grid chooses where marches begin",
    );
  return loop;
}

const isMarch = (stmt: Stmt | undefined): stmt is Loop => stmt?.kind === "for" && stmt.stop.op === "param";

/** Locals and private arrays that depend on the place along the axis. */
function placedLocals(before: readonly Stmt[], axis: number): ReadonlySet<string> {
  const placed = new Set<string>();
  const isPlaced = (expr: Expr): boolean =>
    someExpr(
      expr,
      (node) =>
        (node.op === "index" && node.axis === axis) ||
        (node.op === "local" && placed.has(node.name)) ||
        (node.op === "element" && placed.has(node.array)),
    );
  const visit = (stmts: readonly Stmt[], isUnder: boolean): void => {
    for (const stmt of stmts) {
      const depends = isUnder || exprsOf(stmt).some(isPlaced);
      if (depends && (stmt.kind === "let" || stmt.kind === "assign")) placed.add(stmt.name);
      if (depends && stmt.kind === "setElement") placed.add(stmt.array);
      for (const block of blocksOf(stmt)) visit(block, depends);
    }
  };
  // Visits twice: a value that a loop carries to its next turn may be set further down.
  visit(before, false);
  visit(before, false);
  return placed;
}

/** One of them that the loop reads and does not change. */
function staleLocal(loop: Loop, placed: ReadonlySet<string>): string | undefined {
  const changed = changedIn(loop.body, "local", "array");
  let stale: string | undefined;
  walkExprs(loop.body, (node) => {
    const name = node.op === "local" ? node.name : node.op === "element" ? node.array : undefined;
    if (name !== undefined && placed.has(name) && !changed.has(name)) stale ??= name;
  });
  return stale;
}

/** A local that is the same at all places, and that the loop changes after it has read it. */
function driftingLocal(before: readonly Stmt[], loop: Loop, placed: ReadonlySet<string>): string | undefined {
  const changed = changedIn(loop.body, "local");
  const old = new Set(
    before.flatMap((stmt) => (stmt.kind === "let" && changed.has(stmt.name) && !placed.has(stmt.name) ? [stmt.name] : [])),
  );
  let drifting: string | undefined;
  walkStmts(loop.body, (stmt) => {
    for (const expr of exprsOf(stmt))
      walkExpr(expr, (node) => {
        if (node.op === "local" && old.has(node.name)) drifting ??= node.name;
      });
    if (stmt.kind === "assign") old.delete(stmt.name);
  });
  return drifting;
}

/**
 * Whether a march pays, and the lowerings have it: elsewhere cells go one by one. Along x, cells side by side are lanes of vectors and threads of a
 * warp, which have nothing to carry; where some cells are inactive, there is no value to carry on.
 */
export const canMarch = (grid: Grid, axis: number, { ir, uses }: { readonly ir: KernelIR; readonly uses: readonly FieldUse[] }): boolean =>
  grid.kind === "dense" &&
  grid.activity.isFull &&
  axis < grid.dimension - 1 &&
  ir.params.every(({ kind }) => kind !== "reduce") &&
  uses.every(({ level, spread }) => level === "own" && spread === undefined);

/** The code with a stretch for each cell: like any other container's. */
export function cellByCell(ir: KernelIR, loop: Loop): KernelIR {
  return withLoop(ir, loop, atFirst(loop));
}

/** The code of a march over one cell, in a loop still, from what an optimiser made of it; undefined if no loop is left at its end. */
export function overOneCell(ir: KernelIR): KernelIR | undefined {
  const loop = ir.body.at(-1);
  return isMarch(loop) ? withLoop(ir, loop, [{ ...loop, stop: int(1), body: atFirst(loop) }]) : undefined;
}

const withLoop = (ir: KernelIR, { stop }: Loop, end: readonly Stmt[]): KernelIR => ({
  ...ir,
  params: ir.params.filter(({ name }) => stop.op !== "param" || name !== stop.name),
  body: [...ir.body.slice(0, -1), ...end],
});

/** The body of the loop, its counter at 0. */
const atFirst = ({ name, body }: Loop): Stmt[] =>
  mapStmts(body, { expr: (root) => mapExpr(root, (node) => (node.op === "local" && node.name === name ? int(0) : node)) });
