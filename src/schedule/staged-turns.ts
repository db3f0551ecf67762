import { jsonText } from "../base/json.js";
import type { Identifier } from "../base/names.js";
import type { Expr as KernelExpr, KernelIR, Stmt as KernelStmt } from "../ir/types.js";
import { changedIn, children, exprsOf, someExpr, walkExpr } from "../ir/walk.js";
import { add, BARRIER, cast, fixed, ge, local, lt, num, read, select, sub, thread, upTo, when, write } from "./build.js";
import type { Expr, Memory, Stmt } from "./nodes.js";
import type { RangeFrame } from "./range-frame.js";
import { viewsOfSharedTurns } from "./shared-turns.js";

/** Turns of a staged loop that are written out. By hand 16 took 3.0 ms for 65,536 bodies on an H200. */
const TURNS = 16;
/** Fewest turns, for which a block waits twice: where it begins to pay was not measured. */
const FEWEST_TURNS = 64;
/** Values of a turn at most, so that a block's memory holds the values of as many turns as it has threads. */
const MOST_VALUES = 8;

type Loop = Extract<KernelStmt, { kind: "for" }>;
type Load = Extract<KernelExpr, { op: "load" }>;

/** An element's body around a loop that reads the same for all elements. */
export interface StagedBody {
  /** Locals, which elements outside of the range may have as well. */
  readonly before: readonly KernelStmt[];
  readonly loop: Loop;
  readonly after: readonly KernelStmt[];
  readonly loads: readonly Load[];
}

/**
 * The parts of a body with one such loop, whose turns are read into the block's memory by all its threads together, as many turns at a time as there are
 * threads: each value comes to a multiprocessor once for a block instead of once for a warp. Undefined for other bodies, and if the kernel writes
 * what the loop reads.
 */
export function stagedBody(ir: KernelIR): StagedBody | undefined {
  const at = ir.body.findIndex(({ kind }) => kind === "for");
  const loop = ir.body[at];
  if (ir.checks || ir.prints || loop?.kind !== "for" || loop.step !== 1) return undefined;
  const [before, after] = [ir.body.slice(0, at), ir.body.slice(at + 1)];
  const views = viewsOfSharedTurns(loop);
  const written = changedIn(ir.body, "view");
  if (!views || [...views].some((view) => written.has(view)) || before.some(({ kind }) => kind !== "let")) return undefined;
  if (after.some(({ kind }) => kind !== "store" && kind !== "let" && kind !== "assign" && kind !== "if")) return undefined;
  if (![loop.start, loop.stop].every((bound) => !someExpr(bound, ({ op }) => !AGREED.has(op))) || isShort(loop)) return undefined;
  if (loop.body.flatMap(exprsOf).some((expr) => someExpr(expr, readsIfAsked))) return undefined;
  const loads = new Map<string, Load>();
  for (const expr of loop.body.flatMap(exprsOf)) walkExpr(expr, (e) => void (e.op === "load" && loads.set(keyOf(e), e)));
  return loads.size <= MOST_VALUES ? { before, loop, after, loads: [...loads.values()] } : undefined;
}

/** A value that is perhaps read, such as one that a condition keeps inside an array: the block would read it for all turns. */
const readsIfAsked = (e: KernelExpr): boolean =>
  (e.op === "select" || e.op === "logical") && children(e).some((side) => someExpr(side, ({ op }) => op === "load"));

/** Operators whose value all elements have alike. */
const AGREED: ReadonlySet<KernelExpr["op"]> = new Set(["const", "param", "extent", "unary", "binary", "cast"]);

const isShort = ({ start, stop }: Loop): boolean =>
  start.op === "const" && stop.op === "const" && Number(stop.value) - Number(start.value) < FEWEST_TURNS;

const keyOf = ({ view, indices }: Load): string => jsonText([view, indices]);

/** Values of the turns at hand in the block's memory. */
export class StagedTurns {
  private readonly memories = new Map<string, Memory>();
  /** Number of the turn among the staged ones; undefined outside of the loop. */
  private turn: Expr | undefined;

  constructor(private readonly range: RangeFrame) {}

  /** The value of a load in the block's memory; undefined outside of the loop. */
  valueOf(load: Load): Expr | undefined {
    const memory = this.turn && this.memories.get(keyOf(load));
    return memory && read(memory, this.turn!, load.type);
  }

  /** Puts all that is done for the elements of a block, one for each thread, the first at `at`: those outside of the range go through the loop, and store nothing. */
  elements(staged: StagedBody, at: Expr): void {
    const { range } = this;
    const { out, body } = range;
    const index = range.indexNames[0]!;
    const inside = range.names.fresh("inside");
    const own = range.names.fresh("own");
    out.put(fixed(own, at), fixed(inside, range.inRow(local(own, "index"))));
    out.put(fixed(index, select(local(inside, "bool"), local(own, "index"), range.begin(0))));
    body.statements(staged.before);
    out.line = staged.loop.location.line;
    this.loop(staged);
    out.line = 0;
    out.put(when(local(inside, "bool"), body.nested(staged.after)));
  }

  private loop({ loop, loads }: StagedBody): void {
    const { range } = this;
    const { out, body, names } = range;
    const several = range.shape.threads;
    const [start, stop] = [body.integer(loop.start), body.integer(loop.stop)];
    for (const load of loads) {
      const name = names.fresh(`${load.view}_staged`);
      this.memories.set(keyOf(load), range.sharedArray(name, load.type as Parameters<RangeFrame["sharedArray"]>[1], several));
    }
    const firstName = names.fresh("first");
    const first = local(firstName, "index");
    const counter = body.enter(loop);
    const stage = out.inside(() => {
      out.put(fixed(counter, add(first, cast(thread("x"), "index"))));
      const reads = loads.map((load) => write(this.memories.get(keyOf(load))!, cast(thread("x"), "index"), body.expr(load)));
      out.put(when(lt(local(counter, "index"), stop), reads));
    });
    const [left, whole] = [sub(stop, first), num(several, "index")];
    out.put(
      upTo(firstName, start, stop, whole, [
        BARRIER,
        { kind: "block", body: stage },
        BARRIER,
        when(ge(left, whole), [this.turns(loop, counter, first, whole, TURNS)], [this.turns(loop, counter, first, left)]),
      ]),
    );
  }

  /** The first turns of the staged ones. */
  private turns(loop: Loop, counter: Identifier, first: Expr, count: Expr, unroll?: number): Stmt {
    const { out, body, names } = this.range;
    const name = names.fresh("turn");
    this.turn = local(name, "index");
    const inner = out.inside(() => {
      out.put({ ...fixed(counter, add(first, this.turn!)), ifUsed: true } as Stmt);
      body.statements(loop.body);
    });
    this.turn = undefined;
    return upTo(name, num(0, "index"), count, num(1, "index"), inner, unroll);
  }
}
