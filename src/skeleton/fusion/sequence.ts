import { originalPosition } from "#source-map";
import { Field, type Container } from "../../domain/grid/grid.js";
import type { Location } from "../../ir/types.js";
import { ContainerError, LaunchError } from "../../base/errors.js";
import { requireThing } from "../../base/own.js";
import { callSite } from "../../kernel/declare/location.js";
import { Scalar } from "../../set/index.js";
import { footprintOf, neededOf } from "./footprint.js";
import { rebind } from "./merge.js";

/** Two fields, or two scalars, exchange their values at no cost: what runs later uses the other's memory. */
export interface Swap {
  readonly swap: Pair;
  readonly location: Location;
}
export type Pair = readonly [Field, Field] | readonly [Scalar, Scalar];

/** Steps that some iterations leave out. */
export interface Every {
  /** Iterations from one that runs them to the next. */
  readonly every: number;
  /** The first iteration that does, counted from 0. */
  readonly phase: number;
  readonly steps: readonly Step[];
}

/** Part of a skeleton's iteration, in order. */
export type Step = Container | Swap | Every | readonly Step[];

/**
 * Steps that run in every n-th iteration: where `iteration % n` is `phase`, 0 by default. The skeleton counts its iterations from 0, over all
 * its runs. Inside of others, they run where both do.
 * @throws LaunchError for other than whole numbers
 */
export function every(n: number, steps: readonly Step[], options: { phase?: number } = {}): Every {
  const { phase = 0, ...others } = options;
  const { file, line } = originalPosition(callSite(every));
  const refuse = (problem: string): never => {
    throw new LaunchError(`every(${n}, ...) (${file}:${line}): ${problem}`);
  };
  for (const other of Object.keys(others)) refuse(`it has no option "${other}"; it has phase`);
  if (!Number.isSafeInteger(n) || n < 1) refuse("give a whole number of iterations, at least 1");
  if (!Number.isSafeInteger(phase) || phase < 0 || phase >= n) refuse(`its phase is ${phase}; give a whole number from 0 to ${n - 1}`);
  if (!Array.isArray(steps)) refuse("give a list of steps");
  return { every: n, phase, steps };
}

const isDue = ({ every: n, phase }: Every, iteration: number): boolean => iteration % n === phase;

/** Tells iterations apart that do not run the same steps: a mark for each `every` that is met. */
export function marksOf(steps: readonly Step[], iteration: number): string {
  let marks = "";
  for (const step of steps)
    if (isList(step)) marks += marksOf(step, iteration);
    else if ("every" in step) marks += isDue(step, iteration) ? `1${marksOf(step.steps, iteration)}` : "0";
  return marks;
}

/** Iterations after which the same steps run again. */
export function periodOf(steps: readonly Step[]): number {
  let period = 1;
  for (const step of steps)
    if (isList(step)) period = leastMultiple(period, periodOf(step));
    else if ("every" in step) period = leastMultiple(leastMultiple(period, step.every), periodOf(step.steps));
  return period;
}

/** Rejects a value that is not a list of steps. Throws LaunchError. */
export function requireSteps(skeleton: string, steps: readonly Step[]): void {
  const what = `skeleton "${skeleton}"`;
  requireThing(what, steps, isList(steps), "give a list of steps");
  for (const step of steps)
    if (isList(step)) requireSteps(skeleton, step);
    else if (!Object(step).every && !Object(step).swap)
      requireThing(what, step, Object(step).grid !== undefined, "give containers, swaps and every(...); device.run runs kernels");
}

/** All containers, as written. */
export const containersIn = (steps: readonly Step[]): Container[] =>
  steps.flatMap((step) => {
    if (isList(step)) return containersIn(step);
    if ("every" in step) return containersIn(step.steps);
    return "swap" in step ? [] : [step];
  });

/** All pairs that are swapped. */
export const swapsIn = (steps: readonly Step[]): Pair[] =>
  steps.flatMap((step) => {
    if (isList(step)) return swapsIn(step);
    if ("every" in step) return swapsIn(step.steps);
    return "swap" in step ? [step.swap] : [];
  });

const isList = (step: Step): step is readonly Step[] => Array.isArray(step);

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
export const leastMultiple = (a: number, b: number): number => (a / greatestDivisor(a, b)) * b;

/**
 * Exchanges the values of two fields of one grid, type, cardinality, layout and fill value, or of two scalars of one set and type, at
 * this point of a sequence, without a copy.
 */
