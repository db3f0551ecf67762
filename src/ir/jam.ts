import { affineOf, definitionsOf, type Definitions } from "./affine.js";
import { copyBody, Names } from "./copy.js";
import { literal, simplify } from "./simplify.js";
import type { Expr, KernelIR, Stmt } from "./types.js";
import { mapExpr, sizeOf, someExpr, walkExprs, walkStmts } from "./walk.js";

/** Two neighbouring elements of a range, worked on together: what both read is read once, and all is read before anything is written. */
export interface Jam {
  /** The body holds where this is true for both elements; absent: always. */
  readonly guard: Expr | undefined;
  readonly body: readonly Stmt[];
}

/** The share of two elements' loads that must be common. */
const WORTHWHILE = 0.1;
/** Nodes of a body: with more, two of them have not the registers. */
const MAX_NODES = 6000;

/**
 * The element at the policy's indices and the next along `axis`, statement by statement, where they read enough in common. The order of
 * reductions changes. Of an `if` around everything else, the pair takes the first branch, under the guard.
 */
export function jam(ir: KernelIR, axis: number): Jam | undefined {
  if (ir.policy.kind !== "range" || ir.params.some((param) => param.kind === "scatter")) return undefined;
  const single = straighten(ir.body, storedIn(ir.body));
  if (!single || sizeOf(single.body) > MAX_NODES) return undefined;
  const next = (node: Expr): Expr =>
    node.op === "index" && node.axis === axis ? { op: "binary", type: "i32", fn: "add", a: node, b: literal("i32", 1) } : simplify(node);
  const second = copyBody(single.body, "next", new Names(ir), next);
  const pair = single.body.flatMap((stmt, n) => [stmt, second[n]]);
  if (loadsOf(pair).size > 2 * loadsOf(single.body).size * (1 - WORTHWHILE)) return undefined;
  const guards = [...single.guards, ...single.guards.map((guard) => mapExpr(guard, next))];
  return { guard: guards.length > 0 ? guards.reduce(and) : undefined, body: pair };
}

const and = (a: Expr, b: Expr): Expr => ({ op: "logical", type: "bool", fn: "and", a, b });

interface Straight {
  readonly guards: readonly Expr[];
  readonly body: readonly Stmt[];
}

/** The body without branches and loops, and what must be true for it; undefined where it cannot be told before anything runs. */
function straighten(body: readonly Stmt[], written: ReadonlySet<string>): Straight | undefined {
  const guards: Expr[] = [];
  const flat: Stmt[] = [];
  for (const stmt of body)
    if (stmt.kind === "if") {
      const known = !someExpr(
        stmt.cond,
        (node) => node.op === "local" || node.op === "element" || (node.op === "load" && written.has(node.view)),
      );
      const inner = known ? straighten(stmt.then, written) : undefined;
      if (!inner) return undefined;
      guards.push(stmt.cond, ...inner.guards);
      flat.push(...inner.body);
    } else if (STRAIGHT.has(stmt.kind)) flat.push(stmt);
    else return undefined;
  return { guards, body: flat };
}

const STRAIGHT: ReadonlySet<Stmt["kind"]> = new Set(["let", "assign", "array", "setElement", "store", "reduce"]);

function storedIn(body: readonly Stmt[]): Set<string> {
  const views = new Set<string>();
  walkStmts(body, (stmt) => {
    if (stmt.kind === "store") views.add(stmt.view);
  });
  return views;
}

/** The elements that are read, each once, by view and linear forms of the indices. */
function loadsOf(body: readonly Stmt[]): Set<string> {
  const loads = new Set<string>();
  const definitions = definitionsOf(body);
  walkExprs(body, (node) => {
    if (node.op === "load") loads.add([node.view, ...node.indices.map((index) => keyOf(index, definitions))].join());
  });
  return loads;
}

function keyOf(index: Expr, definitions: Definitions): string {
  const form = affineOf(index, definitions);
  return form ? JSON.stringify([form.constant, Object.entries(form.terms).sort()]) : JSON.stringify(index);
}
