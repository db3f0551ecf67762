import { foldGroups, foldsJointly } from "../../ir/joint.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam } from "../../ir/types.js";
import { groupOf, TEMPORARY, WGSL_TYPES, WORKGROUP, wordsOf, type ShaderEntry } from "./shader-program.js";
import { SubgroupFold, subgroupFold, type Cells, type WorkgroupFold } from "./subgroups.js";
import type { WgslStmtOf } from "./frame.js";
import { EntryWriter, type ProgramWriter } from "./writer.js";

const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;

/** The number of a workgroup in a grid of x and y. */
export const LINEAR_WORKGROUP = "i32(workgroup.y * workgroups.x + workgroup.x)";

/** Whether folds keep the order of strict mode. */
export function isOrdered({ ir, assumptions: { strict, ordered } }: ProgramWriter): boolean {
  return strict || ordered === true || foldsJointly(ir);
}

/** Writes the fold of values into places: of one reduction, or of several that fold jointly. */
export function foldAll(
  entry: Pick<EntryWriter, "body" | "code" | "foldInto" | "names">,
  parts: readonly ReduceParam[],
  into: readonly string[],
  values: readonly string[],
): void {
  const { body, code, names } = entry;
  const [param] = parts;
  if (!param.joint) return void code.line(entry.foldInto(param, param.type, into[0], values[0]));
  const taken = parts.map(({ name }) => names.fresh(`${name}_value`));
  code.block("", () => {
    parts.forEach(({ type }, n) => code.line(`let ${taken[n]}: ${WGSL_TYPES[type]} = ${values[n]};`));
    body.foldJointly(parts, into, taken);
  });
}

/** Folds the values of a statement into the accumulators of its parameters, by their names. */
export function foldStatement(
  entry: EntryWriter,
  { targets }: WgslStmtOf<"reduceJointly">,
  values: readonly string[],
  accumulators: ReadonlyMap<string, string>,
): void {
  const parts = targets.map((target) => entry.program.reduces.find((p) => p.name === target)!);
  foldAll(
    entry,
    parts,
    targets.map((target) => accumulators.get(target)!),
    values,
  );
}

/** Folds the values that `count` neighbouring invocations have put into `cells`; the first of them gets the result. All invocations must come here. */
function foldNeighbours(entry: EntryWriter, count: number, fold: (step: number) => void): void {
  const { code } = entry;
  code.line("workgroupBarrier();");
  for (let step = count / 2; step >= 1; step /= 2) {
    code.block(`if thread % ${count} < ${step}`, () => fold(step));
    code.line("workgroupBarrier();");
  }
}

/** Folds the accumulators of 8 neighbouring invocations, of one reduction or of several that fold jointly, into the cells of the first of them. */
export function foldLanesOf(
  entry: EntryWriter,
  parts: readonly ReduceParam[],
  cells: readonly string[],
  accumulators: readonly string[],
): void {
  cells.forEach((cell, n) => entry.code.line(`${cell}[thread] = ${accumulators[n]};`));
  foldNeighbours(entry, REDUCTION_LANES, (step) =>
    foldAll(
      entry,
      parts,
      cells.map((cell) => `${cell}[thread]`),
      cells.map((cell) => `${cell}[thread + ${step}]`),
    ),
  );
}

/**
 * Folds what all invocations of a workgroup of `count` have, in any order, by subgroups where the device has them. `use` writes what becomes of
 * a result, from a value that is there for all invocations. All invocations must come here, and not again before a barrier.
 */
export function foldWorkgroup<F extends WorkgroupFold>(
  entry: EntryWriter,
  foldings: readonly F[],
  count: number,
  cellsOf: Cells,
  use: (folding: F, value: string) => void,
): void {
  if (foldings.length === 0) return;
  const { subgroupSize } = entry.program.assumptions;
  if (subgroupSize !== undefined && count % subgroupSize === 0)
    return new SubgroupFold(entry, foldings, count, subgroupSize, cellsOf).write(use);
  const cells = foldings.map(({ result }, n) => cellsOf(result.type, n, count));
  foldings.forEach((folding, n) => foldThroughCells(entry, folding, cells[n], count));
  foldings.forEach((folding, n) => use(folding, `${cells[n]}[0]`));
}

