import { unreachable } from "../../base/unreachable.js";
import type { ScatterParam } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import { strategySource } from "../tuning/tuning.js";
import { BYTES } from "../memory/view.js";
import type { CodeFacts } from "./machine.js";
import { cached, scatterCacheShape, type ScatterCacheShape } from "./scatter-cache.js";
import { chooseEach, inAnyOrder, inOrder, sorted, type ParamChoice, type ScatterChoice, type ScatterFacts } from "./scatter.js";

/** Bytes of a copy in shared memory, on a multiple of 8. */
export const copyBytes = (binding: Binding, { name, element }: Pick<ScatterParam, "name" | "element">): number =>
  Math.ceil((binding.views[name].size * BYTES[element]) / 8) * 8;

const FACTS: ScatterFacts = {
  // Three blocks still fit a multiprocessor.
  modestCopies: 48 << 10,
  copyBytes,
  copy: "a copy for each block in shared memory",
  atomics: () => "hardware atomics",
};

/** Memory that a block has without asking for more. */
const STATIC_SHARED = 40 << 10;

/** How each scatter parameter of a launch is brought together on a GPU. Throws LaunchError if what was asked for cannot be done. */
export function chooseScatter(binding: Binding, facts: CodeFacts): ScatterChoice & { caches?: ScatterCacheShape } {
  const choice = chooseEach(binding, "thread", (target) => choose(binding, target, facts));
  const copied = binding.ir.params.filter((p): p is ScatterParam => choice.code[p.name] === "shared");
  const bytes = copied.reduce((sum, target) => sum + copyBytes(binding, target), 0);
  if (bytes > facts.sharedBytes)
    throw new LaunchError(
      `kernel "${binding.kernel.name}": private copies of ${copied.map(({ name }) => name).join(", ")} take ${bytes} bytes and a block has ${facts.sharedBytes}; use the strategy "atomic" for some`,
    );
  return { ...choice, caches: scatterCacheShape(binding, choice, Math.min(STATIC_SHARED, facts.sharedBytes - bytes)) };
}

function choose(binding: Binding, target: ScatterParam, facts: CodeFacts): ParamChoice {
  const bytes = copyBytes(binding, target);
  const ranged = binding.policy.kind === "range";
  const atomics = facts.atomics64 || BYTES[target.element] < 8;
  const asked = binding.scatter[target.name];
  if (!atomics && asked !== undefined && asked !== "sorted")
    throw new LaunchError(
      `kernel "${binding.kernel.name}": scatter "${target.name}" of ${target.element} cannot be ${asked}: this device has no atomic operations of 8 bytes; use the strategy "sorted"`,
    );
  switch (asked) {
    case "atomic":
      return { code: "atomic", strategy: "atomic", why: strategySource(binding) };
    case "duplicated":
      if (!ranged || bytes > facts.sharedBytes)
        throw new LaunchError(
          `kernel "${binding.kernel.name}": scatter "${target.name}" cannot be duplicated on a GPU: ` +
            (ranged ? `a copy takes ${bytes} bytes and a block has ${facts.sharedBytes}` : "teams have no copies of their own") +
            `; use the strategy "atomic" or "sorted"`,
        );
      return { code: "shared", strategy: "duplicated", why: `${FACTS.copy}, ${bytes} bytes, ${strategySource(binding)}` };
    case "cached":
      return cached(binding, target);
    case "sorted":
      return atomics ? sorted(binding, target, FACTS) : inOrder(binding, target);
    case undefined:
      return atomics
        ? inAnyOrder(binding, target, FACTS)
        : inOrder(binding, target, "because this device has no atomic operations of 8 bytes");
    default:
      return unreachable(asked);
  }
}
