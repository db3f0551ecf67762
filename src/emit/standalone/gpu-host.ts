import { unreachable } from "../../base/unreachable.js";
import { contributionsOf } from "../../ir/analysis/contributions.js";
import { REDUCTION_LANES, type ElementType, type NumericType, type ScatterParam } from "../../ir/types.js";
import { GRID_LIMIT, TILE_PERCENT } from "../../schedule/constants.js";
import { blocksOfTeams, gridOverRange, type GridFacts } from "../../schedule/plan/grids.js";
import { planLaunch, type PlanRules, type RangeBatch } from "../../schedule/plan/launch.js";
import type { MemoryPart, PlanSink, PlannedRun, SortRun } from "../../schedule/plan/sink.js";
import { Code } from "../c/code.js";
import type { GpuDialect } from "../c/gpu/dialect.js";
import type { Entry, GpuProgram, KernelParam } from "../../schedule/program.js";
import { SORT_BITS, SORT_ENTRIES, type SortSlot } from "../c/gpu/sort.js";
import { BLOCK } from "../../schedule/entry.js";
import { Names } from "../../base/names.js";
import { BYTES } from "../../ir/scalars.js";
import { SlotMap, slotText, type AnySlot, type GpuSlot, type SignatureSlot } from "../../schedule/slots.js";
import { cSpelling, NumbersAsText } from "./plan-text.js";
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
  /** Nobody else reads what the arguments mean. */
  readonly isPlain?: true;
  /** Arrays of the device, as declared without the name. */
  pointer(element: ElementType | "long", constant: boolean): string;
  /** Spelling of a signed integer of 64 bits. */
  readonly i64: string;
  /** Lines that declare `name` and allocate `bytes`. */
  allocate(name: string, element: ElementType | "long", bytes: string): string[];
  free(name: string): string[];
  /** Declares `multiprocessors` and `cache_bytes` of the device. */
  facts(): string[];
  /** Declares `resident`: the blocks of `threads` threads, with bytes of dynamic shared memory, that a multiprocessor holds. */
  resident(entry: Entry<AnySlot>, threads: number, shared: number): string[];
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
export function writeGpuHost(request: EmitRequest, program: GpuProgram, dialect: GpuDialect, api: GpuApi): string {
  return new HostWriter(request, program, dialect, api).text();
}

/** The range of a launch function, which runs in one piece. */
type Whole = RangeBatch<string>;

/** Writes the launch function of a program as its plan is made: a number is an expression. */
class HostWriter implements PlanSink<string, Entry, HostShape, Whole> {
  readonly on: NumbersAsText;
  private readonly code = new Code();
  private readonly names = new Names();
  private readonly args: readonly Argument[];
  /** Expressions for the values of the entries' parameters, and of the function's own arguments. */
  private readonly values = new SlotMap<GpuSlot | SignatureSlot, string>();
  /** Memory until the end of the launch. */
  private readonly parts = new SlotMap<MemoryPart, string>();
  private readonly temporary: string[] = [];

  constructor(
    private readonly request: EmitRequest,
    private readonly program: GpuProgram,
    private readonly dialect: Pick<GpuDialect, "finishThreads" | "sortShape">,
    private readonly api: GpuApi,
  ) {
    this.on = new NumbersAsText(cSpelling(api.i64), this.code, (wish) => this.names.fresh(wish));
    this.args = launchArguments(request, this.names);
    for (const { slot, name } of this.args) this.values.set(slot, name);
  }

