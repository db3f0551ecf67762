/*
 * Kernels of CUDA Fortran that find their element by the thread's index: which variable runs along which axis of the grid, from where, and,
 * where a guard says so, to where.
 */

import type { Problems } from "../errors.js";
import type { Expr, Procedure, Stmt } from "../tree/index.js";
import { eachNode } from "./visit.js";

export interface ThreadAxis {
  readonly variable: string;
  readonly axis: "x" | "y" | "z";
  /** Of the first thread. */
  readonly start: Expr;
  /** The last element, by the guard; undefined if the kernel covers its launch grid exactly. */
  readonly stop?: Expr;
}

export interface ThreadIndices {
  /** From x to z. */
  readonly axes: readonly ThreadAxis[];
  /** What an element does. */
  readonly body: readonly Stmt[];
  /** Conditions of the guard that bound no axis: elements where one holds are left out. */
  readonly leftOut: readonly Expr[];
}

const REMEDY = "write `i = blockdim%x*(blockidx%x-1) + threadidx%x`, or a team kernel";

/** Undefined of a procedure that is no kernel over threads, and where a problem was found. */
export function threadIndices(procedure: Procedure, problems: Problems): ThreadIndices | undefined {
  if (!procedure.attributes.includes("global")) return undefined;
  const found: { variable: string; axis: ThreadAxis["axis"]; start: Expr }[] = [];
  let rest = procedure.body;
  const bounds = new Map<string, Expr>();
  const leftOut: Expr[] = [];
  const lines: string[] = [];
  for (let s = rest[0]; s; s = rest[0]) {
    const index = s.kind === "assign" ? indexOf(s) : undefined;
    const guard = index ? undefined : guardOf(s, rest.length === 1 || rest.slice(1).every((next) => next.kind === "comment"));
    if (index) found.push(index);
    else if (guard && found.length > 0) for (const condition of guard.outside) bound(condition, found, bounds, leftOut);
    else break;
    lines.push(...(s.before ?? []));
    rest = guard?.inside ?? rest.slice(1);
    if (guard?.inside) break;
  }
  if (rest[0] && lines.length > 0)
    rest = [{ ...rest[0], before: [...lines.filter((line) => line !== ""), ...(rest[0].before ?? [])] }, ...rest.slice(1)];
  let good = true;
  eachNode(rest, (node) => {
    const name = (node as { name?: unknown }).name;
    if (node.kind !== "name" || !["threadidx", "blockidx", "blockdim", "griddim"].includes(String(name))) return;
    problems.add(
      (node as Extract<Expr, { kind: "name" }>).at,
      String(name),
      "the thread's index is read apart from the kernel's first lines",
      REMEDY,
    );
    good = false;
  });
  if (found.length === 0 && good)
    problems.add(procedure.at, `attributes(global) ${procedure.name}`, "no line gives the thread's index", REMEDY);
  if (found.length === 0 || !good) return undefined;
  const axes = found
    .map((index): ThreadAxis => ({ ...index, ...(bounds.has(index.variable) && { stop: bounds.get(index.variable)! }) }))
    .sort((a, b) => (a.axis < b.axis ? -1 : 1));
  return { axes, body: rest, leftOut };
}

/** `i = blockdim%x*(blockidx%x-1) + threadidx%x + e`, in any order of its terms. */
function indexOf(s: Extract<Stmt, { kind: "assign" }>): { variable: string; axis: ThreadAxis["axis"]; start: Expr } | undefined {
  if (s.target.kind !== "name") return undefined;
  const terms = termsOf(s.value);
  const thread = terms.findIndex(({ sign, e }) => sign > 0 && componentOf(e, "threadidx") !== undefined);
  if (thread < 0) return undefined;
  const axis = componentOf(terms[thread].e, "threadidx")!;
  const block = terms.findIndex(({ sign, e }) => sign > 0 && isBlockOffset(e, axis));
  if (block < 0 || !["x", "y", "z"].includes(axis)) return undefined;
  const more = terms.filter((_, n) => n !== thread && n !== block);
  return { variable: s.target.name, axis: axis as ThreadAxis["axis"], start: sumOf(more, 1, s.value.at) };
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
    if (variable && !bounds.has(variable) && (op === ">" || op === ">="))
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
