import { lastOf } from "../loop-stops.js";
import { unreachable } from "../../base/unreachable.js";
import { fits } from "./intervals.js";
import { affineOf, definitionsOf, rangeOf, type Definitions, type Interval, atomParts } from "./affine.js";
import type { Sizes } from "./cost.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf } from "../walk.js";

/** More contributions of one element, or of one team, than this are not to be sorted: their slots would be mostly empty. */
const MOST = { range: 4096, team: 1 << 20 };

type Ranges = (atom: string) => Interval | undefined;
const unknown: Ranges = () => undefined;

/**
 * How many times one element (or one team) scatters into `target` at most; undefined if that depends on data or is too much to be
 * sorted. Bounds of loops may depend on what `ranges` knows (see `launchRanges`), but inside of a team's shared loops on nothing: there
 * each member's contributions must have a constant number.
 */
export function contributionsOf(ir: KernelIR, target: string, ranges: Ranges = unknown): number | undefined {
  const count = countIn(ir.body, target, definitionsOf(ir.body), ranges);
  return count !== undefined && count <= MOST[ir.policy.kind] ? count : undefined;
}

/** The same for statements without bounds that depend on a launch. */
export function contributionsIn(list: readonly Stmt[], target: string): number | undefined {
  return countIn(list, target, new Map(), unknown);
}

/** Ranges of the atoms of linear forms (policy indices, scalars, extents) that a launch fixes. */
export function launchRanges({ policy, views, scalars }: Sizes): Ranges {
  const begin = policy.kind === "team" ? [0] : policy.begin;
  const extents = policy.kind === "team" ? [policy.league] : policy.extents;
  const exactly = (value: number): Interval => [value, value];
  return (atom) => {
    const [kind, name, axis] = atomParts(atom);
    if (kind === "index") {
      const first = begin[Number(name)]!;
      return [first, first + Math.max(1, extents[Number(name)]!) - 1];
    }
    if (kind === "param") return typeof scalars[name] === "number" ? exactly(scalars[name]) : undefined;
    return kind === "extent" ? exactly(views[name]!.shape[Number(axis)]!) : undefined;
  };
}

const plus = (values: Interval | undefined, by: number): Interval | undefined => values && [values[0] + by, values[1] + by];

function countIn(list: readonly Stmt[], target: string, definitions: Definitions, ranges: Ranges): number | undefined {
  let sum: number | undefined = 0;
  for (const stmt of list) {
    const inside = countInside(stmt, target, definitions, ranges);
    if (inside === undefined) return undefined;
    sum += inside + (stmt.kind === "scatter" && stmt.target === target ? 1 : 0);
  }
  return sum;
}

/** Contributions of the statements inside a statement. */
function countInside(stmt: Stmt, target: string, definitions: Definitions, ranges: Ranges): number | undefined {
  const range = (expr: Expr): Interval | undefined => {
    const form = affineOf(lastOf(expr) ?? expr, definitions);
    const values = form && rangeOf(form, ranges);
    return values && fits(values) ? values : undefined;
  };
  const blocks = (known: Ranges) => blocksOf(stmt).map((block) => countIn(block, target, definitions, known));
  switch (stmt.kind) {
    case "while": {
      const counts = blocks(ranges);
      return counts.every((count) => count === 0) ? 0 : undefined;
    }
    case "for": {
      const start = range(stmt.start);
      const stop = plus(range(stmt.stop), lastOf(stmt.stop) ? Math.sign(stmt.step) : 0);
      const taken: Interval | undefined =
        start && stop && (stmt.step > 0 ? [start[0], Math.max(start[0], stop[1] - 1)] : [Math.min(start[1], stop[0] + 1), start[1]]);
      const [count] = blocks((atom) => (atom === `local:${stmt.name}` ? taken : ranges(atom)));
      if (count === 0) return 0;
      if (count === undefined || !start || !stop) return undefined;
      const length = stmt.step > 0 ? stop[1] - start[0] : start[1] - stop[0];
      return count * Math.max(0, Math.ceil(length / Math.abs(stmt.step)));
    }
    case "teamFor":
    case "teamReduce": {
      const [count] = blocks(unknown);
      const turns = range(stmt.count);
      return count === 0 ? 0 : count === undefined || !turns ? undefined : count * Math.max(0, turns[1]);
    }
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
    case "if":
    case "break":
    case "continue":
    case "single":
      return blocks(ranges).reduce<number | undefined>(
        (most, count) => (most === undefined || count === undefined ? undefined : Math.max(most, count)),
        0,
      );
    default:
      return unreachable(stmt);
  }
}
