import { unreachable } from "../../base/unreachable.js";
import { add, and, cast, compare, constant, int, not, or, sub } from "../expressions.js";
import { localOf } from "../by-name.js";
import { lastOf } from "../loop-stops.js";
import type { FreshNames } from "../passes/copy.js";
import type { Expr, Location, Stmt } from "../types.js";
import { hasJump, mapBlocks } from "../walk.js";
import type { LoopStmt } from "./trail.js";

/*
 * `break` and `continue` become flags, so that a turn backwards undoes what the turn did. A counted loop that is left early becomes one that is not counted.
 */

const truth = (value: boolean): Expr => constant("bool", value);

/** Names of flags of the loop around: whether it was left, whether the rest of the turn is skipped. */
interface Flags {
  readonly break: string | undefined;
  readonly continue: string | undefined;
}

/** The statements without jumps; `update` of a loop becomes the end of its body. */
export function withoutJumps(stmts: readonly Stmt[], names: FreshNames): Stmt[] {
  return stmts.flatMap((stmt) => {
    switch (stmt.kind) {
      case "for":
      case "while":
        return loopWithoutJumps(stmt, names);
      case "if":
        return [mapBlocks(stmt, (block) => withoutJumps(block, names))];
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
      case "teamFor":
      case "teamReduce":
      case "single":
        return [stmt];
      case "break":
      case "continue":
        throw new Error(`${stmt.kind} outside of a loop`);
      default:
        return unreachable(stmt);
    }
  });
}

function loopWithoutJumps(loop: LoopStmt, names: FreshNames): Stmt[] {
  const { location } = loop;
  const flag = (kind: "break" | "continue", wish: string): string | undefined => (jumpsBy(loop.body, kind) ? names.fresh(wish) : undefined);
  const flags: Flags = { break: flag("break", "left"), continue: flag("continue", "skipped") };
  const plain = flags.break || flags.continue ? guarded(loop.body, flags) : loop.body;
  const body = withoutJumps(plain, names);
  if (flags.continue) body.unshift({ kind: "let", name: flags.continue, type: "bool", init: truth(false), location });
  if (loop.kind === "for" && !flags.break) return [{ ...loop, body }];
  const stays = flags.break === undefined ? undefined : not(localOf(flags.break, "bool"));
  const ifStays = (rest: Stmt[]): Stmt[] =>
    stays && rest.length > 0 ? [{ kind: "if", cond: stays, then: rest, else: [], location }] : rest;
  const out: Stmt[] = flags.break === undefined ? [] : [{ kind: "let", name: flags.break, type: "bool", init: truth(false), location }];
  const while_ = (cond: Expr, update: Stmt[]): Stmt => ({
    kind: "while",
    cond: stays ? and(stays, cond) : cond,
    body: [...body, ...ifStays(update)],
    update: [],
    location,
  });
  if (loop.kind === "while") return [...out, while_(loop.cond, withoutJumps(loop.update, names))];
  return [...out, ...countedByHand(loop, names, while_)];
}

/** A counted loop as one that counts in a local. It ends at its last value, where one step more would leave i32. */
function countedByHand(
  { name, start, stop, step, location }: Extract<Stmt, { kind: "for" }>,
  names: FreshNames,
  while_: (cond: Expr, update: Stmt[]) => Stmt,
): Stmt[] {
  const counter = localOf(name, "i32");
  const next: Stmt = { kind: "assign", name, value: add(counter, int(step)), location };
  const first: Stmt = { kind: "let", name, type: "i32", init: start, location };
  const last = lastOf(stop);
  if (!last && Math.abs(step) === 1) return [first, while_(compare(step > 0 ? "lt" : "gt", counter, stop), [next])];
  const done = names.fresh("done");
  const bound = last ?? stop;
  // As u32: the distance may be more than an i32 holds.
  const left = cast("u32", step > 0 ? sub(bound, counter) : sub(counter, bound));
  const isLast = compare(last ? "lt" : "le", left, Math.abs(step));
  const end: Stmt = { kind: "assign", name: done, value: truth(true), location };
  const none = compare(step > 0 ? (last ? "gt" : "ge") : last ? "lt" : "le", start, bound);
  return [
    first,
    { kind: "let", name: done, type: "bool", init: none, location },
    while_(not(localOf(done, "bool")), [{ kind: "if", cond: isLast, then: [end], else: [next], location }]),
  ];
}

/** Whether a jump of the kind belongs to the loop whose body this is. */
const jumpsBy = (body: readonly Stmt[], kind: "break" | "continue"): boolean =>
  body.some((stmt) => stmt.kind === kind || (stmt.kind === "if" && (jumpsBy(stmt.then, kind) || jumpsBy(stmt.else, kind))));

/** The body with flags in place of jumps: what follows a statement that may jump runs only where no flag is set. */
function guarded(body: readonly Stmt[], flags: Flags): Stmt[] {
  const out: Stmt[] = [];
  for (const [n, stmt] of body.entries()) {
    if (stmt.kind === "break" || stmt.kind === "continue") {
      out.push(flagged(flags[stmt.kind]!, stmt.location));
      return out;
    }
    if (stmt.kind !== "if" || !hasJump([stmt])) {
      out.push(stmt);
      continue;
    }
    out.push({ ...stmt, then: guarded(stmt.then, flags), else: guarded(stmt.else, flags) });
    const set = [flags.break, flags.continue].filter((name) => name !== undefined).map((name) => localOf(name, "bool"));
    const any = set.reduce<Expr | undefined>((a, b) => (a ? or(a, b) : b), undefined);
    const rest = guarded(body.slice(n + 1), flags);
    if (rest.length > 0 && any) out.push({ kind: "if", cond: not(any), then: rest, else: [], location: stmt.location });
    return out;
  }
  return out;
}

const flagged = (name: string, location: Location): Stmt => ({ kind: "assign", name, value: truth(true), location });
