import { GradientError, LaunchError } from "../base/errors.js";
import { overlap } from "../device/memory/overlap.js";
import { View } from "../device/memory/view.js";
import { changedIn } from "../ir/walk.js";
import { compileKernel } from "../kernel/compile.js";
import type { Kernel } from "../kernel/declare/kernel.js";

type Given = Readonly<Record<string, unknown>>;

/**
 * Refuses derivatives that share memory with other arguments, and are written, and derivatives of another shape than their array: both would give wrong numbers.
 * Throws LaunchError.
 */
export function requireSeparateDerivatives(kernel: Kernel, kernels: readonly Kernel[], given: Given, ending: string): void {
  const views = Object.entries(given).filter((entry): entry is [string, View] => entry[1] instanceof View);
  const taken = new Set(kernels.flatMap(({ params }) => Object.keys(params)));
  const refuse = (problem: string): never => {
    throw new LaunchError(`the derivative of kernel "${kernel.name}": ${problem}`);
  };
  for (const [name, view] of views) {
    if (!name.endsWith(`_${ending}`) || !taken.has(name)) continue;
    const of = given[name.slice(0, -ending.length - 1)];
    if (of instanceof View && String(of.shape) !== String(view.shape))
      refuse(`${name} has the shape [${view.shape}], and its array [${of.shape}]; give an array of the same shape`);
    if (!kernels.some((each) => writes(each, name))) continue;
    const other = views.find(([each, its]) => each !== name && taken.has(each) && overlap(view, its));
    if (other) refuse(`${name} and ${other[0]} share memory, and ${name} is written; give it memory of its own`);
  }
}

/**
 * Throws GradientError where arguments share memory that the kernel changes: the adjoint would take the values of before for each.
 *
 * @param fixed values of the kernel's fixed parameters
 */
export function requireSeparateArguments(kernel: Kernel, fixed: Readonly<Record<string, number | boolean>>, given: Given): void {
  const { access } = compileKernel(kernel, fixed);
  const own = Object.entries(given).filter(
    (entry): entry is [string, View] => Object.hasOwn(access.views, entry[0]) && entry[1] instanceof View,
  );
  for (const [n, [name, view]] of own.entries())
    for (const [other, its] of own.slice(0, n)) {
      const changed = [name, other].find((each) => access.views[each]!.written || access.views[each]!.scattered);
      if (changed === undefined || !overlap(view, its)) continue;
      throw new GradientError(
        kernel.name,
        kernel.location,
        `"${other}" and "${name}" are given one memory, and it writes "${changed}": its gradient is not known then`,
        "write the kernel over one view, or give it two",
      );
    }
}

/** Whether the kernel may write the array. */
const writes = ({ ir }: Kernel, name: string): boolean => !ir || changedIn(ir.body, "view", "scatter").has(name);
