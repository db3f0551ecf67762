/*
 * Kernels of CUDA Fortran that find their element by the thread's index: which variable runs along which axis of the grid, from where, and,
 * where a guard says so, to where.
 */

import type { Assign, Expr, Name, Procedure, Stmt } from "../tree/index.js";
import { eachNode, namesInTree } from "./visit.js";

interface ThreadAxis {
  readonly variable: string;
  readonly axis: "x" | "y" | "z";
  /** Value for the first thread. */
  readonly start: Expr;
  /** The last element, by the guard; undefined if the kernel covers its launch grid exactly. */
  readonly stop?: Expr;
}

export interface ThreadIndices {
  /** From x to z. */
  readonly axes: readonly ThreadAxis[];
  /** Statements of an element. */
  readonly body: readonly Stmt[];
  /** Conditions of the guard that bound no axis: elements where one holds are left out. */
  readonly leftOut: readonly Expr[];
}

const BUILT_IN: readonly string[] = ["threadidx", "blockidx", "blockdim", "griddim"];

/** Whether a statement gives the thread's index in the one form that becomes a loop. */
export const isThreadIndex = (s: Stmt): boolean => s.kind === "assign" && indexOf(s) !== undefined;

/** Places where a tree reads the thread's index, or the launch's sizes. */
export function threadReads(tree: unknown): Extract<Expr, { kind: "name" }>[] {
  const found: Extract<Expr, { kind: "name" }>[] = [];
  eachNode(tree, (node) => {
    if (node.kind === "name" && BUILT_IN.includes((node as Extract<Expr, { kind: "name" }>).name))
      found.push(node as Extract<Expr, { kind: "name" }>);
  });
  return found;
}

/** Undefined if the first statements do not tell each axis, or others read the thread's index, too. */
export function threadIndices(procedure: Procedure): ThreadIndices | undefined {
  const found: { variable: string; axis: ThreadAxis["axis"]; start: Expr }[] = [];
  let rest = procedure.body;
  const bounds = new Map<string, Expr>();
  const leftOut: Expr[] = [];
  const lines: string[] = [];
  /** Assignments among the indices: what they give stands for their names in bounds. */
  const kept: Assign[] = [];
  const values = new Map<string, Expr>();
  const meant = (e: Expr): Expr => replaced(e, (node) => (node.kind === "name" ? values.get(node.name) : undefined));
  for (let s = rest[0]; s; s = rest[0]) {
    const index = s.kind === "assign" ? indexOf({ ...s, value: meant(s.value) }) : undefined;
    const guard = index ? undefined : guardOf(s, rest.length === 1 || rest.slice(1).every((next) => next.kind === "comment"));
    if (index && !namesInTree(kept).has(index.variable) && !found.some(({ variable }) => variable === index.variable)) found.push(index);
    else if (guard && found.length > 0) for (const condition of guard.outside) bound(meant(condition), found, bounds, leftOut);
    else if (s.kind === "assign" && s.target.kind === "name" && isOnce(s.target.name, s)) {
      const value = meant(s.value);
      values.set(s.target.name, value.kind === "binary" || value.kind === "unary" ? { kind: "group", a: value, at: s.at } : value);
      kept.push(s);
    } else break;
    if (s !== kept.at(-1)) lines.push(...(s.before ?? []));
    rest = guard?.inside ?? rest.slice(1);
    if (guard?.inside) break;
  }
  const isUsed = ({ target }: Assign): boolean => namesInTree([rest, kept.map(({ value }) => value)]).has((target as Name).name);
  rest = [...kept.filter((s) => threadReads(s).length === 0 || isUsed(s)), ...rest];
  if (rest[0] && lines.length > 0)
    rest = [{ ...rest[0], before: [...lines.filter((line) => line !== ""), ...(rest[0].before ?? [])] }, ...rest.slice(1)];
  if (found.length === 0 || threadReads([rest, leftOut, [...bounds.values()], found.map(({ start }) => start)]).length > 0)
    return undefined;
  const axes = found
    .map((index): ThreadAxis => ({ ...index, ...(bounds.has(index.variable) && { stop: bounds.get(index.variable)! }) }))
    .sort((a, b) => (a.axis < b.axis ? -1 : 1));
  const along = axes.map(({ axis }) => axis);
  return new Set(along).size === along.length ? { axes, body: rest, leftOut } : undefined;

  /** Whether this is the one assignment of a variable of the kernel's own, before anything reads it. */
  function isOnce(name: string, s: Assign): boolean {
    let count = 0;
    eachNode(procedure.body, (node) => {
      const { target, variable } = node as { target?: Expr; variable?: string };
      const assigns = node.kind === "assign" && target?.kind === "name" && target.name === name;
      if (assigns || variable === name || (node.kind === "call" && namesInTree(node).has(name))) count++;
    });
    const isOwn = procedure.declarations.some((d) => d.kind === "variables" && d.names.some((each) => each.name === name));
    return count === 1 && isOwn && !procedure.dummies.includes(name) && !namesInTree([s.value, kept]).has(name);
  }
}