export function swap(a: Field, b: Field): Swap;
export function swap(a: Scalar, b: Scalar): Swap;
export function swap(...pair: Pair): Swap {
  const location = originalPosition(callSite(swap));
  const [a, b] = pair;
  for (const one of pair.length === 2 ? pair : [undefined])
    requireThing(
      `swap (${location.file}:${location.line})`,
      one,
      (one as unknown) instanceof Field || (one as unknown) instanceof Scalar,
      "give two fields, or two scalars",
    );
  const scalars = a instanceof Scalar;
  const keys = scalars ? (["type"] as const) : (["grid", "type", "cardinality", "layout", "fillValue", "scale"] as const);
  const same = a.constructor === b.constructor && keys.every((key) => Object.is(a[key as keyof typeof a], b[key as keyof typeof b]));
  if (a === b || !same)
    throw new LaunchError(
      `swap of ${scalars ? "scalars" : "fields"} "${a.name}" and "${b.name}" (${location.file}:${location.line}): it takes ` +
        (scalars ? "two scalars of one type" : "two fields of one grid, type, cardinality, layout, fill value and scale"),
    );
  return { swap: pair, location };
}

/** Does at once what a step of a sequence says. */
export function exchange([a, b]: Pair): void {
  if (a instanceof Scalar) a.swap(b as Scalar);
  else a.swap(b as Field);
}

/** Several iterations of the steps as one list of containers. */
export interface Unrolled {
  readonly containers: readonly Container[];
  /** In this order, once all is done, they bring the fields' values back to where their names are. */
  readonly swaps: readonly Pair[];
}

/**
 * Containers after a swap are put on the memory in which their fields' values lie by then.
 * @param from the first of the iterations
 */
export function unrollSteps(steps: readonly Step[], iterations: number, from = 0): Unrolled {
  const containers: Container[] = [];
  const swaps: Pair[] = [];
  const memory = new SwappedMemory();
  const append = (step: Step, iteration: number): void => {
    const all = (list: readonly Step[]) => list.forEach((each) => append(each, iteration));
    if (isList(step)) all(step);
    else if ("every" in step) {
      if (isDue(step, iteration)) all(step.steps);
    } else if ("swap" in step) {
      memory.swap(step.swap);
      swaps.push(step.swap);
    } else containers.push(rebind(step, memory.of, memory.of));
  };
  for (let n = 0; n < iterations; n++) append(steps, from + n);
  return { containers, swaps: memory.unchanged ? [] : swaps };
}

/** Memory of fields and scalars after swaps: each holds the memory that another one had before. */
export class SwappedMemory {
  private readonly owners = new Map<unknown, unknown>();

  constructor(swaps: readonly Pair[] = []) {
    for (const pair of swaps) this.swap(pair);
  }

  readonly of = <T extends Field | Scalar>(name: T): T => (this.owners.get(name) ?? name) as T;

  swap([a, b]: Pair): void {
    const [ofA, ofB] = [this.of<Field | Scalar>(a), this.of<Field | Scalar>(b)];
    this.owners.set(a, ofB).set(b, ofA);
  }

  /** Every name has its own memory again. */
  get unchanged(): boolean {
    return [...this.owners].every(([name, owner]) => name === owner);
  }
}

/** Throws ContainerError if the sequence needs a value that a temporary field had before it. */
export function requireTemporary(containers: readonly Container[], temporary: readonly Field[]): void {
  for (const field of temporary) {
    const written = new Set<number>();
    for (const container of containers) {
      const touch = footprintOf(container).touches.get(field);
      if (!touch) continue;
      const missing = [...neededOf(touch)].find((k) => !written.has(k));
      if (missing !== undefined)
        throw new ContainerError(
          container.name,
          container.location,
          `it needs ${field.cardinality > 1 ? `component ${missing}` : "the value"} of field "${field.name}" from before the sequence, and the field is declared temporary`,
          "leave the field out of `temporary`, or write all of it first",
        );
      for (const k of touch.written) written.add(k);
    }
  }
}

/** Throws ContainerError if a field is read that neither the host nor an earlier container has given values. */
export function requireDefined(containers: readonly Container[]): void {
  const found = undefinedRead(containers);
  if (found)
    throw new ContainerError(
      found.by.name,
      found.by.location,
      `reads field "${found.field.name}", which nothing has written`,
      "fill or upload it, or let an earlier container write it",
    );
}

/** The first field that is read without values. */
export function undefinedRead(containers: readonly Container[]): { readonly by: Container; readonly field: Field } | undefined {
  const written = new Set<Field>();
  for (const by of containers) {
    for (const { field, read } of by.uses) if (read && !field.defined && !written.has(field)) return { by, field };
    for (const { field, written: writes } of by.uses) if (writes) written.add(field);
  }
  return undefined;
}
