import { openclLanguage } from "../../emit/c/opencl.js";
import type { OpenclFeatures } from "../../emit/c/opencl/dialect.js";
import type { Entry as EntryCode, GpuLanguage } from "../../schedule/program.js";
import { DeviceError } from "../../base/errors.js";
import type { GpuEntry, GpuMachine, GpuMemory } from "../gpu/machine.js";
import type { GridShape, StreamStep, Fill } from "../gpu/steps.js";
import type { AnySlot } from "../../schedule/slots.js";
import type { MemorySpace } from "../memory/view.js";
import type { OpenclHandle, Opencl } from "./api.js";
import type { Found, OpenclFacts } from "./facts.js";
import { BufferAddresses } from "./addresses.js";
import { openclCapturing } from "./capture.js";
import { buildProgram } from "./opencl-program.js";
import { OpenclFillStep, OpenclKernelStep, parameterSize } from "./steps.js";

const READ_WRITE = 1;
const PROFILING = 2;
const BLOCKING = 1;
const KERNEL_WORK_GROUP_SIZE = 0x11b0;
const KERNEL_LOCAL_BYTES = 0x11b2;
const KERNEL_PRIVATE_BYTES = 0x11b4;
/** Work-items that keep a compute unit of a GPU busy. */
const RESIDENT = 2048;

/** A kernel's entry point on one device: its program and name, as each step has a kernel object, and so parameters, of its own. */
interface Entry extends GpuEntry {
  readonly program: OpenclHandle;
  readonly name: string;
  /** Work-items of a group at most, and the local memory that is declared in it. */
  readonly threads: number;
  readonly local: number;
}

/** One OpenCL device with a context of its own: its memory and its compiled programs. */
export class OpenclMachine implements GpuMachine {
  readonly memory: MemorySpace;
  readonly language: GpuLanguage;
  readonly facts: OpenclFacts;
  readonly context: OpenclHandle;
  readonly addresses = new BufferAddresses();
  /** Queue that zeroes and fills memory before anything else may use it. */
  readonly transfers: OpenclHandle;
  private readonly device: OpenclHandle;
  private readonly queues: OpenclHandle[] = [];
  private readonly programs = new Map<string, OpenclHandle>();
  private allocated = 0;
  private closed = false;

  constructor(
    readonly name: string,
    private readonly cl: Opencl,
    { device, facts }: Found,
  ) {
    this.memory = { name };
    this.facts = facts;
    this.device = device;
    this.language = openclLanguage(featuresOf(facts));
    this.context = cl.create("clCreateContext", null, 1, new BigUint64Array([BigInt(device)]), null, null);
    this.transfers = this.createQueue();
  }

  requireOpen(): void {
    this.enter();
  }

