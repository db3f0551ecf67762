import { REDUCTION_CHUNK, REDUCTION_LANES, type NumericType, type ReduceParam } from "../../../ir/types.js";
import type { BodyWriter } from "../body.js";
import { finalThreads, type LastBlock } from "./dialect.js";
import { AllReduce } from "./all-reduce.js";
import type { Entry } from "./program.js";
import { foldDown } from "./shuffles.js";
import { BLOCK, entryName, EntryWriter, type ProgramWriter } from "./writer.js";

const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;
/** Partials that a thread asks for before it folds any: as many as it has, where `FinalReduction` can cut them so. */
export const AT_ONCE = 8;

/** Folds the accumulators of 8 neighbouring threads into the first of them, as the strict order wants it; all threads of a block take part. */
export function foldLanes(entry: EntryWriter, param: ReduceParam, accumulator: string): void {
  const { code, dialect } = entry;
  if (dialect.shuffle) return foldDown(entry, param, accumulator, LANES / 2, dialect.shuffle);
  const thread = dialect.thread("x");
  const lanes = entry.names.fresh(`${param.name}_lanes`);
  const [step, lane] = [entry.names.fresh("step"), entry.names.fresh("lane")];
  entry.sharedArray(lanes, param.type, BLOCK);
  code.line(`${dialect.barrier};`);
  code.line(`${lanes}[${thread}] = ${accumulator};`);
  code.line(`${dialect.barrier};`);
  code.block(`if (${thread} % ${LANES} == 0)`, () => {
    code.block(`for (int ${step} = ${LANES / 2}; ${step} > 0; ${step} /= 2)`, () =>
      code.block(`for (int ${lane} = ${thread}; ${lane} < ${thread} + ${step}; ${lane}++)`, () =>
        entry.foldInto(entry.body, param, param.type, `${lanes}[${lane}]`, `${lanes}[${lane} + ${step}]`),
      ),
    );
    code.line(`${accumulator} = ${lanes}[${thread}];`);
  });
}

/** Folds the accumulators of a block of `most` threads at most through its memory; all threads then run the line made by `use`. */
export function foldByHalves(
  entry: EntryWriter,
  body: BodyWriter,
  op: ReduceParam | "sum" | "min" | "max",
  type: NumericType,
  accumulator: string,
  most: number,
  use: (total: string) => string,
): void {
  const { code } = body;
  const { barrier, subGroups } = entry.dialect;
  const operation = typeof op === "string" ? op : op.op;
  const fold = operation === "custom" ? undefined : subGroups?.fold(operation, type, accumulator);
  const parts = entry.names.fresh("parts");
  const [left, half] = [entry.names.fresh("left"), entry.names.fresh("half_left")];
  entry.sharedArray(parts, type, most);
  if (fold && subGroups) {
    code.line(`${accumulator} = ${fold};`);
    code.line(`if (${subGroups.first}) ${parts}[${subGroups.number}] = ${accumulator};`);
  } else code.line(`${parts}[thread] = ${accumulator};`);
  code.line(`${barrier};`);
  code.block(`for (int ${left} = ${fold && subGroups ? subGroups.count : "threads"}; ${left} > 1;)`, () => {
    code.line(`const int ${half} = (${left} + 1) / 2;`);
    code.block(`if (thread + ${half} < ${left})`, () => entry.foldInto(body, op, type, `${parts}[thread]`, `${parts}[thread + ${half}]`));
    code.line(`${left} = ${half};`);
    code.line(`${barrier};`);
  });
  code.line(use(`${parts}[0]`));
}

/**
 * Folds the accumulators of a block's threads in any order; thread 0 then runs the line made by `use`. Needs `thread`, and `threads` where their
 * number is not known.
 */