  text(): string {
    const { code, api, request, program } = this;
    const reads = program.reduces.length > 0;
    const notes = [
      "Arrays are in the device's memory, results in the host's.",
      reads ? "Waits for the results." : "Does not wait for the kernel's end.",
      `Returns ${api.success}, or the error of the call that failed.`,
    ];
    if (!api.isPlain) writeComment(code, request, this.args, notes);
    code.line(`${api.linkage}${api.status} ${request.stem}_launch(`);
    code.indented(() => parameterLines(this.args, (arg) => this.declaration(arg), api.queue).forEach((line) => code.line(line)));
    code.line(")");
    code.block("", () => {
      code.line(`${api.status} status = ${api.success};`);
      this.plan();
      if (reads) this.readResults();
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

  private plan(): void {
    const { request, program } = this;
    const { policy } = request.ir;
    const extents = policy.kind === "team" ? [] : Array.from({ length: policy.rank }, (_, axis) => this.extent(axis));
    const league = this.values.get({ kind: "league" }) ?? "0";
    const slots = Object.fromEntries(program.sorted.map(({ name }) => [name, contributionsOf(request.ir, name)!]));
    for (const [name, count] of Object.entries(slots)) this.values.set({ kind: "slots", name }, String(count));
    const launch = { extents, league, rows: league, folds: true, sizeOf: (target: string) => this.sizeOf(target) };
    planLaunch(this, launch, { program, serial: program.traversal === "serial", abreast: 1, slots }, this.rules(extents, league));
  }

  /** Indices along an axis; none where the range ends before it begins. */
  private extent(axis: number): string {
    const [begin, end] = (["begin", "end"] as const).map((kind) => this.values.get({ kind, axis })!);
    const name = this.on.keep(`${(this.request.axes ?? INDEX_NAMES)[axis]}_count`, `${end} > ${begin} ? ${end} - ${begin} : 0`);
    this.values.set({ kind: "count", axis }, name);
    return name;
  }

  private sizeOf(target: string): string {
    const { rank } = this.request.ir.params.find((p) => p.name === target) as ScatterParam;
    const known = this.values.get({ kind: "size", name: target });
    if (known) return known;
    const extents = Array.from(
      { length: rank },
      (_, axis) => `(${this.api.i64})${this.values.get({ kind: "extent", name: target, axis })}`,
    );
    const size = this.on.keep(`${target}_size`, extents.join(" * "));
    this.values.set({ kind: "size", name: target }, size);
    return size;
  }

  /** The shapes are those that Isoform chooses itself. */
  private rules(extents: readonly string[], league: string): PlanRules<string, HostShape, Whole> {
    const { on, program, api } = this;
    const flat = (grid: string, threads = BLOCK): HostShape => ({ grid: [grid, "1", "1"], block: [String(threads), "1", "1"], shared: 0 });
    const overChunks = (chunks: string) => flat(on.ceil(chunks, on.of(CHUNKS_PER_BLOCK)));
    const facts: GridFacts<string> = {
      limit: GRID_LIMIT,
      resident: () => this.resident(),
      cacheShare: () => {
        this.askFacts();
        return `(${api.i64})cache_bytes * ${TILE_PERCENT} / 100`;
      },
      rowBytes: (...box) => this.rowBytes(...box),
    };
    return {
      sortTile: this.dialect.sortShape.tile,
      sortDigits: 2 ** SORT_BITS,
      batches: () => [{ extents }],
      teamBatches: () => [{ first: "0", size: league }],
      overElements: () => {
        const { grid, block, numbers } = gridOverRange(on, program, extents, "0", facts);
        return { grid: { grid, block, shared: 0 }, blocks: on.product(...grid), numbers };
      },
      overChunks,
      overPartials: overChunks,
      overTeams: (blocks, rows) => ({
        grid: blocksOfTeams(on, { blocks, rows, resident: this.resident(), limit: GRID_LIMIT }),
        block: [String(program.threads), "1", "1"],
        shared: program.scratchBytes,
      }),
      overItems: (count) => flat(on.ceil(count, on.of(BLOCK))),
      last: flat("1", this.dialect.finishThreads),
      serial: flat("1", 1),
    };
  }

  /** Blocks of the main entry that the device holds at a time. */
  private resident(): string {
    this.askFacts();
    this.lines(this.api.resident(this.program.main, this.program.threads, this.program.scratchBytes));
    return `(${this.api.i64})resident * multiprocessors`;
  }

  private asked = false;
  private askFacts(): void {
    if (!this.asked) this.lines(this.api.facts());
    this.asked = true;
  }

  private rowBytes(depth: string, rows: string, columns: string): string {
    const { code, api } = this;
    code.line("// Blocks work on as many rows of a few planes as the cache holds.");
    code.line(`${api.i64} row_bytes = 1;`);
    for (const param of this.request.ir.params) {
      if (param.kind !== "view" || param.rank < 3) continue;
      const size = Array.from(
        { length: param.rank },
        (_, axis) => `(${api.i64})${this.values.get({ kind: "extent", name: param.name, axis })}`,
      ).join(" * ");
      code.line(`if (${size} >= ${depth} * ${rows} * ${columns} && ${depth} * ${rows} > 0)`);
      code.indented(() => code.line(`row_bytes += ${BYTES[param.element]} * (${size}) / (${depth} * ${rows});`));
    }
    return "row_bytes";
  }

  /* The plan, as it is made. */

  want(part: MemoryPart, type: NumericType, count: string): void {
    const { code, api, on } = this;
    if (part.kind === "keys") code.line(`if (status == ${api.success} && ${count} > 0xffffffffll) status = ${api.invalid};`);
    const name = this.names.fresh(wishFor(part));
    this.temporary.push(name);
    const element = part.kind === "results" ? "long" : type;
    // There is memory of some kind even for an empty range, which has no contributions.
    const some = part.kind === "partials" || part.kind === "folded" ? count : on.greatest("1", count);
    this.lines(api.allocate(name, element, on.product(on.of(part.kind === "results" ? 8 : BYTES[type]), some)));
    this.parts.set(part, name);
    if (part.kind === "results") this.values.set(part, name);
    else if (part.kind === "partials" || part.kind === "folded" || part.kind === "keys" || part.kind === "values")
      this.values.set({ kind: part.kind, name: part.name }, name);
  }

  run(entry: Entry, shape: HostShape, { numbers, sorted }: PlannedRun<string, Whole>): void {
    const { contributionCount, ...others } = numbers;
    for (const [kind, value] of Object.entries(others)) this.values.set({ kind: kind as keyof typeof others }, value);
    if (sorted !== undefined) this.values.set({ kind: "contributionCount", name: sorted }, contributionCount!);
    this.launch(entry, shape);
  }

  clear(name: string, count: string): void {
    this.lines(this.api.fill(this.parts.get({ kind: "keys", name })!, this.on.product("4", count)));
  }

  when(count: string, make: () => void): void {
    this.code.block(`if (${count} > 0)`, make);
  }

  whileAbove(wish: string, start: string, most: number, make: (count: string) => string): string {
    const { code, api } = this;
    const count = this.names.fresh(wish);
    code.line(`${api.i64} ${count} = ${start};`);
    code.block(`while (${count} > ${most})`, () => code.line(`${count} = ${make(count)};`));
    return count;
  }

  swap(): void {
    for (const { name, type } of this.program.reduces) {
      const [partials, folded] = (["partials", "folded"] as const).map((kind) => this.parts.get({ kind, name })!);
      this.exchange(this.api.pointer(type, false), this.names.fresh("swap"), partials, folded);
    }
  }

  private exchange(pointer: string, swap: string, a: string, b: string): void {
    this.code.line(`${pointer}${swap} = ${a};`).line(`${a} = ${b};`).line(`${b} = ${swap};`);
  }

  /** Sorts contributions by their targets, some bits at a time. */
  sort({ name, size, count, tiles }: SortRun<string>): void {
    const { code, api, request } = this;
    const { threads, scanThreads } = this.dialect.sortShape;
    const part = (kind: Exclude<MemoryPart["kind"], "results">) => this.parts.get({ kind, name })!;
    const [keys, sortedKeys, order, sortedOrder] = [part("keys"), part("sortedKeys"), part("order"), part("sortedOrder")];
    const [shift, from, to, swap] = ["shift", "from", "to", "swap"].map((wish) => this.names.fresh(`${name}_${wish}`));
    const pointer = api.pointer("u32", false);
    code.line(`${pointer}${from} = NULL;`).line(`${pointer}${to} = ${sortedOrder};`);
    const one = (grid: string, threads: number): HostShape => ({ grid: [grid, "1", "1"], block: [String(threads), "1", "1"], shared: 0 });
    code.block(`for (int ${shift} = 0; ${shift} == 0 || ${size} >> ${shift} > 0; ${shift} += ${SORT_BITS})`, () => {
      const given: Record<SortSlot["kind"], string> = {
        keys,
        order: from,
        count,
        shift,
        tiles,
        counts: part("counts"),
        totals: part("totals"),
        sortedKeys,
        sortedOrder: to,
      };
      const valueOf = ({ kind }: SortSlot) => given[kind];
      const own = (entry: Entry<SortSlot>): Entry<SortSlot> => ({ ...entry, name: `${request.stem}_${entry.name}` });
      this.launch(own(SORT_ENTRIES.count), one(tiles, threads), valueOf);
      this.launch(own(SORT_ENTRIES.scan), one(String(2 ** SORT_BITS), scanThreads), valueOf);
      this.launch(own(SORT_ENTRIES.move), one(tiles, threads), valueOf);
      this.exchange(pointer, swap, keys, sortedKeys);
      code.line(`${swap} = ${to};`).line(`${to} = ${from} ? ${from} : ${order};`).line(`${from} = ${swap};`);
    });
    this.values.set({ kind: "sortedKeys", name }, keys).set({ kind: "sortedOrder", name }, from);
  }

  /** Hands the results over. */
  private readResults(): void {
    const { code, api } = this;
    const { reduces } = this.program;
    const values = this.names.fresh("values");
    code.line(`${api.i64} ${values}[${reduces.length}];`);
    this.lines(api.read(values, this.parts.get({ kind: "results" })!, `sizeof ${values}`));
    code.block(`if (status == ${api.success})`, () =>
      reduces.forEach(({ name, type }, n) =>
        code.line(`memcpy(${this.values.get({ kind: "result", name })}, &${values}[${n}], ${BYTES[type]});`),
      ),
    );
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

function wishFor(part: MemoryPart): string {
  if (part.kind === "results") return part.kind;
  const { kind, name } = part;
  return `${name}_${PART_WORDS[kind]}`;
}

/** Words for parts of memory in names of variables. */
const PART_WORDS: Record<Exclude<MemoryPart["kind"], "results">, string> = {
  partials: "partials",
  folded: "folded",
  keys: "keys",
  sortedKeys: "sorted_keys",
  order: "order",
  sortedOrder: "sorted_order",
  values: "values",
  counts: "counts",
  totals: "totals",
};

const HOST_TYPES: Record<ElementType | "bool", string> = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  u64: "uint64_t",
  u8: "uint8_t",
  i8: "int8_t",
  u16: "uint16_t",
  i16: "int16_t",
  f16: "uint16_t",
  bf16: "uint16_t",
  bool: "bool",
};
