import type { KernelIR } from "../../ir/types.js";
import type { View } from "../memory/view.js";

/**
 * Elements of the view that takes a reduction's components, by the names of the reductions that they have become. What is wrong with the view goes to `fail`.
 */
export function componentsOf(
  name: string,
  view: View,
  components: number,
  { params }: KernelIR,
  fail: (problem: string) => never,
): Record<string, View> {
  if (view.rank !== 1 || view.length !== components)
    fail(`${name} takes ${components} results and needs a view of as many elements, and is given one of shape [${view.shape}]`);
  const own = params.flatMap((p) => (p.kind === "reduce" && p.part?.of === name ? [[p.name, p.part.component] as const] : []));
  return Object.fromEntries(own.map(([param, k]) => [param, view.slice([k, k + 1])]));
}
