import type { ElementType, ScalarType } from "../../ir/types.js";
import type { Code } from "../c/code.js";
import type { NameKind } from "../../base/names.js";
import { slotText, type SignatureSlot } from "../../schedule/slots.js";
import { commentText } from "../text.js";
import type { EmitRequest } from "./request.js";

/** Type of an argument other than a pointer; `index` has 64 bits. */
type ArgumentType = ScalarType | "index";

/** An argument of a launch function, the same for all languages. */
export interface Argument {
  /** Slot whose value it carries. */
  readonly slot: SignatureSlot;
  readonly name: string;
  /** Its name next to the kernel's own words. */
  readonly word: string;
  readonly type: ArgumentType | "pointer";
  /** Type of the elements that a pointer points to. */
  readonly element?: ElementType;
  /** The pointed-to is changed. */
  readonly written?: boolean;
  /** For the reader, without a full stop. */
  readonly note: string;
}

/** Gives identifiers, like `wish`, that nothing else has. */
interface Naming {
  of(kind: NameKind, name: string, wish?: string): string;
}

export const INDEX_NAMES = ["i", "j", "k", "l"];

/**
 * The arguments of a kernel's launch function, in the order of its parameters: a scalar; for an array the pointer to element 0, the extents
 * and the strides that are not 1; for a reduction the place of its result. Then the bounds of the range, or the number of teams.
 */
export function launchArguments({ ir, access, unitStrides, axes: words = INDEX_NAMES }: EmitRequest, names: Naming): Argument[] {
  const args: Argument[] = [];
  for (const param of ir.params) {
    if (param.kind === "scalar") {
      args.push({
        slot: { kind: "scalar", name: param.name },
        name: names.of("param", param.name),
        word: param.name,
        type: param.type,
        note: "a number",
      });
      continue;
    }
    if (param.kind === "reduce") {
      const { name, type: element, op } = param;
      args.push({
        slot: { kind: "result", name },
        name: names.of("param", name),
        word: name,
        type: "pointer",
        element,
        written: true,
        note: `takes the ${RESULTS[op]}; ${param.identity} for an empty range`,
      });
      continue;
    }
    const { name, element, rank } = param;
    const written = param.kind === "scatter" || access.views[name]?.written === true;
    const array = names.of("view", name);
    const axes = [...Array(rank).keys()];
    const usage = param.kind === "scatter" ? `${ADDED[param.op]} at any index` : written ? "written" : "read";
    args.push({
      slot: { kind: "view", name },
      name: array,
      word: name,
      type: "pointer",
      element,
      written,
      note: `element 0 of an array of rank ${rank}, ${usage}`,
    });
    for (const axis of axes)
      args.push({
        slot: { kind: "extent", name, axis },
        ...derived(names, `extent ${name} ${axis}`, `${name}_extent${axis}`),
        type: "i32",
        note: rank > 1 ? "indices along each axis" : "elements",
      });
    for (const axis of axes.filter((a) => !unitStrides[name][a]))
      args.push({
        slot: { kind: "stride", name, axis },
        ...derived(names, `stride ${name} ${axis}`, `${name}_stride${axis}`),
        type: "index",
        note: "elements from one index of an axis to the next",
      });
  }
  if (ir.policy.kind === "team")
    return [...args, { slot: { kind: "league" }, ...derived(names, "number of teams", "league"), type: "i32", note: "teams" }];
  for (let axis = 0; axis < ir.policy.rank; axis++)
    for (const kind of ["begin", "end"] as const)
      args.push({
        slot: { kind, axis },
        ...derived(names, `${kind} ${axis}`, `${words[axis]}_${kind}`),
        type: "index",
        note: "first index of the range and the one after its last, along each axis",
      });
  return args;
}

const derived = (names: Naming, name: string, word: string): Pick<Argument, "name" | "word"> => ({
  name: names.of("argument", name, word),
  word,
});

/** The arguments as properties of one object, by their words; a word that comes again has a number. */
export function asProperties(args: readonly Argument[]): (Argument & { readonly key: string })[] {
  const taken = new Set<string>();
  return args.map((arg) => {
    let key = arg.word;
    for (let n = 2; taken.has(key); n++) key = `${arg.word}_${n}`;
    taken.add(key);
    return { ...arg, key };
  });
}

/** The argument that stands for a slot; the function has one. */
export function argumentFor(args: readonly Argument[], slot: SignatureSlot): Argument {
  const text = slotText(slot);
  return args.find((arg) => slotText(arg.slot) === text)!;
}

const RESULTS = {
  sum: "sum",
  min: "least value",
  max: "greatest value",
  custom: "result of the fold",
  joint: "part of the result of a joint fold",
};
const ADDED = { sum: "added into", min: "lowered", max: "raised" };

/** Arguments that belong together: the extents of one array, the bounds of the range. */
export function argumentGroups<A extends Argument>(args: readonly A[]): A[][] {
  const groups = new Map<string, A[]>();
  for (const arg of args) {
    const { slot } = arg;
    const group = "name" in slot ? `${slot.kind} ${slot.name}` : slot.kind === "league" ? "teams" : "bounds";
    groups.set(group, [...(groups.get(group) ?? []), arg]);
  }
  return [...groups.values()];
}

/** Notes on the arguments as a comment, with what the function does and gives back. */
export function writeComment(
  code: Code,
  request: EmitRequest,
  args: readonly (Argument & { readonly key?: string })[],
  more: readonly string[],
): void {
  const { ir, unitStrides, notes = [] } = request;
  const groups = argumentGroups(args).map(
    (group) => [group.map(({ name, key = name }) => commentText(key)).join(", "), group[0].note] as const,
  );
  const width = Math.max(0, ...groups.map(([names]) => names.length));
  code.line("/*");
  code.line(` * Runs kernel "${commentText(ir.name)}" over ${ir.policy.kind === "team" ? "a league of teams" : "a range"}.`);
  for (const [names, note] of groups) code.line(` *   ${names.padEnd(width)}  ${note}`);
  const unit = Object.entries(unitStrides).filter(([, axes]) => axes.length > 1 && axes.includes(true));
  if (unit.length > 0)
    code.line(
      ` * Strides of 1 are compiled in: ${unit.map(([name, axes]) => `${commentText(name)}'s along axis ${axes.lastIndexOf(true)}`).join(", ")}.`,
    );
  code.line(" * Arrays may not share memory.");
  for (const line of notes) code.line(` * ${commentText(line)}`);
  for (const line of more) code.line(` * ${line}`);
  code.line(" */");
}

/** The list of parameters in lines, those that belong together on one; `more` stand at the end. */
export function parameterLines(args: readonly Argument[], declaration: (arg: Argument) => string, more: readonly string[] = []): string[] {
  const lines = [...argumentGroups(args).map((group) => group.map(declaration).join(", ")), ...more];
  return lines.map((line, n) => (n < lines.length - 1 ? `${line},` : line));
}
