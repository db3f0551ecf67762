/* Parallel loops as kernels in C++: the kernel and its launch by the emitters, and the function that Fortran calls. */

import { wordOf } from "../../../base/names.js";
import { cudaLikeKernel, type CudaLike } from "../../../emit/standalone/cuda-like.js";
import { contiguousRows, cubicSizes, type EmitRequest } from "../../../emit/standalone/request.js";
import { commentText } from "../../../emit/text.js";
import { printOnce } from "../../../ir/passes/record-prints.js";
import type { KernelIR } from "../../../ir/types.js";
import { mapStmts } from "../../../ir/walk.js";
import { compileKernel } from "../../../kernel/compile.js";
import { kernelFromIR } from "../../../kernel/declare/from-ir.js";
import type { ParallelRegion } from "../../analyse/regions.js";
import type { UnitScope } from "../../analyse/symbols.js";
import type { LoweredKernel } from "../../lower/kernels.js";
import { Caller } from "./caller.js";
import { ALLOCATE } from "./prelude.js";
import type { CppLoop } from "./types.js";

/** Name of a procedure, with the names around it where several have the same. */
function uniqueName({ unit, parent, world }: UnitScope): string {
  const isAlone = world.scopes.every((other) => other.unit === unit || other.unit.kind !== "procedure" || other.unit.name !== unit.name);
  const around: string[] = [];
  for (let scope = isAlone ? undefined : parent; scope; scope = scope.parent) around.unshift(scope.unit.name);
  return [...around, unit.name].join("_");
}

/**
 * A loop in C++. `region` is the loop in the file, and `lowered` its kernel, in whose `scope` complex numbers are pairs; `comments` are the file's, by the lines before which they stand.
 *
 * @throws Unlowerable if it cannot be written
 * @throws EmitError if the language lacks something
 */
export function cppLoop(
  region: ParallelRegion,
  { lowered, scope }: { readonly lowered: LoweredKernel; readonly scope: UnitScope },
  like: CudaLike,
  comments: ReadonlyMap<number, readonly string[]>,
): CppLoop {
  const [, number] = region.name.split("#");
  const stem = wordOf(`${uniqueName(region.scope)}${number === undefined ? "" : `_loop${number}`}`);
  const kernel = compileKernel(kernelFromIR({ ...lowered.ir, name: stem }));
  const ir = linesOf(printOnce(kernel.ir), region.at.file);
  const request: EmitRequest = {
    ir,
    access: kernel.access,
    precision: "strict",
    stem,
    unitStrides: { ...contiguousRows(ir), ...rowStrides(lowered) },
    sizes: cubicSizes(ir, 64),
    axes: lowered.axes.length > 0 ? lowered.axes.map(({ variable }) => variable) : undefined,
    comments: new Map([...comments].filter(([line]) => line !== region.at.line)),
  };
  const launch = `${stem}_launch_`;
  const { file, line } = region.at;
  const caller = new Caller({ region, lowered, scope, request }, like);
  const lines = [
    `// ${commentText(file.replace(/^.*[\\/]/s, ""))}:${line}`,
    `namespace ${stem}_ {`,
    "",
    ...cudaLikeKernel(like, request, ALLOCATE, true).text.trimEnd().split("\n"),
    "",
    `}  // namespace ${stem}_`,
    "",
    ...caller.lines(launch, `${stem}_::${stem}_launch`),
  ];
  return { region, launch, parameters: caller.parameters, lines, axes: request.axes ?? [] };
}

/** The kernel without lines of other files, whose numbers would mislead. */
const linesOf = (ir: KernelIR, file: string): KernelIR => ({
  ...ir,
  body: mapStmts(ir.body, { stmt: (s) => (s.location.file === file ? s : { ...s, location: { ...s.location, line: 0 } }) }),
});

/** Arrays of the elements' own: neighbours in the innermost loop have neighbouring values. */
const rowStrides = ({ rows, axes }: LoweredKernel): EmitRequest["unitStrides"] =>
  Object.fromEntries(rows.map(({ param }) => [param, [...axes.map((_, axis) => axis === axes.length - 1), false]]));
