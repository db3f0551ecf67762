import type { Container } from "../domain/container.js";
import type { Field } from "../domain/field.js";
import { fieldsAcross } from "./nodes.js";

export interface HaloUpdates {
  /** For each container, the fields whose halos are brought up to date before it. */
  readonly before: readonly (readonly Field[])[];
  /** Fields whose halos are up to date after the last container. */
  readonly fresh: ReadonlySet<Field>;
}

/** Whether a container stores what it writes to a field in halos as well. */
export type Forwards = (container: Container, field: Field) => boolean;

/**
 * Halos are stale from a write to the field until the next update, so a field that many stencils read is updated once. `fresh` are those
 * that are up to date at the start: what the sequence left in its last iteration, in a steady state. What is forwarded never becomes stale.
 */
export function haloUpdates(containers: readonly Container[], fresh: ReadonlySet<Field>, forwards: Forwards): HaloUpdates {
  const current = new Set(fresh);
  const before = containers.map((container) => {
    const stale = fieldsAcross(container).filter((field) => !current.has(field));
    for (const field of stale) current.add(field);
    for (const { written, field } of container.uses)
      if (written && forwards(container, field)) current.add(field);
      else if (written) current.delete(field);
    return stale;
  });
  return { before, fresh: current };
}
