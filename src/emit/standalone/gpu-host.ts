import { unreachable } from "../../base/unreachable.js";
import { contributionsOf } from "../../ir/analysis/contributions.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type ElementType, type ScatterParam } from "../../ir/types.js";
import { FINISH_LIMIT, GRID_LIMIT, TILE_PERCENT } from "../../schedule/constants.js";
import { Code } from "../c/code.js";
import type { GpuDialect } from "../c/gpu/dialect.js";
import type { Entry, GpuProgram, KernelParam, SortedScatter } from "../../schedule/program.js";
import { SORT_BITS, SORT_ENTRIES, SORT_THREADS, SORT_TILE, type SortSlot } from "../c/gpu/sort.js";
import { BLOCK } from "../../schedule/entry.js";
import { Names } from "../../base/names.js";
import { BYTES } from "../../ir/scalars.js";
import { SlotMap, slotText, type AnySlot, type GpuSlot, type SignatureSlot } from "../../schedule/slots.js";
import type { EmitRequest } from "./request.js";
import { INDEX_NAMES, launchArguments, parameterLines, writeComment, type Argument } from "./signature.js";

/** Blocks and threads of a launch, as expressions. */
export interface HostShape {
  readonly grid: readonly [string, string, string];
  readonly block: readonly [string, string, string];
  /** Bytes of dynamic shared memory. */
  readonly shared: number;
}

export interface HostArgument {
  readonly param: KernelParam<AnySlot>;
  readonly value: string;
}

/** How one programming interface spells what a launch function for a GPU does. Each `TRY(call)` is skipped once a call has failed. */
export interface GpuApi {
  /** Type and value of a status, and the argument through which a launch gets its queue and what else it needs. */
  readonly status: string;
  readonly success: string;
  readonly queue: readonly string[];
  /** Before the launch function. */
  readonly linkage: string;
  /** Arrays of the device, as declared without the name. */
  pointer(element: ElementType | "i64", constant: boolean): string;
  /** Spelling of a signed integer of 64 bits. */
  readonly i64: string;
  /** Lines that declare `name` and allocate `bytes`. */
  allocate(name: string, element: ElementType | "i64", bytes: string): string[];
  free(name: string): string[];
  /** Declares `multiprocessors` and `cache_bytes` of the device. */
  facts(): string[];
  /** Declares `resident`: the blocks of `threads` threads that a multiprocessor holds. */
  resident(entry: Entry<AnySlot>, threads: number): string[];
  launch(entry: Entry<AnySlot>, shape: HostShape, args: readonly HostArgument[]): string[];
  /** Status of arguments that are too large. */
  readonly invalid: string;
  /** Lines that set all bits of `bytes` bytes. */
  fill(name: string, bytes: string): string[];
  /** Copies to host memory and waits. */
  read(host: string, device: string, bytes: string): string[];
}

const CHUNKS_PER_BLOCK = BLOCK / REDUCTION_LANES;

/** The launch function of a program. */
export function writeGpuHost(request: EmitRequest, program: GpuProgram, { finishThreads }: GpuDialect, api: GpuApi): string {
  return new HostWriter(request, program, finishThreads, api).text();
}

/** Contributions to one scatter target: names of variables of the launch function. */
interface Contributions extends Readonly<
  Record<"count" | "tiles" | "keys" | "sortedKeys" | "order" | "sortedOrder" | "values" | "counts" | "totals", string>
> {
  readonly scatter: SortedScatter;
}

class HostWriter {
  private readonly code = new Code();
  private readonly names = new Names();
  private readonly args: readonly Argument[];
  /** Expressions for the values of the entries' parameters, and of the function's own arguments. */
  private readonly values = new SlotMap<GpuSlot | SignatureSlot, string>();
  private readonly temporary: string[] = [];

  constructor(
    private readonly request: EmitRequest,
    private readonly program: GpuProgram,
    private readonly finishThreads: number,
    private readonly api: GpuApi,
  ) {
    this.args = launchArguments(request, this.names);
    for (const { slot, name } of this.args) this.values.set(slot, name);
  }

