import { ownIdentifier, type Identifier } from "../base/names.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam } from "../ir/types.js";
import {
  add,
  and,
  asLongAs,
  assign,
  BARRIER,
  block,
  blocks,
  cast,
  declare,
  div,
  eq,
  fixed,
  gt,
  inBlock,
  least,
  local,
  lt,
  mul,
  ne,
  num,
  read,
  rem,
  select,
  sub,
  thread,
  threads,
  upTo,
  valueOf,
  variable,
  when,
  word,
  write,
  address,
} from "./build.js";
import { AllReduce } from "./all-reduce.js";
import { BLOCK, entryName, EntrySchedule, type ScheduledEntry } from "./entry.js";
import type { Program } from "./kernel-program.js";
import { finalThreads } from "./features.js";
import { aroundTotals, foldBlock, foldLanes, isFirstThread, THREAD, THREADS, totalPlace, totalPlaces } from "./folds.js";
import type { Expr, Memory, Stmt } from "./nodes.js";

const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;
/** Partials that a thread asks for before it folds any: as many as it has, where `FinalReduction` can cut them so. */
export const AT_ONCE = 8;

/** Entries that fold partials until one value is left, by the same rule as elements. */
export class FoldSchedule extends EntrySchedule {
  protected readonly indexNames: readonly Identifier[] = [];

  constructor(
    program: Program,
    private readonly last: boolean,
  ) {
    super(program, entryName(program.ir.name, last ? "finish" : "fold"), false);
  }

  reduce(): void {
    throw new Error("a fold has no reduce statements");
  }

  schedule(): ScheduledEntry {
    const { features, program } = this;
    const { reducesInOneKernel } = program;
    if (!this.last) this.foldChunks();
    else if (program.ordered) this.finishInOrder();
    else if (reducesInOneKernel) this.reduceAll();
    else this.finishInAnyOrder();
    const most = !this.last ? BLOCK : reducesInOneKernel ? finalThreads(features) : features.finishThreads;
    return this.finished(most, [most, 1, 1]);
  }

  /** partials -> folded, `count` to ceil(count / 256) of each. */
  private foldChunks(): void {
    this.out.put(fixed("chunk", add(mul(cast(block("x"), "long"), BLOCK / LANES), cast(div(thread("x"), LANES), "long"))));
    for (const parts of this.program.reduceGroups)
      this.chunk(
        parts,
        parts.map((param) => this.source(param)),
        parts.map((param) => this.target(param)),
        this.count(),
      );
  }

  /** Each block folds one piece of the partials, wherever it lies, and one of them what all have. */
  private reduceAll(): void {
    const { out, features } = this;
    const { reduces } = this.program;
    this.early.put(fixed("thread", cast(thread("x"), "int")));
    if (features.peerAccess > 0) {
      const allReduce = new AllReduce(this);
      this.foldPieces(allReduce.folders, (param, n, total) => allReduce.put(param, n, total, this.result(param, n, total)));
      return allReduce.end((param, n, total) => this.result(param, n, total));
    }
    const many = gt(blocks("x"), 1);
    const totals = (param: ReduceParam) => this.given({ kind: "totals", name: param.name }, `${param.name}_totals`, param.type);
    this.foldPieces(finalThreads(features), (param, n, total) => [
      when(many, [write(totals(param), block("x"), total)], this.result(param, n, total)),
    ]);
    const rest = out.inside(() => {
      this.returnUnlessLast();
      reduces.forEach((param, n) =>
        this.foldOf(
          param,
          () => out.put(when(lt(THREAD, cast(blocks("x"), "int")), [assign(totalPlace(param), read(totals(param), THREAD))])),
          (total) => this.result(param, n, total),
        ),
      );
    });
    out.put(when(many, rest));
  }

  /** Lets the first `folders` threads of the block fold its pieces; thread 0 then runs what `use` makes for each. */
  private foldPieces(folders: number, use: (param: ReduceParam, n: number, total: Expr) => readonly Stmt[]): void {
    const { reduces } = this.program;
    const pieces = reduces.map((param) => this.ownPiece(param));
    reduces.forEach((param, n) =>
      this.foldOf(
        param,
        () => this.foldPiece(param, pieces[n]!, folders),
        (total) => use(param, n, total),
      ),
    );
  }

