import type { ScatterParam } from "../../ir/types.js";
import { contributionsOf, launchRanges } from "../../ir/contributions.js";
import { orderMatters } from "../../ir/identity.js";
import type { ScatterCode } from "../../emit/c/gpu/program.js";
import { LaunchError } from "../../kernel/errors.js";
import type { Binding } from "../bind.js";
import type { ScatterStrategy } from "../device.js";
import { BYTES } from "../view.js";
import type { CodeFacts } from "./machine.js";

/** Shared memory that copies may take without being asked for: three blocks still fit a multiprocessor. */
const MODEST_COPIES = 48 << 10;
/** Elements for each element of the target, from which on copies in shared memory pay. */
const CROWDED = 16;

export interface ScatterChoice {
  code: Record<string, ScatterCode>;
  /** Contributions of one element or team to each recorded target, at most. */
  slots: Record<string, number>;
  decisions: string[];
}

/** How each scatter parameter of a launch is brought together on a GPU. Throws LaunchError where what was asked for cannot be done. */
export function chooseScatter(binding: Binding, facts: CodeFacts): ScatterChoice {
  const targets = binding.ir.params.filter((p): p is ScatterParam => p.kind === "scatter");
  const made = targets.map((target) => ({ target, ...choose(binding, target, facts) }));
  const copies = made.filter(({ code }) => code === "shared").reduce((sum, { target }) => sum + copyBytes(binding, target), 0);
  if (copies > facts.sharedBytes)
    throw new LaunchError(
      `kernel "${binding.kernel.name}": private copies of ${made.map(({ target }) => target.name).join(", ")} take ${copies} bytes and a block has ${facts.sharedBytes}; use the strategy "atomic" for some`,
    );
  // One scatter that only one thread can order takes all the others that need an order with it.
  const serial = made.some(({ code }) => code === "serial");
  return {
    slots: Object.fromEntries(made.flatMap(({ target, slots }) => (slots === undefined || serial ? [] : [[target.name, slots]]))),
    code: Object.fromEntries(made.map(({ target, code }) => [target.name, serial ? "serial" : code])),
    decisions: made.map(
      ({ target, why, strategy }) =>
        `scatter "${target.name}": ${strategy}, ${serial ? "by one thread, in element order, because data decides how often elements add" : why}`,
    ),
  };
}

interface Choice {
  code: ScatterCode;
  strategy: ScatterStrategy;
  why: string;
  /** Of recorded contributions: how many of one element or team, at most. */
  slots?: number;
}

function choose(binding: Binding, target: ScatterParam, facts: CodeFacts): Choice {
  const bytes = copyBytes(binding, target);
  const ranged = binding.policy.kind === "range";
  const atomics = facts.atomics64 || BYTES[target.element] < 8;
  const asked = binding.scatter[target.name];
  if (!atomics && (asked === "atomic" || asked === "duplicated"))
    throw new LaunchError(
      `kernel "${binding.kernel.name}": scatter "${target.name}" of ${target.element} cannot be ${asked}: this device has no atomic operations of 8 bytes; use the strategy "sorted"`,
    );
  switch (asked) {
    case "atomic":
      return { code: "atomic", strategy: "atomic", why: "as asked" };
    case "duplicated":
      if (!ranged || bytes > facts.sharedBytes)
        throw new LaunchError(
          `kernel "${binding.kernel.name}": scatter "${target.name}" cannot be duplicated on a GPU: ` +
            (ranged ? `a copy takes ${bytes} bytes and a block has ${facts.sharedBytes}` : "teams have no copies of their own") +
            `; use the strategy "atomic" or "sorted"`,
        );
      return { code: "shared", strategy: "duplicated", why: `a copy for each block in shared memory, ${bytes} bytes, as asked` };
    case "sorted": {
      if (orderMatters(target) || !atomics)
        return inOrder(binding, target, binding.precision === "strict" ? "as strict mode asks" : "as asked");
      const free = inAnyOrder(binding, target);
      return { ...free, why: `${free.why}, as any order gives the same bits` };
    }
    case undefined:
      return atomics ? inAnyOrder(binding, target) : inOrder(binding, target, "because this device has no atomic operations of 8 bytes");
  }
}

function inOrder(binding: Binding, target: ScatterParam, why: string): Choice {
  const slots = contributionsOf(binding.ir, target.name, launchRanges(binding));
  if (slots === undefined || binding.views[target.name].size >= 2 ** 32 - 1) return { code: "serial", strategy: "sorted", why };
  const from = binding.policy.kind === "range" ? "element" : "team";
  return {
    code: "recorded",
    strategy: "sorted",
    why: `${slots} contributions of each ${from} recorded, sorted by target and added in element order, ${why}`,
    slots,
  };
}

function inAnyOrder(binding: Binding, target: ScatterParam): Choice {
  const { policy } = binding;
  const { size } = binding.views[target.name];
  const bytes = copyBytes(binding, target);
  const elements = policy.kind === "range" ? policy.extents.reduce((a, b) => a * b, 1) : 0;
  return elements >= CROWDED * size && bytes <= MODEST_COPIES
    ? {
        code: "shared",
        strategy: "duplicated",
        why: `a copy for each block in shared memory, ${bytes} bytes, because ${elements} elements crowd ${size} targets`,
      }
    : { code: "atomic", strategy: "atomic", why: `hardware atomics on ${size} targets` };
}

/** Bytes of a copy in shared memory, on a multiple of 8. */
export const copyBytes = (binding: Binding, { name, element }: Pick<ScatterParam, "name" | "element">): number =>
  Math.ceil((binding.views[name].size * BYTES[element]) / 8) * 8;
