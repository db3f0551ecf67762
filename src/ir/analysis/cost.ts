import { jsonText } from "../../base/json.js";
import { BINARY, UNARY } from "../operators.js";
import { unreachable } from "../../base/unreachable.js";
import { affineOf, definitionsOf, rangeOf } from "./affine.js";
import type { Affine, Definitions, Interval } from "./affine.js";
import { analyseAccess, withLoops } from "./access.js";
import type { Access, AccessAnalysis } from "./access.js";
import { BYTES, isFloat } from "../scalars.js";
import { foldConstants } from "../constant-folding.js";
import { bodyOf } from "../joint.js";
import { literal } from "../simplify.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { children, exprsOf, hasJump, mapExpr, mapStmts, walkStmts } from "../walk.js";

/** Sizes that a launch adds to a kernel's code: its index set, the shapes of its arrays, its scalars. A `Binding` is one. */
export interface Sizes {
  policy: { kind: "range"; begin: readonly number[]; extents: readonly number[] } | { kind: "team"; league: number };
  /** Views and scatter arrays by name. */
  views: Readonly<Record<string, { shape: readonly number[] }>>;
  scalars: Readonly<Record<string, number | bigint | boolean>>;
}

/** The work of one launch, counted from the kernel's code. */
export interface WorkCost {
  /** Floating-point operations. */
  flops: number;
  /** Bytes that must pass between memory and processor at least once. */
  bytes: number;
  /** Present where loops depend on data, so that `flops` is an estimate. */
  estimate?: true;
}

/**
 * Counts the work of one launch from the kernel's code.
 *
 * Operations: + - * / % sqrt, min, max and each mathematical function count one, and so does the addition of a reduction, but for
 * that to the 0 from which an element's own sum starts; negation, abs, rounding, comparisons, casts and integers count nothing, nor does the
 * addition of a scatter, which belongs to the memory. Of an `if` or `?:` the heavier side counts. A loop counts as often as its bounds say, on average over the range; a loop whose bounds are data is
 * taken to visit once each element of what its variable indexes (as the segments of a sparse matrix do), or to turn once.
 *
 * Bytes: each array counts the distinct elements that linear indices can reach, along each axis, or the whole axis where an index is
 * data; once if it is read, written, gathered or scattered into, twice if it is read and written. This is the rule by which the
 * architectural efficiencies of Malenza et al. (TPDS 2025), Table V, come out.
 */
export function costOf(ir: KernelIR, sizes: Sizes): WorkCost {
  const key = keyOf(ir, sizes);
  let costs = counted.get(ir);
  if (!costs || costs.size >= KEPT) counted.set(ir, (costs = new Map()));
  let cost = costs.get(key);
  if (!cost) costs.set(key, (cost = count(ir, sizes)));
  return cost;
}

/** The same, counted when it is first asked for. It does not keep the views. */
export function costWhenAsked(ir: KernelIR, { policy, views, scalars }: Sizes): () => WorkCost {
  const shapes = shapesOf(views);
  let cost: WorkCost | undefined;
  return () => (cost ??= costOf(ir, { policy, views: shapes, scalars }));
}

const shapesOfViews = new WeakMap<Sizes["views"], Sizes["views"]>();

/** Shapes without the views, found once for each record of views. */
function shapesOf(views: Sizes["views"]): Sizes["views"] {
  let shapes = shapesOfViews.get(views);
  if (!shapes) shapesOfViews.set(views, (shapes = Object.fromEntries(Object.entries(views).map(([name, { shape }]) => [name, { shape }]))));
  return shapes;
}

/** Counts kept for reuse: members of a set launch one kernel on parts of the same size, and unrolled kernels take long to count. */
const counted = new WeakMap<KernelIR, Map<string, WorkCost>>();
const KEPT = 64;

/** Key of the sizes on which the cost depends, besides the code. */
function keyOf(ir: KernelIR, { policy, views, scalars }: Sizes): string {
  const range = policy.kind === "team" ? policy.league : [policy.begin, policy.extents];
  const whole = ir.params.filter((param) => param.kind === "scalar" && !isFloat(param.type)).map(({ name }) => scalars[name]);
  return jsonText([range, Object.entries(views).map(([name, { shape }]) => [name, shape]), whole]);
}

function count(ir: KernelIR, sizes: Sizes): WorkCost {
  const kernel = specialise(ir, sizes);
  const access = analyseAccess(kernel);
  const counter = new FlopCounter(kernel, access.accesses, sizes);
  const flops = counter.count();
  let bytes = 0;
  for (const param of ir.params)
    if (param.kind === "view" || param.kind === "scatter") bytes += BYTES[param.element] * transfersOf(access, param.name, sizes);
  return counter.estimate ? { flops, bytes, estimate: true } : { flops, bytes };
}

