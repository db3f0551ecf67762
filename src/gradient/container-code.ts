import { offsetsIn } from "../domain/container/cell-code.js";
import type { Offset } from "../domain/grid/parts.js";
import { affineOf, definitionsOf, isConstant } from "../ir/analysis/affine.js";
import { FreshNames } from "../ir/passes/copy.js";
import { add, index, int, sub } from "../ir/expressions.js";
import { paramOf } from "../ir/by-name.js";
import type { FloatType } from "../ir/scalars.js";
import type { Expr, KernelIR, NumericType, Param, Stmt } from "../ir/types.js";
import { mapExpr, mapStmts, walkStmts } from "../ir/walk.js";

/*
 * Code of containers as kernels that gradients are known of, and back: scalars are views of one number to containers, and parameters to gradients.
 */

type Load = Extract<Expr, { op: "load" }>;

/** The statements with each node of their expressions replaced. */
const withNodes = (body: readonly Stmt[], node: (expr: Expr) => Expr): Stmt[] => mapStmts(body, { expr: (expr) => mapExpr(expr, node) });

/** The code of a scalar step as a kernel over one element, which has all scalars for its own. */
export function stepAsKernel(ir: KernelIR, scalars: ReadonlySet<string>): KernelIR {
  const own = (node: Expr): Expr => (node.op === "load" && scalars.has(node.view) ? { ...node, indices: [index(0)] } : node);
  const body = mapStmts(withNodes(ir.body, own), { stmt: (stmt) => (stmt.kind === "store" ? { ...stmt, indices: [index(0)] } : stmt) });
  return { ...ir, body, params: ir.params.map((param) => (param.kind === "view" ? { ...param, disjoint: false } : param)) };
}

/** Views of one number as parameters. */
export function scalarsAsParams(ir: KernelIR, scalars: ReadonlySet<string>): KernelIR {
  const params = ir.params.map((param): Param =>
    param.kind === "view" && scalars.has(param.name) ? { kind: "scalar", name: param.name, type: param.element as NumericType } : param,
  );
  const read = (node: Expr): Expr => (node.op === "load" && scalars.has(node.view) ? paramOf(node.view, node.type) : node);
  return { ...ir, params, body: withNodes(ir.body, read) };
}

/** The reverse, for all scalar parameters of these names. */
export function paramsAsScalars(ir: KernelIR, scalars: ReadonlySet<string>): KernelIR {
  const params = ir.params.map((param): Param =>
    param.kind === "scalar" && scalars.has(param.name)
      ? { kind: "view", name: param.name, element: param.type as NumericType, rank: 1, disjoint: false }
      : param,
  );
  const load = (view: string, type: NumericType): Load => ({ op: "load", type, view, indices: [int(0)] });
  const read = (node: Expr): Expr => (node.op === "param" && scalars.has(node.name) ? load(node.name, node.type as NumericType) : node);
  return { ...ir, params, body: withNodes(ir.body, read) };
}

/** A part of a cell's contributions: to component `component` of the cell at an offset. */
interface PartSite {
  readonly offset: Offset;
  readonly component: number;
}

/** Code that stores contributions in place of adding them to other cells, and the parts by view. */
interface PartsCode {
  readonly ir: KernelIR;
  /** By view of what is added into: where its contributions go, in the order in which the code has them. */
  readonly sites: ReadonlyMap<string, readonly PartSite[]>;
}

/**
 * Code of cells that add into the cells around them, as code in which each cell stores its contributions, one for each place that it adds to. Other cells then pull
 * them in one order.
 * @param cardinalities components, by view
 * @param partsName the view that takes the contributions to another
 */
