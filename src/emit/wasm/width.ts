import type { Expr, Stmt } from "../../ir/types.js";
import { blocksOf, children, exprsOf, walkExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import { prints } from "../../ir/print-records.js";
import { BYTES, isDouble, isWide } from "../../ir/scalars.js";
import type { KernelCode } from "./kernel-code.js";
import { areReducePair } from "./pairs.js";
import type { FoldedValues } from "./reduction.js";
import { ScalarCode } from "./scalar.js";
import { type VectorVariable, Variance } from "./variance.js";

/** Lanes of a vector: four if all values have 32 bits, two if some have 64. */
export type Width = 1 | 2 | 4;

/** Lanes for a loop's body that makes `folds`; the decision is noted with `what` for a name. */
export function chooseWidth(
  code: KernelCode,
  body: readonly Stmt[],
  variable: VectorVariable,
  folds: readonly FoldedValues[],
  what: string,
): Width {
  const width = holdsF64(body, folds) ? 2 : 4;
  const reason = scalarReason(code, body, variable, folds, width);
  code.remarks.push(reason ? `${what}: one at a time, ${reason}` : `${what}: ${width} lanes of a 128-bit vector`);
  return reason ? 1 : width;
}

/** True if some value has 64 bits. */
function holdsF64(body: readonly Stmt[], folds: readonly FoldedValues[]): boolean {
  let found = false;
  const visit = (e: Expr): void => void (found ||= isDouble(e.type));
  walkExprs(body, visit);
  walkStmts(body, (stmt) => {
    if (stmt.kind === "let" || stmt.kind === "array") found ||= isDouble(stmt.type);
  });
  for (const { type, combine, joint } of folds) {
    found ||= isDouble(type);
    for (const part of joint?.bodies ?? []) walkExpr(part, visit);
    if (combine) walkExpr(combine.body, visit);
  }
  return found;
}

/** True if some value is an i64 or u64. */
function isWideBody(body: readonly Stmt[], folds: readonly FoldedValues[]): boolean {
  let found = folds.some(({ type }) => isWide(type));
  walkExprs(body, (e) => void (found ||= isWide(e.type)));
  walkStmts(body, (stmt) => void (found ||= (stmt.kind === "let" || stmt.kind === "array") && isWide(stmt.type)));
  return found;
}

/** Why a loop's body is not vectorised for `width` lanes; undefined if it is. */
function scalarReason(
  code: KernelCode,
  body: readonly Stmt[],
  variable: VectorVariable,
  folds: readonly FoldedValues[],
  width: 2 | 4,
): string | undefined {
  const target = orderedTwice(code, body);
  if (target) return `as updates of "${target}" must come in element order`;
  if (usesChecks(body)) return "as indices are checked";
  if (prints(body)) return "as it prints";
  if (has(body, "atomic")) return "as old values of atomic arrays come one after the other";
  if (isWideBody(body, folds)) return "as it computes with integers of 64 bits";
  if (has(body, "reduceJointly")) return "as it folds a value together with its place";
  const tally = new Tally(code, body, variable);
  if (tally.divergentGathers) return "as a loop of a different length for each element reads scattered memory";
  if (!code.ordered && foldsInPairs(code, body)) return "as its sums go in pairs";
  // Measured: to put two lanes together costs as much as what a vector saves in two operations; four lanes save twice as much.
  const saved = ((tally.contiguous + tally.operations) * width) / 4;
  return tally.lanewise > saved ? "as it gathers more than it computes" : undefined;
}

function has(body: readonly Stmt[], wanted: Stmt["kind"]): boolean {
  let found = false;
  walkStmts(body, ({ kind }) => void (found ||= kind === wanted));
  return found;
}

function usesChecks(body: readonly Stmt[]): boolean {
  let found = false;
  walkExprs(body, ({ op }) => void (found ||= op === "checked" || op === "failed"));
  return found;
}

/** True where most folds are sums of values that lie side by side, so that one vector takes two of them. */
function foldsInPairs(code: KernelCode, body: readonly Stmt[]): boolean {
  const scalar = new ScalarCode(code);
  const folds = body.filter((stmt) => stmt.kind === "reduce");
  let paired = 0;
  for (let n = 0; n + 1 < folds.length; n++)
    if (areReducePair(scalar, folds[n], folds[n + 1])) {
      paired += 2;
      n++;
    }
  return 2 * paired > folds.length;
}

/** Counts what a body does, each statement once. */
class Tally {
  contiguous = 0;
  /** Accesses for which each lane needs an address of its own. */
  lanewise = 0;
  operations = 0;
  /** A loop that lanes leave at different times does such accesses. */
  divergentGathers = false;
  private readonly variance: Variance;
  private readonly terms;

  constructor(
    private readonly code: KernelCode,
    body: readonly Stmt[],
    variable: VectorVariable,
  ) {
    this.variance = new Variance(body, variable);
    this.terms = { variable: variable.op === "index" ? `index:${variable.axis}` : `local:${variable.name}`, isFixed: () => true };
    this.block(body, false);
  }

  private block(body: readonly Stmt[], divergent: boolean): void {
    for (const stmt of body) {
      const inside = divergent || this.variance.isDivergent(stmt);
      if (stmt.kind === "reduce") this.operations++;
      if (stmt.kind === "store" || stmt.kind === "scatter") {
        this.access(stmt.kind === "store" ? stmt.view : stmt.target, stmt.indices, inside);
        this.expr(stmt.value, inside);
      } else for (const e of exprsOf(stmt)) this.expr(e, inside);
      for (const inner of blocksOf(stmt)) this.block(inner, inside);
    }
  }

  private expr(e: Expr, divergent: boolean): void {
    if (!this.variance.varies(e)) return;
    if (e.op === "load") return this.access(e.view, e.indices, divergent);
    if (e.op === "table") return this.access(e.table, e.indices, false);
    if (e.op !== "local" && e.op !== "index") this.operations++;
    for (const child of children(e)) this.expr(child, divergent);
  }

  private access(array: string, indices: readonly Expr[], divergent: boolean): void {
    const { step, leaves } = this.code.linearAddress(array, indices, this.terms);
    if (step === BYTES[this.code.arrays.get(array)!.type] && leaves.length === 0) this.contiguous++;
    else if (step !== 0 || leaves.some(({ expr }) => this.variance.varies(expr))) {
      this.lanewise++;
      this.divergentGathers ||= divergent;
    }
    for (const { expr } of leaves) this.expr(expr, divergent);
  }
}

/** A sorted scatter target that an element may update more than once: lanes would mix the order. */
function orderedTwice(code: KernelCode, body: readonly Stmt[]): string | undefined {
  const counts = new Map<string, number>();
  const visit = (stmts: readonly Stmt[], weight: number): void => {
    for (const stmt of stmts) {
      if (stmt.kind === "scatter" && code.spec.scatter[stmt.target] === "sorted")
        counts.set(stmt.target, (counts.get(stmt.target) ?? 0) + weight);
      for (const block of blocksOf(stmt)) visit(block, stmt.kind === "for" || stmt.kind === "while" ? 2 : weight);
    }
  };
  visit(body, 1);
  return [...counts].find(([, count]) => count > 1)?.[0];
}
