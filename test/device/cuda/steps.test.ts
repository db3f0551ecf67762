import assert from "node:assert/strict";
import test from "node:test";
import { packParams } from "../../../src/device/cuda/steps.js";

test("parameters are packed in order, each aligned to its size", () => {
  const data = new DataView(
    packParams(
      [
        { key: "flag", type: "bool" },
        { key: "n", type: "i32" },
        { key: "x", type: "pointer" },
        { key: "f", type: "f32" },
        { key: "a", type: "f64" },
        { key: "u", type: "u32" },
        { key: "wide", type: "i64" },
      ],
      { flag: true, n: -5, x: 0x7f00_1234_5678, f: 1.5, a: 0.1, u: 4294967295, wide: -7, unused: 3 },
    ),
  );
  assert.equal(data.byteLength, 48);
  assert.equal(data.getUint8(0), 1);
  assert.equal(data.getInt32(4, true), -5);
  assert.equal(data.getBigUint64(8, true), 0x7f0012345678n);
  assert.equal(data.getFloat32(16, true), 1.5);
  assert.equal(data.getFloat64(24, true), 0.1);
  assert.equal(data.getUint32(32, true), 4294967295);
  assert.equal(data.getBigInt64(40, true), -7n);
});

test("nothing follows the last parameter, which the driver would refuse", () => {
  assert.equal(packParams([{ key: "league", type: "i32" }], { league: 3 }).byteLength, 4);
  assert.equal(packParams([], {}).byteLength, 0);
});

test("a parameter without a value is named", () => {
  assert.throws(() => packParams([{ key: "stride:x:0", type: "i32" }], {}), /no value for the kernel parameter "stride:x:0"/);
});
