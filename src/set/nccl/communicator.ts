import type { CudaDevice } from "../../device/cuda/cuda-device.js";
import type { CudaQueue } from "../../device/cuda/queue.js";
import type { Handle } from "../../device/cuda/calls.js";
import type { FoldPart, Launch, Queue } from "../../device/device.js";
import { stridedMemory } from "../../device/gpu/copies.js";
import { BYTES, type View } from "../../device/memory/view.js";
import type { Carrier, CarriedEnd } from "../carrier.js";
import type { IpcMailboxes } from "../ipc/mailboxes.js";
import type { Job } from "../job.js";
import type { NcclCalls } from "./calls.js";

/** Bytes of the message by which a connection is made. */
const GREETING = 8;
/** Milliseconds between two looks at a connection's state. */
const LOOK = 1;
/** Submissions, or launches in them, for each mark by which progress is seen. */
const SUBMISSIONS = 4;
const LAUNCHES = 32;
/** Marks that may be ahead of the GPU: a driver whose queue is full blocks the thread, which could not look for failures then. */
const AHEAD = 2;
/** Seconds after the patience at which a process that the driver blocks is ended. */
const MARGIN = 5;
/** CU_EVENT_DISABLE_TIMING. */
const NO_TIMING = 2;

/** A mark after a submission, and when it became the next to be reached. */
interface Mark {
  readonly event: Handle;
  readonly where: string;
  since: number | undefined;
}

/** Options of a communicator. */
interface NcclOptions {
  /** Number of this rank and of all. */
  readonly rank: number;
  readonly count: number;
  /** Seconds that submitted messages may take. */
  readonly patience: number;
  /** The processes that a failure ends. */
  readonly job: Pick<Job, "abort"> & { endAfter(seconds: number): void };
  /** Memory through which the GPUs exchange totals, where they reach each other's. */
  readonly mailboxes?: IpcMailboxes;
}

/** Messages between GPUs, one of each rank, by NCCL: in streams, and in graphs that are captured from them. */
export class NcclCommunicator implements Carrier {
  readonly queue: CudaQueue;
  private readonly handle: number;
  private readonly connected = new Set<number>();
  private readonly frees = new Set<() => void>();
  private readonly marks: Mark[] = [];
  private readonly spare: Handle[] = [];
  private unmarked = { submissions: 0, launches: 0 };
  private lastLook = 0;
  private closed = false;

  /**
   * All ranks make theirs at once, which takes about a second.
   * @throws IsoformError with NCCL's text where it cannot be made
   */
  constructor(
    private readonly calls: NcclCalls,
    id: Uint8Array,
    private readonly device: CudaDevice,
    private readonly options: NcclOptions,
  ) {
    device.gpu.enter();
    this.handle = calls.join(id, options.rank, options.count);
    // Messages are short, and others wait for them.
    this.queue = device.createUrgentQueue();
    device.gpu.watch = () => this.look();
  }

  connect(ranks: Iterable<number>): void {
    const fresh = [...new Set(ranks)].filter((rank) => !this.connected.has(rank));
    if (fresh.length === 0) return;
    const greetings = this.device.array({ type: "u8" }, 2 * GREETING * fresh.length);
    const part = (n: number): View => greetings.slice([GREETING * n, GREETING * (n + 1)]);
    this.enqueue(
      fresh.flatMap((rank, n): CarriedEnd[] => [
        { way: "send", rank, view: part(2 * n) },
        { way: "receive", rank, view: part(2 * n + 1) },
      ]),
      this.device.queue,
    );
    this.submitted(this.device.queue, `for connections with ranks ${fresh.join(", ")}`, LAUNCHES);
    this.device.queue.record().block();
    for (const rank of fresh) this.connected.add(rank);
    greetings.free();
  }

  enqueue(ends: readonly CarriedEnd[], queue: Queue): void {
    const { gpu, stream } = queue as CudaQueue;
    gpu.enter();
    gpu.capture?.afterKernel.delete(stream);
    this.calls.group(this.handle, () => {
      for (const { way, rank, view } of ends) {
        gpu.capture?.buffers.add(view.buffer);
        this.calls.transfer(way, stridedMemory(view).address, view.size * BYTES[view.type], rank, this.handle, stream);
      }
    });
  }

  submitting(): void {
    const { patience, job } = this.options;
    if (patience < Infinity) job.endAfter(Math.ceil(patience + MARGIN));
  }

  submitted(queue: Queue, where: string, launches: number): void {
    this.options.job.endAfter(0);
    this.unmarked.submissions++;
    this.unmarked.launches += launches;
    if (this.marks.length > 0 && this.unmarked.submissions < SUBMISSIONS && this.unmarked.launches < LAUNCHES) return;
    this.unmarked = { submissions: 0, launches: 0 };
    const { gpu, stream } = queue as CudaQueue;
    const driver = gpu.enter();
    this.advance();
    const event = this.spare.pop() ?? driver.handle("cuEventCreate", NO_TIMING);
    driver.call("cuEventRecord", event, stream);
    this.marks.push({ event, where, since: undefined });
    for (; this.marks.length > AHEAD; this.advance()) this.look();
  }

  fold(part: FoldPart): Launch | undefined {
    const { mailboxes } = this.options;
    return mailboxes && this.device.foldAcross(part, mailboxes);
  }

  beforeClose(free: () => void): () => void {
    this.frees.add(free);
    return () => void this.frees.delete(free);
  }

  close(): void {
    if (this.closed) return;
    for (const free of this.frees) free();
    this.frees.clear();
    const driver = this.device.gpu.enter();
    driver.call("cuCtxSynchronize");
    this.closed = true;
    this.device.gpu.watch = undefined;
    for (const event of [...this.spare, ...this.marks.map(({ event }) => event)]) driver.call("cuEventDestroy_v2", event);
    this.options.mailboxes?.close();
    this.calls.destroy(this.handle);
  }

  /** Looks for failures while somebody waits for the GPU. */
  private look(): void {
    const now = performance.now();
    if (this.closed || now - this.lastLook < LOOK) return;
    this.lastLook = now;
    const error = this.calls.asyncError(this.handle);
    if (error !== undefined) this.options.job.abort(`messages between GPUs failed: ${error}`, 1);
    this.advance();
    const [next] = this.marks;
    if (!next) return;
    next.since ??= now;
    if (now - next.since > 1e3 * this.options.patience)
      this.options.job.abort(`waited ${this.options.patience} s for messages between GPUs, by NCCL, ${next.where}`, 1);
  }

  /** Forgets marks that were reached. */
  private advance(): void {
    while (this.marks.length > 0 && this.device.gpu.driver.ready("cuEventQuery", this.marks[0].event))
      this.spare.push(this.marks.shift()!.event);
  }
}

const PCI = { domain: 50, bus: 33, device: 34 } as const;

/** The place of a GPU in its machine. */
export function gpuPlace({ gpu }: CudaDevice): string {
  const { driver, ordinal } = gpu;
  const handle = driver.int("cuDeviceGet", ordinal);
  return [PCI.domain, PCI.bus, PCI.device].map((attribute) => driver.int("cuDeviceGetAttribute", attribute, handle)).join(":");
}
