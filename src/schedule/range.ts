import { unreachable } from "../base/unreachable.js";
import type { Tunables } from "../ir/tuning.js";
import type { Jam } from "../ir/passes/jam.js";
import type { ReduceParam } from "../ir/types.js";
import type { Body } from "./body.js";
import { add, and, block, blocks, cast, declare, div, eq, fixed, ge, gt, increase, local, lt, mul, not, num, rem, select, sub, thread, threads, upTo, variable, valueOf, when, write, assign, inBlock } from "./build.js";
import { scheduleBox } from "./box.js";
import { scheduleChunks, scheduleInOrder } from "./chunks.js";
import { entryName, EntrySchedule, type Program, type ScheduledEntry } from "./entry.js";
import { foldBlock, THREAD } from "./folds.js";
import type { StmtOf } from "./frame.js";
import type { Axis, Expr, Memory, Place, Stmt } from "./nodes.js";
import type { PeerStores } from "./peers.js";
import type { Traversal } from "./program.js";
import { RangeShape } from "./shape.js";
import { TargetCopies } from "./target-copies.js";

const AXES = ["i", "j", "k", "l"];
const AXES_OF_BLOCKS = ["x", "y", "z"] as const satisfies readonly Axis[];

/** The main entry of a range kernel. */
export class RangeSchedule extends EntrySchedule {
  readonly indexNames: readonly string[];
  readonly shape: RangeShape;
  private readonly accumulators = new Map<string, Place>();
  private readonly copies: TargetCopies;
  private readonly slots = new Map<string, Place>();
  peerStores: PeerStores | undefined;
  private threadDeclared = false;
  /** Variables of an element's first failure, in code with checked indices: its site, counted from 1, and 0 before; and the index. */
  private readonly failure: { readonly site: string; readonly index: string } | undefined;

  constructor(
    program: Program,
    private readonly traversal: Exclude<Traversal, "teams">,
  ) {
    super(program, entryName(program.ir.name), true);
    this.shape = new RangeShape(program, traversal);
    this.indexNames = AXES.slice(0, this.shape.rank);
    for (const { name, type } of program.reduces) this.accumulators.set(name, variable(this.names.fresh(name), type));
    if (this.ir.checks) this.failure = { site: this.names.fresh("failed"), index: this.names.fresh("failed_index") };
    this.copies = new TargetCopies(this);
  }

  schedule(): ScheduledEntry {
    const { shape } = this;
    switch (this.traversal) {
      case "elements":
      case "strided":
      case "segments":
        this.grid();
        break;
      case "chunks":
        scheduleChunks(this);
        break;
      case "serial":
        scheduleInOrder(this);
        break;
      default:
        return unreachable(this.traversal);
    }
    return this.finished(shape.threads, shape.block, this.resident(shape.threads, shape.resident));
  }

  protected override get startsNext(): boolean {
    return this.shape.startsNext;
  }

  tunables(): Tunables {
    return this.shape.tunables(this.residents(this.shape.planes > 0));
  }

  override store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void {
    if (this.peerStores) this.peerStores.store(body, stmt, offset, value);
    else super.store(body, stmt, offset, value);
  }

