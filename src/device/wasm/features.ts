import { allowRelaxedSimd } from "#engine";
import { ModuleBuilder } from "../../emit/wasm/encoder.js";

/** True where the engine accepts 128-bit vectors. */
export function hasSimd(): boolean {
  return accepts("f64x2.abs", 1);
}

/** True if the engine has fused multiply-add; older versions of Node enable it by a flag, which is set here. */
export async function enableRelaxedSimd(): Promise<boolean> {
  const has = (): boolean => accepts("f64x2.relaxed_madd", 3);
  if (has()) return true;
  allowRelaxedSimd();
  return has();
}

/** True where modules may be compiled. */
export function compiles(): boolean {
  try {
    new WebAssembly.Module(new ModuleBuilder(false).bytes());
    return true;
  } catch {
    return false;
  }
}

function accepts(instruction: string, operands: number): boolean {
  const module = new ModuleBuilder(false);
  const fn = module.function("probe", []);
  for (let n = 0; n < operands; n++) fn.v128([0, 0, 0, 0]);
  fn.op(instruction);
  fn.op("drop");
  return typeof WebAssembly === "object" && WebAssembly.validate(module.bytes());
}
