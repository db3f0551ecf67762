import { ownIdentifier } from "../base/names.js";
import type { ReduceParam } from "../ir/types.js";
import {
  add,
  and,
  assign,
  bits,
  block,
  blocks,
  cast,
  declare,
  div,
  eq,
  fixed,
  ge,
  gt,
  local,
  lt,
  mul,
  ne,
  num,
  or,
  perform,
  read,
  rem,
  sub,
  upTo,
  variable,
  when,
  word,
  write,
  address,
  inBlock,
} from "./build.js";
import type { EntrySchedule } from "./entry.js";
import { foldDown, isFirstThread, THREAD } from "./folds.js";
import { MOST_SENT, RECEIVERS } from "./mailbox.js";
import type { Expr, Memory, Stmt, Type } from "./nodes.js";

const NOW = local("now", "long");
const PLACES = local("places", "int");
const SENDER = local("sender", "int");

/**
 * The all-reduce in a kernel: blocks, of one GPU or several, that bring their totals together. Each puts its own into the mailboxes of all
 * GPUs, a word for each half of a value; the last block of each GPU waits for the words of all, and folds them in one order, so that all
 * get the same. A word also holds the turn, so that neither half is seen without it. There are words for two turns: a GPU that is a turn
 * ahead must not overwrite what others still read.
 */
export class AllReduce {
  /** The block's first threads fold its partials, while the others wait for what was stored in the memory of other GPUs. */
  readonly folders: number;
  private readonly reduces: readonly ReduceParam[];
  /** Words of a block. */
  private readonly words: number;
  private readonly sends: Expr;
  private readonly own: Memory;
  private readonly to: Memory = { id: ownIdentifier("to"), element: "long", space: "device", volatile: true };
  private readonly from: Memory = { id: ownIdentifier("from"), element: "long", space: "device" };

  /** Values of any type have 8 bytes of the block's memory each. Needs `thread`. */
  constructor(private readonly entry: EntrySchedule) {
    const { early, out, program, features } = entry;
    this.folders = features.peerAccess - MOST_SENT;
    this.reduces = program.reduces;
    const words = (this.words = 2 * this.reduces.length);
    this.own = entry.sharedArray(ownIdentifier("own"), "f64", this.reduces.length);
    const [members, me] = [entry.number({ kind: "members" }, "i32", "members"), entry.number({ kind: "me" }, "i32", "me")];
    const mailboxes = entry.given({ kind: "mailboxes" }, "mailboxes", "long", { constant: true });
    const all = cast(blocks("x"), "int");
    early.put(fixed("places", mul(members, all)), fixed("sender", sub(THREAD, this.folders)));
    this.sends = and(ge(SENDER, 0), lt(SENDER, mul(members, words)));
    const at = add(mul(add(cast(mul(me, all), "u32"), block("x")), words), rem(SENDER, words));
    early.put({ kind: "pointer", memory: this.to, to: undefined });
    early.put(when(this.sends, [{ kind: "point", memory: this.to, to: { address: read(mailboxes, div(SENDER, words)), offset: at } }]));
    early.put({ kind: "pointer", memory: this.from, constant: true, to: { address: read(mailboxes, me) } });
    out.put(declare("now", "long", num(0, "long")));
    out.put(when(or(this.sends, lt(THREAD, RECEIVERS)), [assign(variable("now", "long"), read(this.turn, num(0)))]));
    // Makes earlier kernels' stores to other GPUs' memory visible before the word.
    out.put(when(and(gt(members, 1), this.sends), [{ kind: "fence", scope: "system" }]));
  }

  /** Thread 0 puts down what the block has for reduction `n`; the only block of all runs `only`. */
  put({ type }: ReduceParam, n: number, total: Expr, only: readonly Stmt[]): Stmt[] {
    return [when(gt(PLACES, 1), [{ kind: "assign", to: { memory: this.own, offset: num(n), type }, value: total }], only)];
  }

  /** Exchanges what is put down; thread 0 of the last block runs what `use` makes for each total. */
  end(use: (param: ReduceParam, n: number, total: Expr) => readonly Stmt[]): void {
    const { entry, reduces, words } = this;
    const { out } = entry;
    const next = bits.shl(add(NOW, 1), num(32, "long"));
    const halves: Memory = { id: ownIdentifier("halves"), element: "u32", space: "block" };
    const half = cast(read(halves, rem(SENDER, words)), "long");
    out.put(
      when(eq(PLACES, 1), [{ kind: "return" }]),
      { kind: "pointer", memory: halves, constant: true, to: { of: this.own } },
      fixed("side", mul(mul(cast(rem(NOW, 2), "int"), PLACES), words)),
      when(this.sends, [write(this.to, local("side", "int"), bits.or(next, half))]),
      when(or(ne(block("x"), sub(blocks("x"), 1)), ge(THREAD, RECEIVERS)), [{ kind: "return" }]),
    );
    reduces.forEach((param, n) => {
      const { type } = param;
      const total = variable("total", type);
      const body = out.inside(() => {
        out.put(declare("total", type, entry.identity(param)));
        const turn = out.inside(() => {
          const offset = add(add(local("side", "int"), mul(local("place", "int"), words)), num(2 * n));
          this.poll(offset, type);
          entry.foldInto(entry.body, param, type, total, local("received", type));
        });
        out.put(upTo("place", THREAD, PLACES, RECEIVERS, turn));
        foldDown(entry, param, type, total, RECEIVERS / 2);
        out.put(when(isFirstThread, use(param, n, local("total", type))));
      });
      out.put(inBlock(body));
    });
    out.put(when(isFirstThread, [write(this.turn, num(0), add(NOW, 1))]));
  }

  /** Waits for a value and declares it as `received`. */
  private poll(offset: Expr, type: Type): void {
    const { out } = this.entry;
    const [low, high, begin] = (["low", "high", "begin"] as const).map((name) => local(name, "long")) as [Expr, Expr, Expr];
    const clock = word("clock", "long");
    const turnOf = (words: Expr) => eq(cast(bits.shr(words, num(32, "long")), "int"), cast(add(NOW, 1), "int"));
    out.put(declare("low", "long"), declare("high", "long"), declare("begin", "long", clock));
    out.put({
      kind: "loop",
      id: ownIdentifier(""),
      type: "int",
      body: [
        perform(word("poll", "bool", address(this.from, offset), low, high)),
        when(and(turnOf(low), turnOf(high)), [{ kind: "break" }]),
        when(gt(sub(clock, begin), this.patience), [perform(word("fail", "bool"))]),
        perform(word("pause", "bool")),
      ],
    });
    const joined = bits.or(bits.shl(high, num(32, "long")), cast(cast(low, "u32"), "long"));
    out.put(fixed("bits", joined), fixed("received", { op: "word", type, word: "sameBits", args: [local("bits", "long")] }));
  }

  /** Nanoseconds after which the others are given up. */
  private get patience(): Expr {
    return this.entry.number({ kind: "patience" }, "long", "patience");
  }

  private get turn(): Memory {
    return this.entry.given({ kind: "turn" }, "turn", "long");
  }
}
