import { isDouble, isSingle, isWide } from "../../ir/scalars.js";
import { unreachable } from "../../base/unreachable.js";
import type { ReduceParam, ScatterParam } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import { chooseEach, inAnyOrder, inOrder, sorted, type ParamChoice, type ScatterChoice, type ScatterFacts } from "../gpu/scatter.js";
import { cached, scatterCacheShape, type ScatterCacheShape } from "../gpu/scatter-cache.js";
import { strategySource } from "../tuning/tuning.js";
import { BYTES } from "../memory/view.js";

const FACTS: ScatterFacts = {
  modestCopies: 4 << 10,
  copyBytes: ({ views }, { name, element }) => views[name].size * BYTES[element],
  copy: "a copy for each workgroup",
  atomics: ({ element, op }) =>
    isDouble(element)
      ? "compare and exchange of both parts, with the error of the upper sum in the lower"
      : isSingle(element)
        ? `compare and exchange of bits (WGSL has no atomic ${op} of floats)`
        : "hardware atomics",
};

/** How each scatter parameter of a launch is brought together. Throws LaunchError if what was asked for cannot be done. */
export function chooseScatter(binding: Binding, workgroupBytes: number): ScatterChoice & { caches?: ScatterCacheShape } {
  const choice = chooseEach(binding, "invocation", (target) => choose(binding, target, workgroupBytes));
  const copies = binding.ir.params.filter((p): p is ScatterParam => choice.code[p.name] === "shared");
  const taken = copies.reduce((sum, target) => sum + FACTS.copyBytes(binding, target), foldBytes(binding));
  return { ...choice, caches: scatterCacheShape(binding, choice, workgroupBytes - taken) };
}

function choose(binding: Binding, target: ScatterParam, workgroupBytes: number): ParamChoice {
  const asked = binding.scatter[target.name];
  const refuse = (why: string): never => {
    throw new LaunchError(
      `kernel "${binding.kernel.name}": scatter "${target.name}" cannot be ${asked} on WebGPU: ${why}; use the strategy "sorted"`,
    );
  };
  if (isDouble(target.element) && target.op !== "sum") {
    if (asked === undefined) return inOrder(binding, target, `as an emulated f64 has no atomic ${target.op}`);
    if (asked !== "sorted") refuse("an emulated f64 is two words, which atomics cannot compare as one");
    return inOrder(binding, target);
  }
  if (isWide(target.element)) {
    if (asked === undefined) return inOrder(binding, target, `as ${target.element} is two words, which atomics cannot change as one`);
    if (asked !== "sorted") refuse(`${target.element} is two words, which atomics cannot change as one`);
    return inOrder(binding, target);
  }
  switch (asked) {
    case "atomic":
      return { code: "atomic", strategy: "atomic", why: `${FACTS.atomics(target)}, ${strategySource(binding)}` };
    case "duplicated": {
      const bytes = FACTS.copyBytes(binding, target);
      const room = workgroupBytes - foldBytes(binding);
      if (binding.policy.kind === "team") return refuse("teams have no copies of their own");
      if (bytes > room) return refuse(`a copy takes ${bytes} bytes and a workgroup has ${room}`);
      return { code: "shared", strategy: "duplicated", why: `${FACTS.copy}, ${bytes} bytes, ${strategySource(binding)}` };
    }
    case "cached":
      return cached(binding, target);
    case "sorted":
      return sorted(binding, target, FACTS);
    case undefined:
      return inAnyOrder(binding, target, FACTS);
    default:
      return unreachable(asked);
  }
}

/** Bytes of the workgroup's memory that folds of reductions take. */
const foldBytes = ({ ir }: Binding): number =>
  ir.params.filter((p): p is ReduceParam => p.kind === "reduce").reduce((sum, { type }) => sum + 256 * BYTES[type], 0);
