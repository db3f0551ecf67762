import type { OpenclFeatures } from "../../emit/c/opencl/dialect.js";
import type { CodeFacts } from "../gpu/machine.js";
import { NO_DEVICE, NO_PLATFORM, type OpenclHandle, type Opencl } from "./api.js";

const PlatformInfo = { version: 0x901, name: 0x902 } as const;
const DeviceInfo = {
  type: 0x1000,
  computeUnits: 0x1002,
  workGroupSize: 0x1004,
  maxAllocation: 0x1010,
  singleConfig: 0x101b,
  memory: 0x101f,
  localBytes: 0x1023,
  available: 0x1027,
  compiler: 0x1028,
  queueProperties: 0x102a,
  version: 0x102f,
  name: 0x102b,
  driver: 0x102d,
  extensions: 0x1030,
  doubleConfig: 0x1032,
  parameterBytes: 0x1017,
  subGroups: 0x105c,
  cacheBytes: 0x101e,
  computeCapability: 0x4000,
} as const;

const ANY_TYPE = 0xffffffff;
const CPU = 2;
const PROFILING = 2;
const CORRECTLY_ROUNDED = 1 << 7;

/** Facts about an OpenCL device that are known without starting anything on it. */
export interface OpenclFacts extends CodeFacts, OpenclFeatures {
  readonly label: string;
  readonly platform: string;
  readonly driver: string;
  /** The version of OpenCL C in which kernels are written for it. */
  readonly standard: string;
  readonly cpu: boolean;
  /** Compute units. */
  readonly multiprocessors: number;
  /** Bytes of the cache of global memory. */
  readonly l2Bytes: number;
  /** Bytes of memory, and of the largest buffer. */
  readonly memory: number;
  readonly maxAllocation: number;
  /** Bytes that a kernel's parameters may take. */
  readonly parameterBytes: number;
  /** The driver keeps what it has compiled on disk; asking PoCL for it means to compile once more. */
  readonly caches: boolean;
  /** Queues keep times of what they run. */
  readonly profiling: boolean;
}

export interface Found {
  readonly device: OpenclHandle;
  readonly facts: OpenclFacts;
}

/** The devices of all platforms that can compile kernels, GPUs and accelerators before CPUs, else as the loader lists them. */
export function findDevices(cl: Opencl): Found[] {
  const found = cl.list("clGetPlatformIDs", NO_PLATFORM).flatMap((platform) => {
    const name = cl.text("clGetPlatformInfo", platform, PlatformInfo.name);
    // Cuts off the description of how the platform was built.
    const [version] = cl.text("clGetPlatformInfo", platform, PlatformInfo.version).split(/,|\s{2,}/);
    return listDevices(cl, platform).map((device) => ({ device, facts: factsOf(cl, device, `${name}, ${version}`) }));
  });
  return [...found.filter(({ facts }) => !facts.cpu), ...found.filter(({ facts }) => facts.cpu)];
}

function listDevices(cl: Opencl, platform: OpenclHandle): OpenclHandle[] {
  // The list's length comes last, the platform and type first.
  const devices = cl.list("clGetDeviceIDs", NO_DEVICE, platform, ANY_TYPE);
  const can = (device: OpenclHandle, what: "available" | "compiler") => cl.number("clGetDeviceInfo", device, DeviceInfo[what]) !== 0;
  return devices.filter((device) => can(device, "available") && can(device, "compiler"));
}

function factsOf(cl: Opencl, device: OpenclHandle, platform: string): OpenclFacts {
  const number = (what: keyof typeof DeviceInfo) => cl.number("clGetDeviceInfo", device, DeviceInfo[what]);
  const text = (what: keyof typeof DeviceInfo) => cl.text("clGetDeviceInfo", device, DeviceInfo[what]);
  const extensions = new Set(text("extensions").split(/\s+/));
  const memory = number("memory");
  const [, version] = /^OpenCL (\d+)/.exec(text("version")) ?? [];
  const isPocl = platform.startsWith("Portable Computing Language");
  // Before version 3 sub-groups are an extension, which some drivers have and do not compile. PoCL keeps them in local memory, and folds wrongly
  // (6.0: after a loop with a barrier `sub_group_reduce_add` gives the value of one work-item).
  const subGroups = Number(version) >= 3 && !isPocl && number("subGroups") > 0;
  return {
    label: `${text("name")}, ${(memory / 2 ** 30).toPrecision(3)} GiB, ${platform}`,
    platform,
    driver: text("driver"),
    standard: subGroups ? "CL3.0" : "CL1.2",
    subGroups,
    cpu: (number("type") & CPU) !== 0,
    multiprocessors: number("computeUnits"),
    l2Bytes: number("cacheBytes"),
    threads: number("workGroupSize"),
    memory,
    maxAllocation: number("maxAllocation"),
    sharedBytes: number("localBytes"),
    parameterBytes: number("parameterBytes"),
    f64: extensions.has("cl_khr_fp64") && number("doubleConfig") !== 0,
    atomics64: extensions.has("cl_khr_int64_base_atomics"),
    // Doubles are added atomically from compute capability 6 on.
    ptx: extensions.has("cl_nv_device_attribute_query") && number("computeCapability") >= 6,
    exactF32: (number("singleConfig") & CORRECTLY_ROUNDED) !== 0,
    caches: isPocl,
    profiling: (number("queueProperties") & PROFILING) !== 0,
  };
}
