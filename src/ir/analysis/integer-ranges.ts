import { isIndex, isWide } from "../scalars.js";
import { isExact, lastOf } from "../loop-stops.js";
import type { Expr, KernelIR, Stmt, Table } from "../types.js";
import { assignedLocals, children, exprsOf, blocksOf, walkExpr, walkStmts } from "../walk.js";
import type { Interval } from "./affine.js";
import { combined, fits, fitting, FULL, greatestOf, hull, unwrapped, type LinearFn } from "./intervals.js";

/**
 * Knowledge of a launch's integers at the time that its code is written.
 *
 * - `any`: nothing.
 * - `small`: the range's indices are from -65536 to 2^30 - 1, and extents at most 2^30.
 * - `settled`: moreover no sum, difference or product that is made of indices, counters, scalars and extents alone leaves i32.
 */
export type KnownIntegers = "any" | "small" | "settled";

const SMALL = 2 ** 30;
const INDEX: Interval = [-65536, SMALL - 1];

/** Values that an i32 expression can have. */
interface Values {
  readonly range: Interval;
  /** Something that was read, or that changes, is part of it. */
  readonly data: boolean;
}

type Loop = Extract<Stmt, { kind: "for" | "teamFor" | "teamReduce" }>;
type Linear = Extract<Expr, { op: "binary" }> & { fn: LinearFn };

/** An i32 sum, difference or product: what may wrap. */
const isArithmetic = (e: Expr): e is Linear => e.op === "binary" && isIndex(e.type) && ["add", "sub", "mul"].includes(e.fn);

/**
 * Values of integers, found while code is walked in its order: a local and a loop are noted before what uses them. i32 arithmetic wraps, so that
 * code that computes in a wider type, or in one whose overflow has no meaning, needs to know where it does not.
 */
export class IntegerRanges {
  private readonly locals = new Map<string, Values>();

  constructor(
    private readonly sizes: KnownIntegers,
    /** Locals that change: nothing is known of them. */
    private readonly assigned: ReadonlySet<string>,
    private readonly tables: readonly Table[],
    /** Values of indices (by axis), scalars and extents, where a launch tells them. */
    private readonly known: (leaf: Expr) => Interval | undefined = () => undefined,
  ) {}

  /** Notes a local's first value. */
  define(name: string, init: Expr): void {
    if (isIndex(init.type) && !this.assigned.has(name)) this.locals.set(name, this.of(init));
  }

  /** Notes the counter of a loop. */
  enter(loop: Loop): void {
    this.locals.set(loop.name, this.counter(loop));
  }

  private counter(loop: Loop): Values {
    if (loop.kind !== "for") {
      const { range, data } = this.of(loop.count);
      return { range: [0, Math.max(0, range[1] - 1)], data };
    }
    const last = lastOf(loop.stop);
    const [start, stop] = [this.of(loop.start), this.of(last ?? loop.stop)];
    const by = last ? 0 : 1;
    const [low, high] =
      loop.step > 0
        ? [start.range[0], Math.max(start.range[0], stop.range[1] - by)]
        : [Math.min(start.range[1], stop.range[0] + by), start.range[1]];
    return { range: fitting([low, high]), data: start.data || stop.data };
  }

  /** True where adding the step to a counter that has not reached the stop stays in i32. */
  stepFits({ start, stop, step }: Extract<Stmt, { kind: "for" }>): boolean {
    const last = lastOf(stop);
    if (!last && Math.abs(step) === 1) return true;
    const [from, to] = [this.of(start), this.of(last ?? stop)];
    if (this.sizes === "settled" && !from.data && !to.data) return true;
    const beyond = Math.abs(step) - (last ? 0 : 1);
    return step > 0 ? to.range[1] + beyond <= FULL[1] : to.range[0] - beyond >= FULL[0];
  }

