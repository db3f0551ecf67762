import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, i32, kernel, open, range, u32, view, type Device } from "../../src/index.js";
import { lowered } from "./lowered.js";

const GREATEST = 2 ** 32 - 1;

/** Turns of loops whose counters are declared before them, and what these hold afterwards. */
const visible = kernel("visible", { s: view(u32), turns: view(i32, 2), left: view(u32, 2) }, ({ s, turns, left }, i) => {
  let count = 0;
  let q = (4294967295 - s[i]) >>> 0;
  for (; q <= 4294967295 && count < 40; q++) count += 1;
  turns[0][i] = count;
  left[0][i] = q >>> 0;
  count = 0;
  let r = s[i];
  for (; r >= 1; r -= 4) {
    count += 1;
    if (count > 40) break;
  }
  turns[1][i] = count;
  left[1][i] = r >>> 0;
});

/** The earlier test reads the counter after its last turn, and what it changes lasts. */
const readBefore = kernel("readBefore", { s: view(u32), turns: view(i32), seen: view(i32) }, ({ s, turns, seen }, i) => {
  let [count, sum] = [0, 0];
  for (let q = s[i]; (sum = (sum + (q | 0)) | 0) > -9 && count < 40 && q >= 0; q--) count += 1;
  turns[i] = count;
  seen[i] = sum;
});

const quarter = (v: number): number => {
  const half = v >>> 1;
  return half >>> 1;
};

/** Loops that mean the same as plain TypeScript: turns, and what else changes. */
const asInJavaScript = kernel("asInJavaScript", { s: view(u32), o: view(i32, 2), quarter }, ({ s, o, quarter }, i) => {
  let [count, turns] = [0, 0];
  for (let q = 2147483645; ++count <= 40 && q <= 2147483647; q++) turns += 1;
  o[0][i] = count * 100 + turns;
  count = 0;
  turns = 0;
  for (let q = -2147483640; count++ < 40 && q >= -2147483648; q -= 3) turns += 1;
  o[1][i] = count * 100 + turns;
  count = 0;
  let last = 2147483640;
  for (let q = 2147483639; q <= last && count < 40; q += 3) {
    last = 2147483647;
    count += 1;
  }
  o[2][i] = count;
  // The bound itself changes something.
  count = 0;
  let bound = 2147483645;
  for (let q = 2147483646; q <= (bound = (bound + 1) | 0) && count < 40; q++) count += 1;
  o[3][i] = count;
  o[4][i] = bound;
  // The loop ends by the last test, or by the first.
  count = 0;
  turns = 0;
  for (let q = s[i]; q >= 0 && (count += 1) <= 3; q--) turns += 1;
  o[5][i] = count * 100 + turns;
  // A test moves the counter back into its type: the loop is not one by constant steps.
  count = 0;
  let q = 0 >>> 0;
  for (; (q = (q - 1) >>> 0) > 0 && q <= 4294967295 && count < 5; q++) count += 1;
  o[6][i] = count;
  count = 0;
  for (let x = 0.5; count < 40 && x <= 3; x += 2) count += 1;
  o[7][i] = count;
  count = 0;
  turns = 0;
  for (let q = s[i]; count++ < 40 && q >= 0 && (turns += 1) < 30; q--) o[8][i] += 1;
  o[8][i] += count * 100 + turns * 10;
  for (let q = (s[i] + 2) >>> 0; q >= quarter(s[i]); q -= 3) o[9][i] += 1;
});

/** Counters that cannot leave their type have nothing to ask before they step. */
const certain = kernel("certain", { n: u32, y: view(f64) }, ({ n, y }, i) => {
  for (let q = (n - 3) >>> 0; q < n && y[i] > 0; q++) y[i] -= 1;
  for (let q = n; q > 3; q--) y[i] += 1;
});

async function onEach(check: (device: Device) => Promise<void>): Promise<void> {
  for (const name of ["js", "wasm"]) {
    const device = await open(name);
    try {
      device.precision = "strict";
      await check(device);
    } finally {
      await device.close();
    }
  }
}

describe("counters at the limits of their types", () => {
  it("hold what wrapping leaves after a loop that they were declared before", () =>
    onEach(async (device) => {
      const [s, turns, left] = [device.from(u32, [0, 1, 2, 9]), device.array(i32, [2, 4]), device.array(u32, [2, 4])];
      await device.run(visible, { s, turns, left }, range(4));
      assert.deepEqual([...(await device.queue.read(turns))], [1, 2, 3, 10, 0, 1, 1, 3]);
      assert.deepEqual([...(await device.queue.read(left))], [0, 0, 0, 0, 0, GREATEST - 2, GREATEST - 1, GREATEST - 2]);
    }));
  it("are read once more by a test before the one that ends the loop", () =>
    onEach(async (device) => {
      const [s, turns, seen] = [device.from(u32, [0, 1, 2, 3]), device.array(i32, [4]), device.array(i32, [4])];
      await device.run(readBefore, { s, turns, seen }, range(4));
      assert.deepEqual([...(await device.queue.read(turns))], [1, 2, 3, 4]);
      assert.deepEqual([...(await device.queue.read(seen))], [-1, 0, 2, 5]);
    }));
  it("run for the turns that they have in JavaScript, whatever tests and bodies change", async () => {
    const s = [0, 1, 2, 9];
    const plain = Array.from({ length: 10 }, () => new Int32Array(s.length));
    for (const i of s.keys()) (asInJavaScript.body as (params: object, i: number) => void)({ s, o: plain, quarter }, i);
    await onEach(async (device) => {
      const o = device.array(i32, [10, s.length]);
      await device.run(asInJavaScript, { s: device.from(u32, s), o }, range(s.length));
      assert.deepEqual(
        [...(await device.queue.read(o))],
        plain.flatMap((row) => [...row]),
      );
    });
  });
  it("ask nothing before a step that cannot leave their type", () => {
    assert.doesNotMatch(lowered(certain), /more/);
    assert.match(lowered(asInJavaScript), /more/);
  });
});
