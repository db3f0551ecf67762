import { unreachable } from "../../base/unreachable.js";
import { ELEMENTS } from "../../ir/scalars.js";
import { orderMatters } from "../../ir/identity.js";
import { REDUCTION_CHUNK, REDUCTION_LANES } from "../../ir/types.js";
import { FINISH_LIMIT, FOLDING_GROUPS, GRID_LIMIT } from "../../schedule/constants.js";
import { Code } from "../c/code.js";
import { indent } from "../js/lines.js";
import { emitWgsl } from "../wgsl/kernel.js";
import { WORKGROUP_ROW } from "../wgsl/range.js";
import {
  groupsApart,
  layOutBlock,
  representationOf,
  TEMPORARY,
  WORKGROUP,
  type ShaderEntry,
  type ScatterCode,
  type WgslProgram,
} from "../wgsl/shader-program.js";
import { Names } from "../../base/names.js";
import { slotText, type SignatureSlot, type WgslSlot } from "../../schedule/slots.js";
import { commentText, keyText, stringText } from "../text.js";
import { refuseF64 } from "./refuse-f64.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { argumentFor, argumentGroups, asProperties, launchArguments, writeComment, type Argument } from "./signature.js";

/** Chunks that one workgroup folds in a step. */
const CHUNKS_PER_GROUP = WORKGROUP / REDUCTION_LANES;

/** WGSL, one file for each shader, and a host in JavaScript. Throws EmitError for f64, which WGSL lacks. */
export function emitWgslFiles(request: EmitRequest): EmittedFile[] {
  const { ir, access, stem, precision, unitStrides } = request;
  refuseF64(ir, "wgsl", "WGSL");
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const strict = precision === "strict";
  const scatters = arrays.filter((p) => p.kind === "scatter");
  const code: ScatterCode = strict && scatters.some(orderMatters) ? "serial" : "atomic";
  const program = emitWgsl(ir, access, {
    strict,
    sizes: "small",
    inChunks: strict,
    unitStrides,
    groups: groupsApart(arrays.map(({ name }) => name)),
    representations: [
      ...arrays.map((p) => representationOf(ir, p, p.kind === "scatter" && code === "atomic", access.views[p.name]?.written === true)),
      "words",
    ],
    atStart: Object.fromEntries(arrays.map(({ name }) => [name, true])),
    partials: false,
    scatter: Object.fromEntries(scatters.map(({ name }) => [name, code])),
    copies: {},
    members: ir.policy.kind === "team" && code === "serial" && scatters.length > 0 ? 1 : WORKGROUP,
  });
  const shaders = shadersOf(stem, program);
  return [
    ...shaders.map(({ file, entry }) => ({ name: file, text: entry.source })),
    { name: `${stem}.host.mjs`, text: host(request, program, shaders, [...arrays.map(({ name }) => placeText(name)), TEMPORARY.kind]) },
  ];
}

interface Shader {
  readonly key: string;
  readonly file: string;
  readonly entry: ShaderEntry;
}

function shadersOf(stem: string, { main, fold, finish }: WgslProgram): Shader[] {
  const shaders: Shader[] = [{ key: "main", file: `${stem}.wgsl`, entry: main }];
  if (fold) shaders.push({ key: "fold", file: `${stem}.fold.wgsl`, entry: fold });
  if (finish) shaders.push({ key: "finish", file: `${stem}.finish.wgsl`, entry: finish });
  return shaders;
}

function host(request: EmitRequest, program: WgslProgram, shaders: readonly Shader[], places: readonly string[]): string {
  const { ir, stem } = request;
  const { reduces } = program;
  const args = asProperties(launchArguments(request, new Names())).filter(({ slot }) => slot.kind !== "result");
  const code = new Code();
  code.line(`// Launches kernel "${commentText(ir.name)}" of ${shaders.map(({ file }) => file).join(", ")}, written by isoform.`);
  code.line("// In browsers with navigator.gpu, and in Node with the package webgpu.").line();
  code.block("const SHADERS =", () => shaders.forEach((shader) => code.line(shaderLine(shader, places))), ";");
  code
    .line()
    .text(COMPILE.replaceAll("NAME", stem).replace("FILES", shaders.map(({ key, file }) => `${key}: the text of ${file}`).join(", ")))
    .line();
  writeComment(code, request, args, [
    "Arrays are GPUBuffers with the usage STORAGE that begin with element 0.",
    reduces.length > 0
      ? `Gives { ${reduces.map(({ name }) => commentText(name)).join(", ")} } once the device is done.`
      : "Resolves once the kernel is submitted.",
  ]);
  code.line(`export async function ${stem}_launch(device, pipelines, {`);
  code.indented(() =>
    argumentGroups(args).forEach((group) => code.line(`${group.map(({ key, name }) => `${keyText(key)}: ${name}`).join(", ")},`)),
  );
  code.block("})", () => launchLines(request, program, args).forEach((line) => code.line(line)));
  return code.toString();
}

/** A view in the host's table of arrays, which has the launch's own memory too. */
const placeText = (view: string): string => `view:${view}`;

