import { REDUCTION_CHUNK } from "../../ir/types.js";
import type { RangePolicy } from "../../ir/launch.js";
import { axisOrder } from "./axis-order.js";
import { InnerLoop } from "./inner-loop.js";
import { Int } from "./ints.js";
import { type KernelCode, SLICE } from "./kernel-code.js";
import { privateLanes, storePartial, workersLanes } from "./reduction.js";
import { chooseWidth } from "./width.js";

/** Elements that one call of `slice` works through, about. */
const ELEMENTS_OF_SLICE = 16384;

/** How the work of a module is counted: in units, so many of them for one call of `slice`. */
export interface Work {
  units: number;
  batch: number;
}

/**
 * Fills `slice` for a range. A unit is REDUCTION_CHUNK elements of a line, a line one combination of the outer indices:
 * unit = line * (units of a line) + chunk, which is also the index of a strict reduction's partial.
 */
export function emitRange(code: KernelCode, policy: RangePolicy): Work {
  const { fn, spec } = code;
  const axes = axisOrder(code, policy).map((axis) => ({ axis, begin: policy.begin[axis], extent: policy.extents[axis] }));
  const inner = axes.pop()!;
  const unitsOfLine = Math.ceil(inner.extent / REDUCTION_CHUNK);
  const accumulators = new Map(code.reductions.map((p) => [p.name, code.ordered ? privateLanes(code, p) : workersLanes(code, p)]));
  const byUnit = code.ordered && accumulators.size > 0;
  const variable = { op: "index", type: "i32", axis: inner.axis } as const;
  const width = chooseWidth(code, spec.ir.body, variable, code.reductions, "elements");

  const local = (n: number): Int => Int.local(fn, n);
  const [unit, line, chunk, units, from, count] = Array.from({ length: 6 }, () => fn.local("i32"));
  local(SLICE.first).to(unit);
  const top = fn.loop();
  local(unit).over(unitsOfLine).to(line);
  local(unit).minus(local(line).times(unitsOfLine)).to(chunk);
  if (byUnit) Int.constant(fn, 1).to(units);
  else
    Int.constant(fn, unitsOfLine)
      .minus(local(chunk))
      .orAtMost(local(SLICE.end).minus(local(unit)))
      .to(units);
  const done = local(chunk).times(REDUCTION_CHUNK);
  done.plus(inner.begin).to(from);
  local(units).times(REDUCTION_CHUNK).orAtMost(Int.constant(fn, inner.extent).minus(done)).to(count);
  for (const [n, { axis, begin, extent }] of [...axes.entries()].reverse()) {
    (n > 0 ? local(line).modulo(extent) : local(line)).plus(begin).to(code.localOf(`index:${axis}`, "i32"));
    local(line).over(extent).to(line);
  }
  new InnerLoop(code, { variable, body: spec.ir.body, width, accumulators }).emit(from, count);
  if (byUnit) for (const a of accumulators.values()) storePartial(code, a.fold, unit, () => a.result());
  local(unit).plus(local(units)).to(unit);
  local(unit).isBelow(local(SLICE.end)).emit();
  fn.brIf(top);
  fn.end();

  const lines = axes.reduce((product, { extent }) => product * extent, 1);
  const elementsOfUnit = Math.max(1, Math.min(REDUCTION_CHUNK, inner.extent));
  return { units: lines * unitsOfLine, batch: Math.round(ELEMENTS_OF_SLICE / elementsOfUnit) };
}
