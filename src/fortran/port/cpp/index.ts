/* Ports to HIP and CUDA C++: the loops in C++, with functions that launch them, and the rest in Fortran, which calls these. */

import { EmitError } from "../../../base/errors.js";
import type { CudaLike } from "../../../emit/standalone/cuda-like.js";
import { CUDA } from "../../../emit/standalone/cuda.js";
import { HIP } from "../../../emit/standalone/hip.js";
import { commentText } from "../../../emit/text.js";
import { regionsOf, type ParallelRegion } from "../../analyse/regions.js";
import { withSpecifics } from "../../analyse/generics.js";
import { withComponents } from "../../analyse/objects.js";
import { withoutParents } from "../../analyse/parent-components.js";
import { find, readSymbols, type UnitScope, type World } from "../../analyse/symbols.js";
import { eachStatement, rootOf } from "../../analyse/visit.js";
import { withPairs } from "../../complex/index.js";
import { Problems } from "../../errors.js";
import { lowerRegion } from "../../lower/kernels.js";
import { Unlowerable } from "../../lower/values.js";
import { fortranText } from "../../print/units.js";
import type { SourceFile } from "../../tree/index.js";
import { sourceKey, unitKey } from "../../tree/keys.js";
import { withLoopOrder } from "../order.js";
import type { PortedLoop } from "../index.js";
import { transfersIn, type PortTransfer } from "../data/moves.js";
import { notesOf, type PortNote } from "../notes.js";
import type { NestSettings } from "../nests.js";
import type { CppTarget } from "../targets.js";
import { keepsData } from "../../data/arrays.js";
import { oldScalars } from "../../data/scalars.js";
import { DATA_HEADER, dataHeader } from "../data/runtime.js";
import { fortranSide } from "./fortran-side.js";
import { withLaunchSizes } from "./launch-sizes.js";
import { cppLoop } from "./loops.js";
import { PRELUDE, preludeText } from "./prelude.js";
import type { CppLoop } from "./types.js";

interface CppPort {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly loops: readonly PortedLoop[];
  readonly notes: readonly PortNote[];
  readonly transfers: readonly PortTransfer[];
}

const LANGUAGES: Readonly<Record<CppTarget, CudaLike>> = { hip: HIP, cuda: CUDA };

/**
 * One file. `stem` is its new name without an end, `others` are read along. What cannot be written is added to `problems`, each thing at its place.
 */
export function portCpp(
  file: SourceFile,
  target: CppTarget,
  { stem, kinds, loop: settingsOf }: { stem: string; kinds: World["kinds"]; loop: (name: string) => NestSettings },
  problems: Problems,
  others: readonly SourceFile[],
): CppPort {
  const like = LANGUAGES[target];
  const sources = [file, ...others];
  const own = ({ scopes }: World): UnitScope[] => scopes.filter((scope) => scope.file === file.file);
  const pairs = withComponents(withPairs(withSpecifics(withoutParents(sources, kinds), kinds), kinds, problems), kinds);
  const ofKernels = readSymbols(pairs, kinds, problems);
  // The file itself has complex numbers.
  const world = pairs === sources ? ofKernels : readSymbols(sources, kinds, new Problems());
  const ofFile = own(world);
  const inFile = new Map(ofFile.flatMap(regionsOf).map((region) => [placeOf(region), region]));
  const comments = commentsOf(file.file, ofFile);
  const reported: PortedLoop[] = [];
  const loops = own(ofKernels)
    .flatMap(regionsOf)
    .flatMap((region): CppLoop[] => {
      const { idx } = settingsOf(region.name);
      try {
        const lowered = lowerRegion(idx ? withLoopOrder(region, { idx }, problems) : region, true);
        const loop = cppLoop(inFile.get(placeOf(region)) ?? region, { lowered, scope: region.scope }, like, comments);
        reported.push(loopOf(region, loop));
        return [loop];
      } catch (error) {
        if (error instanceof Unlowerable) problems.add(error.at, error.construct, error.why, error.remedy);
        else if (error instanceof EmitError) problems.add(region.at, `${region.name} for ${target}`, error.problem, error.remedy);
        else throw error;
        return [];
      }
    });
  const names = new Set<string>();
  for (const { launch, region } of loops) {
    if (names.has(launch))
      problems.add(region.at, region.name, "two loops would have the same name in C++", "rename one of their procedures");
    names.add(launch);
  }
  const name = `${stem}_kernels${like.end}`;
  const synchronise = `${stem.replace(/\W/g, "_").toLowerCase()}_synchronise_`;
  const hasData = keepsData([file, ...others]);
  for (const scope of ofFile) problems.found.push(...oldScalars(scope, regionsOf(scope)));
  const side = fortranSide(withLaunchSizes(file, world.scopes), loops, { synchronise, target, scopes: ofFile, hasData }, problems);
  const fortran = fortranText(side.file);
  const text = [
    `// ${like.command("strict")} -c ${commentText(name)}`,
    `// The loops of ${commentText(file.file.replace(/^.*[\\/]/s, ""))}, written by isoform.`,
    `#include "${PRELUDE}"`,
    ...(side.keepsData ? [`#include "${DATA_HEADER}"`] : []),
    ...loops.flatMap(({ lines }) => ["", ...lines]),
    "",
    `extern "C" void ${synchronise}() { f::check(${like.prefix}DeviceSynchronize()); }`,
    "",
  ].join("\n");
  const onHost = [...new Set(loops.flatMap(arraysOfHost))];
  const memory = onHost.length > 0 ? `! Kernels use the memory of ${onHost.join(", ")}, which the GPU must be able to access.\n` : "";
  const head = `! gfortran -cpp -O2 -ffree-line-length-none -c ${stem}.F90   (link with ${stem}_kernels.o)\n${memory}`;
  return {
    files: [
      { name: `${stem}.F90`, text: head + fortran },
      { name, text },
      ...(side.keepsData ? [{ name: DATA_HEADER, text: dataHeader(target) }] : []),
      { name: PRELUDE, text: preludeText(like) },
    ],
    loops: reported,
    notes: notesOf(file, target),
    transfers: transfersIn(side.file),
  };
}

/** A loop's place, by which it is known where the units have been rewritten. */
const placeOf = ({ stmt, scope }: ParallelRegion): string => (stmt ? sourceKey(stmt.at) : unitKey(scope.unit));

/** Comments before the statements of a file, by their lines. */
function commentsOf(file: string, scopes: readonly UnitScope[]): Map<number, readonly string[]> {
  const found = new Map<number, readonly string[]>();
  for (const { unit } of scopes)
    if (unit.kind !== "module")
      eachStatement(unit.body, (s) => {
        const lines = "before" in s ? (s.before ?? []).filter((line) => line.trim() !== "") : [];
        if (s.at.file === file && lines.length > 0)
          found.set(
            s.at.line,
            lines.map((line) => line.trim().replace(/^!\s*/, "")),
          );
      });
  return found;
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

const loopOf = ({ name, at, reductions, carried }: ParallelRegion, { axes }: CppLoop): PortedLoop => ({
  name,
  at,
  axes,
  parallel: axes.length,
  reductions: reductions.map(({ op, name: of }) => `${op}:${of}`),
  carried: [...carried],
});
