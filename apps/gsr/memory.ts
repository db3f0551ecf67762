import type { Device } from "isoform";
import type { DeviceSet } from "isoform/set";
import { requireMemory } from "isoform/set";
import type { Part } from "./division.js";
import { shapeOfWindow } from "./division.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, sharedUnknowns } from "./shape.js";
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
}

/** Leaves of A^T u that a member with some tiles holds at a time; one tile alone needs none. */
export const leavesFootprint = (shape: Shape, tiles: number): number =>
  tiles > 1 ? 8 * sharedUnknowns(shape) * (Math.ceil(Math.log2(tiles)) + 1) : 0;

/**
 * The memory that members need. Throws LaunchError before anything is allocated where a device has too little, with how many such devices would do.
 * @param more bytes of the form, beside system and vectors, for the shape of a part and its number of tiles
 */
export function requireRoomFor(
  set: DeviceSet,
  source: RowSource,
  parts: readonly Part[],
  form: string,
  more: (shape: Shape, tiles: number) => number,
): MemoryPlan {
  const { shape, smaller } = source;
  const bytesOf = (part: Part): number => footprint(source, part) + more(shapeOfWindow(shape, part), part.tiles.length);
  const all = parts.map(bytesOf);
  const bytes = all.reduce((sum, one) => sum + one, 0);
  const what = `a system of ${shape.observations} observations`;
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
  return { form, shape, members: set.locals.map(({ name, index }) => ({ name, bytes: all[index] })), bytes };
}

/** Whether a device has a memory of its own, so that another one brings more. */
const isApart = ({ memory, onHost }: Device): boolean => memory.name !== "cpu" && !onHost;

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;

/** The plan in a line, for people. */
export function planText({ form, members, bytes }: MemoryPlan): string {
  const each = members.map((member) => `${member.name} ${gib(member.bytes)}`).join(", ");
  return `memory: ${gib(bytes)} in ${form} form (${each})`;
}
