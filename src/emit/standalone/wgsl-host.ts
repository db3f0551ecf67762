import { unreachable } from "../../base/unreachable.js";
import { Names } from "../../base/names.js";
import { ELEMENTS } from "../../ir/scalars.js";
import { REDUCTION_LANES, type NumericType } from "../../ir/types.js";
import { GRID_LIMIT } from "../../schedule/constants.js";
import { groupsOverRange, linearGroups, type Axes } from "../../schedule/plan/grids.js";
import { planLaunch, type PlanRules, type RangeBatch } from "../../schedule/plan/launch.js";
import type { MemoryPart, PlanSink, PlannedRun } from "../../schedule/plan/sink.js";
import { slotText, type SignatureSlot, type WgslSlot } from "../../schedule/slots.js";
import { Code } from "../c/code.js";
import { layOutBlock, TEMPORARY, WORKGROUP, type ShaderEntry, type WgslProgram } from "../wgsl/shader-program.js";
import { commentText, keyText, stringText } from "../text.js";
import { JS_SPELLING, NumbersAsText } from "./plan-text.js";
import type { EmitRequest } from "./request.js";
import { argumentFor, argumentGroups, asProperties, launchArguments, writeComment, type Argument } from "./signature.js";

/** Chunks that one workgroup folds in a step. */
const CHUNKS_PER_GROUP = WORKGROUP / REDUCTION_LANES;

/** A shader of the program, and the file in which it is. */
export interface Shader {
  readonly key: string;
  readonly file: string;
  readonly entry: ShaderEntry;
}

/** A host in JavaScript: the shaders' buffers and numbers, a function that compiles them, and the launch function. */
export function writeWgslHost(request: EmitRequest, program: WgslProgram, shaders: readonly Shader[], places: readonly string[]): string {
  const { ir, stem } = request;
  const { reduces } = program;
  const names = new Names();
  const args = asProperties(launchArguments(request, names)).filter(({ slot }) => slot.kind !== "result");
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
  code.block("})", () => new HostWriter(request, program, args, names, code).write());
  return code.toString();
}

/** A view in the host's table of arrays, which has the launch's own memory too. */
export const placeText = (view: string): string => `view:${view}`;

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

/** Slots whose numbers emitted hosts have. */
const HAS: Readonly<Record<WgslSlot["kind"], boolean>> = {
  scalar: true,
  extent: true,
  stride: true,
  begin: true,
  count: true,
  chunks: true,
  chunksPerLine: true,
  firstTeam: true,
  league: true,
  partials: true,
  folded: true,
  results: true,
  partialCount: true,
  zero: true,
  elements: false,
  segment: false,
  size: false,
  slots: false,
  keys: false,
  values: false,
  contributionCount: false,
  sortedKeys: false,
  sortedOrder: false,
  output: false,
  base: false,
  one: false,
};

