import { KernelError } from "../../base/errors.js";
import { axisWords } from "../../ir/declared-bounds.js";
import { arrayShapes } from "../../ir/analysis/bounds.js";
import { FAULT } from "../../ir/passes/check-indices.js";
import type { KernelIR } from "../../ir/types.js";
import type { Device } from "../device.js";
import type { Binding } from "./binding.js";
import { knownIn } from "./known-values.js";
import type { View } from "../memory/view.js";

/** Records that are allocated together: one read shows them all. */
const RECORDS = 256;

/** Memory for records of first failures on one device: one for each launch with checked indices, see `FAULT`. */
class FaultLog {
  private readonly free: View<"i32">[] = [];
  /** All records of a chunk, in a row. */
  readonly chunks: View<"i32">[] = [];
  /** How many queues have run launches with these records that nobody has looked at. */
  private readonly held = new Map<View<"i32">, number>();
  /** Records that were given back meanwhile. */
  private readonly returned = new Set<View<"i32">>();

  constructor(private readonly device: Device) {}

  take(): View<"i32"> {
    if (this.free.length === 0) {
      const chunk = this.device.array({ type: "i32" }, RECORDS * FAULT.length) as View<"i32">;
      this.chunks.push(chunk);
      for (let n = RECORDS - 1; n >= 0; n--) this.free.push(chunk.slice([n * FAULT.length, (n + 1) * FAULT.length]) as View<"i32">);
    }
    return this.free.pop()!;
  }

  /** The record is all 0, or will be when nobody holds it any more. */
  giveBack(record: View<"i32">): void {
    if (this.held.has(record)) this.returned.add(record);
    else this.free.push(record);
  }

  hold(record: View<"i32">): void {
    this.held.set(record, (this.held.get(record) ?? 0) + 1);
  }

  release(record: View<"i32">): void {
    const count = this.held.get(record)! - 1;
    if (count > 0) return void this.held.set(record, count);
    this.held.delete(record);
    if (this.returned.delete(record)) this.free.push(record);
  }
}

const logs = new WeakMap<Device, FaultLog>();

/** The log of a device; made at its first launch with checked indices. */
function logOf(device: Device): FaultLog {
  const log = logs.get(device) ?? new FaultLog(device);
  logs.set(device, log);
  return log;
}

/** Part of a launch's binding that its failures need. */
export type FaultBinding = Pick<Binding, "ir" | "views" | "scalars" | "call">;

/** The record of a launch with checked indices. */
export const faultRecord = ({ ir, views }: FaultBinding): View<"i32"> => views[ir.checks!.record] as View<"i32">;

/** It and others beside it, which one read shows together. */
export const recordsAround = (launch: FaultBinding): View<"i32"> =>
  logOf(launch.call.device).chunks.find(({ buffer }) => buffer === faultRecord(launch).buffer)!;

/** Memory for the record of a launch, by its name in the kernel's code; nothing where no index is checked. */
export const takeFaultRecord = (device: Device, { checks }: KernelIR): Record<string, View> =>
  checks ? { [checks.record]: logOf(device).take() } : {};

/** Gives it back, all 0. */
export function giveBackFaultRecord(launch: FaultBinding): void {
  if (launch.ir.checks) logOf(launch.call.device).giveBack(faultRecord(launch));
}

/** A line for `Launch.remarks`, where some index is checked. */
export const checksRemark = ({ checks }: KernelIR): readonly string[] =>
  checks ? [`checked: ${checks.unproved} of ${checks.accesses} accesses`] : [];

/** Keeps it from being taken by another launch until it is released, even where it is given back before. */
export const holdFaultRecord = (launch: FaultBinding): void => logOf(launch.call.device).hold(faultRecord(launch));
export const releaseFaultRecord = (launch: FaultBinding): void => logOf(launch.call.device).release(faultRecord(launch));

/** Error for a record that is not all 0. */
export function faultError({ ir, views, scalars, call }: FaultBinding, record: ArrayLike<number>): KernelError {
  const { kind, array, text, axis, location } = ir.checks!.sites[record[FAULT.site]];
  const extent = (views[array]?.shape ?? arrayShapes(ir).get(array)!)[axis];
  const words = axisWords(ir, array, axis, extent, knownIn({ scalars, views }));
  const element =
    ir.policy.kind === "team"
      ? `team ${record[FAULT.element]}`
      : `element [${Array.from({ length: ir.policy.rank }, (_, a) => record[FAULT.element + a]).join(", ")}]`;
  return new KernelError(
    ir.name,
    location,
    `${ACCESS_VERBS[kind]} ${words.declared ? array : text}: index ${words.index(record[FAULT.index])} is outside axis ${words.axis} of "${array}", which ${words.extent} (${element}, on ${call.device.name})`,
    "what the launch has written so far stays; nothing outside was touched",
  );
}

/** Verbs of messages about an access. */
export const ACCESS_VERBS = { read: "reads", write: "writes", scatter: "adds into", atomic: "changes" } as const;
