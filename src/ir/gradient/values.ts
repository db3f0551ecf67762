import { unreachable } from "../../base/unreachable.js";
import { select } from "../expressions.js";
import { localOf } from "../by-name.js";
import { printExpr } from "../kernel-text.js";
import type { FreshNames } from "../passes/copy.js";
import { isFloat, isIndex } from "../scalars.js";
import type { Expr, Location, ScalarType, Stmt } from "../types.js";
import { mapExpr, someExpr, walkExpr } from "../walk.js";
import { passesThrough, type ActiveNames } from "./activity.js";
import { Emission, childOf, zeroOf } from "./emission.js";
import type { StaleLoads } from "./in-place.js";
import type { FloatOperation } from "./rules.js";
import type { TrailEntry, Env, BranchValue, Trail } from "./trail.js";

/** Nodes that a passive value may have to be written twice instead of kept in a local. */
const CHEAP_INDEX = 7;
const CHEAP_VALUE = 1;
const COSTLY = 9;

/** A value that is wanted, by its wish for a name. */
type Wish = readonly [name: string, type: ScalarType];

/** Facts about a kernel for an emission of derivatives. */
export interface SweepSource {
  readonly names: FreshNames;
  readonly location: Location;
  /** Gradients end at all that is stored. */
  readonly isConstant: boolean;
  /** Names of the author that gradients pass through. */
  readonly active: ActiveNames;
  /** Views that the kernel stores into. */
  readonly written: ReadonlySet<string>;
  readonly stale: StaleLoads;
}

/**
 * The forward sweep of expressions. What derivatives pass through becomes locals that are assigned once, an operation each; other trees stay whole.
 */
export abstract class ForwardValues extends Emission {
  constructor(protected readonly source: SweepSource) {
    super(source.location, source.names);
  }

  /** Notes an operation: the tangent's code follows at once. */
  protected record(entry: TrailEntry): void {
    this.trail.push(entry);
  }

  protected override isActive(value: Expr): boolean {
    if (value.op === "param") return isFloat(value.type) && this.source.active.scalars.has(value.name);
    return super.isActive(value);
  }

  /** The view that a name of the code stands for. */
  protected viewOf(name: string): string {
    return this.source.stale.get(name)?.view ?? name;
  }

  /** A value that no derivative passes through, in the names of what is written. */
  protected passive(expr: Expr, env: Env): Expr {
    return mapExpr(expr, (node) => {
      if (node.op === "local") return env.values.get(node.name) ?? zeroOf(node.type);
      if (node.op === "element") return { ...node, array: env.arrays.get(node.array)! };
      return node;
    });
  }

  /** An index, kept where it may change or where it costs more than a local. */
  protected place(expr: Expr, env: Env): Expr {
    return this.kept(this.passive(expr, env), "at");
  }

  protected kept(expr: Expr, wish: string): Expr {
    return this.isStable(expr) && isCheap(expr) ? expr : this.bind(wish, expr);
  }

  /** Whether the value is the same in the reverse sweep. */
  private isStable(expr: Expr): boolean {
    return !someExpr(expr, (node) => node.op === "element" || (node.op === "load" && this.source.written.has(this.viewOf(node.view))));
  }

  /** Whether a derivative passes through the value. */
  protected touches(expr: Expr, env: Env): boolean {
    if (this.source.isConstant) return false;
    return passesThrough(expr, (leaf) => {
      switch (leaf.op) {
        case "local":
          return this.isActive(env.values.get(leaf.name) ?? leaf);
        case "param":
          return this.isActive(leaf);
        case "load":
          return this.source.active.views.has(this.viewOf(leaf.view));
        case "element":
          return this.source.active.arrays.has(leaf.array);
        default:
          return unreachable(leaf);
      }
    });
  }

  /** The value as a constant, a parameter, a local or a short passive expression; its active operations are recorded. */
  protected value(expr: Expr, env: Env): Expr {
    if (!this.touches(expr, env)) return this.passiveValue(this.passive(expr, env));
    switch (expr.op) {
      case "local":
        return env.values.get(expr.name)!;
      case "param":
        return expr;
      case "load":
        return this.loaded(expr, env);
      case "element": {
        const at = this.place(expr.index, env);
        const array = env.arrays.get(expr.array)!;
        const result = this.bind(expr.array, { ...expr, array, index: at }, true);
        this.record({ kind: "element", array, index: at, result, at: this.location });
        return result;
      }
      case "select":
        return this.selected(expr, env);
      case "unary":
      case "cast":
        return this.operation(expr, [this.value(expr.a, env)]);
      case "binary":
        return this.operation(expr, [this.value(expr.a, env), this.value(expr.b, env)]);
      case "call":
        return this.operation(
          expr,
          expr.args.map((arg) => this.value(arg, env)),
        );
      case "const":
      case "table":
      case "index":
      case "teamSize":
      case "extent":
      case "compare":
      case "logical":
      case "checked":
      case "failed":
        throw new Error(`${expr.op} is never active`);
      default:
        return unreachable(expr);
    }
  }

