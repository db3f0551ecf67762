import { prints } from "../../ir/print-records.js";
import { orderMatters } from "../../ir/identity.js";
import type { ReduceParam, ScatterParam, ViewParam } from "../../ir/types.js";
import { BodyWriter } from "../c/body.js";
import { writeTable } from "../c/tables.js";
import { Code } from "../c/code.js";
import { Helpers } from "../c/helpers.js";
import { Names } from "../../base/names.js";
import { openmpDialect as dialect } from "../c/openmp-dialect.js";
import { OpenMPFrame } from "../c/openmp-frame.js";
import { atomicFunction } from "../c/openmp-prelude.js";
import { chunkCount, writeChunkIndices, writeFold, type ChunkBounds } from "../c/partials.js";
import { VectorLoops } from "../c/vector.js";
import type { SignatureSlot } from "../../schedule/slots.js";
import type { EmitRequest } from "./request.js";
import { argumentFor, INDEX_NAMES, launchArguments, parameterLines, writeComment, type Argument } from "./signature.js";

/** Arrays that a parallel loop works on: what memory of another device must hold a copy of. */
export interface Used {
  readonly name: string;
  /** A C expression: elements from the pointer on. */
  readonly count: string;
  readonly way: "to" | "tofrom" | "from";
}

/** How a language puts a loop nest to work; everything else is C. */
interface LoopConstructs {
  /** Lines at the head of the file. */
  readonly head: readonly string[];
  /** Lines around helper functions and tables. */
  readonly around: readonly [before: readonly string[], after: readonly string[]];
  /**
   * Lines before `depth` perfectly nested loops over elements, or before one over chunks or teams.
   * @param sum variables that are added up
   * @param simd the one loop is for vector instructions too
   */
  parallel(depth: number, used: readonly Used[], sum: readonly string[], simd: boolean): readonly string[];
  /** The same before a block that runs on one thread, in order. */
  serial(used: readonly Used[]): readonly string[];
  /** The loops may run in another memory; else the innermost is left to vector instructions. */
  readonly offloads: boolean;
}

/** A kernel as one C function of plain loops, with OpenMP's pragmas. */
export function writeLoops(request: EmitRequest, constructs: LoopConstructs): string {
  return new LoopsWriter(request, constructs).text();
}

class LoopsWriter {
  private readonly code = new Code();
  private readonly names = new Names();
  private readonly helpers = new Helpers(dialect);
  private readonly atomics = new Map<string, string>();
  private readonly args: readonly Argument[];
  private readonly indices: readonly string[];
  private readonly strides: Record<string, string[]> = {};
  private readonly reductions: readonly ReduceParam[];
  private readonly arrays: readonly (ViewParam | ScatterParam)[];
  private readonly loops: VectorLoops;
  private readonly frame: OpenMPFrame;

  constructor(
    private readonly request: EmitRequest,
    private readonly constructs: LoopConstructs,
  ) {
    const { ir, access, precision, unitStrides } = request;
    this.args = launchArguments(request, this.names);
    this.reductions = ir.params.filter((p) => p.kind === "reduce");
    this.arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
    for (const { name, rank } of this.arrays)
      this.strides[name] = Array.from({ length: rank }, (_, axis) =>
        unitStrides[name][axis] ? "1" : this.arg({ kind: "stride", name, axis }),
      );
    // A team has a row of scratch for itself.
    this.indices = ir.policy.kind === "team" ? ["team", "team"] : INDEX_NAMES.slice(0, ir.policy.rank);
    this.loops = new VectorLoops(ir, (view) => this.strides[view]);
    const strategy = this.ordered ? "sorted" : "atomic";
    const scatters = this.arrays.flatMap((param) =>
      param.kind === "scatter" ? [[param.name, { param, strategy } as const] as const] : [],
    );
    this.frame = new OpenMPFrame(
      dialect,
      this.names,
      this.indices,
      this.strides,
      Object.fromEntries(scatters),
      (param) => this.atomic(param),
      this.loops,
      precision === "strict",
      access,
    );
  }

