import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { Arena } from "../../../src/device/memory/arena.js";
import { isOff, whyNot } from "../../../src/set/ipc/facts.js";

it("ranks decide together whether their GPUs write to each other's memory", () => {
  assert.equal(whyNot([{ host: "a" }, { host: "a" }]), undefined);
  assert.equal(whyNot([{ host: "a" }, { host: "a" }, { host: "b" }]), "ranks 0 and 2 are on different nodes");
  assert.equal(whyNot([{ host: "a" }, { problem: "ISOFORM_IPC is off" }]), "rank 1: ISOFORM_IPC is off");
  assert.ok(isOff({ ISOFORM_IPC: "off" }));
  assert.ok(!isOff({}));
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
