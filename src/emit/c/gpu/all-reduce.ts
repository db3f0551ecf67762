import type { NumericType, ReduceParam } from "../../../ir/types.js";
import type { PeerAccess } from "./dialect.js";
import { MOST_SENT, RECEIVERS } from "./mailbox.js";
import { foldDown } from "./shuffles.js";
import type { EntryWriter } from "./writer.js";

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
  private readonly sends: string;

  /** Values of any type have 8 bytes of the block's memory each. Needs `thread`. */
  constructor(
    private readonly entry: EntryWriter,
    private readonly access: PeerAccess,
  ) {
    const { early, code, dialect, program } = entry;
    const { i64 } = dialect;
    this.folders = access.threads - MOST_SENT;
    this.reduces = program.reduces;
    this.words = 2 * this.reduces.length;
    program.definitions.add(access.definition);
    entry.sharedArray("own", "f64", this.reduces.length);
    const [members, me] = [entry.param({ kind: "members" }, "i32", "members"), entry.param({ kind: "me" }, "i32", "me")];
    const mailboxes = entry.pointerParam({ kind: "mailboxes" }, "mailboxes", "i64", { constant: true });
    const blocks = `(int)${dialect.blocks("x")}`;
    early.line(`const int places = ${members} * ${blocks}, sender = thread - ${this.folders};`);
    this.sends = `sender >= 0 && sender < ${members} * ${this.words}`;
    early.line(`volatile ${i64} *to = 0;`);
    early.block(`if (${this.sends})`, () =>
      early.line(
        `to = (${i64} *)${mailboxes}[sender / ${this.words}] + (${me} * ${blocks} + ${dialect.block("x")}) * ${this.words} + sender % ${this.words};`,
      ),
    );
    early.line(`const ${i64} *from = (const ${i64} *)${mailboxes}[${me}];`);
    code.line(`${i64} now = 0;`);
    code.line(`if (${this.sends} || thread < ${RECEIVERS}) now = *${this.turn};`);
    // Makes earlier kernels' stores to other GPUs' memory visible before the word.
    code.line(`if (${members} > 1 && ${this.sends}) ${access.fence};`);
  }

  /** Thread 0 puts down what the block has for reduction `n`; the only block of all runs the line `only`. */
  put({ type }: ReduceParam, n: number, total: string, only: string): string {
    return `{ if (places > 1) *(${this.entry.T[type]} *)(own + ${n}) = ${total}; else ${only} }`;
  }

  /** Exchanges what is put down; thread 0 of the last block runs the line made by `use` for each total. */
  end(use: (param: ReduceParam, n: number, total: string) => string): void {
    const { entry, reduces, words } = this;
    const { code, dialect } = entry;
    code.line("if (places == 1) return;");
    code.line(`const int side = (int)(now % 2) * places * ${words};`);
    code.line(`if (${this.sends}) to[side] = (now + 1) << 32 | ((const unsigned int *)own)[sender % ${words}];`);
    code.line(`if (${dialect.block("x")} != ${dialect.blocks("x")} - 1 || thread >= ${RECEIVERS}) return;`);
    reduces.forEach((param, n) =>
      code.block("", () => {
        code.line(`${entry.T[param.type]} total = ${entry.constant(param.type, param.identity)};`);
        code.block(`for (int place = thread; place < places; place += ${RECEIVERS})`, () => {
          this.poll(`from + side + place * ${words} + ${2 * n}`, param.type);
          entry.foldInto(entry.body, param, param.type, "total", "received");
        });
        foldDown(entry, param, "total", RECEIVERS / 2, dialect.shuffle!);
        code.line(`if (thread == 0) ${use(param, n, "total")}`);
      }),
    );
    code.line(`if (thread == 0) *${this.turn} = now + 1;`);
  }

  /** Waits for a value and declares it as `received`. */
  private poll(place: string, type: NumericType): void {
    const { code, dialect, T } = this.entry;
    const { load, pause, fail, nanoseconds } = this.access;
    code.line(`${dialect.i64} low, high, begin = ${nanoseconds};`);
    code.block("for (;;)", () => {
      code.line(`${load(place, ["low", "high"])};`);
      code.line("if ((int)(low >> 32) == (int)(now + 1) && (int)(high >> 32) == (int)(now + 1)) break;");
      code.line(`if (${nanoseconds} - begin > ${this.patience}) ${fail};`);
      code.line(`${pause};`);
    });
    code.line(`const ${dialect.i64} bits = high << 32 | (unsigned int)low;`);
    code.line(`const ${T[type]} received = *(const ${T[type]} *)&bits;`);
  }

  /** Nanoseconds after which the others are given up. */
  private get patience(): string {
    return this.entry.param({ kind: "patience" }, "i64", "patience");
  }

  private get turn(): string {
    return this.entry.pointerParam({ kind: "turn" }, "turn", "i64");
  }
}
