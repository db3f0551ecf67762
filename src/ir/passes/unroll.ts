import { copyBody, FreshNames } from "./copy.js";
import { literal, simplify } from "../simplify.js";
import { runsAlong } from "../analysis/runs-along.js";
import { isShared } from "../analysis/teams.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { hasJump, mapStmts, sizeOf, walkExprs, walkStmts } from "../walk.js";
import { privateArrays } from "./scalarise.js";

/** Largest number of turns that is unrolled. */
const MAX_TURNS = 64;
/** Largest number of statements and expression nodes that a loop may become. */
const MAX_NODES = 4000;

/** Largest number of turns that is unrolled around a loop that stays, unless indices of locals become constant by it. */
const MAX_AROUND_LOOPS = 8;

/** The same as MAX_NODES for a loop that must not stay. */
const MAX_FORCED_NODES = 200000;

/** Fewest turns for which vector instructions pay. */
const VECTOR_TURNS = 4;

/**
 * Writes out loops with constant bounds, inner ones first, where that stays small. Locals and arrays of the body get a name for each
 * turn. Loops that a `break` or `continue` of their own cuts short stay, and so do those with work for the whole team.
 * Returns the very same kernel where there is nothing to unroll.
 *
 * @param forced counters of loops that are written out even where it makes much code
 * @param inMemory private arrays that are not turned into locals: loops along them stay, which compilers can make vector instructions of
 */
export function unroll(ir: KernelIR, forced: ReadonlySet<string> = new Set(), inMemory: ReadonlySet<string> = new Set()): KernelIR {
  const names = new FreshNames(ir);
  const locals = new Set([...privateArrays(ir).keys()].filter((array) => !inMemory.has(array)));
  let changed = false;
  const stmt = (s: Stmt) => {
    const unrolled = s.kind === "for" ? unrollLoop(s, names, forced.has(s.name), { inMemory, locals }) : s;
    changed ||= unrolled !== s;
    return unrolled;
  };
  const body = mapStmts(ir.body, { stmt });
  return changed ? { ...ir, body } : ir;
}

/** Private arrays that stay in memory, and all others, whose elements shall become locals. */
interface Arrays {
  readonly inMemory: ReadonlySet<string>;
  readonly locals: ReadonlySet<string>;
}

function unrollLoop(loop: Extract<Stmt, { kind: "for" }>, names: FreshNames, forced: boolean, { inMemory, locals }: Arrays): Stmt | Stmt[] {
  const { start, stop, step, body } = loop;
  if (start.op !== "const" || stop.op !== "const") return loop;
  const turns = Math.max(0, Math.ceil(((stop.value as number) - (start.value as number)) / step));
  const nodes = turns * sizeOf(body);
  if (forced ? nodes > MAX_FORCED_NODES : turns > MAX_TURNS || nodes > MAX_NODES) return loop;
  if (hasJump(body) || hasTeamWork(body)) return loop;
  if (!forced && turns >= VECTOR_TURNS && runsAlong(loop, inMemory)) return loop;
  if (!forced && turns > MAX_AROUND_LOOPS && holdsLoop(body) && !asksForLocals(body, locals)) return loop;
  return Array.from({ length: turns }, (_, turn) =>
    copyBody(body, String(turn), names, (node) =>
      simplify(node.op === "local" && node.name === loop.name ? literal("i32", (start.value as number) + turn * step) : node),
    ),
  ).flat();
}

function hasTeamWork(body: readonly Stmt[]): boolean {
  let found = false;
  walkStmts(body, (stmt) => {
    found ||= isShared(stmt) || (stmt.kind === "array" && stmt.space === "scratch");
  });
  return found;
}

function holdsLoop(body: readonly Stmt[]): boolean {
  let found = false;
  walkStmts(body, ({ kind }) => {
    found ||= kind === "for" || kind === "while";
  });
  return found;
}

/** Whether elements of these arrays are asked for at an index that is not constant yet. */
function asksForLocals(body: readonly Stmt[], locals: ReadonlySet<string>): boolean {
  let found = false;
  const ask = (array: string, index: Expr): void => {
    found ||= index.op !== "const" && locals.has(array);
  };
  walkStmts(body, (stmt) => {
    if (stmt.kind === "setElement") ask(stmt.array, stmt.index);
  });
  walkExprs(body, (node) => {
    if (node.op === "element") ask(node.array, node.index);
  });
  return found;
}