/** The kernel with integer and boolean scalars and all extents as constants. */
function specialise(ir: KernelIR, { scalars, views }: Sizes): KernelIR {
  const expr = (root: Expr) =>
    mapExpr(root, (node) => {
      if (node.op === "param" && !isFloat(node.type) && Object.hasOwn(scalars, node.name)) return literal(node.type, scalars[node.name]!);
      if (node.op === "extent") return literal("i32", views[node.view]!.shape[node.axis]!);
      return node;
    });
  return foldConstants({ ...ir, body: mapStmts(ir.body, { expr }) });
}

/** Ranges of the policy's indices; undefined for any other atom. */
function policyRange({ policy }: Sizes): (name: string) => Interval | undefined {
  const begin = policy.kind === "team" ? [0] : policy.begin;
  const extents = policy.kind === "team" ? [policy.league] : policy.extents;
  const ranges = new Map(begin.map((first, axis): [string, Interval] => [`index:${axis}`, [first, first + extents[axis]! - 1]]));
  return (name) => ranges.get(name);
}

const elementsOf = ({ policy }: Sizes): number => (policy.kind === "team" ? policy.league : policy.extents.reduce((a, b) => a * b, 1));

/** Operations of one node, its children aside. */
function flopsOf(expr: Exclude<Expr, { op: "select" }>): number {
  switch (expr.op) {
    case "unary":
      return isFloat(expr.type) ? UNARY[expr.fn].flops : 0;
    case "binary":
      return isFloat(expr.type) ? BINARY[expr.fn].flops : 0;
    case "call":
      return 1;
    case "const":
    case "local":
    case "param":
    case "index":
    case "teamSize":
    case "load":
    case "element":
    case "table":
    case "extent":
    case "compare":
    case "logical":
    case "cast":
    case "checked":
    case "failed":
      return 0;
    default:
      return unreachable(expr);
  }
}

/** An element's own sum, which starts from 0. */
const isSum = (init: Expr): boolean =>
  (init.op === "const" && init.value === 0) || (init.op === "binary" && init.fn === "add" && (isSum(init.a) || isSum(init.b)));

class FlopCounter {
  estimate = false;
  /** Locals that start from 0: the first addition to each is free, and the reduction's addition takes its place. */
  private readonly sums = new Set<string>();
  private readonly definitions: Definitions;
  /** Mean value of loop variables. */
  private readonly means = new Map<string, number>();
  private readonly policy: (name: string) => Interval | undefined;

  constructor(
    private readonly ir: KernelIR,
    private readonly accesses: readonly Access[],
    private readonly sizes: Sizes,
  ) {
    this.definitions = definitionsOf(ir.body);
    this.policy = policyRange(sizes);
    walkStmts(ir.body, (stmt) => {
      if (stmt.kind === "let" && stmt.init && isFloat(stmt.type) && isSum(stmt.init)) this.sums.add(stmt.name);
    });
  }

  count(): number {
    return this.block(this.ir.body, elementsOf(this.sizes));
  }

  /** Operations of the statements, run `runs` times in the whole launch. */
  private block(stmts: readonly Stmt[], runs: number): number {
    return stmts.reduce((sum, stmt) => sum + this.stmt(stmt, runs), 0);
  }

  private stmt(stmt: Stmt, runs: number): number {
    const own = runs * exprsOf(stmt).reduce((sum, expr) => sum + this.expr(expr), 0);
    switch (stmt.kind) {
      case "reduce":
        return own + runs * this.reduction(stmt.target, stmt.value);
      case "reduceJointly":
        return own + runs * stmt.targets.reduce((sum, target, n) => sum + this.reduction(target, stmt.values[n]!), 0);
      case "if":
        return own + Math.max(this.block(stmt.then, runs), this.block(stmt.else, runs));
      case "while":
        this.estimate = true;
        return own + this.block(stmt.body, runs) + this.block(stmt.update, runs);
      case "for":
      case "teamFor":
      case "teamReduce":
        return own + this.block(stmt.body, this.turns(stmt, runs));
      case "single":
        return own + this.block(stmt.body, runs);
      case "let":
      case "assign":
      case "array":
      case "setElement":
      case "store":
      case "scatter":
      case "atomic":
      case "print":
      case "break":
      case "continue":
        return own;
      default:
        return unreachable(stmt);
    }
  }

  private reduction(target: string, value: Expr): number {
    const param = this.ir.params.find((p) => p.name === target);
    if (param?.kind === "reduce" && param.combine) return this.expr(param.combine.body);
    if (param?.kind === "reduce" && param.joint) return this.expr(bodyOf(param.joint, target));
    if (!isFloat(value.type)) return 0;
    return value.op === "local" && this.sums.has(value.name) ? 0 : 1;
  }

