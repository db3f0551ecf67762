import type { NumericType, ReduceParam } from "../../../ir/types.js";
import type { FarBlocks } from "./dialect.js";
import type { EntryWriter } from "./writer.js";

/** Values that GPUs exchange at a time, of all of them. */
export const MOST_MET = 256;
/** Looks at the mailbox before a GPU is given up: some seconds. */
const MOST_TRIES = 1 << 27;

/**
 * GPUs that exchange their results while they fold. A thread for each word puts it into the mailbox of another GPU and waits for the one that
 * comes from there; then all fold what they have in the order of the GPUs. A word of a mailbox holds half of a value, and the turn, so that
 * neither is seen without the other. There are words for two turns: a GPU that is a turn ahead must not overwrite what others still read.
 */
export class Meeting {
  /** There are other GPUs. */
  readonly held: string;
  private readonly reduces: readonly ReduceParam[];
  private readonly members: string;
  private readonly turn: string;
  /** Words of a GPU. */
  private readonly words: number;
  private readonly takesPart: string;

  /** Values of any type have 8 bytes of the block's memory each. Needs `thread`. */
  constructor(
    private readonly entry: EntryWriter,
    private readonly far: FarBlocks,
  ) {
    this.reduces = entry.program.reduces;
    this.words = 2 * this.reduces.length;
    this.members = entry.param("members", "i32", "members");
    this.turn = entry.pointerParam("turn", "turn", "i64");
    this.held = `${this.members} > 1`;
    this.takesPart = `thread < ${this.members} * ${this.words}`;
    entry.program.definitions.add(far.definition);
    entry.sharedArray("own", "f64", this.reduces.length);
    entry.sharedArray("heard", "f64", MOST_MET);
  }

  /** Where the result of this GPU for reduction `n` is put down for the others. */
  own(type: NumericType, n: number): string {
    return this.valueOf(type, "own", `${n}`);
  }

  /** Finds the words' places, and waits for what was stored in the memory of other GPUs, while partials are read. */
  begin(): void {
    const { entry, words } = this;
    const { i64 } = entry.dialect;
    const me = entry.param("me", "i32", "me");
    const mailboxes = entry.pointerParam("mailboxes", "mailboxes", "i64", { constant: true });
    entry.early.line(`volatile ${i64} *to = 0;`).line(`const ${i64} *from = 0;`);
    entry.early.block(`if (${this.held} && ${this.takesPart})`, () => {
      entry.early.line(`to = (${i64} *)${mailboxes}[thread / ${words}] + ${me} * ${words} + thread % ${words};`);
      entry.early.line(`from = (const ${i64} *)${mailboxes}[${me}] + thread;`);
    });
    entry.code.line(`${i64} now = 0;`);
    entry.code.block(`if (${this.held} && ${this.takesPart})`, () => {
      entry.code.line(`now = *${this.turn} + 1;`);
      entry.code.line(`const int side = (int)(now % 2) * ${this.members} * ${words};`);
      entry.code.line("to += side;").line("from += side;");
      // What the kernels before have stored in the memory of other GPUs is there when a word is.
      entry.code.line(`${this.far.fence};`);
    });
  }

  /** Exchanges what is put down, and runs the line made by `use` for each total. */
  end(use: (param: ReduceParam, n: number, total: string) => string): void {
    const { entry, reduces, members } = this;
    const { code, T } = entry;
    code.line(`if (${members} == 1) return;`);
    code.block(`if (${this.takesPart})`, () => this.exchange());
    code.line(`${entry.dialect.barrier};`);
    code.line("if (thread != 0) return;");
    code.line(`*${this.turn} = now;`);
    reduces.forEach((param, n) =>
      code.block("", () => {
        code.line(`${T[param.type]} total = ${entry.constant(param.type, param.identity)};`);
        code.block(`for (int m = 0; m < ${members}; m++)`, () =>
          entry.foldInto(entry.body, param, param.type, "total", this.valueOf(param.type, "heard", `m * ${reduces.length} + ${n}`)),
        );
        code.line(use(param, n, "total"));
      }),
    );
  }

  private exchange(): void {
    const { code, dialect } = this.entry;
    const { load, pause, fail } = this.far;
    code.line(`*to = now << 32 | ((const unsigned int *)own)[thread % ${this.words}];`);
    code.line(`${dialect.i64} word;`);
    code.block(`for (unsigned int tries = 0; (int)((word = ${load("from")}) >> 32) != (int)now; tries++)`, () => {
      code.line(`if (tries == ${MOST_TRIES}u) ${fail};`);
      code.line(`${pause};`);
    });
    code.line("((unsigned int *)heard)[thread] = (unsigned int)word;");
  }

  private valueOf(type: NumericType, values: string, at: string): string {
    return `*(${this.entry.T[type]} *)(${values} + ${at})`;
  }
}
