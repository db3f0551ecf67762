import type { ScatterStrategy } from "../../ir/launch.js";
import { BYTES, isFloat } from "../../ir/scalars.js";
import { scatterCacheBytes } from "../../ir/cache-lines.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { KnownIntegers } from "../../ir/analysis/integer-ranges.js";
import { identityOf } from "../../ir/identity.js";
import { foldGroups, foldsJointly } from "../../ir/joint.js";
import { recordedAxes } from "../../ir/passes/check-indices.js";
import { splitUniform } from "../../ir/passes/jam.js";
import { pairMembers } from "../../ir/passes/pair-rows.js";
import { type KernelIR, type NumericType, type ReduceParam, type ScatterParam, type ViewParam } from "../../ir/types.js";
import { groupsUnderConditions } from "../../ir/analysis/grouped-loads.js";
import { teamRows } from "../../ir/analysis/teams.js";
import { walkExprs, walkStmts } from "../../ir/walk.js";
import type { OpenmpSlot } from "../../schedule/slots.js";
import { layOut, type StructField, type StructFieldType } from "./arguments.js";
import { BodyWriter } from "./body.js";
import { writeTable } from "./tables.js";
import { Code } from "./code.js";
import { Faults, NOTE_FAULT } from "./faults.js";
import { Helpers } from "./helpers.js";
import { Names } from "../../base/names.js";
import { openmpDialect as dialect } from "./openmp-dialect.js";
import { OpenMPFrame, type ScatterUpdates } from "./openmp-frame.js";
import { atomicFunction, SHARE, STREAM_LINE, WITHOUT_MASKS } from "./openmp-prelude.js";
import { chunkCount, foldLines, writeChunkIndices, writeFold } from "./partials.js";
import { stripsOf, writeStrips } from "./strips.js";
import { writeStreamedLoop } from "./streamed-loop.js";
import { streamableViews } from "./streaming.js";
import { copyFunctions, foldPrivateCopies, ownCopy } from "./private-copies.js";
import { cacheFunctions, spillCache } from "./worker-cache.js";
import { writeElements, writeLeft, type ElementLoop } from "./uniform-segments.js";
import { VectorLoops } from "./vector.js";
import { originText } from "../text.js";

/** Properties of a launch that are compiled into the code; everything else is an argument. */
export interface OpenMPOptions {
  /** Element strides of the views and scatter arrays; small ones become constants, equal ones share a variable. */
  strides: Readonly<Record<string, readonly number[]>>;
  /** No written view shares memory with another argument. */
  disjoint: boolean;
  /** Reductions keep the order of strict mode. */
  ordered: boolean;
  scatter: Readonly<Record<string, ScatterStrategy>>;
  sizes: KnownIntegers;
  /** Loops go by tiles, whose sizes are arguments. */
  tiled?: boolean;
  /** Stores to `streamedViews` go past the caches; code for that takes a compiler about as long again. */
  streaming?: boolean;
}

/** A C source with one exported function, `void entry(struct *arguments)`. */
export interface OpenMPProgram {
  readonly entry: string;
  readonly source: string;
  readonly fields: readonly StructField<OpenmpSlot>[];
  /** Bytes of the argument struct. */
  readonly size: number;
  /** Axes of the range from the outermost loop to the innermost. */
  readonly order: readonly number[];
  /** Bytes that the private and scratch arrays take on the stack, at most. */
  readonly stack: number;
  /** As `streamedViews` has them. */
  readonly streamed: readonly string[];
}

type Param = { readonly name: string; readonly slot: OpenmpSlot; readonly type: StructFieldType; readonly declared: string };

/** Kinds of members that are numbers, named like them. */
type WholeKind = Exclude<OpenmpSlot, { readonly name: string }>["kind"];

/** Largest stride that is compiled in, such as the stride of an array of short records. */
const CONSTANT_STRIDE = 32;

