import { BYTES, typedArray, type NumberArrayOf } from "../../device/memory/view.js";
import { LaunchError } from "../../base/errors.js";
import type { NumberElement } from "../../ir/types.js";

/* Sizes of host arrays: what is larger goes piece by piece, in whole planes of the last axis. */

/** Limits in bytes. */
interface HostLimits {
  /** Most of a piece, unless one plane has more. */
  piece: number;
  /** Most of an array of a whole box. */
  whole: number;
}

/** The limits in use: of 64 MiB for a piece, half, since a piece may be twice on the host on its way. Tests lower them. */
export const HOST_LIMITS: HostLimits = { piece: 2 ** 25, whole: 2 ** 30 };

/** Planes [first, end) of the last axis, which may begin before the box where it has ghosts. */
export interface Planes {
  readonly first: number;
  readonly end: number;
}

/** Some rows of planes. */
export interface RowPlanes extends Planes {
  /** Rows [first, end) of each plane along y; [0, 1) in two dimensions, where planes are rows. */
  readonly rows: readonly [first: number, end: number];
}

/** Rows of planes that a member owns. */
export interface MemberRows extends RowPlanes {
  readonly member: number;
}

/**
 * The planes [first, end) in runs of about equal bytes.
 * @param planeBytes bytes of one plane
 * @param step runs begin at multiples of it, but for the first
 */
export function evenPlaneRuns({ first, end }: Planes, planeBytes: number, step = 1): Planes[] {
  const most = Math.max(1, Math.floor(HOST_LIMITS.piece / (planeBytes * step))) * step;
  const pieces: Planes[] = [];
  for (let begin = first; begin < end;) {
    const stop = Math.min(end, Math.floor(begin / step) * step + most);
    pieces.push({ first: begin, end: stop });
    begin = stop;
  }
  return pieces;
}

/** Host arrays one after the other. */
export function inOneArray<T extends NumberElement>(type: T, pieces: readonly NumberArrayOf<T>[]): NumberArrayOf<T> {
  if (pieces.length === 1) return pieces[0];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const all = typedArray(type, length) as NumberArrayOf<T>;
  let n = 0;
  for (const piece of pieces) {
    all.set(piece, n);
    n += piece.length;
  }
  return all;
}

/** Refuses host arrays of a whole box that are too large. Throws LaunchError with `what` it is for and the remedy. */
export function requireWhole(what: string, type: NumberElement, length: number): void {
  const bytes = length * BYTES[type];
  if (bytes > HOST_LIMITS.whole)
    throw new LaunchError(
      `${what} has ${length} values, ${(bytes / 2 ** 30).toPrecision(3)} GiB, and an array on the host has ${HOST_LIMITS.whole / 2 ** 30} GiB at most; ` +
        `use planes(), which gives some planes at a time`,
    );
}
