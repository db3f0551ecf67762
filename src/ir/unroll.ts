import { literal } from "./simplify.js";
import type { Expr, KernelIR, Stmt } from "./types.js";
import { declares, hasJump, mapExpr, mapStmts, sizeOf, walkStmts } from "./walk.js";

/** Largest number of turns that is unrolled. */
const MAX_TURNS = 64;
/** Largest number of statements and expression nodes that a loop may become. */
const MAX_NODES = 4000;

/** The same for a loop that must not stay. */
const MAX_FORCED_NODES = 200000;

/**
 * Writes out loops with constant bounds, inner ones first, where that stays small. Locals and arrays of the body get a name for each
 * turn. Loops that a `break` or `continue` of their own cuts short stay, and so do those with work for the whole team.
 * Returns the very same kernel where there is nothing to unroll.
 *
 * @param forced counters of loops that are written out even where it makes much code
 */
export function unroll(ir: KernelIR, forced: ReadonlySet<string> = new Set()): KernelIR {
  const names = new Names(ir);
  let changed = false;
  const stmt = (s: Stmt) => {
    const unrolled = s.kind === "for" ? unrollLoop(s, names, forced.has(s.name)) : s;
    changed ||= unrolled !== s;
    return unrolled;
  };
  const body = mapStmts(ir.body, { stmt });
  return changed ? { ...ir, body } : ir;
}

function unrollLoop(loop: Extract<Stmt, { kind: "for" }>, names: Names, forced: boolean): Stmt | Stmt[] {
  const { start, stop, step, body } = loop;
  if (start.op !== "const" || stop.op !== "const") return loop;
  const turns = Math.max(0, Math.ceil(((stop.value as number) - (start.value as number)) / step));
  const nodes = turns * sizeOf(body);
  if (forced ? nodes > MAX_FORCED_NODES : turns > MAX_TURNS || nodes > MAX_NODES) return loop;
  if (hasJump(body) || hasTeamWork(body)) return loop;
  return Array.from({ length: turns }, (_, turn) =>
    copy(body, turn, new Map([[loop.name, literal("i32", (start.value as number) + turn * step)]]), names),
  ).flat();
}

function hasTeamWork(body: readonly Stmt[]): boolean {
  let found = false;
  walkStmts(body, ({ kind, ...stmt }) => {
    found ||= kind === "teamFor" || kind === "teamReduce" || kind === "single" || ("space" in stmt && stmt.space === "scratch");
  });
  return found;
}

/** The statements with locals replaced, and everything that they declare renamed. */
function copy(body: readonly Stmt[], turn: number, replaced: Map<string, Expr>, names: Names): Stmt[] {
  const renamed = new Map<string, string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => renamed.set(name, names.fresh(`${name}_${turn}`))));
  const name = (old: string) => renamed.get(old) ?? old;
  const expr = (root: Expr) =>
    mapExpr(root, (node) => {
      if (node.op === "local") return replaced.get(node.name) ?? { ...node, name: name(node.name) };
      if (node.op === "element") return { ...node, array: name(node.array) };
      return node;
    });
  const stmt = (s: Stmt): Stmt => {
    switch (s.kind) {
      case "let":
      case "assign":
      case "array":
      case "for":
        return { ...s, name: name(s.name) };
      case "setElement":
        return { ...s, array: name(s.array) };
      default:
        return s;
    }
  };
  return mapStmts(body, { expr, stmt });
}

/** Hands out names that are not yet taken in a kernel. */
export class Names {
  private readonly taken = new Set<string>();
  /** The last number given to a wish. */
  private readonly numbers = new Map<string, number>();

  constructor(ir: KernelIR) {
    for (const { name } of [...ir.params, ...ir.tables]) this.taken.add(name);
    walkStmts(ir.body, (stmt) => declares(stmt).forEach((name) => this.taken.add(name)));
  }

  /** The wished name, with a number after it where it is taken. */
  fresh(wish: string): string {
    let name = wish;
    let n = this.numbers.get(wish) ?? 0;
    while (this.taken.has(name)) name = `${wish}_${++n}`;
    this.numbers.set(wish, n);
    this.taken.add(name);
    return name;
  }
}