/** Characters after which a list of parameters is broken up. */
const LINE_LENGTH = 140;

const INDEX_NAMES = ["i", "j", "k", "l"];

/** Writes a kernel as C with OpenMP: a function that does a part of the range, and one that shares the parts out among the threads. */
export function emitOpenMP(ir: KernelIR, access: AccessAnalysis, options: OpenMPOptions): OpenMPProgram {
  return new Emitter(options.disjoint ? pairMembers(ir) : ir, access, options).program();
}

/** Views that code with the option `streaming` stores past the caches. */
export const streamedViews = (ir: KernelIR, access: AccessAnalysis, options: OpenMPOptions): readonly string[] =>
  new Emitter(ir, access, options).streamedNames;

class Emitter {
  private readonly names = new Names();
  private readonly helpers = new Helpers(dialect);
  private readonly code = new Code();
  private readonly functions: Readonly<Record<"kernel" | "part" | "streamed" | "args", string>>;
  private readonly rank: number;
  private readonly indexNames: string[];
  private readonly reductions: ReduceParam[];
  private readonly scatters: Record<string, ScatterUpdates> = {};
  private readonly strideNames: Record<string, string[]> = {};
  private readonly streamed: ViewParam[];
  /** Functions that fold into scatter targets, by name. */
  private readonly updates = new Map<string, string>();
  /** Parameters of the function that does a part, other than its bounds. */
  private readonly params: Param[] = [];
  private readonly bounds: string[];
  private readonly loops: VectorLoops;
  /** Axes of the range from the outermost loop to the innermost. */
  private readonly order: readonly number[];
  private readonly faults: Faults | undefined;
  /** Statements that all elements of a row share, and statements of each element. */
  private readonly row: ReturnType<typeof splitUniform>;

  constructor(
    private readonly ir: KernelIR,
    private readonly access: AccessAnalysis,
    private readonly options: OpenMPOptions,
  ) {
    const named = (suffix: string) => this.names.fresh(`${ir.name}_${suffix}`);
    this.functions = { kernel: named("kernel"), part: named("part"), streamed: named("streamed"), args: named("args") };
    this.rank = ir.policy.kind === "range" ? ir.policy.rank : 1;
    this.reductions = ir.params.filter((p) => p.kind === "reduce");
    this.declareParams();
    this.indexNames = ir.policy.kind === "team" ? ["team", "place"] : INDEX_NAMES.slice(0, this.rank);
    const { checks } = ir;
    const element = recordedAxes(ir).map((axis) => this.indexNames[axis]);
    this.faults = checks && new Faults(this.names, this.names.of("view", checks.record), element);
    this.bounds = this.byPartials ? [] : this.indexNames.flatMap((_, axis) => [`begin${axis}`, `end${axis}`]);
    this.loops = new VectorLoops(ir, (view) => this.strideNames[view]);
    this.order = this.loopOrder();
    const isRange = ir.policy.kind === "range" && options.disjoint;
    this.row = isRange ? splitUniform(ir.body, this.innermost) : { head: [], rest: ir.body };
    this.streamed = streamableViews(ir, access, this.innermost, options.strides);
  }

