import { cudaLanguage } from "../../src/emit/c/cuda.js";
import { hipLanguage } from "../../src/emit/c/hip.js";
import { openclLanguage } from "../../src/emit/c/opencl.js";
import { emitWgsl, shaderEntries } from "../../src/emit/wgsl/kernel.js";
import { groupsApart, representationOf, WORKGROUP, type ScatterCode, type ShaderEntry } from "../../src/emit/wgsl/shader-program.js";
import { analyseAccess, type AccessAnalysis } from "../../src/ir/analysis/access.js";
import { contributionsOf } from "../../src/ir/analysis/contributions.js";
import { foldsJointly } from "../../src/ir/joint.js";
import type { KernelIR } from "../../src/ir/types.js";
import { defaultAssumptions } from "../../src/schedule/lower.js";
import type { GpuLanguage } from "../../src/schedule/program.js";

/*
 * Code of kernels without a launch or a device, to be compiled and compared.
 */

interface Compiled {
  readonly ir: KernelIR;
  readonly access?: AccessAnalysis;
}
type Precision = "strict" | "fast";

const gpuSource =
  (language: GpuLanguage) =>
  ({ ir, access = analyseAccess(ir) }: Compiled, precision: Precision = "fast"): string =>
    language.emit(ir, access, defaultAssumptions(ir, precision === "strict")).source;

export const cudaSource = gpuSource(cudaLanguage);
export const hipSource = gpuSource(hipLanguage);
export const openclSource = gpuSource(openclLanguage({ f64: true, atomics64: true, exactF32: true, subGroups: false }));

/** The shaders of a kernel for dense `right` layouts, with each view in a buffer of its own. */
export function wgslEntries({ ir, access = analyseAccess(ir) }: Compiled, precision: Precision = "fast"): ShaderEntry[] {
  const strict = precision === "strict";
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const scatter = (name: string): ScatterCode => (strict ? (contributionsOf(ir, name) === undefined ? "serial" : "sorted") : "atomic");
  const program = emitWgsl(ir, access, {
    strict,
    sizes: "small",
    inChunks: strict || foldsJointly(ir),
    unitStrides: Object.fromEntries(arrays.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === rank - 1)])),
    groups: groupsApart(arrays.map(({ name }) => name)),
    representations: [
      ...arrays.map((p) =>
        representationOf(ir, p, p.kind === "scatter" && scatter(p.name) === "atomic", access.views[p.name]?.written === true),
      ),
      "words",
    ],
    atStart: Object.fromEntries(arrays.map(({ name }) => [name, true])),
    partials: false,
    scatter: Object.fromEntries(arrays.filter((p) => p.kind === "scatter").map(({ name }) => [name, scatter(name)])),
    copies: {},
    members: WORKGROUP,
  });
  return shaderEntries(program);
}

export const wgslSource = (kernel: Compiled, precision: Precision = "fast"): string =>
  wgslEntries(kernel, precision)
    .map(({ source }) => source)
    .join("\n");
