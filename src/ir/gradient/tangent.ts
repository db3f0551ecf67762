import { unreachable } from "../../base/unreachable.js";
import { add, select } from "../expressions.js";
import { localOf, paramOf } from "../by-name.js";
import type { LocalRef } from "../builder.js";
import type { Expr, ScalarType, Stmt } from "../types.js";
import { zeroOf } from "./emission.js";
import { Forward, type KernelSource } from "./forward.js";
import { dotName, tiesName, extremeName } from "./names.js";
import type { Refusals } from "./refusals.js";
import { extremeShare, partialDerivatives } from "./rules.js";
import type { CarriedLocal, TrailEntry, EntryOf, Env, BranchValue, Effect } from "./trail.js";
import { onlyElement, type BranchSide } from "./values.js";

interface TangentSource extends KernelSource {
  readonly refusals: Refusals;
}

/** The kernel with its tangent beside each value. */
export class Tangent extends Forward {
  protected readonly goesBack = false;

  constructor(protected override readonly source: TangentSource) {
    super(source);
  }

  /** The code of the kernel and its tangent. */
  write(body: readonly Stmt[]): Stmt[] {
    this.run(body, { values: new Map(), arrays: new Map(), loads: new Map() });
    return [...this.scope.head, ...this.out];
  }

  protected override record(entry: TrailEntry): void {
    super.record(entry);
    this.follow(entry);
  }

  private follow(entry: TrailEntry): void {
    switch (entry.kind) {
      case "operation":
        return this.operationAhead(entry);
      case "load":
        return this.beside(entry.result, loadOf(dotName(entry.view), entry.indices, entry.result.type));
      case "element":
        return this.beside(entry.result, elementOf(this.derivatives.get(entry.array)!, entry.index, entry.result.type));
      case "select": {
        const [a, b] = entry.sides;
        return this.beside(entry.result, select(entry.cond, this.dot(a), this.dot(b)));
      }
      case "set":
        return this.emit({
          kind: "setElement",
          array: this.derivatives.get(entry.array)!,
          index: entry.index,
          value: this.dot(entry.value),
        });
      // Branches and loops have their tangents inside; effects are written where they are met.
      case "store":
      case "repeated":
      case "scatter":
      case "reduce":
      case "extreme":
      case "branch":
      case "loop":
        return;
      default:
        return unreachable(entry);
    }
  }

  /** The tangent of a value. */
  private dot(value: Expr): Expr {
    if (!this.isActive(value)) return zeroOf(value.type);
    if (value.op === "param") return paramOf(dotName(value.name), value.type);
    return localOf(this.derivatives.get((value as { name: string }).name)!, value.type);
  }

  private beside(result: LocalRef, tangent: Expr): void {
    this.derivatives.set(result.name, this.bind(dotName(result.name), tangent).name);
  }

  private operationAhead({ node, args, result }: EntryOf<"operation">): void {
    const parts = partialDerivatives(node, args, result).flatMap((times, n) =>
      times && this.isActive(args[n]!) ? [times(this.dot(args[n]!))] : [],
    );
    this.beside(result, parts.reduce<Expr | undefined>((a, b) => (a ? add(a, b) : b), undefined) ?? zeroOf(result.type));
  }

  protected effect(stmt: Effect, indices: readonly Expr[], value: Expr): void {
    const { active, params, refusals } = this.source;
    switch (stmt.kind) {
      case "store":
        this.emit({ ...stmt, indices: [...indices], value });
        if (active.views.has(stmt.view))
          this.emit({ kind: "store", view: dotName(stmt.view), indices: [...indices], value: this.dot(value) });
        return;
      case "scatter":
        this.emit({ ...stmt, indices: [...indices], value });
        if (!this.isActive(value)) return;
        if ((params.get(stmt.target) as { op: string }).op !== "sum") refusals.fold(stmt, stmt.target);
        return this.emit({ kind: "scatter", target: dotName(stmt.target), indices: [...indices], value: this.dot(value) });
      case "reduce":
        this.emit({ ...stmt, value });
        if (this.isActive(value)) this.reduction(stmt, value);
        return;
      case "reduceJointly":
        for (const [n, each] of stmt.values.entries()) if (this.isActive(each)) refusals.fold(stmt, stmt.targets[n]!);
        return this.emit(stmt);
      default:
        return unreachable(stmt);
    }
  }

  private reduction(stmt: Extract<Stmt, { kind: "reduce" }>, value: Expr): void {
    const { target } = stmt;
    const { op } = this.source.params.get(target) as { op: string };
    if (op === "custom" || op === "joint") this.source.refusals.fold(stmt, target);
    const [result, ties] = [onlyElement(extremeName(target), value.type), onlyElement(tiesName(target), value.type)];
    const share = op === "sum" ? this.dot(value) : extremeShare(value, result, ties, this.dot(value));
    this.emit({ kind: "reduce", target: dotName(target), value: share });
  }

  protected atomic(stmt: Extract<Stmt, { kind: "atomic" }>, env: Env): void {
    const passive = (expr: Expr): Expr => this.passive(expr, env);
    const { value, expected, result, ...rest } = stmt;
    const name = result === undefined ? undefined : this.fresh(result);
    const operands = { ...(value && { value: passive(value) }), ...(expected && { expected: passive(expected) }) };
    const written = { ...rest, ...operands, indices: stmt.indices.map(passive) };
    if (name === undefined) return this.emit(written);
    // A local of its own, as one that a branch declares is not known after it.
    const after = this.bind(name, zeroOf(stmt.type));
    const found = this.fresh(name);
    this.emit({ ...written, result: found });
    this.assign(after, localOf(found, stmt.type));
    env.values.set(result!, after);
  }

  protected declareBeside(array: Extract<Stmt, { kind: "array" }>, name: string): void {
    const dots = this.fresh(dotName(array.name));
    this.derivatives.set(name, dots);
    this.scope.head.push({ ...array, name: dots });
  }

  protected carry(carried: readonly CarriedLocal[], write: () => void): void {
    for (const { name, init, cell, active } of carried)
      if (active) this.derivatives.set(cell.name, this.cell(dotName(name), this.dot(init)).name);
    write();
  }

  protected override begun(carried: CarriedLocal, value: Expr): LocalRef {
    const start = super.begun(carried, value);
    if (carried.active) this.beside(start, this.dot(carried.cell));
    return start;
  }

  protected override ended(carried: readonly CarriedLocal[], env: Env): void {
    // All tangents are known before one of them changes.
    for (const { name, cell, active } of carried)
      if (active) this.assign(localOf(this.derivatives.get(cell.name)!, cell.type), this.dot(env.values.get(name)!));
  }

  protected override joined({ result, sides }: BranchValue, blocks: readonly Pick<BranchSide, "block">[]): void {
    if (!this.isActive(result)) return;
    const name = this.fresh(dotName(result.name));
    this.derivatives.set(result.name, name);
    this.scope.head.push({ kind: "let", name, type: result.type, init: zeroOf(result.type), location: this.location });
    for (const [n, { block }] of blocks.entries())
      block.push({ kind: "assign", name, value: this.dot(sides[n]!), location: this.location });
  }
}

const loadOf = (view: string, indices: readonly Expr[], type: ScalarType): Expr => ({
  op: "load",
  type: type as "f64",
  view,
  indices: [...indices],
});
const elementOf = (array: string, index: Expr, type: ScalarType): Expr => ({ op: "element", type: type as "f64", array, index });
