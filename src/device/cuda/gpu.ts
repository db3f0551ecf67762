import { DeviceError } from "../../base/errors.js";
import type { Entry as EntryCode, GpuLanguage } from "../../schedule/program.js";
import { keepSource } from "../../cache/keep-source.js";
import type { CodeFacts, GpuEntry, GpuMachine, GpuMemory } from "../gpu/machine.js";
import type { GridShape, StreamStep, Fill } from "../gpu/steps.js";
import type { AnySlot } from "../../schedule/slots.js";
import type { MemorySpace } from "../memory/view.js";
import type { DeviceAttribute } from "./calls.js";
import type { Handle } from "./calls.js";
import type { PrimaryContext } from "./context.js";
import type { Driver } from "./driver.js";
import type { CudaCapture } from "./capture.js";
import type { GpuCompiler } from "./runtime-compiler.js";
import { Staging } from "./staging.js";
import { FillStep, KernelStep, packParams } from "./steps.js";

/** A kernel's entry point on one GPU. */
interface Entry extends GpuEntry {
  readonly handle: Handle;
}

/** Facts about a GPU that are known without starting anything on it. */
export interface GpuFacts extends CodeFacts {
  label: string;
  /** Target that code is compiled for, in the compiler's terms. */
  arch: string;
  multiprocessors: number;
  memory: number;
  /** Bytes a second by clock and width of the memory; undefined if the driver does not tell them. */
  bandwidth: number | undefined;
}

export function gpuFacts(driver: Driver, ordinal: number): GpuFacts & { device: number } {
  const device = driver.int("cuDeviceGet", ordinal);
  const attribute = (name: DeviceAttribute) => driver.attribute(name, device);
  const name = new Uint8Array(256);
  driver.call("cuDeviceGetName", name, name.length, device);
  const { arch, words } = driver.api.architecture(driver, device);
  const memory = driver.handle("cuDeviceTotalMem_v2", device);
  const title = new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
  return {
    device,
    memory,
    arch,
    multiprocessors: attribute("multiprocessors"),
    sharedBytes: attribute("sharedBytes"),
    threads: 1024,
    atomics64: true,
    l2Bytes: attribute("l2Bytes"),
    residentThreads: attribute("residentThreads"),
    bandwidth: theoreticalBandwidth(attribute("memoryClockRate"), attribute("memoryBusWidth")),
    label: `${title}, ${(memory / 2 ** 30).toFixed(0)} GiB, ${words}`,
  };
}

/**
 * Bytes a second of a memory that moves data on both edges of its clock, from the clock in kHz and the width in bits; undefined if
 * one is 0, which is what drivers say of what they do not know.
 */
export function theoreticalBandwidth(clockRate: number, busWidth: number): number | undefined {
  return (2 * clockRate * 1000 * busWidth) / 8 || undefined;
}

/** One GPU's primary context: its memory, its compiled modules, its pinned staging memory. */
export class CudaGpu implements GpuMachine {
  readonly language: GpuLanguage;
  readonly memory: MemorySpace;
  readonly facts: GpuFacts;
  readonly staging: Staging;
  /** Set while what its streams are given is captured. */
  capture: CudaCapture | undefined;
  /** Looks for failures of what others do for this GPU, while somebody waits for it. */
  watch: (() => void) | undefined;
  /** Kernels of a graph that wait for the one before may be started while it runs. */
  readonly startsEarly: boolean;
  private readonly device: number;
  private readonly peers = new Map<CudaGpu, boolean>();
  private readonly buffers = new Set<CudaBuffer>();
  private readonly postponed: (() => void)[] = [];
  private readonly streams: Handle[] = [];
  private readonly modules = new Map<string, { readonly module: Handle; readonly entries: Map<string, Entry> }>();
  private reading: Handle | undefined;
  private started = false;
  private closed = false;

  /** It starts when it is first used. */
  constructor(
    readonly name: string,
    readonly driver: Driver,
    private readonly compiler: GpuCompiler,
    readonly ordinal: number,
    private readonly primary: PrimaryContext,
  ) {
    this.memory = { name };
    this.language = compiler.language;
    const { device, ...facts } = gpuFacts(driver, ordinal);
    this.device = device;
    this.facts = facts;
    this.startsEarly = driver.api.startsEarly?.(driver, facts.arch) ?? false;
    this.staging = new Staging(driver, (event) => this.waitNow(event));
    driver.willStart(this);
  }

  get context(): Handle {
    return this.primary.get();
  }

