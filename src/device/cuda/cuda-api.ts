import { DECLARATIONS, type DriverApi, type DriverCall } from "./calls.js";
import { openDriverLibrary } from "./library.js";

const COMPUTE_CAPABILITY = { major: 75, minor: 76 };

const CAPTURE = "a graph holds launches, copies and clears of the queues that are captured; make arrays and launches before";

/** Remedies for statuses that CUDA and HIP share. */
export const REMEDIES: DriverApi["remedies"] = {
  2: "free arrays or launches, or use a smaller size",
  209: "the code was compiled for another GPU: empty the cache folder",
  700: "a kernel accessed memory outside its arrays; the GPU's context is lost: find the index with the backend js-debug, and start the program again",
  719: "a kernel failed; the GPU's context is lost: look for the cause with the backend js-debug, and start the program again",
  901: CAPTURE,
  904: "during a capture, queues that wait for captured work must be named, or be waited for",
  905: "during a capture, wait only for events that it has recorded itself",
  906: CAPTURE,
};

/** CUDA's driver. */
export const cudaApi: DriverApi = {
  backend: "cuda",
  calls: Object.fromEntries(Object.keys(DECLARATIONS).map((name) => [name, name])) as Record<DriverCall, string>,
  attributes: { multiprocessors: 16, memoryClockRate: 36, memoryBusWidth: 37, l2Bytes: 38, sharedBytes: 97, residentThreads: 39 },
  endOfExtra: 0n,
  mostThreads: Infinity,
  // In graphs, from CUDA 12.3 on.
  startsEarly: (driver, arch) => driver.int("cuDriverGetVersion") >= 12030 && Number(arch.replace("sm_", "")) >= 90,
  newer: "install a newer NVIDIA driver, of CUDA 11.8 or later",
  remedies: {
    ...REMEDIES,
    100: "the driver sees no GPU: look at CUDA_VISIBLE_DEVICES and nvidia-smi",
    803: "the driver and the kernel module differ in version: restart the machine or reinstall the driver",
    804: "the forward-compatibility libraries do not fit this GPU: remove the folder cuda/compat from the library path",
  },
  openLibrary: openDriverLibrary,
  architecture: (driver, device) => {
    const [major, minor] = [COMPUTE_CAPABILITY.major, COMPUTE_CAPABILITY.minor].map((number) =>
      driver.int("cuDeviceGetAttribute", number, device),
    );
    return { arch: `sm_${major}${minor}`, words: `compute capability ${major}.${minor}` };
  },
};
