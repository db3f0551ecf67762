import { BYTES } from "../../../../src/device/memory/view.js";
import { Field } from "../../../../src/domain/index.js";
import type { DeviceSet, MemberCopy } from "../../../../src/set/index.js";
import { Exchange } from "../../../../src/set/exchange.js";
import { BoundProgram } from "../../../../src/skeleton/run/bound-program.js";

/** Messages from one rank to another. */
export interface Sent {
  readonly from: number;
  readonly to: number;
  count: number;
  bytes: number;
}

/**
 * Counts the copies that members of this process make from now on, as messages between ranks that share the members out.
 * @returns a function that lists them, by the ranks that send and receive
 */
export function planned(ranks: number): () => readonly Sent[] {
  const sent = new Map<string, Sent>();
  const note = ({ members }: DeviceSet, copies: readonly MemberCopy[]): void => {
    const rankOf = (member: number): number => Math.floor((member * ranks) / members.length);
    for (const copy of copies) {
      const [from, to] = [rankOf(copy.from), rankOf(copy.to)];
      if (from === to) continue;
      const key = `${from} ${to}`;
      const pair = sent.get(key) ?? { from, to, count: 0, bytes: 0 };
      sent.set(key, pair);
      pair.count++;
      pair.bytes += copy.source!.size * BYTES[copy.source!.type];
    }
  };
  watch(BoundProgram.prototype, "submit", ({ set, ops }) =>
    note(
      set!,
      ops!.flatMap((op) => op.copies),
    ),
  );
  watch(Exchange.prototype, "run", ({ set, copies }) => note(set!, copies!));
  // Each process fills halos by itself, so several have them sent before they are read.
  (Field.prototype as unknown as { noteFill(): void }).noteFill = Field.prototype.noteWrite;
  return () => [...sent.values()].sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Private members of the classes that make copies. */
interface Watched {
  readonly set?: DeviceSet;
  readonly ops?: readonly { readonly copies: readonly MemberCopy[] }[];
  readonly copies?: readonly MemberCopy[];
}

/** Calls `before` in front of each call of a method. */
function watch(prototype: object, name: string, before: (self: Watched) => void): void {
  const methods = prototype as Record<string, (this: Watched) => void>;
  const own = methods[name];
  methods[name] = function () {
    before(this);
    own.call(this);
  };
}
