import { DeviceError } from "../../kernel/errors.js";
import type { Koffi, Library } from "../foreign.js";
import { openDriverLibrary } from "./library.js";

/** Handles and device pointers of the driver fit a double: user space has 47 bits. */
export type Handle = number;

export const NO_DRIVER = {
  reason: "no NVIDIA driver found (libcuda.so.1)",
  remedy: "install NVIDIA's driver, or run where there is an NVIDIA GPU",
};

const NOT_READY = 600;
const PEER_REACHED_ALREADY = 704;

/** The driver API's functions that are used here; pointers are passed as numbers, results come back through typed arrays. */
const DECLARATIONS = [
  "int cuInit(uint32_t flags)",
  "int cuDriverGetVersion(void *version)",
  "int cuGetErrorName(int status, _Out_ const char **name)",
  "int cuGetErrorString(int status, _Out_ const char **text)",
  "int cuDeviceGetCount(void *count)",
  "int cuDeviceGet(void *device, int ordinal)",
  "int cuDeviceGetName(void *name, int length, int device)",
  "int cuDeviceGetAttribute(void *value, int attribute, int device)",
  "int cuDeviceTotalMem_v2(void *bytes, int device)",
  "int cuDevicePrimaryCtxRetain(void *context, int device)",
  "int cuDevicePrimaryCtxRelease_v2(int device)",
  "int cuCtxSetCurrent(uint64_t context)",
  "int cuCtxSynchronize()",
  "int cuCtxEnablePeerAccess(uint64_t context, uint32_t flags)",
  "int cuDeviceCanAccessPeer(void *can, int device, int peer)",
  "int cuMemGetInfo_v2(void *free, void *total)",
  "int cuMemAlloc_v2(void *pointer, size_t bytes)",
  "int cuMemFree_v2(uint64_t pointer)",
  "int cuMemHostAlloc(void *pointer, size_t bytes, uint32_t flags)",
  "int cuMemFreeHost(uint64_t pointer)",
  "int cuMemcpyHtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, uint64_t stream)",
  "int cuMemcpyDtoHAsync_v2(uint64_t target, uint64_t source, size_t bytes, uint64_t stream)",
  "int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, uint64_t stream)",
  `int cuMemcpyPeerAsync(uint64_t target, uint64_t targetContext, uint64_t source, uint64_t sourceContext, size_t bytes,
     uint64_t stream)`,
  "int cuMemsetD8Async(uint64_t target, uint8_t value, size_t bytes, uint64_t stream)",
  "int cuStreamCreate(void *stream, uint32_t flags)",
  "int cuStreamDestroy_v2(uint64_t stream)",
  "int cuStreamQuery(uint64_t stream)",
  "int cuStreamSynchronize(uint64_t stream)",
  "int cuStreamWaitEvent(uint64_t stream, uint64_t event, uint32_t flags)",
  "int cuStreamBeginCapture_v2(uint64_t stream, int mode)",
  "int cuStreamEndCapture(uint64_t stream, void *graph)",
  "int cuGraphInstantiateWithFlags(void *executable, uint64_t graph, uint64_t flags)",
  "int cuGraphGetNodes(uint64_t graph, void *nodes, void *count)",
  "int cuGraphLaunch(uint64_t executable, uint64_t stream)",
  "int cuGraphExecDestroy(uint64_t executable)",
  "int cuGraphDestroy(uint64_t graph)",
  "int cuEventCreate(void *event, uint32_t flags)",
  "int cuEventDestroy_v2(uint64_t event)",
  "int cuEventRecord(uint64_t event, uint64_t stream)",
  "int cuEventQuery(uint64_t event)",
  "int cuEventSynchronize(uint64_t event)",
  "int cuEventElapsedTime(void *milliseconds, uint64_t start, uint64_t end)",
  "int cuModuleLoadData(void *module, void *image)",
  "int cuModuleUnload(uint64_t module)",
  "int cuModuleGetFunction(void *function, uint64_t module, const char *name)",
  "int cuFuncGetAttribute(void *value, int attribute, uint64_t function)",
  "int cuFuncSetAttribute(uint64_t function, int attribute, int value)",
  "int cuOccupancyMaxActiveBlocksPerMultiprocessor(void *blocks, uint64_t function, int blockSize, size_t sharedBytes)",
  `int cuLaunchKernel(uint64_t function, uint32_t gridX, uint32_t gridY, uint32_t gridZ, uint32_t blockX, uint32_t blockY,
     uint32_t blockZ, uint32_t sharedBytes, uint64_t stream, void *params, void *extra)`,
] as const;

