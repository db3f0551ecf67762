import type { ScatterCode } from "../../emit/wgsl/program.js";
import { contributionsOf, launchRanges } from "../../ir/contributions.js";
import { orderMatters } from "../../ir/identity.js";
import type { ReduceParam, ScatterParam } from "../../ir/types.js";
import { LaunchError } from "../../kernel/errors.js";
import type { Binding } from "../bind.js";
import type { ScatterStrategy } from "../device.js";
import { BYTES } from "../view.js";

/** Bytes of the workgroup's memory that copies may take without being asked for. */
const MODEST_COPIES = 4 << 10;
/** Elements for each element of the target, from which on copies pay. */
const CROWDED = 16;

export interface ScatterChoice {
  code: Record<string, ScatterCode>;
  /** Contributions of one element or team to each recorded target, at most. */
  slots: Record<string, number>;
  decisions: string[];
}

/** How each scatter parameter of a launch is brought together. Throws LaunchError where what was asked for cannot be done. */
export function chooseScatter(binding: Binding, workgroupBytes: number): ScatterChoice {
  const targets = binding.ir.params.filter((p): p is ScatterParam => p.kind === "scatter");
  const made = targets.map((target) => ({ target, ...choose(binding, target, workgroupBytes) }));
  // One scatter that only one invocation can order takes all the others with it.
  const serial = made.some(({ code }) => code === "serial");
  return {
    code: Object.fromEntries(made.map(({ target, code }) => [target.name, serial ? "serial" : code])),
    slots: Object.fromEntries(made.flatMap(({ target, slots }) => (slots === undefined || serial ? [] : [[target.name, slots]]))),
    decisions: made.map(
      ({ target, why, strategy }) =>
        `scatter "${target.name}": ${strategy}, ${serial ? "by one invocation, in element order, because data decides how often elements add" : why}`,
    ),
  };
}

interface Choice {
  code: ScatterCode;
  strategy: ScatterStrategy;
  why: string;
  slots?: number;
}

function choose(binding: Binding, target: ScatterParam, workgroupBytes: number): Choice {
  const asked = binding.scatter[target.name];
  const refuse = (why: string): never => {
    throw new LaunchError(
      `kernel "${binding.kernel.name}": scatter "${target.name}" cannot be ${asked} on WebGPU: ${why}; use the strategy "sorted"`,
    );
  };
  if (target.element === "f64" && target.op !== "sum") {
    if (asked !== undefined && asked !== "sorted") refuse("an emulated f64 is two words, which atomics cannot compare as one");
    return inOrder(binding, target, asked === undefined ? "as an emulated f64 has no atomic " + target.op : reasonOf(binding));
  }
  switch (asked) {
    case "atomic":
      return { code: "atomic", strategy: "atomic", why: `${atomicWords(target)}, as asked` };
    case "duplicated": {
      const room = workgroupBytes - foldBytes(binding);
      if (binding.policy.kind === "team") return refuse("teams have no copies of their own");
      if (copyBytes(binding, target) > room) return refuse(`a copy takes ${copyBytes(binding, target)} bytes and a workgroup has ${room}`);
      return { code: "shared", strategy: "duplicated", why: `a copy for each workgroup, ${copyBytes(binding, target)} bytes, as asked` };
    }
    case "sorted":
      if (orderMatters(target)) return inOrder(binding, target, reasonOf(binding));
      return { ...inAnyOrder(binding, target), why: `${inAnyOrder(binding, target).why}, as any order gives the same bits` };
    case undefined:
      return inAnyOrder(binding, target);
  }
}

const reasonOf = ({ precision }: Binding): string => (precision === "strict" ? "as strict mode asks" : "as asked");

function inOrder(binding: Binding, target: ScatterParam, why: string): Choice {
  const slots = contributionsOf(binding.ir, target.name, launchRanges(binding));
  if (slots === undefined) return { code: "serial", strategy: "sorted", why };
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
        why: `a copy for each workgroup, ${bytes} bytes, because ${elements} elements crowd ${size} targets`,
      }
    : { code: "atomic", strategy: "atomic", why: `${atomicWords(target)} on ${size} targets` };
}

const atomicWords = ({ element, op }: ScatterParam): string =>
  element === "f64"
    ? "compare and exchange of both parts, with the error of the upper sum in the lower"
    : element === "f32"
      ? `compare and exchange of bits (WGSL has no atomic ${op} of floats)`
      : "hardware atomics";

const copyBytes = (binding: Binding, { name, element }: ScatterParam): number => binding.views[name].size * BYTES[element];

/** What folds of reductions take of the workgroup's memory. */
const foldBytes = ({ ir }: Binding): number =>
  ir.params.filter((p): p is ReduceParam => p.kind === "reduce").reduce((sum, { type }) => sum + 256 * BYTES[type], 0);