  text(): string {
    const { ir, stem } = this.request;
    const launch = new Code();
    this.writeLaunch(launch);
    const folds = new Code();
    if (!this.simpleSums)
      for (const param of this.reductions) writeFold(this.writer(folds), param, this.arg({ kind: "result", name: param.name }));

    const { code, constructs } = this;
    for (const line of constructs.head) code.line(line);
    const io = prints(ir.body) ? ["stdio.h"] : [];
    for (const header of ["math.h", "stdbool.h", "stdint.h", ...io, "stdlib.h"]) code.line(`#include <${header}>`);
    code.line();
    const helpers = [this.helpers.toString(), ...this.atomics.values()].join("").trimEnd();
    if (helpers !== "" || ir.tables.length > 0) {
      const [before, after] = constructs.around;
      for (const line of before) code.line(line);
      for (const table of ir.tables)
        writeTable(code, table, dialect, this.names, (type, value) => this.writer(code).value({ op: "const", type, value }));
      if (helpers !== "") code.text(helpers);
      for (const line of after) code.line(line);
      code.line();
    }
    if (this.needsPartials) code.text(folds.toString().trimEnd()).line();
    writeComment(code, this.request, this.args, [
      this.needsPartials ? "Returns 0, or 1 if there is no memory for partial results." : "Returns 0.",
    ]);
    code.line(`int ${stem}_launch(`);
    code.indented(() => parameterLines(this.args, declaration).forEach((line) => code.line(line)));
    code.line(")");
    code.text(launch.toString().trimEnd());
    return code.toString();
  }

  private arg(slot: SignatureSlot): string {
    return argumentFor(this.args, slot).name;
  }

  private writer(code: Code): BodyWriter {
    return new BodyWriter(code, this.request.ir, dialect, this.frame, this.names, this.helpers, "small");
  }

  private atomic(param: ScatterParam): string {
    const name = `atomic_${param.op}_${param.element}`;
    const fold = this.helpers.use(`${param.op as "min" | "max"}_${param.element}`);
    this.atomics.set(name, atomicFunction(name, dialect.types[param.element], fold));
    return name;
  }

  /** One thread does it all, because elements add into arrays and their order matters. */
  private get ordered(): boolean {
    return this.request.precision === "strict" && this.arrays.some((p) => p.kind === "scatter" && orderMatters(p));
  }

  /** Reductions that OpenMP's own clause does. */
  private get simpleSums(): boolean {
    const { ir, precision } = this.request;
    return precision === "fast" && ir.policy.kind === "range" && this.reductions.every(({ op }) => op === "sum");
  }

  private get needsPartials(): boolean {
    return this.reductions.length > 0 && !this.simpleSums;
  }

  private get bounds(): ChunkBounds[] {
    return this.indices.map((_, axis) => [this.arg({ kind: "begin", axis }), this.arg({ kind: "end", axis })]);
  }

  private writeLaunch(code: Code): void {
    code.block("", () => {
      if (this.request.ir.policy.kind === "team" || this.needsPartials) this.writeUnits(code);
      else this.writeElements(code);
      code.line("return 0;");
    });
  }

  /** Variables that the loops use; declares what they need. */
  private used(code: Code): Used[] {
    if (!this.constructs.offloads) return [];
    return this.arrays.map(({ name, rank }) => {
      const axes = [...Array(rank).keys()];
      const extents = axes.map((axis) => this.arg({ kind: "extent", name, axis }));
      const pointer = this.names.of("view", name);
      const way = argumentFor(this.args, { kind: "view", name }).written ? "tofrom" : "to";
      if (rank === 1 && this.strides[name][0] === "1") return { name: pointer, count: extents[0], way };
      const count = this.names.fresh(`${pointer}_span`);
      const steps = axes.map((axis) => `(${extents[axis]} - 1)${this.strides[name][axis] === "1" ? "" : ` * ${this.strides[name][axis]}`}`);
      const empty = extents.map((extent) => `${extent} == 0`).join(" || ");
      code.line(`const int64_t ${count} = ${empty} ? 0 : 1 + ${steps.join(" + ")};`);
      return { name: pointer, count, way };
    });
  }

