import { isIndex } from "../../ir/scalars.js";
import type { Interval } from "../../ir/analysis/affine.js";
import { FULL } from "../../ir/analysis/intervals.js";
import type { IntegerRanges } from "../../ir/analysis/integer-ranges.js";
import type { Expr, ScalarType } from "../../ir/types.js";
import { someExpr } from "../../ir/walk.js";
import type { Dialect } from "./dialect.js";
import { at, infix, Precedence, OPERATORS, type Text } from "./operators.js";

/** Body whose indices are written. */
interface IndexedBody {
  readonly dialect: Dialect;
  /** Values of the integers that have been written so far. */
  readonly ranges: IntegerRanges;
  /** Loop variables and member indices, which have the `index` type. */
  readonly counters: ReadonlySet<string>;
  /** Locals that are assigned after their declaration. */
  readonly assigned: ReadonlySet<string>;
  local(name: string): string;
  /** The index of the policy along an axis, in the `index` type. */
  index(axis: number): string;
  expr(e: Expr): Text;
  literal(type: ScalarType, value: number | bigint | boolean): Text;
  /** The text that `write` gives, once operands that check indices have been evaluated in their order. */
  inOrder(e: Expr, write: () => Text): Text;
}

/** Writes i32 expressions in the `index` type, without wrapping where the value allows it. */
export class IndexWriter {
  /** First values of locals, as they were written. */
  private readonly values = new Map<string, Expr>();

  constructor(private readonly body: IndexedBody) {}

  /** Notes the value of a local. */
  define(name: string, init: Expr): void {
    this.body.ranges.define(name, init);
    if (isIndex(init.type) && !this.body.assigned.has(name)) this.values.set(name, init);
  }

  /**
   * True for a local that is better kept in the `index` type: a constant one, computed from a counter by steps that are exact there. Its
   * value as an i32 is the same, and addresses made of it can be followed from one turn of a loop to the next.
   */
  isIndex(name: string, init: Expr): boolean {
    const { counters, assigned, ranges } = this.body;
    const counts = (e: Expr) => e.op === "index" || (e.op === "local" && counters.has(e.name));
    return init.op === "binary" && isLinear(init) && someExpr(init, counts) && !assigned.has(name) && ranges.fits(init);
  }

  /** The value of an i32. `inside`: the result is an operand, so an i32 must be widened before it takes part. */
  integer(e: Expr, inside = false): Text {
    return this.body.ranges.fits(e) ? this.wide(e, inside) : this.widened(e, inside);
  }

  /**
   * An index: sums are left unwrapped where that names the same element, else the products in them wrap, else what counters are added to, else all
   * of it.
   */
  address(e: Expr, inside = false, extent?: number): Text {
    const { ranges } = this.body;
    const names = (range: Interval): boolean => ranges.names(range, extent);
    if (names(ranges.unwrapped(e))) return this.wide(e, inside);
    if (names(ranges.summed(e))) return this.wide(e, inside, true);
    return this.followed(e, names) ?? this.widened(e, inside);
  }

  /** An index that grows with counters from a first one which wraps; undefined if it does not, or would name another element. */
  private followed(e: Expr, names: (range: Interval) => boolean): Text | undefined {
    const terms = this.terms(e, 1);
    const counting = terms.filter((term) => this.counts(term.e));
    const others = terms.filter((term) => !counting.includes(term));
    if (counting.length === 0 || others.length === 0 || counting.some(({ sign }) => sign < 0)) return undefined;
    const sum = (list: readonly Term[]): Expr =>
      list.map(({ e, sign }): Expr => (sign < 0 ? { op: "unary", type: "i32", fn: "neg", a: e } : e)).reduce(added);
    const moved = sum(counting);
    const [low, high] = this.body.ranges.unwrapped(moved);
    if (!names([FULL[0] + low, FULL[1] + high])) return undefined;
    return infix("+", Precedence.Sum, this.widened(sum(others), true), this.wide(moved, true));
  }

  /** The terms of a sum, also where it is the value of a local. */
  private terms(e: Expr, sign: 1 | -1): Term[] {
    if (e.op === "binary" && isIndex(e.type) && (e.fn === "add" || e.fn === "sub"))
      return [...this.terms(e.a, sign), ...this.terms(e.b, e.fn === "sub" ? (-sign as 1 | -1) : sign)];
    const value = e.op === "local" && !this.body.counters.has(e.name) ? this.values.get(e.name) : undefined;
    const inner = value?.op === "binary" ? this.terms(value, sign) : [];
    const lasting = inner.every(
      ({ e }) => this.counts(e) || e.op === "const" || e.op === "param" || (e.op === "local" && this.values.has(e.name)),
    );
    return inner.length > 0 && lasting ? inner : [{ e, sign }];
  }

  private counts(e: Expr): boolean {
    return e.op === "index" || (e.op === "local" && this.body.counters.has(e.name));
  }

  /** An i32 that wraps, in the `index` type. */
  private widened(e: Expr, inside: boolean): Text {
    const { index } = this.body.dialect.types;
    const text = this.body.expr(e);
    return !inside ? text : [`(${index})${at(text, Precedence.Prefix)}`, Precedence.Prefix];
  }

  /** The expression without wrapping; products wrap where that is asked for and they may leave i32. */
  private wide(e: Expr, inside = false, narrowProducts = false): Text {
    const { body } = this;
    if (e.op === "const") return body.literal("i32", e.value);
    if (e.op === "index") return [body.index(e.axis), Precedence.Term];
    if (e.op === "local" && body.counters.has(e.name)) return [body.local(e.name), Precedence.Term];
    if (e.op !== "binary" || !isLinear(e)) return this.widened(e, inside);
    if (narrowProducts && e.fn === "mul" && !body.ranges.fits(e)) return this.widened(e, inside);
    const [sign, level] = OPERATORS[e.fn];
    return body.inOrder(e, () => infix(sign, level, this.wide(e.a, true, narrowProducts), this.wide(e.b, true, narrowProducts)));
  }
}

type Binary = Extract<Expr, { op: "binary" }>;

interface Term {
  readonly e: Expr;
  readonly sign: 1 | -1;
}

const added = (a: Expr, b: Expr): Expr => ({ op: "binary", type: "i32", fn: "add", a, b });

/** An i32 sum, difference, or product with a constant value, as in index arithmetic. */
function isLinear(e: Binary): e is Binary & { fn: "add" | "sub" | "mul" } {
  const same = (x: Expr) => x.op === "const" || x.op === "param" || x.op === "extent";
  return isIndex(e.type) && (e.fn === "add" || e.fn === "sub" || (e.fn === "mul" && (same(e.a) || same(e.b))));
}
