import { floatOperations } from "../ir/passes/jam.js";
import type { Expr, Stmt } from "../ir/types.js";
import { exprsOf, someExpr, walkExpr } from "../ir/walk.js";

type Loop = Extract<Stmt, { kind: "for" }>;

/** Operations of a turn from which on writing out turns pays. */
const FEWEST_OPERATIONS = 4;

/**
 * Views that a loop reads where its turns are straight and read the same for all elements of a range, as a sum over all bodies does; undefined for other
 * loops. Nothing in such a turn waits but for these loads, which may go ahead of what computes with them.
 */
export function viewsOfSharedTurns(loop: Loop): ReadonlySet<string> | undefined {
  if (loop.body.some(({ kind }) => kind !== "let" && kind !== "assign") || floatOperations(loop.body) < FEWEST_OPERATIONS) return undefined;
  const own = (e: Expr): boolean => e.op === "index" || e.op === "load" || e.op === "element" || (e.op === "local" && e.name !== loop.name);
  const views = new Set<string>();
  let shared = true;
  for (const expr of loop.body.flatMap(exprsOf))
    walkExpr(expr, (node) => {
      if (node.op === "element" || node.op === "table") shared = false;
      if (node.op !== "load") return;
      views.add(node.view);
      if (node.indices.some((index) => someExpr(index, own))) shared = false;
    });
  return shared && views.size > 0 ? views : undefined;
}

/** Turns of a long loop over a team's scratch that are written out, where they read the same for all its members. */
const TURNS_OF_SCRATCH = 16;

/** The same of a team's loop over its scratch, by constant numbers of turns; undefined for other loops. */
export function turnsOverScratch(loop: Loop): number | undefined {
  if (loop.body.some(({ kind }) => kind !== "let" && kind !== "assign") || floatOperations(loop.body) < FEWEST_OPERATIONS) return undefined;
  const turns =
    loop.start.op === "const" && loop.stop.op === "const" ? (Number(loop.stop.value) - Number(loop.start.value)) / loop.step : 0;
  if (turns < TURNS_OF_SCRATCH || turns % TURNS_OF_SCRATCH !== 0) return undefined;
  const own = (e: Expr): boolean => e.op === "local" && e.name !== loop.name;
  let [shared, elements] = [true, 0];
  for (const expr of loop.body.flatMap(exprsOf))
    walkExpr(expr, (node) => {
      if (node.op === "load" || node.op === "table" || (node.op === "element" && someExpr(node.index, own))) shared = false;
      if (node.op === "element") elements++;
    });
  return shared && elements > 0 ? TURNS_OF_SCRATCH : undefined;
}