  private open(code: Code, depth: number, used: readonly Used[], sum: readonly string[] = [], simd = false): void {
    for (const line of this.ordered ? this.constructs.serial(used) : this.constructs.parallel(depth, used, sum, simd)) code.line(line);
  }

  /** The loops of the range. */
  private writeElements(code: Code): void {
    const used = this.used(code);
    const { ir } = this.request;
    const body = this.writer(code);
    const rank = this.indices.length;
    const totals = this.frame.accumulate(body, this.reductions);
    const { offloads } = this.constructs;
    const simd = !offloads && this.loops.pays(ir.body, { index: rank - 1 });
    const depth = !offloads && rank > 1 ? rank - 1 : rank;
    this.open(code, depth, used, totals, simd && rank === 1);
    const nest = (axis: number): void => {
      const [name, [begin, end]] = [this.indices[axis], this.bounds[axis]];
      const head = `for (int64_t ${name} = ${begin}; ${name} < ${end}; ${name}++)`;
      if (axis < rank - 1) return void code.block(head, () => nest(axis + 1));
      if (simd && rank > 1) code.line(`#pragma omp simd${sumClause(totals)}`);
      code.line(`${head} {`);
      body.loop(ir.body);
      code.line("}");
    };
    nest(0);
    this.reductions.forEach(({ name }, n) => code.line(`*${this.arg({ kind: "result", name })} = ${totals[n]};`));
  }

  /** A loop over teams, or over chunks of lines; each leaves a partial result. */
  private writeUnits(code: Code): void {
    const { ir } = this.request;
    const used = this.used(code);
    const team = ir.policy.kind === "team";
    const inner = this.indices.length - 1;
    const count = team ? this.arg({ kind: "league" }) : "partials";
    if (!team) {
      code.line(`const int64_t chunks = ${chunkCount(this.bounds[inner])};`);
      const lines = this.bounds.slice(0, -1).map(([begin, end]) => ` * (${end} - ${begin})`);
      code.line(`const int64_t partials = chunks${lines.join("")};`);
    }
    const places = this.reductions.map(({ name, type }) => {
      const place = this.names.fresh(`${this.arg({ kind: "result", name })}_partials`);
      const T = dialect.types[type];
      code.line(`${T} *${place} = malloc((${count} + 1) * sizeof(${T}));`);
      return { place, result: this.arg({ kind: "result", name }), count, type, name };
    });
    if (places.length > 0) {
      const free = places.map(({ place }) => `free(${place});`).join(" ");
      code.line(`if (${places.map(({ place }) => `!${place}`).join(" || ")}) { ${free} return 1; }`);
    }
    this.open(code, 1, [...used, ...places.map(({ place }) => ({ name: place, count, way: "from" as const }))]);
    const body = this.writer(code);
    if (team)
      code.block(`for (int64_t ${this.indices[0]} = 0; ${this.indices[0]} < ${count}; ${this.indices[0]}++)`, () => {
        const totals = this.frame.accumulate(body, this.reductions);
        body.statements(ir.body);
        places.forEach(({ place }, n) => code.line(`${place}[${this.indices[0]}] = ${totals[n]};`));
      });
    else
      code.block("for (int64_t partial = 0; partial < partials; partial++)", () => {
        writeChunkIndices(code, this.indices, this.bounds);
        this.frame.lanes(body, this.reductions, { index: inner }, this.indices[inner], "begin", "end", ir.body, (results) =>
          places.forEach(({ place }, n) => code.line(`${place}[partial] = ${results[n]};`)),
        );
      });
    for (const { place, result } of places) code.line(`*${result} = ${result}_fold(${place}, ${count});`).line(`free(${place});`);
  }
}

/** OpenMP's clause for variables that are added up. */
export const sumClause = (sum: readonly string[]): string => (sum.length > 0 ? ` reduction(+: ${sum.join(", ")})` : "");

function declaration({ name, type, element, written }: Argument): string {
  if (type !== "pointer") return `${dialect.types[type]} ${name}`;
  return `${written ? "" : "const "}${dialect.types[element!]} *restrict ${name}`;
}
