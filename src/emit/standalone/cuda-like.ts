import { prints } from "../../ir/print-records.js";
import type { ElementType } from "../../ir/types.js";
import type { GpuLanguage } from "../../schedule/program.js";
import type { GpuDialect } from "../c/gpu/dialect.js";
import { writeGpuHost, type GpuApi, type HostShape } from "./gpu-host.js";
import { deviceSource, gpuProgram } from "./gpu-program.js";
import type { EmitRequest, EmittedFile } from "./request.js";

const TYPES: Record<ElementType | "long", string> = {
  f64: "double",
  f32: "float",
  i32: "int",
  u32: "unsigned int",
  u8: "unsigned char",
  i8: "signed char",
  u16: "unsigned short",
  i16: "short",
  f16: "unsigned short",
  bf16: "unsigned short",
  i64: "long long",
  u64: "unsigned long long",
  long: "long long",
};

/** Bytes of shared memory that a kernel may have without asking. */
const UNASKED_SHARED = 48 << 10;

/** Bytes that a pool keeps of what launches have freed. */
const KEPT = 64 << 20;

/**
 * Lines before a launch function with memory for itself. The pool that a device has by default gives back what was freed at each wait, and each launch
 * with results waits.
 */
const allocator = (prefix: "cuda" | "hip", name: string, linkage: string): string[] => [
  "// Memory of launches, from a pool that keeps some when they end. It is good until the device is reset.",
  `${linkage} ${prefix}Error_t ${name}(void **address, size_t bytes, ${prefix}Stream_t stream)`,
  "{",
  "  static std::mutex one_at_a_time;",
  `  static std::map<int, ${prefix}MemPool_t> pools;`,
  "  const std::lock_guard<std::mutex> lock(one_at_a_time);",
  `  ${prefix}Error_t status = ${prefix}Success;`,
  "  int device = 0;",
  `  TRY(${prefix}GetDevice(&device));`,
  `  if (status == ${prefix}Success && pools.count(device) == 0) {`,
  `    ${prefix}MemPoolProps properties = {};`,
  `    properties.allocType = ${prefix}MemAllocationTypePinned;`,
  `    properties.location.type = ${prefix}MemLocationTypeDevice;`,
  "    properties.location.id = device;",
  `    ${prefix}MemPool_t pool = nullptr;`,
  `    TRY(${prefix}MemPoolCreate(&pool, &properties));`,
  `    uint64_t kept = ${KEPT};`,
  `    TRY(${prefix}MemPoolSetAttribute(pool, ${prefix}MemPoolAttrReleaseThreshold, &kept));`,
  `    if (status == ${prefix}Success) pools[device] = pool;`,
  "  }",
  `  TRY(${prefix}MallocFromPoolAsync(address, bytes, pools[device], stream));`,
  "  return status;",
  "}",
  "",
];

/** The run-time interface of CUDA, or of HIP, which has the same functions under other names. */
function cudaLike(prefix: "cuda" | "hip", allocate: string, beside: boolean): GpuApi {
  const pointer = (element: ElementType | "long", constant: boolean): string => `${constant ? "const " : ""}${TYPES[element]} *`;
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
    linkage: beside ? "static " : 'extern "C" ',
    ...(beside && { isPlain: true }),
    pointer,
    i64: "long long",
    allocate: (name, element, bytes) => [
      `${pointer(element, false)}${name} = nullptr;`,
      `TRY(${allocate}((void **)&${name}, ${bytes}, stream));`,
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

/** CUDA, or HIP, which has the same functions under other names. */
export interface CudaLike {
  readonly prefix: "cuda" | "hip";
  readonly dialect: GpuDialect;
  readonly language: GpuLanguage;
  /** Declares the functions of its run-time system. */
  readonly header: string;
  /** End of its files' names. */
  readonly end: string;
  /** Words that compile a file. */
  command(precision: EmitRequest["precision"]): string;
}

/** Lines before kernels: all includes, and functions that launches use. `allocates`: the name of a function for memory, if they need one. */
export function cudaLikeHead({ prefix, header }: CudaLike, allocates: string | undefined, prints: boolean, linkage = "static"): string[] {
  return [
    "#include <cstdint>",
    ...(prints ? ["#include <cstdio>"] : []),
    "#include <cstring>",
    ...(allocates ? ["#include <map>", "#include <mutex>"] : []),
    `#include <${header}>`,
    "",
    "// Does nothing once a call has failed.",
    `#define TRY(call) if (status == ${prefix}Success) status = (call)`,
    "",
    ...(allocates ? allocator(prefix, allocates, linkage) : []),
  ];
}

/** A kernel and the function that launches it, without the lines before. `allocate` is the function for memory, and `beside` says that the caller stands beside it. */
export function cudaLikeKernel(
  { prefix, dialect, language }: CudaLike,
  request: EmitRequest,
  allocate: string,
  beside = false,
): { readonly text: string; readonly allocates: boolean } {
  const program = gpuProgram(request, dialect);
  const host = writeGpuHost(request, program, dialect, cudaLike(prefix, allocate, beside));
  return {
    text: `${deviceSource(request, program, language)}\n${host}`,
    allocates: program.reduces.length > 0 || program.sorted.length > 0,
  };
}

/** A file for the compiler of one of them. */
export function cudaLikeFile(like: CudaLike, request: EmitRequest): EmittedFile[] {
  const name = `${request.stem}${like.end}`;
  const allocate = `${request.stem}_allocate`;
  const { text, allocates } = cudaLikeKernel(like, request, allocate);
  const head = [
    `// ${like.command(request.precision)} -c ${name}`,
    ...cudaLikeHead(like, allocates ? allocate : undefined, prints(request.ir.body)),
  ];
  return [{ name, text: `${head.join("\n")}\n${text}` }];
}

const unsigned = (count: string): string => (/^\d+$/.test(count) ? count : `(unsigned int)${/^\w+$/.test(count) ? count : `(${count})`}`);