  text(): string {
    const { code, api, request, program } = this;
    const reads = program.reduces.length > 0;
    writeComment(code, request, this.args, [
      "Arrays are in the device's memory, results in the host's.",
      reads ? "Waits for the results." : "Does not wait for the kernel's end.",
      `Returns ${api.success}, or the error of the call that failed.`,
    ]);
    code.line(`${api.linkage}${api.status} ${request.stem}_launch(`);
    code.indented(() => parameterLines(this.args, (arg) => this.declaration(arg), api.queue).forEach((line) => code.line(line)));
    code.line(")");
    code.block("", () => {
      code.line(`${api.status} status = ${api.success};`);
      if (request.ir.policy.kind === "team") this.teams();
      else this.range(request.ir.policy.rank);
      for (const name of this.temporary) this.lines(api.free(name));
      code.line("return status;");
    });
    return code.toString();
  }

  private lines(lines: readonly string[]): void {
    for (const line of lines) this.code.line(line);
  }

  private declaration({ slot, name, type, element, written }: Argument): string {
    if (type === "pointer")
      return slot.kind === "result" ? `${HOST_TYPES[element!]} *${name}` : `${this.api.pointer(element!, !written)}${name}`;
    return `${type === "index" ? this.api.i64 : HOST_TYPES[type]} ${name}`;
  }

  private teams(): void {
    const { program } = this;
    const league = this.values.get({ kind: "league" })!;
    this.allocatePartials(league);
    const members = this.threads();
    const shape: HostShape = { grid: [league, "1", "1"], block: [members, "1", "1"], shared: program.scratchBytes };
    this.values.set({ kind: "firstTeam" }, "0");
    this.main(league, `${league} > 0`, shape);
    this.folds(league);
  }

  private threads(): string {
    return this.program.traversal === "serial" ? "1" : String(this.program.threads);
  }

  private range(rank: number): void {
    const { code, api, program } = this;
    const axes = [...Array(rank).keys()];
    const counts = axes.map((axis) => {
      const name = this.names.fresh(`${INDEX_NAMES[axis]}_count`);
      this.values.set({ kind: "count", axis }, name);
      code.line(`const ${api.i64} ${name} = ${this.values.get({ kind: "end", axis })} - ${this.values.get({ kind: "begin", axis })};`);
      return name;
    });
    const elements = counts.map((count) => `${count} > 0`).join(" && ");
    if (program.traversal === "chunks" || program.traversal === "serial") return this.chunks(counts, elements);
    const strided = program.traversal === "strided";
    const shape = this.gridShape(counts, strided);
    const blocks = shape.grid.filter((count) => count !== "1").join(" * ");
    this.allocatePartials(`(${elements} ? ${blocks} : 0)`);
    this.main(counts.join(" * "), elements, shape);
    if (strided) this.folds(`${elements} ? ${blocks} : 0`);
  }

  private chunks(counts: readonly string[], elements: string): void {
    const { code, api, program } = this;
    const lines = counts.slice(0, -1);
    code.line(`const ${api.i64} chunks_per_line = (${counts.at(-1)} + ${REDUCTION_CHUNK - 1}) / ${REDUCTION_CHUNK};`);
    code.line(`const ${api.i64} chunks = ${elements} ? ${[...lines, "chunks_per_line"].join(" * ")} : 0;`);
    this.values.set({ kind: "chunksPerLine" }, "chunks_per_line").set({ kind: "chunks" }, "chunks");
    this.allocatePartials("chunks");
    const serial = program.traversal === "serial";
    const grid = serial ? "1" : `(chunks + ${CHUNKS_PER_BLOCK - 1}) / ${CHUNKS_PER_BLOCK}`;
    const shape: HostShape = { grid: [grid, "1", "1"], block: [serial ? "1" : String(BLOCK), "1", "1"], shared: 0 };
    this.main(counts.join(" * "), "chunks > 0", shape);
    this.folds("chunks");
  }