  private passiveValue(made: Expr): Expr {
    return made.op === "const" || made.op === "local" || made.op === "param" || made.op === "index" ? made : this.kept(made, "p");
  }

  private operation(node: FloatOperation, args: readonly Expr[]): Expr {
    const [a, b] = args as readonly [Expr, Expr];
    const made: FloatOperation =
      node.op === "call" ? { ...node, args: [...args] } : node.op === "binary" ? { ...node, a, b } : ({ ...node, a } as FloatOperation);
    const result = this.bind("t", made, true);
    this.record({ kind: "operation", node: made, args, result, at: this.location });
    return result;
  }

  private loaded(expr: Extract<Expr, { op: "load" }>, env: Env): Expr {
    const view = this.viewOf(expr.view);
    const indices = expr.indices.map((each) => this.place(each, env));
    const key = this.source.written.has(view) ? undefined : printExpr({ ...expr, indices });
    const known = key === undefined ? undefined : env.loads.get(key);
    if (known) return known;
    const result = this.bind(view, { ...expr, indices }, true);
    if (key !== undefined) env.loads.set(key, result);
    this.record({ kind: "load", view, indices, result, at: this.location });
    return result;
  }

  /** A choice of two values is one where they are known; sides that compute become branches, as the other side must not be run backwards. */
  private selected(expr: Extract<Expr, { op: "select" }>, env: Env): Expr {
    const cond = this.bind("c", this.passive(expr.cond, env));
    if (isLeaf(expr.a) && isLeaf(expr.b)) {
      const sides = [this.value(expr.a, env), this.value(expr.b, env)] as const;
      const result = this.bind("t", select(cond, ...sides), true);
      this.record({ kind: "select", cond, sides, result, at: this.location });
      return result;
    }
    const side = (of: Expr) => (inner: Env) => [this.value(of, inner)];
    return this.branch(cond, env, [side(expr.a), side(expr.b)], [["t", expr.type]])[0]!;
  }

  /** Two branches, and the values that both give. */
  protected branch(cond: Expr, env: Env, sides: readonly [(env: Env) => Expr[], (env: Env) => Expr[]], wishes: readonly Wish[]): Expr[] {
    const at = this.location;
    const made = sides.map((make) => this.side(childOf(env), make)) as [BranchSide, BranchSide];
    this.location = at;
    const joins = wishes.map((wish, n) => this.join(wish, made, n));
    this.emit({ kind: "if", cond, then: made[0].block, else: made[1].block });
    const active = joins.filter((join): join is BranchValue => "result" in join && this.isActive(join.result));
    this.record({ kind: "branch", cond, joins: active, sides: [made[0].trail, made[1].trail], at });
    return joins.map((join) => ("result" in join ? join.result : join.same));
  }

  private side(env: Env, make: (env: Env) => Expr[]): BranchSide {
    const { trail } = this;
    this.trail = [];
    this.depth++;
    let values: Expr[] = [];
    const block = this.block(() => (values = make(env)));
    this.depth--;
    const made = { block, values, trail: this.trail };
    this.trail = trail;
    return made;
  }

  private join([wish, type]: Wish, sides: readonly [BranchSide, BranchSide], n: number): BranchValue | { readonly same: Expr } {
    const [a, b] = sides.map(({ values }) => values[n]!) as [Expr, Expr];
    if (a === b || (a.op === "local" && b.op === "local" && a.name === b.name)) return { same: a };
    const result = localOf(this.fresh(wish), type);
    this.scope.head.push({ kind: "let", name: result.name, type, init: zeroOf(type), location: this.location });
    this.owners.set(result.name, this.scope);
    if (isFloat(type) && (this.isActive(a) || this.isActive(b))) this.active.add(result.name);
    for (const [m, { block }] of sides.entries())
      block.push({ kind: "assign", name: result.name, value: [a, b][m]!, location: this.location });
    const join = { result, sides: [a, b] as const };
    this.joined(join, sides);
    return join;
  }

  /** A value of two branches has been declared: the tangent declares its own. */
  protected joined(_join: BranchValue, _sides: readonly Pick<BranchSide, "block">[]): void {}
}

/** One of two branches. */
export interface BranchSide {
  readonly block: Stmt[];
  readonly values: readonly Expr[];
  readonly trail: Trail;
}

const isLeaf = ({ op }: Expr): boolean => op === "const" || op === "param" || op === "local";

function isCheap(expr: Expr): boolean {
  let cost = 0;
  walkExpr(expr, ({ op }) => (cost += op === "load" || op === "call" || op === "select" ? COSTLY : 1));
  return cost <= (isIndex(expr.type) ? CHEAP_INDEX : CHEAP_VALUE);
}

/** An element of a view of one number. */
export const onlyElement = (view: string, type: ScalarType): Expr => ({
  op: "load",
  type: type as "f64",
  view,
  indices: [{ op: "const", type: "i32", value: 0 }],
});