/** The elements of a kernel that is launched with any grid: one for each thread, counted from 1. */
export function gridThreads(procedure: Procedure): ThreadIndices {
  const { at } = procedure;
  const name = (text: string): Expr => ({ kind: "name", name: text, at });
  const integer: Expr = { kind: "literal", type: "integer", text: "1", at };
  const two = (op: "+" | "-" | "*" | "/", a: Expr, b: Expr): Expr => ({ kind: "group", a: { kind: "binary", op, a, b, at }, at });
  const used = new Set(["x"]);
  const body = replaced(procedure.body, (node) => {
    for (const axis of ["x", "y", "z"]) {
      const rest = node.kind === "binary" ? withoutThread(termsOf(node), axis) : undefined;
      if (rest) {
        used.add(axis);
        return sumOf([{ sign: 1, e: name(threadName(axis)) }, ...rest], 0, at);
      }
      const base = node.kind === "part" && BUILT_IN.find((each) => componentOf(node, each) === axis);
      if (!base) continue;
      used.add(axis);
      const [place, size] = [two("-", name(threadName(axis)), integer), name(sizeName("block", axis))];
      if (base === "blockdim") return size;
      if (base === "griddim") return name(sizeName("grid", axis));
      const args = [place, size].map((value) => ({ kind: "value" as const, value }));
      return two(
        "+",
        base === "blockidx" ? two("/", place, size) : { kind: "apply", base: { kind: "name", name: "mod", at }, args, at },
        integer,
      );
    }
    return undefined;
  });
  const axes = (["x", "y", "z"] as const).filter((axis) => used.has(axis) || (axis === "y" && used.has("z")));
  const stop = (axis: string): Expr => two("*", name(sizeName("grid", axis)), name(sizeName("block", axis)));
  return { axes: axes.map((axis) => ({ variable: threadName(axis), axis, start: integer, stop: stop(axis) })), body, leftOut: [] };
}

/** Statements of a block's thread, with its index and the block's under names, counted from 1. */
export const blockThreads = ({ body }: Procedure): readonly Stmt[] =>
  replaced(body, (node) => {
    if (node.kind !== "part" || node.base.kind !== "name" || !BUILT_IN.includes(node.base.name)) return undefined;
    const { base, name, at } = node;
    return {
      kind: "name",
      name: `${base.name.replace("idx", "").replace("dim", "Dim")}_${/dim/.test(base.name) ? name : name.toUpperCase()}`,
      at,
    };
  });

/** Names that no program has: Fortran's names are lower case. */
export const threadName = (axis: string): string => `thread_${axis.toUpperCase()}`;
export const blockName = (axis: string): string => `block_${axis.toUpperCase()}`;
/** The third number of a launch: bytes of shared memory. */
export const SHARED_BYTES = "shared_Bytes";
/** The blocks of a launch, or the threads of a block, along an axis. */
export const sizeName = (of: "grid" | "block", axis: string): string => `${of}Dim_${axis}`;

/** A tree with other nodes in places that `change` gives. */
function replaced<T>(tree: T, change: (node: { readonly kind: string } & Expr) => Expr | undefined): T {
  if (Array.isArray(tree)) return tree.map((item) => replaced(item, change)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  const made = "kind" in tree ? change(tree as never) : undefined;
  if (made) return made as T;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, key === "at" ? value : replaced(value, change)])) as T;
}

/** `i = blockdim%x*(blockidx%x-1) + threadidx%x + e`, in any order of its terms. */
function indexOf(s: Assign): { variable: string; axis: ThreadAxis["axis"]; start: Expr } | undefined {
  if (s.target.kind !== "name") return undefined;
  const terms = termsOf(s.value);
  for (const axis of ["x", "y", "z"] as const) {
    const more = withoutThread(terms, axis);
    if (more) return { variable: s.target.name, axis, start: sumOf(more, 1, s.value.at) };
  }
  return undefined;
}

/** Terms of `blockdim%x*(blockidx%x-1) + threadidx%x + e` besides the thread; undefined for another sum. */
function withoutThread(terms: readonly Term[], axis: string): Term[] | undefined {
  const thread = terms.findIndex(({ sign, e }) => sign > 0 && componentOf(e, "threadidx") === axis);
  const block = terms.findIndex(({ sign, e }) => sign > 0 && isBlockOffset(e, axis));
  return thread < 0 || block < 0 ? undefined : terms.filter((_, n) => n !== thread && n !== block);
}

/** `blockdim%x*(blockidx%x-1)` */
function isBlockOffset(e: Expr, axis: string): boolean {
  const product = ungrouped(e);
  if (product.kind !== "binary" || product.op !== "*") return false;
  const isIndex = (part: Expr): boolean => {
    const terms = termsOf(part);
    return terms.length === 2 && terms.some((t) => t.sign > 0 && componentOf(t.e, "blockidx") === axis) && constantOf(terms) === -1;
  };
  const isSize = (part: Expr): boolean => componentOf(part, "blockdim") === axis;
  return (isSize(product.a) && isIndex(product.b)) || (isIndex(product.a) && isSize(product.b));
}

