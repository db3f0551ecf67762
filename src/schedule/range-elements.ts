import { ownIdentifier, type Identifier } from "../base/names.js";
import type { Expr as KernelExpr, ReduceParam } from "../ir/types.js";
import { own } from "../base/own.js";
import { viewsOfSharedTurns } from "./shared-turns.js";
import type { Body } from "./body.js";
import {
  add,
  and,
  cast,
  declare,
  fixed,
  ge,
  increase,
  local,
  lt,
  mul,
  num,
  sub,
  thread,
  threads,
  variable,
  when,
  assign,
} from "./build.js";
import { entryName, EntrySchedule } from "./entry.js";
import type { Program } from "./kernel-program.js";
import type { StmtOf } from "./frame.js";
import type { Expr, Memory, Place } from "./nodes.js";
import type { PeerStores } from "./peers.js";
import type { Traversal } from "./program.js";
import { storePair } from "./pairs.js";
import { RangeShape, type PairOfColumns } from "./shape.js";
import { StagedTurns } from "./staged-turns.js";
import { TargetCopies } from "./target-copies.js";
import { BytesByWords } from "./words.js";

/**
 * Turns that are written out of a loop that reads the same for all elements, by views whose components come at once, and by others. On an H200 a sum over
 * 65,536 bodies takes 6.75 ms with the compiler's four turns, 5.9, 5.0 and 3.9 with 8, 16 and 32; with arrays of components 5.6, 4.2, 4.4 and 4.9.
 */
const TURNS = { ofVectors: 32, ofElements: 8 };

const AXES = ["i", "j", "k", "l"] as const;

/** Elements of a range kernel, however they are shared out: their indices, folds, copies of targets, and what is done for one of them. */
export abstract class RangeElements extends EntrySchedule {
  readonly indexNames: readonly Identifier[];
  /** Words for the axes in names. */
  private readonly axisWords: readonly string[];
  readonly shape: RangeShape;
  private readonly accumulators = new Map<string, Place>();
  protected readonly copies: TargetCopies;
  private readonly slots = new Map<string, Place>();
  protected readonly words = new BytesByWords(this);
  protected readonly staged = new StagedTurns(this);
  peerStores: PeerStores | undefined;
  private threadDeclared = false;
  /** Variables of an element's first failure, in code with checked indices: its site, counted from 1, and 0 before; and the index. */
  private readonly failure: { readonly site: Identifier; readonly index: Identifier } | undefined;

  constructor(
    program: Program,
    protected readonly traversal: Exclude<Traversal, "teams">,
  ) {
    super(program, entryName(program.ir.name), true);
    this.shape = new RangeShape(program, traversal);
    const { axes } = program.assumptions;
    this.axisWords = axes ?? AXES;
    this.indexNames = axes
      ? axes.map((axis) => this.names.fresh(`${axis}_index`))
      : AXES.slice(0, this.shape.rank).map((axis) => ownIdentifier(axis));
    for (const { name, type } of program.reduces) this.accumulators.set(name, variable(this.names.fresh(name), type));
    if (this.ir.checks) this.failure = { site: this.names.fresh("failed"), index: this.names.fresh("failed_index") };
    this.copies = new TargetCopies(this, () => this.declareThread());
  }

  readBefore(load: Extract<KernelExpr, { op: "load" }>): Expr | undefined {
    return this.words.byteOf(load) ?? this.staged.valueOf(load);
  }

  turnsWrittenOut(stmt: StmtOf<"for">): number | undefined {
    const views = this.features.writesOutTurns ? viewsOfSharedTurns(stmt) : undefined;
    if (!views) return undefined;
    const { vectors } = this.program.assumptions;
    return [...views].every((view) => vectors && own(vectors, view)) ? TURNS.ofVectors : TURNS.ofElements;
  }

  override store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void {
    if (this.peerStores) this.peerStores.store(body, stmt, offset, value);
    else super.store(body, stmt, offset, value);
  }

  reduce(body: Body, stmt: StmtOf<"reduce">, value: Expr): void {
    const param = this.program.reduces.find((p) => p.name === stmt.target)!;
    this.foldInto(body, param, param.type, this.accumulator(param), value);
  }

  override reduceJointly(body: Body, stmt: StmtOf<"reduceJointly">, values: readonly Expr[]): void {
    const parts = stmt.targets.map((target) => this.program.reduces.find((p) => p.name === target)!);
    this.foldAll(
      body,
      parts,
      parts.map((param) => this.accumulator(param)),
      values,
    );
  }

  protected override copyOf(target: string): Memory {
    return this.copies.copyOf(target);
  }
  protected override intoCache(target: string, offset: Expr, value: Expr): void {
    this.copies.cacheOf(target).update(offset, value);
  }
  protected override slotOf(target: string): Place {
    return this.slots.get(target)!;
  }

  accumulator({ name }: ReduceParam): Place {
    return this.accumulators.get(name)!;
  }
  /** Lets elements fold into another place. */
  accumulateIn({ name }: ReduceParam, place: Place): void {
    this.accumulators.set(name, place);
  }