type NameOf<D extends string> = D extends `int ${infer Name}(${string}` ? Name : never;
/** Functions of the driver API. */
export type DriverCall = NameOf<(typeof DECLARATIONS)[number]>;

export const DeviceAttribute = {
  maxSharedMemoryPerBlock: 8,
  clockRate: 13,
  multiprocessors: 16,
  memoryClockRate: 36,
  memoryBusWidth: 37,
  l2Bytes: 38,
  major: 75,
  minor: 76,
  maxSharedMemoryOptIn: 97,
} as const;

/** NVIDIA's driver, initialised. Every call is checked; the calling thread's context is `use`d before calls that need one. */
export class Driver {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  private readonly functions: Record<DriverCall, (...args: any[]) => number>;
  private current: Handle = 0;
  /** The kernel that was submitted last: kernels fail behind the back of the call that tells. */
  lastKernel: string | undefined;

  private constructor(
    readonly koffi: Koffi,
    library: Library,
  ) {
    this.functions = Object.fromEntries(
      DECLARATIONS.map((declaration) => [/(\w+)\(/.exec(declaration)![1], library.handle.func(declaration)]),
    ) as unknown as Driver["functions"];
  }

  /** Undefined where the machine has no driver library. Throws DeviceError where it has one that does not start. */
  static open(koffi: Koffi): Driver | undefined {
    const library = openDriverLibrary(koffi);
    if (!library) return undefined;
    let driver: Driver;
    try {
      driver = new Driver(koffi, library);
    } catch (error) {
      throw new DeviceError(
        "cuda",
        `${library.path} lacks a function: ${(error as Error).message}`,
        "install a newer NVIDIA driver, of CUDA 11.4 or later",
      );
    }
    driver.call("cuInit", 0);
    return driver;
  }

  /** Calls a function of the driver. Throws DeviceError naming the call and the driver's own name and words for what went wrong. */
  call(name: DriverCall, ...args: unknown[]): void {
    const status = this.functions[name](...args);
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

  /** Makes a device's context the calling thread's. */
  use(context: Handle): void {
    if (this.current === context) return;
    this.call("cuCtxSetCurrent", context);
    this.current = context;
  }

  /** The current context is about to end. */
  forget(): void {
    this.current = 0;
  }

  private failure(call: string, status: number): DeviceError {
    const text = (name: "cuGetErrorName" | "cuGetErrorString") => {
      const out: (string | null)[] = [null];
      return this.functions[name](status, out) === 0 ? out[0] : undefined;
    };
    return driverFailure(
      call,
      status,
      text("cuGetErrorName") ?? `error ${status}`,
      text("cuGetErrorString") ?? "unknown to this driver",
      this.lastKernel,
    );
  }
}

/** The error for a driver call that returned `status`; `kernel` was submitted last. */
export function driverFailure(call: string, status: number, name: string, words: string, kernel?: string): DeviceError {
  const suspect = KERNEL_FAILURES.includes(status) && kernel !== undefined ? `; the last kernel submitted was "${kernel}"` : "";
  return new DeviceError("cuda", `${call} failed: ${name}, ${words}${suspect}`, REMEDIES[status]);
}

/** Illegal address, time-out, assertion, hardware stack error, illegal instruction, misaligned address, invalid address space, invalid program counter, launch failure. */
const KERNEL_FAILURES = [700, 702, 710, 714, 715, 716, 717, 718, 719];

const CAPTURE = "a graph holds launches, copies and clears of the queues that are captured; make arrays and launches before";

const REMEDIES: Record<number, string | undefined> = {
  2: "free arrays or launches, or use a smaller size",
  100: "the driver sees no GPU: look at CUDA_VISIBLE_DEVICES and nvidia-smi",
  209: "the code was compiled for another GPU: empty the cache folder",
  700: "a kernel left its arrays; the GPU's context is lost: find the index with the backend js-debug, and start the program again",
  719: "a kernel failed; the GPU's context is lost: look for the cause with the backend js-debug, and start the program again",
  901: CAPTURE,
  904: "during a capture, queues that wait for captured work must be named, or be waited for",
  905: "during a capture, wait only for events that it has recorded itself",
  906: CAPTURE,
  803: "the driver and the kernel module differ in version: restart the machine or reinstall the driver",
  804: "the forward-compatibility libraries do not fit this GPU: remove the folder cuda/compat from the library path",
};
