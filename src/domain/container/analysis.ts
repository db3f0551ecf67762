import { memoised } from "#memoise";
import { analyseAccess, takenRange } from "../../ir/analysis/access.js";
import { affineOf, coefficient, definitionsOf, isConstant, without, type Definitions } from "../../ir/analysis/affine.js";
import { forwardStores } from "../../ir/passes/forward-stores.js";
import { gatherReductions } from "../../ir/passes/gather.js";
import { optimise } from "../../ir/passes/optimise.js";
import { checkRaces } from "../../ir/analysis/races.js";
import { removeDead } from "../../ir/passes/tidy.js";
import type { Expr, KernelIR, Location } from "../../ir/types.js";
import { hoistUniform } from "../../ir/passes/uniform.js";
import { exprsOf, mapExpr, mapStmts, walkExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import { KernelError } from "../../base/errors.js";
import type { AxisArray } from "../grid/axis-array.js";
import { axisOf, noMargins, type Margins } from "../grid/ghosts.js";
import type { Container, Field, FieldUse } from "../grid/grid.js";
import type { CellBox } from "../grid/region.js";
import { add, binary, index, mul, sub } from "../../ir/expressions.js";
import { overOneCell } from "./march.js";

/*
 * Analysis of a container's actions, from the abstract IR of its body: each field one dense array [z][y][x][k] over the whole grid, the policy's
 * indices (z, y, x).
 */

type Access = Pick<FieldUse, "field" | "level">;
/** Facts about a field and an array along axes that the code alone does not tell. */
type FieldFacts = Pick<FieldUse, "level"> & Pick<Field, "cardinality">;
type AxisFacts = Pick<AxisArray, "axes" | "ghosts">;
type Load = Extract<Expr, { op: "load" }>;

/** One place where the code touches a field or the mask. */
interface Touch {
  view: string;
  /** [dx, dy, dz] */
  offset: readonly number[];
  /** Undefined if it is not constant, and of the mask. */
  component: number | undefined;
  write: boolean;
  location: Location;
}

interface ContainerAnalysis {
  /** Optimised; the cell of every access is written as index, index + n or index - n (2 * index, index >> 1 on other grids). */
  ir: KernelIR;
  uses: FieldUse[];
  mask: Container["mask"];
}

/** Cells over which a container runs, and their grid. */
interface Place {
  /** Extents of the grid along x, y and z. */
  readonly extents: readonly number[];
  readonly ghosts: Margins;
  /** Bounds of the cells over which it runs. */
  readonly bounds: CellBox["bounds"];
  /** The side, if these are a face. */
  readonly side: CellBox["side"];
  /** The parity, if these are of one alone. */
  readonly parity: CellBox["parity"];
  readonly periodic: readonly boolean[];
}

/**
 * Optimises the code of a container, checks it and finds how it uses its fields.
 *
 * @param fields by view parameter
 * @param axisArrays by view parameter
 * @param box cells of the grid over which it runs. Default: all
 */
export function analyseContainer(
  lowered: KernelIR,
  fields: ReadonlyMap<string, Access>,
  grid: GridPlace,
  axisArrays: ReadonlyMap<string, AxisArray> = new Map(),
  box?: CellBox,
): ContainerAnalysis {
  const code = codeOf(lowered, fields, grid, axisArrays, box);
  const { ir, uses, mask } = memoised("container", code, () => analyse(code));
  return { ir, mask, uses: uses.map((use) => ({ ...use, ...fields.get(use.param)! })) };
}

/** Everything on which an analysis depends, as plain data. */
interface ContainerCode {
  readonly lowered: KernelIR;
  readonly fields: readonly (readonly [param: string, FieldFacts])[];
  readonly axisArrays: readonly (readonly [param: string, AxisFacts])[];
  readonly place: Place;
}

function codeOf(
  lowered: KernelIR,
  fields: ReadonlyMap<string, Access>,
  { extents, ghosts = noMargins(extents.length), periodic = extents.map(() => false) }: GridPlace,
  axisArrays: ReadonlyMap<string, AxisArray>,
  box: CellBox | undefined,
): ContainerCode {
  const place = { extents, ghosts, bounds: box?.bounds ?? extents.map((extent) => [0, extent] as const), side: box?.side };
  return {
    lowered,
    fields: [...fields].map(([param, { field, level }]) => [param, { level, cardinality: field.cardinality }]),
    axisArrays: [...axisArrays].map(([param, { axes, ghosts }]) => [param, { axes, ghosts }]),
    place: { ...place, parity: box?.parity, periodic },
  };
}

interface Analysed extends Pick<ContainerAnalysis, "ir" | "mask"> {
  readonly uses: readonly Omit<FieldUse, "field">[];
}

function analyse({ lowered, place, ...code }: ContainerCode): Analysed {
  const [fields, axisArrays] = [new Map(code.fields), new Map(code.axisArrays)];
  const raw = provedAxisArrays(unrollOffsets(lowered, fields), axisArrays, place);
  const axes = place.extents.length;
  const mask = maskOf(raw, axes, fields, axisArrays);
  const levelOf = levelsOf(fields, mask);
  const written = new Cells(raw, axes, levelOf).touches;
  checkReach(raw, written, levelOf, place);
  const { side } = place;
  const spread = side === undefined ? spreadViews(written) : besideFace(raw, written, side, place);
  const beside = side === undefined ? checkTouches(raw, written, spread, place) : [];
  checkComponents(raw, fields, axes);
  const isField = (view: string): boolean => levelOf(view) !== undefined;
  // Reads values of other cells back after writing them: the cell may not exist.
  const stored = spread.size > 0 ? raw : forwardStores(raw);
  // Skips code that is unchanged, and so optimised already.
  const optimised = hoistUniform(stored === raw ? raw : optimise(stored), (view) => !isField(view));
  const cells = new Cells(optimised, axes, levelOf);
  const { touches } = cells;
  const ir = assertDisjoint(withoutUnused(cells.canonical(), touches, isField), new Set([...spread, ...beside]));
  checkRaces(ir, analyseAccess(ir));

  const uses = [...fields].flatMap(([param, { level }]): Analysed["uses"] => {
    const own = touches.filter((t) => t.view === param);
    if (own.length === 0) return [];
    const [reads, writes] = [own.filter((t) => !t.write), own.filter((t) => t.write)];
    const use = { param, level, read: reads.length > 0, written: writes.length > 0, offsets: offsetsOf(reads, level) };
    return [spread.has(param) && use.written ? { ...use, spread: offsetsOf(writes, level) } : use];
  });
  const looks = touches.filter((t) => t.view === mask);
  return { ir, uses, mask: mask !== undefined && looks.length ? { param: mask, offsets: offsetsOf(looks, "own") } : undefined };
}

/**
 * The code of a container that marches, optimised, over stretches (see `March`); undefined if it is no other than cell by cell.
 * @param cellByCell what is known of it
 */
export function analyseMarch(
  lowered: KernelIR,
  fields: ReadonlyMap<string, Access>,
  grid: GridPlace,
  axisArrays: ReadonlyMap<string, AxisArray>,
  box: CellBox | undefined,
  cellByCell: ContainerAnalysis,
): KernelIR | undefined {
  const code = codeOf(lowered, fields, grid, axisArrays, box);
  const { ir } = memoised("march", code, () => ({ ir: overStretches(code) }));
  const names = ({ params }: KernelIR): string => params.flatMap(({ kind, name }) => (kind === "view" ? [name] : [])).join();
  return ir && names(ir) === names(cellByCell.ir) ? ir : undefined;
}

function overStretches({ lowered, place, ...code }: ContainerCode): KernelIR | undefined {
  const [fields, axisArrays] = [new Map(code.fields), new Map(code.axisArrays)];
  const raw = unrollOffsets(lowered, fields);
  const axes = place.extents.length;
  const levelOf = levelsOf(fields, maskOf(raw, axes, fields, axisArrays));
  const isField = (view: string): boolean => levelOf(view) !== undefined;
  const stretches = overOneCell(hoistUniform(optimise(forwardStores(raw)), (view) => !isField(view)));
  if (!stretches) return undefined;
  const cells = new Cells(provedAxisArrays(stretches, axisArrays, place), axes, levelOf);
  return withoutUnused(cells.canonical(), cells.touches, isField);
}

type GridPlace = Pick<Place, "extents"> & { readonly ghosts?: Margins; readonly periodic?: readonly boolean[] };

/** The view parameter that tells which cells are active. */
const maskOf = (
  ir: KernelIR,
  axes: number,
  fields: { has(param: string): boolean },
  axisArrays: { has(param: string): boolean },
): string | undefined =>
  ir.params.find((p) => p.kind === "view" && p.element === "u8" && p.rank === axes && !fields.has(p.name) && !axisArrays.has(p.name))?.name;

const levelsOf =
  (fields: ReadonlyMap<string, FieldFacts>, mask: string | undefined) =>
  (view: string): FieldUse["level"] | undefined =>
    view === mask ? "own" : fields.get(view)?.level;

/** The code with loops unrolled, so that it can be seen which cells it touches. */
export function unrollOffsets(lowered: KernelIR, fields: { has(param: string): boolean }): KernelIR {
  return optimise(gatherReductions(lowered), (ir) => shapingLoops(ir, fields));
}

/** Distinct offsets in a fixed order, without the own cell. */
function offsetsOf(touches: readonly Touch[], level: FieldUse["level"]): (readonly number[])[] {
  const distinct = new Map(touches.map(({ offset }) => [offset.join(), offset]));
  return [...distinct.values()]
    .filter((offset) => level !== "own" || offset.some((d) => d !== 0))
    .sort((a, b) => a.reduceRight((order, d, n) => order || d - b[n], 0));
}

/** Counters of loops on which it depends what is read or written of a field. */
function shapingLoops(ir: KernelIR, fields: { has(param: string): boolean }): Set<string> {
  const names = new Set<string>();
  const definitions = definitionsOf(ir.body);
  const note = (expr: Expr): void =>
    walkExpr(expr, (node) => {
      if (node.op !== "local" || names.has(node.name)) return;
      names.add(node.name);
      const definition = definitions.get(node.name);
      if (definition) note(definition);
    });
  walkExprs(ir.body, (node) => {
    if (node.op === "load" && fields.has(node.view)) node.indices.forEach(note);
  });
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "store" || stmt.kind === "scatter") stmt.indices.forEach(note);
  });
  return names;
}

