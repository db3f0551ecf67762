import { isIndex } from "../scalars.js";
import { COMPARE, type CompareFn } from "../operators.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { assignedLocals, blocksOf, changeOf, children, exprsOf, readOf, walkStmts } from "../walk.js";
import { combined, fits, fitting, FULL, greatestOf, hull } from "./intervals.js";
import {
  addAffine,
  affineOf,
  atom,
  affineConstant,
  definitionsOf,
  rangeOf,
  scaleAffine,
  type Affine,
  type Definitions,
  type Interval,
} from "./affine.js";

/** An access with at least one index that is not proved to be inside, and the axes of these indices. */
export interface Unproved {
  /** Counted from 0 in the order of the code. */
  readonly number: number;
  readonly axes: readonly number[];
}

/** Knowledge of a launch. */
export interface LaunchFacts {
  /** Values that an atom can have (see `Affine`); undefined if nothing is known. */
  range(atom: string): Interval | undefined;
  /** Extents of a view, scatter target, private or scratch array, or table. */
  shape(array: string): readonly number[];
  /** True for axes along which an array's every index is right by construction. */
  trusted(array: string, axis: number): boolean;
  /** Equal for launches about which the same is known; where there is one, results are remembered by it. */
  readonly text?: string;
}

/** Facts that hold at an expression: linear forms that are at least 0. */
type Facts = readonly Affine[];

/**
 * The accesses that may leave their array in this launch, by the node that reads or the statement that changes: all but those whose indices
 * are inside by what is known of ranges, of loops' bounds and of the conditions around them. Forms are sums of integers here; the code computes
 * modulo 2^32, which is the same wherever the sum fits an i32: so a condition tells something only where both of its sides do.
 */
export function unprovedAccesses(ir: KernelIR, known: LaunchFacts): ReadonlyMap<Expr | Stmt, Unproved> {
  if (known.text === undefined) return new Prover(ir, known).unproved();
  let results = remembered.get(ir);
  if (!results || results.size >= MOST_REMEMBERED) remembered.set(ir, (results = new Map()));
  let result = results.get(known.text);
  if (!result) results.set(known.text, (result = new Prover(ir, known).unproved()));
  return result;
}

/** Results by code and by what was known: members of a set, and sets of one shape, launch the same. */
const remembered = new WeakMap<KernelIR, Map<string, ReadonlyMap<Expr | Stmt, Unproved>>>();
/** Launches with an integer that counts up never meet again. */
const MOST_REMEMBERED = 64;

class Prover {
  /** First values of locals that keep them. */
  private readonly inits: Definitions;
  /** The same, with locals whose value is not a linear form as atoms. */
  private readonly definitions: Definitions;
  /** Values of these, and of loop variables. */
  private readonly ranges = new Map<string, Interval>();
  private readonly found = new Map<Expr | Stmt, Unproved>();
  private number = 0;

  constructor(
    private readonly ir: KernelIR,
    private readonly known: LaunchFacts,
  ) {
    this.inits = definitionsOf(ir.body);
    this.definitions = withOpaque(ir.body);
  }

  unproved(): Map<Expr | Stmt, Unproved> {
    this.block(this.ir.body, []);
    return this.found;
  }

  private block(stmts: readonly Stmt[], facts: Facts): void {
    for (const stmt of stmts) {
      for (const expr of exprsOf(stmt)) this.expr(expr, facts);
      const change = changeOf(stmt);
      if (change && change.indices.length > 0) this.access(stmt, change.name, change.indices, facts);
      if (stmt.kind === "let" && isIndex(stmt.type) && stmt.init) this.ranges.set(`local:${stmt.name}`, this.range(stmt.init, facts));
      if (stmt.kind === "if") {
        this.block(stmt.then, [...facts, ...this.follows(stmt.cond, true)]);
        this.block(stmt.else, [...facts, ...this.follows(stmt.cond, false)]);
      } else if (stmt.kind === "while") {
        this.block(stmt.body, [...facts, ...this.follows(stmt.cond, true)]);
        this.block(stmt.update, facts);
      } else for (const block of blocksOf(stmt)) this.block(block, [...facts, ...this.turns(stmt)]);
    }
  }

  private expr(expr: Expr, facts: Facts): void {
    if (expr.op === "select") {
      this.expr(expr.cond, facts);
      this.expr(expr.a, [...facts, ...this.follows(expr.cond, true)]);
      this.expr(expr.b, [...facts, ...this.follows(expr.cond, false)]);
    } else if (expr.op === "logical") {
      this.expr(expr.a, facts);
      this.expr(expr.b, [...facts, ...this.follows(expr.a, expr.fn === "and")]);
    } else for (const child of children(expr)) this.expr(child, facts);
    const read = readOf(expr);
    if (read) this.access(expr, read.name, read.indices, facts);
  }

  private access(node: Expr | Stmt, array: string, indices: readonly Expr[], facts: Facts): void {
    const number = this.number++;
    const shape = this.known.shape(array);
    const axes = indices.flatMap((index, axis) => {
      if (this.known.trusted(array, axis)) return [];
      const [low, high] = this.range(index, facts);
      return 0 <= low && high < shape[axis]! ? [] : [axis];
    });
    // A node may stand in the tree twice.
    const before = this.found.get(node);
    if (axes.length === 0 && !before) return;
    this.found.set(node, { number: before?.number ?? number, axes: [...new Set([...(before?.axes ?? []), ...axes])].sort() });
  }