  program(): OpenMPProgram {
    const { code, ir } = this;
    const { fields, size } = layOut(this.members());
    const body = new Code();
    for (const { param } of this.cachedScatters) this.defineCache(param);
    // Teams keep lines of their own; ranges leave the ends of lines to the part.
    if (!this.streams || ir.policy.kind === "range") this.writePart(body);
    if (this.streams) this.writeStreamed(body);
    for (const parts of foldGroups(this.reductions)) writeFold(this.writer(body), parts, this.reduced(parts[0]));
    this.writeEntry(body);

    code.line(`// ${originText(ir)}.`);
    if (groupsUnderConditions(ir)) code.text(WITHOUT_MASKS);
    for (const header of ["math.h", "stdbool.h", "stdint.h"]) code.line(`#include <${header}>`);
    code.line("#ifdef _OPENMP").line("#include <omp.h>").line("#endif").line();
    for (const table of ir.tables)
      writeTable(code, table, dialect, this.names, (type, value) => this.writer(code).value({ op: "const", type, value }));
    if (ir.tables.length > 0) code.line();
    code
      .block(
        `struct ${this.functions.args}`,
        () => {
          for (const field of fields)
            code.line(
              `${field.declared}${field.declared.endsWith("*") ? "" : " "}${field.name}${field.length > 1 ? `[${field.length}]` : ""};`,
            );
        },
        ";",
      )
      .line();
    const helpers = [this.helpers.toString(), ...this.updates.values(), this.faults ? NOTE_FAULT : ""]
      .filter((text) => text !== "")
      .join("");
    if (helpers !== "") code.text(helpers);
    code.text(body.toString().trimEnd());
    return {
      entry: this.functions.kernel,
      source: code.toString(),
      fields,
      size,
      stack: this.stackBytes(),
      order: this.order,
      streamed: this.streamedNames,
    };
  }

  get streamedNames(): string[] {
    return this.streamed.map((v) => v.name);
  }

  private get streams(): boolean {
    return this.options.streaming === true && this.streamed.length > 0;
  }

  private get innermost(): number {
    return this.order.at(-1)!;
  }

  /** As the views' strides want it, where the order of the elements is free. */
  private loopOrder(): number[] {
    const { ir, options } = this;
    const bound = this.byPartials || Object.values(this.scatters).some((s) => s.strategy === "sorted");
    return bound ? [...Array(this.rank).keys()] : this.loops.order(ir.body, this.rank, (view) => options.strides[view]);
  }

  /** Units of work are chunks of lines (or teams) with a partial result each, rather than boxes of elements. */
  private get byPartials(): boolean {
    return this.reductions.length > 0 || this.ir.policy.kind === "team";
  }

  /** Teams have rows of scratch, one a worker. */
  private get hasRows(): boolean {
    return teamRows(this.ir).length > 0;
  }

  private stackBytes(): number {
    let bytes = 0;
    // A loop's body may be written twice: in groups, and for the rest.
    walkStmts(this.ir.body, (s) => (bytes += s.kind === "array" ? 2 * s.length * BYTES[s.type] : 0));
    return bytes;
  }

  private reduced(param: ReduceParam): string {
    return this.names.of("param", param.name);
  }

  private declareParams(): void {
    const { ir, names, options } = this;
    const restrict = options.disjoint ? "restrict " : "";
    const strides = new Map<number, string>();
    for (const param of ir.params) {
      if (param.kind === "scalar")
        this.params.push({
          name: names.of("param", param.name),
          slot: { kind: "scalar", name: param.name },
          type: param.type,
          declared: dialect.types[param.type],
        });
      if (param.kind !== "view" && param.kind !== "scatter") continue;
      const readOnly = param.kind === "view" && param.name !== ir.checks?.record && !this.access.views[param.name]?.written;
      const strategy = param.kind === "scatter" ? options.scatter[param.name] : undefined;
      const shared = strategy === "atomic" || strategy === "cached";
      const declared = `${readOnly ? "const " : ""}${dialect.types[param.element]} *${shared ? "" : restrict}`;
      this.params.push({ name: names.of("view", param.name), slot: { kind: "view", name: param.name }, type: "pointer", declared });
      if (param.kind === "scatter") this.scatters[param.name] = this.scatterCode(param, strategy!);
    }
    for (const param of ir.params) {
      if (param.kind !== "view" && param.kind !== "scatter") continue;
      this.strideNames[param.name] = options.strides[param.name].map((stride, axis) => {
        if (stride <= CONSTANT_STRIDE) return String(stride);
        if (!strides.has(stride)) {
          strides.set(stride, names.fresh(`${names.of("view", param.name)}_stride${axis}`));
          this.params.push({
            name: strides.get(stride)!,
            slot: { kind: "stride", name: param.name, axis },
            type: "long",
            declared: dialect.types.index,
          });
        }
        return strides.get(stride)!;
      });
    }
    const extents = new Set<string>();
    walkExprs(ir.body, (e) => {
      if (e.op !== "extent" || extents.has(`${e.view} ${e.axis}`)) return;
      extents.add(`${e.view} ${e.axis}`);
      const name = names.of("argument", `extent ${e.view} ${e.axis}`, `${e.view}_extent${e.axis}`);
      this.params.push({ name, slot: { kind: "extent", name: e.view, axis: e.axis }, type: "i32", declared: dialect.types.i32 });
    });
  }