function componentOf(e: Expr, base: string): string | undefined {
  const part = ungrouped(e);
  return part.kind === "part" && part.base.kind === "name" && part.base.name === base ? part.name : undefined;
}

/** `if (…) return`, or `if (…) then` around all that is left: conditions under which an element is left out. */
function guardOf(s: Stmt, last: boolean): { outside: Expr[]; inside?: readonly Stmt[] } | undefined {
  if (s.kind !== "if" || s.branches.length !== 1) return undefined;
  const [{ cond, body }] = s.branches;
  const real = body.filter((inner) => inner.kind !== "comment");
  if (!s.otherwise && real.length === 1 && real[0].kind === "return") return { outside: splitAt(cond, ".or.") };
  if (!last || s.otherwise) return undefined;
  return { outside: splitAt(cond, ".and.").map(negated), inside: body };
}

function splitAt(e: Expr, op: ".or." | ".and."): Expr[] {
  const inner = ungrouped(e);
  if (inner.kind === "unary" && inner.op === ".not.") return splitAt(inner.a, op === ".or." ? ".and." : ".or.").map(negated);
  return inner.kind === "binary" && inner.op === op ? [...splitAt(inner.a, op), ...splitAt(inner.b, op)] : [inner];
}

const OPPOSITE = { "<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "/=", "/=": "==" } as const;
const MIRRORED = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;
const isRelation = (op: string): op is keyof typeof OPPOSITE => Object.hasOwn(OPPOSITE, op);
const isOrder = (op: string): op is keyof typeof MIRRORED => Object.hasOwn(MIRRORED, op);

function negated(e: Expr): Expr {
  if (e.kind === "binary" && isRelation(e.op)) return { ...e, op: OPPOSITE[e.op] };
  if (e.kind === "unary" && e.op === ".not.") return e.a;
  return { kind: "unary", op: ".not.", a: { kind: "group", a: e, at: e.at }, at: e.at };
}

/** Takes `i > n`, `i >= n`, `n < i`, `n <= i` as the last element of an axis. */
function bound(condition: Expr, axes: readonly { variable: string }[], bounds: Map<string, Expr>, leftOut: Expr[]): void {
  const along = (e: Expr): string | undefined => axes.find(({ variable }) => e.kind === "name" && e.name === variable)?.variable;
  if (condition.kind === "binary" && isOrder(condition.op)) {
    const variable = along(condition.a) ?? along(condition.b);
    const op = along(condition.a) ? condition.op : MIRRORED[condition.op];
    const limit = along(condition.a) ? condition.b : condition.a;
    const isApart = !axes.some((axis) => namesInTree(limit).has(axis.variable));
    if (variable && isApart && !bounds.has(variable) && (op === ">" || op === ">="))
      return void bounds.set(variable, op === ">" ? limit : sumOf(termsOf(limit), -1, limit.at));
  }
  leftOut.push(condition);
}

const ungrouped = (e: Expr): Expr => (e.kind === "group" ? ungrouped(e.a) : e);

interface Term {
  readonly sign: 1 | -1;
  readonly e: Expr;
}

/** The terms of a sum, as integers may be reordered. */
function termsOf(e: Expr, sign: 1 | -1 = 1): Term[] {
  const inner = ungrouped(e);
  const turned = sign > 0 ? -1 : 1;
  if (inner.kind === "unary" && inner.op !== ".not.") return termsOf(inner.a, inner.op === "-" ? turned : sign);
  if (inner.kind !== "binary" || (inner.op !== "+" && inner.op !== "-")) return [{ sign, e: inner }];
  return [...termsOf(inner.a, sign), ...termsOf(inner.b, inner.op === "-" ? turned : sign)];
}

const isConstant = ({ e }: Term): boolean => e.kind === "literal" && e.type === "integer" && e.suffix === undefined;
const constantOf = (terms: readonly Term[]): number =>
  terms.filter(isConstant).reduce((sum, { sign, e }) => sum + sign * Number((e as Extract<Expr, { kind: "literal" }>).text), 0);

/** Terms and a constant, added up: `eul_imin-1`. */
function sumOf(terms: readonly Term[], more: number, at: Expr["at"]): Expr {
  const constant = constantOf(terms) + more;
  const integer = (value: number): Expr => ({ kind: "literal", type: "integer", text: String(value), at });
  const others = terms.filter((term) => !isConstant(term)).sort((a, b) => b.sign - a.sign);
  const [first, ...rest] = others;
  if (!first) return constant < 0 ? { kind: "unary", op: "-", a: integer(-constant), at } : integer(constant);
  let sum: Expr = first.sign > 0 ? first.e : { kind: "unary", op: "-", a: first.e, at };
  for (const { sign, e } of rest) sum = { kind: "binary", op: sign > 0 ? "+" : "-", a: sum, b: e, at };
  return constant === 0 ? sum : { kind: "binary", op: constant > 0 ? "+" : "-", a: sum, b: integer(Math.abs(constant)), at };
}
