import type { Device } from "isoform";
import { LaunchError } from "isoform";
import type { DeviceSet } from "isoform/set";
import { onAnyRank, requireMemory } from "isoform/set";
import type { Sorted } from "./copies.js";
import { sideFootprint } from "./copies.js";
import type { Part } from "./division.js";
import { shapeOfWindow } from "./division.js";
import type { Norm } from "./fused.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, sharedUnknowns } from "./shape.js";
import type { Sides } from "./sides.js";
import { SIDES } from "./sides.js";
import type { RowSource } from "./source.js";
import { footprint } from "./system.js";

/*
 * Memory that a system needs on each device, and what to do where one has too little.
 */

/** Memory that a solver is going to allocate. */
export interface MemoryPlan {
  readonly form: string;
  /** Bytes for the whole system. */
  readonly shape: Shape;
  /** Bytes of each member of this process, in their order. */
  readonly members: readonly { readonly name: string; readonly bytes: number }[];
  /** Bytes for all members of all processes. */
  readonly bytes: number;
  /** Right-hand sides that probes are solved for together, and bytes that all members need for them beside these. */
  readonly sides: Sides;
  readonly more: number;
}

/** Leaves of A^T u that a member with some tiles holds at a time; one tile alone needs none. */
const leavesFootprint = (shape: Shape, tiles: number): number =>
  tiles > 1 ? 8 * sharedUnknowns(shape) * (Math.ceil(Math.log2(tiles)) + 1) : 0;

/** Memory of a form beside system and vectors. */
interface FormMemory {
  footprint(shape: Shape): number;
  readonly sorted?: Sorted;
}

/** A system to be shared out among the members of a set. */
interface Divided {
  readonly set: DeviceSet;
  readonly source: RowSource;
  readonly parts: readonly Part[];
  readonly form: string;
}

/**
 * The memory that members need, with as many sides as are asked for, or as many as fit. All processes of the set call it. Throws LaunchError before anything is
 * allocated where a device has too little, with how many such devices would do, and where the form solves for one side only.
 */
export async function planFor(
  divided: Divided,
  { footprint: more, sorted }: FormMemory,
  asked: Sides | "most",
  norm: Norm,
): Promise<MemoryPlan> {
  const { source, form, set } = divided;
  const { rowStart } = source.constraints();
  const ofSide = (shape: Shape, tiles: number): number =>
    (sorted ? sideFootprint(shape, shape.observations + rowStart.length - 1, sorted) : 0) + leavesFootprint(shape, tiles);
  const one = requireRoomFor(divided, 1, (shape, tiles) => more(shape) + leavesFootprint(shape, tiles));
  const several = (sides: Sides): MemoryPlan => {
    const all = requireRoomFor(
      divided,
      sides,
      (shape, tiles) => more(shape) + leavesFootprint(shape, tiles) + sides * ofSide(shape, tiles),
    );
    return { ...one, sides, more: all.bytes - one.bytes };
  };
  if (asked === 1) return one;
  const why = !sorted
    ? `the form ${form} solves for one side at a time`
    : norm === "merged"
      ? "the merged norm is for one side"
      : undefined;
  if (asked === "most") {
    if (!why) for (const sides of SIDES.toReversed()) if (sides > 1 && (await fits(set, () => several(sides)))) return several(sides);
    return one;
  }
  if (why) throw new LaunchError(`${why}: take --sides 1${sorted ? ", or --norm separate" : ", or another form"}`);
  return several(asked);
}

/** Whether all processes have the room. */
async function fits(set: DeviceSet, require: () => MemoryPlan): Promise<boolean> {
  let fails = false;
  try {
    require();
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    fails = true;
  }
  return !(await onAnyRank(set, fails, "whether several sides fit"));
}

function requireRoomFor({ set, source, parts, form }: Divided, sides: Sides, more: (shape: Shape, tiles: number) => number): MemoryPlan {
  const { shape } = source;
  const smaller = sides > 1 ? `${source.smaller}, or --sides ${sides / 2}` : source.smaller;
  const bytesOf = (part: Part): number => footprint(source, part) + more(shapeOfWindow(shape, part), part.tiles.length);
  const all = parts.map(bytesOf);
  const bytes = all.reduce((sum, one) => sum + one, 0);
  const what = `a system of ${shape.observations} observations${sides > 1 ? ` with ${sides} right-hand sides at once` : ""}`;
  const several = set.members.length > 1;
  const least = Math.min(...set.locals.map(({ device }) => device.capabilities.memory));
  const enough = Math.ceil(bytes / least) + (several ? 1 : 0);
  const wouldDo =
    form !== "paper" && isApart(set.locals[0].device) && enough > set.members.length ? `, or ${enough} devices of this size` : "";
  const choose = `${smaller}${wouldDo}`;
  const largest = 8 * ATTITUDE * Math.max(...set.locals.map(({ index }) => parts[index].rows[1] - parts[index].rows[0]));
  requireMemory(set, { what, bytes, largest, choose });
  const byDevice = new Map<Device, number>();
  for (const { device, index } of set.locals) byDevice.set(device, (byDevice.get(device) ?? 0) + all[index]);
  for (const [device, needed] of byDevice) requireMemory(device, { what: several ? `its part of ${what}` : what, bytes: needed, choose });
  return { form, shape, members: set.locals.map(({ name, index }) => ({ name, bytes: all[index] })), bytes, sides, more: 0 };
}

/** Whether a device has a memory of its own, so that another one brings more. */
const isApart = ({ memory, onHost }: Device): boolean => memory.name !== "cpu" && !onHost;

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;

/** The plan in a line, for people. */
export function planText({ form, members, bytes, sides, more }: MemoryPlan, probes: boolean): string {
  const each = members.map((member) => `${member.name} ${gib(member.bytes)}`).join(", ");
  const together = sides > 1 ? `${sides} probes at a time need ${gib(more)} more` : "one probe at a time";
  return `memory: ${gib(bytes)} in ${form} form (${each})${probes ? `; ${together}` : ""}`;
}
