import type { Container } from "../domain/container.js";
import type { Field } from "../domain/field.js";
import { fieldsAcross } from "./nodes.js";

export interface HaloUpdates {
  /** For each container, the fields whose halos are brought up to date before it. */
  readonly before: readonly (readonly Field[])[];
  /** Fields whose halos are up to date after the last container. */
  readonly fresh: ReadonlySet<Field>;
}

/**
 * Halos are stale from a write to the field until the next update, so a field that many stencils read is updated once. `fresh` are those
 * that are up to date at the start: what the sequence left in its last iteration, in a steady state.
 */
export function haloUpdates(containers: readonly Container[], fresh: ReadonlySet<Field>): HaloUpdates {
  const current = new Set(fresh);
  const before = containers.map((container) => {
    const stale = fieldsAcross(container).filter((field) => !current.has(field));
    for (const field of stale) current.add(field);
    for (const use of container.uses) if (use.written) current.delete(use.field);
    return stale;
  });
  return { before, fresh: current };
}