  /** Threads along x take the last axis; the shapes are those that Isoform chooses itself. */
  private gridShape(counts: readonly string[], strided: boolean): HostShape {
    const { code, api, program } = this;
    const { threads, row, planes, elements } = program;
    const rank = counts.length;
    const last = counts.at(-1)!;
    if (rank === 1) {
      code.line(`${api.i64} blocks_x = (${last} + ${elements * threads - 1}) / ${elements * threads};`);
      if (strided) this.fit(["blocks_x"]);
      return { grid: ["blocks_x", "1", "1"], block: [String(threads), "1", "1"], shared: 0 };
    }
    code.line(`${api.i64} block_x = 1;`);
    code.line(`while (block_x < ${last} && block_x < ${row}) block_x *= 2;`);
    code.line(`const ${api.i64} block_y = ${threads} / block_x;`);
    const block = ["block_x", "block_y", "1"] as const;
    code.line(`${api.i64} blocks_x = (${last} + block_x - 1) / block_x;`);
    const rows = elements > 1 ? `${elements} * block_y` : "block_y";
    code.line(`${api.i64} blocks_y = (${counts.at(-2)} + ${rows} - 1) / ${elements > 1 ? `(${rows})` : rows};`);
    if (planes > 0) return { grid: this.box(counts), block, shared: 0 };
    const outer = counts.slice(0, -2).join(" * ");
    code.line(`${api.i64} blocks_z = ${outer || "1"};`);
    if (strided) this.fit(["blocks_x", "blocks_y", "blocks_z"]);
    else for (const axis of ["blocks_y", "blocks_z"]) code.line(`if (${axis} > ${GRID_LIMIT}) ${axis} = ${GRID_LIMIT};`);
    return { grid: ["blocks_x", "blocks_y", "blocks_z"], block, shared: 0 };
  }

  /** A strided grid fills the device once. */
  private fit(axes: readonly string[]): void {
    const { code, api } = this;
    this.lines(api.facts());
    this.lines(api.resident(this.program.main, this.program.threads));
    code.line(`${api.i64} left = (${api.i64})resident * multiprocessors;`);
    for (const axis of axes) {
      code.line(`if (${axis} > left) ${axis} = left;`);
      code.line(`if (${axis} > ${GRID_LIMIT}) ${axis} = ${GRID_LIMIT};`);
      code.line(`if (${axis} < 1) ${axis} = 1;`);
      if (axis !== axes.at(-1)) code.line(`left /= ${axis};`);
    }
  }

  /** Blocks in tiles of rows whose planes fit the cache together. */
  private box([depth, rows, columns]: readonly string[]): HostShape["grid"] {
    const { code, api, program, request } = this;
    code.line(`const ${api.i64} row_blocks = blocks_x;`);
    code.line(
      `const ${api.i64} planes = ${depth} > ${program.planes * GRID_LIMIT} ? (${depth} + ${GRID_LIMIT - 1}) / ${GRID_LIMIT} : ${program.planes};`,
    );
    code.line(`const ${api.i64} slabs = (${depth} + planes - 1) / planes;`);
    if (program.planes > 1) {
      this.lines(api.facts());
      code.line("// Blocks work on as many rows of a few planes as the cache holds.");
      code.line(`${api.i64} row_bytes = 1;`);
      for (const param of request.ir.params) {
        if (param.kind !== "view" || param.rank < 3) continue;
        const size = Array.from(
          { length: param.rank },
          (_, axis) => `(${api.i64})${this.values.get({ kind: "extent", name: param.name, axis })}`,
        ).join(" * ");
        code.line(`if (${size} >= ${depth} * ${rows} * ${columns} && ${depth} * ${rows} > 0)`);
        code.indented(() => code.line(`row_bytes += ${BYTES[param.element]} * (${size}) / (${depth} * ${rows});`));
      }
      code.line(`${api.i64} fitting = (${api.i64})cache_bytes * ${TILE_PERCENT} / 100 / (planes * row_bytes * block_y);`);
      code.line("if (fitting < 1) fitting = 1;");
      code.line(`${api.i64} tiles = (blocks_y + fitting - 1) / fitting;`);
      code.line(`if (tiles > ${GRID_LIMIT}) tiles = ${GRID_LIMIT};`);
      code.line("if (tiles < 1) tiles = 1;");
    } else code.line(`const ${api.i64} tiles = 1;`);
    code.line(`const ${api.i64} tile = (blocks_y + tiles - 1) / tiles;`);
    this.values.set({ kind: "rowBlocks" }, "row_blocks").set({ kind: "tile" }, "tile").set({ kind: "planes" }, "planes");
    return ["row_blocks * tile", "slabs", "tiles"];
  }

  /** Memory until the end of the launch; gives its name. */
  private allocate(wish: string, element: ElementType | "i64", bytes: string): string {
    const name = this.names.fresh(wish);
    this.temporary.push(name);
    this.lines(this.api.allocate(name, element, bytes));
    return name;
  }

  private allocatePartials(count: string): void {
    const { program } = this;
    if (program.reduces.length === 0) return;
    const allocate = (slot: GpuSlot, wish: string, element: ElementType | "i64", bytes: string) =>
      this.values.set(slot, this.allocate(wish, element, bytes));
    for (const { name, type } of program.reduces) {
      allocate({ kind: "partials", name }, `${name}_partials`, type, `(${count} + 1) * ${BYTES[type]}`);
      allocate({ kind: "folded", name }, `${name}_folded`, type, `(${count} / ${REDUCTION_CHUNK} + 1) * ${BYTES[type]}`);
    }
    allocate({ kind: "results" }, "results", "i64", `${8 * program.reduces.length}`);
  }