  private get cachedScatters(): ScatterUpdates[] {
    return Object.values(this.scatters).filter(({ cache }) => cache !== undefined);
  }

  private get duplicated(): ScatterParam[] {
    return Object.values(this.scatters).flatMap(({ param, strategy }) => (strategy === "duplicated" ? [param] : []));
  }

  private scatterCode(param: ScatterParam, strategy: ScatterStrategy): ScatterUpdates {
    if (strategy !== "cached") return { param, strategy };
    const cache = this.names.fresh(`${param.name}_cache`);
    this.params.push({ name: cache, slot: { kind: "caches", name: param.name }, type: "pointer", declared: "char *" });
    return { param, strategy, cache };
  }

  /** Members of the argument struct. */
  private members(): Omit<StructField<OpenmpSlot>, "offset">[] {
    const number = (slot: OpenmpSlot, name: string, length = 1) => ({
      slot,
      name,
      type: "long" as const,
      declared: dialect.types.index,
      length,
    });
    const whole = (kind: WholeKind, length = 1) => number({ kind }, kind, length);
    return [
      ...this.params.map((p) => ({ ...p, declared: p.declared.replace("restrict ", ""), length: 1 })),
      ...this.duplicated.flatMap((p) => [
        {
          slot: { kind: "copies" as const, name: p.name },
          name: `${this.names.of("view", p.name)}_copies`,
          type: "pointer" as const,
          declared: "char *",
          length: 1,
        },
        number({ kind: "copyBytes", name: p.name }, `${this.names.of("view", p.name)}_copy_bytes`),
        number({ kind: "span", name: p.name }, `${this.names.of("view", p.name)}_span`),
      ]),
      ...this.reductions.flatMap((p) => [
        {
          slot: { kind: "partials" as const, name: p.name },
          name: `${this.reduced(p)}_partials`,
          type: "pointer" as const,
          declared: `${dialect.types[p.type]} *`,
          length: 1,
        },
        {
          slot: { kind: "result" as const, name: p.name },
          name: `${this.reduced(p)}_result`,
          type: p.type,
          declared: dialect.types[p.type],
          length: 1,
        },
        {
          slot: { kind: "output" as const, name: p.name },
          name: `${this.reduced(p)}_output`,
          type: "pointer" as const,
          declared: `${dialect.types[p.type]} *`,
          length: 1,
        },
      ]),
      whole("workers"),
      ...(this.reductions.length > 0 ? [whole("folds")] : []),
      ...(this.byPartials ? [whole("units")] : [whole("split"), whole("grain")]),
      ...(this.ir.policy.kind === "range" ? [whole("begin", this.rank), whole("end", this.rank)] : []),
      ...(this.options.tiled ? [whole("tile", this.rank)] : []),
    ];
  }

  private frame(): OpenMPFrame {
    return new OpenMPFrame(
      dialect,
      this.names,
      this.indexNames,
      this.strideNames,
      this.scatters,
      (param) => this.atomic(param),
      this.loops,
      this.options.ordered || foldsJointly(this.ir),
      this.constant,
      this.faults,
    );
  }

  private writer(code: Code, frame = this.frame()): BodyWriter {
    return new BodyWriter(code, this.ir, dialect, frame, this.names, this.helpers, this.options.sizes);
  }

