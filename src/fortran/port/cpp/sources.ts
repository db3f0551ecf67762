/* Ports of files to HIP and CUDA C++, as texts. */

import { forgetAbsent } from "../../analyse/broken.js";
import { Problems } from "../../errors.js";
import { renamed, renamer } from "../rename.js";
import { nestSettings, NO_SETTINGS, type Settings } from "../settings.js";
import { checkLoops, baseAndEnd, readSources, type PortedFile, type PortOptions, type Source } from "../sources.js";
import type { CppTarget } from "../targets.js";
import { portCpp } from "./index.js";

/**
 * Each file for each target: its loops in C++, with functions that launch them, and what remains of it in Fortran, which calls these.
 * @throws FortranError with all that is wrong with the files, each thing at its place
 * @throws IsoformError if the settings speak of a loop that no file has
 */
export function portCppSources(sources: readonly Source[], options: PortOptions<CppTarget>): PortedFile[] {
  const { targets, settings = NO_SETTINGS } = options;
  const problems = new Problems();
  const read = readSources(sources, options, problems);
  const unread = problems.found.length;
  const kinds = { ...settings.kinds, ...options.kinds };
  const made = targets.flatMap((target) => {
    const rename = renamer(settings.rename[target] ?? {});
    // Loops are known by the names that they will have.
    const own: Settings = { ...settings, loops: new Map([...settings.loops].map(([name, of]) => [renamedLoop(name, rename), of])) };
    const files = read.sound.map((file) => renamed(file, rename));
    const others = read.others.map((file) => renamed(file, rename));
    const known = new Set<string>();
    const written = new Set<string>();
    const ported = files.flatMap((file): PortedFile[] => {
      const loop = (name: string): ReturnType<typeof nestSettings> => nestSettings(own, name, target);
      const [base] = baseAndEnd(file);
      const rest = [...others, ...files.filter((other) => other !== file)];
      const { files: texts, ...told } = portCpp(file, target, { stem: rename(base), kinds, loop }, problems, rest);
      for (const { name } of told.loops) known.add(name);
      // The headers are the same for all.
      const fresh = texts.filter(({ name }) => !written.has(name) && written.add(name));
      return fresh.map((text) => ({ target, of: file.file, ...text, ...told }));
    });
    forgetAbsent(problems, unread, read.files);
    problems.throwIfAny();
    checkLoops(own, known);
    return ported;
  });
  return made;
}

function renamedLoop(name: string, rename: (name: string) => string): string {
  const [routine, ...number] = name.split("#");
  return [rename(routine), ...number].join("#");
}
