import { foldGroups, foldsJointly } from "../../ir/joint.js";
import { orderMatters } from "../../ir/identity.js";
import { prints } from "../../ir/print-records.js";
import type { ReduceParam, ScatterParam, Stmt, ViewParam } from "../../ir/types.js";
import { Names } from "../../base/names.js";
import { BodyWriter } from "../c/body.js";
import { Code } from "../c/code.js";
import type { Dialect } from "../c/dialect.js";
import { Helpers } from "../c/helpers.js";
import { OpenMPFrame } from "../c/openmp-frame.js";
import { chunkCount, writeChunkIndices, writeFold, type ChunkBounds } from "../c/partials.js";
import { writeTable } from "../c/tables.js";
import { VectorLoops } from "../c/vector.js";
import type { SignatureSlot } from "../../schedule/slots.js";
import type { EmitRequest } from "./request.js";
import { argumentFor, INDEX_NAMES, launchArguments, parameterLines, writeComment, type Argument } from "./signature.js";

/** Statement that updates an element atomically: a sum by the language's own means, the rest by a function that is written beside the helpers. */
interface AtomicUpdates {
  /** Lines before a statement that adds to `place`, and the statement. */
  add(place: string, T: string, value: string): { readonly before?: string; readonly statement: string };
  /** The function `name` that folds its second argument into the element at its first one by the function `fold`. */
  define(name: string, T: string, fold: string): string;
}

/** How a language spells the frame of a launch function; bodies are C. */
export interface LaunchLanguage {
  readonly dialect: Dialect;
  /** Comment at the head of the file: its origin, and the commands that compile it. */
  readonly head: readonly string[];
  /** Names in angle brackets. */
  readonly headers: readonly string[];
  /** Header of printf, where the language has it. */
  readonly printHeader?: string;
  /** Lines between the headers and the helpers. */
  readonly prelude?: readonly string[];
  /** Lines around helper functions and tables, and after a table. */
  readonly around?: readonly [before: readonly string[], after: readonly string[]];
  afterTable?(name: string): readonly string[];
  /** Linkage and type of the launch function. */
  readonly result: string;
  /** After the star of a pointer parameter, such as `restrict `. */
  readonly restrict: string;
  /** Parameters after the kernel's own. */
  readonly more: readonly string[];
  /** For the comment of the launch function. */
  notes(partials: boolean, results: boolean): readonly string[];
  readonly atomics: AtomicUpdates;
  /** OpenMP's hints to vectorise stay in the text. */
  readonly hints: boolean;
  /** It adds up by itself where the order does not matter. */
  readonly addsUp: boolean;
}

/** Bounds of one axis, or a count of units, as C expressions. */
export interface BoxAxis {
  readonly index: string;
  readonly begin: string;
  readonly end: string;
}

/** Array of partial results, one a chunk or team, and the pointer that takes their fold. */
export interface Partials {
  readonly place: string;
  readonly T: string;
  readonly result: string;
}

/** Array parameter of a launch function. */
export interface ArrayParameter {
  readonly pointer: string;
  readonly T: string;
  readonly written: boolean;
  /** A C expression: elements from the pointer on. */
  readonly count: string;
}

/** Bodies of elements with the language's own atomic updates. */
class LaunchFrame extends OpenMPFrame {
  constructor(
    private readonly language: LaunchLanguage,
    /** The function for a scatter that is not a sum; undefined where one thread makes all updates in order. */
    private readonly update: ((param: ScatterParam) => string) | undefined,
    /** Names of arrays in the body, by their pointers, where they differ. */
    private readonly wrappers: ReadonlyMap<string, string>,
    ...rest: ConstructorParameters<typeof OpenMPFrame>
  ) {
    super(...rest);
  }

  override pointer(view: string): string {
    const pointer = super.pointer(view);
    return this.wrappers.get(pointer) ?? pointer;
  }

  override scatter(body: BodyWriter, stmt: Extract<Stmt, { kind: "scatter" }>, offset: string, value: string): void {
    if (!this.update) return super.scatter(body, stmt, offset, value);
    const { dialect, atomics } = this.language;
    const param = body.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === stmt.target)!;
    const place = `${this.pointer(stmt.target)}[${offset}]`;
    if (param.op !== "sum") return body.line(stmt, `${this.update(param)}(&${place}, ${value});`);
    const { before, statement } = atomics.add(place, dialect.types[param.element], value);
    if (before !== undefined) body.code.line(before);
    body.line(stmt, statement);
  }

  override lineBefore(stmt: Extract<Stmt, { kind: "for" }>): string | undefined {
    return this.language.hints ? super.lineBefore(stmt) : undefined;
  }

  override turn(stmt: Extract<Stmt, { kind: "for" }>): string | undefined {
    return this.language.hints ? super.turn(stmt) : undefined;
  }
}