export function foldBlock(
  entry: EntryWriter,
  param: ReduceParam,
  accumulator: string,
  use: (total: string) => string,
  threads: number | "threads" = "threads",
): void {
  const { code, dialect } = entry;
  const { shuffle, barrier } = dialect;
  if (!shuffle) {
    const most = Math.max(BLOCK, dialect.finishThreads);
    return foldByHalves(entry, entry.body, param, param.type, accumulator, most, (total) => `if (thread == 0) ${use(total)}`);
  }
  const { warp } = shuffle;
  const warps = entry.names.fresh(`${param.name}_warps`);
  foldDown(entry, param, accumulator, warp / 2, shuffle);
  entry.sharedArray(warps, param.type, warp);
  code.line(`if (thread % ${warp} == 0) ${warps}[thread / ${warp}] = ${accumulator};`);
  code.line(`${barrier};`);
  code.block(`if (thread < ${warp})`, () => {
    const count = threads === "threads" ? `threads / ${warp}` : `${threads / warp}`;
    code.line(`${accumulator} = thread < ${count} ? ${warps}[thread] : ${entry.constant(param.type, param.identity)};`);
    foldDown(entry, param, accumulator, threads === "threads" ? warp / 2 : threads / warp / 2, shuffle);
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
    const { dialect } = this;
    const { reducesInOneKernel } = this.program;
    if (!this.last) this.writeFold();
    else if (this.program.ordered) this.writeFinish();
    else if (reducesInOneKernel) this.writeFinalReduction();
    else this.writeFastFinish();
    const threads = !this.last ? BLOCK : reducesInOneKernel ? finalThreads(dialect) : dialect.finishThreads;
    return this.finish(threads, [threads, 1, 1]);
  }

  /** partials -> folded, `count` to ceil(count / 256) of each. */
  private writeFold(): void {
    const { i64, block, thread } = this.dialect;
    this.code.line(`const ${i64} chunk = (${i64})${block("x")} * ${BLOCK / LANES} + ${thread("x")} / ${LANES};`);
    for (const param of this.program.reduces) this.chunk(param, this.source(param), this.target(param), this.count());
  }

  /** Each block folds one piece of the partials, wherever it lies, and one of them what all have. */
  private writeFinalReduction(): void {
    const { code, dialect } = this;
    const { reduces } = this.program;
    const threads = finalThreads(dialect);
    this.early.line(`const int thread = ${dialect.thread("x")};`);
    if (dialect.peerAccess) {
      const allReduce = new AllReduce(this, dialect.peerAccess);
      this.foldPieces(allReduce.folders, (param, n, total) => allReduce.put(param, n, total, this.result(param, n, total)));
      return allReduce.end((param, n, total) => this.result(param, n, total));
    }
    const blocks = dialect.blocks("x");
    const totals = (param: ReduceParam) => this.pointerParam({ kind: "totals", name: param.name }, `${param.name}_totals`, param.type);
    this.foldPieces(threads, (param, n, total) => {
      const put = `${totals(param)}[${dialect.block("x")}] = ${total};`;
      return `{ if (${blocks} > 1) ${put} else ${this.result(param, n, total)} }`;
    });
    code.block(`if (${blocks} > 1)`, () => {
      this.returnUnlessLast(dialect.lastBlock!);
      reduces.forEach((param, n) =>
        this.foldOf(
          param,
          () => code.line(`if (thread < ${blocks}) total = ${totals(param)}[thread];`),
          (total) => this.result(param, n, total),
        ),
      );
    });
  }

  /** Lets the first `folders` threads of the block fold its pieces; thread 0 then runs the line made by `use` for each. */
  private foldPieces(folders: number, use: (param: ReduceParam, n: number, total: string) => string): void {
    const { reduces } = this.program;
    const pieces = reduces.map((param) => this.ownPiece(param));
    reduces.forEach((param, n) =>
      this.foldOf(
        param,
        () => this.foldPiece(param, pieces[n], folders),
        (total) => use(param, n, total),
      ),
    );
  }

  /** Folds what each thread has read into `total`; thread 0 then runs the line made by `use`. */
  private foldOf(param: ReduceParam, read: () => void, use: (total: string) => string): void {
    const { code } = this;
    code.block("", () => {
      code.line(`${this.T[param.type]} total = ${this.constant(param.type, param.identity)};`);
      read();
      foldBlock(this, param, "total", use, finalThreads(this.dialect));
      code.line(`${this.dialect.barrier};`);
    });
  }

  /** The block's piece of the partials, as the launch has written it down. */
  private ownPiece(param: ReduceParam): { partials: string; count: string } {
    const { block, pointer } = this.dialect;
    const table = this.pointerParam({ kind: "pieces", name: param.name }, `${param.name}_pieces`, "i64", { constant: true });
    const [partials, count] = ["partials", "count"].map((name) => this.names.fresh(`${param.name}_${name}`));
    const type = `const ${pointer("global", param.type)}`;
    this.early.line(`${type}${partials} = (${type.trimEnd()})${table}[2 * ${block("x")}] + thread;`);
    this.early.line(`const int ${count} = (int)${table}[2 * ${block("x")} + 1] - thread;`);
    return { partials, count };
  }

  /** Folds a piece into `total`, with several loads on their way at once: the indices are constants, and a whole round asks for nothing. */
  private foldPiece(param: ReduceParam, { partials, count }: { partials: string; count: string }, folders: number): void {
    const { code, T } = this;
    const step = AT_ONCE * folders;
    const some = folders < finalThreads(this.dialect);
    const places = Array.from({ length: AT_ONCE }, (_, n) => n);
    const read = (n: number) => `${partials}[at${n > 0 ? ` + ${n * folders}` : ""}]`;
    const values = places.map((n) => `value${n} = ${this.constant(param.type, param.identity)}`);
    code.line("#pragma unroll 1");
    code.block(
      `for (int at = 0, left = ${count}; ${some ? `thread < ${folders} && ` : ""}left > 0; at += ${step}, left -= ${step})`,
      () => {
        code.line(`${T[param.type]} ${values.join(", ")};`);
        code.line(`if (left > ${step - folders}) {`);
        code.indented(() => places.forEach((n) => code.line(`value${n} = ${read(n)};`)));
        code.line("} else {");
        code.indented(() =>
          places.slice(0, -1).forEach((n) => code.line(`${n > 0 ? `if (left > ${n * folders}) ` : ""}value${n} = ${read(n)};`)),
        );
        code.line("}");
        for (let half = AT_ONCE >> 1; half > 0; half >>= 1)
          for (let n = 0; n < half; n++) this.foldInto(this.body, param, param.type, `value${n}`, `value${n + half}`);
        this.foldInto(this.body, param, param.type, "total", "value0");
      },
    );
  }

  /** Returns from all blocks but the last one, which sees the stores of the others. */
  private returnUnlessLast({ fence, ticket }: LastBlock): void {
    const { code } = this;
    const { barrier, blocks } = this.dialect;
    this.sharedArray("last", "u32", 1);
    code.block("if (thread == 0)", () => {
      code.line(`${fence};`);
      const last = `${blocks("x")} - 1`;
      code.line(`last[0] = ${ticket(this.pointerParam({ kind: "ticket" }, "ticket", "u32"), last)} == ${last};`);
    });
    code.line(`${barrier};`);
    code.line("if (!last[0]) return;");
    code.line(`${fence};`);
  }

  /** One block folds all partials in its own order. */
  private writeFastFinish(): void {
    const { code, T } = this;
    const { i64, barrier, thread, threads } = this.dialect;
    code.line(`const int thread = ${thread("x")}, threads = ${threads("x")};`);
    this.program.reduces.forEach((param, n) => {
      code.block("", () => {
        code.line(`${T[param.type]} total = ${this.constant(param.type, param.identity)};`);
        code.block(`for (${i64} n = thread; n < ${this.count()}; n += threads)`, () =>
          this.foldInto(this.body, param, param.type, "total", `${this.source(param)}[n]`),
        );
        foldBlock(this, param, "total", (total) => this.result(param, n, total));
        code.line(`${barrier};`);
      });
    });
  }

  /** Puts a result where the host reads it, and into the view that was bound for it. */
  private result(param: ReduceParam, n: number, value: string): string {
    const output = this.pointerParam({ kind: "output", name: param.name }, `${param.name}_output`, param.type);
    const results = this.pointerParam({ kind: "results" }, "results", "i64");
    const pointer = this.dialect.pointer("global", param.type).trimEnd();
    return `{ *(${pointer})(${results} + ${n}) = ${value}; if (${output}) *${output} = ${value}; }`;
  }

  /** One block folds to the end; `partials` and `folded` take turns. */
  private writeFinish(): void {
    const { code, T } = this;
    const { i64, barrier, finishThreads, pointer, thread } = this.dialect;
    this.program.reduces.forEach((param, n) => {
      code.block("", () => {
        const partials = pointer("global", param.type);
        code.line(`${partials}from = ${this.source(param)};`);
        code.line(`${partials}to = ${this.target(param)};`);
        code.line(`${i64} count = ${this.count()};`);
        code.block("while (count > 1)", () => {
          code.line(`const ${i64} chunks = (count + ${CHUNK - 1}) / ${CHUNK};`);
          code.block(`for (${i64} first = 0; first < chunks; first += ${finishThreads / LANES})`, () => {
            code.line(`const ${i64} chunk = first + ${thread("x")} / ${LANES};`);
            this.chunk(param, "from", "to", "count");
          });
          code.line(`${barrier};`);
          code.line(`${partials}const folded = to;`);
          code.line("to = from;");
          code.line("from = folded;");
          code.line("count = chunks;");
        });
        code.block(`if (${thread("x")} == 0)`, () => {
          code.line(`const ${T[param.type]} result = count == 1 ? from[0] : ${this.constant(param.type, param.identity)};`);
          code.line(this.result(param, n, "result"));
        });
      });
    });
  }

  /** Folds chunk `chunk` by 8 threads; all threads of the block take part. */
  private chunk(param: ReduceParam, from: string, to: string, count: string): void {
    const { code, T } = this;
    const { i64, thread } = this.dialect;
    code.block("", () => {
      code.line(`${T[param.type]} total = ${this.constant(param.type, param.identity)};`);
      code.line(`const ${i64} stop = (chunk + 1) * ${CHUNK} < ${count} ? (chunk + 1) * ${CHUNK} : ${count};`);
      code.block(`for (${i64} n = chunk * ${CHUNK} + ${thread("x")} % ${LANES}; n < stop; n += ${LANES})`, () =>
        this.foldInto(this.body, param, param.type, "total", `${from}[n]`),
      );
      foldLanes(this, param, "total");
      code.line(`if (${thread("x")} % ${LANES} == 0 && chunk * ${CHUNK} < ${count}) ${to}[chunk] = total;`);
    });
  }

  private count(): string {
    return this.param({ kind: "partialCount" }, "i64", "partial_count");
  }
  private source({ name, type }: ReduceParam): string {
    return this.pointerParam({ kind: "partials", name }, `${name}_partials`, type);
  }
  private target({ name, type }: ReduceParam): string {
    return this.pointerParam({ kind: "folded", name }, `${name}_folded`, type);
  }
}
