import { KernelError } from "../../base/errors.js";
import { coefficient, definitionsOf, equal, modulo, rangeOf, split, without } from "./affine.js";
import type { Affine, Definitions } from "./affine.js";
import { withLoops } from "./access.js";
import type { Access, AccessAnalysis } from "./access.js";
import { indexNames, printExpr } from "../kernel-text.js";
import { isShared, scratchArrays } from "./teams.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf, changeOf, declares, walkExpr, walkStmts } from "../walk.js";

/*
 * A store is safe where some axis of the view gives each parallel element places of its own: there the index is a * p + r with a constant
 * a != 0, the element's index p, and an r that is the same for all elements up to a window of |a| values. Such an axis *pins* p.
 * Reads of a view that the kernel writes must lie in the element's own places, too. A range kernel needs every policy index pinned;
 * in the shared loops of a team, the member's index as well.
 */

/**
 * Refuses kernels in which two elements, teams or members could touch one location. Throws KernelError with the place and a remedy.
 * @param later views that are left to be proved at each launch (see `viewsToProve`)
 */
export function checkRaces(ir: KernelIR, access: AccessAnalysis, later: readonly string[] = []): void {
  const axes = ir.policy.kind === "team" ? 1 : ir.policy.rank;
  for (const param of ir.params) {
    if (param.kind !== "view" || param.disjoint || param.teamLength || later.includes(param.name)) continue;
    const touched = access.accesses.filter((a) => a.view === param.name);
    if (touched.some((a) => a.kind === "write")) for (let axis = 0; axis < axes; axis++) checkPolicyAxis(ir, touched, axis);
  }
  if (ir.policy.kind === "team") {
    checkTeam(ir, access);
    checkTeamAtomics(ir, ir.body, MEMBERS, true);
  }
}

/** Atomic operations happen as often as they are run, so that members who run the same statements would each do them. */
function checkTeamAtomics(ir: KernelIR, stmts: readonly Stmt[], sharers: Sharers, together: boolean): void {
  const { one, methods } = sharers;
  for (const stmt of stmts) {
    if (stmt.kind === "atomic" && together)
      throw new KernelError(
        ir.name,
        stmt.location,
        `changes ${stmt.target} outside of the loops that ${one}s share, where each ${one} runs the same statements`,
        `put it into ${methods}.range${one === "member" ? ", or team.single" : ""}`,
      );
    const inside = isShared(stmt) && stmt.kind !== "single" && blocksOf(stmt).some(hasShared);
    for (const block of blocksOf(stmt)) checkTeamAtomics(ir, block, isShared(stmt) ? LANES : sharers, isShared(stmt) ? inside : together);
  }
}

function hasShared(stmts: readonly Stmt[]): boolean {
  return stmts.some((stmt) => isShared(stmt) || blocksOf(stmt).some(hasShared));
}

/** Whether elements that differ along one axis alone, and in nothing else, may touch one place of a view that the kernel writes. */
export function meetAlong(axis: number, { params }: KernelIR, { accesses }: AccessAnalysis): boolean {
  const pin: Pin = { atom: `index:${axis}`, same: (atom) => atom !== `index:${axis}` && /^(param|extent|teamSize|index)/.test(atom) };
  return params.some(({ name, kind }) => {
    const touched = accesses.filter(({ view }) => view === name);
    return kind === "view" && touched.some((access) => access.kind === "write") && conflictOf(touched, pin) !== undefined;
  });
}

function checkPolicyAxis(ir: KernelIR, touched: Access[], axis: number): void {
  const name = indexNames(ir)[axis]!;
  const whole = ir.policy.kind === "team" ? "league" : "range";
  const conflict = conflictOf(touched, policyPin(axis));
  if (!conflict) return;
  const { access, partner } = conflict;
  const text = printAccess(ir, access);
  const other = ir.policy.kind === "team" ? "another team" : "another element";
  const problem =
    access.kind === "read"
      ? `reads ${text} while ${printAccess(ir, partner!)} is written by ${other}`
      : partner
        ? `writes ${text} and ${printAccess(ir, partner)}, which ${other} may write, too`
        : `several elements of the ${whole} may write ${text}`;
  throw new KernelError(ir.name, access.location, problem, remedy(ir, access, name, whole));
}

function remedy(ir: KernelIR, access: Access, name: string, whole: string): string {
  if (access.kind === "read") return `write to another view, add with scatter, or read only ${access.view}'s element that is written here`;
  const definitions = definitionsOf(ir.body);
  const rank = access.indices.findIndex((index) => isLinearised(index, definitions));
  if (rank >= 0) return `declare ${access.view} with one index more and use the indices of the ${whole} one by one`;
  return `index ${access.view} by the ${whole}'s index ${name}, use scatter or a reduction, or assert view(..., { disjoint: true })`;
}

