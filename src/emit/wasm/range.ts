import { REDUCTION_CHUNK } from "../../ir/types.js";
import type { RangePolicy } from "../../ir/launch.js";
import { tilesRemark, tilesOf, type Tiles } from "../../ir/analysis/tiles.js";
import { axisOrder } from "./axis-order.js";
import { InnerLoop } from "./inner-loop.js";
import { Int } from "./ints.js";
import { type KernelCode, SLICE_PARAMS } from "./kernel-code.js";
import { type Accumulator, foldAccumulators, privateLanes, storePartial, workersLanes } from "./reduction.js";
import { chooseWidth } from "./width.js";

/** Elements that one call of `slice` works through, about. */
const ELEMENTS_OF_SLICE = 16384;

/** Units in which the work of a module is counted, a number of them for one call of `slice`. */
export interface SliceUnits {
  readonly units: number;
  readonly batch: number;
}

/** Elements of a unit of a single line to whose units no partial results belong: whole cache lines, and so few that many workers get a share of a short one. */
const SHORT_UNIT = 64;

/** The axis along which the lines of a range run, and the elements of a line that make a unit. */
export interface RangeLines {
  readonly axis: number;
  readonly unit: number;
}

/** The work of a range without tiles. */
export function workOfRange({ extents }: RangePolicy, { axis: inner, unit }: RangeLines): SliceUnits {
  const lines = extents.reduce((product, extent, axis) => (axis === inner ? product : product * extent), 1);
  const elementsOfUnit = Math.max(1, Math.min(unit, extents[inner]));
  return { units: lines * Math.ceil(extents[inner] / unit), batch: Math.round(ELEMENTS_OF_SLICE / elementsOfUnit) };
}

/** A begin or an extent: known, or an argument. */
type Bound = number | Int;

/**
 * Fills `slice` for a range. A unit is some elements of a line, a line one combination of the outer indices: unit = line * (units of a line) + chunk,
 * which is also the index of a strict reduction's partial, with REDUCTION_CHUNK elements a unit. With `paired`, an element of the kernel is two of
 * the range, neighbours along the last axis but one.
 */
export function emitRange(code: KernelCode, whole: RangePolicy, paired = false): SliceUnits & { readonly lines?: RangeLines } {
  const { fn, spec } = code;
  const pairs = paired ? whole.extents.length - 2 : -1;
  const policy = { ...whole, extents: whole.extents.map((extent, axis) => (axis === pairs ? extent / 2 : extent)) };
  const strategies = Object.values(spec.scatter);
  const tiles = tilesOf(spec.ir, policy, strategies);
  if (paired) code.remarks.push(`axis ${pairs}: two elements at a time, as they read the same`);
  code.remarks.push(...tilesRemark(spec.ir, policy, strategies));
  if (tiles) return emitTiles(code, policy, tiles);
  const argument = (kind: "begin" | "count", axis: number): Int => Int.local(fn, code.argument({ kind, axis }, "i32"));
  const order = paired ? [...policy.extents.keys()] : axisOrder(code, policy);
  const axes = order.map((axis): { axis: number; begin: Bound; extent: Bound } =>
    spec.anyRange
      ? { axis, begin: argument("begin", axis), extent: argument("count", axis) }
      : { axis, begin: policy.begin[axis], extent: policy.extents[axis] },
  );
  const inner = axes.pop()!;
  const accumulators = new Map(code.reductions.map((p) => [p.name, code.ordered ? privateLanes(code, p) : workersLanes(code, p)]));
  const byUnit = code.ordered && accumulators.size > 0;
  const ofUnit = byUnit || axes.length > 0 ? REDUCTION_CHUNK : SHORT_UNIT;
  const unitsOfLine = chunksOf(code, inner.extent, ofUnit);
  const variable = { op: "index", type: "i32", axis: inner.axis } as const;
  const width = chooseWidth(code, spec.ir.body, variable, code.reductions, "elements");

  const local = (n: number): Int => Int.local(fn, n);
  const [unit, line, chunk, units, from, count] = Array.from({ length: 6 }, () => fn.local("i32"));
  local(SLICE_PARAMS.first).to(unit);
  const top = fn.loop();
  local(unit).over(unitsOfLine).to(line);
  local(unit).minus(local(line).times(unitsOfLine)).to(chunk);
  if (byUnit) Int.constant(fn, 1).to(units);
  else
    Int.of(fn, unitsOfLine)
      .minus(local(chunk))
      .orAtMost(local(SLICE_PARAMS.end).minus(local(unit)))
      .to(units);
  const done = local(chunk).times(ofUnit);
  done.plus(inner.begin).to(from);
  local(units).times(ofUnit).orAtMost(Int.of(fn, inner.extent).minus(done)).to(count);
  for (const [n, { axis, begin, extent }] of [...axes.entries()].reverse()) {
    const place = n > 0 ? local(line).modulo(extent) : local(line);
    (axis === pairs ? place.times(2) : place).plus(begin).to(code.localOf(axis, "i32", "index"));
    local(line).over(extent).to(line);
  }
  new InnerLoop(code, { variable, body: spec.ir.body, width, accumulators }).emit(from, count);
  if (byUnit) storePartials(code, accumulators, unit);
  local(unit).plus(local(units)).to(unit);
  local(unit).isBelow(local(SLICE_PARAMS.end)).emit();
  fn.brIf(top);
  fn.end();

  const lines = { axis: inner.axis, unit: ofUnit };
  return { ...workOfRange(policy, lines), lines };
}

