import { LaunchError } from "../base/errors.js";
import { overlap } from "../device/memory/overlap.js";
import { View } from "../device/memory/view.js";
import { changedIn } from "../ir/walk.js";
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

/** Whether the kernel may write the array. */
const writes = ({ ir }: Kernel, name: string): boolean => !ir || changedIn(ir.body, "view", "scatter").has(name);
