import type { DriverApi } from "../cuda/calls.js";
import { REMEDIES } from "../cuda/cuda-api.js";
import type { DriverQueries, Handle } from "../cuda/calls.js";
import { DeviceError } from "../../base/errors.js";
import { openHipLibrary } from "./library.js";

const NOTHING_TO_DO = () => 0;

/** AMD's driver: the same API as CUDA's, but for the contexts. A device stands in the place of its context. */
export const hipApi: DriverApi = {
  backend: "hip",
  calls: {
    cuInit: "hipInit",
    cuDriverGetVersion: "hipRuntimeGetVersion",
    cuGetErrorName: "const char *hipGetErrorName(int status)",
    cuGetErrorString: "const char *hipGetErrorString(int status)",
    cuDeviceGetCount: "hipGetDeviceCount",
    cuDeviceGet: "hipDeviceGet",
    cuDeviceGetName: "hipDeviceGetName",
    cuDeviceGetAttribute: "hipDeviceGetAttribute",
    cuDeviceTotalMem_v2: "hipDeviceTotalMem",
    cuDevicePrimaryCtxRetain: (context: BigUint64Array, device: number) => {
      context[0] = BigInt(device);
      return 0;
    },
    cuDevicePrimaryCtxRelease_v2: NOTHING_TO_DO,
    cuCtxSetCurrent: "int hipSetDevice(int device)",
    cuCtxSynchronize: "hipDeviceSynchronize",
    cuCtxEnablePeerAccess: "int hipDeviceEnablePeerAccess(int peer, uint32_t flags)",
    cuDeviceCanAccessPeer: "hipDeviceCanAccessPeer",
    cuMemGetInfo_v2: "hipMemGetInfo",
    cuMemAlloc_v2: "hipMalloc",
    cuMemFree_v2: "hipFree",
    cuMemHostAlloc: "hipHostMalloc",
    cuMemFreeHost: "hipHostFree",
    cuMemcpyHtoDAsync_v2: "hipMemcpyHtoDAsync",
    cuMemcpyDtoHAsync_v2: "hipMemcpyDtoHAsync",
    cuMemcpyDtoDAsync_v2: "hipMemcpyDtoDAsync",
    cuMemcpyPeerAsync:
      "int hipMemcpyPeerAsync(uint64_t target, int targetDevice, uint64_t source, int sourceDevice, size_t bytes, uint64_t stream)",
    cuMemsetD8Async: "hipMemsetD8Async",
    cuStreamCreate: "hipStreamCreateWithFlags",
    cuStreamCreateWithPriority: "hipStreamCreateWithPriority",
    cuCtxGetStreamPriorityRange: "hipDeviceGetStreamPriorityRange",
    cuStreamDestroy_v2: "hipStreamDestroy",
    cuStreamQuery: "hipStreamQuery",
    cuStreamSynchronize: "hipStreamSynchronize",
    cuStreamWaitEvent: "hipStreamWaitEvent",
    cuStreamBeginCapture_v2: "hipStreamBeginCapture",
    cuStreamEndCapture: "hipStreamEndCapture",
    cuGraphInstantiateWithFlags: "hipGraphInstantiateWithFlags",
    cuGraphGetNodes: "hipGraphGetNodes",
    cuGraphLaunch: "hipGraphLaunch",
    cuGraphExecDestroy: "hipGraphExecDestroy",
    cuGraphDestroy: "hipGraphDestroy",
    cuEventCreate: "hipEventCreateWithFlags",
    cuEventDestroy_v2: "hipEventDestroy",
    cuEventRecord: "hipEventRecord",
    cuEventQuery: "hipEventQuery",
    cuEventSynchronize: "hipEventSynchronize",
    cuEventElapsedTime: "hipEventElapsedTime",
    cuModuleLoadData: "hipModuleLoadData",
    cuModuleUnload: "hipModuleUnload",
    cuModuleGetFunction: "hipModuleGetFunction",
    cuFuncGetAttribute: "hipFuncGetAttribute",
    // A block gets all of a multiprocessor's shared memory without asking.
    cuFuncSetAttribute: NOTHING_TO_DO,
    cuOccupancyMaxActiveBlocksPerMultiprocessor: "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
    cuLaunchKernel: "hipModuleLaunchKernel",
    // Nothing starts early.
    cuLaunchKernelEx: NOTHING_TO_DO,
  },
  attributes: { multiprocessors: 63, memoryClockRate: 60, memoryBusWidth: 59, l2Bytes: 19, sharedBytes: 74, residentThreads: 57 },
  endOfExtra: 3n,
  // Its grids are counted in threads, by 32 bits.
  mostThreads: 2 ** 32 - 1,
  newer: "install ROCm 5.2 or later",
  remedies: {
    ...REMEDIES,
    100: "the driver sees no GPU: look at HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and rocminfo, and whether you may open /dev/kfd",
    101: "the driver sees no GPU: look at HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and rocminfo, and whether you may open /dev/kfd",
  },
  openLibrary: openHipLibrary,
  architecture: (driver, device) => {
    const arch = architectureName(driver, device);
    return { arch, words: arch.replace(/:.*/, "") };
  },
};

/** Larger than the properties of any version. */
const PROPERTIES_BYTES = 8192;

/**
 * The name of a GPU's instruction set with its features, such as gfx90a:sramecc+:xnack-, or sm_90 where HIP is a layer over CUDA. It is a
 * text among the device's properties, whose place, as the function's name, depends on the version of HIP.
 */
function architectureName({ library, api }: DriverQueries, device: Handle): string {
  const properties = new Uint8Array(PROPERTIES_BYTES);
  for (const name of ["hipGetDevicePropertiesR0600", "hipGetDeviceProperties"]) {
    let ask: (properties: Uint8Array, device: number) => number;
    try {
      ask = library.handle.func(`int ${name}(void *properties, int device)`);
    } catch {
      continue;
    }
    const found = ask(properties, device) === 0 && /gfx[0-9a-f]{3,}(:\w+[+-])*|\bsm_\d+/.exec(new TextDecoder("latin1").decode(properties));
    if (found) return found[0];
  }
  throw new DeviceError(`${api.backend}:${device}`, `${library.path} does not tell what the GPU's code is called`, api.newer);
}
