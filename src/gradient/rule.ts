import { GradientError, LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import type { Kernel } from "../kernel/declare/kernel.js";

/** An adjoint that the author gives. */
export interface KernelRule {
  /** Names of parameters that gradients may be wanted of. */
  readonly wrt: readonly string[];
  /** Arrays whose values from before the launch the adjoint reads. */
  readonly needs: readonly string[];
  /**
   * The adjoint, a kernel over the same range or league. Its parameters are named as `vjp` names them: `x`, `x_bar`, sums `a_bar`. It must clear the `y_bar` of what
   * the kernel stores, and add to the others.
   */
  readonly vjp: Kernel;
  /** The tangent, which computes the kernel's own results as well. If omitted, `jvp` is refused. */
  readonly jvp?: Kernel;
}

const rules = new WeakMap<Kernel, KernelRule | "none">();

/**
 * Gives a kernel an adjoint of its author's, or declares that gradients end at what it stores ("none").
 *
 * @returns the kernel
 * @throws LaunchError for a rule without its parts
 */
export function rule<K extends Kernel>(kernel: K, given: KernelRule | "none"): K {
  requireThing("rule", kernel, isKernel(kernel), "give a kernel that kernel(...) or teamKernel(...) declares");
  if (given !== "none") {
    requireOptions("rule", given, ["wrt", "needs", "vjp", "jvp"]);
    for (const list of ["wrt", "needs"] as const) {
      const unknown = given[list]?.find((name) => !Object.hasOwn(kernel.params, name));
      requireThing(`rule, for ${list},`, given[list], Array.isArray(given[list]), "give a list of names");
      if (unknown !== undefined)
        throw new LaunchError(`rule for "${kernel.name}" names ${unknown} for ${list}; it has ${Object.keys(kernel.params).join(", ")}`);
    }
    requireThing("rule, for vjp,", given.vjp, isKernel(given.vjp), "give the kernel of the adjoint");
    if (given.jvp !== undefined) requireThing("rule, for jvp,", given.jvp, isKernel(given.jvp), "give the kernel of the tangent");
  }
  rules.set(kernel, given);
  return kernel;
}

const isKernel = (value: Kernel | undefined): boolean => typeof value?.params === "object" && typeof value.body === "function";

/** The rule of a kernel, where its author has given one. */
export const ruleOf = (kernel: Kernel): KernelRule | "none" | undefined => rules.get(kernel);

/** Refuses names that a rule does not have. Throws GradientError. */
export function requireRuled(what: string, kernel: Kernel, known: readonly string[], wanted: readonly string[]): void {
  const other = wanted.find((name) => !known.includes(name));
  if (other === undefined) return;
  throw new GradientError(
    kernel.name,
    kernel.location,
    `${what} is asked for "${other}", and its rule(...) has ${known.join(", ")}`,
    "leave it out of wrt, or give a rule that has it",
  );
}
