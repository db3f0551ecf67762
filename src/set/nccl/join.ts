import { hostname } from "node:os";
import { CudaDevice } from "../../device/cuda/cuda-device.js";
import type { Device } from "../../device/device.js";
import { agreedByAll } from "../job.js";
import type { Carried, Carrier } from "../carrier.js";
import { reach, type Worlds } from "../ipc/join.js";
import type { MpiJob } from "../mpi/job.js";
import { loadKoffi } from "../../device/ffi.js";
import { NcclCalls } from "./calls.js";
import { NcclCommunicator, gpuPlace } from "./communicator.js";
import { noNccl, whyNotNccl, type NcclFacts } from "./ranks.js";
import { isNcclOff, NO_NCCL_REMEDY, openNccl } from "./library.js";

/** The way of messages between devices, and what carries them where that is not the host. */
export interface Way {
  readonly carried: Carried;
  readonly carrier?: Carrier;
}

/**
 * Connects the GPUs of all ranks by NCCL, where it is there and each rank has one of its own; all ranks call it.
 * @param devices of this rank, one for each member
 * @param wanted what was asked for: "nccl" refuses any other way
 * @throws IsoformError on all ranks alike for a way that was asked for and cannot be
 */
export async function connect(
  worlds: Worlds,
  devices: readonly Device[],
  wanted: "nccl" | "mpi" | undefined,
  options: { readonly patience: number; readonly job: MpiJob },
): Promise<Way> {
  const { world } = worlds;
  const found = await find(devices, wanted);
  const all = await world.exchange(found.facts, "the way of messages between devices");
  const why = whyNotNccl(all);
  if (why !== undefined || !found.calls) {
    if (wanted === "nccl") throw agreedByAll(noNccl(why!));
    return { carried: { by: "MPI", why: why! } };
  }
  const { calls } = found;
  const id = await world.share(world.rank === 0 ? calls.identity() : undefined, 0, "the identity of NCCL's communicator");
  const [device] = devices as readonly CudaDevice[];
  const reached = await reach(device, worlds, options.patience);
  const { rank, count } = world;
  const mailboxes = "mailboxes" in reached ? reached.mailboxes : undefined;
  const carrier = new NcclCommunicator(calls, id!, device, { rank, count, mailboxes, ...options });
  return {
    carried: { by: "NCCL", version: calls.version, totals: "why" in reached ? { by: "NCCL", why: reached.why } : { by: "IPC" } },
    carrier,
  };
}

/** Looks for NCCL, and for what speaks against it. */
async function find(
  devices: readonly Device[],
  wanted: "nccl" | "mpi" | undefined,
): Promise<{ readonly facts: NcclFacts; readonly calls?: NcclCalls }> {
  const problem = (text: string): { readonly facts: NcclFacts } => ({ facts: { problem: text } });
  const [device] = devices;
  if (wanted === "mpi") return problem('link "mpi" was asked for');
  if (!(device instanceof CudaDevice) || device.backend !== "cuda") return problem(`NCCL connects GPUs of cuda, not ${device.name}`);
  if (devices.some((other) => other !== device)) return problem("NCCL needs one GPU for each rank, and it has several");
  if (isNcclOff()) return problem("ISOFORM_NCCL is off");
  try {
    const koffi = (await loadKoffi())!;
    const library = openNccl(koffi);
    if (!library) return problem(`no NCCL (${NO_NCCL_REMEDY})`);
    const calls = new NcclCalls(koffi, library);
    return { facts: { version: calls.version, gpu: `${hostname()} ${gpuPlace(device)}` }, calls };
  } catch (error) {
    return problem(`NCCL: ${(error as Error).message}`);
  }
}
