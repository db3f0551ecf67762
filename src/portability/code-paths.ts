import { LaunchError } from "../base/errors.js";
import { hasGrid, type Application, type ProblemOptions } from "./application.js";
import { formsOn } from "./forms.js";
import { requireGlobals } from "./globals.js";
import type { AssessedTarget } from "./target.js";

/** An application on a target, in one of its forms: a line of an assessment. */
export interface CodePath {
  readonly application: Application;
  readonly target: AssessedTarget;
  /** With the name of the form, where there are several. */
  readonly problem: ProblemOptions;
}

/** A code path whose problem is too large for its target. */
export interface Misfit {
  readonly path: CodePath;
  readonly error: LaunchError;
}

/**
 * The code paths of a campaign, in the order of the applications.
 * @throws LaunchError for an option that an application does not have
 */
export function codePathsOf(applications: readonly Application[], targets: readonly AssessedTarget[], problem: ProblemOptions): CodePath[] {
  return applications.flatMap((application) =>
    targets.flatMap((target) => {
      requireOptions(application, target, problem);
      requireGlobals(application, problem.globals);
      return formsOn(application, target.set, problem).map((form) => ({ application, target, problem: { ...problem, form } }));
    }),
  );
}

function requireOptions(application: Application, { name, set }: AssessedTarget, problem: ProblemOptions): void {
  const given = (["grid", "layout", "occ"] as const).find((option) => problem[option] !== undefined);
  if (!application.onGrid && given !== undefined)
    throw new LaunchError(`--${given}: ${application.name} has no grid; leave the option out, or name only applications on grids`);
  if (problem.grid !== undefined && !hasGrid(application, problem.grid))
    throw new LaunchError(`--grid ${problem.grid}: ${application.name} runs on ${application.grids!.join(" and ")} grids only`);
  if (!application.onGrid && !application.division && set.members.length > 1)
    throw new LaunchError(`${application.name} runs on one device, and ${name} has ${set.members.length} members: choose single devices`);
}

/** The error for a code path that needs more memory than its target has. */
export function misfitOf(path: CodePath): Misfit | undefined {
  const { application, target, problem } = path;
  const needed = application.footprint(problem);
  if (needed <= target.memory) return undefined;
  const text = `${application.name} needs ${gibText(needed)} on ${target.name}, which has ${gibText(target.memory)}: choose a smaller --gib`;
  return { path, error: new LaunchError(text) };
}

function gibText(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}
