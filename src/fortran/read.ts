import type { Location } from "../ir/types.js";
import { forgetAbsent } from "./analyse/broken.js";
import { regionsOf } from "./analyse/regions.js";
import type { FortranCode } from "./code.js";
import type { FortranError } from "./errors.js";
import { readFiles, type FortranOptions } from "./read-files.js";

/** A parallel loop, or a kernel of CUDA Fortran. */
export interface FortranLoop {
  /** The routine's name, with `#1`, `#2`, … if it has several loops: the kernel's name, too. */
  readonly name: string;
  readonly at: Location;
  /** Variables of the loops that run in parallel, outermost first. */
  readonly variables: readonly string[];
}

/** Fortran that has been read. */
export interface FortranText {
  /** Parallel loops of the file itself, without its `hosts`. */
  readonly loops: readonly FortranLoop[];
  /** Problems that reading finds; `compile` may find others. */
  readonly problems: FortranError["problems"];
  /**
   * Loads the code that makes kernels, and makes them; the same result for each call.
   *
   * @throws FortranError which names all that is wrong, each thing at its place
   */
  compile(): Promise<FortranCode>;
}

/**
 * Reads Fortran without making kernels. Bundlers put the code that makes them in a file that `compile` loads.
 *
 * @throws FortranError if lines outside of procedures cannot be read, without `partial`
 */
export function readFortran(text: string, options: FortranOptions = {}): FortranText {
  const files = readFiles(text, options);
  const loops = files.scopes
    .flatMap(regionsOf)
    .map(({ name, at, axes }) => ({ name, at, variables: axes.map(({ variable }) => variable) }));
  if (!options.partial) forgetAbsent(files.problems, files.unread, files.files);
  let compiled: Promise<FortranCode> | undefined;
  const compile = async (): Promise<FortranCode> => (await import("./code.js")).compileFiles(files, options);
  return { loops, problems: [...files.problems.found], compile: () => (compiled ??= compile()) };
}
