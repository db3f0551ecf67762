import { unreachable } from "../../base/unreachable.js";
import { add, div, neg, mul, select } from "../expressions.js";
import { localOf, paramOf } from "../by-name.js";
import type { LocalRef } from "../builder.js";
import type { Expr, Param, ScalarType, Stmt } from "../types.js";
import { zeroOf } from "./emission.js";
import { Forward, type KernelSource } from "./forward.js";
import { barOf, tiesName, extremeName } from "./names.js";
import type { Refusals } from "./refusals.js";
import { extremeShare, partialDerivatives } from "./rules.js";
import type { CarriedLocal, TrailEntry, EntryOf, Env, CodeScope, Trail, Effect } from "./trail.js";
import { onlyElement } from "./values.js";

/** How contributions reach the adjoint of a view. */
export type Form = "own" | "scatter";

interface AdjointSource extends KernelSource {
  readonly forms: ReadonlyMap<string, Form>;
  /** Views whose adjoints stay as they are where the kernel stores. */
  readonly kept: ReadonlySet<string>;
  readonly refusals: Refusals;
  /** Results of atomic operations that the adjoint does not repeat, by name: the array. */
  readonly unrepeated: Map<string, string>;
}

/** The adjoint: forward without effects, then back. */
export abstract class Back extends Forward {
  protected readonly goesBack = true;
  private root: CodeScope;

  constructor(protected override readonly source: AdjointSource) {
    super(source);
    this.root = this.scope;
  }

  /** Undoes a loop. */
  protected abstract loopBack(entry: EntryOf<"loop">): void;

  /** The code of the whole adjoint. */
  write(body: readonly Stmt[]): Stmt[] {
    this.root = this.scope;
    this.run(body, { values: new Map(), arrays: new Map(), loads: new Map() });
    const forward = this.out;
    const back = this.block(() => {
      this.back(this.trail);
      for (const name of this.source.active.scalars) this.sumOf(name);
    });
    return [...this.scope.head, ...forward, ...this.scope.tail, ...back];
  }

  /** Adds to the sum of a scalar all that has reached it from this element. */
  private sumOf(name: string): void {
    const bar = this.derivatives.get(barOf(name));
    const param = this.source.params.get(name)!;
    if (bar !== undefined && param.kind === "scalar") this.emit({ kind: "reduce", target: barOf(name), value: localOf(bar, param.type) });
  }

  protected effect(stmt: Effect, indices: readonly Expr[], value: Expr): void {
    const at = this.location;
    const { active } = this.source;
    switch (stmt.kind) {
      case "store": {
        const { view } = stmt;
        if (this.source.repeated.has(view)) {
          const before = this.bind(`${view}_before`, { op: "load", type: value.type as "f64", view, indices: [...indices] });
          this.emit({ kind: "store", view, indices: [...indices], value });
          this.record({ kind: "repeated", view, indices, before, at });
        }
        if (active.views.has(view)) this.record({ kind: "store", view, indices, value, at });
        return;
      }
      case "scatter":
        if (!this.isActive(value)) return;
        if (foldOf(this.source.params.get(stmt.target)!) !== "sum") this.source.refusals.fold(stmt, stmt.target);
        this.record({ kind: "scatter", target: stmt.target, indices, value, at });
        return;
      case "reduce": {
        if (!this.isActive(value)) return;
        const op = foldOf(this.source.params.get(stmt.target)!);
        if (op === "custom" || op === "joint") this.source.refusals.fold(stmt, stmt.target);
        this.record({ kind: op === "sum" ? "reduce" : "extreme", target: stmt.target, value, at });
        return;
      }
      case "reduceJointly":
        for (const [n, each] of stmt.values.entries()) if (this.isActive(each)) this.source.refusals.fold(stmt, stmt.targets[n]!);
        return;
      default:
        return unreachable(stmt);
    }
  }

  /** Atomic operations happen once: their results are known to the kernel alone. */
  protected atomic(stmt: Extract<Stmt, { kind: "atomic" }>, env: Env): void {
    if (stmt.result === undefined) return;
    const local = this.bind(stmt.result, zeroOf(stmt.type));
    this.source.unrepeated.set(local.name, stmt.target);
    env.values.set(stmt.result, local);
  }

  protected declareBeside(array: Extract<Stmt, { kind: "array" }>, name: string): void {
    const bar = this.fresh(barOf(array.name));
    this.derivatives.set(name, bar);
    this.scope.tail.push({ ...array, name: bar });
  }

  protected carry(_carried: readonly CarriedLocal[], write: () => void): void {
    write();
  }

  /** The adjoint of a local so far. */
  protected barOf({ name, type }: LocalRef): LocalRef | undefined {
    const bar = this.derivatives.get(name);
    return bar === undefined ? undefined : localOf(bar, type);
  }

  /** The array of an array's adjoints. */
  private barsOfArray(array: string): string {
    const bars = this.derivatives.get(array);
    if (bars === undefined) throw new Error(`private array ${array} has no adjoint`);
    return bars;
  }

