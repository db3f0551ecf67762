import { unreachable } from "../base/unreachable.js";
import type { Expr, KernelIR, Stmt } from "./types.js";

/** The expressions directly under `expr`, in order of evaluation. */
export function children(expr: Expr): readonly Expr[] {
  switch (expr.op) {
    case "load":
    case "table":
      return expr.indices;
    case "element":
      return [expr.index];
    case "unary":
    case "cast":
      return [expr.a];
    case "binary":
    case "compare":
    case "logical":
      return [expr.a, expr.b];
    case "select":
      return [expr.cond, expr.a, expr.b];
    case "call":
      return expr.args;
    case "checked":
      return [expr.index, expr.extent];
    case "failed":
    case "const":
    case "local":
    case "param":
    case "index":
    case "teamSize":
    case "extent":
      return [];
    default:
      return unreachable(expr);
  }
}

/** The children that are evaluated whenever the expression is. */
export const alwaysEvaluated = (expr: Expr): readonly Expr[] =>
  expr.op === "select" || expr.op === "logical" ? children(expr).slice(0, 1) : children(expr);

/** Every element replaced; the very same list where nothing changed. */
function mapList<T>(list: readonly T[], map: (element: T) => T): T[] {
  let changed: T[] | undefined;
  for (let n = 0; n < list.length; n++) {
    const after = map(list[n]!);
    if (changed) changed.push(after);
    else if (after !== list[n]) changed = [...list.slice(0, n), after];
  }
  return changed ?? (list as T[]);
}

/** `expr` with each direct child replaced; the very same object where nothing changed. */
export function mapChildren(expr: Expr, map: (child: Expr) => Expr): Expr {
  switch (expr.op) {
    case "load":
    case "table": {
      const indices = mapList(expr.indices, map);
      return indices === expr.indices ? expr : { ...expr, indices };
    }
    case "element": {
      const index = map(expr.index);
      return index === expr.index ? expr : { ...expr, index };
    }
    case "unary":
    case "cast": {
      const a = map(expr.a);
      return a === expr.a ? expr : { ...expr, a };
    }
    case "binary":
    case "compare":
    case "logical": {
      const a = map(expr.a);
      const b = map(expr.b);
      return a === expr.a && b === expr.b ? expr : { ...expr, a, b };
    }
    case "select": {
      const cond = map(expr.cond);
      const a = map(expr.a);
      const b = map(expr.b);
      return cond === expr.cond && a === expr.a && b === expr.b ? expr : { ...expr, cond, a, b };
    }
    case "call": {
      const args = mapList(expr.args, map);
      return args === expr.args ? expr : { ...expr, args };
    }
    case "checked": {
      const index = map(expr.index);
      const extent = map(expr.extent);
      return index === expr.index && extent === expr.extent ? expr : { ...expr, index, extent };
    }
    case "failed":
    case "const":
    case "local":
    case "param":
    case "index":
    case "teamSize":
    case "extent":
      return expr;
    default:
      return unreachable(expr);
  }
}

/** Replaces every node, children first. */
export const mapExpr = (expr: Expr, map: (node: Expr) => Expr): Expr => map(mapChildren(expr, (child) => mapExpr(child, map)));

/** Visits every node, parents first. */
export function walkExpr(expr: Expr, visit: (node: Expr) => void): void {
  someExpr(expr, (node) => {
    visit(node);
    return false;
  });
}

/** True if some node of the expression satisfies `test`. Parents are asked first, and nobody after the first that does. */
export function someExpr(expr: Expr, test: (node: Expr) => boolean): boolean {
  if (test(expr)) return true;
  switch (expr.op) {
    case "load":
    case "table":
      return someOf(expr.indices, test);
    case "element":
      return someExpr(expr.index, test);
    case "unary":
    case "cast":
      return someExpr(expr.a, test);
    case "binary":
    case "compare":
    case "logical":
      return someExpr(expr.a, test) || someExpr(expr.b, test);
    case "select":
      return someExpr(expr.cond, test) || someExpr(expr.a, test) || someExpr(expr.b, test);
    case "call":
      return someOf(expr.args, test);
    case "checked":
      return someExpr(expr.index, test) || someExpr(expr.extent, test);
    case "failed":
    case "const":
    case "local":
    case "param":
    case "index":
    case "teamSize":
    case "extent":
      return false;
    default:
      return unreachable(expr);
  }
}

