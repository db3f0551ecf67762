import { jsonText } from "../../base/json.js";
import { affineOf, definitionsOf, atomParts, rangeOf, type Affine, type Interval } from "../analysis/affine.js";
import { define, localOf } from "../by-name.js";
import type { RangePolicy } from "../launch.js";
import { literal, simplify } from "../simplify.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { mapExpr, mapStmts } from "../walk.js";
import { FreshNames } from "./copy.js";

type Remainder = Extract<Expr, { op: "binary" }>;
type Select = Extract<Expr, { op: "select" }>;

/** Greatest i32, up to which a linear form is the value of its expression. */
const GREATEST = 2 ** 31 - 1;

/**
 * A kernel for a known range, with choices in place of remainders that wrap places around an axis, as `(i + 1) % n` does: next to its ends alone there is
 * something to choose. Along the last axis what is read is chosen, so that `interiorOf` finds it. No bit of any result changes.
 */
export function wrapByChoice(ir: KernelIR, policy: RangePolicy, extentOf: (view: string, axis: number) => number): KernelIR {
  if (ir.checks || ir.prints) return ir;
  const choices = new Choices(ir, policy, extentOf);
  const body = mapStmts(ir.body, { expr: (root) => mapExpr(root, (e) => choices.of(e)) });
  return choices.found ? { ...ir, body: [...choices.head, ...body] } : ir;
}

class Choices {
  readonly head: Stmt[] = [];
  found = false;
  private readonly names: FreshNames;
  private readonly definitions;
  private readonly known = new Map<string, Expr>();

  constructor(
    private readonly ir: KernelIR,
    private readonly policy: RangePolicy,
    private readonly extentOf: (view: string, axis: number) => number,
  ) {
    this.names = new FreshNames(ir);
    this.definitions = definitionsOf(ir.body);
  }

  /** Replacement of a node whose children have been replaced. */
  of(e: Expr): Expr {
    if (e.op === "load") {
      const at = e.indices.findIndex((index) => index.op === "select" && this.known.get(keyOf(index)) === index);
      if (at < 0) return e;
      const { cond, a, b } = e.indices[at] as Select;
      const read = (index: Expr): Expr => this.of({ ...e, indices: e.indices.with(at, index) });
      return { op: "select", type: e.type, cond, a: read(a), b: read(b) };
    }
    return (e.op === "binary" && e.fn === "rem" && e.type === "i32" && this.choice(e)) || e;
  }

  private choice({ a, b }: Remainder): Expr | undefined {
    const [form, divisor] = [a, b].map((e) => affineOf(e, this.definitions));
    const [values, sizes] = [form, divisor].map((of) => of && rangeOf(of, (atom) => this.valuesOf(atom)));
    if (!form || !values || !sizes || sizes[0] !== sizes[1] || sizes[0] < 1 || values[0] < 0 || values[1] > GREATEST) return undefined;
    const [size] = sizes;
    const [first, last] = [Math.floor(values[0] / size), Math.floor(values[1] / size)];
    const [atom, ...others] = Object.keys(form.terms).filter((name) => atomParts(name)[0] === "index");
    if (last - first > 1 || atom === undefined || others.length > 0 || form.terms[atom] !== 1) return undefined;
    const axis = Number(atomParts(atom)[1]);
    const index: Expr = { op: "index", type: "i32", axis };
    const constant = this.typedValue(form);
    const place = (turns: number): Expr =>
      simplify({ op: "binary", type: "i32", fn: "add", a: index, b: literal("i32", constant - turns * size) });
    this.found = true;
    if (first === last) return place(first);
    const bound = last * size - constant;
    const begin = this.policy.begin[axis]!;
    // The longer side comes first.
    const below = bound - begin >= begin + this.policy.extents[axis]! - bound;
    const cond: Expr = { op: "compare", type: "bool", fn: below ? "lt" : "ge", a: index, b: literal("i32", bound) };
    const [near, far] = below ? [first, last] : [last, first];
    return this.shared({ op: "select", type: "i32", cond, a: place(near), b: place(far) }, axis);
  }

  /** A choice along the last axis itself; of others a local, as all elements of a line share it. */
  private shared(choice: Select, axis: number): Expr {
    const key = keyOf(choice);
    const known = this.known.get(key);
    if (known) return known;
    let value: Expr = choice;
    if (axis < this.policy.extents.length - 1) {
      const name = this.names.fresh("wrapped");
      this.head.push(define(name, choice, this.ir.location));
      value = localOf(name, "i32");
    }
    this.known.set(key, value);
    return value;
  }

  private valuesOf(atom: string): Interval | undefined {
    const [kind, name, axis] = atomParts(atom);
    if (kind === "extent") return [this.extentOf(name, Number(axis)), this.extentOf(name, Number(axis))];
    if (kind !== "index") return undefined;
    const begin = this.policy.begin[Number(name)]!;
    return [begin, begin + Math.max(0, this.policy.extents[Number(name)]! - 1)];
  }

  /** The part of a form that is the same for all elements, which extents alone make. */
  private typedValue({ constant, terms }: Affine): number {
    return Object.entries(terms).reduce(
      (sum, [atom, factor]) => sum + (atomParts(atom)[0] === "extent" ? factor * this.valuesOf(atom)![0] : 0),
      constant,
    );
  }
}

const keyOf = (e: Expr): string => jsonText(e);
