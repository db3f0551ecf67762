import { DeviceError, type Kernel, type ListElement, type Params, type Policy } from "isoform";
import {
  atFirstUse,
  bind,
  BYTES,
  DeviceList,
  elementTypeOf,
  newData,
  newShape,
  prepareLists,
  stridesOf,
  TuningTable,
  View,
  writeView,
  type Args,
  type ArrayOptions,
  type Capabilities,
  type Device,
  type ArrayToken,
  type Launch,
  type LaunchOptions,
  type List,
  type Precision,
  type Queue,
  type Results,
} from "isoform/backend";
import type { ElementType } from "isoform/ir";
import type { Captured } from "./graph.js";
import { InterpreterLaunch } from "./launch.js";
import { LARGEST, Memory } from "./memory.js";
import { InterpreterQueue } from "./queue.js";

export const LABEL = "an interpreter of kernels' code";
export const CAPABILITIES: Capabilities = { f64: true, parallelism: 1, simdBytes: 0, memory: LARGEST, maxAllocation: LARGEST };

export class InterpreterDevice implements Device {
  readonly name = "interpreter";
  readonly backend = "interpreter";
  readonly label = LABEL;
  readonly capabilities = CAPABILITIES;
  readonly onHost = true;
  readonly tuning = new TuningTable();
  precision: Precision = "fast";
  deterministic?: boolean;
  readonly queue: Queue = new InterpreterQueue(this);
  /** Work of the capture that is under way. */
  capturing: Captured[] | undefined;
  private readonly arrays = new Memory();
  private closed = false;

  get memory() {
    return this.arrays.space;
  }

  createQueue(): Queue {
    this.requireOpen();
    return new InterpreterQueue(this);
  }

  /** Teams run one after the other, and have one row of scratch. */
  residentTeams(): number {
    return 1;
  }

  array<T extends ElementType>(type: ArrayToken<T>, shape: number | readonly number[], options: ArrayOptions = {}): View<T> {
    this.requireOpen();
    const extents = newShape(type, shape);
    const element = elementTypeOf(type);
    const buffer = this.arrays.allocate(extents.reduce((bytes, extent) => bytes * extent, BYTES[element]));
    return new View(buffer, element, extents, stridesOf(extents, options.layout ?? "right"));
  }

  from<T extends ElementType>(
    type: ArrayToken<T>,
    data: ArrayLike<unknown>,
    shape?: number | readonly number[],
    options?: ArrayOptions,
  ): View<T> {
    this.requireOpen();
    const { token, extents, numbers } = newData(type, data, shape);
    const view = this.array(token, extents, options);
    writeView(view, numbers);
    return view;
  }

  list<T extends ListElement>(type: T, capacity: number): List<T> {
    this.requireOpen();
    return new DeviceList(this, type, capacity);
  }

  prepare<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Launch {
    this.requireOpen();
    const lists = prepareLists(this, kernel, args, policy, options);
    return lists ?? new InterpreterLaunch(this, bind(this, kernel, args, policy, options));
  }

  async run<P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, options?: LaunchOptions): Promise<Results<P>> {
    const launch = await atFirstUse(this, this.prepare(kernel, args, policy, options));
    try {
      this.queue.submit(launch);
      return (await this.queue.results(launch)) as Results<P>;
    } finally {
      launch.free();
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.arrays.close();
  }

  /** Throws DeviceError once it was closed. */
  requireOpen(): void {
    if (this.closed) throw new DeviceError(this.name, "it is closed", "open it again");
  }
}
