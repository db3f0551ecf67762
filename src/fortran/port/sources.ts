/* Ports of files, as texts. */

import { IsoformError } from "../../base/errors.js";
import { withAtomics } from "../analyse/atomic-calls.js";
import { forgetAbsent, isWithinProcedures } from "../analyse/broken.js";
import { withImplicit } from "../analyse/implicit.js";
import { regionsOf } from "../analyse/regions.js";
import { readSymbols } from "../analyse/symbols.js";
import { Problems, type Problem } from "../errors.js";
import { parse } from "../parse/index.js";
import { isFixedForm } from "../text/fixed-form.js";
import type { SourceFile, Unit } from "../tree/index.js";
import { port, type PortedLoop } from "./index.js";
import type { PortTransfer } from "./data/moves.js";
import type { PortNote } from "./notes.js";
import { renamer } from "./rename.js";
import { nestSettings, NO_SETTINGS, type Settings } from "./settings.js";
import { FORTRAN_TARGETS, type FortranTarget, type PortTarget } from "./targets.js";

/** A file of Fortran. */
export interface Source {
  /** Its name in messages. */
  readonly file: string;
  readonly text: string;
}

/** Options of `portSources`, and of `portKernels`. */
export interface PortOptions<Target extends PortTarget = FortranTarget> {
  readonly targets: readonly Target[];
  readonly settings?: Settings;
  /** Names that the preprocessor takes as defined, in addition to the settings' names. */
  readonly define?: Readonly<Record<string, string | boolean>>;
  /** Kinds by name, in addition to the settings' kinds, if a port has kernels. */
  readonly kinds?: Settings["kinds"];
  /** Files that are read along, for the procedures that they hold. */
  readonly hosts?: readonly Source[];
  /** The text of an included file. */
  readonly include?: (name: string, from: string) => string | undefined;
}

/** One file that a port has written. */
export interface PortedFile {
  readonly target: PortTarget;
  /** The file that it was made of, and the new name, without folders. */
  readonly of: string;
  readonly name: string;
  readonly text: string;
  readonly loops: readonly PortedLoop[];
  /** Words of directives that the port leaves out, or gives another meaning. */
  readonly notes: readonly PortNote[];
  /** Copies between host and device that the port's text asks for. */
  readonly transfers: readonly PortTransfer[];
}

/**
 * Each file for each target.
 * @throws FortranError with all that is wrong with the files, each thing at its place
 * @throws IsoformError if a target is unknown, or the settings speak of a loop that no file has
 */
export function portSources(sources: readonly Source[], options: PortOptions): PortedFile[] {
  const { targets, settings = NO_SETTINGS } = options;
  const unknown = targets.find((target) => !FORTRAN_TARGETS.includes(target));
  if (unknown !== undefined) throw new IsoformError(`targets: ${unknown} is unknown (choose from ${FORTRAN_TARGETS.join(", ")})`);
  const problems = new Problems();
  const { files, others, sound } = readSources(sources, options, problems);
  const unread = problems.found.length;
  const made = targets.flatMap((target) =>
    sound.map((file): PortedFile => {
      const rename = settings.rename[target];
      const loop = (name: string): ReturnType<typeof nestSettings> => nestSettings(settings, name, target);
      const [base, end] = baseAndEnd(file);
      const name = (rename ? renamer(rename)(base) : base) + end;
      return {
        target,
        of: file.file,
        name,
        ...port(file, target, { rename, loop }, problems, [...others, ...files.filter((other) => other.file !== file.file)]),
      };
    }),
  );
  forgetAbsent(problems, unread, files);
  problems.throwIfAny();
  checkLoops(settings, new Set(made.flatMap(({ loops }) => loops.map(({ name }) => name))));
  return made;
}

/** The files, those that are read along, and what of the files can be ported to find what else is wrong: all, where nothing is. */
export function readSources(
  sources: readonly Source[],
  { settings = NO_SETTINGS, define, hosts = [], include }: Omit<PortOptions, "targets">,
  problems: Problems,
): { files: SourceFile[]; others: SourceFile[]; sound: SourceFile[] } {
  const read = ({ file, text }: Source): SourceFile =>
    withAtomics(
      parse(
        text,
        { file, define: { ...settings.define, ...define }, ...(include && { include: (name) => include(name, file) }) },
        problems,
      ),
    );
  const all = withImplicit([...sources, ...hosts].map(read), { ...settings.kinds });
  const [files, others] = [all.slice(0, sources.length), all.slice(sources.length)];
  const wrong = (of: string): Problem[] => problems.found.filter(({ at }) => at.file === of);
  const sound = files.filter((file) => isWithinProcedures([file], wrong(file.file))).map(withoutBroken);
  return { files, others, sound };
}

/** Parallel loops of files, with the loops that a target would refuse. */
export function countLoops(sources: readonly Source[], options: Omit<PortOptions, "targets">): number {
  const { sound, others, files } = readSources(sources, options, new Problems());
  const names = new Set(sound.map(({ file }) => file));
  const world = readSymbols([...sound, ...others, ...files.filter(({ file }) => !names.has(file))], {}, new Problems());
  return world.scopes.filter(({ file }) => names.has(file)).flatMap(regionsOf).length;
}

/** A file's name without folders, and its end. */
export function baseAndEnd({ file }: Pick<SourceFile, "file">): [base: string, end: string] {
  const [, base, end] = /^(.*?)(\.[^.]*)?$/.exec(file.split(/[\\/]/).at(-1)!)!;
  // Ports are in free form.
  const free = isFixedForm(file) ? (/[A-Z]/.test(end ?? "") ? ".F90" : ".f90") : (end ?? "");
  return [base, free];
}

/** @throws IsoformError if the settings speak of other loops */
export function checkLoops(settings: Settings, known: ReadonlySet<string>): void {
  const unknown = [...settings.loops.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new IsoformError(
      `the settings name ${unknown.map((name) => `[${name}]`).join(", ")}, but the files have no such loop: loops of a procedure with several are named name#1, name#2`,
    );
}

/** The file without procedures that could not be read. */
function withoutBroken(file: SourceFile): SourceFile {
  const kept = <T extends Unit>(units: readonly T[]): T[] =>
    units.filter((unit) => unit.kind === "module" || !unit.broken).map((unit) => ({ ...unit, procedures: kept(unit.procedures) }));
  return { ...file, units: kept(file.units) };
}
