import { isPacked } from "../../ir/scalars.js";
import { unary } from "../../ir/expressions.js";
import { own } from "../../base/own.js";
import type { KernelIR, Location, Param, ScatterOp, Stmt } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";
import { eachStatement, namesInTree } from "../analyse/visit.js";
import { bare, expressionsOf } from "../analyse/walk.js";
import { EXTREMES, text } from "../analyse/writes.js";
import type { Assign, Directed, Expr as Tree } from "../tree/index.js";
import { designated, valueAs } from "./expressions.js";
import type { ProcedureFrame, FortranLowering } from "./lowering.js";
import { racesIn } from "./races.js";
import { treeName, Unlowerable } from "./values.js";

/* Statements that iterations run one at a time: `atomic` and `critical`. */

/** Whether a directive asks for that. */
export const isExclusive = ({ directive: { words } }: Directed): boolean => words[0] === "atomic" || words[0] === "critical";

/** `x(i) = x(i) + e` folds into the array. What other statements write is proved to be each iteration's own, by `settled` and `prove`. */
export function exclusive(cx: FortranLowering, stmt: Directed, frame: ProcedureFrame): void {
  const what = stmt.directive.words.join(" ");
  const plainly = (): void => cx.parts.statements(cx, stmt.body, frame);
  // One number is read or written as a whole in any case.
  if (what === "atomic read") return plainly();
  refuseScalars(cx, stmt, frame, what);
  if (what === "atomic write") return plainly();
  const [only] = stmt.body;
  const isUpdate = what === "atomic" || what === "atomic update";
  if (isUpdate && only?.kind === "assign" && folded(cx, only, frame)) return;
  const made = cx.collect(plainly);
  walkStmts(made, (inner) => {
    const name = inner.kind === "store" ? inner.view : inner.kind === "setElement" ? inner.array : undefined;
    if (name !== undefined && cx.shared.has(name))
      throw new Unlowerable(stmt.at, what, `${name} is shared memory of a block`, "update an array in device memory");
    if (inner.kind === "store") cx.exclusive.set(inner.view, { at: stmt.at });
  });
  for (const inner of made) cx.push(inner);
}

/** Scalars that iterations share are results of kernels as reductions alone. */
function refuseScalars(cx: FortranLowering, { body, at }: Directed, { meanings }: ProcedureFrame, what: string): void {
  const read = new Set<string>();
  const assigned = new Set<string>();
  eachStatement(body, (stmt) => {
    if (stmt.kind === "assign" && stmt.target.kind === "name") assigned.add(stmt.target.name);
    for (const name of namesInTree(stmt.kind === "assign" ? stmt.value : expressionsOf(stmt))) read.add(name);
  });
  const all = what === "critical" || what === "atomic write";
  const isOnlyAssigned = (name: string): boolean => !read.has(name) && cx.assignedFirst.has(name);
  const isShared = (name: string): boolean => meanings.get(name)?.kind !== "reduction" && !isOnlyAssigned(name);
  const shared = [...assigned].find((name) => (all || read.has(name)) && isShared(name));
  if (shared !== undefined) throw new Unlowerable(at, `${what}: ${shared}`, "iterations share it", "name it in a reduction clause");
}

/** Lowers `x(i) = x(i) + e`, `x(i) - e`, `max(x(i), e)`; false of what devices do not fold. */
function folded(cx: FortranLowering, { target, value, at }: Assign, frame: ProcedureFrame): boolean {
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
  if (cx.shared.has(store.view)) return false;
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
  if (e.kind !== "apply" || e.args.length !== 2) return undefined;
  const op = own(EXTREMES, treeName(e));
  if (!op) return undefined;
  const [a, b] = e.args.flatMap((arg) => (arg.kind === "value" ? [arg.value] : []));
  return isIt(a) ? { op, e: b } : isIt(b) ? { op, e: a } : undefined;
}

const shared = (at: Location, name: string): Unlowerable =>
  new Unlowerable(
    at,
    name,
    "iterations update elements of it that others read or write",
    "update it by `x(i) = x(i) + e`, `max` or `min` only",
  );

/** Arrays into which iterations fold become scatter parameters; of others, `prove` has to hold. @throws Unlowerable of those that are used in both ways */
export function settled(cx: FortranLowering, body: Stmt[]): { params: Param[]; unproved: Map<string, Location> } {
  const folds = new Set<string>();
  const used = new Set<string>();
  walkExprs(body, (e) => void (e.op === "load" && used.add(e.view)));
  walkStmts(body, (stmt) => {
    if (stmt.kind === "scatter") folds.add(stmt.target);
    if (stmt.kind === "store") used.add(stmt.view);
  });
  const unproved = new Map<string, Location>();
  const params = cx.params.map((param): Param => {
    const exclusive = param.kind === "view" ? cx.exclusive.get(param.name) : undefined;
    if (param.kind !== "view" || !exclusive) return param;
    const { name, element, rank } = param;
    const { at, op } = exclusive;
    if (folds.has(name)) {
      if (!op || used.has(name) || isPacked(element)) throw shared(at, name);
      return { kind: "scatter", name, element, rank, op };
    }
    unproved.set(name, at);
    return { ...param, disjoint: false };
  });
  return { params, unproved };
}

/** @throws Unlowerable if iterations may share an element of one of the arrays */
export function prove(ir: KernelIR, arrays: ReadonlyMap<string, Location>): void {
  for (const name of racesIn(ir, new Set(arrays.keys())).keys()) throw shared(arrays.get(name)!, name);
}
