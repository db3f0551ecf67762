import { DeviceError } from "../../base/errors.js";
import type { Koffi, Library } from "../ffi.js";
import { DECLARATIONS, nameIn, type DeviceAttribute, type DriverApi, type DriverCall, type DriverQueries, type Handle } from "./calls.js";
import { cudaApi } from "./cuda-api.js";

const NOT_READY = 600;
const PEER_REACHED_ALREADY = 704;

/** A function of the driver; functions of its library run in another thread, too, and pass their status to the last argument. */
/* eslint-disable @typescript-eslint/no-explicit-any */
interface DriverFunction {
  (...args: any[]): number | string;
  readonly async?: (...args: any[]) => void;
}
/* eslint-enable @typescript-eslint/no-explicit-any */

/** A GPU that was opened and has done nothing yet. */
interface Waiting {
  /** Waits for its context and takes its memory; may be called again. Throws DeviceError. */
  start(): void;
  /** Does what was put off. */
  catchUp(): void;
}

/** A GPU driver. Every call is checked; the calling thread's context is `use`d before calls that need one. */
export class Driver implements DriverQueries {
  private readonly functions: Record<DriverCall, DriverFunction>;
  private current: Handle | undefined;
  private readonly waiting = new Set<Waiting>();
  /** The kernel that was submitted last: a kernel's failure is reported by a later call. */
  lastKernel: string | undefined;

  private constructor(
    readonly koffi: Koffi,
    readonly library: Library,
    readonly api: DriverApi,
  ) {
    this.functions = Object.fromEntries(
      Object.entries(DECLARATIONS).map(([name, declaration]) => {
        const call = api.calls[name as DriverCall];
        if (typeof call === "function") return [name, call];
        return [name, library.handle.func(call.includes("(") ? call : declaration.replace(name, call))];
      }),
    ) as unknown as Driver["functions"];
  }

  /** To be initialised. Undefined if the machine has no driver library. Throws DeviceError if that lacks a function. */
  static open(koffi: Koffi, api: DriverApi): Driver | undefined {
    const library = api.openLibrary(koffi);
    if (!library) return undefined;
    try {
      return new Driver(koffi, library, api);
    } catch (error) {
      throw new DeviceError(api.backend, `${library.path} lacks a function: ${(error as Error).message}`, api.newer);
    }
  }

  /** Starts the driver. Throws DeviceError if it does not start. */
  initialise(): Promise<void> {
    return this.callAside("cuInit", 0);
  }

  /** Calls a function of the driver. Throws DeviceError naming the call and the driver's own name and words for what went wrong. */
  call(name: DriverCall, ...args: unknown[]): void {
    const status = this.functions[name](...args);
    if (status !== 0) throw this.failure(name, status);
  }

  /** The same in another thread, for calls that take long and need no context; the program goes on meanwhile. */
  async callAside(name: DriverCall, ...args: unknown[]): Promise<void> {
    const { async: aside } = this.functions[name];
    if (!aside) return this.call(name, ...args);
    const status = await new Promise<number>((resolve, reject) => {
      aside(...args, (error: Error | null, result: number) => (error ? reject(error) : resolve(result)));
    });
    if (status !== 0) throw this.failure(name, status);
  }

  /** For cuStreamQuery and cuEventQuery: false while work is under way. */
  ready(name: "cuStreamQuery" | "cuEventQuery", handle: Handle): boolean {
    const status = this.functions[name](handle);
    if (status === NOT_READY) return false;
    if (status !== 0) throw this.failure(name, status);
    return true;
  }

  /** Lets the current context use the memory of another, which it may do already. */
  reachPeer(context: Handle): void {
    const status = this.functions.cuCtxEnablePeerAccess(context, 0);
    if (status !== 0 && status !== PEER_REACHED_ALREADY) throw this.failure("cuCtxEnablePeerAccess", status);
  }

  /** Calls a function whose first argument takes a pointer or handle, and returns that. */
  handle(name: DriverCall, ...args: unknown[]): Handle {
    const out = new BigUint64Array(1);
    this.call(name, out, ...args);
    return Number(out[0]);
  }

  /** Calls a function whose first argument takes an `int`, and returns that. */
  int(name: DriverCall, ...args: unknown[]): number {
    const out = new Int32Array(1);
    this.call(name, out, ...args);
    return out[0];
  }

  attribute(name: DeviceAttribute, device: Handle): number {
    return this.int("cuDeviceGetAttribute", this.api.attributes[name], device);
  }

  /** A GPU that starts when one of the driver's is first used, as work of one may go to another. */
  willStart(gpu: Waiting): void {
    this.waiting.add(gpu);
  }

  willNotStart(gpu: Waiting): void {
    this.waiting.delete(gpu);
  }

  /** Starts the GPUs that wait. Throws DeviceError, now and again, if one cannot. */
  startAll(): void {
    if (this.waiting.size === 0) return;
    const gpus = [...this.waiting];
    for (const gpu of gpus) gpu.start();
    this.waiting.clear();
    for (const gpu of gpus) gpu.catchUp();
  }

  /** Makes a device's context the calling thread's. */
  use(context: Handle): void {
    if (this.current === context) return;
    this.call("cuCtxSetCurrent", context);
    this.current = context;
  }

  /** The current context is about to end. */
  forget(): void {
    this.current = undefined;
  }

  private failure(name: DriverCall, status: number | string): DeviceError {
    const text = (ask: "cuGetErrorName" | "cuGetErrorString") => {
      const out: (string | null)[] = [null];
      const answer = this.functions[ask](status, out);
      return typeof answer === "string" ? answer : out[0];
    };
    const call = this.api.calls[name];
    return driverFailure(
      typeof call === "string" ? nameIn(call) : name,
      Number(status),
      text("cuGetErrorName") ?? `error ${status}`,
      text("cuGetErrorString") ?? "unknown to this driver",
      this.lastKernel,
      this.api,
    );
  }
}

/** The error for a driver call that returned `status`; `kernel` was submitted last. */
export function driverFailure(call: string, status: number, name: string, words: string, kernel?: string, api = cudaApi): DeviceError {
  const suspect = KERNEL_FAILURES.includes(status) && kernel !== undefined ? `; the last kernel submitted was "${kernel}"` : "";
  return new DeviceError(api.backend, `${call} failed: ${name}, ${words}${suspect}`, api.remedies[status]);
}

/** Illegal address, time-out, assertion, hardware stack error, illegal instruction, misaligned address, invalid address space, invalid program counter, launch failure. */
const KERNEL_FAILURES = [700, 702, 710, 714, 715, 716, 717, 718, 719];
