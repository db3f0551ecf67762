import type { Problem } from "../fortran/errors.js";
import type { PortedFile } from "../fortran/port/sources.js";
import type { PortTarget } from "../fortran/port/targets.js";

/** A problem, and the targets that have it. */
interface Refusal {
  readonly problem: Problem;
  readonly targets: PortTarget[];
}

export interface PortCheck {
  /** Files for the report, of all targets without problems. */
  readonly made: readonly PortedFile[];
  /** A line for all targets without problems, and one for each other target. */
  readonly lines: readonly string[];
  /** Words of directives that ports leave out, or give another meaning, each once. */
  readonly notes: readonly string[];
  /** Names the targets of a problem that others do not have. */
  readonly problems: readonly Problem[];
}

/** Ports to each target, one after the other, so that each says what it refuses. */
export async function checkTargets(
  targets: readonly PortTarget[],
  port: (target: PortTarget) => Promise<readonly PortedFile[]>,
): Promise<PortCheck> {
  const { FortranError, problemText } = await import("../fortran/errors.js");
  const made: PortedFile[] = [];
  const sound: PortTarget[] = [];
  const lines: string[] = [];
  const found = new Map<string, Refusal>();
  for (const target of targets)
    try {
      made.push(...(await port(target)));
      sound.push(target);
    } catch (error) {
      if (!(error instanceof FortranError)) throw error;
      lines.push(`${target}: ${pluralised(error.problems.length, "problem")}`);
      for (const problem of error.problems) {
        const text = problemText(problem);
        const known = found.get(text) ?? { problem, targets: [] };
        known.targets.push(target);
        found.set(text, known);
      }
    }
  if (sound.length > 0) lines.unshift(`${sound.join(", ")}: no problems`);
  const problems = [...found.values()].map(({ problem, targets: of }): Problem => {
    const suffix = ` for ${of.join(", ")}`;
    const isToAll = of.length === targets.length || problem.construct.endsWith(suffix);
    return isToAll ? problem : { ...problem, construct: problem.construct + suffix };
  });
  const notes = made.flatMap((file) =>
    file.notes.map(({ at, construct, note }) => `${at.file}:${at.line}:${at.column}: ${construct}: ${note}`),
  );
  return { made, lines, notes: [...new Set(notes)], problems };
}

export const pluralised = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