function shaderLine({ key, entry }: Shader, places: readonly string[]): string {
  const { offsets, size } = layOutBlock(entry.fields);
  const fields = entry.fields.map(
    ({ slot, type }, n) => `[${stringText(fieldText(slot))}, "${type === "bool" ? "setUint32" : ELEMENTS[type].set}", ${offsets[n]}]`,
  );
  const buffers = entry.buffers.map(
    ({ group, written }) => `[${stringText(places[group])}, "${written ? "storage" : "read-only-storage"}"]`,
  );
  return `${key}: { bytes: ${entry.fields.length > 0 ? size : 0}, fields: [${fields.join(", ")}], buffers: [${buffers.join(", ")}] },`;
}

/** The member of the host's `values` with the number for a slot. */
function fieldText(slot: WgslSlot): string {
  switch (slot.kind) {
    case "scalar":
    case "extent":
    case "stride":
    case "begin":
    case "count":
    case "chunks":
    case "chunksPerLine":
    case "firstTeam":
    case "league":
    case "partials":
    case "folded":
    case "results":
    case "zero":
      return slotText(slot);
    case "partialCount":
      return "count";
    case "elements":
    case "segment":
    case "size":
    case "slots":
    case "keys":
    case "values":
    case "contributionCount":
    case "sortedKeys":
    case "sortedOrder":
    case "output":
    case "base":
    case "one":
      throw new Error(`emitted files have no "${slotText(slot)}"`);
    default:
      return unreachable(slot);
  }
}

const COMPILE = `/* Compiles the shaders on a GPUDevice, given { FILES }. */
export async function NAME_compile(device, texts) {
  const pipelines = {};
  for (const [name, { bytes, buffers }] of Object.entries(SHADERS)) {
    const uniform = bytes > 0 ? [{ binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type: "uniform" } }] : [];
    const storage = buffers.map(([, type], n) => ({ binding: n + 1, visibility: GPUShaderStage.COMPUTE, buffer: { type } }));
    const layout = device.createPipelineLayout({ bindGroupLayouts: [device.createBindGroupLayout({ entries: [...uniform, ...storage] })] });
    const module = device.createShaderModule({ code: texts[name] });
    pipelines[name] = await device.createComputePipelineAsync({ layout, compute: { module } });
  }
  return pipelines;
}`;

const DISPATCH = `// Each dispatch has a block of numbers of its own.
const dispatch = (name, groups) => {
  const { bytes, fields, buffers } = SHADERS[name];
  const entries = buffers.map(([array], n) => ({ binding: n + 1, resource: { buffer: arrays[array] } }));
  if (bytes > 0) {
    const uniforms = device.createBuffer({ size: bytes, usage: GPUBufferUsage.UNIFORM, mappedAtCreation: true });
    const block = new DataView(uniforms.getMappedRange());
    for (const [field, set, at] of fields) block[set](at, Number(values[field]), true);
    uniforms.unmap();
    entries.push({ binding: 0, resource: { buffer: uniforms } });
  }
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipelines[name]);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipelines[name].getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(...groups);
  pass.end();
};`;

function launchLines(request: EmitRequest, program: WgslProgram, args: readonly Argument[]): string[] {
  const { ir } = request;
  const { reduces } = program;
  const rank = ir.policy.kind === "range" ? ir.policy.rank : 0;
  const name = (slot: SignatureSlot): string => argumentFor(args, slot).name;
  const member = (key: string, value: string): string => `${keyText(key)}: ${value}`;
  const counts = Array.from({ length: rank }, (_, axis) => `${name({ kind: "end", axis })} - ${name({ kind: "begin", axis })}`);
  const values = args.filter(({ slot }) => isField(slot)).map(({ slot, name }) => member(slotText(slot), name));
  const arrays = args.flatMap(({ slot, name }) => (slot.kind === "view" ? [member(placeText(slot.name), name)] : []));
  const inChunks = program.traversal === "chunks" || program.traversal === "serial";
  const groups =
    rank === 0
      ? teamGroups(name({ kind: "league" }))
      : inChunks
        ? chunkGroups(rank, program.traversal === "serial")
        : gridGroups(rank, program.traversal);
  const partials =
    rank === 0 ? name({ kind: "league" }) : inChunks ? "chunks" : "count.every((n) => n > 0) ? groups[0] * groups[1] * groups[2] : 0";
  return [
    `const values = { zero: 0, firstTeam: 0, ${values.join(", ")} };`,
    ...(rank > 0 ? [`const count = [${counts.join(", ")}];`, "count.forEach((n, axis) => (values[`count:${axis}`] = n));"] : []),
    ...groups,
    ...(reduces.length > 0 ? temporaryLines(program, partials) : [`const arrays = { ${arrays.join(", ")} };`]),
    ...(reduces.length > 0 ? [`const arrays = { ${[...arrays, `"${TEMPORARY.kind}": temporary`].join(", ")} };`] : []),
    "const encoder = device.createCommandEncoder();",
    ...DISPATCH.split("\n"),
    rank === 0
      ? `if (${name({ kind: "league" })} > 0) dispatch("main", groups);`
      : 'if (count.every((n) => n > 0)) dispatch("main", groups);',
    ...(reduces.length > 0 ? foldLines(program) : ["device.queue.submit([encoder.finish()]);"]),
  ];
}

