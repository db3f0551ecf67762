import { LaunchError } from "../base/errors.js";
import type { DeviceSet } from "../set/index.js";
import type { Application, ProblemOptions } from "./application.js";

/** Words of `--form` beside the names of forms: the fastest one of each set of devices, and every one. */
export const CHOSEN_FORMS = ["fastest", "all"] as const;

type Formed = Pick<Application, "name" | "forms">;

/** Throws LaunchError for a form that the application does not have. */
export function requireForm({ name, forms }: Formed, form: string, others: readonly string[] = []): void {
  if (!forms) throw new LaunchError(`--form: ${name} has one form; leave the option out, or name only applications with several`);
  const known = [...forms.names, ...others];
  if (!known.includes(form)) throw new LaunchError(`--form ${form}: ${name} has the forms ${known.join(", ")}`);
}

/**
 * Forms in which an application is measured on a set of devices; `undefined` for one without forms. By default the first form and the fastest.
 * @param wish a form's name or one of `CHOSEN_FORMS`
 * @throws LaunchError for a form that the application does not have
 */
export function formsOn(application: Formed, set: DeviceSet, problem: ProblemOptions): readonly (string | undefined)[] {
  const { forms } = application;
  const { form: wish } = problem;
  if (wish !== undefined) requireForm(application, wish, CHOSEN_FORMS);
  if (!forms) return [undefined];
  const names = set.members.length > 1 ? forms.names.filter((name) => !forms.alone?.includes(name)) : forms.names;
  if (wish === "all") return names;
  const fastest = forms.fastest(set, problem);
  if (wish === undefined) return [...new Set([names[0], fastest])];
  return [wish === "fastest" ? fastest : wish];
}
