import { isSingle } from "../../ir/scalars.js";
import { firstF64 } from "../../ir/analysis/types-used.js";
import type { KernelIR } from "../../ir/types.js";
import { walkExprs } from "../../ir/walk.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import type { OpenclFacts } from "./facts.js";

/** Throws LaunchError if a kernel needs what the device does not have. */
export function requireCapabilities(device: string, facts: OpenclFacts, { kernel, ir, precision }: Binding): void {
  const refuse = (problem: string, line = kernel.location.line): never => {
    throw new LaunchError(`kernel "${kernel.name}" (${kernel.location.file}:${line}) on ${device}: ${problem}`);
  };
  const wide = facts.f64 ? undefined : firstF64(ir);
  if (wide) refuse(`${wide.what} is f64, and this device has no f64; use f32, or another device`, wide.line);
  const rounded = facts.exactF32 || facts.f64 || precision === "fast" ? undefined : firstRounded(ir);
  if (rounded)
    refuse(
      `it has ${rounded.what} of f32, which this device does not round correctly, as strict mode asks; use fast mode or another device`,
      rounded.line,
    );
}

/** The first operation on f32 that OpenCL allows to be off by more than rounding. */
function firstRounded(ir: KernelIR): { what: string; line: number } | undefined {
  let found: { what: string; line: number } | undefined;
  walkExprs(ir.body, (e, { location: { line } }) => {
    if (e.op === "binary" && e.fn === "div" && isSingle(e.type)) found ??= { what: "a division", line };
    if (e.op === "unary" && e.fn === "sqrt" && isSingle(e.type)) found ??= { what: "a square root", line };
  });
  return found;
}
