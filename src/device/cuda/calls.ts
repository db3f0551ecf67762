import type { Koffi, Library } from "../ffi.js";

/** The functions of CUDA's driver API that are used here; pointers are passed as numbers, results come back through typed arrays. */
const LIST = [
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
  "int cuStreamCreateWithPriority(void *stream, uint32_t flags, int priority)",
  "int cuCtxGetStreamPriorityRange(void *least, void *greatest)",
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
  "int cuLaunchKernelEx(void *config, uint64_t function, void *params, void *extra)",
] as const;

type NameOf<D extends string> = D extends `int ${infer Name}(${string}` ? Name : never;
/** Functions of the driver API, by CUDA's names. */
export type DriverCall = NameOf<(typeof LIST)[number]>;

export const DECLARATIONS = Object.fromEntries(LIST.map((declaration) => [nameIn(declaration), declaration])) as Record<DriverCall, string>;

/** The function's name in a declaration, or alone. */
export function nameIn(declaration: string): string {
  return /(\w+)(?=\(|$)/.exec(declaration)![1];
}

/** Attributes of a GPU that are queried by number. */
export type DeviceAttribute = "multiprocessors" | "memoryClockRate" | "memoryBusWidth" | "l2Bytes" | "sharedBytes" | "residentThreads";

/** Handles and device pointers of the driver fit a double: user space has 47 bits. */
export type Handle = number;

/** The driver, for those who ask it what it is. */
export interface DriverQueries {
  readonly api: DriverApi;
  readonly library: Library;
  /** Integer that a call returns through its first argument. Throws DeviceError. */
  int(name: DriverCall, ...args: unknown[]): number;
}

/** Specifics of one implementation of the driver API: NVIDIA's, or AMD's, which calls it HIP. */
export interface DriverApi {
  readonly backend: string;
  /**
   * By CUDA's name of a call: the name of a function with the same arguments; the declaration of one whose arguments have other types; or
   * what takes its place where there is none.
   */
  readonly calls: Readonly<Record<DriverCall, string | ((...args: never[]) => number)>>;
  readonly attributes: Readonly<Record<DeviceAttribute, number>>;
  /** Value that closes the list that `cuLaunchKernel` takes as `extra`. */
  readonly endOfExtra: bigint;
  /** Threads of a grid along an axis, at most. */
  readonly mostThreads: number;
  /** A kernel may start while the one before it in its stream still runs, and wait for it itself. Asked once `architecture` is known. */
  readonly startsEarly?: (driver: DriverQueries, arch: string) => boolean;
  /** Remedy if a library is too old. */
  readonly newer: string;
  /** By status. */
  readonly remedies: Readonly<Record<number, string | undefined>>;
  /** Undefined if the machine has none. */
  openLibrary(koffi: Koffi): Library | undefined;
  /** Target that the GPU's code is compiled for, in the compiler's terms, and in words. */
  architecture(driver: DriverQueries, device: Handle): { arch: string; words: string };
}
