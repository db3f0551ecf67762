import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { isWideMemory, MAX_PAGES, memoryLimits, moreMemory, noMemory } from "../../../src/device/cpu/wasm-memory.js";

const GIB = 16384;

describe("limits of the WebAssembly memory", () => {
  const before = process.env.ISOFORM_MEMORY_GIB;
  afterEach(() => {
    if (before === undefined) delete process.env.ISOFORM_MEMORY_GIB;
    else process.env.ISOFORM_MEMORY_GIB = before;
  });
  const limits = (wish: string) => {
    process.env.ISOFORM_MEMORY_GIB = wish;
    return memoryLimits();
  };

  it("are what ISOFORM_MEMORY_GIB asks for, in pages, one less than 4 GiB", () => {
    for (const [wish, pages] of [
      ["1", GIB],
      ["1.5", 1.5 * GIB],
      ["1.00001", GIB + 1],
      ["4", 4 * GIB - 1],
      ["5", 5 * GIB],
      ["16", 16 * GIB],
    ] as const)
      assert.deepEqual(limits(wish), { first: pages, most: pages }, wish);
    assert.equal(MAX_PAGES, 4 * GIB - 1);
    assert.deepEqual([isWideMemory(MAX_PAGES), isWideMemory(MAX_PAGES + 1)], [false, true]);
  });

  it("refuse other wishes", () => {
    for (const wish of ["0", "0.99", "16.01", "17", "-1", "much", "NaN"])
      assert.throws(() => limits(wish), {
        name: "IsoformError",
        message: new RegExp(`^ISOFORM_MEMORY_GIB is "${wish}": it needs a number from 1 to 16$`),
      });
  });

  it("begin with 4 GiB where nothing is asked for, and may grow to 16 where the engine has 64-bit addresses", () => {
    for (const { first, most } of [limits(""), (delete process.env.ISOFORM_MEMORY_GIB, memoryLimits())]) {
      assert.equal(first, MAX_PAGES);
      assert.ok(most === MAX_PAGES || most === 16 * GIB, `${most}`);
    }
  });

  it("say what to do where they are reached", () => {
    assert.deepEqual(moreMemory(16 * GIB), {
      reason: "which is the largest there is",
      remedy: "free other arrays, or use the device native",
    });
    assert.match(moreMemory(16 * GIB - 1).reason, /^(as ISOFORM_MEMORY_GIB asks|and this engine has none with 64-bit addresses)$/);
    assert.match(
      moreMemory(GIB).remedy,
      /^free other arrays, (leave out ISOFORM_MEMORY_GIB or set it to as much as 16|use Node 24 or newer), or/,
    );
    assert.match(noMemory("no room").reason, /^the engine gives no WebAssembly memory \(no room\): /);
  });
});
