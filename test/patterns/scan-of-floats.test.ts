import assert from "node:assert/strict";
import { it } from "node:test";
import type { Device } from "../../src/device/device.js";
import { open } from "../../src/device/open.js";
import { f32, f64, u32 } from "../../src/kernel/declare/params.js";
import { scan } from "../../src/patterns/index.js";
import { noiseValue } from "../../src/testing/values.js";
import { eachDevice } from "./devices.js";

const TYPES = { f64, f32 };

/** The documented order, element by element. */
function documented(data: Float64Array, round: (x: number) => number): Float64Array {
  const tiles = Math.ceil(data.length / 960);
  const local = new Float64Array(tiles * 960);
  const blocks: Float64Array[] = [];
  for (let t = 0; t < tiles; t++) {
    let sums = new Float64Array(64);
    for (let b = 0; b < 64; b++)
      for (let k = 0, sum = 0; k < 15; k++) {
        const i = 960 * t + 15 * b + k;
        sum = round(sum + (data[i] ?? 0));
        local[i] = sum;
        sums[b] = sum;
      }
    for (let distance = 1; distance < 64; distance *= 2) {
      const before = sums;
      sums = before.map((sum, b) => (b < distance ? sum : round(before[b - distance] + sum)));
    }
    blocks.push(sums);
  }
  const carries =
    tiles > 1
      ? documented(
          Float64Array.from(blocks, (sums) => sums[63]),
          round,
        )
      : [];
  return data.map((_, i) => {
    const [tile, block] = [Math.floor(i / 960), Math.floor((i % 960) / 15)];
    const carry = tile > 0 ? carries[tile - 1] : 0;
    return round((block > 0 ? round(carry + blocks[tile][block - 1]) : carry) + local[i]);
  });
}

/** Sums of segments of floats on a device. */
async function segmentSums(device: Device, exclusive: boolean): Promise<{ sums: ArrayLike<number>; starts: Uint32Array }> {
  const data = Float32Array.from({ length: 10_000 }, (_, k) => noiseValue(k) - 0.3);
  const starts = Uint32Array.from(data, (_, k) => (noiseValue(k + 3) < 0.001 ? 1 : 0));
  const [input, output, flags] = [device.from(f32, data), device.array(f32, data.length), device.from(u32, starts)];
  scan(device, { input, output, op: "sum", exclusive, segments: { flags } }).submit();
  return { sums: await device.queue.read(output), starts };
}

await eachDevice("sums of floats", (device) => {
  for (const type of ["f64", "f32"] as const)
    it(`have the documented order, in ${type}`, { skip: type === "f64" && !device.capabilities.f64 && "it has no f64" }, async () => {
      const round = type === "f64" ? (x: number) => x : Math.fround;
      const data = Float64Array.from({ length: 10_000 }, (_, k) => round(noiseValue(k) - 0.3));
      const [input, output] = [device.from(TYPES[type], data), device.array(TYPES[type], data.length)];
      for (const precision of ["strict", "fast"] as const) {
        scan(device, { input, output, op: "sum" }, { precision }).submit();
        assert.deepEqual(Float64Array.from(await device.queue.read(output)), documented(data, round), precision);
      }
    });

  it("of segments have the bits of js", async () => {
    const js = await open("js");
    for (const exclusive of [false, true]) {
      const { sums, starts } = await segmentSums(device, exclusive);
      assert.deepEqual(sums, (await segmentSums(js, exclusive)).sums);
      assert.ok(starts.every((flag, k) => flag === 0 || sums[k] === (exclusive ? 0 : Math.fround(noiseValue(k) - 0.3))));
    }
    await js.close();
  });
});
