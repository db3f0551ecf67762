import { foldGroups } from "../../ir/joint.js";
import type { Code } from "../c/code.js";
import { foldLines } from "../c/partials.js";
import { LaunchWriter, type BoxAxis, type LaunchLanguage } from "./launch-writer.js";
import type { EmitRequest } from "./request.js";

/** Arrays that a parallel loop works on: what memory of another device must hold a copy of. */
export interface Used {
  readonly name: string;
  /** A C expression: elements from the pointer on. */
  readonly count: string;
  readonly way: "to" | "tofrom" | "from";
}

/** How a language puts nested loops to work by directives; everything else is C. */
export interface LoopLanguage extends LaunchLanguage {
  /**
   * Lines before `depth` perfectly nested loops over elements, or before one over chunks or teams.
   * @param sum variables that are added up
   * @param simd the one loop is for vector instructions too
   */
  parallel(depth: number, used: readonly Used[], sum: readonly string[], simd: boolean): readonly string[];
  /** The same before a block that runs on one thread, in order. */
  serial(used: readonly Used[]): readonly string[];
  /** Lines that bring arrays to the memory of the loops and back, around them, where the directives do not. */
  readonly data?: { enter(used: readonly Used[]): readonly string[]; exit(used: readonly Used[]): readonly string[] };
  /** The loops may run in another memory; else the innermost is left to vector instructions. */
  readonly offloads: boolean;
}

/** A kernel as one function of nested loops under directives. */
export function writeLoops(request: EmitRequest, language: LoopLanguage): string {
  return new LoopsWriter(request, language).text();
}

class LoopsWriter extends LaunchWriter<LoopLanguage> {
  protected writeLaunch(code: Code): void {
    code.block("", () => {
      if (this.isTeam || this.needsPartials) this.writeUnits(code);
      else this.writeElements(code);
      code.line("return 0;");
    });
  }

  /** Variables that the loops use; declares what they need. */
  private used(code: Code): Used[] {
    if (!this.language.offloads) return [];
    return this.arrayParameters(code).map(({ pointer, count, written }) => ({ name: pointer, count, way: written ? "tofrom" : "to" }));
  }

  /** The directives before loops that `write` writes, and their data. */
  private open(code: Code, depth: number, used: readonly Used[], sum: readonly string[], simd: boolean, write: () => void): void {
    const { data } = this.language;
    const lines = (list: readonly string[] = []) => list.forEach((line) => code.line(line));
    lines(data?.enter(used));
    lines(this.ordered ? this.language.serial(used) : this.language.parallel(depth, used, sum, simd));
    write();
    lines(data?.exit(used));
  }

  /** The loops of the range. */
  private writeElements(code: Code): void {
    const used = this.used(code);
    const { ir } = this.request;
    const body = this.writer(code);
    const { axes } = this;
    const rank = axes.length;
    const totals = this.frame.accumulate(body, this.reductions);
    const { offloads } = this.language;
    const simd = !offloads && this.loops.pays(ir.body, { index: rank - 1 });
    const depth = !offloads && rank > 1 ? rank - 1 : rank;
    const nest = (axis: number): void => {
      const head = counted(axes[axis]);
      if (axis < rank - 1) return void code.block(head, () => nest(axis + 1));
      if (simd && rank > 1) code.line(`#pragma omp simd${sumClause(totals)}`);
      code.line(`${head} {`);
      body.loop(ir.body);
      code.line("}");
    };
    this.open(code, depth, used, totals, simd && rank === 1, () => nest(0));
    this.reductions.forEach(({ name }, n) => code.line(`*${this.arg({ kind: "result", name })} = ${totals[n]};`));
  }

  /** A loop over teams, or over chunks of lines; each leaves a partial result. */
  private writeUnits(code: Code): void {
    const used = this.used(code);
    const count = this.unitCount(code);
    const places = this.partialPlaces();
    for (const { place, T } of places) code.line(`${T} *${place} = (${T} *)malloc((${count} + 1) * sizeof(${T}));`);
    if (places.length > 0) {
      const free = places.map(({ place }) => `free(${place});`).join(" ");
      code.line(`if (${places.map(({ place }) => `!${place}`).join(" || ")}) { ${free} return 1; }`);
    }
    const tell = (results: readonly string[]) => places.forEach(({ place }, n) => code.line(`${place}[${this.unit}] = ${results[n]};`));
    const all = [...used, ...places.map(({ place }) => ({ name: place, count, way: "from" as const }))];
    this.open(code, 1, all, [], false, () =>
      code.block(counted({ index: this.unit, begin: "0", end: count }), () => this.writeUnit(code, tell)),
    );
    for (const parts of foldGroups(this.reductions)) {
      const own = parts.map((part) => places[this.reductions.indexOf(part)]);
      const partials = own.map(({ place }) => place);
      const results = own.map(({ result }) => `*${result}`);
      for (const line of foldLines(this.writer(code), parts, { name: own[0].result, partials, count, results })) code.line(line);
      for (const place of partials) code.line(`free(${place});`);
    }
  }
}

/** OpenMP's and OpenACC's clause for variables that are added up. */
export const sumClause = (sum: readonly string[]): string => (sum.length > 0 ? ` reduction(+: ${sum.join(", ")})` : "");

const counted = ({ index, begin, end }: BoxAxis): string => `for (int64_t ${index} = ${begin}; ${index} < ${end}; ${index}++)`;