  requireOpen(): void {
    if (this.closed) throw new DeviceError(this.name, "it is closed", "open it again");
  }

  /** Makes this GPU the calling thread's; every use of the driver starts here. Throws DeviceError once closed, and where the GPU cannot be used. */
  enter(): Driver {
    this.requireOpen();
    this.driver.startAll();
    this.driver.use(this.context);
    return this.driver;
  }

  /** To be called again and again by those who wait for work of this GPU. */
  poll(): void {
    this.enter();
    this.watch?.();
  }

  /** Waits for an event; the calling thread blocks. */
  waitNow(event: Handle): void {
    const driver = this.enter();
    if (!this.watch) return driver.call("cuEventSynchronize", event);
    while (!driver.ready("cuEventQuery", event)) this.watch?.();
  }

  /** Waits for the context, and takes the memory that was asked for meanwhile; may be called again. Throws DeviceError if either cannot be had. */
  start(): void {
    this.driver.use(this.context);
    for (const buffer of this.buffers) if (!buffer.isPlaced) buffer.address = this.take(buffer.bytes);
  }

  /** Does what was put off until the first use. */
  catchUp(): void {
    this.started = true;
    for (const work of this.postponed.splice(0)) work();
  }

  get isStarted(): boolean {
    return this.started;
  }

  /** Puts something off until the first use. */
  whenUsed(work: () => void): void {
    this.postponed.push(work);
  }

  /** Zeroed memory, ready for every stream of this GPU. Throws DeviceError if it does not fit: before the first use of a GPU, there. */
  allocate(bytes: number): CudaBuffer {
    this.requireOpen();
    const buffer = new CudaBuffer(this, bytes);
    if (bytes === 0) return buffer;
    if (this.capture) throw new DeviceError(this.name, "memory is allocated during a capture", "make arrays and launches before it");
    if (this.started) {
      this.enter();
      buffer.address = this.take(bytes);
    } else this.requireFree(bytes, this.facts.memory, this.facts.memory);
    this.buffers.add(buffer);
    return buffer;
  }

  private take(bytes: number): number {
    const { driver } = this;
    const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
    driver.call("cuMemGetInfo_v2", free, total);
    this.requireFree(bytes, Number(free[0]), Number(total[0]));
    const address = driver.handle("cuMemAlloc_v2", bytes);
    // The null stream waits for all others and they for it, so no stream sees the memory before it is zero.
    driver.call("cuMemsetD8Async", address, 0, bytes, 0);
    return address;
  }

  private requireFree(bytes: number, free: number, total: number): void {
    if (bytes > free)
      throw new DeviceError(this.name, `${gib(bytes)} asked for, ${gib(free)} of ${gib(total)} free`, "free arrays or use a smaller size");
  }

  release(buffer: CudaBuffer): void {
    if (!this.buffers.delete(buffer) || this.closed || !buffer.isPlaced) return;
    this.enter().call("cuMemFree_v2", buffer.address);
  }

  /**
   * A new stream, in order with the null stream, where memory is zeroed and `from` writes.
   * @param urgent whether its kernels get the next free multiprocessors, before kernels of other streams that run already
   */
  createStream(urgent = false): Handle {
    const driver = this.enter();
    const [least, greatest] = [new Int32Array(1), new Int32Array(1)];
    if (urgent) driver.call("cuCtxGetStreamPriorityRange", least, greatest);
    const stream = urgent ? driver.handle("cuStreamCreateWithPriority", 0, greatest[0]) : driver.handle("cuStreamCreate", 0);
    this.streams.push(stream);
    return stream;
  }

  /** A stream for reads that are not to wait for the work of others. */
  get aside(): Handle {
    return (this.reading ??= this.createStream());
  }

