import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { crc32, endOfZip, entryEnd, entryStart } from "../../src/io/zip.js";
import { readNpz, writeNpz } from "../../src/io/index.js";
import { randomNumbers } from "./table/random-table.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-npz-"));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, "a.npz");

describe("npz files", () => {
  it("give arrays back bit by bit", async () => {
    const random = randomNumbers(3);
    for (let n = 0; n < 20; n++) {
      const shape = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * 5));
      const length = shape.reduce((a, b) => a * b, 1);
      const numbers = () => Array.from({ length }, () => Math.floor(random() * 100));
      const arrays = {
        "f.8": { shape, data: Float64Array.from(numbers(), (value) => value / 3) },
        f4: Float32Array.from(numbers()),
        i4: Int32Array.from(numbers(), (value) => -value),
        u4: Uint32Array.from(numbers()),
        i2: Int16Array.from(numbers()),
        u1: Uint8Array.from(numbers()),
        i8: { shape, data: BigInt64Array.from(numbers(), BigInt) },
        u8: BigUint64Array.from(numbers(), BigInt),
        s: "csr",
      };
      await writeNpz(path, arrays);
      const read = await readNpz(path);
      assert.deepEqual(Object.keys(read), Object.keys(arrays));
      for (const [name, array] of Object.entries(arrays)) {
        const given =
          typeof array === "string" ? { shape: [], data: array } : ArrayBuffer.isView(array) ? { shape: [length], data: array } : array;
        assert.deepEqual(read[name], given);
      }
      assert.deepEqual(Object.keys(await readNpz(path, { arrays: ["s"] })), ["s"]);
    }
  });

  it("take values in pieces, and refuse other counts", async () => {
    const source = (lengths: readonly number[]) => ({
      shape: [5],
      type: "<f8" as const,
      pieces: () => lengths.map((n) => new Float64Array(n).fill(n)),
    });
    await writeNpz(path, { a: source([2, 0, 3]) });
    assert.deepEqual((await readNpz(path)).a.data, Float64Array.of(2, 2, 3, 3, 3));
    await assert.rejects(writeNpz(path, { a: source([2, 2]) }), /the array "a" has 32 bytes instead of 40/);
    assert.deepEqual((await readNpz(path)).a.data, Float64Array.of(2, 2, 3, 3, 3));
    await assert.rejects(writeNpz(path, { a: { shape: [2, 2], data: Float64Array.of(1) } }), /"a" has 1 values and the shape \(2, 2\)/);
    await assert.rejects(writeNpz(path, { "a b": Float64Array.of(1) }), /"a b" is not an array's name/);
    await assert.rejects(writeNpz(path, { a: "é" }), /the text "a" is empty, or not ASCII/);
  });

  it("use the fields of zip64 from 4 GiB on", () => {
    const size = 2 ** 32 + 5;
    const start = entryStart("a.npy", size);
    assert.deepEqual([start.readUInt16LE(4), start.readUInt32LE(18), start.readUInt16LE(28)], [45, 0xffffffff, 20]);
    assert.equal(entryEnd({ name: "a.npy", crc: 1, size, offset: 0 }).readBigUInt64LE(8), BigInt(size));
    const offset = 2 ** 33;
    const end = endOfZip([{ name: "a.npy", crc: 1, size, offset }], offset + size);
    const extra = end.subarray(46 + 5);
    assert.deepEqual(
      [0, 2].map((at) => extra.readUInt16LE(at)),
      [1, 24],
    );
    assert.deepEqual(
      [4, 12, 20].map((at) => Number(extra.readBigUInt64LE(at))),
      [size, size, offset],
    );
    const record = end.subarray(end.indexOf("PK\x06\x06", 0, "latin1"));
    assert.deepEqual(
      [24, 32, 48].map((at) => Number(record.readBigUInt64LE(at))),
      [1, 1, offset + size],
    );
    assert.equal(end.readUInt32LE(end.length - 6), 0xffffffff);
  });

  it("damaged ones are refused", async () => {
    await writeNpz(path, { a: Float64Array.of(1, 2, 3) });
    const whole = readFileSync(path);
    const refused = async (bytes: Buffer, message: RegExp) => {
      writeFileSync(path, bytes);
      await assert.rejects(readNpz(path), message);
    };
    await refused(Buffer.alloc(0), /is not a whole zip archive \(\.npz\): it has no directory/);
    await refused(whole.subarray(0, whole.length - 30), /it has no directory/);
    const flipped = Buffer.from(whole);
    flipped[140] ^= 1;
    await refused(flipped, /the array "a\.npy" does not match its checksum/);
    const directory = whole.indexOf("PK\x01\x02", 0, "latin1");
    for (const [place, value, message] of [
      [directory + 24, 2 ** 31, /has 2147483648 bytes|beyond the file/],
      [directory + 42, 2 ** 30, /30 bytes at 1073741824 lie outside of its \d+/],
      [whole.length - 10, 2 ** 30, /lie outside/],
    ] as const) {
      const forged = Buffer.from(whole);
      forged.writeUInt32LE(value, place);
      await refused(forged, message);
    }
    for (const [place, value, message] of [
      [directory + 8, 1, /"a\.npy" is encrypted or packed by the method 0: isoform reads stored and deflated files/],
      [directory + 10, 1, /"a\.npy" is encrypted or packed by the method 1:/],
      [directory + 10, 9, /by the method 9:/],
    ] as const) {
      const forged = Buffer.from(whole);
      forged.writeUInt16LE(value, place);
      await refused(forged, message);
    }
    assert.equal(crc32(Buffer.from("123456789")), 0xcbf43926);
    assert.equal(crc32(Buffer.from("56789"), crc32(Buffer.from("1234"))), 0xcbf43926);
  });
});
