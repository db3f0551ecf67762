import type { Expr, KernelIR, Stmt } from "../types.js";
import { assignedLocals, declares, mapExpr, mapStmts, sizeOf, someExpr, walkExprs, walkStmts } from "../walk.js";
import { literal } from "../simplify.js";
import { copyBody, Names } from "./copy.js";

type Loop = Extract<Stmt, { kind: "for" }>;

/** Statements and expressions of an element, and values that it carries through a loop: with more of them, two want more registers than there are. */
const MOST = { nodes: 60, carried: 2 };

/** Values that a loop's turns have in common for all elements. */
const SETTLED: ReadonlySet<Expr["op"]> = new Set(["const", "param", "extent", "binary"]);

/**
 * A kernel whose elements each do the work of two neighbours along `axis`, which is not the last one: for loops in which both read the same, such as a
 * matrix product's. Its index along the axis takes every second value. Undefined where that does not pay, or turns of loops may differ.
 */
export function pairRows(ir: KernelIR, axis: number): KernelIR | undefined {
  if (ir.checks || ir.prints || sizeOf(ir.body) > MOST.nodes || !ir.params.every(({ kind }) => kind === "view" || kind === "scalar"))
    return undefined;
  const loops: Loop[] = [];
  let plain = true;
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "for") loops.push(stmt);
    else if (stmt.kind !== "let" && stmt.kind !== "assign" && stmt.kind !== "store") plain = false;
  });
  walkExprs(ir.body, ({ op }) => void (op === "call" && (plain = false)));
  if (!plain || !loops.every(({ start, stop }) => isSettled(start) && isSettled(stop))) return undefined;
  if (!loops.some((loop) => sharesLoads(ir, loop, axis)) || loops.some((loop) => carriedBy(loop).length > MOST.carried)) return undefined;
  const next = (node: Expr): Expr =>
    node.op === "index" && node.axis === axis ? { op: "binary", type: "i32", fn: "add", a: node, b: literal("i32", 1) } : node;
  return { ...ir, body: together(ir.body, copyBody(ir.body, "next", new Names(ir), next)) };
}

const isSettled = (e: Expr): boolean => !someExpr(e, ({ op }) => !SETTLED.has(op));

/** Whether a turn reads at the index of the last axis, at a place that does not depend on `axis`. */
function sharesLoads(ir: KernelIR, { name, body }: Loop, axis: number): boolean {
  const last = ir.policy.kind === "range" ? ir.policy.rank - 1 : -1;
  let shares = false;
  walkExprs(body, (e) => {
    if (e.op !== "load" || e.indices.length < 2) return;
    const [inner, ...others] = [...e.indices].reverse();
    const isPlain = others.every(
      (index) => !someExpr(index, (x) => x.op !== "const" && !(x.op === "local" && x.name === name) && x.op !== "binary"),
    );
    shares ||= inner?.op === "index" && inner.axis === last && axis !== last && isPlain;
  });
  return shares;
}

function carriedBy({ body }: Loop): string[] {
  const own = new Set<string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => own.add(name)));
  return [...assignedLocals(body)].filter((name) => !own.has(name));
}

/** The statements of two elements by turns, and each loop once for both. */
function together(first: readonly Stmt[], second: readonly Stmt[]): Stmt[] {
  return first.flatMap((stmt, n): Stmt[] => {
    const other = second[n]!;
    if (stmt.kind !== "for" || other.kind !== "for") return [stmt, other];
    const counter = (node: Expr): Expr => (node.op === "local" && node.name === other.name ? { ...node, name: stmt.name } : node);
    return [{ ...stmt, body: together(stmt.body, mapStmts(other.body, { expr: (root) => mapExpr(root, counter) })) }];
  });
}