  /** Folds what each thread has read into `total`; thread 0 then runs what `use` makes. */
  private foldOf(param: ReduceParam, readOwn: () => void, use: (total: Expr) => readonly Stmt[]): void {
    aroundTotals(this, [param], [totalPlace(param)], () => {
      readOwn();
      foldBlock(this, param, totalPlace(param), use, finalThreads(this.features));
      this.out.put(BARRIER);
    });
  }

  /** The block's piece of the partials, as the launch has written it down. */
  private ownPiece(param: ReduceParam): Piece {
    const table = this.given({ kind: "pieces", name: param.name }, `${param.name}_pieces`, "long", { constant: true });
    const [partials, count] = ["partials", "count"].map((name) => this.names.fresh(`${param.name}_${name}`)) as [Identifier, Identifier];
    const memory: Memory = { id: partials, element: param.type, space: "device" };
    const own = mul(num(2, "u32"), block("x"));
    this.early.put({ kind: "pointer", memory, constant: true, to: { address: read(table, own), offset: THREAD } });
    this.early.put(fixed(count, sub(cast(read(table, add(own, num(1, "u32"))), "int"), THREAD)));
    return { partials: memory, count: local(count, "int") };
  }

  /** Folds a piece into `total`, with several loads on their way at once: the indices are constants, and a whole round asks for nothing. */
  private foldPiece(param: ReduceParam, { partials, count }: Piece, folders: number): void {
    const { out } = this;
    const { type } = param;
    const step = AT_ONCE * folders;
    const some = folders < finalThreads(this.features);
    const places = Array.from({ length: AT_ONCE }, (_, n) => n);
    const [at, left] = [local("at", "int"), local("left", "int")];
    const value = (n: number) => variable(`value${n}`, type);
    const load = (n: number) => assign(value(n), read(partials, n > 0 ? add(at, n * folders) : at));
    const body = out.inside(() => {
      for (const n of places) out.put(declare(`value${n}`, type, this.identity(param)));
      const ragged = places.slice(0, -1).map((n) => (n > 0 ? when(gt(left, n * folders), [load(n)]) : load(n)));
      out.put(when(gt(left, step - folders), places.map(load), ragged));
      for (let half = AT_ONCE >> 1; half > 0; half >>= 1)
        for (let n = 0; n < half; n++) this.foldInto(this.body, param, type, value(n), local(`value${n + half}`, type));
      this.foldInto(this.body, param, type, totalPlace(param), local("value0", type));
      out.put({ kind: "increase", to: variable("left", "int"), by: num(-step) });
    });
    const more = gt(left, 0);
    out.put(declare("left", "int", count), {
      kind: "loop",
      id: ownIdentifier("at"),
      type: "int",
      start: num(0),
      cond: some ? and(lt(THREAD, folders), more) : more,
      step: { fn: "add", by: num(step) },
      body,
      unroll: 1,
    });
  }

  /** Returns from all blocks but the last one, which sees the stores of the others. */
  private returnUnlessLast(): void {
    const { out } = this;
    const last = this.sharedArray(ownIdentifier("last"), "u32", 1);
    const before = sub(blocks("x"), 1);
    const fence: Stmt = { kind: "fence", scope: "device" };
    const ticket = this.given({ kind: "ticket" }, "ticket", "u32");
    out.put(
      when(isFirstThread, [fence, write(last, num(0), cast(eq(word("ticket", "u32", address(ticket), before), before), "u32"))]),
      BARRIER,
      when(eq(read(last, num(0)), num(0, "u32")), [{ kind: "return" }]),
      fence,
    );
  }

  /** One block folds all partials in its own order. */
  private finishInAnyOrder(): void {
    const { out } = this;
    out.put(fixed("thread", cast(thread("x"), "int")), fixed("threads", cast(threads("x"), "int")));
    this.program.reduces.forEach((param, k) =>
      aroundTotals(this, [param], [totalPlace(param)], () => {
        const [n, count] = [local("n", "long"), this.count()];
        const body = out.inside(() => this.foldInto(this.body, param, param.type, totalPlace(param), read(this.source(param), n)));
        out.put(upTo("n", cast(THREAD, "long"), count, cast(THREADS, "long"), body));
        foldBlock(this, param, totalPlace(param), (total) => this.result(param, k, total));
        out.put(BARRIER);
      }),
    );
  }

