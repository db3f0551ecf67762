import type { CudaGpu } from "../../device/cuda/gpu.js";
import type { SharedMemory } from "../../device/cuda/shared-memory.js";
import type { Mailboxes, TakenMailboxes } from "../../device/gpu/fold.js";
import type { GpuMemory } from "../../device/gpu/machine.js";
import { Arena } from "../../device/memory/arena.js";
import type { Communicator } from "../mpi/communicator.js";

/** Bytes of each rank's memory for mailboxes, some KiB a fold. The driver gives it a page of its own, which is what it shares. */
export const ARENA_BYTES = 2 << 20;

/** Stands for a number that a rank does not have. */
const NONE = -1;
/** Seconds that a GPU waits for longer than its process, which then tells more. */
const MARGIN = 60;

/** Mailboxes in the memory of the GPUs of all ranks, which write to each other's by CUDA's IPC. */
export class IpcMailboxes implements Mailboxes {
  readonly me: number;
  readonly count: number;
  readonly patience: number;
  private readonly places = new Arena(ARENA_BYTES);

  /**
   * @param arena this rank's memory for mailboxes
   * @param addresses of the memory of all ranks, here
   * @param patience seconds that a rank may be waited for
   */
  constructor(
    private readonly gpu: CudaGpu,
    private readonly shared: SharedMemory,
    private readonly arena: GpuMemory,
    private readonly addresses: readonly number[],
    private readonly ranks: Communicator,
    patience: number,
  ) {
    this.me = ranks.rank;
    this.count = ranks.count;
    this.patience = patience + MARGIN;
  }

  most(own: number | undefined): number | undefined {
    const all = this.gather(own, "blocks of a fold");
    return all.includes(NONE) ? undefined : Math.max(...all);
  }

  take(bytes: number): TakenMailboxes | undefined {
    const own = this.places.take(bytes);
    if (own !== undefined) this.clear(own, bytes);
    const all = this.gather(own, "mailboxes of a fold");
    const free = (): void => {
      if (own !== undefined) this.places.give(own);
    };
    if (!all.includes(NONE)) return { addresses: this.addresses.map((address, rank) => address + all[rank]), free };
    free();
    return undefined;
  }

  /** Gives up the memory of other ranks, and this one's. */
  close(): void {
    for (const [rank, address] of this.addresses.entries()) if (rank !== this.me) this.shared.close(address);
    this.arena.free();
  }

  /** Lets nobody see what an earlier fold has left. */
  private clear(begin: number, bytes: number): void {
    const driver = this.gpu.enter();
    driver.call("cuMemsetD8Async", this.arena.address + begin, 0, bytes, 0);
    driver.call("cuStreamSynchronize", 0);
  }

  private gather(own: number | undefined, name: string): number[] {
    const bytes = new Uint8Array(Int32Array.of(own ?? NONE).buffer);
    return [...new Int32Array(this.ranks.gatherNow(bytes, name).buffer)];
  }
}
