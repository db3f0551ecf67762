import type { Offset } from "../grid/parts.js";
import { IndexPlanes } from "./index-planes.js";
import type { Indexing } from "./indexing.js";

/** Indices of the own cells' neighbours; one that is missing has the index of the fill cell. */
export class Neighbours {
  private readonly planes: IndexPlanes;
  /** Places of the own cells in their planes. */
  private readonly places: Int32Array;
  private readonly found: Int32Array;

  constructor(
    private readonly indexing: Indexing,
    offsets: readonly Offset[],
  ) {
    const { first, own, partition } = indexing;
    this.planes = new IndexPlanes(indexing, offsets);
    this.places = new Int32Array(own);
    this.found = new Int32Array(own);
    const visit = (cell: number, x: number, y: number): void => {
      this.places[cell - first] = this.planes.place(x, y);
    };
    indexing.eachAt(visit, partition.first, partition.first + partition.planes);
  }

  /** The neighbours of all own cells, in order, at an offset; the next call overwrites the array. */
  at(offset: Offset): Int32Array {
    const { places, found, indexing } = this;
    const { first, planes } = indexing.partition;
    const step = this.planes.step(offset);
    for (let plane = first; plane < first + planes; plane++) {
      const [begin, end] = [indexing.plane(plane) - indexing.first, indexing.plane(plane + 1) - indexing.first];
      if (begin === end) continue;
      const indices = this.planes.plane(plane + offset.at(-1)!);
      for (let n = begin; n < end; n++) found[n] = indices[places[n] + step];
    }
    return found;
  }
}