/** Finds at which cells the code touches fields; these are known once loops are unrolled. */
class Cells {
  readonly touches: Touch[] = [];
  private readonly definitions: Definitions;

  constructor(
    private readonly ir: KernelIR,
    private readonly axes: number,
    private readonly levelOf: (view: string) => FieldUse["level"] | undefined,
  ) {
    this.definitions = definitionsOf(ir.body);
    const touch = (view: string, indices: readonly Expr[], write: boolean, location: Location): void => {
      const offset = this.offsetOf(view, indices, location);
      const last = offset && affineOf(indices[indices.length - 1], this.definitions);
      if (offset) this.touches.push({ view, offset, component: last && isConstant(last) ? last.constant : undefined, write, location });
    };
    walkStmts(ir.body, (stmt) => {
      for (const expr of exprsOf(stmt))
        walkExpr(expr, (node) => {
          if (node.op === "load") touch(node.view, node.indices, false, node.location ?? stmt.location);
        });
      if (stmt.kind === "store") touch(stmt.view, stmt.indices, true, stmt.location);
    });
  }

  /** The kernel with the cell of every access in its plainest form, so that a grid can read it off. */
  canonical(): KernelIR {
    const plain = (view: string, indices: readonly Expr[]): Expr[] => {
      const level = this.levelOf(view);
      const offset = this.offsetOf(view, indices, this.ir.location);
      if (!level || !offset) return [...indices];
      return [...offset.toReversed().map((d, axis) => shifted(BASES[level](axis), d)), ...indices.slice(this.axes)];
    };
    const expr = (root: Expr): Expr =>
      mapExpr(root, (node) => (node.op === "load" ? ({ ...node, indices: plain(node.view, node.indices) } satisfies Load) : node));
    const body = mapStmts(this.ir.body, {
      expr,
      stmt: (stmt) => (stmt.kind === "store" ? { ...stmt, indices: plain(stmt.view, stmt.indices) } : stmt),
    });
    return removeDead({ ...this.ir, body });
  }

