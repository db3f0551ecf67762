import { HOST_LIMITS } from "../grid/pieces.js";
import type { Offset } from "../grid/parts.js";
import type { Indexing } from "./indexing.js";

/**
 * Indices of a member's cells by place, plane by plane: each with margins in the plane that are as wide as `offsets` reach, so that any of them leads
 * from a place to a place. Where there is no active cell, or none that the member stores, is the fill cell; the margins of an axis that is
 * periodic repeat the cells at the other end. Planes are kept for a while, as many as the host takes, and at least those that offsets lead to from one.
 */
export class IndexPlanes {
  private readonly reach: readonly number[];
  /** Places of a row. */
  private readonly pitch: number;
  private readonly length: number;
  private readonly kept = new Map<number, Int32Array>();
  private readonly most: number;
  private missing: Int32Array | undefined;

  constructor(
    private readonly indexing: Indexing,
    offsets: readonly Offset[],
  ) {
    const { extents } = indexing.cells;
    this.reach = extents.map((_, axis) => Math.max(0, ...offsets.map((offset) => Math.abs(offset[axis]))));
    this.pitch = extents[0] + 2 * this.reach[0];
    this.length = extents.length === 3 ? this.pitch * (extents[1] + 2 * this.reach[1]) : this.pitch;
    this.most = Math.max(2 * this.reach.at(-1)! + 2, Math.floor(HOST_LIMITS.piece / (this.length * Int32Array.BYTES_PER_ELEMENT)));
  }

  /** A place in a plane with its margins. */
  place(x: number, y: number): number {
    return this.reach.length === 3 ? x + this.reach[0] + (y + this.reach[1]) * this.pitch : x + this.reach[0];
  }

  /** Distance from a place to the place at an offset, in the plane that the offset leads to. */
  step([dx, dy]: Offset): number {
    return this.reach.length === 3 ? dx + dy * this.pitch : dx;
  }

  /** Indices by place in a plane that an offset leads to from an own plane. */
  plane(plane: number): Int32Array {
    const { low, high, partition, cells } = this.indexing;
    const planes = cells.extents.at(-1)!;
    const isWhole = cells.periodic.at(-1)! && partition.planes === planes;
    const stored = isWhole ? ((plane % planes) + planes) % planes : plane;
    if (stored < low || stored >= high) return (this.missing ??= new Int32Array(this.length).fill(this.indexing.fillCell));
    const known = this.kept.get(stored);
    // The last in the order of the map is the one that was asked for last.
    if (known) this.kept.delete(stored);
    const indices = known ?? this.make(stored, this.spare());
    this.kept.set(stored, indices);
    return indices;
  }

  /** Memory of the plane that was asked for longest ago, where enough others are kept. */
  private spare(): Int32Array {
    const oldest = this.kept.size < this.most ? undefined : this.kept.keys().next().value;
    const spare = oldest === undefined ? undefined : this.kept.get(oldest);
    if (oldest !== undefined) this.kept.delete(oldest);
    return spare ?? new Int32Array(this.length);
  }

  private make(plane: number, indices: Int32Array): Int32Array {
    const { indexing, reach, pitch } = this;
    const { extents, activity, periodic } = indexing.cells;
    const [nx] = extents;
    indices.fill(indexing.fillCell);
    let cell = indexing.plane(plane);
    activity.eachRun(indexing.boxPlane(plane), (begin, end) => {
      for (let at = begin; at < end;) {
        const x = at % nx;
        const stop = Math.min(end, at - x + nx);
        for (let to = this.place(x, (at - x) / nx); at < stop; at++) indices[to++] = cell++;
      }
    });
    if (periodic[0]) repeat(indices, nx, reach[0], 1);
    if (extents.length === 3 && periodic[1]) repeat(indices, extents[1], reach[1], pitch);
    return indices;
  }
}

/** Fills the margins along an axis of `extent` cells with what lies at its other end. */
function repeat(indices: Int32Array, extent: number, reach: number, pitch: number): void {
  const line = (extent + 2 * reach) * pitch;
  const period = extent * pitch;
  for (let start = 0; start < indices.length; start += line) {
    const [own, end] = [start + reach * pitch, start + line];
    indices.copyWithin(start, start + period, own + period);
    indices.copyWithin(own + period, own, end - period);
  }
}
