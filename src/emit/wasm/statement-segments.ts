import type { Expr, Stmt } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";

/** The statements of a block from one index to before another. */
interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Segment extends Span {
  /** Locals that get their first value in it and are read after it. */
  readonly outliving: readonly string[];
}

/** Loads of a run that is left whole: the registers of an x86 take them. */
const FEW_LOADS = 16;

/** How a run is cut. */
interface Measure {
  readonly counts: (e: Expr) => boolean;
  /** As much of it is left whole. */
  readonly few: number;
  /** Least count of a segment, unless one statement has more or nothing is left. */
  readonly least: number;
  readonly most: number;
  /** Values that cross from segment to segment, at most. */
  readonly crossing: number;
}

/** The first that cuts a run does; numbers are measured. */
const MEASURES: readonly Measure[] = [
  { counts: ({ op }) => op === "load", few: FEW_LOADS, least: 4, most: 7, crossing: 8 },
  // With this much code, most values go through the stack anyhow: in order, each once.
  { counts: ({ op }) => op === "load" || op === "unary" || op === "binary", few: 120, least: 20, most: 60, crossing: Infinity },
];

/**
 * Cuts long runs of assignments where few values cross, if they read much more than the registers hold. Engines that order instructions by
 * their dependencies alone, such as V8 before Turboshaft, move all loads of a straight run to its front, because sums wait for each other and
 * loads do not; each loaded value then goes through the stack, and so do the values of a long calculation. They keep to the order of segments that
 * are blocks of their own.
 * `isVector` tells the locals that count.
 */
export function segmentsOf(body: readonly Stmt[], isVector: (local: string) => boolean): readonly Segment[] {
  if (countOf(body, MEASURES[0].counts) <= FEW_LOADS) return [];
  const lives = livesOf(body, isVector);
  const crossing = crossingOf(lives.values(), body.length);
  const measures = MEASURES.map((measure) => ({ ...measure, of: body.map((stmt) => countOf([stmt], measure.counts)) }));
  return runsOf(body)
    .flatMap((run) => measures.map((measure) => cut(run, crossing, measure)).find((spans) => spans.length > 0) ?? [])
    .map(({ from, to }) => {
      const outliving = [...lives].filter(([, life]) => from <= life.from && life.from < to && to <= life.to).map(([name]) => name);
      return { from, to, outliving };
    });
}

/** Before each statement and after the last, the number of values that have been set and are read from there on. */
function crossingOf(lives: Iterable<Span>, statements: number): readonly number[] {
  const changes = Array<number>(statements + 2).fill(0);
  for (const { from, to } of lives) {
    changes[from + 1]++;
    changes[to + 1]--;
  }
  let count = 0;
  return changes.slice(0, -1).map((change) => (count += change));
}

/** The assignments that follow each other. */
function runsOf(body: readonly Stmt[]): Span[] {
  const runs: Span[] = [];
  for (let from = 0; from < body.length; from++) {
    const end = body.findIndex((stmt, n) => n >= from && !isAssignment(stmt));
    const to = end < 0 ? body.length : end;
    if (from < to) runs.push({ from, to });
    from = to;
  }
  return runs;
}

/** `crossing`: of all statements, as `of`, the counts of the measure. */
function cut(run: Span, crossing: readonly number[], { of: counts, ...measure }: Measure & { readonly of: readonly number[] }): Span[] {
  if (counts.slice(run.from, run.to).reduce((a, b) => a + b, 0) <= measure.few) return [];
  const spans: Span[] = [];
  for (let from = run.from; from < run.to;) {
    let [to, sum] = [from + 1, counts[from]];
    while (to < run.to && sum < measure.least) sum += counts[to++];
    for (let at = to; at <= run.to && sum <= measure.most; sum += counts[at++]) if (crossing[at] <= crossing[to]) to = at;
    if (to < run.to && crossing[to] > measure.crossing) return [];
    spans.push({ from, to });
    from = to;
  }
  return spans;
}

const isAssignment = (stmt: Stmt): boolean => (stmt.kind === "let" && stmt.init !== undefined) || stmt.kind === "assign";

function countOf(stmts: readonly Stmt[], counts: Measure["counts"]): number {
  let count = 0;
  walkExprs(stmts, (e) => void (counts(e) && count++));
  return count;
}

/**
 * For each vector local that is set in the body, the statements that declare it and read it last; -1 and `body.length` where these are
 * outside the body.
 */
function livesOf(body: readonly Stmt[], isVector: (local: string) => boolean): Map<string, Span> {
  const lives = new Map<string, Span>();
  const read = new Map<string, number>();
  body.forEach((stmt, n) => {
    walkExprs([stmt], (e) => void (e.op === "local" && read.set(e.name, n)));
    walkStmts([stmt], (inner) => {
      if ((inner.kind !== "let" && inner.kind !== "assign") || !isVector(inner.name) || lives.has(inner.name)) return;
      lives.set(inner.name, inner.kind === "let" ? { from: n, to: n } : { from: -1, to: body.length });
    });
  });
  for (const [name, { from, to }] of lives) lives.set(name, { from, to: Math.max(to, read.get(name) ?? to) });
  return lives;
}
