import { isDouble } from "../../ir/scalars.js";
import { firstF64 } from "../../ir/analysis/f64.js";
import type { KernelIR } from "../../ir/types.js";
import { walkExprs } from "../../ir/walk.js";
import { LaunchError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Binding } from "../launch/binding.js";

/** Throws LaunchError if a kernel needs f64 and the device has none. */
export function requireF64(device: { readonly name: string; readonly emulates: boolean }, kernel: Kernel, ir: KernelIR): void {
  const use = device.emulates ? undefined : firstF64(ir);
  if (!use) return;
  throw new LaunchError(
    `kernel "${kernel.name}" (${kernel.location.file}:${use.line ?? kernel.location.line}) on ${device.name}: ${use.what} is f64, and WebGPU has no f64; ` +
      'use f32, open the device with { f64: "emulate" } (--f64 emulate), or use another backend',
  );
}

/**
 * Throws LaunchError if emulated f64 has no room for a constant, a table's value or an argument of a kernel: the sum of two f32 reaches from
 * -2^128 to 2^128, and more would become infinite.
 */
export function requireRange(device: { readonly name: string }, binding: Pick<Binding, "kernel" | "ir" | "scalars">): void {
  const { kernel, ir, scalars } = binding;
  const check = (value: number, what: string, line = kernel.location.line): void => {
    if (!Number.isFinite(value) || Number.isFinite(Math.fround(value))) return;
    throw new LaunchError(
      `kernel "${kernel.name}" (${kernel.location.file}:${line}) on ${device.name}: ${what} is ${value}, and emulated f64 has the range of f32, to 3.4e38; ` +
        "scale it, write Infinity, or use a backend with f64",
    );
  };
  for (const param of ir.params) if (param.kind === "scalar" && isDouble(param.type)) check(Number(scalars[param.name]), `"${param.name}"`);
  for (const { name, type, values } of ir.tables)
    if (isDouble(type)) for (const value of values) check(value, `a value of table "${name}"`);
  walkExprs(ir.body, (e, { location }) => {
    if (e.op === "const" && isDouble(e.type)) check(Number(e.value), "a constant", location.line);
  });
}
