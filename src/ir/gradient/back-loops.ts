import { add, binary, compare, div, eq, int, lt, mul, rem, sub } from "../expressions.js";
import { localOf } from "../by-name.js";
import type { LocalRef } from "../builder.js";
import { inclusiveStop, lastOf } from "../loop-stops.js";
import type { NumericType } from "../scalars.js";
import type { Expr, Stmt } from "../types.js";
import { exprsOf, walkExpr, blocksOf } from "../walk.js";
import { Back } from "./back.js";
import { childOf, zeroOf } from "./emission.js";
import { packedState, SLOTS, stepsBetween, unpackedState } from "./forward.js";
import { namesNeeded } from "./need.js";
import { stateOf } from "./loop-state.js";
import { barOf } from "./names.js";
import type { EntryOf, Env, LoopStmt } from "./trail.js";

type Loop = EntryOf<"loop">;
/** Gives the value of carried local number `n` at the beginning of a turn. */
type Start = (n: number) => Expr;

/** Loops backwards: a turn runs forward once more, then back. */
export class AdjointLoops extends Back {
  protected loopBack(entry: Loop): void {
    const bars = this.barsOf(entry);
    const counter = localOf(this.fresh(entry.loop.kind === "for" ? entry.loop.name : "turn"), "i32");
    this.arrangedBack(entry, bars, counter);
    this.location = entry.at;
    for (const [n, bar] of bars.entries()) if (bar) this.addTo(entry.carried[n]!.init, bar);
  }

  /** Adjoint of each carried local, which changes from turn to turn; undefined where nothing reaches it. */
  private barsOf({ loop, carried }: Loop): (LocalRef | undefined)[] {
    const exposed = readBeforeAssigned(loop);
    return carried.map(({ name, cell, active }) => {
      const after = this.barOf(cell);
      if (!active || !(exposed.has(name) || after)) return undefined;
      return this.temporary(barOf(name), after ?? zeroOf(cell.type));
    });
  }

  /** Writes the turns from the last to the first, in the cheapest way that gives the values that they need. */
  private arrangedBack(entry: Loop, bars: readonly (LocalRef | undefined)[], counter: LocalRef): void {
    const { carried, arrays, slots, start, loop } = entry;
    const none: Start = (n) => zeroOf(carried[n]!.cell.type);
    const turn = (from: Start): Stmt[] => this.turnBack(entry, bars, counter, from).stmts;
    const reruns = arrays.some(({ changes }) => changes);
    if (!reruns && !this.needsStarts(entry, bars, counter, none)) this.falling(entry, counter, () => turn(none));
    else if (slots) this.bySlots(entry, bars, counter);
    else if (reruns) this.falling(entry, counter, () => this.fromTheBeginning(entry, bars, counter));
    else {
      const at = stepsBetween(start!, counter, (loop as { step: number }).step);
      this.falling(entry, counter, () => turn((n) => unpackedState(carried[n]!.cell.type, carried[n]!.record!, at)));
    }
  }

  /** Whether a turn back needs the values of its beginning. */
  private needsStarts(entry: Loop, bars: readonly (LocalRef | undefined)[], counter: LocalRef, none: Start): boolean {
    if (entry.carried.length === 0) return false;
    return this.tried(() => {
      const { stmts, starts } = this.turnBack(entry, bars, counter, none);
      const wanted = namesNeeded(
        stmts,
        bars.flatMap((bar) => (bar ? [bar.name] : [])),
      );
      return starts.some(({ name }) => wanted.has(name));
    });
  }

  /** A turn forward with its values kept, and back. */
  private turnBack(
    { loop, carried, arrays, before }: Loop,
    bars: readonly (LocalRef | undefined)[],
    counter: Expr,
    from: Start,
  ): { stmts: Stmt[]; starts: LocalRef[] } {
    return this.scoped((scope) => {
      const env: Env = { ...childOf(before), loads: new Map() };
      this.useCopies(arrays, env);
      if (loop.kind === "for") env.values.set(loop.name, counter);
      const starts = carried.map((each, n) => this.begun(each, from(n)));
      for (const [n, { name }] of carried.entries()) env.values.set(name, starts[n]!);
      this.run(loop.body, env);
      const { trail, out: forward } = this;
      const back = this.block(() => {
        const seeds = bars.map((bar) => bar && this.temporary("g", bar));
        for (const [n, g] of seeds.entries()) if (g) this.addTo(env.values.get(carried[n]!.name)!, g);
        this.back(trail);
        for (const [n, bar] of bars.entries()) {
          if (bar) this.assign(bar, this.barOf(starts[n]!) ?? zeroOf(bar.type));
        }
      });
      return { stmts: [...scope.head, ...forward, ...scope.tail, ...back], starts };
    });
  }

