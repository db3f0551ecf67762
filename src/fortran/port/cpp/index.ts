/* Ports to HIP and CUDA C++: the loops in C++, with functions that launch them, and the rest in Fortran, which calls these. */

import { commentText } from "../../../emit/text.js";
import { regionsOf, type ParallelRegion } from "../../analyse/regions.js";
import { find, readSymbols, type UnitScope, type World } from "../../analyse/symbols.js";
import { rootOf } from "../../analyse/visit.js";
import type { Problems } from "../../errors.js";
import { lowerRegion } from "../../lower/kernels.js";
import { Unlowerable } from "../../lower/values.js";
import { fortranText } from "../../print/units.js";
import type { SourceFile } from "../../tree/index.js";
import { withLoopOrder } from "../order.js";
import type { PortedLoop } from "../index.js";
import type { NestSettings } from "../nests.js";
import { keepsData } from "../../data/arrays.js";
import { DATA_HEADER, dataHeader } from "../data/runtime.js";
import { fortranSide } from "./fortran-side.js";
import { calledIn, cppLoop, deviceProcedure, type CppLoop } from "./kernels.js";
import { PRELUDE, preludeText, type Runtime } from "./prelude.js";

interface CppPort {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly loops: readonly PortedLoop[];
}

const COMPILERS: Readonly<Record<Runtime, { readonly command: string; readonly end: string }>> = {
  hip: { command: "hipcc -std=c++17 -O3 -ffp-contract=off --offload-arch=native -c", end: ".hip.cpp" },
  cuda: { command: "nvcc -std=c++17 -O3 -fmad=false -arch=native -c", end: ".cu" },
};

/**
 * One file. `stem` is its new name without an end, `others` are read along. What cannot be written is added to `problems`, each thing at its place.
 */
export function portCpp(
  file: SourceFile,
  runtime: Runtime,
  { stem, kinds, loop: settingsOf }: { stem: string; kinds: World["kinds"]; loop: (name: string) => NestSettings },
  problems: Problems,
  others: readonly SourceFile[],
): CppPort {
  const world = readSymbols([file, ...others], kinds, problems);
  const scopes = world.scopes.filter((scope) => scope.file === file.file);
  const regions = scopes.flatMap(regionsOf);
  const attempt = <T>(make: () => T): T[] => {
    try {
      return [make()];
    } catch (error) {
      if (!(error instanceof Unlowerable)) throw error;
      problems.add(error.at, error.construct, error.why, error.remedy);
      return [];
    }
  };
  const arranged = (region: ParallelRegion): ParallelRegion => {
    const { idx } = settingsOf(region.name);
    return idx ? withLoopOrder(region, { idx }, problems) : region;
  };
  const loops = regions.flatMap((region) =>
    attempt(() => {
      if (region.isOpen) lowerRegion(region);
      return cppLoop(arranged(region), runtime);
    }),
  );
  const called = new Set<UnitScope>();
  for (const { scope, body } of regions) calledIn(scope, body, called);
  const procedures = [...called].flatMap((scope) => attempt(() => deviceProcedure(scope)));
  const names = new Set<string>();
  for (const { launch, region } of loops) {
    if (names.has(launch))
      problems.add(region.at, region.name, "two loops would have the same name in C++", "rename one of their procedures");
    names.add(launch);
  }
  const { command, end } = COMPILERS[runtime];
  const name = `${stem}_kernels${end}`;
  const synchronise = `${stem.replace(/\W/g, "_").toLowerCase()}_synchronise_`;
  const hasData = keepsData([file, ...others]);
  const side = fortranSide(file, loops, { synchronise, target: runtime, scopes, hasData }, problems);
  const fortran = fortranText(side.file);
  const text = [
    `// ${command} ${commentText(name)}`,
    `// The loops of ${commentText(file.file.replace(/^.*[\\/]/s, ""))}, written by isoform.`,
    `#include "${PRELUDE}"`,
    ...(side.keepsData ? [`#include "${DATA_HEADER}"`] : []),
    ...procedures.map(({ head }) => `${head};`),
    ...procedures.flatMap(({ lines }) => ["", ...lines]),
    ...loops.flatMap(({ lines }) => ["", ...lines]),
    "",
    `extern "C" void ${synchronise}() { f::check(${runtime}DeviceSynchronize()); }`,
    "",
  ].join("\n");
  const onHost = [...new Set(loops.flatMap(arraysOfHost))];
  const memory = onHost.length > 0 ? `! Kernels use the memory of ${onHost.join(", ")}, which the GPU must be able to access.\n` : "";
  const head = `! gfortran -cpp -O2 -ffree-line-length-none -c ${stem}.F90   (link with ${stem}_kernels.o)\n${memory}`;
  return {
    files: [
      { name: `${stem}.F90`, text: head + fortran },
      { name, text },
      ...(side.keepsData ? [{ name: DATA_HEADER, text: dataHeader(runtime) }] : []),
      { name: PRELUDE, text: preludeText(runtime) },
    ],
    loops: loops.map(reported),
  };
}

/** Arrays of a loop of CUDA Fortran that are not declared to be in the device's memory. */
function arraysOfHost({ region: { scope, stmt }, parameters }: CppLoop): string[] {
  if (stmt?.kind !== "directed" || stmt.directive.sentinel !== "cuf") return [];
  return parameters.flatMap(({ kind, actual }) => {
    const [of] = actual.kind === "apply" ? actual.args : [];
    const array = of?.kind === "value" ? of.value : actual;
    const root = kind === "array" ? rootOf(array) : undefined;
    const attributes = root === undefined ? undefined : find(scope, root)?.attributes;
    return root !== undefined && !["device", "managed"].some((word) => attributes?.has(word)) ? [root] : [];
  });
}

const reported = ({ region: { name, at, axes, reductions, carried } }: CppLoop): PortedLoop => ({
  name,
  at,
  axes: axes.map(({ variable }) => variable),
  parallel: axes.length,
  reductions: reductions.map(({ op, name: of }) => `${op}:${of}`),
  carried: [...carried],
});
