import type { ElementType } from "../../ir/types.js";
import type { GpuApi, HostShape } from "./gpu-host.js";

const TYPES: Record<ElementType | "i64", string> = {
  f64: "double",
  f32: "float",
  i32: "int",
  u32: "unsigned int",
  u8: "unsigned char",
  i64: "long long",
};

/** Bytes of shared memory that a kernel may have without asking. */
const UNASKED_SHARED = 48 << 10;

/** The run-time interface of CUDA, or of HIP, which has the same functions under other names. */
export function cudaLike(prefix: "cuda" | "hip"): GpuApi {
  const pointer = (element: ElementType | "i64", constant: boolean): string => `${constant ? "const " : ""}${TYPES[element]} *`;
  const dim3 = (name: string, [x, y, z]: HostShape["grid"]): string => `${name}(${[x, y, z].map(unsigned).join(", ")})`;
  const attribute = (name: string, cuda: string, hip: string): string[] => [
    `int ${name} = 1;`,
    `TRY(${prefix}DeviceGetAttribute(&${name}, ${prefix === "cuda" ? cuda : hip}, device));`,
  ];
  const dynamic = (name: string, bytes: number): string[] =>
    bytes > UNASKED_SHARED
      ? [`  TRY(${prefix}FuncSetAttribute((const void *)${name}, ${prefix}FuncAttributeMaxDynamicSharedMemorySize, ${bytes}));`]
      : [];
  return {
    status: `${prefix}Error_t`,
    success: `${prefix}Success`,
    queue: [`${prefix}Stream_t stream`],
    linkage: 'extern "C" ',
    pointer,
    i64: "long long",
    allocate: (name, element, bytes) => [
      `${pointer(element, false)}${name} = nullptr;`,
      `TRY(${prefix}MallocAsync((void **)&${name}, ${bytes}, stream));`,
    ],
    free: (name) => [`if (${name}) (void)${prefix}FreeAsync(${name}, stream);`],
    facts: () => [
      "int device = 0;",
      `TRY(${prefix}GetDevice(&device));`,
      ...attribute("multiprocessors", "cudaDevAttrMultiProcessorCount", "hipDeviceAttributeMultiprocessorCount"),
      ...attribute("cache_bytes", "cudaDevAttrL2CacheSize", "hipDeviceAttributeL2CacheSize"),
    ],
    resident: ({ name }, threads, shared) => [
      "int resident = 1;",
      ...dynamic(name, shared).map((line) => line.trimStart()),
      `TRY(${prefix}OccupancyMaxActiveBlocksPerMultiprocessor(&resident, ${name}, ${threads}, ${shared}));`,
    ],
    launch: ({ name }, { grid, block, shared }, args) => [
      `if (status == ${prefix}Success) {`,
      ...dynamic(name, shared),
      `  const dim3 ${dim3("grid", grid)}, ${dim3("block", block)};`,
      `  ${name}<<<grid, block, ${shared}, stream>>>(${args.map(({ value }) => value).join(", ")});`,
      `  status = ${prefix}GetLastError();`,
      "}",
    ],
    invalid: `${prefix}ErrorInvalidValue`,
    fill: (name, bytes) => [`TRY(${prefix}MemsetAsync(${name}, 0xff, ${bytes}, stream));`],
    read: (host, device, bytes) => [
      `TRY(${prefix}MemcpyAsync(${host}, ${device}, ${bytes}, ${prefix}MemcpyDeviceToHost, stream));`,
      `TRY(${prefix}StreamSynchronize(stream));`,
    ],
  };
}

const unsigned = (count: string): string => (/^\d+$/.test(count) ? count : `(unsigned int)${/^\w+$/.test(count) ? count : `(${count})`}`);
