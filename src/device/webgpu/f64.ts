import { firstF64 } from "../../ir/analysis/f64.js";
import type { KernelIR } from "../../ir/types.js";
import { LaunchError } from "../../ir/errors.js";
import type { Kernel } from "../../kernel/kernel.js";

/** Throws LaunchError where a kernel needs f64 and the device has none. */
export function requireF64(device: { readonly name: string; readonly emulates: boolean }, kernel: Kernel, ir: KernelIR): void {
  const use = device.emulates ? undefined : firstF64(ir);
  if (!use) return;
  throw new LaunchError(
    `kernel "${kernel.name}" (${kernel.location.file}:${use.line ?? kernel.location.line}) on ${device.name}: ${use.what} is f64, and WebGPU has no f64; ` +
      'use f32, open the device with { f64: "emulate" } (--f64 emulate), or use another backend',
  );
}
