import { hostname } from "node:os";
import type { CudaDevice } from "../../device/cuda/cuda-device.js";
import { SharedMemory } from "../../device/cuda/shared-memory.js";
import type { Communicator } from "../mpi/communicator.js";
import { isIpcOff, whyNotIpc, type IpcFacts } from "./facts.js";
import { ARENA_BYTES, IpcMailboxes } from "./mailboxes.js";

/** The mailboxes of all ranks, or why there are none. */
type Reached = { readonly mailboxes: IpcMailboxes } | { readonly why: string };

/** Ranks as they wait for each other: `world` lets the program go on meanwhile, `blocking` does not. */
export interface Worlds {
  readonly world: Communicator;
  readonly blocking: Communicator;
}

/**
 * Lets the GPUs of all ranks write to memory of each other, where all are on one node and CUDA's IPC allows it; all ranks call it.
 * @param patience seconds that a rank may be waited for
 */
export async function reach(device: CudaDevice, { world, blocking }: Worlds, patience: number): Promise<Reached> {
  const own = share(device);
  const all = await world.exchange(own.facts, "memory of GPUs that ranks share");
  const why = whyNotIpc(all);
  const opened = why === undefined ? openAll(own.shared!, all, world.rank) : { problem: why };
  const problems = await world.exchange(opened.problem, "whether GPUs reach each other's memory");
  const failed = problems.findIndex((problem) => problem !== undefined);
  if (failed < 0) {
    const addresses = opened.addresses!.map((address) => address ?? own.arena!.address);
    return { mailboxes: new IpcMailboxes(device.gpu, own.shared!, own.arena!, addresses, blocking, patience) };
  }
  for (const address of opened.addresses ?? []) if (address !== undefined) own.shared!.close(address);
  own.arena?.free();
  return { why: why ?? `rank ${failed}: ${problems[failed]}` };
}

/** Memory of this rank's GPU that others may write to. */
function share({ gpu }: CudaDevice): { facts: IpcFacts; shared?: SharedMemory; arena?: ReturnType<typeof gpu.allocate> } {
  if (isIpcOff()) return { facts: { problem: "ISOFORM_IPC is off" } };
  let arena;
  try {
    const shared = new SharedMemory(gpu);
    arena = gpu.allocate(ARENA_BYTES);
    return { facts: { host: hostname(), handle: shared.share(arena.address) }, shared, arena };
  } catch (error) {
    arena?.free();
    return { facts: { problem: (error as Error).message } };
  }
}

/** Addresses here of the memory of all ranks, without this one's own. */
function openAll(
  shared: SharedMemory,
  all: readonly IpcFacts[],
  me: number,
): { addresses?: readonly (number | undefined)[]; problem?: string } {
  const addresses: (number | undefined)[] = [];
  try {
    for (const [rank, { handle }] of all.entries()) addresses.push(rank === me ? undefined : shared.open(handle!));
    return { addresses };
  } catch (error) {
    return { addresses, problem: (error as Error).message };
  }
}