  /** Folds `count` partials to the results, and hands these over. */
  private folds(count: string): void {
    const { code, api, program } = this;
    const { finish, fold, reduces } = program;
    if (!finish || !fold) return;
    code.line(`${api.i64} partial_count = ${count};`);
    this.values.set({ kind: "partialCount" }, "partial_count");
    const perBlock = REDUCTION_CHUNK * CHUNKS_PER_BLOCK;
    code.block(`while (partial_count > ${FINISH_LIMIT})`, () => {
      const grid = `(partial_count + ${perBlock - 1}) / ${perBlock}`;
      this.launch(fold, { grid: [grid, "1", "1"], block: [String(BLOCK), "1", "1"], shared: 0 });
      for (const { name, type } of reduces) {
        const [partials, folded] = [this.values.get({ kind: "partials", name }), this.values.get({ kind: "folded", name })];
        const swap = this.names.fresh("swap");
        code
          .line(`${api.pointer(type, false)}${swap} = ${partials};`)
          .line(`${partials} = ${folded};`)
          .line(`${folded} = ${swap};`);
      }
      code.line(`partial_count = (partial_count + ${REDUCTION_CHUNK - 1}) / ${REDUCTION_CHUNK};`);
    });
    this.launch(finish, { grid: ["1", "1", "1"], block: [String(this.finishThreads), "1", "1"], shared: 0 });
    const [values, results] = [this.names.fresh("values"), this.values.get({ kind: "results" })!];
    code.line(`${api.i64} ${values}[${reduces.length}];`);
    this.lines(api.read(values, results, `sizeof ${values}`));
    code.block(`if (status == ${api.success})`, () =>
      reduces.forEach(({ name, type }, n) =>
        code.line(`memcpy(${this.values.get({ kind: "result", name })}, &${values}[${n}], ${BYTES[type]});`),
      ),
    );
  }

  /** Runs the main entry where there is something to do, and adds what `units` elements or teams have contributed. */
  private main(units: string, needed: string, shape: HostShape): void {
    const { code, api, program } = this;
    const targets = program.sorted.map((scatter) => this.allocateContributions(scatter, units));
    code.block(`if (${needed})`, () => {
      for (const { keys, count } of targets) this.lines(api.fill(keys, `${count} * 4`));
      this.launch(program.main, shape);
      for (const target of targets) this.sort(target);
    });
  }

  /** Memory for what is contributed to one target, and for its sort. */
  private allocateContributions(scatter: SortedScatter, units: string): Contributions {
    const { code, api } = this;
    const { name, type } = scatter;
    const slots = contributionsOf(this.request.ir, name)!;
    const count = this.names.fresh(`${name}_contributions`);
    code.line(`const ${api.i64} ${count} = (${api.i64})${units} * ${slots} > 0 ? (${api.i64})${units} * ${slots} : 0;`);
    code.line(`if (status == ${api.success} && ${count} > 0xffffffffll) status = ${api.invalid};`);
    const tiles = this.names.fresh(`${name}_tiles`);
    code.line(`const ${api.i64} ${tiles} = (${count} + ${SORT_TILE - 1}) / ${SORT_TILE};`);
    const [keys, sortedKeys, order, sortedOrder] = ["keys", "sorted_keys", "order", "sorted_order"].map((part) =>
      this.allocate(`${name}_${part}`, "u32", `(${count} + 1) * 4`),
    );
    const values = this.allocate(`${name}_values`, type, `(${count} + 1) * ${BYTES[type]}`);
    const counts = this.allocate(`${name}_counts`, "u32", `(${tiles} + 1) * ${4 * 2 ** SORT_BITS}`);
    const totals = this.allocate(`${name}_totals`, "u32", String(4 * 2 ** SORT_BITS));
    this.values.set({ kind: "keys", name }, keys).set({ kind: "values", name }, values).set({ kind: "slots", name }, String(slots));
    return { scatter, count, tiles, keys, sortedKeys, order, sortedOrder, values, counts, totals };
  }