export function contributionsAsParts(
  ir: KernelIR,
  cardinalities: (view: string) => number,
  partsName: (view: string) => string,
): PartsCode {
  const targets = ir.params.flatMap((param) => (param.kind === "scatter" ? [param] : []));
  if (targets.length === 0) return { ir, sites: new Map() };
  const axes = ir.policy.kind === "range" ? ir.policy.rank : 0;
  const offsetOf = offsetsIn(ir);
  const definitions = definitionsOf(ir.body);
  const names = new FreshNames(ir);
  const found = new Map(targets.map(({ name }) => [name, new Sites(cardinalities(name))]));
  const componentOf = (indices: readonly Expr[]): number | undefined => {
    const form = affineOf(indices[axes]!, definitions);
    return form && isConstant(form) ? form.constant : undefined;
  };
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "scatter") found.get(stmt.target)!.add(offsetOf(stmt.target, stmt.indices), componentOf(stmt.indices));
  });
  // Taken by views, so that no array has their names.
  for (const { name } of targets) names.fresh(partsName(name));
  const arrays = new Map(targets.map(({ name }) => [name, names.fresh(`${name}_parts`)]));
  const body = mapStmts(ir.body, {
    stmt: (stmt) => {
      if (stmt.kind !== "scatter") return stmt;
      const array = arrays.get(stmt.target)!;
      const place = found.get(stmt.target)!.placeOf(offsetOf(stmt.target, stmt.indices), componentOf(stmt.indices), stmt.indices[axes]!);
      const before: Expr = { op: "element", type: stmt.value.type as NumericType, array, index: place };
      return { kind: "setElement", array, index: place, value: add(before, stmt.value), location: stmt.location };
    },
  });
  const { location } = ir;
  const own = Array.from({ length: axes }, (_, axis) => index(axis));
  const heads = targets.map(({ name, element }): Stmt => {
    const length = found.get(name)!.list.length;
    return { kind: "array", name: arrays.get(name)!, type: element as FloatType, length, space: "private", location };
  });
  const stores = targets.flatMap(({ name, element }) =>
    found.get(name)!.list.map((_, n): Stmt => {
      const value: Expr = { op: "element", type: element as FloatType, array: arrays.get(name)!, index: int(n) };
      return { kind: "store", view: partsName(name), indices: [...own, int(n)], value, location };
    }),
  );
  const params = ir.params.map((param): Param =>
    param.kind === "scatter"
      ? { kind: "view", name: partsName(param.name), element: param.element, rank: axes + 1, disjoint: false }
      : param,
  );
  return {
    ir: { ...ir, params, body: [...heads, ...body, ...stores] },
    sites: new Map([...found].map(([name, { list }]) => [name, list])),
  };
}

/** Places to which the cells of some code add. */
class Sites {
  readonly list: PartSite[] = [];
  private readonly places = new Map<string, number>();

  constructor(private readonly cardinality: number) {}

  /** @param component undefined where it is found while the code runs: then all of them */
  add(offset: Offset, component: number | undefined): void {
    const all = component === undefined ? Array.from({ length: this.cardinality }, (_, k) => k) : [component];
    const isWhole = component === undefined && !this.places.has(`${offset.join()} all`);
    if (isWhole) this.places.set(`${offset.join()} all`, this.list.length);
    for (const k of all) {
      if (!isWhole && this.places.has(`${offset.join()} ${k}`)) continue;
      this.places.set(`${offset.join()} ${k}`, this.list.length);
      this.list.push({ offset, component: k });
    }
  }

  placeOf(offset: Offset, component: number | undefined, expr: Expr): Expr {
    if (component === undefined) return add(int(this.places.get(`${offset.join()} all`)!), expr as ReturnType<typeof int>);
    return int(this.places.get(`${offset.join()} ${component}`)!);
  }
}

/** Code by which each cell adds to its own values what the cells around it contribute, place after place. */
export function pullParts(name: string, like: KernelIR, type: FloatType, sites: readonly PartSite[]): KernelIR {
  const axes = like.policy.kind === "range" ? like.policy.rank : 0;
  const { location } = like;
  const view = (param: string): Param => ({ kind: "view", name: param, element: type, rank: axes + 1, disjoint: false });
  const from = (offset: Offset, n: number): Expr => ({
    op: "load",
    type,
    view: "parts",
    indices: [...Array.from({ length: axes }, (_, axis) => shifted(axis, -offset[axes - 1 - axis]!)), int(n)],
  });
  const components = [...new Set(sites.map(({ component }) => component))].sort((a, b) => a - b);
  const body = components.map((k): Stmt => {
    const indices = [...Array.from({ length: axes }, (_, axis) => index(axis)), int(k)];
    const pulled = sites.flatMap(({ offset, component }, n) => (component === k ? [from(offset, n)] : []));
    const total = pulled.reduce((sum, each) => add(sum as ReturnType<typeof int>, each) as Expr);
    const before: Expr = { op: "load", type, view: "bar", indices };
    return { kind: "store", view: "bar", indices, value: add(before as ReturnType<typeof int>, total), location };
  });
  return { name, policy: { kind: "range", rank: axes }, params: [view("parts"), view("bar")], tables: [], body, location };
}

const shifted = (axis: number, by: number): Expr => (by === 0 ? index(axis) : by > 0 ? add(index(axis), by) : sub(index(axis), -by));
