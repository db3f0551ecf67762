import { KernelError } from "../../ir/errors.js";
import { arrayShapes } from "../../ir/analysis/bounds.js";
import { FAULT } from "../../ir/passes/check-indices.js";
import type { KernelIR } from "../../ir/types.js";
import type { Device } from "../device.js";
import type { Binding } from "./binding.js";
import type { View } from "../memory/view.js";

/** Records that are allocated together: one read shows them all. */
const RECORDS = 256;

/** Memory for records of first failures on one device: one for each launch with checked indices, see `FAULT`. */
class FaultLog {
  private readonly free: View<"i32">[] = [];
  /** All records of a chunk, in a row. */
  readonly chunks: View<"i32">[] = [];

  constructor(private readonly device: Device) {}

  take(): View<"i32"> {
    if (this.free.length === 0) {
      const chunk = this.device.array({ type: "i32" }, RECORDS * FAULT.length) as View<"i32">;
      this.chunks.push(chunk);
      for (let n = RECORDS - 1; n >= 0; n--) this.free.push(chunk.slice([n * FAULT.length, (n + 1) * FAULT.length]) as View<"i32">);
    }
    return this.free.pop()!;
  }

  /** The record is all 0. */
  giveBack(record: View<"i32">): void {
    this.free.push(record);
  }
}

const logs = new WeakMap<Device, FaultLog>();

/** The log of a device; made at its first launch with checked indices. */
function logOf(device: Device): FaultLog {
  const log = logs.get(device) ?? new FaultLog(device);
  logs.set(device, log);
  return log;
}

type Bound = Pick<Binding, "ir" | "views" | "call">;

/** Memory for the record of a launch, by its name in the kernel's code; nothing where no index is checked. */
export const takeFaultRecord = (device: Device, { checks }: KernelIR): Record<string, View> =>
  checks ? { [checks.record]: logOf(device).take() } : {};

/** Gives it back, all 0. */
export function giveBackFaultRecord({ ir, views, call }: Bound): void {
  if (ir.checks) logOf(call.device).giveBack(views[ir.checks.record] as View<"i32">);
}

/** What a record says that is not 0 throughout. */
export function faultError({ ir, views, call }: Bound, record: ArrayLike<number>): KernelError {
  const { kind, array, text, axis, location } = ir.checks!.sites[record[FAULT.site]];
  const extent = (views[array]?.shape ?? arrayShapes(ir).get(array)!)[axis];
  const element =
    ir.policy.kind === "team"
      ? `team ${record[FAULT.element]}`
      : `element [${Array.from({ length: ir.policy.rank }, (_, a) => record[FAULT.element + a]).join(", ")}]`;
  return new KernelError(
    ir.name,
    location,
    `${VERBS[kind]} ${text}: index ${record[FAULT.index]} is outside axis ${axis} of "${array}", which has extent ${extent} (${element}, on ${call.device.name})`,
    "what the launch has written so far stays; nothing outside was touched",
  );
}

const VERBS = { read: "reads", write: "writes", scatter: "adds into" };
