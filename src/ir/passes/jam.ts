import { jsonText } from "../../base/json.js";
import { affineOf, definitionsOf, type Definitions } from "../analysis/affine.js";
import { copyBody, FreshNames } from "./copy.js";
import { literal, simplify } from "../simplify.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { BYTES, isFloat, isIndex } from "../scalars.js";
import { exprsOf, mapExpr, sizeOf, someExpr, walkExpr, walkExprs, walkStmts, changedIn, assignedLocals } from "../walk.js";

/** Neighbouring elements of a range, worked on together: what several of them read is read once. */
export interface Jam {
  /** Elements. */
  readonly count: number;
  /** The body holds where this is true; absent: always. */
  readonly guard: Expr | undefined;
  readonly body: readonly Stmt[];
}

/** The share of the loads that two elements must have in common, and that which makes four worthwhile. */
const COMMON = { two: 0.1, four: 0.3 };
/** Nodes of the elements together, of two and of four: more have not the registers. */
const MAX_NODES = { two: 2000, four: 24000 };
/** Operations for each value that an element reads: with more, time goes into these, and they want the registers. */
const MOST_OPERATIONS = 32;

/**
 * Joins the element at the policy's indices and the next one or three along `axis`, if they read enough in common: statements that read the
 * same are placed side by side, and their writes come last. The uniform head of the body (see `splitUniform`) is left out. The order of
 * reductions changes. If an `if` encloses the work, all take the first branch, under the guard; so do places that differ near the ends of the
 * axis, as on periodic grids. `asked` fixes the number of elements, whatever they read; undefined for one, and if indices are checked.
 * @param stride from one of them to the next
 */
export function jam(ir: KernelIR, axis: number, asked?: number, stride = 1): Jam | undefined {
  if (asked === 1 || ir.checks || ir.prints || ir.policy.kind !== "range" || ir.params.some((param) => param.kind === "scatter"))
    return undefined;
  const single = straighten(splitUniform(ir.body, axis).rest, storedIn(ir.body), axis);
  if (!single) return undefined;
  const moved = (by: number) => (node: Expr) =>
    node.op === "index" && node.axis === axis
      ? { op: "binary" as const, type: "i32" as const, fn: "add" as const, a: node, b: literal("i32", by * stride) }
      : simplify(node);
  const elements = (count: number) => {
    const names = new FreshNames(ir);
    return [single.body, ...others(count).map((n) => copyBody(single.body, `next${n}`, names, moved(n)))];
  };
  const loads = loadsOf(single.body).size;
  const common = asked === undefined ? 1 - loadsOf(elements(2).flat()).size / (2 * loads) : 1;
  const count = asked ?? (common >= COMMON.four ? 4 : 2);
  if (!(common >= COMMON.two) || count * sizeOf(single.body) > (count === 2 ? MAX_NODES.two : MAX_NODES.four)) return undefined;
  if (asked === undefined && floatOperations(single.body) > MOST_OPERATIONS * loads) return undefined;
  const guards = [...single.guards, ...others(count).flatMap((n) => single.guards.map((guard) => mapExpr(guard, moved(n))))];
  return { count, guard: guards.length > 0 ? guards.reduce(and) : undefined, body: interleave(elements(count)) };
}

/** Bytes that an element reads and writes if it takes every branch, its neighbours' left out, as each is another's own; infinite where it loops. */
export function movedBytes(ir: KernelIR): number {
  const stmts: Stmt[] = [];
  walkStmts(ir.body, (stmt) => void stmts.push(stmt));
  if (!stmts.every(({ kind }) => kind === "if" || STRAIGHT.has(kind))) return Infinity;
  const widths = new Map(ir.params.flatMap((param) => (param.kind === "view" ? [[param.name, BYTES[param.element]]] : [])));
  const definitions = definitionsOf(ir.body);
  const moved = new Map(loadsOf(stmts, definitions, streamOf));
  for (const stmt of stmts)
    if (stmt.kind === "store")
      moved.set(`to ${[stmt.view, ...stmt.indices.map((index) => streamOf(index, definitions))].join()}`, stmt.view);
  return [...moved.values()].reduce((sum, view) => sum + widths.get(view)!, 0);
}

