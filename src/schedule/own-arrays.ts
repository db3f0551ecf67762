import { arrayAccesses, type Access } from "../ir/analysis/access.js";
import { affineOf, coefficient, definitionsOf, rangeOf, without, type Affine, type Definitions } from "../ir/analysis/affine.js";
import { laneLoops } from "../ir/analysis/teams.js";
import { literal, simplify } from "../ir/simplify.js";
import type { Expr, KernelIR, Stmt } from "../ir/types.js";
import { changedIn, mapExpr, mapStmts, walkStmts } from "../ir/walk.js";

/** Most elements of a member, which registers are to hold. */
const MOST = 128;

/** Scratch in which each member of the team has elements that no other one touches. */
interface OwnElements {
  readonly members: number;
  /** Elements of a member. */
  readonly each: number;
  /** They lie side by side; else as many apart as there are members. */
  readonly together: boolean;
}

/** Loops of a team by their counters: turns of those that its members share out, where they are constant, and 0 for folds. */
type TeamLoops = ReadonlyMap<string, number | undefined>;

/**
 * The kernel of a team with `threads` threads in which scratch that members have to themselves is an array of each thread: its elements stay in
 * registers from one loop of the team to the next, as the sums of a product's tile do. In such scratch every element is reached in loops over
 * one number of members, at places that follow from the member and from counters with constant bounds.
 */
export function withOwnArrays(ir: KernelIR, threads: number): KernelIR {
  if (ir.policy.kind !== "team" || laneLoops(ir.body).length > 0) return ir;
  const loops = teamLoops(ir.body);
  const accesses = arrayAccesses(ir);
  const own = new Map<string, OwnElements>();
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind !== "array" || stmt.space !== "scratch") return;
    const all = accesses.filter(({ view }) => view === stmt.name);
    const found = ownElements(stmt.length, all, loops);
    if (found && found.members <= threads && found.each <= MOST) own.set(stmt.name, found);
  });
  return own.size === 0 ? ir : { ...ir, body: inThreads(ir.body, own, loops) };
}

/** Turns of a loop over few constant numbers that are written out where it changes arrays of a thread, which have to be reached by constants. */
const MOST_TURNS = 16;

/** Turns of a counted loop of a team's member to write out: all of them where its sums are in registers; undefined elsewhere. */
export function turnsOverOwnArrays(ir: KernelIR, loop: Extract<Stmt, { kind: "for" }>): number | undefined {
  if (loop.start.op !== "const" || loop.stop.op !== "const") return undefined;
  const turns = Math.ceil((Number(loop.stop.value) - Number(loop.start.value)) / loop.step);
  if (turns < 2 || turns > MOST_TURNS) return undefined;
  const kept = new Set(ir.body.flatMap((stmt) => (stmt.kind === "array" && stmt.space === "private" ? [stmt.name] : [])));
  return [...changedIn(loop.body, "array")].some((name) => kept.has(name)) ? turns : undefined;
}

function teamLoops(body: readonly Stmt[]): TeamLoops {
  const loops = new Map<string, number | undefined>();
  walkStmts(body, (stmt) => {
    if (stmt.kind === "teamReduce") loops.set(stmt.name, 0);
    if (stmt.kind === "teamFor") loops.set(stmt.name, stmt.count.op === "const" ? Number(stmt.count.value) : undefined);
  });
  return loops;
}

/** The counter of a linear form over which members go, and the rest of the form. */
function memberOf(form: Affine, loops: TeamLoops): { name: string; by: number; rest: Affine } | undefined {
  const name = [...loops.keys()].find((loop) => coefficient(form, `local:${loop}`) !== 0);
  return name === undefined ? undefined : { name, by: coefficient(form, `local:${name}`), rest: without(form, `local:${name}`) };
}

/** How the elements are shared out; undefined if a member may touch an element of another. */
function ownElements(length: number, accesses: readonly Access[], loops: TeamLoops): OwnElements | undefined {
  let shared: OwnElements | undefined;
  for (const access of accesses) {
    const [form] = access.affine;
    const member = form && memberOf(form, loops);
    const members = member && loops.get(member.name);
    if (!member || !members || access.loops.filter(({ name }) => loops.has(name)).length !== 1) return undefined;
    const rest = rangeOf(member.rest, (atom) => rangeOfCounter(access, atom));
    if (!rest) return undefined;
    const together = member.by !== 1;
    const each = together ? member.by : length / members;
    const fits = together ? rest[0] >= 0 && rest[1] < each && members * each <= length : isApart(member.rest, rest, members, length);
    if (!fits || (shared && (shared.members !== members || shared.each !== each || shared.together !== together))) return undefined;
    shared = { members, each, together };
  }
  return shared;
}

/** Places at multiples of the number of members, inside an array with a whole number of them. */
const isApart = (rest: Affine, [low, high]: readonly [number, number], members: number, length: number): boolean =>
  length % members === 0 &&
  low >= 0 &&
  high < length &&
  [rest.constant, ...Object.values(rest.terms)].every((factor) => factor % members === 0);

/** Values of a loop's counter with constant bounds. */
function rangeOfCounter({ loops }: Access, atom: string): readonly [number, number] | undefined {
  const loop = loops.find(({ name }) => atom === `local:${name}`);
  const [first, last] = [loop?.first, loop?.last];
  if (!first || !last || Object.keys(first.terms).length > 0 || Object.keys(last.terms).length > 0) return undefined;
  return [first.constant, last.constant];
}

function inThreads(body: readonly Stmt[], own: ReadonlyMap<string, OwnElements>, loops: TeamLoops): Stmt[] {
  const definitions = definitionsOf(body);
  return mapStmts(body, {
    expr: (expr) =>
      mapExpr(expr, (node) => {
        const elements = node.op === "element" ? own.get(node.array) : undefined;
        return node.op === "element" && elements ? { ...node, index: placeOf(node.index, elements, loops, definitions) } : node;
      }),
    stmt: (stmt) => {
      if (stmt.kind === "array") {
        const elements = own.get(stmt.name);
        return elements ? { ...stmt, space: "private", length: elements.each, disjoint: undefined } : stmt;
      }
      const elements = stmt.kind === "setElement" ? own.get(stmt.array) : undefined;
      return stmt.kind === "setElement" && elements ? { ...stmt, index: placeOf(stmt.index, elements, loops, definitions) } : stmt;
    },
  });
}

/** The place among a member's own elements. */
function placeOf(index: Expr, { members, together }: OwnElements, loops: TeamLoops, definitions: Definitions): Expr {
  const { rest } = memberOf(affineOf(index, definitions)!, loops)!;
  const divisor = together ? 1 : members;
  const terms = Object.entries(rest.terms).map(([atom, by]) =>
    simplify(product({ op: "local", type: "i32", name: atom.slice("local:".length) }, by / divisor)),
  );
  const sum = (a: Expr, b: Expr): Expr => simplify({ op: "binary", type: "i32", fn: "add", a, b });
  return [...terms, literal("i32", rest.constant / divisor)].reduce(sum);
}

const product = (a: Expr, by: number): Expr => ({ op: "binary", type: "i32", fn: "mul", a, b: literal("i32", by) });
