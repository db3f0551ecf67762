import { type Identifier } from "../base/names.js";
import { unreachable } from "../base/unreachable.js";
import type { Tunables } from "../ir/tuning.js";
import type { Jam } from "../ir/passes/jam.js";
import {
  add,
  and,
  block,
  blocks,
  cast,
  declare,
  div,
  fixed,
  gt,
  increase,
  local,
  lt,
  mul,
  num,
  rem,
  select,
  sub,
  thread,
  threads,
  upTo,
  variable,
  when,
  write,
  assign,
} from "./build.js";
import { scheduleBox } from "./box.js";
import { scheduleChunks, scheduleInOrder } from "./chunks.js";
import { type ScheduledEntry } from "./entry.js";
import { foldBlock } from "./folds.js";
import type { Axis, Expr, Stmt } from "./nodes.js";

import { RangeElements } from "./range-elements.js";
import { stagedBody, type StagedBody } from "./staged-turns.js";
const AXES_OF_BLOCKS = ["x", "y", "z"] as const satisfies readonly Axis[];

/** The main entry of a range kernel. */
export class RangeSchedule extends RangeElements {
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

  /* A grid over the elements: threadIdx.x along the last axis. */

  private grid(): void {
    const { shape } = this;
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

  /** The block's segment of the elements, which count in row-major order. */
  private segment(): void {
    const { out, names } = this;
    const { rank } = this.shape;
    const [firstName, stopName, nName, restName] = ["first", "stop", "n", "rest"].map((wish) => names.fresh(wish)) as [
      Identifier,
      Identifier,
      Identifier,
      Identifier,
    ];
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
    const { bytesAtWords } = this.program.assumptions;
    if (strided && shape.rank === 1 && bytesAtWords) return this.words.elements(bytesAtWords, at, step);
    const inside = () => out.inside(() => (innermost ? this.element() : this.axis(a + 1, strided)));
    // The grid always covers the innermost axis of an unstrided range; along the others it has 65535 blocks at most.
    if (innermost && !strided && shape.several) return this.together(name, shape.several);
    const staged = innermost && a === 0 && !strided ? this.stagedBody() : undefined;
    if (staged) return this.staged.elements(staged, add(this.firstInRow(), at));
    if (innermost && !strided) {
      out.put(fixed(name, add(this.firstInRow(), at)));
      return void out.put(when(this.inRow(), inside()));
    }
    const start = add(this.begin(a), at);
    const stop = this.end(a);
    out.put(upTo(name, start, stop, step, inside()));
  }

  /** The body around a loop whose turns go through the block's memory; undefined where each thread reads for itself. */
  private stagedBody(): StagedBody | undefined {
    const { assumptions, features } = this.program;
    if (!features.stagesTurns || !assumptions.restrict) return undefined;
    const staged = stagedBody(this.ir);
    // The first turn after the last staged ones has to fit the counter.
    const fits = staged && (assumptions.wide || this.body.ranges.stepFits({ ...staged.loop, step: this.shape.threads }));
    return fits ? staged : undefined;
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
    const [i, j] = this.indexNames as [Identifier, Identifier];
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
  private together(name: Identifier, { count, guard, body }: Jam): void {
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
        id: nName,
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
}
