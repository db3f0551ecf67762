import type { ElementType } from "../../ir/types.js";
import { openclLanguage } from "../c/opencl.js";
import { openclDialect, type OpenclFeatures } from "../c/opencl/dialect.js";
import type { ParamType } from "../../schedule/program.js";
import { writeGpuHost, type GpuApi, type HostArgument, type HostShape } from "./gpu-host.js";
import { deviceSource, gpuProgram } from "./gpu-program.js";
import { commentText } from "../text.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** Work-items that a compute unit holds, about; OpenCL does not tell. */
const RESIDENT = 2048;

/** Features assumed of a device; they do not matter to kernels that do not use them. */
const FEATURES: OpenclFeatures = { f64: true, atomics64: true, exactF32: true, subGroups: false };

/** OpenCL C, and a host in C. */
export function emitOpenclFiles(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  const strict = precision === "strict";
  const dialect = openclDialect({ wide: true, strict }, FEATURES);
  const program = gpuProgram(request, dialect);
  const launch = writeGpuHost(request, program, dialect, API);
  const used = (["mem", "f64", "f32", "i32", "u32", "i64", "u64", "bool"] as const).filter((type) => launch.includes(`set_${type}(`));
  const host = [
    `// Launches kernel "${commentText(ir.name)}" of ${stem}.cl, written by isoform.`,
    `// gcc -O2 -c ${stem}.host.c   (link with -lOpenCL)`,
    "#define CL_TARGET_OPENCL_VERSION 120",
    "#include <CL/cl.h>",
    "#include <stdbool.h>",
    "#include <stdint.h>",
    "#include <stdio.h>",
    "#include <stdlib.h>",
    "#include <string.h>",
    "",
    "// Does nothing once a call has failed.",
    "#define TRY(call) if (status == CL_SUCCESS) status = (call)",
    "",
    ...used.map(
      (type) =>
        `static cl_int set_${type}(cl_kernel kernel, cl_uint n, ${SETTERS[type]} value) { return clSetKernelArg(kernel, n, sizeof value, &value); }`,
    ),
    "",
    buildFunction(stem, strict),
  ];
  return [
    { name: `${stem}.cl`, text: deviceSource(request, program, openclLanguage(FEATURES)) },
    { name: `${stem}.host.c`, text: `${host.join("\n")}\n${launch}` },
  ];
}

const SETTERS = {
  mem: "cl_mem",
  f64: "cl_double",
  f32: "cl_float",
  i32: "cl_int",
  u32: "cl_uint",
  i64: "cl_long",
  u64: "cl_ulong",
  bool: "cl_uchar",
};

function buildFunction(stem: string, strict: boolean): string {
  const options = strict ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2 -cl-mad-enable";
  return `/*
 * Compiles the kernels in the file at \`path\`, which is ${stem}.cl. Messages of the compiler go to stderr.
 * Returns NULL on failure, with the reason in *status.
 */
cl_program ${stem}_build(cl_context context, cl_device_id device, const char *path, cl_int *status) {
  FILE *file = fopen(path, "rb");
  if (!file) { *status = CL_INVALID_VALUE; return NULL; }
  fseek(file, 0, SEEK_END);
  const size_t length = (size_t)ftell(file);
  rewind(file);
  char *source = malloc(length + 1);
  const size_t got = source ? fread(source, 1, length, file) : 0;
  fclose(file);
  cl_program program = NULL;
  *status = source && got == length ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  if (*status == CL_SUCCESS) program = clCreateProgramWithSource(context, 1, (const char **)&source, &length, status);
  free(source);
  if (*status != CL_SUCCESS) return NULL;
  *status = clBuildProgram(program, 1, &device, "${options}", NULL, NULL);
  if (*status == CL_SUCCESS) return program;
  char log[4096] = "";
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "%s\\n", log);
  clReleaseProgram(program);
  return NULL;
}
`;
}

const API: GpuApi = {
  status: "cl_int",
  success: "CL_SUCCESS",
  queue: ["cl_command_queue queue", "cl_program program"],
  linkage: "",
  pointer: (_element: ElementType | "long", _constant: boolean) => "cl_mem ",
  i64: "int64_t",
  allocate: (name, _element, bytes) => [
    `cl_mem ${name} = NULL;`,
    "if (status == CL_SUCCESS) {",
    "  cl_context context;",
    "  TRY(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL));",
    `  if (status == CL_SUCCESS) ${name} = clCreateBuffer(context, CL_MEM_READ_WRITE, ${bytes}, NULL, &status);`,
    "}",
  ],
  free: (name) => [`if (${name}) clReleaseMemObject(${name});`],
  facts: () => [
    "cl_device_id device;",
    "cl_uint multiprocessors = 1;",
    "cl_ulong cache_bytes = 1;",
    "TRY(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));",
    "TRY(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof multiprocessors, &multiprocessors, NULL));",
    "TRY(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache_bytes, &cache_bytes, NULL));",
  ],
  resident: (_entry, threads) => [`const int resident = ${Math.max(1, RESIDENT / threads)};`],
  launch: (entry, shape, args) => [
    "if (status == CL_SUCCESS) {",
    `  cl_kernel kernel = clCreateKernel(program, "${entry.name}", &status);`,
    ...setArguments(args, shape).map((line) => `  ${line}`),
    `  const size_t local[3] = {${shape.block.join(", ")}};`,
    `  const size_t global[3] = {${shape.grid.map((blocks, axis) => (blocks === "1" ? `local[${axis}]` : `(size_t)${/^\w+$/.test(blocks) ? blocks : `(${blocks})`} * local[${axis}]`)).join(", ")}};`,
    "  TRY(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL));",
    "  if (kernel) clReleaseKernel(kernel);",
    "}",
  ],
  invalid: "CL_INVALID_VALUE",
  fill: (name, bytes) => [
    "{",
    "  const cl_uint ones = 0xffffffffu;",
    `  TRY(clEnqueueFillBuffer(queue, ${name}, &ones, sizeof ones, 0, ${bytes}, 0, NULL, NULL));`,
    "}",
  ],
  read: (host, device, bytes) => [`TRY(clEnqueueReadBuffer(queue, ${device}, CL_TRUE, 0, ${bytes}, ${host}, 0, NULL, NULL));`],
};

/** A pointer is followed by the offset of its first element. */
function setArguments(args: readonly HostArgument[], { shared }: HostShape): string[] {
  const set = (type: Exclude<ParamType, "pointer" | "shared"> | "mem") => (value: string) => (n: number) =>
    `TRY(set_${type === "long" ? "i64" : type}(kernel, ${n}, ${value}));`;
  return args
    .flatMap(({ param: { type }, value }) =>
      type === "pointer"
        ? [set("mem")(value), set("long")("0")]
        : type === "shared"
          ? [(n: number) => `TRY(clSetKernelArg(kernel, ${n}, ${shared}, NULL));`]
          : [set(type)(value)],
    )
    .map((line, n) => line(n));
}
