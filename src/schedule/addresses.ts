import type { Interval } from "../ir/analysis/affine.js";
import type { IntegerRanges } from "../ir/analysis/integer-ranges.js";
import { isIndex } from "../ir/scalars.js";
import type { Expr as KernelExpr } from "../ir/types.js";
import { someExpr } from "../ir/walk.js";
import { cast, num } from "./build.js";
import type { Expr } from "./nodes.js";

/** Body whose indices are lowered. */
interface IndexedBody {
  /** Addresses have 64 bits. */
  readonly wide: boolean;
  /** Values of the integers that have been lowered so far. */
  readonly ranges: IntegerRanges;
  /** Loop variables and member indices, which have the type `index`. */
  readonly counters: ReadonlySet<string>;
  /** Locals that are assigned after their declaration. */
  readonly assigned: ReadonlySet<string>;
  counterOf(name: string): Expr;
  /** The index of the policy along an axis. */
  index(axis: number): Expr;
  expr(e: KernelExpr): Expr;
}

/** Lowers i32 expressions to the type `index`, without wrapping where the value allows it. */
export class Addresses {
  constructor(private readonly body: IndexedBody) {}

  /**
   * True for a local that is better kept in the type `index`: a constant one, computed from a counter by steps that are exact there. Its value as an
   * i32 is the same, and addresses made of it can be followed from one turn of a loop to the next.
   */
  isIndex(name: string, init: KernelExpr): boolean {
    const { counters, assigned, ranges, wide } = this.body;
    const counts = (e: KernelExpr) => e.op === "index" || (e.op === "local" && counters.has(e.name));
    return wide && init.op === "binary" && isLinear(init) && someExpr(init, counts) && !assigned.has(name) && ranges.fits(init);
  }

  /** The value of an i32. */
  integer(e: KernelExpr): Expr {
    return this.body.ranges.fits(e) ? this.exact(e) : this.widened(e);
  }

  /** An index: sums are left unwrapped where that names the same element, else the products in them wrap, else all of it. */
  address(e: KernelExpr, extent?: number): Expr {
    const { ranges } = this.body;
    const names = (range: Interval): boolean => ranges.names(range, extent);
    if (names(ranges.unwrapped(e))) return this.exact(e);
    return names(ranges.summed(e)) ? this.exact(e, true) : this.widened(e);
  }

  /** An i32 that wraps, in the type `index`. */
  private widened(e: KernelExpr): Expr {
    return cast(this.body.expr(e), "index");
  }

  /** The expression without wrapping; products wrap where that is asked for and they may leave i32. */
  exact(e: KernelExpr, narrowProducts = false): Expr {
    const { body } = this;
    if (e.op === "const") return num(Number(e.value), "index");
    if (e.op === "index") return body.index(e.axis);
    if (e.op === "local" && body.counters.has(e.name)) return body.counterOf(e.name);
    if (e.op !== "binary" || !isLinear(e)) return this.widened(e);
    if (narrowProducts && e.fn === "mul" && !body.ranges.fits(e)) return this.widened(e);
    return { op: "binary", type: "index", fn: e.fn, a: this.exact(e.a, narrowProducts), b: this.exact(e.b, narrowProducts), plain: true };
  }
}

type Binary = Extract<KernelExpr, { op: "binary" }>;

/** An i32 sum, difference, or product with a constant value, as in index arithmetic. */
function isLinear(e: Binary): e is Binary & { fn: "add" | "sub" | "mul" } {
  const same = (x: KernelExpr) => x.op === "const" || x.op === "param" || x.op === "extent";
  return isIndex(e.type) && (e.fn === "add" || e.fn === "sub" || (e.fn === "mul" && (same(e.a) || same(e.b))));
}
