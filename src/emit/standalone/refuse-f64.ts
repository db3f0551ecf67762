import { EmitError } from "../../base/errors.js";
import { firstF64 } from "../../ir/analysis/types-used.js";
import type { KernelIR } from "../../ir/types.js";

/** Throws EmitError where a kernel has f64, which a language lacks. */
export function refuseF64(ir: KernelIR, target: string, language: string): void {
  const f64 = firstF64(ir);
  if (!f64) return;
  const remedy = "declare it f32, or use isoform emit --float f32 or isoform port --kind NAME=f32";
  throw new EmitError(ir.name, target, `${f64.what} is f64, which ${language} lacks`, remedy);
}
