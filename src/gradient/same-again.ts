import { LaunchError } from "../base/errors.js";
import { BlockedView, storageOf } from "../device/memory/blocked-view.js";
import { sameElements } from "../device/memory/overlap.js";
import { isAnyView } from "./differentiated.js";
import type { Recording, SectionEntry } from "./recording.js";
import type { TapeScalar } from "./tape-scalar.js";

/** Numbers of a function that runs again: it is given the first run's, which may have left it by variables around it. */
export class NumbersAgain {
  /** Numbers that the function has made this time. */
  count = 0;
  /** The first one that was another. */
  changed: { readonly before: number; readonly now: number } | undefined;
  private isFixed = true;

  constructor(private readonly numbers: readonly TapeScalar[]) {}

  /** Notes a launch whose sums may have another order each time: results from here on may differ by rounding. */
  noteAnyOrder(): void {
    this.isFixed = false;
  }

  /** The number of the first run in place of the next one; undefined beyond these. */
  next(value: number, isResult: boolean): TapeScalar | undefined {
    const number = this.numbers[this.count++];
    if (number && (this.isFixed || !isResult) && !Object.is(number.value, value)) this.changed ??= { before: number.value, now: value };
    return number;
  }
}

/** Refuses a function that has not done the same again. Throws LaunchError. */
export function requireSame(section: SectionEntry, { entries }: Recording, { count, changed: number }: NumbersAgain): void {
  const refuse = (what: string): never => {
    throw new LaunchError(`a function of t.checkpoint ${what} when it ran again: let it do the same each time, with arrays made before it`);
  };
  const again = entries.flatMap((entry) => (entry.kind === "launch" ? [entry] : entry.launches));
  if (again.length !== section.launches.length) refuse(`ran ${again.length} launches in place of ${section.launches.length}`);
  for (const [n, { kernel, args, policy, options }] of section.launches.entries()) {
    const other = again[n]!;
    const { name } = kernel;
    if (other.kernel !== kernel)
      refuse(other.kernel.name === name ? `ran another kernel "${name}"` : `ran kernel "${other.kernel.name}" in place of "${name}"`);
    const names = Object.keys({ ...args, ...other.args });
    const changed = names.find((arg) => !isSame(args[arg], other.args[arg]));
    if (changed !== undefined) refuse(`gave kernel "${name}" another "${changed}"`);
    if (!isSame(policy, other.policy)) refuse(`gave kernel "${name}" another range`);
    if (!isSame(options, other.options)) refuse(`gave kernel "${name}" other options`);
  }
  if (count !== section.scalars.length) refuse(`made ${count} numbers in place of ${section.scalars.length}`);
  if (number) refuse(`made the number ${number.now} in place of ${number.before}`);
}

/** Whether two arguments, policies or options are the same: elements of memory, or values inside of plain objects. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isAnyView(a))
    return (
      isAnyView(b) &&
      a instanceof BlockedView === b instanceof BlockedView &&
      a.length === b.length &&
      sameElements(storageOf(a), storageOf(b))
    );
  if (!isPlain(a) || !isPlain(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => isSame(a[key], b[key]));
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value));
