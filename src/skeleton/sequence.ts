import type { Container } from "../domain/container.js";
import type { Field } from "../domain/field.js";
import type { Location } from "../ir/types.js";
import { ContainerError, LaunchError } from "../kernel/errors.js";
import { callSite } from "../kernel/location.js";
import { originalPosition } from "../kernel/source-map.js";
import { rebind } from "./merge.js";

/** Two fields exchange their values, at no cost: what runs later uses the other's memory. */
export interface Swap {
  readonly swap: readonly [Field, Field];
  readonly location: Location;
}

/** What a skeleton does in one iteration, in order. */
export type Step = Container | Swap | readonly Step[];

/** Exchanges the values of two fields of one grid, type, cardinality, layout and outside value at this point of a sequence, without a copy. */
export function swap(a: Field, b: Field): Swap {
  const location = originalPosition(callSite(swap));
  const same = (["grid", "type", "cardinality", "layout", "outside"] as const).every((key) => Object.is(a[key], b[key]));
  if (a === b || !same)
    throw new LaunchError(
      `swap of fields "${a.name}" and "${b.name}" (${location.file}:${location.line}): it takes two fields of one grid, type, cardinality, layout and outside value`,
    );
  return { swap: [a, b], location };
}

/** Several iterations of the steps as one list of containers. */
export interface Unrolled {
  readonly containers: readonly Container[];
  /** In this order, once all is done, they bring the fields' values back to where their names are. */
  readonly swaps: readonly (readonly [Field, Field])[];
}

/** Containers after a swap are put on the memory in which their fields' values lie by then. */
export function unroll(steps: readonly Step[], iterations: number): Unrolled {
  const containers: Container[] = [];
  const swaps: (readonly [Field, Field])[] = [];
  const places = new Map<Field, Field>();
  const place = (field: Field) => places.get(field) ?? field;
  const walk = (step: Step): void => {
    if (Array.isArray(step)) step.forEach(walk);
    else if ("swap" in step) {
      const [a, b] = step.swap;
      const [ofA, ofB] = [place(a), place(b)];
      places.set(a, ofB).set(b, ofA);
      swaps.push(step.swap);
    } else containers.push(rebind(step as Container, place));
  };
  for (let n = 0; n < iterations; n++) steps.forEach(walk);
  return { containers, swaps: isIdentity(places) ? [] : swaps };
}

const isIdentity = (places: ReadonlyMap<Field, Field>): boolean => [...places].every(([field, place]) => field === place);

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