  /** Arrays that the loop only reads are read as they were before it. */
  private useCopies(arrays: Loop["arrays"], env: Env): void {
    for (const { name, copy, changes } of arrays) {
      if (changes) continue;
      const bars = this.derivatives.get(env.arrays.get(name)!);
      if (bars !== undefined) this.derivatives.set(copy, bars);
      env.arrays.set(name, copy);
    }
  }

  private emitFor(counter: LocalRef, start: Expr, stop: Expr, step: number, write: () => Stmt[]): void {
    const body = this.block(() => void this.out.push(...write()));
    this.emit({ kind: "for", name: counter.name, start, stop, step, body });
  }

  /** Turns from the last to the first. */
  private falling({ loop, start, stop, count }: Loop, counter: LocalRef, write: () => Stmt[]): void {
    if (loop.kind !== "for") return this.emitFor(counter, sub(count!, 1), int(-1), -1, write);
    const { step } = loop;
    const sign = Math.sign(step);
    const included = lastOf(stop!);
    const bound = included ?? stop!;
    if (Math.abs(step) === 1) {
      // No turn at all where the stop is before the start; the last value is computed without leaving i32.
      const last = included ?? sub(binary(step > 0 ? "max" : "min", bound, start!), sign);
      return this.emitFor(counter, last, inclusiveStop(start!, -step), -step, write);
    }
    // The number of the last turn, where there is one.
    const last = stepsBetween(start!, included ?? sub(bound, sign), step);
    const then = this.block(() => this.emitFor(counter, add(start!, mul(last, step)), inclusiveStop(start!, -step), -step, write));
    const some = compare(step > 0 ? (included ? "ge" : "gt") : included ? "le" : "lt", bound, start!);
    this.emit({ kind: "if", cond: some, then, else: [] });
  }

  /** Runs turns from `first` to before `last` forward, and gives the state after them. */
  private again(
    entry: Loop,
    from: Start,
    [first, last]: readonly [Expr, Expr],
    step: number,
    around: (turn: LocalRef, state: readonly LocalRef[], stmts: Stmt[]) => Stmt[],
    counterOf: (turn: LocalRef) => Expr,
  ): LocalRef[] {
    const { loop, carried, arrays, before } = entry;
    const state = carried.map(({ name }, n) => this.cell(name, from(n)));
    const env = childOf(before);
    this.useCopies(arrays, env);
    const turn = localOf(this.fresh("q"), "i32");
    const { stmts } = this.turn(
      loop.body,
      env,
      (inner) => {
        if (loop.kind === "for") inner.values.set(loop.name, this.kept(counterOf(turn), loop.name));
        for (const [n, each] of carried.entries()) inner.values.set(each.name, this.begun(each, state[n]!));
      },
      (inner) => {
        for (const [n, { name }] of carried.entries()) this.assign(state[n]!, inner.values.get(name)!);
      },
    );
    this.location = entry.at;
    this.emitFor(turn, first, last, step, () => around(turn, state, stmts));
    return state;
  }

  /** The value of the loop's counter in a turn. */
  private counterAt({ loop, start }: Loop, turn: Expr): Expr {
    return loop.kind === "for" ? add(start!, mul(turn, loop.step)) : turn;
  }

