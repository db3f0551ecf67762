import type { Expr, Place, Stmt, Target } from "./nodes.js";

const NONE: readonly never[] = [];
const none = (): readonly never[] => NONE;

const OPERANDS: { readonly [O in Expr["op"]]: (e: Extract<Expr, { op: O }>) => readonly Expr[] } = {
  const: none,
  local: none,
  number: none,
  place: none,
  read: ({ offset }) => [offset],
  address: ({ offset }) => (offset ? [offset] : NONE),
  table: ({ indices }) => indices,
  unary: ({ a }) => [a],
  cast: ({ a }) => [a],
  agreed: ({ a }) => [a],
  binary: ({ a, b }) => [a, b],
  compare: ({ a, b }) => [a, b],
  logical: ({ a, b }) => [a, b],
  select: ({ cond, a, b }) => [cond, a, b],
  call: ({ args }) => args,
  word: ({ args }) => args,
  apply: ({ args }) => args,
  shuffle: ({ value, by, among }) => (among ? [value, by, among] : [value, by]),
  exchange: ({ offset, seen, wanted }) => [offset, seen, wanted],
  fetch: ({ offset, operands: given }) => [offset, ...given],
  next: ({ offset }) => [offset],
};

/** Operands of an expression, in order. */
export const operands = (e: Expr): readonly Expr[] => (OPERANDS[e.op] as (e: Expr) => readonly Expr[])(e);

const ofPlace = (place: Place): readonly Expr[] => ("memory" in place ? [place.offset] : NONE);
const ofTarget = (to: Target): readonly Expr[] => present("address" in to ? to.address : undefined, to.offset, to.before);
const present = (...list: readonly (Expr | undefined)[]): readonly Expr[] => list.filter((e) => e !== undefined);

const EXPRESSIONS: { readonly [K in Stmt["kind"]]: (stmt: Extract<Stmt, { kind: K }>) => readonly Expr[] } = {
  let: ({ value }) => (value ? [value] : NONE),
  assign: ({ to, value }) => [...ofPlace(to), value],
  increase: ({ to, by }) => [...ofPlace(to), by],
  append: ({ at, value }) => [...ofPlace(at), value],
  array: ({ fill }) => (fill && fill !== "zero" ? [fill] : NONE),
  pointer: ({ to }) => (to ? ofTarget(to) : NONE),
  point: ({ to }) => ofTarget(to),
  atomic: ({ offset, value }) => [offset, value],
  if: ({ cond }) => [cond],
  while: ({ cond }) => [cond],
  loop: ({ start, cond, step }) => present(start, cond, step?.by),
  repeat: ({ again }) => [again],
  lanesBarrier: ({ lanes }) => [lanes],
  do: ({ call }) => [call],
  foldRun: ({ value, folded }) => [...ofPlace(value), folded],
  print: ({ items }) => items.filter((item) => typeof item !== "string"),
  block: none,
  break: none,
  continue: none,
  return: none,
  barrier: none,
  fence: none,
};

/** Expressions that a statement evaluates itself; statements inside of it have their own. */
export const ownExpressions = (stmt: Stmt): readonly Expr[] => (EXPRESSIONS[stmt.kind] as (stmt: Stmt) => readonly Expr[])(stmt);

/** Lists of statements inside of a statement. */
export function innerLists(stmt: Stmt): readonly (readonly Stmt[])[] {
  if (stmt.kind === "if") return [stmt.then, stmt.else];
  if (stmt.kind === "while") return [stmt.body, stmt.update];
  return "body" in stmt ? [stmt.body] : NONE;
}