  /** True where work of this GPU reaches the other's memory directly, which is allowed from then on. */
  reaches(other: CudaGpu): boolean {
    let reached = this.peers.get(other);
    if (reached === undefined) {
      reached = other.driver === this.driver && this.driver.int("cuDeviceCanAccessPeer", this.device, other.device) !== 0;
      if (reached) this.enter().reachPeer(other.context);
      this.peers.set(other, reached);
    }
    return reached;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** The entry points of `source`, compiled for this GPU or found in this process or on disk. */
  load(source: string, fast: boolean, name: string, entries: readonly string[]): ReadonlyMap<string, Entry> {
    const driver = this.enter();
    const key = `${fast} ${source}`;
    let loaded = this.modules.get(key);
    if (loaded === undefined) {
      keepSource(name, source, fast ? "fast" : "strict", this.compiler.suffix);
      const module = this.compiler.compile(source, this.facts.arch, { fast, name }, (code) => driver.handle("cuModuleLoadData", code));
      this.modules.set(key, (loaded = { module, entries: new Map() }));
    }
    const { module, entries: known } = loaded;
    for (const entry of entries) if (!known.has(entry)) known.set(entry, this.entry(driver.handle("cuModuleGetFunction", module, entry)));
    return known;
  }

  /** Waits for the work under way and gives back everything. Throws DeviceError if that work failed. */
  close(): void {
    if (this.closed) return;
    if (!this.started) {
      this.closed = true;
      this.driver.willNotStart(this);
      return this.primary.release();
    }
    const driver = this.enter();
    try {
      driver.call("cuCtxSynchronize");
      for (const buffer of this.buffers) buffer.free();
      for (const { module } of this.modules.values()) driver.call("cuModuleUnload", module);
      for (const stream of this.streams) driver.call("cuStreamDestroy_v2", stream);
      this.staging.close();
    } finally {
      // With the context goes what a failed kernel has left in it.
      this.closed = true;
      driver.forget();
      this.primary.release();
    }
  }

  upload(address: number, words: Uint32Array): void {
    this.enter();
    // The null stream is in order with all others.
    this.staging.write(address, "u32", words, 0);
  }

  kernelStep<Slot extends AnySlot>(code: EntryCode<Slot>, entry: GpuEntry, shape: GridShape, fill: Fill<Slot>): StreamStep {
    const { mostThreads } = this.driver.api;
    if (shape.grid.some((blocks, axis) => blocks * shape.block[axis] > mostThreads))
      throw new DeviceError(
        this.name,
        `"${code.name}" needs more than ${mostThreads} threads along an axis`,
        "run it over parts of the range",
      );
    return new KernelStep(this, code, (entry as Entry).handle, shape, packParams(code.params, fill));
  }

  fillStep(address: number, value: number, bytes: number): StreamStep {
    return new FillStep(this, address, value, bytes);
  }

  starts(kernel: string): void {
    this.enter().lastKernel = kernel;
  }

  private entry(handle: Handle): Entry {
    const { driver } = this;
    const attribute = (number: number) => driver.int("cuFuncGetAttribute", number, handle);
    const spilled = attribute(FunctionAttribute.localBytes);
    const registers = attribute(FunctionAttribute.registers);
    const resident = new Map<string, number>();
    let mostShared = ALWAYS_SHARED;
    return {
      handle,
      needs: `${registers} registers a thread${spilled > 0 ? `, ${spilled} bytes of local memory` : ""}`,
      resources: { registers, localBytes: spilled, sharedBytes: attribute(FunctionAttribute.sharedBytes) },
      residentBlocks: (threads, sharedBytes) => {
        const key = `${threads} ${sharedBytes}`;
        let blocks = resident.get(key);
        if (blocks !== undefined) return blocks;
        this.enter();
        // Other launches of this entry go on with what they have asked for.
        if (sharedBytes > mostShared)
          driver.call("cuFuncSetAttribute", handle, FunctionAttribute.maxDynamicShared, (mostShared = sharedBytes));
        blocks = driver.int("cuOccupancyMaxActiveBlocksPerMultiprocessor", handle, threads, sharedBytes);
        resident.set(key, blocks);
        return blocks;
      },
    };
  }
}

const FunctionAttribute = { sharedBytes: 1, localBytes: 3, registers: 4, maxDynamicShared: 8 } as const;

/** Shared memory that a block gets without asking. */
const ALWAYS_SHARED = 48 << 10;

/** A piece of one GPU's memory. */
export class CudaBuffer implements GpuMemory {
  readonly memory: MemorySpace;
  live = true;
  writes = 0;
  private place: number | undefined;

  constructor(
    readonly gpu: CudaGpu,
    readonly bytes: number,
  ) {
    this.memory = gpu.memory;
    if (bytes === 0) this.place = 0;
  }

  get isPlaced(): boolean {
    return this.place !== undefined;
  }

  /** Throws DeviceError if the GPU has not been used yet, and cannot be. */
  get address(): number {
    if (this.place === undefined) this.gpu.enter();
    return this.place!;
  }

  set address(place: number) {
    this.place = place;
  }

  free(): void {
    this.live = false;
    this.gpu.release(this);
  }
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toPrecision(3)} GiB`;
