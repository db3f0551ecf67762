import { unreachable } from "../../base/unreachable.js";
import { binary, cast, compare, div, eq, int, rem, select, sub } from "../expressions.js";
import { localOf } from "../by-name.js";
import type { LocalRef } from "../builder.js";
import { lastOf } from "../loop-stops.js";
import { isFloat, type NumericType, type ScalarType } from "../scalars.js";
import type { Expr, Param, Stmt } from "../types.js";
import { changedIn, declares, walkExprs, walkStmts } from "../walk.js";
import { childOf, zeroOf } from "./emission.js";
import { stateOf } from "./loop-state.js";
import type { CarriedLocal, Copied, Env, LoopStmt, Slots, Effect } from "./trail.js";
import { ForwardValues, type SweepSource } from "./values.js";

/** Turns up to which the values at the beginning of each are kept. */
const KEPT_TURNS = 256;
/** Turns whose beginnings are kept of a loop whose length is not known. */
export const SLOTS = 32;

/** Facts about a kernel for an emission of all its statements. */
export interface KernelSource extends SweepSource {
  readonly params: ReadonlyMap<string, Param>;
  /** Declarations of private arrays. */
  readonly arrays: ReadonlyMap<string, ArrayStmt>;
  /** Place of the last statement that changes an array, in the order of the code. */
  readonly lastSet: ReadonlyMap<string, number>;
  readonly order: ReadonlyMap<Stmt, number>;
  /** Views that the adjoint stores into, and restores. */
  readonly repeated: ReadonlySet<string>;
}

type ArrayStmt = Extract<Stmt, { kind: "array" }>;

/** One turn of a loop, written in a scope of its own. */
interface Turn {
  readonly stmts: Stmt[];
  readonly env: Env;
}

/** The forward sweep of statements. */
export abstract class Forward extends ForwardValues {
  constructor(protected override readonly source: KernelSource) {
    super(source);
  }

  /** Whether values are kept for a sweep back. */
  protected abstract readonly goesBack: boolean;
  /** Effects of the kernel: stores, scatters, reductions. ForwardValues are in the names of what is written. */
  protected abstract effect(stmt: Effect, indices: readonly Expr[], value: Expr): void;
  /** A private array of derivatives beside another. */
  protected abstract declareBeside(array: ArrayStmt, name: string): void;
  /** Locals of derivatives beside what a loop carries. */
  protected abstract carry(carried: readonly CarriedLocal[], write: () => void): void;

  protected run(stmts: readonly Stmt[], env: Env): void {
    for (const stmt of stmts) {
      this.location = stmt.location;
      this.statement(stmt, env);
    }
  }

  private statement(stmt: Stmt, env: Env): void {
    switch (stmt.kind) {
      case "let":
        return void env.values.set(stmt.name, stmt.init ? this.value(stmt.init, env) : zeroOf(stmt.type));
      case "assign":
        return void env.values.set(stmt.name, this.value(stmt.value, env));
      case "array":
        return this.array(stmt, env);
      case "setElement":
        return this.setElement(stmt, env);
      case "store":
      case "scatter":
        return this.effect(
          stmt,
          stmt.indices.map((index) => this.place(index, env)),
          this.value(stmt.value, env),
        );
      case "reduce":
        return this.effect(stmt, [], this.value(stmt.value, env));
      case "reduceJointly":
        return this.effect({ ...stmt, values: stmt.values.map((value) => this.value(value, env)) }, [], zeroOf("bool"));
      case "atomic":
        return this.atomic(stmt, env);
      case "if":
        return this.condition(stmt, env);
      case "for":
      case "while":
        return this.loop(stmt, env);
      // Lines are printed by the kernel itself.
      case "print":
        return;
      case "break":
      case "continue":
      case "teamFor":
      case "teamReduce":
      case "single":
        throw new Error(`${stmt.kind} in code to differentiate`);
      default:
        return unreachable(stmt);
    }
  }

  /** An atomic operation: integers, which are constants to gradients. */
  protected abstract atomic(stmt: Extract<Stmt, { kind: "atomic" }>, env: Env): void;

  private array(stmt: ArrayStmt, env: Env): void {
    const name = this.fresh(stmt.name);
    env.arrays.set(stmt.name, name);
    this.declareArray({ ...stmt, name });
    if (!this.source.active.arrays.has(stmt.name)) return;
    this.active.add(name);
    this.declareBeside(stmt, name);
  }

  private declareArray(array: ArrayStmt): void {
    if (this.depth > 0) this.scope.head.push(array);
    else this.out.push(array);
    this.owners.set(array.name, this.scope);
  }

