import { identityOf } from "../../ir/identity.js";
import { HEAD_BYTES, LINE_ELEMENTS, scatterCacheBytes, WORKER_LINES } from "../../ir/cache-lines.js";
import type { ScatterParam } from "../../ir/types.js";
import { typedArray } from "../memory/view.js";
import type { Allocator, CpuBuffer } from "./storage.js";

/**
 * The scatter caches of one target, one for each worker (see ir/cache-lines.ts). Between launches their values are the operation's identity, so the
 * lines that they are marked with do not matter.
 */
export class WorkerCaches {
  readonly buffer: CpuBuffer;

  constructor({ op, element }: ScatterParam, workers: number, allocate: Allocator) {
    const stride = scatterCacheBytes(element);
    this.buffer = allocate(stride * workers);
    const identity = identityOf(op, element);
    if (identity === 0 || identity === 0n) return;
    for (let worker = 0; worker < workers; worker++) {
      const values = this.buffer.address + worker * stride + HEAD_BYTES;
      typedArray(element, this.buffer.host, values, LINE_ELEMENTS * WORKER_LINES).fill(identity as never);
    }
  }

  free(): void {
    this.buffer.free();
  }
}