/**
 * Number of elements that a thread works on together to move `bytes`: 1, 2 or 4. One if they loop, read nothing, compute for long, or branch by a
 * value that is unknown beforehand.
 */
export function elementsToMove(ir: KernelIR, axis: number, bytes: number): number {
  const single = straighten(splitUniform(ir.body, axis).rest, storedIn(ir.body), axis);
  const { size = 0 } = single ? loadsOf(single.body) : {};
  if (size === 0 || floatOperations(single!.body) > MOST_OPERATIONS * size) return 1;
  const each = movedBytes(ir);
  return [1, 2].find((count) => count * each >= bytes) ?? 4;
}

const others = (count: number): number[] => Array.from({ length: count - 1 }, (_, n) => n + 1);
const and = (a: Expr, b: Expr): Expr => ({ op: "logical", type: "bool", fn: "and", a, b });

/**
 * Locals at the head of a body that are the same for all elements along `axis`, and the rest: what is read for them is not written.
 * @param shared locals from around the body that are the same
 */
export function splitUniform(
  body: readonly Stmt[],
  axis: number,
  shared: Iterable<string> = [],
): { head: readonly Stmt[]; rest: readonly Stmt[] } {
  const written = storedIn(body);
  const known = new Set<string>(shared);
  const changes = (node: Expr) =>
    (node.op === "index" && node.axis === axis) ||
    node.op === "element" ||
    node.op === "checked" ||
    node.op === "failed" ||
    (node.op === "load" && written.has(node.view)) ||
    (node.op === "local" && !known.has(node.name));
  const isLocal = (stmt: Stmt) => stmt.kind === "let" && stmt.init !== undefined;
  const length = body.findIndex((stmt) => !isLocal(stmt));
  const head = body.slice(0, length < 0 ? body.length : length).filter((stmt) => {
    if (stmt.kind !== "let" || someExpr(stmt.init!, changes)) return false;
    known.add(stmt.name);
    return true;
  });
  const assigned = new Set<string>();
  for (const name of assignedLocals(body)) assigned.add(name);
  if (head.some((stmt) => stmt.kind === "let" && assigned.has(stmt.name))) return { head: [], rest: body };
  return { head, rest: body.filter((stmt) => !head.includes(stmt)) };
}

interface Straight {
  readonly guards: readonly Expr[];
  readonly body: readonly Stmt[];
}

/** The body without branches and loops, and what must be true for it; undefined if it cannot be told before anything runs. */
function straighten(body: readonly Stmt[], written: ReadonlySet<string>, axis: number): Straight | undefined {
  const guards: Expr[] = [];
  const flat: Stmt[] = [];
  const late = (node: Expr) => node.op === "local" || node.op === "element" || (node.op === "load" && written.has(node.view));
  for (const stmt of body) {
    const condition = conditionOf(stmt, axis);
    if (condition) {
      guards.push(condition.cond);
      flat.push(condition.near);
    } else if (stmt.kind === "if") {
      const inner = someExpr(stmt.cond, late) ? undefined : straighten(stmt.then, written, axis);
      if (!inner) return undefined;
      guards.push(stmt.cond, ...inner.guards);
      flat.push(...inner.body);
    } else if (STRAIGHT.has(stmt.kind)) flat.push(stmt);
    else return undefined;
  }
  return { guards, body: flat };
}

/** Condition under which a place differs near the ends of the axis, and the statement that applies then. */
function conditionOf(stmt: Stmt, axis: number): { cond: Expr; near: Stmt } | undefined {
  if (stmt.kind !== "let" || !isIndex(stmt.type) || stmt.init?.op !== "select") return undefined;
  const { cond, a: near } = stmt.init;
  const isByIndex = cond.op === "compare" && cond.a.op === "index" && cond.a.axis === axis && cond.b.op === "const";
  return isByIndex ? { cond, near: { ...stmt, init: near } } : undefined;
}