  /**
   * Segments between kept states, from the last to the first: each runs forward from its state, and keeps up to 32 states inside; then each turn starts from the
   * nearest of these.
   */
  private bySlots(entry: Loop, bars: readonly (LocalRef | undefined)[], counter: LocalRef): void {
    const { carried } = entry;
    const { used, stride, seen } = entry.slots!;
    const segment = localOf(this.fresh("segment"), "i32");
    this.emitFor(segment, sub(used, 1), int(-1), -1, () => {
      const base = this.temporary("base", mul(segment, stride));
      const end = this.temporary("end", binary("min", seen, add(base, stride)));
      const every = this.temporary("every", div(add(stride, SLOTS - 1), SLOTS));
      const inner = carried.map(({ name, cell }) => {
        const record = this.fresh(`${name}_rec`);
        this.emit({ kind: "array", name: record, type: stateOf(cell.type), length: SLOTS, space: "private" });
        return record;
      });
      const kept = (n: number, array: string, at: Expr): Expr => unpackedState(carried[n]!.cell.type, array, at);
      const placeOf = (turn: Expr): Expr => div(sub(turn, base), every);
      this.again(
        entry,
        (n) => kept(n, carried[n]!.record!, segment),
        [base, end],
        1,
        (turn, state, stmts) => this.keeping(turn, { base, end, every }, state, inner, stmts),
        (turn) => this.counterAt(entry, turn),
      );
      const turn = localOf(this.fresh("q"), "i32");
      this.emitFor(turn, sub(end, 1), sub(base, 1), -1, () => {
        const place = this.temporary("place", placeOf(turn));
        const first = add(base, mul(place, every));
        const state = this.again(
          entry,
          (n) => kept(n, inner[n]!, place),
          [first, turn],
          1,
          (_, __, stmts) => stmts,
          (each) => this.counterAt(entry, each),
        );
        this.emit({ kind: "let", name: counter.name, type: "i32", init: this.counterAt(entry, turn) });
        return this.turnBack(entry, bars, counter, (n) => state[n]!).stmts;
      });
      return [];
    });
  }

  /** A turn of a segment: its state is kept where it has a slot, and it runs unless it is the last one. */
  private keeping(
    turn: LocalRef,
    { base, end, every }: { base: LocalRef; end: LocalRef; every: LocalRef },
    state: readonly LocalRef[],
    records: readonly string[],
    stmts: Stmt[],
  ): Stmt[] {
    const steps = sub(turn, base);
    const keep = this.block(() => {
      for (const [n, array] of records.entries())
        this.emit({ kind: "setElement", array, index: div(steps, every), value: packedState(state[n]!) });
    });
    this.emit({ kind: "if", cond: eq(rem(steps, every), 0), then: keep, else: [] });
    this.emit({ kind: "if", cond: lt(add(turn, 1), end), then: stmts, else: [] });
    return [];
  }

  /** The turns before this one once more from the beginning, as arrays that the loop changes are kept from there alone; then the turn. */
  private fromTheBeginning(entry: Loop, bars: readonly (LocalRef | undefined)[], counter: LocalRef): Stmt[] {
    const { loop, carried, arrays, before, start } = entry;
    for (const { name, copy, changes } of arrays) {
      const { type, length } = this.source.arrays.get(name)!;
      if (changes) this.copyArray(before.arrays.get(name)!, copy, type as NumericType, length);
    }
    const state = this.again(
      entry,
      (n) => carried[n]!.init,
      [loop.kind === "for" ? start! : int(0), counter],
      loop.kind === "for" ? loop.step : 1,
      (_, __, stmts) => stmts,
      (turn) => turn,
    );
    return this.turnBack(entry, bars, counter, (n) => state[n]!).stmts;
  }
}

/** Locals that a turn of a loop may read before it assigns them. */
function readBeforeAssigned(loop: LoopStmt): Set<string> {
  const found = new Set<string>();
  const read = (expr: Expr, done: ReadonlySet<string>): void =>
    walkExpr(expr, (node) => {
      if (node.op === "local" && !done.has(node.name)) found.add(node.name);
    });
  const visit = (stmts: readonly Stmt[], done: Set<string>): void => {
    for (const stmt of stmts) {
      for (const expr of exprsOf(stmt)) read(expr, done);
      if (stmt.kind === "assign") done.add(stmt.name);
      else if (stmt.kind === "if") {
        const [a, b] = [new Set(done), new Set(done)];
        visit(stmt.then, a);
        visit(stmt.else, b);
        for (const name of a) if (b.has(name)) done.add(name);
      } else for (const block of blocksOf(stmt)) visit(block, new Set(done));
    }
  };
  visit(loop.body, new Set());
  return found;
}