/** Folds into the first of `cells`, over subgroups first if WGSL can fold over one of any size. */
function foldThroughCells(entry: EntryWriter, { result, accumulator }: WorkgroupFold, cells: string, count: number): void {
  const { code } = entry;
  const { op, type } = result;
  const own = entry.program.assumptions.subgroups ? subgroupFold(op, type) : undefined;
  if (!own) {
    code.line(`${cells}[thread] = ${accumulator};`);
    return foldNeighbours(entry, count, (step) =>
      code.line(entry.foldInto(result, type, `${cells}[thread]`, `${cells}[thread + ${step}]`)),
    );
  }
  const part = entry.names.fresh(`${result.name}_part`);
  code.line(`let ${part} = ${own}(${accumulator});`);
  code.line(`if subgroup_lane == 0u { ${cells}[subgroup_number] = ${part}; }`);
  code.line("workgroupBarrier();");
  code.block("if thread == 0", () =>
    code.line(`for (var n = 1u; n < subgroup_count; n += 1u) { ${entry.foldInto(result, type, `${cells}[0]`, `${cells}[n]`)} }`),
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

  entry(): ShaderEntry {
    this.code.line("let thread = i32(thread_number);");
    if (!this.last) this.writeFold();
    else if (isOrdered(this.program)) this.finishInOrder();
    else this.finishInAnyOrder();
    return this.finish([WORKGROUP, 1, 1]);
  }

  /** partials -> folded, `count` to ceil(count / 256) of each. */
  private writeFold(): void {
    this.code.line(`let chunk = ${LINEAR_WORKGROUP} * ${WORKGROUP / LANES} + thread / ${LANES};`);
    for (const parts of foldGroups(this.program.reduces))
      this.chunk(
        parts,
        parts.map((param) => this.cells(param)),
        parts.map((param) => this.source(param)),
        parts.map((param) => this.target(param)),
      );
  }

  /** One workgroup folds all that is left. */
  private finishInAnyOrder(): void {
    const { code } = this;
    const cellsOf: Cells = (type, n, length) => this.shared(`cells_${type}_${n}`, `array<${WGSL_TYPES[type]}, ${length}>`);
    const foldings = this.program.reduces.map((result) => {
      const accumulator = this.names.fresh(result.name);
      code.line(`var ${accumulator} = ${this.body.constant(result.type, result.identity)};`);
      const n = this.names.fresh("n");
      const partial = this.read(TEMPORARY, result.type, `${this.source(result)} + ${n}`);
      code.block(`for (var ${n} = thread; ${n} < ${this.count()}; ${n} += ${WORKGROUP})`, () =>
        code.line(this.foldInto(result, result.type, accumulator, partial)),
      );
      return { result, accumulator };
    });
    foldWorkgroup(this, foldings, WORKGROUP, cellsOf, ({ result }, value) =>
      code.block("if thread == 0", () => this.writeResult(result, value)),
    );
  }

  private writeResult(param: ReduceParam, value: string): void {
    const { name, type } = param;
    const n = this.program.reduces.indexOf(param);
    this.code.line(this.write(TEMPORARY, type, `${this.field({ kind: "results" })}${resultAt(n, type)}`, value));
    const output = { kind: "output", name } as const;
    if (groupOf(this.program.assumptions.groups, output) !== undefined) this.code.line(this.write(output, type, this.field(output), value));
  }

  /** The same as strict reductions go, chunk by chunk; `partials` and `folded` take turns. */
  private finishInOrder(): void {
    const { code } = this;
    for (const parts of foldGroups(this.program.reduces)) {
      const cells = parts.map((param) => this.cells(param));
      const [sources, targets] = ["source", "folded"].map((stem) => parts.map((_, n) => (n === 0 ? stem : `${stem}_${n}`)));
      code.block("", () => {
        parts.forEach((param, n) => {
          code.line(`var ${sources[n]} = ${this.source(param)};`);
          code.line(`var ${targets[n]} = ${this.target(param)};`);
        });
        code.line(`var count = ${this.count()};`);
        code.block("while count > 1", () => {
          code.line(`let chunks = (count + ${CHUNK - 1}) / ${CHUNK};`);
          code.block(`for (var first = 0; first < chunks; first += ${WORKGROUP / LANES})`, () => {
            code.line(`let chunk = first + thread / ${LANES};`);
            this.chunk(parts, cells, sources, targets, "count");
          });
          code.line("storageBarrier();");
          parts.forEach((_, n) => {
            const turn = n === 0 ? "turn" : `turn_${n}`;
            code.line(`let ${turn} = ${targets[n]};`);
            code.line(`${targets[n]} = ${sources[n]};`);
            code.line(`${sources[n]} = ${turn};`);
          });
          code.line("count = chunks;");
        });
        parts.forEach((param, n) =>
          code.block("if thread == 0", () => {
            const { type } = param;
            code.line(`var result = ${this.body.constant(type, param.identity)};`);
            code.line(`if count == 1 { result = ${this.read(TEMPORARY, type, sources[n])}; }`);
            this.writeResult(param, "result");
          }),
        );
      });
    }
  }

  /** Folds chunk `chunk` by 8 invocations. */
  private chunk(
    parts: readonly ReduceParam[],
    cells: readonly string[],
    sources: readonly string[],
    targets: readonly string[],
    count = this.count(),
  ): void {
    const { code } = this;
    const totals = parts.map((_, n) => (n === 0 ? "total" : `total_${n}`));
    code.block("", () => {
      parts.forEach(({ type, identity }, n) => code.line(`var ${totals[n]} = ${this.body.constant(type, identity)};`));
      code.line(`let stop = min((chunk + 1) * ${CHUNK}, ${count});`);
      code.block(`for (var n = chunk * ${CHUNK} + thread % ${LANES}; n < stop; n += ${LANES})`, () =>
        foldAll(
          this,
          parts,
          totals,
          parts.map(({ type }, n) => this.read(TEMPORARY, type, `${sources[n]} + n`)),
        ),
      );
      foldLanesOf(this, parts, cells, totals);
      const stores = parts.map(({ type }, n) => this.write(TEMPORARY, type, `${targets[n]} + chunk`, `${cells[n]}[thread]`));
      code.line(`if thread % ${LANES} == 0 && chunk * ${CHUNK} < ${count} { ${stores.join(" ")} }`);
    });
  }

  private cells({ name, type }: ReduceParam): string {
    return this.shared(`${name}_cells`, `array<${WGSL_TYPES[type]}, ${WORKGROUP}>`);
  }
  private count(): string {
    return this.field({ kind: "partialCount" }, "i32", "count");
  }
  private source({ name }: ReduceParam): string {
    return this.field({ kind: "partials", name });
  }
  private target({ name }: ReduceParam): string {
    return this.field({ kind: "folded", name });
  }
}

/** Results lie 8 bytes apart, starting at `results`, which counts words; offsets of 64 bits count pairs of them. */
function resultAt(n: number, type: ReduceParam["type"]): string {
  const words = (2 * n) / wordsOf(type);
  return `${wordsOf(type) === 2 ? " / 2" : ""}${words === 0 ? "" : ` + ${words}`}`;
}