function storePartials(code: KernelCode, accumulators: ReadonlyMap<string, Accumulator>, unit: number): void {
  foldAccumulators(accumulators.values());
  for (const a of accumulators.values()) storePartial(code, a.fold, unit, () => (a.fold.joint ? a.firstLane() : a.result()));
}

/** Units of a line; the last may be short. */
function chunksOf({ fn }: KernelCode, extent: Bound, ofUnit: number): Bound {
  if (typeof extent === "number") return Math.ceil(extent / ofUnit);
  const chunks = fn.local("i32");
  extent
    .plus(ofUnit - 1)
    .over(ofUnit)
    .to(chunks);
  return Int.local(fn, chunks);
}

/** Fills `slice` for a range in tiles, one a unit, each with a nest of loops. */
function emitTiles(code: KernelCode, policy: RangePolicy, { tile, counts, total }: Tiles): SliceUnits {
  const { fn, spec } = code;
  const order = axisOrder(code, policy);
  const inner = order.at(-1)!;
  const variable = { op: "index", type: "i32", axis: inner } as const;
  const width = chooseWidth(code, spec.ir.body, variable, [], "elements");
  const local = (n: number): Int => Int.local(fn, n);
  const [unit, rest, count] = Array.from({ length: 3 }, () => fn.local("i32"));
  const [begins, ends] = Array.from({ length: 2 }, () => tile.map(() => fn.local("i32")));
  local(SLICE_PARAMS.first).to(unit);
  const top = fn.loop();
  local(unit).to(rest);
  for (const axis of [...tile.keys()].reverse()) {
    const place = axis > 0 ? local(rest).modulo(counts[axis]) : local(rest);
    place.times(tile[axis]).to(begins[axis]);
    local(rest).over(counts[axis]).to(rest);
    // Counted from the range's begin, which may be negative.
    local(begins[axis]).plus(tile[axis]).orAtMost(Int.constant(fn, policy.extents[axis])).minus(local(begins[axis])).to(ends[axis]);
    local(begins[axis]).plus(policy.begin[axis]).to(begins[axis]);
    local(begins[axis]).plus(local(ends[axis])).to(ends[axis]);
  }
  const nest = (level: number): void => {
    const axis = order[level];
    if (axis === inner) {
      local(ends[axis]).minus(local(begins[axis])).to(count);
      return new InnerLoop(code, { variable, body: spec.ir.body, width, accumulators: new Map() }).emit(begins[axis], count);
    }
    const index = code.localOf(axis, "i32", "index");
    local(begins[axis]).to(index);
    const next = fn.loop();
    nest(level + 1);
    local(index).plus(1).to(index);
    local(index).minus(local(ends[axis])).emit();
    fn.brIf(next);
    fn.end();
  };
  nest(0);
  local(unit).plus(1).to(unit);
  local(unit).isBelow(local(SLICE_PARAMS.end)).emit();
  fn.brIf(top);
  fn.end();
  return { units: total, batch: Math.max(1, Math.round(ELEMENTS_OF_SLICE / tile.reduce((a, b) => a * b, 1))) };
}
