import { and, ge, int, not } from "../expressions.js";
import { literal } from "../simplify.js";
import { indexNames, printExpr } from "../print.js";
import type { Unproved } from "../analysis/proofs.js";
import { arrayShapes } from "../analysis/bounds.js";
import { define, localOf } from "../by-name.js";
import type { CheckSite, Expr, KernelIR, Location, Stmt } from "../types.js";
import { changeOf, mapBlocks, mapChildren, mapOwnExprs, readOf, walkStmts } from "../walk.js";
import { Names } from "./copy.js";

/** What the record of a launch's first failure holds, an i32 each; all are 0 before. */
export const FAULT = {
  /** 1 while somebody writes, where elements run at the same time. */
  lock: 0,
  /** 1 once there is a failure. */
  failed: 1,
  /** Its site, and the index. */
  site: 2,
  index: 3,
  /** The element's index along each axis of the range; of a team, its rank. The first failure is that of the first element in row-major order. */
  element: 4,
  /** Entries. */
  length: 8,
} as const;

/**
 * The kernel with those indices checked that are not proved: a read outside gives 0, what is written outside is dropped, and the failure is
 * recorded in a new view, the last parameter. Loops that may wait for a value end once their element has failed. It is the last pass: those
 * that change expressions take them to have no side effects.
 *
 * @param unproved from `unprovedAccesses`, of this very code
 * @param empty arrays without elements, of which there is none to read in place of another
 */
export function checkIndices(ir: KernelIR, unproved: ReadonlyMap<Expr | Stmt, Unproved>, empty: ReadonlySet<string>): KernelIR {
  const names = new Names(ir);
  const lengths = arrayShapes(ir);
  const sites: CheckSite[] = [];
  const record = names.fresh("faults");

  const limit = (array: string, axis: number): Expr => {
    const shape = lengths.get(array);
    return shape ? int(shape[axis]) : { op: "extent", type: "i32", view: array, axis };
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
    // Of an array without elements nothing is read.
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
    const found = unproved.get(before);
    const change = changeOf(before);
    if (!found || !change || !("value" in mapped)) return [mapped];
    // As JavaScript does: the indices, the value, then whether the element is there.
    const text = `${change.name}${change.indices.map((index) => `[${printExpr(index, indexNames(ir))}]`).join("")}`;
    const kind = change.kind === "scatter" ? "scatter" : "write";
    const lets: Stmt[] = [];
    const local = (wish: string, init: Expr): Expr => {
      const name = names.fresh(wish);
      lets.push(define(name, init, location));
      return localOf(name, init.type);
    };
    const indices = changeOf(mapped)!.indices.map((index) => local("at", index));
    const value = local("value", mapped.value);
    const checks = found.axes.map((axis): Expr => {
      const number = site(kind, change.name, text, axis, location);
      const checked: Expr = {
        op: "checked",
        type: "i32",
        index: indices[axis],
        extent: limit(change.name, axis),
        otherwise: -1,
        site: number,
      };
      return ge(local("inside", checked), 0);
    });
    const then: Stmt = mapped.kind === "setElement" ? { ...mapped, index: indices[0], value } : ({ ...mapped, indices, value } as Stmt);
    return [...lets, { kind: "if", cond: checks.reduce((a, b) => and(a, b)), then: [then], else: [], location }];
  };

  const body = ir.body.flatMap(stmt);
  const view = { kind: "view", name: record, element: "i32", rank: 1, disjoint: true } as const;
  return { ...ir, params: [...ir.params, view], body, checks: { record, sites } };
}

/** True where all members of a team pass something together inside: none may leave the loop alone. */
function hasTeamSteps(loop: Stmt): boolean {
  let found = false;
  walkStmts([loop], ({ kind }) => (found ||= kind === "teamFor" || kind === "teamReduce" || kind === "single"));
  return found;
}