/** The member of the host's `values` with the number for a slot. */
function fieldText(slot: WgslSlot): string {
  if (!HAS[slot.kind]) throw new Error(`emitted files have no "${slotText(slot)}"`);
  return slotText(slot);
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

/** The range of a launch function, which runs in one piece. */
type Whole = RangeBatch<string>;

/** Writes the body of the launch function as its plan is made: a number is an expression. */
class HostWriter implements PlanSink<string, ShaderEntry, Axes<string>, Whole> {
  readonly on: NumbersAsText;
  /** Memory of the launch itself has been made, and arrays and commands may follow. */
  private isOpen = false;

  constructor(
    private readonly request: EmitRequest,
    private readonly program: WgslProgram,
    private readonly args: readonly Argument[],
    names: Names,
    private readonly code: Code,
  ) {
    this.on = new NumbersAsText(JS_SPELLING, code, (wish) => names.fresh(wish));
  }

  write(): void {
    const { code, args, program, request } = this;
    const { policy } = request.ir;
    const given = args.filter(({ slot }) => isField(slot)).map(({ slot, name }) => member(slotText(slot), name));
    code.line(`const values = { zero: 0, ${given.join(", ")} };`);
    if (program.reduces.length > 0) {
      code.line("let words = 0;");
      code.line("const reserve = (n) => (words += Math.ceil(n / 64) * 64) - Math.ceil(n / 64) * 64;");
    }
    const extents = policy.kind === "team" ? [] : Array.from({ length: policy.rank }, (_, axis) => this.extent(axis));
    const league = policy.kind === "team" ? this.argument({ kind: "league" }) : "0";
    const launch = { extents, league, rows: league, folds: true, sizeOf: unsorted };
    planLaunch(this, launch, { program, serial: program.traversal === "serial", abreast: 1, slots: {} }, this.rules(extents, league));
    if (program.reduces.length > 0) this.readResults();
    else code.line("device.queue.submit([encoder.finish()]);");
  }

  private argument(slot: SignatureSlot): string {
    return argumentFor(this.args, slot).name;
  }

  private extent(axis: number): string {
    const name = this.on.keep(
      `count_${axis}`,
      `Math.max(0, ${this.argument({ kind: "end", axis })} - ${this.argument({ kind: "begin", axis })})`,
    );
    this.code.line(`values[${stringText(slotText({ kind: "count", axis }))}] = ${name};`);
    return name;
  }

  private rules(extents: readonly string[], league: string): PlanRules<string, Axes<string>, Whole> {
    const { on, program } = this;
    const overItems = (size: number) => (count: string) => linearGroups(on, on.ceil(count, on.of(size)), GRID_LIMIT);
    return {
      sortTile: 1,
      sortDigits: 1,
      batches: () => [{ extents }],
      teamBatches: () => [{ first: "0", size: league }],
      overElements: () => {
        const { workgroup } = program.main;
        const grid = groupsOverRange(on, { folding: program.traversal === "strided", limit: GRID_LIMIT, workgroup }, extents);
        return { grid, blocks: on.product(...grid), numbers: {} };
      },
      overChunks: overItems(CHUNKS_PER_GROUP),
      overPartials: overItems(CHUNKS_PER_GROUP),
      overTeams: (teams, rows) => [on.least(on.least(teams, rows), on.of(GRID_LIMIT)), "1", "1"],
      overItems: overItems(WORKGROUP),
      last: ["1", "1", "1"],
      serial: ["1", "1", "1"],
    };
  }

  /* The plan, as it is made. */

  want(part: MemoryPart, _type: NumericType, count: string): void {
    const words = part.kind === "results" ? this.on.product("2", count) : count;
    this.code.line(`values[${stringText(slotText(part))}] = reserve(${words});`);
  }

  /** Makes the launch's own memory, which is all wanted by now, and what dispatches work with. */
  private open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    const { code, args, program } = this;
    const arrays = args.flatMap(({ slot, name }) => (slot.kind === "view" ? [member(placeText(slot.name), name)] : []));
    if (program.reduces.length > 0) {
      code.line("const temporary = device.createBuffer({ size: 4 * words, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });");
      arrays.push(member(TEMPORARY.kind, "temporary"));
    }
    code.line(`const arrays = { ${arrays.join(", ")} };`);
    code.line("const encoder = device.createCommandEncoder();");
    code.text(DISPATCH);
  }

  run(entry: ShaderEntry, grid: Axes<string>, { numbers }: PlannedRun<string, Whole>): void {
    this.open();
    const { main, fold } = this.program;
    for (const [kind, value] of Object.entries(numbers)) this.code.line(`values.${kind} = ${value};`);
    this.code.line(`dispatch("${entry === main ? "main" : entry === fold ? "fold" : "finish"}", [${grid.join(", ")}]);`);
  }

  when(count: string, make: () => void): void {
    this.open();
    this.code.block(`if (${count} > 0)`, make);
  }

  whileAbove(wish: string, start: string, most: number, make: (count: string) => string): string {
    const { code } = this;
    this.open();
    code.line(`let ${wish} = ${start};`);
    code.block(`while (${wish} > ${most})`, () => code.line(`${wish} = ${make(wish)};`));
    return wish;
  }

  swap(): void {
    for (const { name } of this.program.reduces) {
      const [partials, folded] = (["partials", "folded"] as const).map((kind) => `values[${stringText(slotText({ kind, name }))}]`);
      this.code.line(`[${partials}, ${folded}] = [${folded}, ${partials}];`);
    }
  }

  clear(): never {
    return unsorted();
  }
  sort(): never {
    return unsorted();
  }

  private readResults(): void {
    const { code } = this;
    const { reduces } = this.program;
    const bytes = 8 * reduces.length;
    const getters = { f64: "getFloat64", f32: "getFloat32", i32: "getInt32", u32: "getUint32", i64: "getBigInt64", u64: "getBigUint64" };
    const results = reduces.map(({ name, type }, n) => member(name, `data.${getters[type]}(${8 * n}, true)`));
    for (const line of [
      `const read = device.createBuffer({ size: ${bytes}, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });`,
      `encoder.copyBufferToBuffer(temporary, 4 * values.results, read, 0, ${bytes});`,
      "device.queue.submit([encoder.finish()]);",
      "await read.mapAsync(GPUMapMode.READ);",
      "const data = new DataView(read.getMappedRange().slice(0));",
      "read.destroy();",
      "temporary.destroy();",
      `return { ${results.join(", ")} };`,
    ])
      code.line(line);
  }
}

const member = (key: string, value: string): string => `${keyText(key)}: ${value}`;

function unsorted(): never {
  throw new Error("sorted contributions are not written for WGSL: one invocation makes them in order");
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
