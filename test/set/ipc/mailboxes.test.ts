import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Arena } from "../../../src/device/memory/arena.js";
import { isIpcOff, whyNotIpc } from "../../../src/set/ipc/facts.js";
import { IpcMailboxes } from "../../../src/set/ipc/mailboxes.js";

it("ranks decide together whether their GPUs write to each other's memory", () => {
  assert.equal(whyNotIpc([{ host: "a" }, { host: "a" }]), undefined);
  assert.equal(whyNotIpc([{ host: "a" }, { host: "a" }, { host: "b" }]), "ranks 0 and 2 are on different nodes");
  assert.equal(whyNotIpc([{ host: "a" }, { problem: "ISOFORM_IPC is off" }]), "rank 1: ISOFORM_IPC is off");
  assert.ok(isIpcOff({ ISOFORM_IPC: "off" }));
  assert.ok(!isIpcOff({}));
});

it("pieces of an arena are apart, on their alignment, and are taken again once given back", () => {
  const size = 1 << 14;
  fc.assert(
    fc.property(fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 3000 }), gives: fc.nat() }), { maxLength: 60 }), (turns) => {
      const arena = new Arena(size);
      const held: { begin: number; end: number }[] = [];
      for (const { bytes, gives } of turns) {
        const begin = arena.take(bytes);
        if (begin === undefined) {
          const [out] = held.splice(gives % held.length, 1);
          arena.give(out.begin);
          continue;
        }
        assert.equal(begin % 256, 0);
        assert.ok(begin + bytes <= size);
        for (const other of held) assert.ok(begin + bytes <= other.begin || other.end <= begin);
        held.push({ begin, end: begin + bytes });
      }
      for (const { begin } of held) arena.give(begin);
      assert.equal(arena.take(size), 0);
    }),
    { seed: 1 },
  );
});

/** Mailboxes of rank 1 of two, and what it does to memory; rank 0 says `theirs`. */
function mailboxes(theirs: { number: number }) {
  const done: unknown[] = [];
  const driver = { call: (...words: unknown[]) => void done.push(words) };
  const ranks = {
    rank: 1,
    count: 2,
    gatherNow: (own: Uint8Array) => new Uint8Array(Int32Array.of(theirs.number, new Int32Array(own.buffer)[0]).buffer),
  };
  const [gpu, shared] = [{ enter: () => driver }, { close: (address: number) => void done.push(["close", address]) }];
  const arena = { address: 2e6, free: () => void done.push(["free"]) };
  type Given = ConstructorParameters<typeof IpcMailboxes>;
  const given = [gpu, shared, arena, [1e6, 2e6], ranks, 60] as unknown as Given;
  return { boxes: new IpcMailboxes(...given), done };
}

it("mailboxes are zeroed before any rank is told of them, and lie where each rank has taken them", () => {
  const theirs = { number: 512 };
  const { boxes, done } = mailboxes(theirs);
  assert.equal(boxes.most(3), 512);
  assert.deepEqual(
    [boxes.take(300)!.addresses, boxes.take(10)!.addresses],
    [
      [1e6 + 512, 2e6],
      [1e6 + 512, 2e6 + 512],
    ],
  );
  assert.deepEqual(done.slice(0, 2), [
    ["cuMemsetD8Async", 2e6, 0, 300, 0],
    ["cuStreamSynchronize", 0],
  ]);
  done.length = 0;
  boxes.close();
  assert.deepEqual(done, [["close", 1e6], ["free"]]);
  assert.equal(boxes.patience, 120);
});

it("no rank has mailboxes where one has none, and places are given back", () => {
  const theirs = { number: -1 };
  const { boxes } = mailboxes(theirs);
  assert.equal(boxes.most(3), undefined);
  assert.equal(boxes.take(300), undefined);
  theirs.number = 0;
  assert.equal(boxes.most(undefined), undefined);
  const taken = boxes.take(300)!;
  assert.deepEqual(taken.addresses, [1e6, 2e6]);
  taken.free();
  assert.deepEqual(boxes.take(300)!.addresses, [1e6, 2e6]);
});
