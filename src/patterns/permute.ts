import type { Device } from "../device/device.js";
import { range } from "../device/launch/policy.js";
import type { View } from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import { kernel } from "../kernel/declare/kernel.js";
import { i32, view } from "../kernel/declare/params.js";
import { makePattern, requireSeparate, requireView, type Pattern, type PatternOptions, type PatternSteps } from "./pattern.js";
import { TOKENS } from "./scan-shape.js";

/** Arguments of `permute`. */
export interface Permute {
  /** For each place of the new order the index of what goes there; as many as there are inputs' elements or, with `output`, as that has. */
  permutation: View<"i32", 1>;
  /** Components of the same particles, say: of rank 1, or 2 with all that moves together along the last axis. */
  input: readonly View<NumberType>[];
  /** Targets of the reordered values: for each input, separate memory of the same type and shape. Default: the inputs themselves. */
  output?: readonly View<NumberType>[];
}

const makeCopy = (type: NumberType) =>
  kernel("copyBack", { input: view(TOKENS[type]), output: view(TOKENS[type]) }, ({ input, output }, i) => {
    output[i] = input[i];
  });
const makeCopyRows = (type: NumberType) =>
  kernel("copyRowsBack", { input: view(TOKENS[type], 2), output: view(TOKENS[type], 2) }, ({ input, output }, i, j) => {
    output[i][j] = input[i][j];
  });

const makeGather = (type: NumberType) =>
  kernel("gather", { order: view(i32), input: view(TOKENS[type]), output: view(TOKENS[type]) }, ({ order, input, output }, i) => {
    output[i] = input[order[i]];
  });
const makeGatherRows = (type: NumberType) =>
  kernel(
    "gatherRows",
    { order: view(i32), input: view(TOKENS[type], 2), output: view(TOKENS[type], 2) },
    ({ order, input, output }, i, j) => {
      output[i][j] = input[order[i]][j];
    },
  );

const gather = { f64: makeGather("f64"), f32: makeGather("f32"), i32: makeGather("i32"), u32: makeGather("u32") };
const gatherRows = { f64: makeGatherRows("f64"), f32: makeGatherRows("f32"), i32: makeGatherRows("i32"), u32: makeGatherRows("u32") };
const copies = { f64: makeCopy("f64"), f32: makeCopy("f32"), i32: makeCopy("i32"), u32: makeCopy("u32") };
const copyRows = { f64: makeCopyRows("f64"), f32: makeCopyRows("f32"), i32: makeCopyRows("i32"), u32: makeCopyRows("u32") };

/**
 * Prepares to bring views into the order that a permutation tells: output[i] = input[permutation[i]]. Without `output` the inputs are
 * changed, by way of temporary memory for one of each type and shape. Throws LaunchError where lengths, shapes or types do not fit, and where
 * a view that is written shares memory with another one.
 */
export function permute(device: Device, what: Permute, options: PatternOptions = {}): Pattern {
  requireOptions("permute", what, ["permutation", "input", "output"]);
  const { permutation, input, output } = what;
  requireView("permute, for its permutation,", permutation);
  for (const [name, views] of Object.entries({ input, output: output ?? [] })) {
    requireThing(`permute, for its ${name},`, views, Array.isArray(views), "give a list of views");
    views.forEach((view) => requireView(`permute, in its ${name},`, view));
  }
  if (output && output.length !== input.length)
    throw new LaunchError(`permute of ${input.length} views into ${output.length}: give an output for each`);
  for (const [n, view] of input.entries()) {
    if (!Object.hasOwn(gather, view.type))
      throw new LaunchError(`permute of view ${n}, which is ${view.type}; give views of f64, f32, i32 or u32`);
    if (output && (output[n].type !== view.type || output[n].shape.slice(1).join() !== view.shape.slice(1).join()))
      throw new LaunchError(
        `permute of view ${n}, ${view.type} [${view.shape}], into ${output[n].type} [${output[n].shape}]: types and rows must be equal`,
      );
    const { rank, length, shape } = output?.[n] ?? view;
    if (rank > 2 || length !== permutation.length)
      throw new LaunchError(
        `permute of ${permutation.length} elements: view ${n} has shape [${shape}]; it needs ${permutation.length} elements or rows`,
      );
  }
  const named = (name: string, views: readonly View[]) => views.map((view, n) => [`${name} ${n}`, view] as const);
  const order = ["permutation", permutation] as const;
  if (output) requireSeparate("permute", named("output", output), [order, ...named("input", input)]);
  else requireSeparate("permute", named("input", input), [order]);
  return makePattern(device, options, (steps) => {
    const spare = new Map<string, View<NumberType>>();
    for (const [n, view] of input.entries()) {
      if (output) planGather(steps, permutation, view, output[n]);
      else {
        const key = `${view.type} ${view.shape}`;
        if (!spare.has(key)) spare.set(key, steps.array(view.type, view.size).reshape(...view.shape));
        planGather(steps, permutation, view, spare.get(key)!);
        planCopy(steps, spare.get(key)!, view);
      }
    }
  });
}

/** output[i] = input[order[i]] */
export function planGather(steps: PatternSteps, order: View<"i32", 1>, input: View<NumberType>, output: View<NumberType>): void {
  if (input.rank === 1) steps.launch(gather[input.type], { order, input, output }, range(output.length), { given: true });
  else steps.launch(gatherRows[input.type], { order, input, output }, range(output.shape[0], output.shape[1]), { given: true });
}

export function planCopy(steps: PatternSteps, input: View<NumberType>, output: View<NumberType>): void {
  if (input.rank === 1) steps.launch(copies[input.type], { input, output }, range(input.length));
  else steps.launch(copyRows[input.type], { input, output }, range(input.shape[0], input.shape[1]));
}
