import { metalDialect } from "../c/metal/dialect.js";
import { commentText } from "../text.js";
import { writeGpuHost, type GpuApi, type HostArgument } from "./gpu-host.js";
import { gpuProgram } from "./gpu-program.js";
import { refuseF64 } from "./refuse-f64.js";
import type { EmitRequest, EmittedFile } from "./request.js";

/** Threads that a GPU core holds, GPU cores and bytes of the last cache, about: Metal tells none of them. */
const GUESSES = { resident: 1024, cores: 16, cache: 8 << 20 };

/** Metal's shading language, and a host in C++ by metal-cpp. Throws EmitError for f64, which Metal lacks. */
export function emitMetalFiles(request: EmitRequest): EmittedFile[] {
  const { ir, stem, precision } = request;
  refuseF64(ir, "metal", "Metal");
  const strict = precision === "strict";
  const dialect = metalDialect(true, strict);
  const program = gpuProgram(request, dialect, { sorts: false, lanes: 1 });
  const head = [
    `// Launches kernel "${commentText(ir.name)}" of ${stem}.metal, written by isoform.`,
    `// xcrun metal -O2${strict ? " -fno-fast-math" : ""} ${stem}.metal -o ${stem}.metallib`,
    `// clang++ -std=c++17 -O2 -c ${stem}.host.cpp   (with metal-cpp; link with -framework Metal -framework Foundation)`,
    "#include <Metal/Metal.hpp>",
    "#include <cstdint>",
    "#include <cstring>",
    "",
    DISPATCH,
  ];
  return [
    { name: `${stem}.metal`, text: program.source },
    { name: `${stem}.host.cpp`, text: `${head.join("\n")}\n${writeGpuHost(request, program, dialect, API)}` },
  ];
}

const DISPATCH = `/* Runs an entry of the library; its numbers follow its arrays. Gives 0, or -1 where the entry is missing or the GPU takes no more. */
static int dispatch(MTL::CommandQueue *queue, MTL::Library *library, const char *name, MTL::Buffer *const *arrays, int count,
                    const void *numbers, size_t bytes, MTL::Size grid, MTL::Size block, size_t shared) {
  NS::Error *error = nullptr;
  MTL::Function *function = library->newFunction(NS::String::string(name, NS::UTF8StringEncoding));
  MTL::ComputePipelineState *pipeline = function ? queue->device()->newComputePipelineState(function, &error) : nullptr;
  MTL::CommandBuffer *commands = pipeline ? queue->commandBuffer() : nullptr;
  if (commands) {
    MTL::ComputeCommandEncoder *encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline);
    for (int n = 0; n < count; n++) encoder->setBuffer(arrays[n], 0, n);
    if (bytes > 0) encoder->setBytes(numbers, bytes, count);
    if (shared > 0) encoder->setThreadgroupMemoryLength(shared, 0);
    encoder->dispatchThreadgroups(grid, block);
    encoder->endEncoding();
    commands->commit();
  }
  if (pipeline) pipeline->release();
  if (function) function->release();
  return commands ? 0 : -1;
}
`;

const API: GpuApi = {
  status: "int",
  success: "0",
  queue: ["MTL::CommandQueue *queue", "MTL::Library *library"],
  linkage: "",
  pointer: () => "MTL::Buffer *",
  i64: "int64_t",
  allocate: (name, _element, bytes) => [
    `MTL::Buffer *${name} = status == 0 ? queue->device()->newBuffer(${bytes}, MTL::ResourceStorageModeShared) : nullptr;`,
    `if (!${name}) status = -1;`,
  ],
  free: (name) => [`if (${name}) ${name}->release();`],
  facts: () => [
    "// Metal does not tell these.",
    `const int multiprocessors = ${GUESSES.cores};`,
    `const int64_t cache_bytes = ${GUESSES.cache};`,
  ],
  resident: (_entry, threads) => [`const int resident = ${Math.max(1, GUESSES.resident / threads)};`],
  launch: (entry, { grid, block, shared }, args) => [
    "if (status == 0) {",
    ...arrayLines(args),
    ...numberLines(args),
    `  status = dispatch(queue, library, "${entry.name}", arrays, ${arraysOf(args).length}, ${numbersOf(args).length > 0 ? "&numbers, sizeof numbers" : "nullptr, 0"}, MTL::Size(${grid.join(", ")}), MTL::Size(${block.join(", ")}), ${shared});`,
    "}",
  ],
  invalid: "-1",
  fill: () => {
    throw new Error("sorted contributions are not written for Metal");
  },
  read: (host, device, bytes) => [
    "if (status == 0) {",
    "  MTL::CommandBuffer *last = queue->commandBuffer();",
    "  last->commit();",
    "  last->waitUntilCompleted();",
    "  if (last->status() == MTL::CommandBufferStatusError) status = -1;",
    `  else memcpy(${host}, ${device}->contents(), ${bytes});`,
    "}",
  ],
};

const arraysOf = (args: readonly HostArgument[]) => args.filter(({ param: { type } }) => type === "pointer");
const numbersOf = (args: readonly HostArgument[]) => args.filter(({ param: { type } }) => type !== "pointer" && type !== "shared");

const arrayLines = (args: readonly HostArgument[]): string[] => [
  `  MTL::Buffer *const arrays[] = {${arraysOf(args)
    .map(({ value }) => value)
    .join(", ")}};`,
];

const FIELDS = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  u64: "uint64_t",
  long: "int64_t",
  bool: "uint8_t",
  pointer: "",
  shared: "",
};

/** The numbers of a launch, as the entry's struct has them. */
function numberLines(args: readonly HostArgument[]): string[] {
  const numbers = numbersOf(args);
  if (numbers.length === 0) return [];
  const fields = numbers.map(({ param: { type } }, n) => `${FIELDS[type]} n${n};`);
  const values = numbers.map(({ param: { type }, value }) => `(${FIELDS[type]})(${value})`);
  return [`  const struct { ${fields.join(" ")} } numbers = {${values.join(", ")}};`];
}
