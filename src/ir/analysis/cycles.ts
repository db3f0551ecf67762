import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf, exprsOf, walkExpr } from "../walk.js";

/* Cycles of a processor's core, roughly, as far as the choice between one worker and several needs them. */

/** Cycles of an addition to a scatter target. */
export const UPDATE = 5;
/** Turns of a loop with bounds that are not constant. */
const SOME_TURNS = 8;

/** Cycles of all statements of an element, or of a team, but for the additions to scatter targets. */
export function cyclesOfElement({ body }: KernelIR): number {
  const ofBlock = (list: readonly Stmt[]): number => {
    let cycles = 0;
    for (const stmt of list) {
      for (const expr of exprsOf(stmt)) walkExpr(expr, (node) => (cycles += cyclesOf(node)));
      for (const block of blocksOf(stmt)) cycles += cycleTurns(stmt) * ofBlock(block);
    }
    return cycles;
  };
  return ofBlock(body);
}

/** Cycles of nodes by themselves. */
const CYCLES: Readonly<Record<Exclude<Expr["op"], "unary" | "binary">, number>> = {
  load: 1.5,
  call: 20,
  const: 0,
  local: 0,
  param: 0,
  index: 0,
  extent: 0,
  failed: 0,
  checked: 0.5,
  teamSize: 0.5,
  element: 0.5,
  table: 0.5,
  compare: 0.5,
  logical: 0.5,
  select: 0.5,
  cast: 0.5,
};

/** Cycles of a node without its operands. */
export function cyclesOf(node: Expr): number {
  if (node.op === "unary") return node.fn === "sqrt" ? 5 : 0.5;
  if (node.op === "binary") return node.fn === "div" || node.fn === "rem" ? 5 : 0.5;
  return CYCLES[node.op];
}

/** Turns of a loop; 1 for other statements. */
export function cycleTurns(stmt: Stmt): number {
  if (stmt.kind === "while") return SOME_TURNS;
  if (stmt.kind !== "for") return 1;
  const { start, stop, step } = stmt;
  return start.op === "const" && stop.op === "const"
    ? Math.max(0, Math.ceil((Number(stop.value) - Number(start.value)) / step))
    : SOME_TURNS;
}