  reduce(body: Body, stmt: StmtOf<"reduce">, value: Expr): void {
    const param = this.program.reduces.find((p) => p.name === stmt.target)!;
    this.foldInto(body, param, param.type, this.accumulator(param), value);
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

  /* A grid over the elements: threadIdx.x along the last axis. */

  private grid(): void {
    const { out, shape } = this;
    const folding = this.traversal !== "elements";
    if (folding) this.open();
    if (this.traversal === "segments") this.segment();
    else if (shape.planes > 0) scheduleBox(this, folding);
    else this.axis(shape.rank === 4 ? -1 : 0, folding);
    if (!folding) return;
    this.copies.close();
    if (this.program.reduces.length > 0) this.declareThread();
    for (const param of this.program.reduces) {
      const number = add(mul(add(mul(block("z"), blocks("y")), block("y")), blocks("x")), block("x"));
      foldBlock(this, param, this.accumulator(param), (total) => [write(this.partials(param), number, total)]);
    }
  }

  /** Memory into which a block folds, and the accumulators of its threads. */
  open(): void {
    this.copies.open();
    for (const param of this.program.reduces) {
      const { name, type } = this.accumulator(param) as Extract<Place, { name: string }>;
      this.out.put(declare(name, type, this.identity(param)));
    }
  }
  close(): void {
    this.copies.close();
  }

  /** The block's segment of the elements, which count in row-major order. */
  private segment(): void {
    const { out, names } = this;
    const { rank } = this.shape;
    const [firstName, stopName, nName, restName] = ["first", "stop", "n", "rest"].map((wish) => names.fresh(wish)) as [string, string, string, string];
    const [first, n, rest] = [firstName, nName, restName].map((name) => local(name, "index")) as [Expr, Expr, Expr];
    const [elements, segment] = [this.indexNumber({ kind: "elements" }, "elements"), this.indexNumber({ kind: "segment" }, "segment")];
    out.put(fixed(firstName, mul(cast(block("x"), "index"), segment)));
    out.put(fixed(stopName, select(lt(sub(elements, first), segment), elements, add(first, segment))));
    const body = out.inside(() => {
      if (rank > 1) out.put(declare(restName, "index", n));
      for (let a = rank - 1; a > 0; a--) {
        out.put(fixed(this.indexNames[a]!, add(this.begin(a), rem(rest, this.count(a)))));
        out.put(assign(variable(restName, "index"), div(rest, this.count(a))));
      }
      out.put(fixed(this.indexNames[0]!, add(this.begin(0), rank > 1 ? rest : n)));
      this.element();
    });
    out.put(upTo(nName, add(first, cast(thread("x"), "index")), local(stopName, "index"), cast(threads("x"), "index"), body));
  }

  /** The loops from axis `a` inwards; -1 stands for the two outer axes of a range of rank 4, which share the last axis of the grid. */
  private axis(a: number, strided: boolean): void {
    const { out, shape } = this;
    const dimension = a === -1 ? "z" : AXES_OF_BLOCKS[shape.rank - 1 - a]!;
    const at = cast(add(mul(block(dimension), threads(dimension)), thread(dimension)), "index");
    const step = cast(mul(blocks(dimension), threads(dimension)), "index");
    if (a === -1) return this.outerAxes(at, step, strided);
    if (a === 0 && shape.rank === 2 && shape.several) return this.rows(at, step, shape.several.count);
    const name = this.indexNames[a]!;
    const innermost = a === shape.rank - 1;
    const inside = () => out.inside(() => (innermost ? this.element() : this.axis(a + 1, strided)));
    // The grid always covers the innermost axis of an unstrided range; along the others it has 65535 blocks at most.
    if (innermost && !strided && shape.several) return this.together(name, shape.several);
    if (innermost && !strided) {
      out.put(fixed(name, add(this.firstInRow(), at)));
      return void out.put(when(this.inRow(), inside()));
    }
    const start = add(this.begin(a), at);
    const stop = this.end(a);
    out.put(upTo(name, start, stop, step, inside()));
  }

  private outerAxes(at: Expr, step: Expr, strided: boolean): void {
    const { out } = this;
    const outer = this.names.fresh("outer");
    const count = this.count(1);
    const n = local(outer, "index");
    const stop = mul(this.count(0), count);
    const body = out.inside(() => {
      out.put(fixed(this.indexNames[0]!, add(this.begin(0), div(n, count))));
      out.put(fixed(this.indexNames[1]!, add(this.begin(1), rem(n, count))));
      this.axis(2, strided);
    });
    out.put(upTo(outer, at, stop, step, body));
  }

  /** Neighbouring rows, with an element of each for a thread. */
  private rows(at: Expr, step: Expr, count: number): void {
    const { out } = this;
    const [i, j] = this.indexNames as [string, string];
    const [firstName, stopName, end] = [this.names.fresh("first"), this.names.fresh("stop"), this.end(0)];
    const first = local(firstName, "index");
    const start = add(this.begin(0), mul(at, count));
    const body = out.inside(() => {
      out.put(fixed(j, add(this.firstInRow(), cast(add(mul(block("x"), threads("x")), thread("x")), "index"))));
      const inside = this.inRow();
      const column = out.inside(() => {
        this.body.statements(this.shape.head);
        out.put(fixed(stopName, select(gt(sub(end, first), count), add(first, count), end)));
        out.put(declare(i, "index", first));
        this.column(local(stopName, "index"));
      });
      out.put(when(inside, column));
    });
    out.put(upTo(firstName, start, end, mul(step, count), body));
  }

  /** Elements of one axis that a thread works on together; after the last whole group, one at a time. */
  private together(name: string, { count, guard, body }: Jam): void {
    const { out } = this;
    const all = this.shape.threads;
    const i = local(name, "index");
    const nName = this.names.fresh("n");
    const at = cast(add(mul(block("x"), count * all), thread("x")), "index");
    out.put(declare(name, "index", add(this.begin(0), at)));
    const end = this.end(0);
    const inside = out.inside(() => {
      this.body.statements(this.shape.head);
      const whole = gt(sub(end, i), (count - 1) * all);
      const cond = guard ? and(whole, this.body.expr(guard)) : whole;
      const group = this.body.nested(body);
      const single = out.inside(() => {
        this.element();
        out.put(increase(variable(name, "index"), all));
      });
      const n = local(nName, "int");
      const loop: Stmt = {
        kind: "loop",
        name: nName,
        type: "int",
        start: num(0),
        cond: and(lt(n, count), lt(i, end)),
        step: { fn: "add", by: num(1) },
        body: single,
      };
      out.put(when(cond, group, [loop]));
    });
    out.put(when(lt(i, end), inside));
  }

  /** First index of threads along the last axis. */
  firstInRow(): Expr {
    const last = this.shape.rank - 1;
    return this.program.assumptions.aligned ? this.indexNumber({ kind: "alignedBegin" }, `${AXES[last]}_aligned`) : this.begin(last);
  }

  inRow(): Expr {
    const last = this.shape.rank - 1;
    const at = local(this.indexNames[last]!, "index");
    if (!this.program.assumptions.aligned) return lt(at, this.end(last));
    return and(ge(at, this.begin(last)), lt(at, this.end(last)));
  }

  /** The elements from the first index at hand to `stop` of one column, several at a time where they have much in common. */
  column(stop: Expr): void {
    const { out } = this;
    const { several } = this.shape;
    const name = this.indexNames[0]!;
    const [i, place] = [local(name, "index"), variable(name, "index")];
    if (!several) {
      const body = out.inside(() => this.element());
      return void out.put({ kind: "loop", name, type: "index", cond: lt(i, stop), step: { fn: "add", by: num(1, "index") }, body });
    }
    const { count, guard, body } = several;
    const turn = out.inside(() => {
      const whole = lt(add(i, count - 1), stop);
      const cond = guard ? and(whole, this.body.expr(guard)) : whole;
      const group = out.inside(() => {
        this.body.statements(body);
        out.put(increase(place, count));
      });
      const single = out.inside(() => {
        this.element();
        out.put(increase(place, 1));
      });
      out.put(when(cond, group, single));
    });
    out.put({ kind: "while", cond: lt(i, stop), body: turn, update: [] });
  }

  /* Elements. */

  override fault(body: Body, site: number, at: Expr): void {
    const { site: failed, index } = this.failure!;
    const note = [assign(variable(index, "int"), at), assign(variable(failed, "int"), num(site + 1))];
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
    this.out.put(fixed("thread", cast(number, "int")), fixed("threads", cast(flat ? threads("x") : mul(threads("x"), threads("y")), "int")));
  }

  partials({ name, type }: ReduceParam): Memory {
    return this.given({ kind: "partials", name }, `${name}_partials`, type, { apart: true });
  }

  begin(a: number): Expr {
    return this.indexNumber({ kind: "begin", axis: a }, `${AXES[a]}_begin`);
  }
  end(a: number): Expr {
    return this.indexNumber({ kind: "end", axis: a }, `${AXES[a]}_end`);
  }
  count(a: number): Expr {
    return this.indexNumber({ kind: "count", axis: a }, `${AXES[a]}_count`);
  }
}
