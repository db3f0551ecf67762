import { unreachable } from "../../base/unreachable.js";
import { addAffine, affineOf, affineConstant, definitionsOf, isConstant, rangeOf } from "./affine.js";
import { fits } from "./intervals.js";
import type { Affine, Definitions, Interval } from "./affine.js";
import type { Expr, KernelIR, Location, Stmt } from "../types.js";
import { recordViews } from "../print-records.js";
import { blocksOf, changeOf, children, exprsOf, hasJump, readOf } from "../walk.js";

/** A counted loop (or the shared loop of a team) and the bounds of its variable, both inclusive, where they are linear forms. */
export interface LoopRange {
  name: string;
  /** The least value, whatever the loop's direction; above `last` where the loop has no turns. */
  first?: Affine;
  /** The greatest value. */
  last?: Affine;
  /** Rising loops start at `first`, falling ones at `last`; the bound at the other end may lie less than a step beyond the value taken. */
  step: number;
}

/** One place in the kernel where a view or scatter array, a private or scratch array or a table is touched. */
export interface Access {
  view: string;
  kind: "read" | "write" | "scatter" | "atomic";
  indices: Expr[];
  /** Each index as a linear form of policy indices, loop variables and scalar parameters; undefined if it is not one (a gather). */
  affine: (Affine | undefined)[];
  /** Present where the author wrote of a part of some index that it is cut to 32 bits. */
  wraps?: true;
  /** Loops around it, outermost first, with the range of their variable where its bounds are linear forms. */
  loops: LoopRange[];
  /** True if it may not happen for some element (it stands under `if`, `?:`, `&&`, in a while loop, or in a loop that a `break` or `continue` cuts short). */
  conditional: boolean;
  location: Location;
}

/** Use that a kernel makes of one of its views. */
export interface ViewUse {
  read: boolean;
  written: boolean;
  /** Some index is not a linear form. */
  gathered: boolean;
  scattered: boolean;
}

/** Reads, writes, gathers, scatters and reductions found in a kernel's code. */
export interface AccessAnalysis {
  /** Accesses to views and scatter arrays. */
  accesses: Access[];
  /** Accesses to private and scratch arrays and to tables. */
  arrays: Access[];
  views: Record<string, ViewUse>;
  /** Names of the reduce parameters. */
  reduced: string[];
}

/** Finds every access to the kernel's arrays. A view that the code never touches has a use with all flags false. */
export function analyseAccess(ir: KernelIR): AccessAnalysis {
  const { accesses, arrays } = collectAccesses(ir);
  const views: Record<string, ViewUse> = {};
  for (const param of ir.params)
    if (param.kind === "view" || param.kind === "scatter")
      views[param.name] = { read: false, written: false, gathered: false, scattered: false };
  for (const access of accesses) {
    const use = views[access.view]!;
    use.read ||= access.kind === "read" || access.kind === "atomic";
    use.written ||= access.kind === "write" || access.kind === "atomic";
    use.scattered ||= access.kind === "scatter";
    use.gathered ||= access.affine.includes(undefined);
  }
  if (ir.prints) for (const name of recordViews(ir.prints)) views[name]!.written = true;
  return { accesses, arrays, views, reduced: ir.params.filter((p) => p.kind === "reduce").map((p) => p.name) };
}

/** Accesses to private and scratch arrays and to tables, in the order of the source. */
export const arrayAccesses = (ir: KernelIR): readonly Access[] => collectAccesses(ir, false).arrays;

/** Accesses to views and scatter arrays, where they are wanted, and those to private and scratch arrays and to tables, each in the order of the source. */
function collectAccesses(ir: KernelIR, all = true): { accesses: Access[]; arrays: Access[] } {
  const definitions = definitionsOf(ir.body);
  const accesses: Access[] = [];
  const arrays: Access[] = [];

  const record = (list: Access[], name: string, kind: Access["kind"], indices: Expr[], location: Location, scope: Scope) => {
    if (all || list === arrays)
      list.push({
        view: name,
        kind,
        indices,
        affine: indices.map((index) => affineOf(index, definitions)),
        ...(indices.some((index) => wrapsIn(index, definitions)) && { wraps: true }),
        ...scope,
        location,
      });
  };

  const visitExpr = (expr: Expr, at: Location, scope: Scope): void => {
    const inner = (expr.op === "select" || expr.op === "logical") && !scope.conditional ? { ...scope, conditional: true } : scope;
    children(expr).forEach((child, n) => visitExpr(child, at, n > 0 ? inner : scope));
    const read = readOf(expr);
    if (!read) return;
    const where = "location" in expr ? (expr.location ?? at) : at;
    record(read.kind === "view" ? accesses : arrays, read.name, "read", read.indices, where, scope);
  };

  const visitStmt = (stmt: Stmt, scope: Scope): void => {
    for (const expr of exprsOf(stmt)) visitExpr(expr, stmt.location, scope);
    const change = changeOf(stmt);
    if (change && change.kind !== "local" && change.kind !== "reduction") {
      const [list, kind] =
        change.kind === "array" ? [arrays, "write" as const] : [accesses, change.kind === "view" ? ("write" as const) : change.kind];
      record(list, change.name, kind, change.indices, stmt.location, scope);
    }
    const inner = innerScope(stmt, scope, definitions);
    for (const block of blocksOf(stmt)) for (const s of block) visitStmt(s, inner);
  };

  for (const stmt of ir.body) visitStmt(stmt, { loops: [], conditional: false });
  return { accesses, arrays };
}

