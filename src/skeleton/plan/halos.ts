import type { Container, Field, GridSpecies } from "../../domain/grid/grid.js";
import { fieldsAcross, type Derived } from "./nodes.js";

interface Updates {
  /** For each container, the fields whose halos are brought up to date before it. */
  readonly halos: readonly (readonly Field[])[];
  /** For each container, the species whose particles are sorted before it. */
  readonly sorts: readonly (readonly GridSpecies[])[];
  /** Data that are up to date after the last container. */
  readonly fresh: ReadonlySet<Derived>;
}

/** Whether a container stores what it writes to a field in halos as well. */
export type StoresInHalos = (container: Container, field: Field) => boolean;

/**
 * Halos are stale from a write to the field until the next update, so a field that many stencils read is updated once; likewise particles are
 * sorted once after their positions have changed, before a container asks which cell they are in. `fresh` is what is up to date at the start:
 * what the sequence left in its last iteration, in a steady state. What is stored in halos never becomes stale.
 */
export function updatesFor(containers: readonly Container[], fresh: ReadonlySet<Derived>, inHalos: StoresInHalos): Updates {
  const current = new Set(fresh);
  const sorts = containers.map(({ particles }) => {
    const stale = particles?.needsSort && !current.has(particles.species) ? [particles.species] : [];
    for (const species of stale) current.add(species);
    if (particles?.moves) current.delete(particles.species);
    return stale;
  });
  const halos = containers.map((container) => {
    const stale = fieldsAcross(container).filter((field) => !current.has(field));
    for (const field of stale) current.add(field);
    for (const { written, field } of container.uses)
      if (written && inHalos(container, field)) current.add(field);
      else if (written) current.delete(field);
    return stale;
  });
  return { halos, sorts, fresh: current };
}
