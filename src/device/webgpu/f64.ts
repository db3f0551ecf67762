import { hasHelper } from "../../emit/wgsl/helpers.js";
import type { KernelIR } from "../../ir/types.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";
import { LaunchError } from "../../kernel/errors.js";
import type { Kernel } from "../../kernel/kernel.js";

/** Throws LaunchError where a kernel needs f64 and the device has none, or calls a function that is not emulated. */
export function requireF64(device: { readonly name: string; readonly emulates: boolean }, kernel: Kernel, ir: KernelIR): void {
  const refuse = (problem: string, remedy: string, line = kernel.location.line): never => {
    throw new LaunchError(`kernel "${kernel.name}" (${kernel.location.file}:${line}) on ${device.name}: ${problem}; ${remedy}`);
  };
  if (!device.emulates) {
    const use = firstUse(ir);
    if (use)
      refuse(
        `${use.what} is f64, and WebGPU has no f64`,
        'use f32, open the device with { f64: "emulate" }, or use another backend',
        use.line,
      );
    return;
  }
  walkExprs(ir.body, (e, { location }) => {
    if (e.op === "call" && e.type === "f64" && !hasHelper(`${e.fn}_f64`))
      refuse(`${e.fn} of f64 is not emulated`, "use Math.fround for an argument of f32, or another backend", location.line);
  });
}

/** What in the kernel is f64 first. */
function firstUse(ir: KernelIR): { what: string; line?: number } | undefined {
  for (const param of ir.params) {
    const type = param.kind === "view" || param.kind === "scatter" ? param.element : param.type;
    if (type === "f64") return { what: `its parameter "${param.name}"` };
  }
  const table = ir.tables.find(({ type }) => type === "f64");
  if (table) return { what: `its table "${table.name}"` };
  let found: { what: string; line?: number } | undefined;
  walkStmts(ir.body, (stmt) => {
    if ((stmt.kind === "let" || stmt.kind === "array") && stmt.type === "f64")
      found ??= { what: `its variable "${stmt.name}"`, line: stmt.location.line };
  });
  walkExprs(ir.body, (e, { location }) => {
    if (e.type === "f64") found ??= { what: "a value of it", line: location.line };
  });
  return found;
}