/** A kernel as one function of plain loops; a subclass writes how they are put to work. */
export abstract class LaunchWriter<L extends LaunchLanguage> {
  protected readonly names = new Names();
  private readonly helpers: Helpers;
  private readonly atomics = new Map<string, string>();
  protected readonly wrappers = new Map<string, string>();
  protected readonly args: readonly Argument[];
  protected readonly indices: readonly string[];
  private readonly strides: Readonly<Record<string, readonly string[]>>;
  protected readonly reductions: readonly ReduceParam[];
  private readonly arrays: readonly (ViewParam | ScatterParam)[];
  protected readonly loops: VectorLoops;
  protected readonly frame: OpenMPFrame;

  constructor(
    protected readonly request: EmitRequest,
    protected readonly language: L,
  ) {
    const { ir, access, precision, unitStrides } = request;
    const { dialect } = language;
    this.helpers = new Helpers(dialect);
    this.args = launchArguments(request, this.names);
    this.reductions = ir.params.filter((p) => p.kind === "reduce");
    this.arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
    const strides = (this.strides = Object.fromEntries(
      this.arrays.map(({ name }) => [name, unitStrides[name].map((unit, axis) => (unit ? "1" : this.arg({ kind: "stride", name, axis })))]),
    ));
    // A team has a row of scratch for itself.
    this.indices = ir.policy.kind === "team" ? ["team", "team"] : INDEX_NAMES.slice(0, ir.policy.rank);
    this.loops = new VectorLoops(ir, (view) => strides[view]);
    const scatters = this.arrays.flatMap((param) =>
      param.kind === "scatter" ? [[param.name, { param, strategy: "sorted" } as const] as const] : [],
    );
    const update = (param: ScatterParam) => this.atomic(param);
    this.frame = new LaunchFrame(
      language,
      this.ordered ? undefined : update,
      this.wrappers,
      dialect,
      this.names,
      this.indices,
      strides,
      Object.fromEntries(scatters),
      update,
      this.loops,
      precision === "strict" || foldsJointly(ir),
      access,
    );
  }

  /** Writes the launch function's block. */
  protected abstract writeLaunch(code: Code): void;

  text(): string {
    const { ir, stem } = this.request;
    const { language } = this;
    const launch = new Code();
    this.writeLaunch(launch);
    const folds = new Code();
    if (this.needsPartials)
      for (const parts of foldGroups(this.reductions))
        writeFold(this.writer(folds), parts, this.arg({ kind: "result", name: parts[0].name }));
    const code = new Code();
    for (const line of language.head) code.line(line);
    const io = prints(ir.body) && language.printHeader !== undefined ? [language.printHeader] : [];
    for (const header of [...language.headers, ...io].toSorted()) code.line(`#include <${header}>`);
    code.line();
    for (const line of language.prelude ?? []) code.line(line);
    this.writeHelpers(code);
    if (this.needsPartials) code.text(folds.toString().trimEnd()).line();
    writeComment(code, this.request, this.args, language.notes(this.needsPartials, this.reductions.length > 0));
    code.line(`${language.result} ${stem}_launch(`);
    code.indented(() => parameterLines(this.args, (arg) => this.declaration(arg), language.more).forEach((line) => code.line(line)));
    code.line(")");
    const text = launch.toString().trimEnd();
    code.text(language.hints ? text : withoutHints(text));
    return code.toString();
  }

  private writeHelpers(code: Code): void {
    const { ir } = this.request;
    const { dialect, around = [[], []], afterTable } = this.language;
    const helpers = [this.helpers.toString(), ...this.atomics.values()].join("").trimEnd();
    if (helpers === "" && ir.tables.length === 0) return;
    for (const line of around[0]) code.line(line);
    for (const table of ir.tables) {
      writeTable(code, table, dialect, this.names, (type, value) => this.writer(code).value({ op: "const", type, value }));
      for (const line of afterTable?.(this.names.of("table", table.name)) ?? []) code.line(line);
    }
    if (helpers !== "") code.text(helpers);
    for (const line of around[1]) code.line(line);
    code.line();
  }

  protected arg(slot: SignatureSlot): string {
    return argumentFor(this.args, slot).name;
  }

  protected writer(code: Code): BodyWriter {
    return new BodyWriter(code, this.request.ir, this.language.dialect, this.frame, this.names, this.helpers, "small");
  }

