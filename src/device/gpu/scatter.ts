import type { ScatterCode } from "../../schedule/program.js";
import { contributionsOf, launchRanges } from "../../ir/analysis/contributions.js";
import { orderMatters } from "../../ir/identity.js";
import type { ScatterParam } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { ScatterStrategy } from "../device.js";
import { strategySource } from "../tuning/tuning.js";

/** Elements for each element of the target, from which on copies pay. */
const CROWDED = 16;

/** How one scatter parameter is brought together. */
export interface ParamChoice {
  code: ScatterCode;
  strategy: ScatterStrategy;
  why: string;
  /** For sorted contributions: most of one element or team. */
  slots?: number;
}

/** Strategies of a launch's scatter parameters. */
export interface ScatterChoice {
  code: Record<string, ScatterCode>;
  /** Contributions of one element or team to each sorted target, at most. */
  slots: Record<string, number>;
  remarks: string[];
}

/** Facts on which choices depend, and their words for it. */
export interface ScatterFacts {
  /** Bytes that copies may take without being asked for. */
  readonly modestCopies: number;
  copyBytes(binding: Binding, target: ScatterParam): number;
  /** Words for a copy: "a copy for each ..." */
  readonly copy: string;
  /** Words for the atomic update. */
  atomics(target: ScatterParam): string;
}

/** Chooses for each scatter parameter of a launch; `one` is what runs alone where a single one must: a thread. */
export function chooseEach(binding: Binding, one: string, choose: (target: ScatterParam) => ParamChoice): ScatterChoice {
  const targets = binding.ir.params.filter((p): p is ScatterParam => p.kind === "scatter");
  const made = targets.map((target) => ({ name: target.name, ...choose(target) }));
  // One scatter that only one thread can order takes all the others with it.
  const serial = made.some(({ code }) => code === "serial");
  return {
    code: Object.fromEntries(made.map(({ name, code }) => [name, serial ? "serial" : code])),
    slots: Object.fromEntries(made.flatMap(({ name, slots }) => (slots === undefined || serial ? [] : [[name, slots]]))),
    remarks: made.map(
      ({ name, why, strategy }) =>
        `scatter "${name}": ${strategy}, ${serial ? `by one ${one}, in element order, because data decides how often elements add` : why}`,
    ),
  };
}

/** In element order where that matters, else as is fastest. */
export function sorted(binding: Binding, target: ScatterParam, facts: ScatterFacts): ParamChoice {
  if (orderMatters(target)) return inOrder(binding, target);
  const free = inAnyOrder(binding, target, facts);
  return { ...free, why: `${free.why}, as any order gives the same bits` };
}

/** In element order. */
export function inOrder(
  binding: Binding,
  target: ScatterParam,
  why = binding.precision === "strict"
    ? "as strict mode asks"
    : binding.ordered
      ? "as the launch is deterministic"
      : strategySource(binding),
): ParamChoice {
  const slots = contributionsOf(binding.ir, target.name, launchRanges(binding));
  // Rejects sizes beyond 32-bit positions, as one of these marks unused slots.
  if (slots === undefined || binding.views[target.name].size >= 2 ** 32 - 1) return { code: "serial", strategy: "sorted", why };
  const from = binding.policy.kind === "range" ? "element" : "team";
  return {
    code: "sorted",
    strategy: "sorted",
    why: `${slots} contributions of each ${from}, sorted by target and added in element order, ${why}`,
    slots,
  };
}

/** In copies where many elements meet in few targets, else with atomics. */
export function inAnyOrder(binding: Binding, target: ScatterParam, facts: ScatterFacts): ParamChoice {
  const { policy } = binding;
  const { size } = binding.views[target.name];
  const bytes = facts.copyBytes(binding, target);
  const elements = policy.kind === "range" ? policy.extents.reduce((a, b) => a * b, 1) : 0;
  return size > 0 && elements >= CROWDED * size && bytes <= facts.modestCopies
    ? { code: "shared", strategy: "duplicated", why: `${facts.copy}, ${bytes} bytes, because ${elements} elements crowd ${size} targets` }
    : { code: "atomic", strategy: "atomic", why: `${facts.atomics(target)} on ${size} targets` };
}