  /** [dx, dy, dz]; undefined for views other than fields. */
  private offsetOf(view: string, indices: readonly Expr[], location: Location): number[] | undefined {
    const level = this.levelOf(view);
    if (level === undefined) return undefined;
    return Array.from({ length: this.axes }, (_, n) => {
      const axis = this.axes - 1 - n;
      const form = affineOf(level === "coarse" ? this.halved(indices[axis], axis) : indices[axis], this.definitions);
      const rest = form && without(form, `index:${axis}`);
      if (!form || coefficient(form, `index:${axis}`) !== (level === "fine" ? 2 : 1) || !isConstant(rest!))
        throw new KernelError(
          this.ir.name,
          location,
          `the offsets at which ${view} is read are not constant`,
          "write numbers, or count over a table in a loop with constant bounds and without break; for a choice, read both and write cond ? a : b",
        );
      return rest!.constant;
    });
  }

  /** The expression with the plain index in place of its half, locals seen through. */
  private halved(expr: Expr, axis: number): Expr {
    return mapExpr(expr, (node) => {
      const definition = node.op === "local" ? this.definitions.get(node.name) : undefined;
      if (definition) return this.halved(definition, axis);
      return isHalf(node, axis) ? index(axis) : node;
    });
  }
}

/** True for the index along an axis, divided by two. */
const isHalf = (expr: Expr, axis: number): boolean =>
  expr.op === "binary" && expr.fn === "shr" && expr.a.op === "index" && expr.a.axis === axis && expr.b.op === "const" && expr.b.value === 1;