  private setElement(stmt: Extract<Stmt, { kind: "setElement" }>, env: Env): void {
    const index = this.place(stmt.index, env);
    const value = this.value(stmt.value, env);
    const array = env.arrays.get(stmt.array)!;
    this.emit({ kind: "setElement", array, index, value });
    if (this.active.has(array)) this.record({ kind: "set", array, index, value, at: this.location });
  }

  private condition(stmt: Extract<Stmt, { kind: "if" }>, env: Env): void {
    const cond = this.bind("c", this.passive(stmt.cond, env));
    const changed = [...changedIn([stmt], "local")].filter((name) => env.values.has(name));
    const side =
      (block: readonly Stmt[]) =>
      (inner: Env): Expr[] => {
        this.run(block, inner);
        return changed.map((name) => inner.values.get(name)!);
      };
    const wishes = changed.map((name) => [name, env.values.get(name)!.type] as const);
    const values = this.branch(cond, env, [side(stmt.then), side(stmt.else)], wishes);
    for (const [n, name] of changed.entries()) env.values.set(name, values[n]!);
  }

  /** A turn of a loop forward, between what `before` and `after` write. */
  protected turn(body: readonly Stmt[], env: Env, before: (inner: Env) => void, after: (inner: Env) => void): Turn {
    return this.scoped((scope) => {
      const inner = { ...childOf(env), loads: new Map<string, Expr>() };
      before(inner);
      this.run(body, inner);
      after(inner);
      return { stmts: [...scope.head, ...this.out], env: inner };
    });
  }

  private loop(loop: LoopStmt, env: Env): void {
    const at = this.location;
    const isFor = loop.kind === "for";
    const start = isFor ? this.kept(this.passive(loop.start, env), "from") : undefined;
    const stop = isFor ? this.stop(loop.stop, env) : undefined;
    const names = [...changedIn(loop.body, "local")].filter((name) => env.values.has(name) && !declaredIn(loop.body).has(name));
    const turns = isFor ? turnsOf(start!, stop!, loop.step) : undefined;
    const isShort = turns !== undefined && turns <= KEPT_TURNS;
    const arrays = this.goesBack ? this.copies(loop, env) : [];
    const reruns = arrays.some(({ changes }) => changes);
    const keeps = this.goesBack && names.length > 0 && !reruns;
    const carried = names.map((name) => this.carried(name, env, keeps ? (isShort ? Math.max(1, turns) : SLOTS) : 0));
    const slots = keeps && !isShort ? this.slots() : undefined;
    const before = childOf(env);
    const count = isFor ? undefined : this.cell("turns", int(0));
    const counter = isFor ? localOf(this.fresh(loop.name), "i32") : undefined;
    const outer = childOf(env);
    for (const { name, cell } of carried) outer.values.set(name, cell);
    this.carry(carried, () => {
      const { stmts } = this.turn(
        loop.body,
        outer,
        (inner) => {
          if (isFor) inner.values.set(loop.name, counter!);
          for (const each of carried) inner.values.set(each.name, this.begun(each, each.cell));
          const values = carried.map(({ name }) => inner.values.get(name)!);
          if (slots) this.keepTurn(slots, carried, values);
          else if (keeps) this.keepAll(carried, values, stepsBetween(start!, counter!, (loop as { step: number }).step));
        },
        (inner) => {
          this.location = at;
          this.ended(carried, inner);
          for (const { name, cell } of carried) this.assign(cell, inner.values.get(name)!);
          if (count) this.assign(count, binary("add", count, 1));
        },
      );
      this.location = at;
      if (isFor) this.emit({ kind: "for", name: counter!.name, start: start!, stop: stop!, step: loop.step, body: stmts });
      else this.emit({ kind: "while", cond: this.passive(loop.cond, outer), body: stmts, update: [] });
    });
    for (const { name, cell } of carried) env.values.set(name, cell);
    this.record({ kind: "loop", loop, start, stop, carried, arrays, count, slots, before, at });
  }

  /** The end of a loop; one that includes its bound keeps its form. */
  private stop(stop: Expr, env: Env): Expr {
    const last = lastOf(stop);
    return last
      ? { ...(stop as Extract<Expr, { op: "binary" }>), a: this.kept(this.passive(last, env), "to") }
      : this.kept(this.passive(stop, env), "to");
  }

  private carried(name: string, env: Env, slots: number): CarriedLocal {
    const init = env.values.get(name)!;
    const active = isFloat(init.type) && this.source.active.locals.has(name);
    const record = slots > 0 ? this.recordOf(`${name}_rec`, stateOf(init.type), slots) : undefined;
    const cell = this.cell(name, init);
    if (active) this.active.add(cell.name);
    return { name, init, cell, active, record };
  }

  /** The value of a carried local at the beginning of a turn. */
  protected begun({ name, active }: CarriedLocal, value: Expr): LocalRef {
    return this.bind(name, value, active);
  }

