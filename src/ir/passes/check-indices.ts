import { and, ge, int, not } from "../expressions.js";
import { literal } from "../simplify.js";
import { indexNames, printExpr } from "../kernel-text.js";
import type { Unproved } from "../analysis/proofs.js";
import { arrayShapes } from "../analysis/bounds.js";
import { define, localOf } from "../by-name.js";
import type { CheckSite, Expr, KernelIR, Location, Stmt } from "../types.js";
import { changeOf, hasChecks, mapBlocks, mapChildren, mapOwnExprs, readOf, walkExprs, walkStmts } from "../walk.js";
import { FreshNames } from "./copy.js";

/** Offsets in the record of a launch's first failure, an i32 each; all are 0 before. */
export const FAULT = {
  /** 1 while somebody writes, where elements run at the same time. */
  lock: 0,
  /** 1 once there is a failure. */
  failed: 1,
  /** Its site, and the index. */
  site: 2,
  index: 3,
  /** The element's index along each axis of the range; for a team, its rank. The first failure is the one of the first element in row-major order. */
  element: 4,
  /** Entries. */
  length: 8,
} as const;

/** The axes whose indices name an element in the record. */
export function recordedAxes({ policy, checks }: KernelIR): number[] {
  const rank = policy.kind === "team" ? 1 : policy.rank;
  return [...Array(rank).keys()].slice(checks?.outerAxes ?? 0);
}

/**
 * Adds checks of the indices that are not proved: a read outside gives 0, a write outside is dropped, and the failure is
 * recorded in a new view, the last parameter. Loops that may wait for a value end once their element has failed. This is the last pass: passes
 * that change expressions assume that they have no side effects.
 *
 * @param unproved from `unprovedAccesses`, of this very code
 * @param empty arrays without elements, which have none to read in place of another
 */