  /** Values that the i32 expression can have where the facts hold. */
  private range(expr: Expr, facts: Facts): Interval {
    const form = affineOf(expr, this.definitions);
    const range = form && ([this.least(form, facts), -this.least(scaleAffine(form, -1), facts)] as const);
    const byForm = range && fits(range) ? range : undefined;
    if (byForm && (expr.op !== "local" || this.definitions.get(expr.name))) return byForm;
    switch (expr.op) {
      case "local": {
        const init = this.inits.get(expr.name);
        const [low, high] = init ? this.range(init, facts) : form ? this.rangeOfAtom(`local:${expr.name}`) : FULL;
        // Conditions may speak of the local itself, whatever its value is made of.
        return byForm ? [Math.max(low, byForm[0]), Math.min(high, byForm[1])] : [low, high];
      }
      case "select":
        return hull(
          this.range(expr.a, [...facts, ...this.follows(expr.cond, true)]),
          this.range(expr.b, [...facts, ...this.follows(expr.cond, false)]),
        );
      case "cast":
        return expr.a.type === "u32" ? fitting([0, greatestOf(expr.a)]) : FULL;
      case "binary":
        return isIndex(expr.type) ? combined(expr.fn, this.range(expr.a, facts), this.range(expr.b, facts)) : FULL;
      // Any other expression may have any value.
      default:
        return FULL;
    }
  }

  /** The form is no less: by the ranges of its atoms, or because it exceeds a fact. */
  private least(form: Affine, facts: Facts): number {
    const low = (f: Affine): number => rangeOf(f, this.rangeOfAtom)?.[0] ?? -Infinity;
    return facts.reduce((best, fact) => Math.max(best, low(addAffine(form, scaleAffine(fact, -1)))), low(form));
  }

  private readonly rangeOfAtom = (name: string): Interval =>
    this.ranges.get(name) ?? this.known.range(name) ?? (name === "teamSize" ? [1, FULL[1]] : FULL);

  /** The expression as a form that does not wrap. */
  private exact(expr: Expr): Affine | undefined {
    const form = affineOf(expr, this.definitions);
    const range = form && rangeOf(form, this.rangeOfAtom);
    return range && fits(range) ? form : undefined;
  }

  /** Facts that follow when the condition has this value. */
  private follows(cond: Expr, value: boolean): Facts {
    switch (cond.op) {
      case "logical":
        return (cond.fn === "and") === value ? [...this.follows(cond.a, value), ...this.follows(cond.b, value)] : [];
      case "compare":
        return this.compared(value ? cond.fn : COMPARE[cond.fn].inverse, cond.a, cond.b);
      case "unary":
        return cond.fn === "not" ? this.follows(cond.a, !value) : [];
      case "local": {
        const init = this.inits.get(cond.name);
        return init ? this.follows(init, value) : [];
      }
      // Any other condition tells nothing.
      default:
        return [];
    }
  }

  private compared(fn: CompareFn, a: Expr, b: Expr): Facts {
    const [left, right] = [this.exact(a), this.exact(b)];
    if (!left || !right) return [];
    const [rise, fall] = [addAffine(right, scaleAffine(left, -1)), addAffine(left, scaleAffine(right, -1))];
    const strict = (form: Affine): Affine => addAffine(form, affineConstant(-1));
    return { lt: [strict(rise)], le: [rise], gt: [strict(fall)], ge: [fall], eq: [rise, fall], ne: [] }[fn];
  }

  /** Facts about the variable of a counted loop, or of one that a team shares; records its range. */
  private turns(stmt: Stmt): Facts {
    if (stmt.kind !== "for" && stmt.kind !== "teamFor" && stmt.kind !== "teamReduce") return [];
    const [low, high] =
      stmt.kind !== "for"
        ? [affineConstant(0), this.exact(stmt.count)]
        : stmt.step > 0
          ? [this.exact(stmt.start), this.exact(stmt.stop)]
          : [plus(this.exact(stmt.stop), 1), plus(this.exact(stmt.start), 1)];
    const least = low ? rangeOf(low, this.rangeOfAtom)![0] : FULL[0];
    const greatest = high ? rangeOf(high, this.rangeOfAtom)![1] - 1 : FULL[1];
    const name = `local:${stmt.name}`;
    // A loop without a turn has no values: any range is right then.
    this.ranges.set(name, [least, Math.max(least, greatest)]);
    const facts: Affine[] = [];
    if (low) facts.push(addAffine(atom(name), scaleAffine(low, -1)));
    if (high) facts.push(addAffine(addAffine(high, affineConstant(-1)), scaleAffine(atom(name), -1)));
    return facts;
  }
}

const plus = (form: Affine | undefined, by: number): Affine | undefined => form && addAffine(form, affineConstant(by));

/** Definitions in which an integer that keeps its first value is an atom if that value is not a linear form. */
function withOpaque(body: readonly Stmt[]): Definitions {
  const definitions = definitionsOf(body);
  const assigned = assignedLocals(body);
  walkStmts(body, (stmt) => {
    if (stmt.kind === "teamReduce") for (const { name, type } of stmt.results) if (isIndex(type)) definitions.set(name, undefined);
    if (stmt.kind !== "let" || !isIndex(stmt.type) || !stmt.init || assigned.has(stmt.name)) return;
    if (!affineOf(stmt.init, definitions)) definitions.set(stmt.name, undefined);
  });
  return definitions;
}