  /** Memory into which a block folds, and the accumulators of its threads. */
  open(): void {
    this.copies.open();
    for (const param of this.program.reduces) {
      const { id: name, type } = this.accumulator(param) as Extract<Place, { id: Identifier }>;
      this.out.put(declare(name, type, this.identity(param)));
    }
  }
  close(): void {
    this.copies.close();
  }

  /** First index of threads along the last axis. */
  firstInRow(): Expr {
    const last = this.shape.rank - 1;
    return this.program.assumptions.aligned
      ? this.indexNumber({ kind: "alignedBegin" }, `${this.axisWords[last]}_aligned`)
      : this.begin(last);
  }

  inRow(at: Expr = local(this.indexNames[this.shape.rank - 1]!, "index")): Expr {
    const last = this.shape.rank - 1;
    if (!this.program.assumptions.aligned) return lt(at, this.end(last));
    return and(ge(at, this.begin(last)), lt(at, this.end(last)));
  }

  /** The elements from the first index at hand to `stop` of one column, or of two, several at a time where they have much in common. */
  column(stop: Expr, pair?: PairOfColumns): void {
    const { out } = this;
    const { several } = this.shape;
    const name = this.indexNames[0]!;
    const [i, place] = [local(name, "index"), variable(name, "index")];
    const element = (): void => (pair ? storePair(this, pair.plane) : this.element());
    if (!several) {
      const body = out.inside(element);
      return void out.put({ kind: "loop", id: name, type: "index", cond: lt(i, stop), step: { fn: "add", by: num(1, "index") }, body });
    }
    const { count, guard, body } = several;
    const turn = out.inside(() => {
      const whole = lt(add(i, count - 1), stop);
      const cond = guard ? and(whole, this.body.expr(guard)) : whole;
      const group = out.inside(() => {
        if (pair) storePair(this, pair.planes);
        else this.body.statements(body);
        out.put(increase(place, count));
      });
      const single = out.inside(() => {
        element();
        out.put(increase(place, 1));
      });
      out.put(when(cond, group, single));
    });
    out.put({ kind: "while", cond: lt(i, stop), body: turn, update: [] });
  }

  /* Elements. */

  override fault(body: Body, site: number, at: Expr): void {
    const { site: failed, index } = this.failure!;
    const note = [assign(variable(index, "int"), cast(at, "int")), assign(variable(failed, "int"), num(site + 1))];
    // The first failure stays: in the order of this choice compilers keep loads of elements where they are.
    body.out.put(when(this.failed(), [], note));
  }

  override failed(): Expr {
    return { op: "compare", type: "bool", fn: "ne", a: local(this.failure!.site, "int"), b: num(0) };
  }

  /** All that is done for one element. */
  element(): void {
    const { out, failure } = this;
    // Records the fault last: a call here would block load reordering.
    if (failure) out.put(declare(failure.site, "int", num(0)), declare(failure.index, "int", num(0)));
    this.openSlots();
    this.body.statements(this.shape.rest);
    if (!failure) return;
    const note = out.inside(() =>
      this.noteFailure(
        sub(local(failure.site, "int"), 1),
        local(failure.index, "int"),
        this.indexNames.map((name) => local(name, "index")),
      ),
    );
    out.put(when(this.failed(), note));
  }

  /** Start of an element's slots. */
  private openSlots(): void {
    for (const { name: target } of this.program.scatters("sorted")) {
      const position = this.indexNames
        .map((name, a) => cast(sub(local(name, "index"), this.begin(a)), "u32"))
        .reduce((sum, index, a) => add(mul(sum, cast(this.count(a), "u32")), index));
      const slot = this.names.fresh(`${target}_slot`);
      this.slots.set(target, variable(slot, "u32"));
      this.out.put(declare(slot, "u32", mul(position, this.slotCount(target))));
    }
  }

  /** The thread's number in its block, and how many there are. */
  declareThread(): void {
    if (this.threadDeclared) return;
    this.threadDeclared = true;
    const flat = this.shape.isFlat;
    const number = flat ? thread("x") : add(mul(thread("y"), threads("x")), thread("x"));
    this.out.put(
      fixed("thread", cast(number, "int")),
      fixed("threads", cast(flat ? threads("x") : mul(threads("x"), threads("y")), "int")),
    );
  }

  partials({ name, type }: ReduceParam): Memory {
    return this.given({ kind: "partials", name }, `${name}_partials`, type, { apart: true });
  }

  begin(a: number): Expr {
    return this.indexNumber({ kind: "begin", axis: a }, `${this.axisWords[a]}_begin`);
  }
  end(a: number): Expr {
    return this.indexNumber({ kind: "end", axis: a }, `${this.axisWords[a]}_end`);
  }
  count(a: number): Expr {
    return this.indexNumber({ kind: "count", axis: a }, `${this.axisWords[a]}_count`);
  }
}
