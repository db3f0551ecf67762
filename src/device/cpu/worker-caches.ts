import { identityOf } from "../../ir/identity.js";
import { TILE_HEAD, TILE_LINE, tileBytes, WORKER_TILE_LINES } from "../../ir/scatter-cache.js";
import type { ScatterParam } from "../../ir/types.js";
import { typedArray } from "../memory/view.js";
import type { Allocate, CpuBuffer } from "./storage.js";

/**
 * The tiles of one scatter target, one for each worker (see ir/scatter-cache.ts). Between launches their values are the operation's identity, so it
 * does not matter of which lines they are said to be.
 */
export class WorkerTiles {
  readonly buffer: CpuBuffer;

  constructor({ op, element }: ScatterParam, workers: number, allocate: Allocate) {
    const stride = tileBytes(element);
    this.buffer = allocate(stride * workers);
    const identity = identityOf(op, element);
    if (identity === 0) return;
    for (let worker = 0; worker < workers; worker++) {
      const values = this.buffer.address + worker * stride + TILE_HEAD;
      typedArray(element, this.buffer.host, values, TILE_LINE * WORKER_TILE_LINES).fill(identity);
    }
  }

  free(): void {
    this.buffer.free();
  }
}