/** Shaders take it from their block of numbers. */
function isField({ kind }: SignatureSlot): boolean {
  switch (kind) {
    case "scalar":
    case "extent":
    case "stride":
    case "begin":
    case "league":
      return true;
    case "view":
    case "end":
    case "result":
      return false;
    default:
      return unreachable(kind);
  }
}

const teamGroups = (league: string): string[] => [`const groups = [Math.min(${league}, ${GRID_LIMIT}), 1, 1];`];

function chunkGroups(rank: number, serial: boolean): string[] {
  const groups = serial ? "[1, 1, 1]" : `linear(Math.ceil(chunks / ${CHUNKS_PER_GROUP}))`;
  return [
    `const linear = (n) => [Math.max(1, Math.min(n, ${GRID_LIMIT})), Math.max(1, Math.ceil(n / ${GRID_LIMIT})), 1];`,
    `values.chunksPerLine = Math.ceil(count[${rank - 1}] / ${REDUCTION_CHUNK});`,
    "const chunks = count.every((n) => n > 0) ? count.slice(0, -1).reduce((a, b) => a * b, values.chunksPerLine) : 0;",
    "values.chunks = chunks;",
    `const groups = ${groups};`,
  ];
}

/** Workgroups along x take the last axis; where they are fewer than the elements need, they stride. */
function gridGroups(rank: number, traversal: WgslProgram["traversal"]): string[] {
  const needed = [
    `Math.ceil(count[${rank - 1}] / ${rank === 1 ? WORKGROUP : WORKGROUP_ROW})`,
    rank > 1 ? `Math.ceil(count[${rank - 2}] / ${WORKGROUP / WORKGROUP_ROW})` : "1",
    rank > 2 ? Array.from({ length: rank - 2 }, (_, axis) => `count[${axis}]`).join(" * ") : "1",
  ];
  return [
    `let left = ${traversal === "strided" ? FOLDING_GROUPS : "Infinity"};`,
    `const groups = [${needed.join(", ")}].map((needed) => {`,
    `  const taken = Math.max(1, Math.min(needed, left, ${GRID_LIMIT}));`,
    "  left = Math.floor(left / taken);",
    "  return taken;",
    "});",
  ];
}

/** Memory for results, partials and their folds, in words of 4 bytes. */
function temporaryLines({ reduces }: WgslProgram, partials: string): string[] {
  return [
    `let partials = ${partials};`,
    "let words = 0;",
    "const reserve = (n) => (words += Math.ceil(n / 64) * 64) - Math.ceil(n / 64) * 64;",
    `values.results = reserve(${2 * reduces.length});`,
    ...reduces.flatMap(({ name }) => [
      `values[${stringText(`partials:${name}`)}] = reserve(Math.max(1, partials));`,
      `values[${stringText(`folded:${name}`)}] = reserve(Math.ceil(partials / ${REDUCTION_CHUNK}) + 1);`,
    ]),
    "const temporary = device.createBuffer({ size: 4 * words, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });",
  ];
}

function foldLines({ reduces }: WgslProgram): string[] {
  const names = `[${reduces.map(({ name }) => stringText(name)).join(", ")}]`;
  const bytes = 8 * reduces.length;
  const perGroup = REDUCTION_CHUNK * CHUNKS_PER_GROUP;
  const getters = { f64: "getFloat64", f32: "getFloat32", i32: "getInt32", u32: "getUint32" };
  const results = reduces.map((r, n) => `${keyText(r.name)}: data.${getters[r.type]}(${8 * n}, true)`);
  return [
    `for (; partials > ${FINISH_LIMIT}; partials = Math.ceil(partials / ${REDUCTION_CHUNK})) {`,
    ...indent([
      "values.count = partials;",
      `const groups = Math.ceil(partials / ${perGroup});`,
      `dispatch("fold", [Math.min(groups, ${GRID_LIMIT}), Math.ceil(groups / ${GRID_LIMIT}), 1]);`,
      `for (const name of ${names})`,
      "  [values[`partials:${name}`], values[`folded:${name}`]] = [values[`folded:${name}`], values[`partials:${name}`]];",
    ]),
    "}",
    "values.count = partials;",
    'dispatch("finish", [1, 1, 1]);',
    `const read = device.createBuffer({ size: ${bytes}, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });`,
    `encoder.copyBufferToBuffer(temporary, 4 * values.results, read, 0, ${bytes});`,
    "device.queue.submit([encoder.finish()]);",
    "await read.mapAsync(GPUMapMode.READ);",
    "const data = new DataView(read.getMappedRange().slice(0));",
    "read.destroy();",
    "temporary.destroy();",
    `return { ${results.join(", ")} };`,
  ];
}