const shifted = (base: Expr, d: number): Expr => (d === 0 ? base : d > 0 ? add(base, d) : sub(base, -d));

/** The cell of a field's grid, along one axis, that offsets count from. */
const BASES = {
  own: index,
  fine: (axis: number): Expr => mul(index(axis), 2),
  coarse: (axis: number): Expr => binary("shr", index(axis), 1),
};

const isSpread = ({ write, offset }: Touch): boolean => write && offset.some((d) => d !== 0);

/** Fields that are written in other cells. */
const spreadViews = (touches: readonly Touch[]): Set<string> => new Set(touches.filter(isSpread).map((t) => t.view));

/** Refuses neighbours beyond the grid, and beyond the ghosts where there are any. */
function checkReach(
  ir: KernelIR,
  touches: readonly Touch[],
  levelOf: (view: string) => FieldUse["level"] | undefined,
  { extents, ghosts, bounds }: Place,
): void {
  for (const { view, offset, write, location } of touches) {
    if (levelOf(view) !== "own") continue;
    const does = `${write ? "writes" : "reads"} ${view} at offset [${offset}]`;
    const far = offset.findIndex((d, n) => Math.abs(d) > extents[n]);
    if (far >= 0)
      throw new KernelError(
        ir.name,
        location,
        `${does}, but the grid has ${extents[far]} cells along ${"xyz"[far]}`,
        "make the grid larger, or use nearer neighbours",
      );
    offset.forEach((d, axis) => {
      const [first, end] = bounds[axis];
      const [below, above] = ghosts[axis];
      const beyond = [
        { side: "min", layers: below, reached: -(first + d) },
        { side: "max", layers: above, reached: end + d - extents[axis] },
      ].find(({ layers, reached }) => layers > 0 && reached > layers);
      if (!beyond) return;
      const side = `${"xyz"[axis]}${beyond.side}`;
      throw new KernelError(
        ir.name,
        location,
        `${does}, ${beyond.reached} layers beyond ${side}, where the grid has ${beyond.layers} ghosts`,
        `give the grid { ghosts: { ${side}: ${beyond.reached} } }, or use nearer neighbours`,
      );
    });
  }
}

