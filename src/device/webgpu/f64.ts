import { isDouble } from "../../ir/scalars.js";
import { firstF64 } from "../../ir/analysis/types-used.js";
import { beyondPairs } from "../../ir/analysis/wide-division.js";
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

/** Throws LaunchError if a kernel does with integers of 64 bits what pairs of words do not. */
export function requirePairs(device: { readonly name: string }, kernel: Kernel, ir: KernelIR): void {
  const use = beyondPairs(ir);
  if (use)
    throw new LaunchError(
      `kernel "${kernel.name}" (${kernel.location.file}:${use.line}) on ${device.name}: ${use.what}, which webgpu lacks: use u32, or another device`,
    );
}

/** Numbers of a launch that emulated f64 may have no room for. */
interface LaunchNumbers extends Pick<Binding, "kernel" | "ir" | "scalars"> {}

/**
 * Throws LaunchError if emulated f64 has no room for a constant, a table's value or an argument of a kernel: the sum of two f32 reaches from
 * -2^128 to 2^128, and more would become infinite.
 */
export function requireRange(device: { readonly name: string }, launch: LaunchNumbers): void {
  const { kernel, ir } = launch;
  requireScalarRange(device, launch);
  for (const { name, type, values } of ir.tables)
    if (isDouble(type)) for (const value of values) checkRange(device, kernel, Number(value), `a value of table "${name}"`);
  walkExprs(ir.body, (e, { location }) => {
    if (e.op === "const" && isDouble(e.type)) checkRange(device, kernel, Number(e.value), "a constant", location.line);
  });
}

/** The same for its arguments alone. */
export function requireScalarRange(device: { readonly name: string }, { kernel, ir, scalars }: LaunchNumbers): void {
  for (const param of ir.params)
    if (param.kind === "scalar" && isDouble(param.type)) checkRange(device, kernel, Number(scalars[param.name]), `"${param.name}"`);
}

function checkRange(device: { readonly name: string }, kernel: Kernel, value: number, what: string, line = kernel.location.line): void {
  if (!Number.isFinite(value) || Number.isFinite(Math.fround(value))) return;
  throw new LaunchError(
    `kernel "${kernel.name}" (${kernel.location.file}:${line}) on ${device.name}: ${what} is ${value}, and emulated f64 has the range of f32, to 3.4e38; ` +
      "scale it, write Infinity, or use a backend with f64",
  );
}
