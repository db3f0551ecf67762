import assert from "node:assert/strict";
import { test } from "node:test";
import { bf16, f16, f32, kernel, open, range, view } from "isoform";
import { sequence } from "../random/data.js";
import { NOT_ASKED, tested } from "../devices.js";

const convert = kernel("convert", { x: view(f32), h: view(f16), b: view(bf16), y: view(f32), z: view(f32) }, ({ x, h, b, y, z }, i) => {
  h[i] = x[i];
  b[i] = x[i];
  y[i] = h[i];
  z[i] = b[i];
});

/** A value as a whole number of steps of its exponent, so that the rounding is one of doubles to whole numbers. */
function nearest(x: number, digits: number, least: number, greatest: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), least);
  const step = 2 ** (exponent - digits + 1);
  const steps = Math.abs(x) / step;
  const below = Math.floor(steps);
  const rest = steps - below;
  const rounded = (below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0)) * step;
  return Math.sign(x) * (rounded > greatest ? Infinity : rounded);
}

const COUNT = 1 << 20;

for (const name of ["js", "wasm", "native"])
  test(`f32 of all kinds are rounded to the nearest f16 and bf16 on ${name}`, { skip: tested(name) ? false : NOT_ASKED }, async () => {
    const device = await open(name);
    const next = sequence(9);
    const words = Uint32Array.from({ length: COUNT }, () => next() * 2 ** 32);
    // Half of them where f16 has values, or lie between two of these.
    for (let n = 0; n < COUNT; n += 2)
      words[n] = ((words[n] & 0x80000fff) | (((0x33000000 + (words[n] >>> 4)) % 0x15000000) + 0x33000000)) >>> 0;
    const given = new Float32Array(words.buffer);
    const x = device.from(f32, given);
    const [h, b, y, z] = [device.array(f16, COUNT), device.array(bf16, COUNT), device.array(f32, COUNT), device.array(f32, COUNT)];
    await device.run(convert, { x, h, b, y, z }, range(COUNT), { precision: "strict" });
    const [halves, brains] = [await device.queue.read(h), await device.queue.read(b)];
    assert.deepEqual(await device.queue.read(y), halves);
    assert.deepEqual(await device.queue.read(z), brains);
    let differ = 0;
    for (let n = 0; n < COUNT; n++) {
      if (!Object.is(halves[n], Math.fround(nearest(given[n], 11, -14, 65504)))) differ++;
      if (!Object.is(brains[n], Math.fround(nearest(given[n], 8, -126, 3.3895313892515355e38)))) differ++;
    }
    assert.equal(differ, 0);
    await device.close();
  });
