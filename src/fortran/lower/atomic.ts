import { analyseAccess } from "../../ir/analysis/access.js";
import { checkRaces } from "../../ir/analysis/races.js";
import { KernelError } from "../../ir/errors.js";
import { binary, load, unary } from "../../ir/expressions.js";
import { optimise } from "../../ir/passes/optimise.js";
import type { KernelIR, Location, Param, ScatterOp, Stmt, ViewParam } from "../../ir/types.js";
import { mapStmts, walkExprs, walkStmts } from "../../ir/walk.js";
import { bodiesOf } from "../analyse/visit.js";
import { bare, expressionsOf, walkExpr } from "../analyse/walk.js";
import { text } from "../analyse/writes.js";
import type { Assign, Directed, Expr as Tree, Stmt as TreeStmt } from "../tree/index.js";
import { designated, valueAs } from "./expressions.js";
import type { Frame, Lowering } from "./lowering.js";
import { treeName, Unlowerable } from "./values.js";

/* Statements that iterations run one at a time: `atomic` and `critical`. */

/** Whether a directive asks for that. */
export const isExclusive = ({ directive: { words } }: Directed): boolean => words[0] === "atomic" || words[0] === "critical";

/** `x(i) = x(i) + e` folds into the array. What other statements write is proved to be each iteration's own, by `settled` and `prove`. */
export function exclusive(cx: Lowering, stmt: Directed, frame: Frame): void {
  const what = stmt.directive.words.join(" ");
  const plainly = (): void => cx.parts.statements(cx, stmt.body, frame);
  // One number is read or written as a whole in any case.
  if (what === "atomic read") return plainly();
  refuseScalars(stmt, frame, what);
  if (what === "atomic write") return plainly();
  const [only] = stmt.body;
  const isUpdate = what === "atomic" || what === "atomic update";
  if (isUpdate && only?.kind === "assign" && folded(cx, only, frame)) return;
  const made = cx.collect(plainly);
  walkStmts(made, (inner) => void (inner.kind === "store" && cx.exclusive.set(inner.view, { at: stmt.at })));
  for (const inner of made) cx.push(inner);
}

/** Scalars that iterations share are results of kernels as reductions alone. */
function refuseScalars({ body, at }: Directed, { meanings }: Frame, what: string): void {
  const read = new Set<string>();
  const assigned = new Set<string>();
  const look = (list: readonly TreeStmt[]): void => {
    for (const stmt of list) {
      if (stmt.kind === "assign" && stmt.target.kind === "name") assigned.add(stmt.target.name);
      for (const root of stmt.kind === "assign" ? [stmt.value] : expressionsOf(stmt))
        walkExpr(root, (e) => void (e.kind === "name" && read.add(e.name)));
      for (const inner of bodiesOf(stmt)) look(inner);
    }
  };
  look(body);
  const all = what === "critical" || what === "atomic write";
  const shared = [...assigned].find((name) => (all || read.has(name)) && meanings.get(name)?.kind !== "reduction");
  if (shared !== undefined)
    throw new Unlowerable(
      at,
      `${what}: ${shared}`,
      "iterations pass this scalar to each other",
      "name it in a reduction clause, or write to an element of an array that is the iteration's own",
    );
}

/** Lowers `x(i) = x(i) + e`, `x(i) - e`, `max(x(i), e)`; false of what devices do not fold. */
function folded(cx: Lowering, { target, value, at }: Assign, frame: Frame): boolean {
  const fold = target.kind === "apply" ? foldOf(value, target) : undefined;
  const found = fold && designated(cx, frame, target);
  if (!fold || !found || !("cell" in found) || found.array.type === "bool") return false;
  const { op, negative } = fold;
  const made = cx.collect(() => {
    const e = valueAs(cx, frame, found.array.type, fold.e);
    cx.push(found.cell.store(negative ? unary("neg", e) : e, at));
  });
  const store = made.pop()!;
  if (store.kind !== "store") return false;
  const before = cx.exclusive.get(store.view);
  if (before && before.op !== op) return false;
  cx.exclusive.set(store.view, { at, op });
  made.forEach((stmt) => cx.push(stmt));
  cx.push({ kind: "scatter", target: store.view, indices: store.indices, value: store.value, location: at });
  return true;
}

interface Fold {
  readonly op: ScatterOp;
  readonly e: Tree;
  readonly negative?: boolean;
}

function foldOf(value: Tree, target: Tree): Fold | undefined {
  const isIt = (e: Tree): boolean => text(e) === text(target);
  const e = bare(value);
  if (e.kind === "binary" && e.op === "+") return isIt(e.a) ? { op: "sum", e: e.b } : isIt(e.b) ? { op: "sum", e: e.a } : undefined;
  if (e.kind === "binary" && e.op === "-") return isIt(e.a) ? { op: "sum", e: e.b, negative: true } : undefined;
  const name = e.kind === "apply" ? treeName(e) : "";
  if (e.kind !== "apply" || (name !== "max" && name !== "min") || e.args.length !== 2) return undefined;
  const [a, b] = e.args.flatMap((arg) => (arg.kind === "value" ? [arg.value] : []));
  return isIt(a) ? { op: name, e: b } : isIt(b) ? { op: name, e: a } : undefined;
}

/** Arrays into which iterations only fold become scatter parameters; into others they store, and `prove` has to hold. */
export function settled(cx: Lowering, body: Stmt[]): { params: Param[]; body: Stmt[]; unproved: Map<string, Location> } {
  const unproved = new Map<string, Location>();
  const scattered = new Map<string, ScatterOp>();
  for (const [name, { at, op }] of cx.exclusive) {
    let used = op === undefined;
    walkExprs(body, (e) => void (used ||= e.op === "load" && e.view === name));
    walkStmts(body, (stmt) => void (used ||= stmt.kind === "store" && stmt.view === name));
    if (used || op === undefined) unproved.set(name, at);
    else scattered.set(name, op);
  }
  const params = cx.params.map((param): Param => {
    if (param.kind !== "view") return param;
    const { name, element, rank } = param;
    const op = scattered.get(name);
    if (op && element !== "u8") return { kind: "scatter", name, element, rank, op };
    return unproved.has(name) ? { ...param, disjoint: false } : param;
  });
  const stored = (stmt: Stmt): Stmt => {
    if (stmt.kind !== "scatter" || scattered.has(stmt.target)) return stmt;
    const { target, indices, value, location } = stmt;
    const op = cx.exclusive.get(target)?.op ?? "sum";
    const before = load(cx.params.find(({ name }) => name === target) as ViewParam, indices, location);
    return { kind: "store", view: target, indices, value: binary(op === "sum" ? "add" : op, before, value), location };
  };
  return { params, body: mapStmts(body, { stmt: stored }), unproved };
}

/** @throws Unlowerable where iterations may share an element of one of the arrays */
export function prove(ir: KernelIR, arrays: ReadonlyMap<string, Location>): void {
  if (arrays.size === 0) return;
  const optimised = optimise(ir);
  const access = analyseAccess(optimised);
  for (const [name, at] of arrays) {
    const params = optimised.params.map((param): Param =>
      param.kind === "view" && param.name !== name ? { ...param, disjoint: true } : param,
    );
    try {
      checkRaces({ ...optimised, params }, access);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      throw new Unlowerable(
        at,
        name,
        "iterations update elements of it that others read or write",
        "update it by `x(i) = x(i) + e`, `max` or `min` alone, and read it behind the loop",
      );
    }
  }
}