  /** Adds to what reaches a value. */
  protected addTo(value: Expr, g: Expr): void {
    if (!this.isActive(value) || (g.op === "const" && g.value === 0)) return;
    if (value.op !== "local" && value.op !== "param") return;
    const key = value.op === "param" ? barOf(value.name) : value.name;
    const scope = value.op === "param" ? this.root : this.owners.get(value.name)!;
    let bar = this.derivatives.get(key);
    if (bar === undefined) {
      bar = this.fresh(barOf(value.name));
      this.derivatives.set(key, bar);
      if (scope === this.scope && this.depth === 0) return this.emit({ kind: "let", name: bar, type: value.type, init: g });
      scope.tail.push({ kind: "let", name: bar, type: value.type, init: zeroOf(value.type), location: this.location });
    }
    this.emit({ kind: "assign", name: bar, value: add(localOf(bar, value.type), g) });
  }

  protected back(trail: Trail): void {
    for (const entry of trail.toReversed()) {
      this.location = entry.at;
      this.undo(entry);
    }
  }

  private undo(entry: TrailEntry): void {
    switch (entry.kind) {
      case "operation":
        return this.operationBack(entry);
      case "select":
      case "load":
      case "element": {
        const g = this.barOf(entry.result);
        if (g) this.choiceBack(entry, g);
        return;
      }
      case "set": {
        const { index, value } = entry;
        const bars = this.barsOfArray(entry.array);
        if (this.isActive(value)) this.addTo(value, this.temporary("g", elementOf(bars, index, value.type)));
        return this.emit({ kind: "setElement", array: bars, index, value: zeroOf(value.type) });
      }
      case "store":
        return this.storeBack(entry);
      case "repeated":
        return this.emit({ kind: "store", view: entry.view, indices: [...entry.indices], value: entry.before });
      case "scatter":
        return this.addTo(entry.value, loadOf(barOf(entry.target), entry.indices, entry.value.type));
      case "reduce":
        return this.addTo(entry.value, paramOf(barOf(entry.target), entry.value.type));
      case "extreme": {
        const { target, value } = entry;
        const [result, ties] = [onlyElement(extremeName(target), value.type), onlyElement(tiesName(target), value.type)];
        return this.addTo(value, extremeShare(value, result, ties, paramOf(barOf(target), value.type)));
      }
      case "branch":
        return this.branchBack(entry);
      case "loop":
        return this.loopBack(entry);
      default:
        return unreachable(entry);
    }
  }

  private operationBack({ node, args, result }: EntryOf<"operation">): void {
    const g = this.barOf(result);
    if (!g) return;
    if (node.op === "binary" && node.fn === "div" && args.every((arg) => this.isActive(arg))) {
      // One division for both sides.
      const h = this.temporary("h", div(g, args[1]!));
      this.addTo(args[0]!, h);
      return this.addTo(args[1]!, neg(mul(h, result)));
    }
    for (const [n, times] of partialDerivatives(node, args, result).entries())
      if (times && this.isActive(args[n]!)) this.addTo(args[n]!, times(g));
  }

  private choiceBack(entry: EntryOf<"select" | "load" | "element">, g: LocalRef): void {
    switch (entry.kind) {
      case "select": {
        const [a, b] = entry.sides;
        this.addTo(a, select(entry.cond, g, zeroOf(g.type)));
        return this.addTo(b, select(entry.cond, zeroOf(g.type), g));
      }
      case "load":
        return this.deposit(entry.view, [...entry.indices], g);
      case "element": {
        const bars = this.barsOfArray(entry.array);
        return this.emit({ kind: "setElement", array: bars, index: entry.index, value: add(elementOf(bars, entry.index, g.type), g) });
      }
      default:
        return unreachable(entry);
    }
  }

  /** Adds to the adjoint of a view at a load. */
  private deposit(of: string, indices: Expr[], g: Expr): void {
    const form = this.source.forms.get(of)!;
    const view = barOf(of);
    switch (form) {
      case "scatter":
        return this.emit({ kind: "scatter", target: view, indices, value: g });
      case "own":
        return this.emit({ kind: "store", view, indices, value: add(loadOf(view, indices, g.type), g) });
      default:
        return unreachable(form);
    }
  }

  private storeBack({ view: of, indices, value }: EntryOf<"store">): void {
    const view = barOf(of);
    if (this.isActive(value)) this.addTo(value, this.temporary("g", loadOf(view, indices, value.type)));
    if (!this.source.kept.has(of)) this.emit({ kind: "store", view, indices: [...indices], value: zeroOf(value.type) });
  }

  private branchBack({ cond, joins, sides }: EntryOf<"branch">): void {
    const blocks = sides.map((trail, n) =>
      this.block(() => {
        this.depth++;
        for (const join of joins) {
          const g = this.barOf(join.result);
          if (g) this.addTo(join.sides[n]!, g);
        }
        this.back(trail);
        this.depth--;
      }),
    ) as [Stmt[], Stmt[]];
    if (blocks.some((block) => block.length > 0)) this.emit({ kind: "if", cond, then: blocks[0], else: blocks[1] });
  }
}

const loadOf = (view: string, indices: readonly Expr[], type: ScalarType): Expr => ({
  op: "load",
  type: type as "f64",
  view,
  indices: [...indices],
});
const elementOf = (array: string, index: Expr, type: ScalarType): Expr => ({ op: "element", type: type as "f64", array, index });

/** How a parameter folds what it is given. */
function foldOf(param: Param): "sum" | "min" | "max" | "custom" | "joint" {
  return param.kind === "scatter" || param.kind === "reduce" ? param.op : "sum";
}
