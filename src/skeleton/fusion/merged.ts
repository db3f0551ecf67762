import { resultsOf, type Container, type Field } from "../../domain/grid/grid.js";
import type { Scalar } from "../../set/scalar.js";
import { getOrMake } from "../entry.js";
import type { FusionGroup } from "./group.js";
import { mergeContainers, type Buffers } from "./merge.js";

/** A group that was merged, and where what it uses lay. */
interface Known {
  readonly group: FusionGroup;
  readonly places: readonly (Field | Scalar)[];
  readonly container: Container;
}

/** Merged containers, each made once: iterations that differ in what runs every so often have most of their groups in common. */
export class MergedContainers {
  /** By the first container of the group. */
  private readonly known = new Map<Container, Known[]>();

  /** One container that does the work of a group. */
  of(group: FusionGroup, buffers: Buffers): Container {
    const places = placesOf(group, buffers);
    const known = getOrMake(this.known, group.parts[0].container, () => []);
    const same = known.find((other) => equalGroups(other.group, group) && equalLists(other.places, places));
    if (same) return same.container;
    const container = mergeContainers(group, buffers);
    known.push({ group, places, container });
    return container;
  }
}

/** Memory of a group's fields and scalars before and after its kernel. */
function placesOf({ parts }: FusionGroup, { from, to }: Buffers): (Field | Scalar)[] {
  return parts.flatMap(({ container }) => {
    const used = [...container.uses.map(({ field }) => field), ...container.scalars.values(), ...resultsOf(container)];
    return used.flatMap((of) => [from(of), to(of)]);
  });
}

/** The same containers in the same order, with the same temporaries stored: everything else follows from these. */
const equalGroups = (a: FusionGroup, b: FusionGroup): boolean =>
  a.parts.length === b.parts.length &&
  a.parts.every(({ container, again }, n) => container === b.parts[n].container && again === b.parts[n].again) &&
  equalLists([...a.unstored], [...b.unstored]);

const equalLists = (a: readonly unknown[], b: readonly unknown[]): boolean => a.length === b.length && a.every((item, n) => item === b[n]);
