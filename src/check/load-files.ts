import { pathToFileURL } from "node:url";
import { IsoformError, KernelError } from "../base/errors.js";
import { compileKernel } from "../kernel/compile.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { problemOf, type CheckedKernel, type CheckReport } from "./problems.js";

/* Checks by running modules: exported kernels are compiled, containers are as they are declared. */

/** Runs the files and compiles the kernels that they export. Throws IsoformError where a file cannot be run. */
export async function loadFiles(files: readonly string[]): Promise<CheckReport> {
  const kernels: CheckedKernel[] = [];
  for (const file of files) kernels.push(...(await loadFile(file)));
  return { files: files.length, kernels };
}

async function loadFile(file: string): Promise<CheckedKernel[]> {
  const whole = { at: { file, line: 1, column: 1 }, span: [0, 0] as const };
  try {
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    return Object.values(module).filter(isKernel).map(compiled);
  } catch (error) {
    // Containers are compiled as they are declared, which ends the module.
    if (error instanceof KernelError) return [{ ...whole, name: error.kernel, problems: [problemOf(error)] }];
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(`${file} could not be loaded: ${(error as Error).message.split("\n")[0]}`);
  }
}

const isKernel = (value: unknown): value is Kernel =>
  typeof value === "object" && value !== null && "policy" in value && "body" in value && "params" in value;

function compiled(kernel: Kernel): CheckedKernel {
  const found = { name: kernel.name, at: kernel.location, span: [0, 0] as const };
  const fixed = Object.entries(kernel.params).find(([, token]) => typeof token === "object" && token.kind === "fixed");
  if (fixed) return { ...found, problems: [], unknown: `the fixed parameter ${fixed[0]} is given with each launch` };
  try {
    return { ...found, problems: [], ir: compileKernel(kernel).ir };
  } catch (error) {
    if (error instanceof KernelError) return { ...found, problems: [problemOf(error)] };
    throw error;
  }
}
