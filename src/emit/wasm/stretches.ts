import type { Stmt } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";

/** The statements of a block from one index to in front of another. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Loads of a run that is left whole: the registers of an x86 take them. */
const FEW_LOADS = 16;
/** Loads of a stretch, unless one statement has more or nothing is left: measured. */
const [LEAST_LOADS, MOST_LOADS] = [4, 7];
/** Values that cross from stretch to stretch, at most. */
const MOST_CROSSING = 8;

/**
 * Cuts long runs of assignments where few values cross, if they read much more than the registers hold. Engines that order instructions by
 * their dependencies alone, such as V8 before Turboshaft, move all loads of a straight run to its front, because sums wait for each other and
 * loads do not; each loaded value then goes through the stack. They keep to the order of stretches that are blocks of their own.
 * `isVector` tells the locals that count.
 */
export function stretchesOf(body: readonly Stmt[], isVector: (local: string) => boolean): readonly Stretch[] {
  if (countLoads(body) <= FEW_LOADS) return [];
  const crossing = crossings(body, isVector);
  const stretches: Stretch[] = [];
  for (let from = 0; from < body.length; from++) {
    if (!isAssignment(body[from])) continue;
    const end = body.findIndex((stmt, n) => n > from && !isAssignment(stmt));
    const to = end < 0 ? body.length : end;
    stretches.push(...cut({ from, to }, body, crossing));
    from = to;
  }
  return stretches;
}

function cut(run: Stretch, body: readonly Stmt[], crossing: readonly number[]): Stretch[] {
  const loads = body.map((stmt) => countLoads([stmt]));
  if (loads.slice(run.from, run.to).reduce((a, b) => a + b, 0) <= FEW_LOADS) return [];
  const stretches: Stretch[] = [];
  for (let from = run.from; from < run.to;) {
    let [to, sum] = [from + 1, loads[from]];
    while (to < run.to && sum < LEAST_LOADS) sum += loads[to++];
    for (let at = to; at <= run.to && sum <= MOST_LOADS; sum += loads[at++]) if (crossing[at] <= crossing[to]) to = at;
    if (to < run.to && crossing[to] > MOST_CROSSING) return [];
    stretches.push({ from, to });
    from = to;
  }
  return stretches;
}

const isAssignment = (stmt: Stmt): boolean => (stmt.kind === "let" && stmt.init !== undefined) || stmt.kind === "assign";

function countLoads(stmts: readonly Stmt[]): number {
  let count = 0;
  walkExprs(stmts, (e) => void (e.op === "load" && count++));
  return count;
}

/** For each place between statements, how many locals have been set in front of it and are read behind it. */
function crossings(body: readonly Stmt[], isVector: (local: string) => boolean): number[] {
  const counts = Array<number>(body.length + 1).fill(0);
  const set = new Map<string, number>();
  const read = new Map<string, number>();
  const declared = new Set<string>();
  body.forEach((stmt, n) => {
    walkExprs([stmt], (e) => void (e.op === "local" && read.set(e.name, n)));
    walkStmts([stmt], (inner) => {
      if (inner.kind === "let") declared.add(inner.name);
      if ((inner.kind === "let" || inner.kind === "assign") && isVector(inner.name) && !set.has(inner.name)) set.set(inner.name, n);
    });
  });
  for (const [name, first] of set) {
    const last = declared.has(name) ? (read.get(name) ?? first) : body.length;
    for (let at = first + 1; at <= last; at++) counts[at]++;
  }
  return counts;
}