function someOf(list: readonly Expr[], test: (node: Expr) => boolean): boolean {
  for (const expr of list) if (someExpr(expr, test)) return true;
  return false;
}

/** True where evaluation may record an index that is outside. */
export const hasChecks = (expr: Expr): boolean => someExpr(expr, ({ op }) => op === "checked");

/** The whole expressions that belong to the statement itself, not to statements inside it. */
export function exprsOf(stmt: Stmt): readonly Expr[] {
  switch (stmt.kind) {
    case "let":
      return stmt.init ? [stmt.init] : [];
    case "assign":
    case "reduce":
      return [stmt.value];
    case "reduceJointly":
      return stmt.values;
    case "setElement":
      return [stmt.index, stmt.value];
    case "print":
      return stmt.items.filter((item) => typeof item !== "string");
    case "store":
    case "scatter":
      return [...stmt.indices, stmt.value];
    case "atomic":
      return [...stmt.indices, stmt.expected, stmt.value].filter((expr) => expr !== undefined);
    case "if":
    case "while":
      return [stmt.cond];
    case "for":
      return [stmt.start, stmt.stop];
    case "teamFor":
    case "teamReduce":
      return [stmt.count];
    case "array":
    case "break":
    case "continue":
    case "single":
      return [];
    default:
      return unreachable(stmt);
  }
}

/** The lists of statements directly inside a statement. */
export function blocksOf(stmt: Stmt): readonly Stmt[][] {
  switch (stmt.kind) {
    case "if":
      return [stmt.then, stmt.else];
    case "while":
      return [stmt.body, stmt.update];
    case "for":
    case "teamFor":
    case "teamReduce":
    case "single":
      return [stmt.body];
    case "let":
    case "assign":
    case "array":
    case "setElement":
    case "store":
    case "scatter":
    case "atomic":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "break":
    case "continue":
      return [];
    default:
      return unreachable(stmt);
  }
}

/** Visits every statement, outer ones first, in the order of the source. */
export function walkStmts(stmts: readonly Stmt[], visit: (stmt: Stmt) => void): void {
  for (const stmt of stmts) {
    visit(stmt);
    for (const block of blocksOf(stmt)) walkStmts(block, visit);
  }
}

/** Visits every node of every expression, with the statement that it stands in. */
export function walkExprs(stmts: readonly Stmt[], visit: (node: Expr, stmt: Stmt) => void): void {
  walkStmts(stmts, (stmt) => {
    for (const expr of exprsOf(stmt)) walkExpr(expr, (node) => visit(node, stmt));
  });
}

/** Replacements of expressions and statements for `mapStmts`. */
export interface StmtMapper {
  /** Replaces a whole expression of a statement; use `mapExpr` to reach its nodes. */
  expr?: (expr: Expr) => Expr;
  /** Replaces a statement whose parts have been replaced already; `[]` removes it. */
  stmt?: (stmt: Stmt) => Stmt | Stmt[];
}

/** Replaces expressions, then statements, inner ones first; the very same list where nothing changed. */
export function mapStmts(stmts: readonly Stmt[], mapper: StmtMapper): Stmt[] {
  return flatMapStmts(stmts, (stmt) => {
    const mapped = mapBlocks(mapper.expr ? mapOwnExprs(stmt, mapper.expr) : stmt, (block) => mapStmts(block, mapper));
    return mapper.stmt ? mapper.stmt(mapped) : mapped;
  });
}

/** Every statement replaced by one, several or none; the very same list where nothing changed. */
export function flatMapStmts(stmts: readonly Stmt[], map: (stmt: Stmt) => Stmt | readonly Stmt[]): Stmt[] {
  let changed: Stmt[] | undefined;
  for (let n = 0; n < stmts.length; n++) {
    const after = map(stmts[n]!);
    if (!changed && after !== stmts[n]) changed = stmts.slice(0, n);
    if (!changed) continue;
    if (Array.isArray(after)) for (const stmt of after as readonly Stmt[]) changed.push(stmt);
    else changed.push(after as Stmt);
  }
  return changed ?? (stmts as Stmt[]);
}

