/* Ports of files to languages other than Fortran: each parallel loop as a kernel of its own. */

import { stemOf } from "../emit/standalone/index.js";
import { emitKernels } from "./emitted.js";
import { Problems } from "./errors.js";
import { fortran, type FortranCode } from "./index.js";
import type { FortranKernel } from "./host/kernels.js";
import type { PortedLoop } from "./port/index.js";
import { renamer } from "./port/rename.js";
import { nestSettings, NO_SETTINGS } from "./port/settings.js";
import { checkLoops, type PortedFile, type PortOptions, type Source } from "./port/sources.js";
import type { KernelTarget } from "./port/targets.js";

/**
 * Files with the kernels of each file's loops, for each target.
 * @throws FortranError with all that a kernel, or the target, cannot express, each thing at its place
 * @throws IsoformError if the settings speak of a loop that no file has
 */
export function portKernels(sources: readonly Source[], options: PortOptions<KernelTarget>): PortedFile[] {
  const { targets, settings = NO_SETTINGS } = options;
  const known = new Set<string>();
  const problems = new Problems();
  const made = targets.flatMap((target) =>
    sources.flatMap((source): PortedFile[] => {
      const code = problems.collect(() => codeOf(source, sources, target, options));
      if (!code) return [];
      for (const name of code.kernels.keys()) known.add(name);
      const rename = renamer(settings.rename[target] ?? {});
      const { files, refused } = emitKernels(code.kernels, target, (name) => stemOf(rename(name.replace("#", "_"))));
      for (const { kernel, problem, remedy } of refused)
        problems.add(code.kernels.get(kernel)!.lowered.ir.location, `${kernel} for ${target}`, problem, remedy);
      return files.map(({ name, text, kernel }) => ({
        target,
        of: source.file,
        name,
        text,
        loops: [loopOf(code.kernels.get(kernel)!)],
        notes: [],
        transfers: [],
      }));
    }),
  );
  const [first] = sources;
  if (first && targets.length > 0 && known.size === 0 && problems.found.length === 0)
    problems.add(
      { file: first.file, line: 1, column: 1 },
      `a port to ${targets.join(" and ")}`,
      "the files have no parallel loop, and only these become kernels",
      "write a directive such as `!$omp parallel do` before a loop, or port to cpu or openmp",
    );
  problems.throwIfAny();
  if (targets.length > 0) checkLoops(settings, known);
  return made;
}

function codeOf(source: Source, sources: readonly Source[], target: KernelTarget, options: PortOptions<KernelTarget>): FortranCode {
  const { settings = NO_SETTINGS, hosts = [], include } = options;
  const read = {
    file: source.file,
    define: { ...settings.define, ...options.define },
    kinds: { ...settings.kinds, ...options.kinds },
    ...(include && { include }),
  };
  const others = [...hosts, ...sources.filter((other) => other !== source)];
  const plain = fortran(source.text, { ...read, hosts: others });
  const loops = [...plain.kernels.keys()].flatMap((name) => {
    const { idx } = nestSettings(settings, name, target);
    return idx ? [[name, { idx }] as const] : [];
  });
  return loops.length > 0 ? fortran(source.text, { ...read, hosts: others, loops: Object.fromEntries(loops) }) : plain;
}

function loopOf({ name, lowered: { ir, axes, outcomes, carried } }: FortranKernel): PortedLoop {
  return {
    name,
    at: ir.location,
    axes: axes.map(({ variable }) => variable),
    parallel: axes.length,
    reductions: outcomes.flatMap(({ op, name: of }) => (op ? [`${op}:${of}`] : [])),
    carried,
  };
}