  private expr(expr: Expr): number {
    if (expr.op === "select") return this.expr(expr.cond) + Math.max(this.expr(expr.a), this.expr(expr.b));
    return children(expr).reduce((sum, child) => sum + this.expr(child), flopsOf(expr));
  }

  /** Turns of a loop that is reached `runs` times. */
  private turns(loop: Extract<Stmt, { kind: "for" | "teamFor" | "teamReduce" }>, runs: number): number {
    if (hasJump(loop.body)) this.estimate = true;
    const start = loop.kind === "for" ? this.mean(affineOf(loop.start, this.definitions)) : 0;
    const stop = this.mean(affineOf(loop.kind === "for" ? loop.stop : loop.count, this.definitions));
    const step = loop.kind === "for" ? loop.step : 1;
    if (start === undefined || stop === undefined) {
      this.estimate = true;
      return this.segments(loop.name) ?? runs;
    }
    // A fractional mean comes from bounds that vary over the range.
    const turns = Math.max(0, Number.isInteger(stop - start) ? Math.ceil((stop - start) / step) : (stop - start) / step);
    this.means.set(`local:${loop.name}`, start + ((turns - 1) * step) / 2);
    return runs * turns;
  }

  private mean(form: Affine | undefined): number | undefined {
    const point =
      form &&
      rangeOf(form, (name) => {
        const range = this.policy(name);
        const mean = range ? (range[0] + range[1]) / 2 : this.means.get(name);
        return mean === undefined ? undefined : [mean, mean];
      });
    return point?.[0];
  }

  /** The longest axis that the loop's variable indexes; undefined if it indexes none. */
  private segments(name: string): number | undefined {
    const extents = this.accesses.flatMap(({ view, indices }) =>
      indices.flatMap((index, axis) => (this.moves(index, name) ? [this.sizes.views[view]!.shape[axis]!] : [])),
    );
    return extents.length ? Math.max(...extents) : undefined;
  }

  /** True if the value of an index changes with the variable, other than through data. */
  private moves(index: Expr, name: string): boolean {
    if (index.op === "load" || index.op === "element" || index.op === "table") return false;
    if (index.op !== "local") return children(index).some((child) => this.moves(child, name));
    const definition = this.definitions.get(index.name);
    return index.name === name || (definition !== undefined && this.moves(definition, name));
  }
}

/** Elements of a view that pass between memory and processor. */
function transfersOf({ accesses, views }: AccessAnalysis, view: string, sizes: Sizes): number {
  const reaches = accesses.filter((a) => a.view === view).map((access) => reachOf(access, sizes));
  if (reaches.length === 0 || elementsOf(sizes) === 0) return 0;
  const extents = sizes.views[view]!.shape.map((extent, axis) =>
    distinct(
      reaches.map((r) => r.axes[axis]),
      extent,
    ),
  );
  const box = extents.reduce((a, b) => a * b, 1);
  const elements = reaches.reduce((sum, r) => sum + r.elements, 0);
  return Math.min(box, elements) * (views[view]!.read && views[view]!.written ? 2 : 1);
}

/** Elements that one access can reach: along each axis an interval with its number of values, undefined for a whole axis; and places in all. */
interface Reach {
  axes: ({ range: Interval; values: number } | undefined)[];
  elements: number;
}

function reachOf(access: Access, sizes: Sizes): Reach {
  const ranges = withLoops(access.loops, policyRange(sizes));
  const valuesOf = (atoms: Iterable<string>) =>
    [...atoms].reduce((product, name) => {
      const range = ranges(name);
      return range ? product * Math.max(0, range[1] - range[0] + 1) : Infinity;
    }, 1);
  const axes = access.affine.map((form) => {
    const range = form && rangeOf(form, ranges);
    return range && { range, values: Math.min(range[1] - range[0] + 1, valuesOf(Object.keys(form.terms))) };
  });
  const atoms = new Set(access.affine.flatMap((form) => Object.keys(form?.terms ?? {})));
  return { axes, elements: axes.includes(undefined) ? Infinity : valuesOf(atoms) };
}

/** Distinct indices along an axis of the given extent. */
function distinct(reaches: readonly Reach["axes"][number][], extent: number): number {
  if (reaches.includes(undefined)) return extent;
  const known = (reaches as NonNullable<Reach["axes"][number]>[]).filter((r) => r.values > 0);
  let [covered, end] = [0, 0];
  for (const [low, high] of known.map((r) => r.range).sort((a, b) => a[0] - b[0])) {
    const from = Math.max(low, end);
    const to = Math.min(high + 1, extent);
    if (to > from) covered += to - from;
    end = Math.max(end, to);
  }
  return Math.min(
    covered,
    known.reduce((sum, r) => sum + r.values, 0),
  );
}
