import { originalPosition } from "#source-map";
import type { Container, Field } from "../../domain/grid/grid.js";
import type { Location } from "../../ir/types.js";
import { ContainerError, LaunchError } from "../../ir/errors.js";
import { callSite } from "../../kernel/location.js";
import { Scalar } from "../../set/index.js";
import { footprintOf } from "./footprint.js";
import { rebind } from "./merge.js";

/** Two fields, or two scalars, exchange their values at no cost: what runs later uses the other's memory. */
export interface Swap {
  readonly swap: Pair;
  readonly location: Location;
}
export type Pair = readonly [Field, Field] | readonly [Scalar, Scalar];

/** What a skeleton does in one iteration, in order. */
export type Step = Container | Swap | readonly Step[];

/**
 * Exchanges the values of two fields of one grid, type, cardinality, layout and fill value, or of two scalars of one set and type, at
 * this point of a sequence, without a copy.
 */
export function swap(a: Field, b: Field): Swap;
export function swap(a: Scalar, b: Scalar): Swap;
export function swap(...pair: Pair): Swap {
  const location = originalPosition(callSite(swap));
  const [a, b] = pair;
  const scalars = a instanceof Scalar;
  const keys = scalars ? (["type"] as const) : (["grid", "type", "cardinality", "layout", "fillValue"] as const);
  const same = a.constructor === b.constructor && keys.every((key) => Object.is(a[key as keyof typeof a], b[key as keyof typeof b]));
  if (a === b || !same)
    throw new LaunchError(
      `swap of ${scalars ? "scalars" : "fields"} "${a.name}" and "${b.name}" (${location.file}:${location.line}): it takes ` +
        (scalars ? "two scalars of one type" : "two fields of one grid, type, cardinality, layout and fill value"),
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

/** Containers after a swap are put on the memory in which their fields' values lie by then. */
export function unroll(steps: readonly Step[], iterations: number): Unrolled {
  const containers: Container[] = [];
  const swaps: Pair[] = [];
  const memory = new SwappedMemory();
  const append = (step: Step): void => {
    if (Array.isArray(step)) step.forEach(append);
    else if ("swap" in step) {
      memory.swap(step.swap);
      swaps.push(step.swap);
    } else containers.push(rebind(step as Container, memory.of, memory.of));
  };
  for (let n = 0; n < iterations; n++) steps.forEach(append);
  return { containers, swaps: memory.unchanged ? [] : swaps };
}

/** Where fields and scalars keep their values after swaps: in the memory that another one had before. */
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

/** Throws ContainerError where the sequence needs a value that a temporary field had before it. */
export function requireTemporary(containers: readonly Container[], temporary: readonly Field[]): void {
  for (const field of temporary) {
    const first = containers.find(({ uses }) => uses.some((use) => use.field === field));
    const touch = first && footprintOf(first).touches.get(field)!;
    if (first && touch && touch.old.size + touch.around.size > 0)
      throw new ContainerError(
        first.name,
        first.location,
        `it needs the value of field "${field.name}" from before the sequence, and the field is declared temporary`,
        "leave the field out of `temporary`, or write all of it first",
      );
  }
}

/** Throws ContainerError where a field is read that neither the host nor an earlier container has given values. */
export function requireDefined(containers: readonly Container[]): void {
  const written = new Set<Field>();
  for (const { name, location, uses } of containers) {
    for (const { field, read } of uses)
      if (read && !field.defined && !written.has(field))
        throw new ContainerError(
          name,
          location,
          `reads field "${field.name}", which nothing has written`,
          "fill or upload it, or let an earlier container write it",
        );
    for (const { field, written: writes } of uses) if (writes) written.add(field);
  }
}