const STRAIGHT: ReadonlySet<Stmt["kind"]> = new Set(["let", "assign", "array", "setElement", "store", "reduce"]);
const LAST: ReadonlySet<Stmt["kind"]> = new Set(["store", "reduce"]);

/** The elements' statements, each in its own order. */
function interleave(elements: readonly (readonly Stmt[])[]): Stmt[] {
  const definitions = definitionsOf(elements.flat());
  const parts = elements.map((body) => {
    const end = body.findLastIndex((stmt) => !LAST.has(stmt.kind)) + 1;
    return {
      reading: body.slice(0, end).map((stmt): Reading => ({ stmt, loads: [...loadsOf([stmt], definitions).keys()] })),
      writing: body.slice(end),
    };
  });
  const read = parts.map(({ reading }) => reading).reduce(align);
  return [...read.map(({ stmt }) => stmt), ...turns(parts.map(({ writing }) => writing))];
}

/** A statement and what it reads. */
interface Reading {
  readonly stmt: Stmt;
  readonly loads: readonly string[];
}

/** Merges two sequences so that as many statements as can be stand beside one that reads the same; between these they take turns. */
function align(a: readonly Reading[], b: readonly Reading[]): Reading[] {
  const common = (i: number, j: number) => a[i]!.loads.reduce((sum, load) => sum + (b[j]!.loads.includes(load) ? 1 : 0), 0);
  const width = b.length + 1;
  /** Loads in common from a[i] and b[j] on, at best. */
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * width + j] = Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!, common(i, j) + best[(i + 1) * width + j + 1]!);
  const merged: Reading[] = [];
  let [i, j, fromA, fromB] = [0, 0, 0, 0];
  while (i < a.length && j < b.length) {
    const here = best[i * width + j];
    const shared = common(i, j);
    if (shared > 0 && here === shared + best[(i + 1) * width + j + 1]!) {
      merged.push(...turns([a.slice(fromA, i), b.slice(fromB, j)]), a[i]!, b[j]!);
      [fromA, fromB] = [++i, ++j];
    } else if (here === best[(i + 1) * width + j]) i++;
    else j++;
  }
  return [...merged, ...turns([a.slice(fromA), b.slice(fromB)])];
}

/** One of each list, then the next of each. */
function turns<T>(lists: readonly (readonly T[])[]): T[] {
  const length = Math.max(...lists.map((list) => list.length));
  return Array.from({ length }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat();
}

/** Operations on floating-point numbers in the text of a body. */
export function floatOperations(body: readonly Stmt[]): number {
  let count = 0;
  walkExprs(body, (node) => void (COMPUTES.has(node.op) && isFloat(node.type) && count++));
  return count;
}

const COMPUTES: ReadonlySet<Expr["op"]> = new Set(["binary", "unary", "call"]);

const storedIn = (body: readonly Stmt[]): Set<string> => changedIn(body, "view");

/** Views by the elements that straight statements read of them, told apart by linear forms of the indices; without those that are the same for all. */
function loadsOf(body: readonly Stmt[], definitions: Definitions = definitionsOf(body), key = keyOf): Map<string, string> {
  const loads = new Map<string, string>();
  const visit = (node: Expr) => {
    if (node.op === "load" && node.indices.some((index) => index.op !== "const"))
      loads.set([node.view, ...node.indices.map((index) => key(index, definitions))].join(), node.view);
  };
  for (const stmt of body) for (const expr of exprsOf(stmt)) walkExpr(expr, visit);
  return loads;
}

function keyOf(index: Expr, definitions: Definitions): string {
  const form = affineOf(index, definitions);
  return form ? JSON.stringify([form.constant, Object.entries(form.terms).sort()]) : jsonText(index);
}

/** The same of an index and of those that are a constant away from it; a constant, such as a component's, stays. */
function streamOf(index: Expr, definitions: Definitions): string {
  const form = affineOf(index, definitions);
  if (!form || Object.keys(form.terms).length === 0) return keyOf(index, definitions);
  return JSON.stringify(Object.entries(form.terms).sort());
}
