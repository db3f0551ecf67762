import { forwardStores } from "../../ir/passes/forward-stores.js";
import { loopsIntoLanes } from "../../ir/passes/loops-into-lanes.js";
import { pairMembers, pairRows } from "../../ir/passes/pair-rows.js";
import { divideByReciprocals } from "../../ir/passes/reciprocals.js";
import { shareLoads } from "../../ir/passes/share-loads.js";
import { wrapByChoice } from "../../ir/passes/wrap-by-choice.js";
import type { KernelIR } from "../../ir/types.js";
import { Int } from "./ints.js";
import { KernelCode, type BlockEntry } from "./kernel-code.js";
import type { WasmSpec } from "./kernel-code.js";
import { emitRange, type RangeLines, type SliceUnits } from "./range.js";
import { emitTeams } from "./teams.js";
import { spillFunction } from "./cache-code.js";

export type { WasmSpec } from "./kernel-code.js";
export { workOfRange } from "./range.js";
export { LANE_BYTES } from "./reduction.js";

/** A module and what must be known to run it. */
export interface WasmKernel {
  /** Exports `run(args, worker, workers)`; imports `env.memory` and functions of `Math`. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The argument block, of 8 bytes an entry. */
  slots: readonly BlockEntry[];
  /** Private memory of each worker. */
  scratchBytes: number;
  /** Contents of the tables' memory. */
  tableBytes: Uint8Array;
  /**
   * Partials of a reduce parameter: one for each chunk of 256 elements or each team, or (`workers`) LANE_BYTES for each worker, that must
   * hold the identity before a run.
   */
  partials: "units" | "workers";
  /** The lines of the range, in a module for any range. */
  lines?: RangeLines;
  remarks: string[];
}

/**
 * Compiles a kernel to a WebAssembly module, specialised on extents, strides, precision and scatter strategies. Where some view is larger
 * than the memory can be, addresses wrap: the caller checks.
 */
export function emitWasm(given: WasmSpec): WasmKernel {
  const { policy, views } = given;
  const wrapped = policy.kind === "range" ? wrapByChoice(given.ir, policy, (view, axis) => views[view].shape[axis]) : given.ir;
  const divided = given.precision === "fast" ? divideByReciprocals(wrapped) : wrapped;
  const paired = given.disjointMemory ? inPairs(given, divided) : undefined;
  const direct = given.disjointMemory ? loopsIntoLanes(forwardStores(paired ?? divided)) : divided;
  const members = given.disjointMemory ? pairMembers(direct) : direct;
  const spec = { ...given, ir: given.disjointMemory ? shareLoads(members) : members };
  const code = new KernelCode(spec);
  if (members !== direct) code.remarks.push("members: two at a time, as they read the same");
  const work: SliceUnits & { readonly lines?: RangeLines } =
    spec.policy.kind === "range" ? emitRange(code, spec.policy, paired !== undefined) : emitTeams(code, spec.policy);
  emitRun(code, work);
  return {
    bytes: code.module.bytes(),
    slots: code.slots,
    scratchBytes: code.scratchBytes,
    tableBytes: code.tableBytes,
    partials: spec.policy.kind === "team" || code.ordered ? "units" : "workers",
    ...(spec.anyRange && { lines: work.lines }),
    remarks: code.remarks,
  };
}

/** Rows from which on workers have enough pairs of them. */
const MANY_ROWS = 64;

/** The kernel of two rows at a time; undefined where elements go row by row. */
function inPairs({ policy, anyRange, views }: WasmSpec, ir: KernelIR): KernelIR | undefined {
  if (policy.kind !== "range" || policy.tile || anyRange || policy.extents.length < 2) return undefined;
  const rows = policy.extents.at(-2)!;
  if (rows < MANY_ROWS || rows % 2 > 0 || Object.values(views).some(({ strides }) => strides.length > 1 && strides.at(-1) !== 1))
    return undefined;
  return pairRows(ir, policy.extents.length - 2);
}

/** The exported function: shares `units` out over the workers, and works off its share in calls of `batch` units. */
function emitRun(code: KernelCode, work: SliceUnits): void {
  // JavaScript hands a 64-bit address over as a number.
  const { wide, anyRange } = code.spec;
  const run = code.module.function("run", [wide ? "f64" : "i32", "i32", "i32"]);
  const local = (n: number): Int => Int.local(run, n);
  const [args, worker, workers] = [0, 1, 2];
  const address = (): void => {
    run.get(args);
    if (wide) run.op("i64.trunc_f64_u");
  };
  const argument = (kind: "units" | "batch"): Int => {
    const held = run.local("i32");
    address();
    run.memory("i32.load", code.slot({ kind }));
    run.set(held);
    return local(held);
  };
  const units = anyRange ? argument("units") : work.units;
  const batch = anyRange ? argument("batch") : work.batch;
  const [per, first, end, stop] = [run.local("i32"), run.local("i32"), run.local("i32"), run.local("i32")];
  local(workers)
    .plus(typeof units === "number" ? units - 1 : units.minus(1))
    .over(local(workers))
    .to(per);
  local(per).times(local(worker)).to(first);
  local(first).plus(local(per)).orAtMost(units).to(end);
  local(first).isBelow(local(end)).emit();
  run.if();
  const top = run.loop();
  local(first).plus(batch).orAtMost(local(end)).to(stop);
  address();
  run.get(worker);
  run.get(first);
  run.get(stop);
  run.call(code.fn.index);
  local(stop).to(first);
  local(first).isBelow(local(end)).emit();
  run.brIf(top);
  run.end();
  run.end();
  for (const param of code.cached) {
    const spill = spillFunction(code, param);
    address();
    run.get(worker);
    run.call(spill.index);
  }
  code.module.export("run", run);
}
