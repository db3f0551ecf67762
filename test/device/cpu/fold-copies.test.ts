import assert from "node:assert/strict";
import { after, test } from "node:test";
import { f32, f64, i32, kernel, open, range, scatter, u32, view, View } from "isoform";
import type { CpuLaunch } from "../../../src/device/cpu/launch.js";
import { backend as native } from "../../../src/device/native/native.js";

const compiles = (await native.probe()).missing === undefined;
const devices = await Promise.all(["js", "wasm", ...(compiles ? ["native"] : [])].map((name) => open(name, { threads: 3 })));
after(() => Promise.all(devices.map((device) => device.close())));

/** Places of the target, and elements, of which many add to one place and none to others. */
const [PLACES, ELEMENTS] = [6000, 20_000];
const TYPES = { f64, f32, i32, u32 };
const place = (i: number): number => (i * 37) % (PLACES - 500);

/** Typings of f64 serve for all types. */
const KERNELS = {
  sum: (token: typeof f64) =>
    kernel("sums", { at: view(i32), x: view(token), h: scatter(token) }, ({ at, x, h }, i) => {
      h.add(at[i], x[i]);
    }),
  min: (token: typeof f64) =>
    kernel("least", { at: view(i32), x: view(token), h: scatter(token, 1, "min") }, ({ at, x, h }, i) => {
      h.min(at[i], x[i]);
    }),
  max: (token: typeof f64) =>
    kernel("greatest", { at: view(i32), x: view(token), h: scatter(token, 1, "max") }, ({ at, x, h }, i) => {
      h.max(at[i], x[i]);
    }),
};

for (const device of devices)
  for (const [type, token] of Object.entries(TYPES) as [keyof typeof TYPES, typeof f64][])
    for (const op of ["sum", "min", "max"] as const)
      test(`${op} of ${type}: many private copies are folded by all threads, launch after launch and in graphs, on ${device.name}`, async () => {
        const add = KERNELS[op](token);
        const at = device.from(
          i32,
          Array.from({ length: ELEMENTS }, (_, i) => place(i)),
        );
        const values = Array.from({ length: ELEMENTS }, (_, i) => ((i * 7919) % 1000) + 1);
        const x = device.from(token, values);
        // Every other place of an array: what lies between them is left alone.
        const whole = device.from(
          token,
          Array.from({ length: 2 * PLACES }, (_, n) => (n % 2 === 1 ? 5 : type === "f64" ? -0 : 500)),
        );
        const h = new View(whole.buffer, type, [PLACES], [2], 0);
        const launch = device.prepare(add as never, { at, x, h } as never, range(ELEMENTS), { scatter: "duplicated" });
        const graph = device.queue.capture(() => device.queue.submit(launch));
        assert.ok((launch as CpuLaunch).remarks.some((line) => /duplicated/.test(line)));
        const expected = [...(await device.queue.read(whole))];
        for (const work of [launch, launch, graph, launch, graph]) {
          device.queue.submit(work);
          values.forEach((value, i) => {
            const to = 2 * place(i);
            expected[to] = op === "sum" ? expected[to] + value : Math[op](expected[to], value);
          });
        }
        await device.queue.finish();
        assert.deepEqual([...(await device.queue.read(whole))], expected);
        for (const made of [graph, launch, at, x, whole]) made.free();
      });
