import type { Expr, KernelIR, Stmt } from "../types.js";
import { assignedLocals, declares, mapExpr, mapStmts, sizeOf, someExpr, walkExprs, walkStmts } from "../walk.js";
import { literal, simplify } from "../simplify.js";
import { copyBody, FreshNames } from "./copy.js";

type Loop = Extract<Stmt, { kind: "for" }>;

/** Statements and expressions of an element, and values that it carries through a loop: with more of them, two want more registers than there are. */
const MOST = { nodes: 60, carried: 2 };

/** Values that a loop's turns have in common for all elements. */
const SETTLED: ReadonlySet<Expr["op"]> = new Set(["const", "param", "extent", "binary", "compare"]);

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
  return { ...ir, body: together(ir.body, copyBody(ir.body, "next", new FreshNames(ir), next)) };
}

type Members = Extract<Stmt, { kind: "teamFor" }>;

/** Statements that members may have that go in pairs. */
const PLAIN: ReadonlySet<Stmt["kind"]> = new Set(["let", "assign", "store", "setElement", "if", "for", "teamFor"]);

/** The kernel with members of teams that each do the work of two neighbours, where the loops of their lanes read the same; itself where none do. */
export function pairMembers(ir: KernelIR): KernelIR {
  if (ir.policy.kind !== "team" || ir.checks || ir.prints) return ir;
  const names = new FreshNames(ir);
  const body = ir.body.map((stmt) => (stmt.kind === "teamFor" && mayPair(stmt) ? inPairs(stmt, names) : stmt));
  return body.some((stmt, n) => stmt !== ir.body[n]) ? { ...ir, body } : ir;
}

function inPairs(members: Members, names: FreshNames): Stmt {
  const { name, count, body } = members;
  const place = (by: number) => (node: Expr) =>
    node.op === "local" && node.name === name
      ? simplify({
          op: "binary",
          type: "i32",
          fn: "add",
          a: { op: "binary", type: "i32", fn: "mul", a: node, b: literal("i32", 2) },
          b: literal("i32", by),
        })
      : node;
  const first = mapStmts(body, { expr: (root) => mapExpr(root, place(0)) });
  return {
    ...members,
    count: literal("i32", Number((count as { value: number }).value) / 2),
    body: together(first, copyBody(body, "next", names, place(1))),
  };
}

function mayPair({ name, count, body }: Members): boolean {
  if (count.op !== "const" || Number(count.value) % 2 > 0 || sizeOf(body) > 2 * MOST.nodes) return false;
  const own = new Set([name]);
  const loops: Loop[] = [];
  let [plain, shares] = [true, false];
  walkStmts(body, (stmt) => {
    plain &&= PLAIN.has(stmt.kind);
    if (stmt.kind === "for") plain &&= isSettled(stmt.start) && isSettled(stmt.stop) && carriedBy(stmt).length <= MOST.carried;
    if (stmt.kind === "teamFor") plain &&= isSettled(stmt.count);
    if (stmt.kind === "if") plain &&= isSettled(stmt.cond);
    if (stmt.kind === "let" && (!stmt.init || someExpr(stmt.init, (x) => x.op === "local" && own.has(x.name)))) own.add(stmt.name);
    if (stmt.kind === "for") loops.push(stmt);
  });
  for (const loop of loops)
    walkExprs(loop.body, (e) => {
      plain &&= e.op !== "call";
      shares ||=
        e.op === "load" && e.indices.length > 1 && !e.indices.some((index) => someExpr(index, (x) => x.op === "local" && own.has(x.name)));
    });
  return plain && shares;
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

/** The statements of two elements by turns, and each loop, and what a settled condition guards, once for both. */
function together(first: readonly Stmt[], second: readonly Stmt[]): Stmt[] {
  return first.flatMap((stmt, n): Stmt[] => {
    const other = second[n]!;
    if (stmt.kind === "if" && other.kind === "if")
      return [{ ...stmt, then: together(stmt.then, other.then), else: together(stmt.else, other.else) }];
    if ((stmt.kind !== "for" && stmt.kind !== "teamFor") || (other.kind !== "for" && other.kind !== "teamFor")) return [stmt, other];
    const counter = (node: Expr): Expr => (node.op === "local" && node.name === other.name ? { ...node, name: stmt.name } : node);
    return [{ ...stmt, body: together(stmt.body, mapStmts(other.body, { expr: (root) => mapExpr(root, counter) })) }];
  });
}
