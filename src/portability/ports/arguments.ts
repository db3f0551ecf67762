import { unreachable } from "../../base/unreachable.js";
import { DeviceError } from "../../base/errors.js";
import { spanOf } from "../../device/cpu/host-view.js";
import type { Binding } from "../../device/launch/binding.js";
import type { View } from "../../device/memory/view.js";
import type { Loader } from "../../device/native/library.js";
import { getField, setField } from "../../emit/c/arguments.js";
import { slotText } from "../../schedule/slots.js";
import { THREW, type PortCall, type PortSlot } from "./call.js";

/** For `Launch.remarks`. */
export const fileRemark = (device: string): string =>
  `launch function: the file that isoform emit writes for ${device.replace("emitted-", "")}`;

/** The struct with which a port's launch function is called. */
export class PortArguments {
  /** The struct's place in memory. */
  readonly address: bigint;
  private readonly data: DataView;

  /** @param addressOf of element 0 of a view that is not empty, in the memory that the port works on */
  constructor(
    private readonly call: PortCall,
    loader: Loader,
    binding: Binding,
    private readonly addressOf: (view: View) => bigint,
  ) {
    this.data = new DataView(new ArrayBuffer(call.size));
    this.address = loader.address(this.data.buffer);
    for (const field of call.fields) {
      const value = this.valueOf(field.slot, binding);
      if (value !== undefined) setField(this.data, field, value);
    }
  }

  /** Value of the struct's member; undefined for members that the call fills, or takes later. */
  private valueOf(slot: PortSlot, { views, scalars, policy }: Binding): number | bigint | boolean | undefined {
    const bound = (axis: number) => (policy.kind === "range" ? { begin: policy.begin[axis], extent: policy.extents[axis] } : undefined)!;
    switch (slot.kind) {
      case "scalar":
        return scalars[slot.name];
      case "view":
        // Passes 0 for an empty view, which is never read.
        return spanOf(views[slot.name]) === 0 ? 0n : this.addressOf(views[slot.name]);
      case "extent":
        return views[slot.name].shape[slot.axis];
      case "stride":
        return views[slot.name].strides[slot.axis];
      case "league":
        return policy.kind === "team" ? policy.league : undefined;
      case "begin":
        return bound(slot.axis).begin;
      case "end":
        return bound(slot.axis).begin + bound(slot.axis).extent;
      case "result":
      case "stream":
      case "status":
        return undefined;
      default:
        return unreachable(slot);
    }
  }

  set(slot: PortSlot, value: number | bigint | boolean): void {
    setField(this.data, this.field(slot), value);
  }

  private get(slot: PortSlot): number {
    return Number(getField(this.data, this.field(slot)));
  }

  private field(slot: PortSlot): PortCall["fields"][number] {
    const text = slotText(slot);
    return this.call.fields.find((field) => slotText(field.slot) === text)!;
  }

  /** Throws DeviceError where the last call returned an error; `problem` is what that means. */
  requireSuccess(device: string, { kernel }: Binding, problem: string, remedy: string): void {
    const status = this.get({ kind: "status" });
    if (status === 0) return;
    if (status === THREW) throw new DeviceError(device, `kernel "${kernel.name}" has thrown an exception, which standard error shows`);
    throw new DeviceError(device, `kernel "${kernel.name}" ${problem.replace("STATUS", String(status))}`, remedy);
  }

  /** Results of the last call, by reduce parameter. */
  results({ ir }: Binding): Record<string, number> {
    const reductions = ir.params.filter(({ kind }) => kind === "reduce");
    return Object.fromEntries(reductions.map(({ name }) => [name, this.get({ kind: "result", name })]));
  }
}