export function checkIndices(ir: KernelIR, unproved: ReadonlyMap<Expr | Stmt, Unproved>, empty: ReadonlySet<string>): KernelIR {
  const names = new FreshNames(ir);
  const lengths = arrayShapes(ir);
  const sites: CheckSite[] = [];
  const record = names.fresh("faults");

  const limit = (array: string, axis: number): Expr => {
    const shape = lengths.get(array);
    return shape ? int(shape[axis]!) : { op: "extent", type: "i32", view: array, axis };
  };
  const site = (kind: CheckSite["kind"], array: string, text: string, axis: number, location: Location): number =>
    sites.push({ kind, array, text, axis, location }) - 1;

  const expr = (before: Expr, at: Location): Expr => {
    const node = mapChildren(before, (child) => expr(child, at));
    const found = unproved.get(before);
    const read = readOf(before);
    if (!found || !read) return node;
    const location = ("location" in before && before.location) || at;
    const text = printExpr(before, indexNames(ir));
    const none = empty.has(read.name);
    let axis = 0;
    const all: Expr[] = [];
    const inside = mapChildren(node, (index) => {
      const at = axis++;
      if (!found.axes.includes(at)) return index;
      const number = site("read", read.name, text, at, location);
      const node: Expr = { op: "checked", type: "i32", index, extent: limit(read.name, at), otherwise: none ? -1 : 0, site: number };
      all.push(node);
      return node;
    });
    if (!none) return inside;
    // Reads nothing from an array without elements.
    const cond = all.map((index): Expr => ge(index, 0)).reduce((a, b) => and(a, b));
    return { op: "select", type: node.type, cond, a: inside, b: literal(node.type, 0) };
  };

  const stmt = (before: Stmt): Stmt[] => {
    const mapped = mapBlocks(
      mapOwnExprs(before, (e) => expr(e, before.location)),
      (block) => block.flatMap(stmt),
    );
    const { location } = before;
    if (mapped.kind === "while" && !hasTeamSteps(mapped))
      return [{ ...mapped, cond: and(not({ op: "failed", type: "bool" }), mapped.cond) }];
    const lets: Stmt[] = [];
    const local = (wish: string, init: Expr): Expr => {
      const name = names.fresh(wish);
      lets.push(define(name, init, location));
      return localOf(name, init.type);
    };
    /** Before the statement where it may fail, in the order of these calls. */
    const early = (wish: string, e: Expr): Expr => (hasChecks(e) ? local(wish, e) : e);
    if (mapped.kind === "for") {
      if (!hasChecks(mapped.stop)) return [mapped];
      const start = early("start", mapped.start);
      return [...lets, { ...mapped, start }];
    }
    const change = changeOf(mapped);
    const operands = operandsOf(mapped);
    if (!change || !operands) return [mapped];
    // As JavaScript does: the indices, each but the last checked at once, the value, then whether the element is there; where a method is called, all then.
    const later = operands.some(hasChecks);
    const isCalled = change.kind === "scatter" || change.kind === "atomic";
    const last = isCalled ? 0 : change.indices.length - 1;
    const axes = unproved.get(before)?.axes ?? [];
    const check = (index: Expr, axis: number): Expr => {
      const text = `${change.name}${changeOf(before)!
        .indices.map((index) => `[${printExpr(index, indexNames(ir))}]`)
        .join("")}`;
      const number = site(kindOf(change.kind), change.name, text, axis, location);
      return local("inside", { op: "checked", type: "i32", index, extent: limit(change.name, axis), otherwise: -1, site: number });
    };
    let indices = change.indices.map((index, axis) => {
      if (axis < last && axes.includes(axis)) return check(index, axis);
      return later && axes.includes(axis) ? local("at", index) : early("at", index);
    });
    const values = operands.map((operand) => early("value", operand));
    indices = indices.map((index, axis) => (axis >= last && axes.includes(axis) ? check(index, axis) : index));
    const changed = withOperands(mapped, indices, values);
    if (axes.length === 0) return [...lets, changed];
    const cond = axes.map((axis) => ge(indices[axis]!, 0)).reduce((a, b) => and(a, b));
    if (changed.kind !== "atomic" || changed.result === undefined)
      return [...lets, { kind: "if", cond, then: [changed], else: [], location }];
    // An index outside gives 0 as the old value.
    const { result: name, type } = changed;
    const found = names.fresh(name);
    const then: Stmt[] = [
      { ...changed, result: found },
      { kind: "assign", name, value: localOf(found, type), location },
    ];
    return [...lets, define(name, literal(type, 0), location), { kind: "if", cond, then, else: [], location }];
  };

  const body = ir.body.flatMap(stmt);
  const view = { kind: "view", name: record, element: "i32", rank: 1, disjoint: true } as const;
  const checks = { record, sites, unproved: unproved.size, accesses: accessesOf(ir), unchecked: ir.body };
  return { ...ir, params: [...ir.params, view], body, checks };
}

const kindOf = (kind: string): CheckSite["kind"] => (kind === "scatter" || kind === "atomic" ? kind : "write");

/** The values that a statement which changes something is given, in order; undefined for other statements. */
function operandsOf(stmt: Stmt): readonly Expr[] | undefined {
  if (stmt.kind === "atomic") return [stmt.expected, stmt.value].filter((operand) => operand !== undefined);
  return changeOf(stmt) && "value" in stmt ? [stmt.value!] : undefined;
}

function withOperands(stmt: Stmt, indices: Expr[], operands: readonly Expr[]): Stmt {
  const value = operands.at(-1);
  if (stmt.kind === "setElement") return { ...stmt, index: indices[0]!, value: value! };
  if (stmt.kind !== "atomic") return { ...stmt, indices, value } as Stmt;
  return { ...stmt, indices, ...(value && { value }), ...(stmt.expected && { expected: operands[0]! }) };
}

/** How often the code names an element of some array. */
function accessesOf({ body }: KernelIR): number {
  let count = 0;
  walkExprs(body, (e) => void (readOf(e) && count++));
  walkStmts(body, (stmt) => void (changeOf(stmt)?.indices.length && count++));
  return count;
}

/** True where all members of a team pass something together inside: none may leave the loop alone. */
function hasTeamSteps(loop: Stmt): boolean {
  let found = false;
  walkStmts([loop], ({ kind }) => (found ||= kind === "teamFor" || kind === "teamReduce" || kind === "single"));
  return found;
}
