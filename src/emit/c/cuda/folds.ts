import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam } from "../../../ir/types.js";
import type { Entry } from "./program.js";
import { BLOCK, entryName, EntryWriter, type ProgramWriter } from "./writer.js";

const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;

/** Threads of the block that folds the last partials. */
export const FINISH_BLOCK = 1024;

/** Folds the accumulators of 8 neighbouring threads into the first of them, as the strict order wants it. */
export function foldLanes(entry: EntryWriter, param: ReduceParam, accumulator: string): void {
  shuffle(entry, param, accumulator, LANES / 2);
}

/** The first thread of every 2 * `step` gets their fold. */
function shuffle(entry: EntryWriter, param: ReduceParam, accumulator: string, step: number): void {
  const name = entry.names.fresh("step");
  entry.code.block(`for (int ${name} = ${step}; ${name} > 0; ${name} /= 2)`, () =>
    entry.foldInto(entry.body, param, param.type, accumulator, `__shfl_down_sync(~0u, ${accumulator}, ${name})`),
  );
}

/** Folds the accumulators of a block's threads in any order; thread 0 then runs the line made by `use`. Needs `thread` and `threads`. */
export function foldBlock(entry: EntryWriter, param: ReduceParam, accumulator: string, use: (total: string) => string): void {
  const { code } = entry;
  const warps = entry.names.fresh(`${param.name}_warps`);
  shuffle(entry, param, accumulator, 16);
  code.line(`__shared__ ${entry.T[param.type]} ${warps}[32];`);
  code.line(`if (thread % 32 == 0) ${warps}[thread / 32] = ${accumulator};`);
  code.line("__syncthreads();");
  code.block("if (thread < 32)", () => {
    code.line(`${accumulator} = thread < threads / 32 ? ${warps}[thread] : ${entry.constant(param.type, param.identity)};`);
    shuffle(entry, param, accumulator, 16);
    code.line(`if (thread == 0) ${use(accumulator)}`);
  });
}

/** Entries that fold partials until one value is left, by the same rule as elements. */
export class FoldWriter extends EntryWriter {
  protected readonly indexNames: readonly string[] = [];

  constructor(
    program: ProgramWriter,
    private readonly last: boolean,
  ) {
    super(program, `${entryName(program.ir.name)}_${last ? "finish" : "fold"}`, false);
  }

  reduce(): void {
    throw new Error("a fold has no reduce statements");
  }

  write(): { entry: Entry; text: string } {
    if (!this.last) this.writeFold();
    else if (this.program.assumptions.strict) this.writeFinish();
    else this.writeFastFinish();
    return this.finish(this.last ? FINISH_BLOCK : BLOCK);
  }

  /** partials -> folded, `count` to ceil(count / 256) of each. */
  private writeFold(): void {
    this.line(`const long long chunk = blockIdx.x * ${BLOCK / LANES}ll + threadIdx.x / ${LANES};`);
    for (const param of this.program.reduces) this.chunk(param, this.source(param), this.target(param), this.count());
  }

  /** One block folds all partials in its own order. */
  private writeFastFinish(): void {
    const { code, T } = this;
    code.line("const int thread = threadIdx.x, threads = blockDim.x;");
    this.program.reduces.forEach((param, n) => {
      code.block("", () => {
        code.line(`${T[param.type]} total = ${this.constant(param.type, param.identity)};`);
        code.block(`for (long long n = thread; n < ${this.count()}; n += threads)`, () =>
          this.foldInto(this.body, param, param.type, "total", `${this.source(param)}[n]`),
        );
        foldBlock(this, param, "total", (total) => this.result(param, n, total));
        code.line("__syncthreads();");
      });
    });
  }

  /** Puts a result where the host reads it, and into the view that was bound for it. */
  private result(param: ReduceParam, n: number, value: string): string {
    const type = this.T[param.type];
    const output = this.param(`output:${param.name}`, "pointer", `${param.name}_output`, `${type} *`);
    const results = this.param("results", "pointer", "results", "double *");
    return `{ *(${type} *)(${results} + ${n}) = ${value}; if (${output}) *${output} = ${value}; }`;
  }

  /** One block folds to the end; `partials` and `folded` take turns. */
  private writeFinish(): void {
    const { code, T } = this;
    this.program.reduces.forEach((param, n) => {
      code.block("", () => {
        const type = T[param.type];
        code.line(`${type} *from = ${this.source(param)};`);
        code.line(`${type} *to = ${this.target(param)};`);
        code.line(`long long count = ${this.count()};`);
        code.block("while (count > 1)", () => {
          code.line(`const long long chunks = (count + ${CHUNK - 1}) / ${CHUNK};`);
          code.block(`for (long long first = 0; first < chunks; first += ${FINISH_BLOCK / LANES})`, () => {
            code.line(`const long long chunk = first + threadIdx.x / ${LANES};`);
            this.chunk(param, "from", "to", "count");
          });
          code.line("__syncthreads();");
          code.line(`${type} *const folded = to;`);
          code.line("to = from;");
          code.line("from = folded;");
          code.line("count = chunks;");
        });
        code.block("if (threadIdx.x == 0)", () => {
          code.line(`const ${type} result = count == 1 ? from[0] : ${this.constant(param.type, param.identity)};`);
          code.line(this.result(param, n, "result"));
        });
      });
    });
  }

  /** Folds chunk `chunk` by 8 threads; all threads of the warp take part. */
  private chunk(param: ReduceParam, from: string, to: string, count: string): void {
    const { code, T } = this;
    code.block("", () => {
      code.line(`${T[param.type]} total = ${this.constant(param.type, param.identity)};`);
      code.line(`const long long stop = (chunk + 1) * ${CHUNK} < ${count} ? (chunk + 1) * ${CHUNK} : ${count};`);
      code.block(`for (long long n = chunk * ${CHUNK} + threadIdx.x % ${LANES}; n < stop; n += ${LANES})`, () =>
        this.foldInto(this.body, param, param.type, "total", `${from}[n]`),
      );
      foldLanes(this, param, "total");
      code.line(`if (threadIdx.x % ${LANES} == 0 && chunk * ${CHUNK} < ${count}) ${to}[chunk] = total;`);
    });
  }

  private line(text: string): void {
    this.code.line(text);
  }
  private count(): string {
    return this.param("count", "i64", "partial_count");
  }
  private source({ name, type }: ReduceParam): string {
    return this.param(`partials:${name}`, "pointer", `${name}_partials`, `${this.T[type]} *`);
  }
  private target({ name, type }: ReduceParam): string {
    return this.param(`folded:${name}`, "pointer", `${name}_folded`, `${this.T[type]} *`);
  }
}
