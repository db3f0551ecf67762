import { DeviceError } from "../../base/errors.js";
import { openLibrary, type Koffi, type Library } from "../ffi.js";

/** Handles fit a double: user space has 47 bits. */
export type OpenclHandle = number;

export const NO_LOADER = {
  reason: "no OpenCL loader found (libOpenCL.so.1)",
  remedy: "install one, such as the package ocl-icd-libopencl1, and a driver: the GPU's own, or pocl-opencl-icd for the CPU",
};

/** The functions that are used here; handles and pointers are passed as numbers, results come back through typed arrays. */
const DECLARATIONS = [
  "int clGetPlatformIDs(uint32_t entries, void *platforms, void *count)",
  "int clGetPlatformInfo(uint64_t platform, uint32_t name, size_t size, void *value, void *needed)",
  "int clGetDeviceIDs(uint64_t platform, uint64_t type, uint32_t entries, void *devices, void *count)",
  "int clGetDeviceInfo(uint64_t device, uint32_t name, size_t size, void *value, void *needed)",
  "uint64_t clCreateContext(void *properties, uint32_t count, void *devices, void *notify, void *data, void *status)",
  "int clReleaseContext(uint64_t context)",
  "uint64_t clCreateCommandQueue(uint64_t context, uint64_t device, uint64_t properties, void *status)",
  "int clReleaseCommandQueue(uint64_t queue)",
  "uint64_t clCreateBuffer(uint64_t context, uint64_t flags, size_t bytes, void *host, void *status)",
  "int clReleaseMemObject(uint64_t memory)",
  "uint64_t clCreateProgramWithSource(uint64_t context, uint32_t count, const char **sources, void *lengths, void *status)",
  `uint64_t clCreateProgramWithBinary(uint64_t context, uint32_t count, void *devices, void *lengths, void *binaries, void *statuses,
     void *status)`,
  "int clBuildProgram(uint64_t program, uint32_t count, void *devices, const char *options, void *notify, void *data)",
  "int clGetProgramInfo(uint64_t program, uint32_t name, size_t size, void *value, void *needed)",
  "int clGetProgramBuildInfo(uint64_t program, uint64_t device, uint32_t name, size_t size, void *value, void *needed)",
  "int clReleaseProgram(uint64_t program)",
  "uint64_t clCreateKernel(uint64_t program, const char *name, void *status)",
  "int clSetKernelArg(uint64_t kernel, uint32_t index, size_t size, void *value)",
  "int clGetKernelWorkGroupInfo(uint64_t kernel, uint64_t device, uint32_t name, size_t size, void *value, void *needed)",
  "int clReleaseKernel(uint64_t kernel)",
  `int clEnqueueNDRangeKernel(uint64_t queue, uint64_t kernel, uint32_t dimensions, void *offset, uint64_t globalSize, uint64_t localSize,
     uint32_t waits, void *events, void *event)`,
  `int clEnqueueReadBuffer(uint64_t queue, uint64_t memory, uint32_t blocking, size_t offset, size_t bytes, uint64_t host, uint32_t waits,
     void *events, void *event)`,
  `int clEnqueueWriteBuffer(uint64_t queue, uint64_t memory, uint32_t blocking, size_t offset, size_t bytes, uint64_t host, uint32_t waits,
     void *events, void *event)`,
  `int clEnqueueCopyBuffer(uint64_t queue, uint64_t source, uint64_t target, size_t sourceOffset, size_t targetOffset, size_t bytes,
     uint32_t waits, void *events, void *event)`,
  `int clEnqueueFillBuffer(uint64_t queue, uint64_t memory, void *pattern, size_t patternBytes, size_t offset, size_t bytes, uint32_t waits,
     void *events, void *event)`,
  "int clEnqueueMarkerWithWaitList(uint64_t queue, uint32_t waits, void *events, void *event)",
  "int clEnqueueBarrierWithWaitList(uint64_t queue, uint32_t waits, void *events, void *event)",
  "int clGetEventInfo(uint64_t event, uint32_t name, size_t size, void *value, void *needed)",
  "int clGetEventProfilingInfo(uint64_t event, uint32_t name, size_t size, void *value, void *needed)",
  "int clWaitForEvents(uint32_t count, void *events)",
  "int clReleaseEvent(uint64_t event)",
  "int clFlush(uint64_t queue)",
  "int clFinish(uint64_t queue)",
] as const;

type NameOf<D extends string> = D extends `${string} ${infer Name}(${string}` ? Name : never;
type LastWord<D extends string> = D extends `${string} ${infer Rest}` ? LastWord<Rest> : D;
/** Functions of the OpenCL API. */
type OpenclCall = LastWord<NameOf<(typeof DECLARATIONS)[number]>>;
type CreateCall = Extract<OpenclCall, `clCreate${string}`>;
/** Functions that tell something about a handle. */
type InfoCall = Extract<OpenclCall, `clGet${"Platform" | "Device" | "EventProfiling"}Info`>;

/** The OpenCL loader's library. Every call is checked. */
export class Opencl {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  private readonly functions: Record<OpenclCall, (...args: any[]) => number | bigint>;
  /** The kernel that was submitted last: a kernel's failure is reported by a later call. */
  lastKernel: string | undefined;

