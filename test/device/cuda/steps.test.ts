import assert from "node:assert/strict";
import test from "node:test";
import { fillFrom } from "../../../src/device/gpu/steps.js";
import { packParams } from "../../../src/device/cuda/steps.js";

test("parameters are packed in order, each aligned to its size", () => {
  const data = new DataView(
    packParams(
      [
        { slot: { kind: "flag" }, type: "bool" },
        { slot: { kind: "n" }, type: "i32" },
        { slot: { kind: "x" }, type: "pointer" },
        { slot: { kind: "f" }, type: "f32" },
        { slot: { kind: "a" }, type: "f64" },
        { slot: { kind: "u" }, type: "u32" },
        { slot: { kind: "wide" }, type: "i64" },
      ],
      fillFrom({ flag: true, n: -5, x: 0x7f00_1234_5678, f: 1.5, a: 0.1, u: 4294967295, wide: -7, unused: 3 }),
    ).bytes,
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
  assert.equal(packParams([{ slot: { kind: "league" }, type: "i32" }], fillFrom({ league: 3 })).bytes.byteLength, 4);
  assert.equal(packParams([], fillFrom({})).bytes.byteLength, 0);
});

test("a parameter without a value is named", () => {
  assert.throws(
    () => packParams([{ slot: { kind: "stride", name: "x", axis: 0 }, type: "i32" }], () => undefined),
    /no value for the kernel parameter "stride:x:0"/,
  );
});
