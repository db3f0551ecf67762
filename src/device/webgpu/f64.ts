import { hasHelper } from "../../emit/wgsl/helpers.js";
import { firstF64 } from "../../ir/analysis/f64.js";
import type { KernelIR } from "../../ir/types.js";
import { walkExprs } from "../../ir/walk.js";
import { LaunchError } from "../../ir/errors.js";
import type { Kernel } from "../../kernel/kernel.js";

/** Throws LaunchError where a kernel needs f64 and the device has none, or calls a function that is not emulated. */
export function requireF64(device: { readonly name: string; readonly emulates: boolean }, kernel: Kernel, ir: KernelIR): void {
  const refuse = (problem: string, remedy: string, line = kernel.location.line): never => {
    throw new LaunchError(`kernel "${kernel.name}" (${kernel.location.file}:${line}) on ${device.name}: ${problem}; ${remedy}`);
  };
  if (!device.emulates) {
    const use = firstF64(ir);
    if (use)
      refuse(
        `${use.what} is f64, and WebGPU has no f64`,
        'use f32, open the device with { f64: "emulate" } (--f64 emulate), or use another backend',
        use.line,
      );
    return;
  }
  walkExprs(ir.body, (e, { location }) => {
    if (e.op === "call" && e.type === "f64" && !hasHelper(`${e.fn}_f64`))
      refuse(`${e.fn} of f64 is not emulated`, "use Math.fround for an argument of f32, or another backend", location.line);
  });
}
