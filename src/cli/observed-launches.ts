import { bind } from "../device/launch/bind.js";
import type { Device, LaunchOptions } from "../device/device.js";
import { open } from "../device/open.js";
import type { Policy } from "../device/launch/policy.js";
import type { Precision } from "../ir/launch.js";
import type { EmitRequest } from "../emit/standalone/index.js";
import { unitStridesOf } from "../emit/standalone/request.js";
import { printKernel } from "../ir/kernel-text.js";
import { IsoformError } from "../base/errors.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { devices, type DeviceSet } from "../set/index.js";

/** A kernel that can be written, with a name that is unique in its module or application. */
export type FoundKernel = Omit<EmitRequest, "precision">;

/** Runs a program on one device of the CPU and gives every kernel that it launches there, once for each form of its code. */
export async function observeLaunches(precision: Precision, program: (set: DeviceSet) => Promise<void>): Promise<FoundKernel[]> {
  const device = await open("js");
  try {
    const found = new Map<string, FoundKernel>();
    const set = await devices([observing(device, precision, found)]);
    await program(set);
    await set.close();
    return [...found.values()];
  } finally {
    await device.close();
  }
}

/** Wraps a device so that each kernel that is prepared or run is noted, with the layout of its views. */
function observing(device: Device, precision: Precision, found: Map<string, FoundKernel>): Device {
  const note = (kernel: Kernel, args: Record<string, unknown>, policy: Policy, options?: LaunchOptions): void => {
    try {
      const { ir, access, views } = bind(device, kernel, args, policy, { ...options, precision });
      const unitStrides = unitStridesOf(views);
      const key = `${printKernel(ir)} ${JSON.stringify(unitStrides)}`;
      if (!found.has(key)) found.set(key, { ir, access, stem: ir.name, unitStrides, sizes: { policy, views } });
    } catch (error) {
      // The launch itself reports the same error.
      if (!(error instanceof IsoformError)) throw error;
    }
  };
  return watched(device, ["prepare", "run"], note);
}

/** Told of a call: its arguments, and what it has returned. */
export type Noted = (
  kernel: Kernel,
  args: Record<string, unknown>,
  policy: Policy,
  options: LaunchOptions | undefined,
  result: unknown,
) => void;

/** The device, but that `note` is told each call of these methods, with what it has returned. */
export function watched(device: Device, methods: readonly (keyof Device)[], note: Noted): Device {
  return new Proxy(device, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown;
      if (typeof value !== "function") return value;
      if (!methods.includes(property as keyof Device)) return value.bind(target) as unknown;
      return (kernel: Kernel, args: Record<string, unknown>, policy: Policy, options?: LaunchOptions) => {
        const result = (value as (...all: unknown[]) => unknown).call(target, kernel, args, policy, options);
        note(kernel, args, policy, options, result);
        return result;
      };
    },
  });
}
