import { unreachable } from "../../base/unreachable.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { blocksOf, someExpr } from "../../ir/walk.js";

/** The variable along which a loop is vectorised: a policy index, or a member index. */
export type VectorVariable = Extract<Expr, { op: "index" }> | Extract<Expr, { op: "local" }>;

export const isVectorVariable = (expr: Expr, variable: VectorVariable): boolean =>
  variable.op === "index" ? expr.op === "index" && expr.axis === variable.axis : expr.op === "local" && expr.name === variable.name;

/**
 * Finds the values of a loop's body that differ between the lanes of a vector. Varying values live in vectors, all others are computed once.
 *
 * Control flow is handled as in ISPC (Pharr and Mark, "ispc: A SPMD compiler for high-performance CPU programming", InPar 2012): a
 * branch whose condition varies runs both sides under masks; a loop that lanes leave at different times is divergent and runs until
 * no lane is left in it. The mask depth counts the varying branches and divergent loops around a statement: a value that is assigned deeper than
 * it was declared must be blended with the old one.
 */
export class Variance {
  private readonly locals = new Set<string>();
  private readonly arrays = new Set<string>();
  private readonly depths = new Map<string, number>();
  private changed = false;
  /** Answers of `varies`, once they no longer change. */
  private readonly known = new WeakMap<Expr, boolean>();
  private converged = false;

  /** `varying`: further locals that are known to vary. */
  constructor(
    body: readonly Stmt[],
    private readonly variable: VectorVariable,
    varying: readonly string[] = [],
  ) {
    for (const name of varying) this.locals.add(name);
    do {
      this.changed = false;
      this.walk(body, 0);
    } while (this.changed);
    this.converged = true;
  }

  varies(expr: Expr): boolean {
    const known = this.known.get(expr);
    if (known !== undefined) return known;
    const varies = this.find(expr);
    if (this.converged) this.known.set(expr, varies);
    return varies;
  }

  private find(expr: Expr): boolean {
    return someExpr(
      expr,
      (e) =>
        isVectorVariable(e, this.variable) ||
        (e.op === "local" && this.locals.has(e.name)) ||
        (e.op === "element" && this.arrays.has(e.array)),
    );
  }
  /** True for a local that has a value of its own in each lane. */
  isVarying(local: string): boolean {
    return this.locals.has(local);
  }
  /** True for an array that each lane has of its own. */
  isVaryingArray(array: string): boolean {
    return this.arrays.has(array);
  }
  /** Depth at which the local or array was declared. */
  depthOf(name: string): number {
    return this.depths.get(name) ?? 0;
  }
  /** True for a loop that lanes leave at different times, also in a copy of the body such as that for its interior. */
  isDivergent(loop: Stmt): boolean {
    if (loop.kind !== "for" && loop.kind !== "while") return false;
    const varies = loop.kind === "for" ? this.varies(loop.start) || this.varies(loop.stop) : this.varies(loop.cond);
    return varies || this.hasVaryingJump(loop.body);
  }

  private walk(body: readonly Stmt[], depth: number): void {
    for (const stmt of body) this.visit(stmt, depth);
  }

  private visit(stmt: Stmt, depth: number): void {
    switch (stmt.kind) {
      case "let":
        this.depths.set(stmt.name, depth);
        if (stmt.init && this.varies(stmt.init)) this.mark(this.locals, stmt.name);
        break;
      case "assign":
        if (depth > this.depthOf(stmt.name) || this.varies(stmt.value)) this.mark(this.locals, stmt.name);
        break;
      case "array":
        this.depths.set(stmt.name, depth);
        this.mark(this.arrays, stmt.name);
        break;
      case "if": {
        const inner = depth + (this.varies(stmt.cond) ? 1 : 0);
        this.walk(stmt.then, inner);
        this.walk(stmt.else, inner);
        break;
      }
      case "for": {
        if (this.varies(stmt.start) || this.varies(stmt.stop)) this.mark(this.locals, stmt.name);
        const inner = depth + (this.isDivergent(stmt) ? 1 : 0);
        this.depths.set(stmt.name, inner);
        this.walk(stmt.body, inner);
        break;
      }
      case "while": {
        const inner = depth + (this.isDivergent(stmt) ? 1 : 0);
        this.walk(stmt.body, inner);
        this.walk(stmt.update, inner);
        break;
      }
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
  }

  /** A break or continue of this loop that only some lanes take. */
  private hasVaryingJump(body: readonly Stmt[], masked = false): boolean {
    return body.some((stmt) => {
      if (stmt.kind === "break" || stmt.kind === "continue") return masked;
      if (stmt.kind !== "if") return false;
      const inner = masked || this.varies(stmt.cond);
      return blocksOf(stmt).some((block) => this.hasVaryingJump(block, inner));
    });
  }

  private mark<T>(set: Set<T>, item: T): void {
    if (set.has(item)) return;
    set.add(item);
    this.changed = true;
  }
}
