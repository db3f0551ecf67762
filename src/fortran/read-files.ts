import { withAtomics } from "./analyse/atomic-calls.js";
import { isWithinProcedures } from "./analyse/broken.js";
import { withoutCommons } from "./analyse/common-blocks.js";
import { withEntryValues } from "./analyse/entry-values.js";
import { withSpecifics } from "./analyse/generics.js";
import { withImplicit } from "./analyse/implicit.js";
import { withComponents } from "./analyse/objects.js";
import { withoutParents } from "./analyse/parent-components.js";
import { readSymbols, type UnitScope, type World } from "./analyse/symbols.js";
import { Texts, withTextNumbers } from "./analyse/texts.js";
import { withPairs } from "./complex/index.js";
import { Problems } from "./errors.js";
import { parse } from "./parse/index.js";
import type { SourceFile } from "./tree/index.js";

/** How Fortran is read. */
export interface FortranOptions {
  /** Names the file in messages. */
  readonly file?: string;
  /** Names for the preprocessor; true is 1. */
  readonly define?: Readonly<Record<string, string | boolean>>;
  /** The text of an included file. */
  readonly include?: (name: string, from: string) => string | undefined;
  /** Kinds by name, where their module is not given or another precision is wanted. */
  readonly kinds?: World["kinds"];
  /** Other files that are read for modules, bounds in `allocate`, and procedures that are called. */
  readonly hosts?: readonly { readonly file: string; readonly text: string }[];
  /**
   * Settings of loops by their names, as in `kernels`: `idx`, the variables of perfectly nested loops, outermost first. Serial ones among them run in
   * parallel then, which GPUs and CPUs' caches may gain from; refused if one iteration needs the results of another.
   */
  readonly loops?: Readonly<Record<string, { readonly idx: readonly string[] }>>;
  /** Routines that have problems are left out, and named in `problems`. */
  readonly partial?: boolean;
}

/** Files as syntax trees of numbers and arrays, and the names in them. */
export interface ReadFiles {
  readonly file: string;
  readonly world: World;
  /** Units of the file itself, without `hosts`. */
  readonly scopes: readonly UnitScope[];
  readonly files: readonly SourceFile[];
  readonly texts: Texts;
  readonly problems: Problems;
  /** Number of problems that the parser found. */
  readonly unread: number;
}

/** @throws FortranError if what cannot be parsed leaves the rest unclear */
export function readFiles(text: string, options: FortranOptions): ReadFiles {
  const problems = new Problems();
  const { include, kinds = {} } = options;
  const read = (file: string, source: string): SourceFile =>
    withAtomics(parse(source, { file, define: options.define, ...(include && { include: (name) => include(name, file) }) }, problems));
  const main = read(options.file ?? "program.F90", text);
  const written = [main, ...(options.hosts ?? []).map((host) => read(host.file, host.text))];
  if (!options.partial && !isWithinProcedures(written, problems.found)) problems.throwIfAny();
  const unread = problems.found.length;
  const texts = new Texts();
  const named = withSpecifics(withoutCommons(withEntryValues(withoutParents(withImplicit(written, kinds), kinds), kinds), kinds), kinds);
  const files = withComponents(withPairs(withTextNumbers(named, kinds, texts), kinds, problems), kinds);
  const world = readSymbols(files, kinds, problems);
  return { file: main.file, world, scopes: world.scopes.filter(({ file }) => file === main.file), files, texts, problems, unread };
}
