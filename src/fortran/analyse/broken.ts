import type { Problem, Problems } from "../errors.js";
import type { Procedure, MainProgram, SourceFile, Unit } from "../tree/index.js";

/* Procedures with statements that cannot be read. What else is wrong with a file is looked for without them, so that one run tells it all. */

type Readable = Procedure | MainProgram;

const readable = (units: readonly Unit[]): Readable[] =>
  units.flatMap((unit) => [...(unit.kind === "module" ? [] : [unit]), ...readable(unit.procedures)]);

/** Whether a problem is one of its lines. A unit that is not closed takes the lines of others. */
const holds = ({ at, end }: Readable, { at: place }: Problem): boolean =>
  at.file === place.file && at.line <= place.line && place.line <= end.line && at.line < end.line;

/** Whether all that is wrong with some files stands in procedures, and what is outside of these can be relied on. */
export function isWithinProcedures(files: readonly SourceFile[], problems: readonly Problem[]): boolean {
  const broken = readable(files.flatMap(({ units }) => units)).filter((unit) => unit.broken);
  return problems.every((problem) => broken.some((unit) => holds(unit, problem)));
}

/** Takes back problems that come of such a procedure's absence, of those from the `first` on. */
export function forgetAbsent(problems: Problems, first: number, files: readonly SourceFile[]): void {
  const broken = new Set(readable(files.flatMap(({ units }) => units)).flatMap((unit) => (unit.broken ? [unit.name] : [])));
  const later = problems.found.splice(first);
  problems.found.push(...later.filter(({ construct }) => !broken.has(construct.replace(/^call /, ""))));
}