  private atomic(param: ScatterParam): string {
    const T = dialect.types[param.element];
    const name = `atomic_${param.op}_${param.element}`;
    const fold = this.helpers.use(`${param.op as "min" | "max"}_${param.element}`);
    this.updates.set(name, atomicFunction(name, T, fold));
    return name;
  }

  /** Defines what works with the scatter caches of a target. */
  private defineCache(param: ScatterParam): void {
    const { op, element } = param;
    const identity = this.identity(param);
    const fold = (target: string, value: string): string[] =>
      op === "sum" ? ["#pragma omp atomic", `${target} += ${value};`] : [`${this.atomic(param)}(&${target}, ${value});`];
    this.updates.set(`cached_${op}_${element}`, cacheFunctions(param, dialect.types[element], identity, fold));
  }

  /** Head of a function that does a part of the work. */
  private signature(which: "part" | "streamed"): string {
    const range = this.ir.policy.kind === "range";
    const params = [
      ...this.params.map((p) => `${p.declared}${p.declared.endsWith("*") || p.declared.endsWith("restrict ") ? "" : " "}${p.name}`),
      ...this.bounds.map((name) => `int64_t ${name}`),
      ...(this.byPartials && range ? this.indexNames.flatMap((_, axis) => [`int64_t begin${axis}`, `int64_t end${axis}`]) : []),
      ...(this.byPartials
        ? [
            ...this.reductions.map((p) => `${dialect.types[p.type]} *restrict ${this.reduced(p)}_partials`),
            ...(this.hasRows ? [`int64_t ${this.indexNames[1]}`] : []),
            "int64_t first",
            "int64_t last",
          ]
        : []),
    ];
    const head = `static void ${this.functions[which]}(`;
    const line = `${head}${params.join(", ")})`;
    return line.length <= LINE_LENGTH ? line : `${head}\n    ${params.join(",\n    ")})`;
  }

  private writePart(code: Code): void {
    // Inlined into the parallel region, it would lose its restrict pointers.
    code.line("__attribute__((noinline))");
    code
      .block(this.signature("part"), () => {
        if (this.ir.policy.kind === "team") this.writeTeams(code);
        else if (this.reductions.length > 0) this.writeChunks(code);
        else this.nest(code, this.rank - 1, () => this.writeRow(this.rowWriter(code)));
      })
      .line();
  }

  /** Elements of a row: a strip together where they loop, one by one elsewhere. */
  private writeRow(writer: BodyWriter): void {
    const strips = !this.faults && this.options.disjoint && stripsOf(this.row.rest, this.innermost, this.loops);
    if (strips) writeStrips(writer, this.elementLoop, strips);
    else (this.streams ? writeLeft : writeElements)(writer, this.loops, this.elementLoop, this.constant);
  }

  /** The innermost loop. */
  private get elementLoop(): ElementLoop {
    const axis = this.innermost;
    return { variable: { index: axis }, counter: this.indexNames[axis], begin: `begin${axis}`, end: `end${axis}`, body: this.row.rest };
  }

  /** Writes what is the same for all elements of a row, for code that writes them. */
  private rowWriter(code: Code, frame = this.frame()): BodyWriter {
    const writer = this.writer(code, frame);
    writer.statements(this.row.head);
    return writer;
  }

  /** Tells which views nobody writes; undefined if arguments may share memory. */
  private get constant(): AccessAnalysis | undefined {
    return this.options.disjoint ? this.access : undefined;
  }

  /** The loops over the outer `depth` axes. */
  private nest(code: Code, depth: number, inside: () => void, level = 0): void {
    if (level === depth) return inside();
    const axis = this.order[level];
    const name = this.indexNames[axis];
    code.block(`for (int64_t ${name} = begin${axis}; ${name} < end${axis}; ${name}++)`, () => this.nest(code, depth, inside, level + 1));
  }

