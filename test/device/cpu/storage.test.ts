import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CpuStorage, PAGE } from "../../../src/device/cpu/storage.js";

const bytesOf = (b: { host: ArrayBufferLike; address: number; bytes: number }): Uint8Array => new Uint8Array(b.host, b.address, b.bytes);

describe("CPU storage", () => {
  it("allocates aligned, zeroed ranges that do not overlap", () => {
    const storage = new CpuStorage();
    const sizes = [1, 8, 64, 100, 4096, 10_000, 1 << 20, 3 << 20];
    const live = sizes.map((size) => storage.allocate(size));
    live.forEach((b, n) => {
      assert.equal(b.address % 64, 0);
      assert.ok(b.bytes >= sizes[n]);
      assert.ok(b.address >= PAGE && b.address + b.bytes <= storage.memory!.buffer.byteLength - PAGE, "margins stay free");
      assert.ok(bytesOf(b).every((v) => v === 0));
      bytesOf(b).fill(n + 1);
    });
    live.forEach((b, n) => assert.ok(bytesOf(b).every((v) => v === n + 1)));
  });

  it("gives freed memory again, zeroed, and joins neighbours", () => {
    const storage = new CpuStorage();
    const parts = [0, 1, 2, 3].map(() => storage.allocate(50_000));
    parts.forEach((b) => bytesOf(b).fill(255));
    const first = parts[0].address;
    for (const n of [1, 3, 0, 2]) parts[n].free();
    assert.equal(storage.allocated, 0);
    const whole = storage.allocate(200_000);
    assert.equal(whole.address, first);
    assert.ok(bytesOf(whole).every((v) => v === 0));
  });

  it("places the planes of 2^n bytes at different offsets of their pages", () => {
    const storage = new CpuStorage();
    const offsets = new Set([...Array(8)].map(() => storage.allocate(1 << 16).address % 4096));
    assert.equal(offsets.size, 8);
  });

  it("survives random allocation and release without overlap or loss", () => {
    const storage = new CpuStorage();
    const live: ReturnType<CpuStorage["allocate"]>[] = [];
    let state = 1;
    const next = (n: number): number => (state = (state * 48271) % 2147483647) % n;
    for (let step = 0; step < 3000; step++) {
      if (live.length && next(2)) live.splice(next(live.length), 1)[0].free();
      else live.push(storage.allocate(next(20_000) + 1));
      if (step % 100 === 0) {
        const sorted = [...live].sort((a, b) => a.address - b.address);
        sorted.slice(1).forEach((b, n) => assert.ok(b.address >= sorted[n].address + sorted[n].bytes));
        assert.ok(storage.allocated >= live.reduce((sum, b) => sum + b.bytes, 0));
      }
    }
    for (const b of live) b.free();
    assert.equal(storage.allocated, 0);
  });

  it("uses buffers of their own beyond the WebAssembly memory", () => {
    const storage = new CpuStorage(32);
    const inside = storage.allocate(1 << 20),
      outside = storage.allocate(1 << 20);
    assert.deepEqual([inside.inWasmMemory, outside.inWasmMemory], [true, false]);
    bytesOf(outside).fill(3);
    outside.free();
    assert.throws(() => outside.host, /freed/);
    inside.free();
    assert.equal(storage.allocated, 0);
  });

  it("gives buffers of their own where the engine has no WebAssembly memory", () => {
    const { Memory } = WebAssembly;
    WebAssembly.Memory = class {
      constructor() {
        throw new RangeError("could not allocate memory");
      }
    } as unknown as typeof Memory;
    try {
      const storage = new CpuStorage();
      const piece = storage.allocate(100);
      assert.deepEqual([piece.inWasmMemory, piece.bytes, storage.memory], [false, 100, undefined]);
      assert.equal(storage.noMemory, "could not allocate memory");
      assert.equal(storage.allocateForWasm(100), undefined);
    } finally {
      WebAssembly.Memory = Memory;
    }
  });

  it("moves to a larger memory where WebAssembly needs it, with all that it holds", () => {
    const storage = new CpuStorage(64, 512);
    const parts = [1 << 20, 1 << 20, 1 << 19].map((bytes) => storage.allocate(bytes));
    parts.forEach((b, n) => bytesOf(b).fill(n + 1));
    const before = { memory: storage.memory, addresses: parts.map((b) => b.address) };
    parts[1].free();
    assert.equal(storage.allocate(4 << 20).inWasmMemory, false, "only WebAssembly needs it there");
    assert.equal(storage.memory, before.memory);
    const large = storage.allocateForWasm(4 << 20)!;
    assert.ok(large.inWasmMemory);
    assert.notEqual(storage.memory, before.memory);
    assert.ok(bytesOf(large).every((v) => v === 0));
    for (const n of [0, 2]) {
      assert.equal(parts[n].host, storage.memory!.buffer);
      assert.equal(parts[n].address, before.addresses[n]);
      assert.ok(bytesOf(parts[n]).every((v) => v === n + 1));
    }
    const hole = storage.allocateForWasm(1 << 20)!;
    assert.equal(hole.address, before.addresses[1]);
    assert.ok(bytesOf(hole).every((v) => v === 0));
    assert.equal(storage.allocateForWasm(64 << 20), undefined);
  });

  it("refuses what the system cannot hold, and takes a second free as none", () => {
    const storage = new CpuStorage();
    assert.throws(() => storage.allocate(2 ** 50), { name: "DeviceError", message: /GiB do not fit/ });
    const b = storage.allocate(100);
    b.free();
    b.free();
    assert.equal(storage.allocated, 0);
    assert.throws(() => b.host, /freed/);
  });
});