/** True for i * n + j: a policy index times an extent, or two policy indices in one. */
function isLinearised(index: Expr, definitions: Definitions): boolean {
  const axes = new Set<number>();
  let [gathered, scaled] = [false, false];
  const visit = (expr: Expr): void =>
    walkExpr(expr, (node) => {
      const definition = node.op === "local" ? definitions.get(node.name) : undefined;
      if (definition) visit(definition);
      if (node.op === "index") axes.add(node.axis);
      gathered ||= node.op === "load";
      scaled ||= node.op === "binary" && node.fn === "mul" && [node.a, node.b].some((side) => side.op === "param" || side.op === "extent");
    });
  visit(index);
  return !gathered && (axes.size > 1 || (axes.size === 1 && scaled));
}

interface Pin {
  /** The atom that tells parallel elements apart. */
  atom: string;
  /** Atoms that have one value for all parallel elements. */
  same: (atom: string) => boolean;
  /** How many there are, from 0, where that is known. */
  count?: number;
}

/** Loop variables differ between elements; the other policy indices may take any value. */
export const policyPin = (axis: number): Pin => ({ atom: `index:${axis}`, same: (atom) => /^(param|extent|teamSize)/.test(atom) });

interface Conflict {
  access: Access;
  /** The access that it collides with; undefined if the access collides with itself in another element. */
  partner?: Access;
}

/** Finds an axis that pins all accesses; where there is none, an access that shows why. */
export function conflictOf(touched: readonly Access[], pin: Pin): Conflict | undefined {
  const writes = touched.filter((a) => a.kind === "write");
  const reads = touched.filter((a) => a.kind === "read" && !writes.every((write) => neverMeet(a, write, pin)));
  const rank = touched[0]!.indices.length;
  let best: Conflict | undefined;
  for (let axis = 0; axis < rank; axis++) {
    const unpinned = [...writes, ...reads].find((a) => !pinned([a], axis, pin));
    if (unpinned) {
      // A read is the better story, because then all writes are in order.
      if (!best || unpinned.kind === "read")
        best = unpinned.kind === "read" ? { access: unpinned, partner: writes[0] } : { access: unpinned };
      continue;
    }
    const all = [...writes, ...reads];
    if (pinned(all, axis, pin)) return undefined;
    const until = all.findIndex((_, n) => !pinned(all.slice(0, n + 1), axis, pin));
    best = { access: all[until]!, partner: all.slice(0, until).find((a) => !pinned([a, all[until]!], axis, pin)) ?? writes[0] };
  }
  return best;
}

/** Whether two accesses never touch the same place along some axis, whichever elements make them: `a[2][i]` and `a[3][i + 1]`. */
function neverMeet(a: Access, b: Access, { atom, same }: Pin): boolean {
  const placesOf = ({ affine, loops }: Access, axis: number) => {
    const form = affine[axis];
    const [shared, rest] = form ? split(form, (name) => name !== atom && same(name)) : [];
    const range =
      rest &&
      rangeOf(
        rest,
        withLoops(loops, () => undefined),
      );
    return shared && range && { shared, range };
  };
  return a.affine.some((_, axis) => {
    const [p, q] = [placesOf(a, axis), placesOf(b, axis)];
    return p && q && equal(p.shared, q.shared) && (p.range[1] < q.range[0] || q.range[1] < p.range[0]);
  });
}

/**
 * True if the axis gives each value of the pin's atom places of its own over all these accesses together. With n elements, places
 * |a| n apart belong to the same element: r counts modulo |a| n, like the remainder of t[i + n * k].
 */
function pinned(accesses: readonly Access[], axis: number, pin: Pin): boolean {
  const { count } = pin;
  return (
    apart(accesses, axis, pin, (r) => r) || (count !== undefined && apart(accesses, axis, pin, (r, a) => modulo(r, Math.abs(a) * count)))
  );
}

function apart(accesses: readonly Access[], axis: number, pin: Pin, reduced: (r: Affine, a: number) => Affine): boolean {
  let factor: number | undefined;
  let shared: Affine | undefined;
  let [low, high] = [Infinity, -Infinity];
  for (const access of accesses) {
    const form = access.affine[axis];
    const a = form && coefficient(form, pin.atom);
    if (!form || !a || (factor !== undefined && a !== factor)) return false;
    const [same, rest] = split(without(form, pin.atom), pin.same);
    if (shared && !equal(same, shared)) return false;
    const range = rangeOf(
      reduced(rest, a),
      withLoops(access.loops, () => undefined),
    );
    if (!range) return false;
    [low, high] = [Math.min(low, range[0]), Math.max(high, range[1])];
    [factor, shared] = [a, same];
  }
  return high - low < Math.abs(factor ?? 0);
}

/* Teams. */

type TeamLoop = Extract<Stmt, { kind: "teamFor" | "teamReduce" }>;

function checkTeam(ir: KernelIR, access: AccessAnalysis): void {
  const disjoint = new Set(ir.params.filter((p) => p.kind === "view" && p.disjoint).map((p) => p.name));
  const scratch = scratchArrays(ir.body);
  walkStmts(ir.body, (stmt) => void (stmt.kind === "array" && stmt.disjoint && scratch.delete(stmt.name)));
  checkOuterLocals(ir, ir.body, MEMBERS);
  const shared = [
    ...access.accesses.filter((a) => a.kind !== "scatter" && !disjoint.has(a.view)),
    ...access.arrays.filter((a) => scratch.has(a.view)),
  ];
  eachSharedLoop(ir.body, MEMBERS, (loop, sharers) => {
    const inside = shared.filter((a) => a.loops.some((l) => l.name === loop.name));
    for (const name of new Set(inside.filter((a) => a.kind === "write").map((a) => a.view)))
      checkSharers(
        ir,
        loop,
        sharers,
        inside.filter((a) => a.view === name),
      );
  });
}