  /** Sorts contributions by their targets, some bits at a time, and adds them up in element order. */
  private sort({ scatter, count, tiles, keys, sortedKeys, order, sortedOrder, counts, totals }: Contributions): void {
    const { code, api, request } = this;
    const { name, apply } = scatter;
    const param = request.ir.params.find((p) => p.name === name) as ScatterParam;
    const extents = Array.from({ length: param.rank }, (_, axis) => `(${api.i64})${this.values.get({ kind: "extent", name, axis })}`);
    const [size, shift, from, to, swap] = ["size", "shift", "from", "to", "swap"].map((part) => this.names.fresh(`${name}_${part}`));
    const pointer = api.pointer("u32", false);
    code.line(`const ${api.i64} ${size} = ${extents.join(" * ")};`);
    code.line(`${pointer}${from} = NULL;`).line(`${pointer}${to} = ${sortedOrder};`);
    const one = (grid: string, threads: number): HostShape => ({ grid: [grid, "1", "1"], block: [String(threads), "1", "1"], shared: 0 });
    code.block(`for (int ${shift} = 0; ${shift} == 0 || ${size} >> ${shift} > 0; ${shift} += ${SORT_BITS})`, () => {
      const given: Record<SortSlot["kind"], string> = {
        keys,
        order: from,
        count,
        shift,
        tiles,
        counts,
        totals,
        sortedKeys,
        sortedOrder: to,
      };
      const valueOf = ({ kind }: SortSlot) => given[kind];
      const own = (entry: Entry<SortSlot>): Entry<SortSlot> => ({ ...entry, name: `${request.stem}_${entry.name}` });
      this.launch(own(SORT_ENTRIES.count), one(tiles, SORT_THREADS), valueOf);
      this.launch(own(SORT_ENTRIES.scan), one(String(2 ** SORT_BITS), BLOCK), valueOf);
      this.launch(own(SORT_ENTRIES.move), one(tiles, SORT_THREADS), valueOf);
      code.line(`${pointer}${swap} = ${keys};`).line(`${keys} = ${sortedKeys};`).line(`${sortedKeys} = ${swap};`);
      code.line(`${swap} = ${to};`).line(`${to} = ${from} ? ${from} : ${order};`).line(`${from} = ${swap};`);
    });
    this.values.set({ kind: "sortedKeys", name }, keys).set({ kind: "sortedOrder", name }, from);
    this.values.set({ kind: "contributionCount", name }, count).set({ kind: "size", name }, size);
    this.launch(apply, one(`(${count} + ${BLOCK - 1}) / ${BLOCK}`, BLOCK));
  }

  private launch(entry: Entry, shape: HostShape): void;
  private launch<Slot extends AnySlot>(entry: Entry<Slot>, shape: HostShape, valueOf: (slot: Slot) => string): void;
  private launch<Slot extends AnySlot>(entry: Entry<Slot>, shape: HostShape, valueOf?: (slot: Slot) => string): void {
    const args = entry.params.map((param): HostArgument => {
      if (param.type === "shared") return { param, value: "" };
      const value = valueOf ? valueOf(param.slot) : this.values.get(asked(param.slot as GpuSlot));
      if (value === undefined) throw new Error(`no value for the parameter "${slotText(param.slot)}" of ${entry.name}`);
      return { param, value };
    });
    this.lines(this.api.launch(entry, shape, args));
  }
}

/** The slot, where emitted files can have it. */
function asked(slot: GpuSlot): GpuSlot {
  switch (slot.kind) {
    case "scalar":
    case "view":
    case "extent":
    case "stride":
    case "begin":
    case "end":
    case "count":
    case "chunks":
    case "chunksPerLine":
    case "firstTeam":
    case "league":
    case "size":
    case "slots":
    case "keys":
    case "values":
    case "contributionCount":
    case "sortedKeys":
    case "sortedOrder":
    case "partials":
    case "folded":
    case "partialCount":
    case "results":
    case "rowBlocks":
    case "tile":
    case "planes":
      return slot;
    case "output":
    case "elements":
    case "segment":
    case "alignedBegin":
    case "copy":
    case "peerStore":
    case "peerStorePlanes":
    case "pieces":
    case "totals":
    case "ticket":
    case "members":
    case "me":
    case "mailboxes":
    case "turn":
    case "patience":
      throw new Error(`emitted files have no "${slotText(slot)}"`);
    default:
      return unreachable(slot);
  }
}

const HOST_TYPES: Record<ElementType | "bool", string> = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  u8: "uint8_t",
  bool: "bool",
};