  /** Every use of the API starts here. Throws DeviceError once closed. */
  enter(): Opencl {
    if (this.closed) throw new DeviceError(this.name, "it is closed", "open it again");
    return this.cl;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** A new queue, in order. */
  createQueue(): OpenclHandle {
    const queue = this.enter().create("clCreateCommandQueue", this.context, this.device, this.facts.profiling ? PROFILING : 0);
    this.queues.push(queue);
    return queue;
  }

  allocate(bytes: number): OpenclMemory {
    const cl = this.enter();
    if (bytes === 0) return new OpenclMemory(this, 0, 0, 0);
    if (openclCapturing()) throw new DeviceError(this.name, "memory is allocated during a capture", "make arrays and launches before it");
    const { memory, maxAllocation } = this.facts;
    if (bytes > maxAllocation)
      throw new DeviceError(
        this.name,
        `${gib(bytes)} asked for in one piece, and the largest that this device gives is ${gib(maxAllocation)}`,
        "use smaller arrays, or spread the problem over several devices",
      );
    if (this.allocated + bytes > memory)
      throw new DeviceError(
        this.name,
        `${gib(bytes)} asked for, ${gib(memory - this.allocated)} of ${gib(memory)} left`,
        "free arrays or use a smaller size",
      );
    const handle = cl.create("clCreateBuffer", this.context, READ_WRITE, bytes, null);
    const buffer = new OpenclMemory(this, handle, this.addresses.take(handle, bytes), bytes);
    this.allocated += bytes;
    this.fillStep(buffer.address, 0, bytes).enqueue(this.transfers);
    cl.call("clFinish", this.transfers);
    return buffer;
  }

  /** The driver keeps memory until what is enqueued no longer needs it. */
  release({ handle, address, bytes }: OpenclMemory): void {
    if (!this.addresses.give(address) || this.closed) return;
    this.allocated -= bytes;
    this.cl.call("clReleaseMemObject", handle);
  }

  load(source: string, fast: boolean, name: string, entries: readonly string[]): ReadonlyMap<string, GpuEntry> {
    const cl = this.enter();
    let program = this.programs.get(source);
    if (program === undefined) {
      program = buildProgram(cl, this, this.device, { source, name, precision: fast ? "fast" : "strict" });
      this.programs.set(source, program);
    }
    return new Map(entries.map((entry) => [entry, this.entry(program, entry)]));
  }

  upload(address: number, words: Uint32Array): void {
    const { memory, first } = this.addresses.find(address);
    const held = words.slice().buffer;
    const host = this.cl.koffi.address(held);
    this.enter().call("clEnqueueWriteBuffer", this.transfers, memory, BLOCKING, first, held.byteLength, host, 0, null, null);
  }

  kernelStep<Slot extends AnySlot>(code: EntryCode<Slot>, entry: GpuEntry, shape: GridShape, fill: Fill<Slot>): StreamStep {
    const { program, name } = entry as Entry;
    this.requireFit(entry as Entry, code, shape);
    return new OpenclKernelStep(this.cl, this.addresses, program, name, code.params, shape, fill as Fill<AnySlot>);
  }

  /** Throws DeviceError for a kernel that is over the device's limits. */
  private requireFit({ name, threads, local }: Entry, { params }: EntryCode<AnySlot>, { block, shared = 0 }: GridShape): void {
    const { parameterBytes, sharedBytes } = this.facts;
    const refuse = (problem: string, remedy: string): never => {
      throw new DeviceError(this.name, `"${name}" ${problem}`, remedy);
    };
    const members = block.reduce((a, b) => a * b, 1);
    if (members > threads)
      refuse(`needs work-groups of ${members}, and can have ${threads} here`, "ask for smaller teams, or simplify the kernel");
    // NVIDIA's driver keeps a byte for each parameter in local memory: measured on an H100, where all of it ends in CL_OUT_OF_RESOURCES.
    const kept = local > 0 && params.some(({ type }) => type === "shared") ? ` (and ${local} that the driver keeps)` : "";
    if (local + shared > sharedBytes)
      refuse(`needs ${shared} bytes of local memory for each work-group${kept}, and the device has ${sharedBytes}`, "use less scratch");
    const bytes = params.reduce((sum, { type }) => sum + parameterSize(type), 0);
    if (bytes > parameterBytes) refuse(`has ${bytes} bytes of parameters, and the device takes ${parameterBytes}`, "pass fewer views");
  }

  fillStep(address: number, value: number, bytes: number): StreamStep {
    return new OpenclFillStep(this.cl, this.addresses.find(address), value, bytes);
  }

  starts(kernel: string): void {
    this.enter().lastKernel = kernel;
  }

  /** Waits for the work under way and gives back everything. Throws DeviceError if that work failed. */
  close(): void {
    if (this.closed) return;
    const { cl } = this;
    try {
      for (const queue of this.queues) cl.call("clFinish", queue);
    } finally {
      this.closed = true;
      for (const program of this.programs.values()) cl.status("clReleaseProgram", program);
      for (const memory of this.addresses.handles()) cl.status("clReleaseMemObject", memory);
      for (const queue of this.queues) cl.status("clReleaseCommandQueue", queue);
      cl.status("clReleaseContext", this.context);
    }
  }

  private entry(program: OpenclHandle, name: string): Entry {
    const { cl } = this;
    const kernel = cl.create("clCreateKernel", program, name);
    const about = (what: number) => {
      const value = new BigUint64Array(1);
      cl.call("clGetKernelWorkGroupInfo", kernel, this.device, what, 8, value, null);
      return Number(value[0]);
    };
    const [threads, local, privateBytes] = [KERNEL_WORK_GROUP_SIZE, KERNEL_LOCAL_BYTES, KERNEL_PRIVATE_BYTES].map(about);
    cl.call("clReleaseKernel", kernel);
    return {
      program,
      name,
      threads,
      local,
      residentBlocks: (members) => Math.max(1, Math.floor(RESIDENT / members)),
      needs: `work-groups of ${threads} at most${local > 0 ? `, ${local} bytes of local memory` : ""}`,
      resources: { localBytes: privateBytes, sharedBytes: local },
    };
  }
}

/** A buffer of one device. */
export class OpenclMemory implements GpuMemory {
  readonly memory: MemorySpace;
  live = true;
  writes = 0;

  constructor(
    readonly machine: OpenclMachine,
    readonly handle: OpenclHandle,
    readonly address: number,
    readonly bytes: number,
  ) {
    this.memory = machine.memory;
  }

  free(): void {
    this.live = false;
    this.machine.release(this);
  }
}

const featuresOf = ({ f64, atomics64, exactF32, subGroups, ptx }: OpenclFacts): OpenclFeatures => ({
  f64,
  atomics64,
  exactF32,
  subGroups,
  ptx,
});

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;