/** Words for those who share a loop out: members of a team, or lanes of a member. */
interface Sharers {
  one: string;
  whole: string;
  /** The object whose methods share work out among them. */
  methods: string;
}
const MEMBERS: Sharers = { one: "member", whole: "the team", methods: "team" };
const LANES: Sharers = { one: "lane", whole: "a member", methods: "lanes" };

function eachSharedLoop(stmts: readonly Stmt[], sharers: Sharers, visit: (loop: TeamLoop, sharers: Sharers) => void): void {
  for (const stmt of stmts) {
    const loop = stmt.kind === "teamFor" || stmt.kind === "teamReduce";
    if (loop) visit(stmt, sharers);
    for (const block of blocksOf(stmt)) eachSharedLoop(block, loop ? LANES : sharers, visit);
  }
}

function checkSharers(ir: KernelIR, loop: TeamLoop, { one, whole, methods }: Sharers, touched: Access[]): void {
  const inner = new Set<string>();
  walkStmts(loop.body, (stmt) => {
    if (stmt.kind === "for" || stmt.kind === "teamFor" || stmt.kind === "teamReduce") inner.add(`local:${stmt.name}`);
  });
  const count = loop.count.op === "const" ? Number(loop.count.value) : undefined;
  const conflict = conflictOf(touched, { atom: `local:${loop.name}`, same: (atom) => !inner.has(atom), count });
  if (!conflict) return;
  const { access, partner } = conflict;
  const text = printAccess(ir, access);
  const problem =
    access.kind === "read"
      ? `reads ${text} while ${printAccess(ir, partner!)} is written by another ${one} of ${whole}`
      : `several ${one}s of ${whole} may write ${partner ? `${printAccess(ir, partner)} and ` : ""}${text}`;
  throw new KernelError(
    ir.name,
    access.location,
    problem,
    access.kind === "read"
      ? `end this ${methods}.range after the writes and read in a second one`
      : `index ${access.view} by the ${one}'s index ${loop.name}, or use ${methods}.sum${one === "member" ? ", team.single" : ""} or scatter`,
  );
}

/** Members (and lanes) have copies of their own of what is declared outside a shared loop, so what they assign there is lost. */
function checkOuterLocals(ir: KernelIR, stmts: readonly Stmt[], sharers: Sharers): void {
  for (const stmt of stmts) {
    if (isShared(stmt)) checkShared(ir, stmt, sharers);
    for (const block of blocksOf(stmt)) checkOuterLocals(ir, block, isShared(stmt) ? LANES : sharers);
  }
}

/** The reduction, or the first part of one, that a statement folds into. */
const foldedBy = (stmt: Stmt): string | undefined => {
  const change = changeOf(stmt);
  return change?.kind === "reduction" ? change.name : undefined;
};

function checkShared(ir: KernelIR, shared: Extract<Stmt, { kind: "teamFor" | "teamReduce" | "single" }>, { one, methods }: Sharers): void {
  const where = shared.kind === "single" ? "team.single" : one === "member" ? "a loop shared by the team" : "a loop shared by the lanes";
  const own = new Set<string>();
  const results = new Set(shared.kind === "teamReduce" ? shared.results.map((r) => r.name) : []);
  const scratch = scratchArrays(ir.body);
  walkStmts(shared.body, (stmt) => {
    declares(stmt).forEach((name) => own.add(name));
    const change = changeOf(stmt);
    const target = change?.kind === "local" || (change?.kind === "array" && !scratch.has(change.name)) ? change.name : undefined;
    if (target !== undefined && !own.has(target))
      throw new KernelError(
        ir.name,
        stmt.location,
        `assigns ${target} inside ${where}, but it is declared outside, where each ${one} has its own`,
        `fold it with ${methods}.sum, ${methods}.min, ${methods}.max or ${methods}.reduce${one === "member" ? ", or keep it in team.scratch" : ""}`,
      );
    const folded = foldedBy(stmt);
    if (folded !== undefined && ir.params.some((p) => p.name === folded))
      throw new KernelError(
        ir.name,
        stmt.location,
        `folds into ${folded} inside ${where}`,
        `fold over the members with team.sum, team.min, team.max or team.reduce first, then into ${folded} once for the team`,
      );
    if (one === "lane" && stmt.kind === "reduce" && !results.has(stmt.target))
      throw new KernelError(
        ir.name,
        stmt.location,
        `folds into a result of the team inside ${where}`,
        "fold over the lanes with lanes.sum, lanes.min, lanes.max or lanes.reduce first, then once for the member",
      );
  });
}

/** The access as the code writes it. */
export const printAccess = (ir: KernelIR, access: Access): string =>
  access.view + access.indices.map((index) => `[${printExpr(index, indexNames(ir))}]`).join("");