  /** Puts a result where the host reads it, and into the view that was bound for it. */
  private result(param: ReduceParam, n: number, value: Expr): Stmt[] {
    const output = this.program.assumptions.outputs === false ? undefined : this.output(param);
    const results = this.given({ kind: "results" }, "results", "long");
    const result: Stmt = { kind: "assign", to: { memory: results, offset: num(n), type: param.type }, value };
    if (!output) return [result];
    return [result, when(ne(address(output), num(0, "long")), [write(output, num(0), value)])];
  }

  /** One block folds to the end; `partials` and `folded` take turns. */
  private finishInOrder(): void {
    const { out, features, program } = this;
    const [count, chunks, first] = [local("count", "long"), local("chunks", "long"), local("first", "long")];
    for (const parts of program.reduceGroups) {
      const memories = (stem: "from" | "to" | "folded"): Memory[] =>
        parts.map(({ type }, n) => ({ id: n === 0 ? ownIdentifier(stem) : this.names.fresh(stem), element: type, space: "device" }));
      const [from, to, folded] = [memories("from"), memories("to"), memories("folded")] as const;
      const body = out.inside(() => {
        parts.forEach((param, n) => {
          out.put({ kind: "pointer", memory: from[n]!, to: { of: this.source(param) } });
          out.put({ kind: "pointer", memory: to[n]!, to: { of: this.target(param) } });
        });
        out.put(declare("count", "long", this.count()));
        const turn = out.inside(() => {
          out.put(fixed("chunks", div(add(count, CHUNK - 1), CHUNK)));
          const some = out.inside(() => {
            out.put(fixed("chunk", add(first, cast(div(thread("x"), LANES), "long"))));
            this.chunk(parts, from, to, count);
          });
          out.put(upTo("first", num(0, "long"), chunks, features.finishThreads / LANES, some), BARRIER);
          parts.forEach((_, n) => {
            out.put({ kind: "pointer", memory: folded[n]!, to: { of: to[n]! }, fixed: true });
            out.put({ kind: "point", memory: to[n]!, to: { of: from[n]! } }, { kind: "point", memory: from[n]!, to: { of: folded[n]! } });
          });
          out.put(assign(variable("count", "long"), chunks));
        });
        out.put(asLongAs(gt(count, 1), turn));
        parts.forEach((param, n) => {
          const name = n === 0 ? ownIdentifier("result") : this.names.fresh("result");
          const result = select(eq(count, 1), read(from[n]!, num(0)), this.identity(param));
          const told = this.result(param, program.reduces.indexOf(param), local(name, param.type));
          out.put(when(eq(thread("x"), 0), [fixed(name, result, param.type), ...told]));
        });
      });
      out.put(inBlock(body));
    }
  }

  /** Folds chunk `chunk` by 8 threads; all threads of the block take part. */
  private chunk(parts: readonly ReduceParam[], from: readonly Memory[], to: readonly Memory[], count: Expr): void {
    const { out } = this;
    const chunk = local("chunk", "long");
    const lane = rem(thread("x"), LANES);
    const totals = totalPlaces(this, parts);
    aroundTotals(this, parts, totals, () => {
      out.put(fixed("stop", least(mul(add(chunk, 1), CHUNK), count)));
      const n = local("n", "long");
      const values = from.map((memory) => read(memory, n));
      const body = out.inside(() => this.foldAll(this.body, parts, totals, values));
      out.put(upTo("n", add(mul(chunk, CHUNK), cast(lane, "long")), local("stop", "long"), LANES, body));
      foldLanes(this, parts, totals);
      const stores = to.map((memory, k) => write(memory, chunk, valueOf(totals[k]!)));
      out.put(when(and(eq(lane, 0), lt(mul(chunk, CHUNK), count)), stores));
    });
  }

  private output({ name, type }: ReduceParam): Memory {
    return this.given({ kind: "output", name }, `${name}_output`, type);
  }
  private count(): Expr {
    return this.number({ kind: "partialCount" }, "long", "partial_count");
  }
  private source({ name, type }: ReduceParam): Memory {
    return this.given({ kind: "partials", name }, `${name}_partials`, type);
  }
  private target({ name, type }: ReduceParam): Memory {
    return this.given({ kind: "folded", name }, `${name}_folded`, type);
  }
}

interface Piece {
  readonly partials: Memory;
  readonly count: Expr;
}