  private constructor(
    readonly koffi: Koffi,
    library: Library,
  ) {
    this.functions = Object.fromEntries(
      DECLARATIONS.map((declaration) => [/(\w+)\(/.exec(declaration)![1], library.handle.func(declaration)]),
    ) as unknown as Opencl["functions"];
  }

  /** Undefined if the machine has no loader. Throws DeviceError if it has one of OpenCL 1.1 or older. */
  static load(koffi: Koffi): Opencl | undefined {
    const library = openLibrary(koffi, ["libOpenCL.so.1", "libOpenCL.so"], ["/usr/local/cuda/lib64/libOpenCL.so.1"]);
    if (!library) return undefined;
    try {
      return new Opencl(koffi, library);
    } catch (error) {
      throw new DeviceError(
        "opencl",
        `${library.path} lacks a function: ${(error as Error).message}`,
        "install a loader of OpenCL 1.2 or later",
      );
    }
  }

  /** Calls a function that gives a status. Throws DeviceError with the call and what its status means. */
  call(name: Exclude<OpenclCall, CreateCall>, ...args: unknown[]): void {
    const status = this.status(name, ...args);
    if (status !== 0) throw failure(name, status, this.lastKernel);
  }

  /** The same, with the status as the answer. */
  status(name: Exclude<OpenclCall, CreateCall>, ...args: unknown[]): number {
    return Number(this.functions[name](...args));
  }

  /** Calls a function that makes something, and gives its handle. Throws DeviceError. */
  create(name: CreateCall, ...args: unknown[]): OpenclHandle {
    const status = new Int32Array(1);
    const handle = Number(this.functions[name](...args, status));
    if (status[0] !== 0) throw failure(name, status[0], this.lastKernel);
    return handle;
  }

  /** Calls an enqueuing function and gives the event of its command. */
  event(name: Extract<OpenclCall, `clEnqueue${string}`>, ...args: unknown[]): OpenclHandle {
    const event = new BigUint64Array(1);
    this.call(name, ...args, event);
    return Number(event[0]);
  }

  /** Information about a handle under the number `what`. */
  bytes(name: InfoCall, handle: OpenclHandle, what: number): Uint8Array {
    const size = new BigUint64Array(1);
    this.call(name, handle, what, 0, null, size);
    const value = new Uint8Array(Number(size[0]));
    if (value.length > 0) this.call(name, handle, what, value.length, value, null);
    return value;
  }

  text(name: InfoCall, handle: OpenclHandle, what: number): string {
    return new TextDecoder()
      .decode(this.bytes(name, handle, what))
      .replaceAll("\0", "")
      .trim();
  }

  /** An integer of 4 or 8 bytes. */
  number(name: InfoCall, handle: OpenclHandle, what: number): number {
    const { buffer, length } = this.bytes(name, handle, what);
    const data = new DataView(buffer);
    return length === 8 ? Number(data.getBigUint64(0, true)) : data.getInt32(0, true);
  }

  /** The handles that a listing function returns; `none` is the status for an empty list. */
  list(name: "clGetPlatformIDs" | "clGetDeviceIDs", none: number, ...args: unknown[]): OpenclHandle[] {
    const count = new Uint32Array(1);
    const status = this.status(name, ...args, 0, null, count);
    if (status === none || (status === 0 && count[0] === 0)) return [];
    if (status !== 0) throw failure(name, status);
    const handles = new BigUint64Array(count[0]);
    this.call(name, ...args, count[0], handles, null);
    return [...handles].map(Number);
  }
}

/** The error for a call that returned `status`; `kernel` was submitted last. */
export function failure(call: string, status: number, kernel?: string): DeviceError {
  const [name = `error ${status}`, remedy] = STATUSES[status] ?? [];
  const suspect = KERNEL_FAILURES.includes(status) && kernel !== undefined ? `; the last kernel submitted was "${kernel}"` : "";
  return new DeviceError("opencl", `${call} failed: ${name}${suspect}`, remedy);
}

export const NO_PLATFORM = -1001;
export const NO_DEVICE = -1;
/** The status of a program whose source the compiler refused. */
export const BUILD_FAILED = -11;

const KERNEL_FAILURES = [-5, -14, -36, -9999];
const SMALLER = "free arrays or launches, or use a smaller size";

/** By status: its name, and what can be done. */
const STATUSES: Record<number, readonly [name: string, remedy?: string] | undefined> = {
  [-1]: ["CL_DEVICE_NOT_FOUND"],
  [-2]: ["CL_DEVICE_NOT_AVAILABLE", "another program may hold the device"],
  [-3]: ["CL_COMPILER_NOT_AVAILABLE", "install the driver's compiler"],
  [-4]: ["CL_MEM_OBJECT_ALLOCATION_FAILURE", SMALLER],
  [-5]: [
    "CL_OUT_OF_RESOURCES",
    "the device is out of memory, or a kernel accessed memory outside its arrays: look for the index with the backend js-debug",
  ],
  [-6]: ["CL_OUT_OF_HOST_MEMORY", SMALLER],
  [-8]: ["CL_MEM_COPY_OVERLAP", "copy between views that do not share memory"],
  [-14]: ["CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "a kernel failed: look for the cause with the backend js-debug"],
  [-36]: ["CL_INVALID_COMMAND_QUEUE", "the context is lost after a failed kernel: start the program again"],
  [-42]: ["CL_INVALID_BINARY", "the code was compiled by another driver: empty the cache folder"],
  [-51]: ["CL_INVALID_ARG_SIZE"],
  [-52]: ["CL_INVALID_KERNEL_ARGS"],
  [-54]: ["CL_INVALID_WORK_GROUP_SIZE"],
  [-61]: ["CL_INVALID_BUFFER_SIZE", SMALLER],
  [-1001]: ["CL_PLATFORM_NOT_FOUND_KHR", "install an OpenCL driver"],
  [-9999]: ["illegal read or write to a buffer", "a kernel accessed memory outside its arrays: find the index with the backend js-debug"],
};
