import { unreachable } from "../base/unreachable.js";
import { literal, simplify } from "./simplify.js";
import type { Const } from "./simplify.js";
import type { Expr, KernelIR, Stmt, Table } from "./types.js";
import { assignedLocals, blocksOf, declares, flatMapStmts, mapBlocks, mapChildren, mapKernel, mapOwnExprs, walkStmts } from "./walk.js";

/**
 * Evaluates what is constant, with the bits that it would have at run time, puts constants and copies in place of the locals that hold
 * them at that point, and removes branches and loops that cannot run.
 */
export function foldConstants(ir: KernelIR): KernelIR {
  const folder = new Folder(ir.tables, ir.body);
  return mapKernel(
    ir,
    (body) => folder.block(body),
    (expr) => folder.expr(expr),
  );
}

/** Folds one expression by itself; locals stay as they are. */
export const foldConstantsIn = (expr: Expr, tables: readonly Table[]): Expr => new Folder(tables, []).expr(expr);

class Folder {
  private readonly tables: Map<string, Table>;
  /** Locals that are never assigned, and what to write in their place. */
  private readonly known = new Map<string, Expr>();
  /** Constants that other locals hold at the statement that is being folded. */
  private current = new Map<string, Const>();
  private readonly assigned: Set<string>;
  private readonly declared = new Set<string>();

  constructor(tables: readonly Table[], body: readonly Stmt[]) {
    this.tables = new Map(tables.map((table) => [table.name, table]));
    this.assigned = assignedLocals(body);
    walkStmts(body, (stmt) => declares(stmt).forEach((name) => this.declared.add(name)));
  }

  /** Statements after a `break` or `continue` never run. */
  block(stmts: readonly Stmt[]): Stmt[] {
    let ended = false;
    return flatMapStmts(stmts, (stmt) => {
      if (ended) return [];
      const folded = this.stmt(stmt);
      const last = Array.isArray(folded) ? folded.at(-1) : folded;
      ended = last?.kind === "break" || last?.kind === "continue";
      return folded;
    });
  }

  private stmt(before: Stmt): Stmt | Stmt[] {
    // Forgets what a body assigns: its values are unknown in the next iteration.
    if (before.kind !== "if") this.forget(blocksOf(before));
    const stmt = mapOwnExprs(before, (expr) => this.expr(expr));
    switch (stmt.kind) {
      case "let":
        this.note(stmt.name, stmt.init);
        return stmt;
      case "assign":
        if (stmt.value.op === "local" && stmt.value.name === stmt.name) return [];
        this.note(stmt.name, stmt.value);
        return stmt;
      case "if":
        return this.branch(stmt);
      case "while":
        if (stmt.cond.op === "const" && !stmt.cond.value) return [];
        break;
      case "for":
        if (
          stmt.start.op === "const" &&
          stmt.stop.op === "const" &&
          (stmt.step > 0 ? stmt.start.value >= stmt.stop.value : stmt.start.value <= stmt.stop.value)
        )
          return [];
        break;
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
      case "teamFor":
      case "teamReduce":
      case "single":
        break;
      default:
        return unreachable(stmt);
    }
    return mapBlocks(stmt, (block) => {
      const inner = this.block(block);
      this.forget(blocksOf(before));
      return inner;
    });
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>): Stmt | Stmt[] {
    if (stmt.cond.op === "const") return this.block(stmt.cond.value ? stmt.then : stmt.else);
    const before = new Map(this.current);
    const then = this.block(stmt.then);
    const afterThen = this.current;
    this.current = before;
    const otherwise = this.block(stmt.else);
    for (const [name, { value }] of this.current) if (!Object.is(afterThen.get(name)?.value, value)) this.current.delete(name);
    if (then.length + otherwise.length === 0) return [];
    if (then.length > 0) return then === stmt.then && otherwise === stmt.else ? stmt : { ...stmt, then, else: otherwise };
    return { ...stmt, cond: simplify({ op: "unary", type: "bool", fn: "not", a: stmt.cond }), then: otherwise, else: [] };
  }

  /** Notes the value that a local takes. */
  private note(name: string, value: Expr | undefined): void {
    if (!this.assigned.has(name)) {
      if (value && this.movable(value)) this.known.set(name, value);
    } else if (value?.op === "const") this.current.set(name, value);
    else this.current.delete(name);
  }

  private forget(blocks: readonly Stmt[][]): void {
    if (this.current.size > 0) for (const block of blocks) for (const name of assignedLocals(block)) this.current.delete(name);
  }

  /** True for an expression that means the same wherever the local stands, at no cost. */
  private movable(expr: Expr): boolean {
    return expr.op === "local"
      ? this.declared.has(expr.name) && !this.assigned.has(expr.name)
      : ["const", "index", "param", "extent", "teamSize"].includes(expr.op);
  }

  /** Conditions first, so that nothing is made of a side that is not chosen. */
  expr(expr: Expr): Expr {
    if (expr.op === "select") {
      const cond = this.expr(expr.cond);
      if (cond.op === "const") return this.expr(cond.value ? expr.a : expr.b);
      const [a, b] = [this.expr(expr.a), this.expr(expr.b)];
      return cond === expr.cond && a === expr.a && b === expr.b ? expr : { ...expr, cond, a, b };
    }
    if (expr.op === "logical") {
      const a = this.expr(expr.a);
      const decided = expr.fn === "or";
      if (a.op === "const") return a.value === decided ? a : this.expr(expr.b);
      const b = this.expr(expr.b);
      if (b.op === "const") return b.value === decided ? b : a;
      return a === expr.a && b === expr.b ? expr : { ...expr, a, b };
    }
    if (expr.op === "local") return this.known.get(expr.name) ?? this.current.get(expr.name) ?? expr;
    const mapped = mapChildren(expr, (child) => this.expr(child));
    return mapped.op === "table" ? this.table(mapped) : simplify(mapped);
  }

  /** An index outside the table is left for the check of bounds. */
  private table(expr: Extract<Expr, { op: "table" }>): Expr {
    const { shape, values } = this.tables.get(expr.table)!;
    let at = 0;
    for (const [axis, index] of expr.indices.entries()) {
      if (index.op !== "const" || !((index.value as number) >= 0 && (index.value as number) < shape[axis]!)) return expr;
      at = at * shape[axis]! + (index.value as number);
    }
    return literal(expr.type, values[at]!);
  }
}