/** The statement with its own expressions replaced; the very same object where nothing changed. */
export function mapOwnExprs(stmt: Stmt, map: (expr: Expr) => Expr): Stmt {
  switch (stmt.kind) {
    case "let": {
      const init = stmt.init && map(stmt.init);
      return init === stmt.init ? stmt : { ...stmt, init };
    }
    case "assign":
    case "reduce": {
      const value = map(stmt.value);
      return value === stmt.value ? stmt : { ...stmt, value };
    }
    case "reduceJointly": {
      const values = mapList(stmt.values, map);
      return values === stmt.values ? stmt : { ...stmt, values };
    }
    case "setElement": {
      const index = map(stmt.index);
      const value = map(stmt.value);
      return index === stmt.index && value === stmt.value ? stmt : { ...stmt, index, value };
    }
    case "print": {
      const items = mapList(stmt.items, (item) => (typeof item === "string" ? item : map(item)));
      return items === stmt.items ? stmt : { ...stmt, items };
    }
    case "store":
    case "scatter": {
      const indices = mapList(stmt.indices, map);
      const value = map(stmt.value);
      return indices === stmt.indices && value === stmt.value ? stmt : { ...stmt, indices, value };
    }
    case "atomic":
      return mapAtomic(stmt, map);
    case "if":
    case "while": {
      const cond = map(stmt.cond);
      return cond === stmt.cond ? stmt : { ...stmt, cond };
    }
    case "for": {
      const start = map(stmt.start);
      const stop = map(stmt.stop);
      return start === stmt.start && stop === stmt.stop ? stmt : { ...stmt, start, stop };
    }
    case "teamFor":
    case "teamReduce": {
      const count = map(stmt.count);
      return count === stmt.count ? stmt : { ...stmt, count };
    }
    case "array":
    case "break":
    case "continue":
    case "single":
      return stmt;
    default:
      return unreachable(stmt);
  }
}

function mapAtomic(stmt: Extract<Stmt, { kind: "atomic" }>, map: (expr: Expr) => Expr): Stmt {
  const indices = mapList(stmt.indices, map);
  const expected = stmt.expected && map(stmt.expected);
  const value = stmt.value && map(stmt.value);
  const isSame = indices === stmt.indices && expected === stmt.expected && value === stmt.value;
  return isSame ? stmt : { ...stmt, indices, ...(expected && { expected }), ...(value && { value }) };
}

/** The statement with the lists of statements inside it replaced; the very same object where nothing changed. */
export function mapBlocks(stmt: Stmt, map: (block: Stmt[]) => Stmt[]): Stmt {
  switch (stmt.kind) {
    case "if": {
      const then = map(stmt.then);
      const otherwise = map(stmt.else);
      return then === stmt.then && otherwise === stmt.else ? stmt : { ...stmt, then, else: otherwise };
    }
    case "while": {
      const body = map(stmt.body);
      const update = map(stmt.update);
      return body === stmt.body && update === stmt.update ? stmt : { ...stmt, body, update };
    }
    case "for":
    case "teamFor":
    case "teamReduce":
    case "single": {
      const body = map(stmt.body);
      return body === stmt.body ? stmt : { ...stmt, body };
    }
    case "let":
    case "assign":
    case "array":
    case "setElement":
    case "store":
    case "scatter":
    case "atomic":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "break":
    case "continue":
      return stmt;
    default:
      return unreachable(stmt);
  }
}

/** True if a `break` or `continue` among the statements belongs to the loop whose body they are. */
export const hasJump = (body: readonly Stmt[]): boolean =>
  body.some((stmt) => {
    switch (stmt.kind) {
      case "break":
      case "continue":
        return true;
      case "if":
      case "teamFor":
      case "teamReduce":
      case "single":
        return blocksOf(stmt).some(hasJump);
      case "for":
      case "while":
      case "let":
      case "assign":
      case "array":
      case "setElement":
      case "store":
      case "scatter":
      case "atomic":
      case "reduce":
      case "reduceJointly":
      case "print":
        return false;
      default:
        return unreachable(stmt);
    }
  });

/** Element that a statement changes or an expression reads: of a view, a scatter target, a private or scratch array, or a table. */
export interface Touched<K extends string> {
  readonly kind: K;
  readonly name: string;
  readonly indices: Expr[];
}