  /** @param streamed views whose cache lines the members collect */
  private writeTeams(code: Code, streamed: readonly ViewParam[] = []): void {
    const rank = this.indexNames[0];
    code.block(`for (int64_t ${rank} = first; ${rank} < last; ${rank}++)`, () => {
      const frame = this.frame();
      frame.streamed = streamed;
      const writer = this.writer(code, frame);
      const totals = frame.accumulate(writer, this.reductions);
      const team = (): void => writer.statements(this.ir.body);
      if (this.faults) this.faults.around(writer, team);
      else team();
      this.reductions.forEach((p, n) => code.line(`${this.reduced(p)}_partials[${rank}] = ${totals[n]};`));
    });
  }

  private writeChunks(code: Code): void {
    const inner = this.rank - 1;
    const bounds = this.indexNames.map((_, axis) => [`begin${axis}`, `end${axis}`] as const);
    code.line(`const int64_t chunks = ${chunkCount(bounds[inner])};`);
    code.block("for (int64_t partial = first; partial < last; partial++)", () => {
      writeChunkIndices(code, this.indexNames, bounds);
      const frame = this.frame();
      frame.lanes(
        this.rowWriter(code, frame),
        this.reductions,
        { index: inner },
        this.indexNames[inner],
        "begin",
        "end",
        this.row.rest,
        (results) => this.reductions.forEach((p, n) => code.line(`${this.reduced(p)}_partials[partial] = ${results[n]};`)),
      );
    });
  }

  /** The part again, with whole cache lines of the streamed views collected and then stored past the caches. */
  private writeStreamed(code: Code): void {
    code.text(STREAM_LINE);
    code.line("__attribute__((noinline))");
    code
      .block(this.signature("streamed"), () => {
        if (this.ir.policy.kind === "team") this.writeTeams(code, this.streamed);
        else this.nest(code, this.rank - 1, () => this.writeLines(code));
        code.line("finish_streams();");
      })
      .line();
  }

  /** The innermost loop over cache lines; what is left over is done by the part. */
  private writeLines(code: Code): void {
    const frame = this.frame();
    const rest = (begin: string, end: string): void => {
      const bounds = this.indexNames.flatMap((index, axis) => (axis === this.innermost ? [begin, end] : [index, `${index} + 1`]));
      code.line(`${this.functions.part}(${[...this.params.map((p) => p.name), ...bounds].join(", ")});`);
    };
    writeStreamedLoop(this.rowWriter(code, frame), frame, this.loops, this.elementLoop, this.streamed, this.constant, rest);
  }

  private writeEntry(code: Code): void {
    code.text(SHARE);
    for (const text of new Set(this.duplicated.map((param) => this.copiesOf(param)))) code.text(text);
    code.block(`void ${this.functions.kernel}(struct ${this.functions.args} *args)`, () => {
      code.line("#pragma omp parallel num_threads(args->workers)");
      code.block("", () => {
        code.line("#ifdef _OPENMP").line("const int64_t worker = omp_get_thread_num(), workers = omp_get_num_threads();");
        code.line("#else").line("const int64_t worker = 0, workers = 1;").line("#endif");
        for (const param of this.duplicated)
          for (const line of ownCopy(param, dialect.types[param.element], this.names.of("view", param.name))) code.line(line);
        for (const { param, cache } of this.cachedScatters)
          code.line(`char *${cache} = args->${cache} + worker * ${scatterCacheBytes(param.element)};`);
        if (this.byPartials) this.shareUnits(code);
        else this.shareElements(code);
        for (const { param, cache } of this.cachedScatters)
          code.line(spillCache(param, cache!, `args->${this.names.of("view", param.name)}`));
        for (const param of this.duplicated) {
          code.line("#pragma omp barrier");
          code.line(foldPrivateCopies(param, this.names.of("view", param.name)));
        }
      });
      if (this.reductions.length > 0) code.line("if (!args->folds) return;");
      for (const parts of foldGroups(this.reductions)) {
        const names = parts.map((part) => this.reduced(part));
        const [partials, results] = ["partials", "result"].map((what) => names.map((name) => `args->${name}_${what}`));
        for (const line of foldLines(this.writer(code), parts, { name: names[0], partials, count: "args->units", results }))
          code.line(line);
        for (const name of names) code.line(`if (args->${name}_output) *args->${name}_output = args->${name}_result;`);
      }
    });
  }

