import { identityOf } from "../identity.js";
import { isFloat, type NumericType } from "../scalars.js";
import type { Expr, Stmt } from "../types.js";
import { declares, mapBlocks, walkExprs, walkStmts } from "../walk.js";

/** A local that a loop adds to, or keeps the least or greatest value in, and uses for nothing else. */
export interface LoopFold {
  readonly name: string;
  readonly type: NumericType;
  readonly op: "sum" | "min" | "max";
  readonly identity: number | bigint;
}

type Assign = Extract<Stmt, { kind: "assign" }>;

/** One turn's part of a fold. */
interface Part {
  readonly op: LoopFold["op"];
  readonly type: NumericType;
  readonly value: Expr;
}

/** The folds of a loop's body, if they are all that its turns leave for later ones; undefined elsewhere. */
export function loopFolds(body: readonly Stmt[]): readonly LoopFold[] | undefined {
  const own = new Set<string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => own.add(name)));
  const reads = new Map<string, number>();
  walkExprs(body, (e) => void (e.op === "local" && reads.set(e.name, (reads.get(e.name) ?? 0) + 1)));
  const folds = new Map<string, LoopFold & { readonly times: number }>();
  let alone = true;
  walkStmts(body, (stmt) => {
    if (stmt.kind === "let" || stmt.kind === "if" || (stmt.kind === "assign" && own.has(stmt.name))) return;
    const part = stmt.kind === "assign" ? partOf(stmt) : undefined;
    if (stmt.kind !== "assign" || !part) return void (alone = false);
    const { name } = stmt;
    const known = folds.get(name);
    if (known && known.op !== part.op) alone = false;
    const { op, type } = part;
    folds.set(name, { name, type, op, identity: identityOf(op, type), times: (known?.times ?? 0) + 1 });
  });
  const all = [...folds.values()];
  return alone && all.every(({ name, times }) => reads.get(name) === times) ? all : undefined;
}

/** The body with folds in place of assignments to the locals that `folds` names. */
export function withFolds(body: readonly Stmt[], folds: readonly LoopFold[]): Stmt[] {
  return body.map((stmt): Stmt => {
    if (stmt.kind !== "assign" || !folds.some(({ name }) => name === stmt.name)) return mapBlocks(stmt, (block) => withFolds(block, folds));
    return { kind: "reduce", target: stmt.name, value: partOf(stmt)!.value, location: stmt.location };
  });
}

/** The part in `s = s + x`, `s = s - x`, `s = min(s, x)` and `s = max(s, x)`. */
function partOf({ name, value }: Assign): Part | undefined {
  if (value.op !== "binary" || value.type === "bool") return undefined;
  const { fn, type, a, b } = value;
  const isOwn = (e: Expr): boolean => e.op === "local" && e.name === name;
  if (fn === "min" || fn === "max") return isOwn(a) ? { op: fn, type, value: b } : isOwn(b) ? { op: fn, type, value: a } : undefined;
  if (!isOwn(a)) return undefined;
  if (fn === "add") return { op: "sum", type, value: b };
  return fn === "sub" && isFloat(type) ? { op: "sum", type, value: { op: "unary", type, fn: "neg", a: b } } : undefined;
}
