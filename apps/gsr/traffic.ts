import type { MemberTraffic } from "isoform/portability";
import { SUMS } from "./scalars.js";
import { sharedUnknowns, type Shape } from "./shape.js";

/** Messages that a member waits for in a sum: parts of the others, then their sums of these. */
const WAITS = 2;
/** Sums of an iteration with the norm `separate`: of A^T u with its scalars, and of alpha. */
const SUMS_OF_ITERATION = 2;

/** Traffic of a member in an iteration, with the norm `separate`: each sums up a part of what all members have, and sends it to all (`TreeSum`). */
export function trafficOf(shape: Shape, members: number): MemberTraffic {
  const length = sharedUnknowns(shape) + SUMS.separate.length;
  const others = members - 1;
  return {
    bytes: (WAITS * others * Float64Array.BYTES_PER_ELEMENT * length) / members,
    messages: WAITS * SUMS_OF_ITERATION * others,
    waits: WAITS * SUMS_OF_ITERATION,
  };
}
