import { REDUCTION_CHUNK, REDUCTION_LANES, type NumericType, type ReduceOp, type ReduceParam, type TeamResult } from "../../ir/types.js";
import { TYPES, WORKGROUP, wordsOf, type Entry } from "./program.js";
import { EntryWriter, TEMPORARY, type ProgramWriter } from "./writer.js";

const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;

/** The number of a workgroup in a grid of x and y. */
export const LINEAR_WORKGROUP = "i32(workgroup.y * workgroups.x + workgroup.x)";

/** Folds the values that `count` neighbouring invocations have put into `cells`; the first of them gets the result. All invocations must come here. */
export function foldNeighbours(entry: EntryWriter, param: ReduceParam | TeamResult, cells: string, count: number): void {
  const { code } = entry;
  code.line("workgroupBarrier();");
  for (let step = count / 2; step >= 1; step /= 2) {
    code.block(`if thread % ${count} < ${step}`, () =>
      code.line(entry.foldInto(param, param.type, `${cells}[thread]`, `${cells}[thread + ${step}]`)),
    );
    code.line("workgroupBarrier();");
  }
}

/** What WGSL folds over a subgroup by itself; the least and greatest of floats are not Math.min and Math.max there. */
function subgroupFold(op: ReduceOp, type: NumericType): string | undefined {
  if (op === "sum") return type === "f64" ? undefined : "subgroupAdd";
  const whole = type === "i32" || type === "u32";
  return whole && op !== "custom" ? (op === "min" ? "subgroupMin" : "subgroupMax") : undefined;
}

/**
 * Folds the accumulators of all invocations of a workgroup of `count`, in any order, into the first of `cells`, by subgroups where the
 * device has them. All invocations must come here.
 */
export function foldWorkgroup(
  entry: EntryWriter,
  folded: ReduceParam | TeamResult,
  accumulator: string,
  cells: string,
  count: number,
): void {
  const { code } = entry;
  const { op, type } = folded;
  const own = entry.program.assumptions.subgroups ? subgroupFold(op, type) : undefined;
  if (!own) {
    code.line(`${cells}[thread] = ${accumulator};`);
    return foldNeighbours(entry, folded, cells, count);
  }
  const part = entry.names.fresh(`${folded.name}_part`);
  code.line(`let ${part} = ${own}(${accumulator});`);
  code.line(`if subgroup_lane == 0u { ${cells}[subgroup_number] = ${part}; }`);
  code.line("workgroupBarrier();");
  code.block("if thread == 0", () =>
    code.line(`for (var n = 1u; n < subgroup_count; n += 1u) { ${entry.foldInto(folded, type, `${cells}[0]`, `${cells}[n]`)} }`),
  );
  code.line("workgroupBarrier();");
}

/** Shaders that fold partials until one value is left, by the same rule as elements. */
export class FoldWriter extends EntryWriter {
  protected readonly indexNames: readonly string[] = [];

  constructor(
    program: ProgramWriter,
    private readonly last: boolean,
  ) {
    super(program, last ? "finish" : "fold");
  }

  reduce(): void {
    throw new Error("a fold has no reduce statements");
  }

  entry(): Entry {
    this.code.line("let thread = i32(thread_number);");
    if (this.last) this.writeFinish();
    else this.writeFold();
    return this.finish([WORKGROUP, 1, 1]);
  }

  /** partials -> folded, `count` to ceil(count / 256) of each. */
  private writeFold(): void {
    this.code.line(`let chunk = ${LINEAR_WORKGROUP} * ${WORKGROUP / LANES} + thread / ${LANES};`);
    for (const param of this.program.reduces)
      this.chunk(param, this.cells(param), this.source(param), this.target(param), this.field("count"));
  }

  /** One workgroup folds to the end; `partials` and `folded` take turns. */
  private writeFinish(): void {
    const { code } = this;
    this.program.reduces.forEach((param, n) => {
      const cells = this.cells(param);
      code.block("", () => {
        code.line(`var source = ${this.source(param)};`);
        code.line(`var folded = ${this.target(param)};`);
        code.line(`var count = ${this.field("count")};`);
        code.block("while count > 1", () => {
          code.line(`let chunks = (count + ${CHUNK - 1}) / ${CHUNK};`);
          code.block(`for (var first = 0; first < chunks; first += ${WORKGROUP / LANES})`, () => {
            code.line(`let chunk = first + thread / ${LANES};`);
            this.chunk(param, cells, "source", "folded", "count");
          });
          code.line("storageBarrier();");
          code.line("let turn = folded;");
          code.line("folded = source;");
          code.line("source = turn;");
          code.line("count = chunks;");
        });
        code.block("if thread == 0", () => {
          const { name, type } = param;
          code.line(`var result = ${this.body.constant(type, param.identity)};`);
          code.line(`if count == 1 { result = ${this.read(TEMPORARY, type, "source")}; }`);
          code.line(this.write(TEMPORARY, type, `${this.field("results")}${resultAt(n, type)}`, "result"));
          if (this.program.assumptions.groups[`output:${name}`] !== undefined)
            code.line(this.write(`output:${name}`, type, this.field(`output:${name}`), "result"));
        });
      });
    });
  }

  /** Folds chunk `chunk` by 8 invocations. */
  private chunk(param: ReduceParam, cells: string, source: string, target: string, count: string): void {
    const { code } = this;
    const { type } = param;
    code.block("", () => {
      code.line(`var total = ${this.body.constant(type, param.identity)};`);
      code.line(`let stop = min((chunk + 1) * ${CHUNK}, ${count});`);
      code.block(`for (var n = chunk * ${CHUNK} + thread % ${LANES}; n < stop; n += ${LANES})`, () =>
        code.line(this.foldInto(param, type, "total", this.read(TEMPORARY, type, `${source} + n`))),
      );
      code.line(`${cells}[thread] = total;`);
      foldNeighbours(this, param, cells, LANES);
      code.line(
        `if thread % ${LANES} == 0 && chunk * ${CHUNK} < ${count} { ${this.write(TEMPORARY, type, `${target} + chunk`, `${cells}[thread]`)} }`,
      );
    });
  }

  private cells({ name, type }: ReduceParam): string {
    return this.shared(`${name}_cells`, `array<${TYPES[type]}, ${WORKGROUP}>`);
  }
  private source({ name }: ReduceParam): string {
    return this.field(`partials:${name}`);
  }
  private target({ name }: ReduceParam): string {
    return this.field(`folded:${name}`);
  }
}

/** Results lie 8 bytes apart, behind `results`, which counts words; offsets of f64 count pairs of them. */
function resultAt(n: number, type: ReduceParam["type"]): string {
  const words = (2 * n) / wordsOf(type);
  return `${type === "f64" ? " / 2" : ""}${words === 0 ? "" : ` + ${words}`}`;
}