/** Change that a statement makes by itself, apart from statements inside it: to a local or a reduction, which have no indices, or to an element. */
export function changeOf(stmt: Stmt): Touched<"local" | "reduction" | "array" | "view" | "scatter" | "atomic"> | undefined {
  switch (stmt.kind) {
    case "assign":
      return { kind: "local", name: stmt.name, indices: [] };
    case "setElement":
      return { kind: "array", name: stmt.array, indices: [stmt.index] };
    case "store":
      return { kind: "view", name: stmt.view, indices: stmt.indices };
    case "scatter":
      return { kind: "scatter", name: stmt.target, indices: stmt.indices };
    case "atomic":
      return { kind: "atomic", name: stmt.target, indices: stmt.indices };
    case "reduce":
      return { kind: "reduction", name: stmt.target, indices: [] };
    case "reduceJointly":
      return { kind: "reduction", name: stmt.targets[0]!, indices: [] };
    case "print":
    case "let":
    case "array":
    case "if":
    case "for":
    case "while":
    case "break":
    case "continue":
    case "teamFor":
    case "teamReduce":
    case "single":
      return undefined;
    default:
      return unreachable(stmt);
  }
}

/** The element that a node by itself reads. */
export function readOf(expr: Expr): Touched<"view" | "array" | "table"> | undefined {
  switch (expr.op) {
    case "load":
      return { kind: "view", name: expr.view, indices: expr.indices };
    case "element":
      return { kind: "array", name: expr.array, indices: [expr.index] };
    case "table":
      return { kind: "table", name: expr.table, indices: expr.indices };
    case "const":
    case "local":
    case "param":
    case "index":
    case "teamSize":
    case "extent":
    case "unary":
    case "binary":
    case "compare":
    case "logical":
    case "select":
    case "cast":
    case "call":
    case "checked":
    case "failed":
      return undefined;
    default:
      return unreachable(expr);
  }
}

/** Names of what the statements change, by its kind. */
export function changedIn(stmts: readonly Stmt[], ...kinds: NonNullable<ReturnType<typeof changeOf>>["kind"][]): Set<string> {
  const names = new Set<string>();
  walkStmts(stmts, (stmt) => {
    const change = changeOf(stmt);
    if (change && kinds.includes(change.kind)) names.add(change.name);
  });
  return names;
}

/** True for a statement whose body may run more than once. */
export function isLoop(stmt: Stmt): stmt is Extract<Stmt, { kind: "for" | "while" | "teamFor" | "teamReduce" }> {
  switch (stmt.kind) {
    case "for":
    case "while":
    case "teamFor":
    case "teamReduce":
      return true;
    case "let":
    case "assign":
    case "array":
    case "setElement":
    case "store":
    case "scatter":
    case "atomic":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "if":
    case "break":
    case "continue":
    case "single":
      return false;
    default:
      return unreachable(stmt);
  }
}

/** Names that a statement itself declares: locals, arrays, loop variables, team results. */
export function declares(stmt: Stmt): string[] {
  switch (stmt.kind) {
    case "let":
    case "array":
    case "for":
    case "teamFor":
      return [stmt.name];
    case "teamReduce":
      return [stmt.name, ...stmt.results.map((r) => r.name)];
    case "atomic":
      return stmt.result === undefined ? [] : [stmt.result];
    case "assign":
    case "setElement":
    case "store":
    case "scatter":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "if":
    case "while":
    case "break":
    case "continue":
    case "single":
      return [];
    default:
      return unreachable(stmt);
  }
}

/** Locals that some `assign` changes. */
export const assignedLocals = (stmts: readonly Stmt[]): Set<string> => changedIn(stmts, "local");

/** Number of statements and expression nodes. */
export function sizeOf(stmts: readonly Stmt[]): number {
  let size = 0;
  walkStmts(stmts, () => size++);
  walkExprs(stmts, () => size++);
  return size;
}

/** The kernel with its body and the folds of its custom reductions replaced; the very same object where nothing changed. */
export function mapKernel(ir: KernelIR, body: (stmts: Stmt[]) => Stmt[], expr: (expr: Expr) => Expr): KernelIR {
  const params = mapList(ir.params, (param) => {
    if (param.kind !== "reduce") return param;
    const { combine, joint } = param;
    if (joint) {
      const bodies = mapList(joint.bodies, expr);
      return bodies === joint.bodies ? param : { ...param, joint: { ...joint, bodies } };
    }
    const combined = combine && expr(combine.body);
    return !combine || combined === combine.body ? param : { ...param, combine: { ...combine, body: combined! } };
  });
  const mapped = body(ir.body);
  return params === ir.params && mapped === ir.body ? ir : { ...ir, params, body: mapped };
}
