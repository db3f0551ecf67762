import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Device } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import { dense } from "../../../src/domain/index.js";
import { deposit, particles } from "../../../src/domain/particles/index.js";
import { f32, i32, sum } from "../../../src/kernel/declare/params.js";
import { devices, type DeviceSet } from "../../../src/set/index.js";
import { skeleton } from "../../../src/skeleton/index.js";
import { openWebGpu } from "../../device/webgpu/opened.js";
import { jsSet, noise } from "../sets.js";

/* Devices of other kinds than CPUs, some of which have no f64. */

const COUNT = 100;

/** What becomes of some particles in single precision, and of the fields that push them and that they give to. */
async function outcome(set: DeviceSet): Promise<unknown[]> {
  const grid = dense(set, [6, 12], { periodic: [true, false] });
  const [e, rho, total] = [grid.field("e", f32, { cardinality: 2 }), grid.field("rho", f32), grid.scalar("total", f32)];
  const ions = particles(grid, "ions", { v: [f32, 2], id: i32 }, { positions: f32, leaving: "absorb" });
  const { x, v } = ions.columns;
  const push = ions.container("push", { x, v, e }, ({ x, v, e }, p, c) => {
    for (let a = 0; a < 2; a++) v[p][a] += 0.25 * (e[c][a] + e.at(c, 0, 1)[a]);
    for (let a = 0; a < 2; a++) x[p][a] += v[p][a];
  });
  const clear = grid.container("clear", { rho }, ({ rho }, c) => void (rho[c] = 0));
  const give = ions.container("give", { x, rho: deposit(rho), total: sum(total) }, ({ x, rho, total }, p, c) => {
    const [a, b] = [x[p][0] - c.x, x[p][1] - c.y];
    for (let j = 0; j < 2; j++) for (let i = 0; i < 2; i++) rho.add(c, i, j, (i === 0 ? 1 - a : a) * (j === 0 ? 1 - b : b));
    total.add(a * b);
  });
  e.fill((x, y, _, k) => noise(x, y, k) / 8);
  const numbers = Array.from({ length: COUNT }, (_, n) => n);
  ions.load({
    x: numbers.flatMap((n) => [3 + 2.9 * noise(n, 1), 6 + 5.9 * noise(n, 2)]),
    v: numbers.flatMap((n) => [noise(n, 3) / 2, noise(n, 4) / 2]),
    id: numbers,
  });
  const all = skeleton(set, "single", [push, clear, give], { precision: "strict" });
  await all.run(4);
  const { x: at, v: speed, id } = await ions.download();
  assert.ok(id.length < COUNT, "some have left");
  const results = [[...id], [...at], [...speed], [...(await rho.download())], await total.get()];
  all.free();
  ions.free();
  grid.free();
  return results;
}

const opencl = await open("opencl").catch((error: Error) => error.message);
const webgpu = await openWebGpu();
const others: [name: string, device: Device | undefined, skip: string | false | undefined][] = [
  ["opencl", typeof opencl === "string" ? undefined : opencl, typeof opencl === "string" ? opencl : false],
  ["webgpu", webgpu.device, webgpu.skip],
];

for (const [name, device, skip] of others)
  describe(`particles on ${name}`, { skip }, () => {
    after(() => device?.close());

    for (const members of [1, 3])
      it(`have the bits of js on ${members} members`, async () => {
        const set = await devices(Array<Device>(members).fill(device!));
        assert.deepEqual(await outcome(set), await outcome(jsSet(1)));
      });
  });