/** Whether some operator of the expression is meant to wrap; locals that keep their value are seen through. */
function wrapsIn(expr: Expr, definitions: Definitions): boolean {
  if (expr.op === "local") {
    const definition = definitions.get(expr.name);
    return definition !== undefined && wrapsIn(definition, definitions);
  }
  return ("wraps" in expr && expr.wraps === true) || children(expr).some((child) => wrapsIn(child, definitions));
}

interface Scope {
  loops: LoopRange[];
  conditional: boolean;
}

function innerScope(stmt: Stmt, { loops, conditional }: Scope, definitions: Definitions): Scope {
  switch (stmt.kind) {
    case "if":
    case "while":
      return { loops, conditional: true };
    case "for":
    case "teamFor":
    case "teamReduce":
      return { loops: [...loops, loopRange(stmt, definitions)], conditional: conditional || hasJump(stmt.body) };
    case "let":
    case "assign":
    case "array":
    case "setElement":
    case "store":
    case "scatter":
    case "atomic":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "break":
    case "continue":
    case "single":
      return { loops, conditional };
    default:
      return unreachable(stmt);
  }
}

/** Bounds of a loop's variable. */
function loopRange(stmt: Extract<Stmt, { kind: "for" | "teamFor" | "teamReduce" }>, definitions: Definitions): LoopRange {
  const { name } = stmt;
  if (stmt.kind !== "for") {
    const count = affineOf(stmt.count, definitions);
    return { name, first: affineConstant(0), last: count && addAffine(count, affineConstant(-1)), step: 1 };
  }
  const start = affineOf(stmt.start, definitions);
  const stop = affineOf(stmt.stop, definitions);
  const { step } = stmt;
  if (start && stop && isConstant(start) && isConstant(stop)) {
    const turns = Math.ceil((stop.constant - start.constant) / step);
    const end = affineConstant(start.constant + (turns - 1) * step);
    if (turns > 0) return step > 0 ? { name, first: start, last: end, step } : { name, first: end, last: start, step };
  }
  return step > 0
    ? { name, first: start, last: stop && addAffine(stop, affineConstant(-1)), step }
    : { name, first: stop && addAffine(stop, affineConstant(1)), last: start, step };
}

/**
 * The least and greatest index that the access takes along an axis, given the ranges of policy indices (`index:0`), parameters and extents.
 * Undefined if that is not certain before the launch: the access may not happen, the index is data or wraps as its author wants, or a loop around it has bounds
 * that are not known, differ between elements, or leave it without a turn.
 */
export function takenRange(access: Access, axis: number, known: (name: string) => Interval | undefined): Interval | undefined {
  if (access.conditional) return undefined;
  const taken = new Map<string, Interval>();
  for (const { name, first, last, step } of access.loops) {
    const low = first && valueOf(first, known);
    const high = last && valueOf(last, known);
    // Beyond i32 bounds wrap.
    if (low === undefined || high === undefined || high < low || !fits([low, high])) return undefined;
    const reach = Math.floor((high - low) / Math.abs(step)) * step;
    taken.set(`local:${name}`, step > 0 ? [low, low + reach] : [high + reach, high]);
  }
  const form = access.affine[axis];
  const range = form && rangeOf(form, (name) => taken.get(name) ?? known(name));
  return range && access.wraps && !fits(range) ? undefined : range;
}

/** An index of the range that an array of this extent does not have. */
export function outside([low, high]: Interval, extent: number): number | undefined {
  return low < 0 ? low : high >= extent ? high : undefined;
}

/** The one value of a form whose atoms have one value each. */
function valueOf(form: Affine, known: (name: string) => Interval | undefined): number | undefined {
  const range = rangeOf(form, known);
  return range && range[0] === range[1] ? range[0] : undefined;
}

/** Ranges of the loops' variables by atom name (`local:k`), given the ranges of other atoms; for `rangeOf`. */
export function withLoops(
  loops: readonly LoopRange[],
  outer: (name: string) => Interval | undefined,
): (name: string) => Interval | undefined {
  return loops.reduce((known, loop) => {
    const first = loop.first && rangeOf(loop.first, known);
    const last = loop.last && rangeOf(loop.last, known);
    const range: Interval | undefined = first && last && [first[0], last[1]];
    return (name: string) => (name === `local:${loop.name}` ? range : known(name));
  }, outer);
}