  private passed(): string[] {
    return this.params.map((p) => {
      const own = Object.values(this.scatters).some(
        ({ strategy, param, cache }) =>
          p.name === cache || (strategy === "duplicated" && p.slot.kind === "view" && p.slot.name === param.name),
      );
      return own ? p.name : `args->${p.name}`;
    });
  }

  private shareUnits(code: Code): void {
    code.line("int64_t first = 0, last = args->units;").line("share(&first, &last, 1, worker, workers);");
    const bounds =
      this.ir.policy.kind === "range"
        ? this.indexNames.flatMap((_, axis) => [`args->begin${this.at(axis)}`, `args->end${this.at(axis)}`])
        : [];
    const args = [
      ...this.passed(),
      ...bounds,
      ...this.reductions.map((p) => `args->${this.reduced(p)}_partials`),
      ...(this.hasRows ? ["worker"] : []),
      "first",
      "last",
    ];
    this.call(code, args);
  }

  private shareElements(code: Code): void {
    const axes = this.indexNames.map((_, axis) => axis);
    for (const bound of ["begin", "end"])
      code.line(`int64_t ${bound}[] = {${axes.map((axis) => `args->${bound}${this.at(axis)}`).join(", ")}};`);
    code.line("share(&begin[args->split], &end[args->split], args->grain, worker, workers);");
    if (this.options.tiled) this.loopOverTiles(code, this.order);
    else this.call(code, [...this.passed(), ...axes.flatMap((axis) => [`begin[${axis}]`, `end[${axis}]`])]);
  }

  /** The loops over tiles along `axes`, outermost first. */
  private loopOverTiles(code: Code, axes: readonly number[]): void {
    const [axis, ...inner] = axes;
    if (axis === undefined) return this.call(code, [...this.passed(), ...this.indexNames.flatMap((_, a) => [`tile${a}`, `tile${a}_end`])]);
    code.block(`for (int64_t tile${axis} = begin[${axis}]; tile${axis} < end[${axis}]; tile${axis} += args->tile[${axis}])`, () => {
      const end = `tile${axis} + args->tile[${axis}]`;
      code.line(`const int64_t tile${axis}_end = ${end} < end[${axis}] ? ${end} : end[${axis}];`);
      this.loopOverTiles(code, inner);
    });
  }

  /** Calls the function that does a part. */
  private call(code: Code, args: readonly string[]): void {
    code.line(`${this.functions[this.streams ? "streamed" : "part"]}(${args.join(", ")});`);
  }

  /** Element of `begin` and `end` in the struct, where one axis needs no array. */
  private at(axis: number): string {
    return this.rank === 1 ? "" : `[${axis}]`;
  }

  /** Functions for the private copies of a target. */
  private copiesOf(param: ScatterParam): string {
    const fold = (a: string, b: string): string => this.writer(this.code).fold(param.op, param.element, a, b);
    // Leaves a place to which nobody adds as it is, -0 included.
    const start = param.op === "sum" && isFloat(param.element) ? this.constantText(param.element, -0) : this.identity(param);
    return copyFunctions(param, dialect.types[param.element], start, fold);
  }

  private identity({ op, element }: ScatterParam): string {
    return this.constantText(element, identityOf(op, element));
  }

  private constantText(type: NumericType, value: number | bigint): string {
    return this.writer(this.code).value({ op: "const", type, value });
  }
}