  private atomic(param: ScatterParam): string {
    const { dialect, atomics } = this.language;
    const name = `atomic_${param.op}_${param.element}`;
    const fold = this.helpers.use(`${param.op as "min" | "max"}_${param.element}`);
    this.atomics.set(name, atomics.define(name, dialect.types[param.element], fold));
    return name;
  }

  /** One thread does it all, because elements add into arrays and their order matters. */
  protected get ordered(): boolean {
    return this.request.precision === "strict" && this.arrays.some((p) => p.kind === "scatter" && orderMatters(p));
  }

  /** Atomic updates happen in the loops. */
  protected get atomicUpdates(): boolean {
    return !this.ordered && this.arrays.some((p) => p.kind === "scatter");
  }

  /** Reductions that the language does itself. */
  private get simpleSums(): boolean {
    const { ir, precision } = this.request;
    return this.language.addsUp && precision === "fast" && ir.policy.kind === "range" && this.reductions.every(({ op }) => op === "sum");
  }

  protected get needsPartials(): boolean {
    return this.reductions.length > 0 && !this.simpleSums;
  }

  protected get bounds(): ChunkBounds[] {
    return this.indices.map((_, axis) => [this.arg({ kind: "begin", axis }), this.arg({ kind: "end", axis })]);
  }

  protected get axes(): BoxAxis[] {
    return this.bounds.map(([begin, end], axis) => ({ index: this.indices[axis], begin, end }));
  }

  /** The array parameters; declares the counts that are more than an argument. */
  protected arrayParameters(code: Code): ArrayParameter[] {
    return this.arrays.map(({ name, rank, element }) => {
      const axes = [...Array(rank).keys()];
      const extents = axes.map((axis) => this.arg({ kind: "extent", name, axis }));
      const pointer = this.names.of("view", name);
      const written = argumentFor(this.args, { kind: "view", name }).written === true;
      const array = { pointer, T: this.language.dialect.types[element], written };
      if (rank === 1 && this.strides[name][0] === "1") return { ...array, count: extents[0] };
      const count = this.names.fresh(`${pointer}_span`);
      const steps = axes.map((axis) => `(${extents[axis]} - 1)${this.strides[name][axis] === "1" ? "" : ` * ${this.strides[name][axis]}`}`);
      const empty = extents.map((extent) => `${extent} == 0`).join(" || ");
      code.line(`const int64_t ${count} = ${empty} ? 0 : 1 + ${steps.join(" + ")};`);
      return { ...array, count };
    });
  }

  protected get isTeam(): boolean {
    return this.request.ir.policy.kind === "team";
  }

  /** Writes the work of one team or chunk; `tell` takes the expressions of its partial results. */
  protected writeUnit(code: Code, tell: (results: readonly string[]) => void): void {
    const { ir } = this.request;
    const body = this.writer(code);
    if (this.isTeam) {
      const totals = this.frame.accumulate(body, this.reductions);
      body.statements(ir.body);
      return tell(totals);
    }
    writeChunkIndices(code, this.indices, this.bounds);
    const inner = this.indices.length - 1;
    this.frame.lanes(body, this.reductions, { index: inner }, this.indices[inner], "begin", "end", ir.body, tell);
  }

  /** Number of teams or chunks of lines as an expression; declares what it needs. */
  protected unitCount(code: Code): string {
    if (this.isTeam) return this.arg({ kind: "league" });
    code.line(`const int64_t chunks = ${chunkCount(this.bounds.at(-1)!)};`);
    const lines = this.bounds.slice(0, -1).map(([begin, end]) => ` * (${end} - ${begin})`);
    code.line(`const int64_t partials = chunks${lines.join("")};`);
    return "partials";
  }

  /** Variable that counts teams or chunks. */
  protected get unit(): string {
    return this.isTeam ? this.indices[0] : "partial";
  }

  protected partialPlaces(): Partials[] {
    return this.reductions.map(({ name, type }) => {
      const result = this.arg({ kind: "result", name });
      return { place: this.names.fresh(`${result}_partials`), T: this.language.dialect.types[type], result };
    });
  }

  private declaration({ name, type, element, written }: Argument): string {
    const { dialect, restrict } = this.language;
    if (type !== "pointer") return `${dialect.types[type]} ${name}`;
    return `${written ? "" : "const "}${dialect.types[element!]} *${restrict}${name}`;
  }
}

/** Drops hints to OpenMP and to GCC's vectoriser, which other languages do not know. */
const withoutHints = (text: string): string => text.replaceAll(/^ *(?:#pragma omp simd.*|__asm__ volatile \(?""\)?;)\n/gm, "");
