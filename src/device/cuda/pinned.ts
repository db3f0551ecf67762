import { CPU_MEMORY, type Buffer, type MemorySpace } from "../memory/view.js";
import type { Handle } from "./calls.js";
import type { CudaGpu } from "./gpu.js";

/** Pinned memory of the host, which a GPU copies to and from by itself. */
export class PinnedBuffer implements Buffer {
  readonly memory: MemorySpace = CPU_MEMORY;
  readonly host: ArrayBuffer;
  readonly address = 0;
  live = true;
  /** Its place for the driver. */
  readonly pointer: Handle;

  /** Throws DeviceError where the driver has none left. */
  constructor(
    private readonly gpu: CudaGpu,
    readonly bytes: number,
  ) {
    const driver = gpu.enter();
    this.pointer = driver.handle("cuMemHostAlloc", Math.max(1, bytes), 0);
    this.host = driver.koffi.view(BigInt(this.pointer), Math.max(1, bytes));
  }

  /** Waits for the GPU. */
  free(): void {
    if (!this.live) return;
    this.live = false;
    if (this.gpu.isClosed) return;
    const driver = this.gpu.enter();
    // Copies may be under way.
    driver.call("cuCtxSynchronize");
    driver.call("cuMemFreeHost", this.pointer);
  }
}
