import { DeviceError } from "isoform";
import type { Buffer, MemorySpace } from "isoform/backend";

/** Bytes that the engine gives in one piece at most. */
export const LARGEST = 2 ** 32;

const GIB = 2 ** 30;

/** One address space: views of it can be used on the interpreter alone. */
const MEMORY: MemorySpace = { name: "interpreter" };

/** The memory of one device, a piece of its own for each array. */
export class Memory {
  readonly space = MEMORY;
  private readonly live = new Set<InterpreterBuffer>();

  /** Zeroed memory. Throws DeviceError where it does not fit. */
  allocate(bytes: number): Buffer {
    if (bytes > LARGEST)
      throw new DeviceError(
        "interpreter",
        `${(bytes / GIB).toFixed(1)} GiB do not fit: an array has ${LARGEST / GIB} GiB at most`,
        "split it",
      );
    const buffer = new InterpreterBuffer(bytes, () => this.live.delete(buffer));
    this.live.add(buffer);
    return buffer;
  }

  /** Frees what is left. */
  close(): void {
    for (const buffer of this.live) buffer.free();
  }
}

/** The host can reach it, so that it has `host`, in which `address` counts. */
class InterpreterBuffer implements Buffer {
  readonly memory = MEMORY;
  readonly address = 0;
  private bytesOfHost: ArrayBuffer | undefined;

  constructor(
    readonly bytes: number,
    private readonly onFree: () => void,
  ) {
    this.bytesOfHost = new ArrayBuffer(bytes);
  }

  get live(): boolean {
    return this.bytesOfHost !== undefined;
  }

  get host(): ArrayBuffer {
    if (!this.bytesOfHost) throw new DeviceError("interpreter", "a view is used after its memory was freed", "free it later");
    return this.bytesOfHost;
  }

  free(): void {
    if (!this.live) return;
    this.bytesOfHost = undefined;
    this.onFree();
  }
}