/**
 * Fields that a container on a face writes and touches at other places than the own cell. Its cells are one layer, so what lies at one
 * distance from it is a layer as well: a layer that is written, the own one or one of ghosts, is touched straight across alone, and no two
 * cells meet.
 */
function besideFace(ir: KernelIR, touches: readonly Touch[], side: NonNullable<CellBox["side"]>, { ghosts, extents }: Place): Set<string> {
  const { axis, outward } = axisOf(side);
  const layers = ghosts[axis][outward < 0 ? 0 : 1];
  const refuse = ({ location }: Touch, problem: string, remedy: string): never => {
    throw new KernelError(ir.name, location, problem, remedy);
  };
  const isAcross = ({ offset }: Touch): boolean => offset.every((d, n) => n === axis || d === 0);
  const across = extents.map((_, n) => (n === axis ? (outward < 0 ? "-n" : "n") : "0")).join(", ");
  const writes = touches.filter(({ write }) => write);
  for (const touch of writes) {
    const { view, offset } = touch;
    const distance = offset[axis] * outward;
    if (isSpread(touch) && (distance <= 0 || !isAcross(touch)))
      refuse(
        touch,
        `writes ${view} at offset [${offset}] on ${side}`,
        `write the own cell, or ghosts straight beyond it: at(c, ${across})`,
      );
    if (distance > layers)
      refuse(
        touch,
        `writes ${view} at offset [${offset}] on ${side}, beyond which the grid has ${layers} ghosts`,
        `give the grid { ghosts: { ${side}: ${distance} } }, or write nearer to the side`,
      );
  }
  for (const touch of touches) {
    const store = writes.find(({ view, offset }) => view === touch.view && offset[axis] === touch.offset[axis]);
    if (store && !isAcross(touch))
      refuse(
        touch,
        `reads ${touch.view} at offset [${touch.offset}] while each cell writes it at [${store.offset}] (line ${store.location.line})`,
        "split the container in two, or write to another field",
      );
  }
  const apart = touches.filter(({ offset }) => offset.some((d) => d !== 0));
  return new Set(writes.filter(({ view }) => apart.some((touch) => touch.view === view)).map(({ view }) => view));
}

/**
 * Rejects neighbours' components that the container writes, unless these neighbours are of the parity that it does not run over. In a field
 * that is written in other cells each component must be touched at one offset: then no two cells touch one value.
 * @returns fields whose own cells are written while neighbours' values are read that no cell writes
 */
function checkTouches(ir: KernelIR, touches: readonly Touch[], spread: ReadonlySet<string>, place: Place): Set<string> {
  for (const view of spread)
    checkSpread(
      ir,
      touches.filter((t) => t.view === view),
    );
  const stores = touches.filter((t) => t.write && !spread.has(t.view));
  const beside = new Set<string>();
  for (const { view, offset, component, location } of touches) {
    if (spread.has(view) || offset.every((d) => d === 0)) continue;
    const own = stores.filter((store) => store.view === view);
    const clash = own.find((store) => component === undefined || store.component === undefined || store.component === component);
    if (clash) checkOtherParity(ir, { view, offset, location }, clash, place);
    if (own.length > 0) beside.add(view);
  }
  return beside;
}

/** Refuses to read a neighbour's value that the container writes: all but a neighbour of the parity that it does not run over. */
function checkOtherParity(ir: KernelIR, touch: Pick<Touch, "view" | "offset" | "location">, store: Touch, place: Place): void {
  const { view, offset, location } = touch;
  const { parity, periodic, extents } = place;
  const does = `reads ${view} at offset [${offset}] while each cell writes its own ${view} (line ${store.location.line})`;
  if (parity === undefined)
    throw new KernelError(ir.name, location, does, "write to another field and swap the two, or split the container in two");
  if (offset.reduce((sum, d) => sum + d, 0) % 2 === 0)
    throw new KernelError(ir.name, location, `${does}, and both cells have one parity`, "write to another field and swap the two");
  const odd = offset.findIndex((d, axis) => d !== 0 && periodic[axis] && extents[axis] % 2 !== 0);
  if (odd >= 0)
    throw new KernelError(
      ir.name,
      location,
      `${does}: along ${"xyz"[odd]}, which is periodic with ${extents[odd]} cells, the first cell and the last have one parity`,
      `give the grid an even number of cells along ${"xyz"[odd]}, or write to another field and swap the two`,
    );
}