  /** Values of the expression as an i32. */
  of(e: Expr): Values {
    if (isArithmetic(e)) {
      const [a, b] = [this.of(e.a), this.of(e.b)];
      const data = a.data || b.data;
      const range = unwrapped(e.fn, a.range, b.range);
      return { range: this.isSettled(data) ? within(range) : fitting(range), data };
    }
    const known = this.known(e);
    if (known) return { range: known, data: false };
    switch (e.op) {
      case "const":
        return { range: isWide(e.type) ? FULL : [Number(e.value), Number(e.value)], data: false };
      case "index":
        return { range: this.sizes === "any" ? FULL : INDEX, data: false };
      case "param":
        return { range: FULL, data: false };
      case "extent":
        return { range: [0, this.greatestExtent], data: false };
      case "teamSize":
        return { range: [1, INDEX[1]], data: false };
      case "local":
        return this.locals.get(e.name) ?? { range: FULL, data: true };
      case "table": {
        const values = isWide(e.type) ? undefined : (this.tables.find(({ name }) => name === e.table)?.values as number[] | undefined);
        return { range: values ? [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))] : FULL, data: true };
      }
      case "select": {
        const [a, b] = [this.of(e.a), this.of(e.b)];
        return { range: hull(a.range, b.range), data: a.data || b.data || this.hasData(e.cond) };
      }
      case "cast":
        return { range: e.a.type === "u32" ? fitting([0, greatestOf(e.a)]) : FULL, data: true };
      case "binary": {
        if (!isIndex(e.type)) return { range: FULL, data: true };
        const [a, b] = [this.of(e.a), this.of(e.b)];
        return { range: combined(e.fn, a.range, b.range), data: a.data || b.data };
      }
      case "checked":
        return { range: [-1, this.greatestExtent - 1], data: true };
      // Any other expression may have any value.
      default:
        return { range: FULL, data: true };
    }
  }

  /** Values of the expression where its sums, differences and products do not wrap. */
  unwrapped(e: Expr): Interval {
    if (!isArithmetic(e)) return this.of(e).range;
    const { range, data } = this.of(e);
    return this.isSettled(data) ? range : unwrapped(e.fn, this.unwrapped(e.a), this.unwrapped(e.b));
  }

  /** The same where products wrap that may leave i32. */
  summed(e: Expr): Interval {
    if (!isArithmetic(e) || e.fn === "mul" || this.fits(e)) return this.of(e).range;
    return unwrapped(e.fn, this.summed(e.a), this.summed(e.b));
  }

  /** True where no sum, difference or product of the expression wraps. */
  fits(e: Expr): boolean {
    if (!isArithmetic(e)) return true;
    const [a, b] = [this.of(e.a), this.of(e.b)];
    if (!this.isSettled(a.data || b.data) && !fits(unwrapped(e.fn, a.range, b.range))) return false;
    return this.fits(e.a) && this.fits(e.b);
  }

  /**
   * True where the unwrapped value of an index names the same element as the i32 does, if that one is inside an array: values above i32 then wrap to
   * negative ones, and those below it wrap to indices beyond the array.
   */
  names([low, high]: Interval, extent = this.greatestExtent): boolean {
    return low >= extent - 2 ** 32 && high < 2 ** 32;
  }

  private get greatestExtent(): number {
    return this.sizes === "any" ? FULL[1] : SMALL;
  }

  private isSettled(data: boolean): boolean {
    return this.sizes === "settled" && !data;
  }

  private hasData(e: Expr): boolean {
    return isIndex(e.type) ? this.of(e).data : e.op === "local" || e.op === "load" || children(e).some((child) => this.hasData(child));
  }
}

/** The same for code that need not be walked in its order: all locals and loops are noted. */
export function integerRanges(
  { body, tables }: KernelIR,
  sizes: KnownIntegers,
  known: (leaf: Expr) => Interval | undefined,
): IntegerRanges {
  const ranges = new IntegerRanges(sizes, assignedLocals(body), tables, known);
  walkStmts(body, (stmt) => {
    if (stmt.kind === "let" && stmt.init) ranges.define(stmt.name, stmt.init);
    if (stmt.kind === "for" || stmt.kind === "teamFor" || stmt.kind === "teamReduce") ranges.enter(stmt);
  });
  return ranges;
}

const within = ([low, high]: Interval): Interval => [Math.max(low, FULL[0]), Math.min(high, FULL[1])];

/**
 * How much is known of a launch whose indices, scalars and extents have these values.
 *
 * @param range values of a policy index, a scalar or an extent
 */
export function sizesOf(ir: KernelIR, range: (leaf: Expr) => Interval | undefined): KnownIntegers {
  const ranges = new IntegerRanges("any", assignedLocals(ir.body), ir.tables, range);
  let small = true;
  let settled = true;
  const expr = (whole: Expr): void =>
    walkExpr(whole, (e) => {
      const values = e.op === "index" || e.op === "extent" ? range(e) : undefined;
      if (e.op === "index" && values) small &&= INDEX[0] <= values[0] && values[1] <= INDEX[1];
      if (isArithmetic(e) && !isExact(e) && !ranges.of(e).data) settled &&= ranges.fits(e);
    });
  const block = (stmts: readonly Stmt[]): void => {
    for (const stmt of stmts) {
      for (const e of exprsOf(stmt)) expr(e);
      if (stmt.kind === "let" && stmt.init) ranges.define(stmt.name, stmt.init);
      if (stmt.kind === "for")
        settled &&= ranges.of(stmt.start).data || ranges.of(lastOf(stmt.stop) ?? stmt.stop).data || ranges.stepFits(stmt);
      if (stmt.kind === "for" || stmt.kind === "teamFor" || stmt.kind === "teamReduce") ranges.enter(stmt);
      for (const inner of blocksOf(stmt)) block(inner);
    }
  };
  block(ir.body);
  for (const param of ir.params)
    if (param.kind === "view" || param.kind === "scatter")
      for (let axis = 0; axis < param.rank; axis++) {
        const values = range({ op: "extent", type: "i32", view: param.name, axis });
        small &&= values === undefined || values[1] <= SMALL;
      }
  return !small ? "any" : settled ? "settled" : "small";
}
