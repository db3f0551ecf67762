import type { Identifier, Names } from "../base/names.js";
import type { Expr as KernelExpr } from "../ir/types.js";
import { add, bits, cast, div, fixed, ge, inBlock, local, mul, num, read, sub, upTo, when } from "./build.js";
import type { Expr, Memory } from "./nodes.js";
import type { Output } from "./output.js";

/** Bytes of a word, and the neighbouring elements that a thread works on one after the other. */
export const BYTES_OF_WORD = 4;

/** A schedule of elements of one axis. */
interface LineOfElements {
  readonly out: Output;
  readonly names: Names;
  readonly indexNames: readonly Identifier[];
  memory(view: string): Memory;
  begin(axis: number): Expr;
  end(axis: number): Expr;
  /** All that is done for the element at the index at hand. */
  element(): void;
}

/** Views of bytes that threads read by words, and the byte of the element at hand: loads of single bytes are as many as bytes, whatever these are for. */
export class BytesByWords {
  /** By view, in a word of neighbours that has been read. */
  private readonly words = new Map<string, Identifier>();
  private byte = 0;

  constructor(private readonly schedule: LineOfElements) {}

  /** The byte of an element that stands in a word; undefined for what does not. */
  byteOf({ view, indices, type }: Extract<KernelExpr, { op: "load" }>): Expr | undefined {
    const word = this.words.get(view);
    if (word === undefined || indices.length !== 1 || indices[0]!.op !== "index") return undefined;
    return cast(bits.and(bits.shr(local(word, "u32"), whole(8 * this.byte)), whole(255)), type);
  }

  /** Puts the loop over words of neighbouring elements, from the thread's own word on, and over the elements that are left at the end. */
  elements(views: readonly string[], at: Expr, step: Expr): void {
    const { schedule, words } = this;
    const { out, names } = schedule;
    const name = schedule.indexNames[0]!;
    const begin = schedule.begin(0);
    const end = schedule.end(0);
    const pointers = views.map((view): [view: string, memory: Memory] => {
      const memory: Memory = { id: names.fresh(`${view}_words`), element: "u32", space: "device" };
      out.put({ kind: "pointer", memory, to: { of: schedule.memory(view), offset: begin }, fixed: true, constant: true });
      return [view, memory];
    });
    const [nName, firstName] = [names.fresh("n"), names.fresh("first")];
    const [n, first] = [local(nName, "index"), local(firstName, "index")];
    const neighbours = out.inside(() => {
      for (const [view, memory] of pointers) {
        const word = names.fresh(`${view}_word`);
        words.set(view, word);
        out.put(fixed(word, read(memory, n)));
      }
      for (this.byte = 0; this.byte < BYTES_OF_WORD; this.byte++)
        out.put(
          inBlock(
            out.inside(() => {
              out.put(fixed(name, add(first, this.byte)));
              schedule.element();
            }),
          ),
        );
      words.clear();
    });
    const single = upTo(
      name,
      first,
      end,
      num(1, "index"),
      out.inside(() => schedule.element()),
    );
    const body = [
      fixed(firstName, add(begin, mul(n, num(BYTES_OF_WORD, "index")))),
      when(ge(sub(end, first), BYTES_OF_WORD), neighbours, [single]),
    ];
    const count = div(add(sub(end, begin), BYTES_OF_WORD - 1), BYTES_OF_WORD);
    out.put(upTo(nName, at, count, step, body));
  }
}

const whole = (value: number): Expr => ({ op: "const", type: "u32", value });