/** Refuses a field that is written in other cells where two cells might touch one component of a third. */
function checkSpread(ir: KernelIR, touches: readonly Touch[]): void {
  const first = new Map<number, Touch>();
  const far = touches.find(isSpread)!;
  for (const touch of touches) {
    const { view, component, offset, location } = touch;
    const other = component === undefined ? undefined : first.get(component);
    if (component !== undefined && (!other || other.offset.join() === offset.join())) {
      first.set(component, touch);
      continue;
    }
    const clash = other
      ? `component ${component} at the offsets [${other.offset}] (line ${other.location.line}) and [${offset}]`
      : "a component that is not constant";
    throw new KernelError(
      ir.name,
      location,
      `writes ${view} in another cell, at offset [${far.offset}], and touches ${clash}`,
      `write ${view}[c][k], or touch each component of ${view} at one offset only, so that no two cells meet`,
    );
  }
}

/** The kernel with its views marked as disjoint, which `checkTouches` or `besideFace` has proved. */
const assertDisjoint = (ir: KernelIR, views: ReadonlySet<string>): KernelIR => ({
  ...ir,
  params: ir.params.map((param) => (param.kind === "view" && views.has(param.name) ? { ...param, disjoint: true } : param)),
});

/** Refuses values that an array along an axis does not have. Those read at constant distances alone need no check while the code runs. */
function provedAxisArrays(ir: KernelIR, arrays: ReadonlyMap<string, AxisFacts>, { extents, bounds }: Place): KernelIR {
  const proved = new Set(arrays.keys());
  for (const { view, affine, location } of analyseAccess(ir).accesses) {
    const array = arrays.get(view);
    if (!array) continue;
    for (const [n, form] of affine.slice(0, array.axes.length).entries()) {
      if (!form || !Object.keys(form.terms).every((name) => name.startsWith("index:"))) {
        proved.delete(view);
        continue;
      }
      const distance = form.constant - array.ghosts;
      const axis = array.axes.at(-1 - n)!;
      const [first, end] = bounds[axis];
      if (first + distance < -array.ghosts || end + distance > extents[axis] + array.ghosts)
        throw new KernelError(
          ir.name,
          location,
          `reads ${view} at distance ${distance} from the cell, and it has ${array.ghosts} ghosts`,
          "give it more ghosts, or read nearer",
        );
    }
  }
  if (proved.size === 0) return ir;
  const trusted = (name: string): number[] => [...arrays.get(name)!.axes.keys()];
  return { ...ir, params: ir.params.map((p) => (p.kind === "view" && proved.has(p.name) ? { ...p, trusted: trusted(p.name) } : p)) };
}

/** Refuses components that a field does not have, where the code alone tells. */
function checkComponents(ir: KernelIR, fields: ReadonlyMap<string, FieldFacts>, axes: number): void {
  for (const access of analyseAccess(ir).accesses) {
    const field = fields.get(access.view);
    const form = access.affine[axes];
    const range = form && isConstant(form) ? ([form.constant, form.constant] as const) : takenRange(access, axes, () => undefined);
    if (!field || !range || (range[0] >= 0 && range[1] < field.cardinality)) continue;
    throw new KernelError(
      ir.name,
      access.location,
      `component ${range[0] < 0 ? range[0] : range[1]} of ${access.view}, which has ${field.cardinality} in a cell`,
      `count from 0 to ${field.cardinality - 1}`,
    );
  }
}

/** Drops fields, and the mask, that no code touches. */
function withoutUnused(ir: KernelIR, touches: readonly Touch[], isField: (view: string) => boolean): KernelIR {
  const touched = new Set(touches.map((touch) => touch.view));
  return { ...ir, params: ir.params.filter(({ name }) => touched.has(name) || !isField(name)) };
}
