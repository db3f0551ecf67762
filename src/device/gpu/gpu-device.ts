import { DeviceError } from "../../base/errors.js";
import { INSPECT } from "../../base/inspect.js";
import type { ElementType } from "../../ir/types.js";
import { descending } from "../../kernel/read/depth.js";
import { flatCall, hasLists } from "../../kernel/declare/flat.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { ListElement, Params } from "../../kernel/declare/params.js";
import { DeviceList } from "../launch/list.js";
import { launchWithLists } from "../launch/with-lists.js";
import { ListRuns } from "../launch/list-runs.js";
import { noteCall } from "../launch/written.js";
import { withoutSignal } from "../launch/signal.js";
import { bind } from "../launch/bind.js";
import type { Binding } from "../launch/binding.js";
import type { DeviceLaunch } from "./device-launch.js";
import { KeptLaunches } from "./kept-launches.js";
import type {
  Capabilities,
  Args,
  ArrayOptions,
  Device,
  ArrayToken,
  Launch,
  DeviceRunOptions,
  List,
  LaunchOptions,
  Precision,
  Queue,
  Results,
} from "../device.js";
import type { AnyDeviceQueue } from "../launch/device-queue.js";
import type { Policy } from "../launch/policy.js";
import { atFirstUse, TuningTable } from "../tuning/tuning.js";
import { BYTES, elementTypeOf, newData, newShape, stridesOf, View, type Buffer, type MemorySpace } from "../memory/view.js";

/** Owner of the memory of a GPU, whatever drives it. */
interface MemoryOwner {
  readonly memory: MemorySpace;
  /** Throws DeviceError once closed. */
  requireOpen(): void;
  /** Zeroed memory. Throws DeviceError if it does not fit. */
  allocate(bytes: number): Buffer;
  close(): void;
}

/** Teams with scratch of level 1 that a multiprocessor works on at a time: as many as fit it, of the usual size. */
const RESIDENT_TEAMS = 8;

type OwnLaunch = DeviceLaunch<{ readonly name: string }>;

/** Common base of devices of all backends for GPUs. */
export abstract class GpuDevice<Owner extends MemoryOwner> implements Device {
  abstract readonly backend: string;
  abstract readonly label: string;
  abstract readonly capabilities: Capabilities;
  readonly memory: MemorySpace;
  readonly tuning = new TuningTable();
  precision: Precision = "fast";
  deterministic?: boolean;
  /** Launches of `run` that have come to their end serve the next calls; false where each is prepared anew. */
  protected readonly keepsLaunches: boolean = true;
  private readonly launches = new KeptLaunches();
  private readonly listRuns = new ListRuns();
  private first: AnyDeviceQueue | undefined;
  /** Runs whose results are not there yet. */
  private readonly running = new Set<Promise<unknown>>();
  private closes = false;

  constructor(
    readonly name: string,
    readonly gpu: Owner,
  ) {
    this.memory = gpu.memory;
  }

  [INSPECT](): string {
    return `Device ${this.name}: ${this.label}`;
  }

  get queue(): Queue {
    return this.firstQueue;
  }

  private get firstQueue(): AnyDeviceQueue {
    return (this.first ??= this.createQueue());
  }

  /** True once it is being closed: runs that were begun before come to their end. */
  get closing(): boolean {
    return this.closes;
  }

  protected requireOpen(): void {
    if (this.closes) throw new DeviceError(this.name, "it is closed", "open it again");
    this.gpu.requireOpen();
  }

  residentTeams(league: number): number {
    return Math.min(league, RESIDENT_TEAMS * this.capabilities.parallelism);
  }

  abstract createQueue(): AnyDeviceQueue;

  /** Puts data in `right` order into a new view, before whatever is enqueued later. */
  protected abstract fill(view: View, data: ArrayLike<number>): void;

  protected abstract launch(binding: Binding): OwnLaunch;

  array<T extends ElementType>(type: ArrayToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.requireOpen();
    const extents = newShape(type, shape, options);
    const element = elementTypeOf(type);
    const buffer = this.gpu.allocate(extents.reduce((a, b) => a * b, BYTES[element]));
    return new View(buffer, element, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends ElementType>(
    type: ArrayToken<T>,
    data: ArrayLike<unknown>,
    shape?: number | readonly number[],
    options?: ArrayOptions,
  ): View<T> {
    this.requireOpen();
    const { token, extents, numbers } = newData(type, data, shape, options);
    const view = this.array(token, extents, options);
    this.fill(view, numbers);
    return view;
  }

  list<T extends ListElement>(type: T, capacity: number): List<T> {
    this.requireOpen();
    return new DeviceList(this, type, capacity);
  }

  prepare<P extends Params>(written: Kernel<P>, given: Args<P>, policy: Policy, options: LaunchOptions = {}): Launch {
    this.requireOpen();
    const { kernel, args } = flatCall(written, given);
    const lists = launchWithLists({ device: this, kernel, args, policy, options, compile: {} });
    return lists ?? descending(kernel, () => this.launch(bind(this, kernel, args, policy, options)));
  }

  async run<P extends Params>(written: Kernel<P>, given: Args<P>, policy: Policy, asked: DeviceRunOptions = {}): Promise<Results<P>> {
    this.requireOpen();
    const { kernel, args } = flatCall(written, given);
    const [options] = withoutSignal(asked);
    const call = { device: this, kernel, args, policy, options, compile: {} };
    if (hasLists(kernel)) {
      const running = this.listRuns.run(this.firstQueue, call, () => launchWithLists(call)!);
      return this.untilClosed(running) as Promise<Results<P>>;
    }
    const kept = this.keepsLaunches ? this.launches.take(call) : undefined;
    const prepared = kept ?? descending(kernel, () => this.launch(bind(this, kernel, args, policy, options)));
    // Measuring, it is submitted later.
    if (this.tuning.measuring) noteCall(call);
    return (await this.untilClosed(this.finishRun(prepared))) as Results<P>;
  }

  /** Notes a run until it has come to its end. */
  private async untilClosed<R>(running: Promise<R>): Promise<R> {
    this.running.add(running);
    try {
      return await running;
    } finally {
      this.running.delete(running);
    }
  }

  private async finishRun(prepared: Launch): Promise<Record<string, number>> {
    const launch = this.tuning.measuring ? await atFirstUse(this, prepared) : prepared;
    let results: Record<string, number> | undefined;
    try {
      this.firstQueue.submitAlone(launch);
      return (results = await this.queue.results(launch));
    } finally {
      // A launch that has failed is not trusted with the next call.
      if (results && this.keepsLaunches) this.launches.keep(launch as OwnLaunch);
      else launch.free();
    }
  }

  /** Waits for runs that were begun, and frees all that the device holds. */
  async close(): Promise<void> {
    this.closes = true;
    if (this.running.size > 0) await Promise.allSettled(this.running);
    this.launches.clear();
    this.listRuns.clear();
    this.gpu.close();
  }
}