  /** A turn has ended: the tangent's locals get their values. */
  protected ended(_carried: readonly CarriedLocal[], _env: Env): void {}

  protected recordOf(wish: string, type: NumericType, length: number): string {
    const name = this.fresh(wish);
    this.declareArray({ kind: "array", name, type, length, space: "private", location: this.location });
    return name;
  }

  private slots(): Slots {
    const [used, stride, seen] = [this.cell("used", int(0)), this.cell("stride", int(1)), this.cell("seen", int(0))];
    return { used: used, stride: stride, seen: seen };
  }

  /** Copies of arrays that the loop reads, and that will have changed when it is run again. */
  private copies(loop: LoopStmt, env: Env): Copied[] {
    const order = this.source.order.get(loop)!;
    const set = changedIn(loop.body, "array");
    return [...arraysRead(loop)]
      .filter((name) => env.arrays.has(name) && !declaredIn(loop.body).has(name) && this.source.lastSet.get(name)! > order)
      .map((name) => {
        const { type, length } = this.source.arrays.get(name)!;
        const copy = this.recordOf(`${name}_copy`, type, length);
        this.copyArray(copy, env.arrays.get(name)!, type, length);
        return { name, copy, changes: set.has(name) };
      });
  }

  protected copyArray(to: string, from: string, type: NumericType, length: number): void {
    const k = localOf(this.fresh("k"), "i32");
    const value: Expr = { op: "element", type, array: from, index: k };
    const { location } = this;
    const body: Stmt[] = [{ kind: "setElement", array: to, index: k, value, location }];
    this.emit({ kind: "for", name: k.name, start: int(0), stop: int(length), step: 1, body });
  }

  private keepAll(carried: readonly CarriedLocal[], values: readonly Expr[], turn: Expr): void {
    for (const [n, { record }] of carried.entries())
      this.emit({ kind: "setElement", array: record!, index: turn, value: packedState(values[n]!) });
  }

  /** Keeps the state at the beginning of every stride-th turn. When the slots are full, every other one is given up and the stride doubles. */
  private keepTurn({ used, stride, seen }: Slots, carried: readonly CarriedLocal[], values: readonly Expr[]): void {
    const half = SLOTS / 2;
    const keep = this.block(() => {
      const full = this.block(() => {
        const k = localOf(this.fresh("k"), "i32");
        const body = this.block(() => {
          for (const [n, { record }] of carried.entries()) {
            const value: Expr = {
              op: "element",
              type: packedState(values[n]!).type as NumericType,
              array: record!,
              index: binary("mul", k, 2),
            };
            this.emit({ kind: "setElement", array: record!, index: k, value });
          }
        });
        this.emit({ kind: "for", name: k.name, start: int(0), stop: int(half), step: 1, body });
        this.assign(used, int(half));
        this.assign(stride, binary("mul", stride, 2));
      });
      // An even number of strides has been made by then, so that this turn is kept under the new stride, too.
      this.emit({ kind: "if", cond: eq(used, SLOTS), then: full, else: [] });
      this.keepAll(carried, values, used);
      this.assign(used, binary("add", used, 1));
    });
    this.emit({ kind: "if", cond: eq(rem(seen, stride), 0), then: keep, else: [] });
    this.assign(seen, binary("add", seen, 1));
  }
}

/** A truth value as arrays hold it. */
export const packedState = (value: Expr): Expr => (value.type === "bool" ? select(value, int(1), int(0)) : value);
/** The value of a type that an array holds. */
export const unpackedState = (type: ScalarType, array: string, index: Expr): Expr => {
  const element: Expr = { op: "element", type: stateOf(type), array, index };
  return type === "bool" ? compare("ne", element, 0) : element;
};

/** Number of turns, where it is known. */
function turnsOf(start: Expr, stop: Expr, step: number): number | undefined {
  if (start.op !== "const" || stop.op !== "const") return undefined;
  return Math.max(0, Math.ceil((Number(stop.value) - Number(start.value)) / step));
}

/** Whole steps from one value of a counter to a later one; the distance may be more than an i32 holds. */
export function stepsBetween(start: Expr, to: Expr, step: number): Expr {
  const distance = step < 0 ? sub(start, to) : start.op === "const" && start.value === 0 ? to : sub(to, start);
  return Math.abs(step) === 1 ? distance : cast("i32", div(cast("u32", distance), Math.abs(step)));
}

function declaredIn(stmts: readonly Stmt[]): Set<string> {
  const names = new Set<string>();
  walkStmts(stmts, (stmt) => declares(stmt).forEach((name) => names.add(name)));
  return names;
}

function arraysRead(loop: LoopStmt): Set<string> {
  const names = new Set<string>();
  walkExprs(loop.body, (node) => node.op === "element" && names.add(node.array));
  return names;
}
