import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { DeviceError, f32, f64, i32, kernel, max, open, range, sum, view, type Device } from "isoform";
import { cpuStorage } from "../../src/device/cpu/storage.js";
import { tested } from "../devices.js";
import { RUNS, SEED } from "../random/agrees.js";
import { campaign } from "../random/campaign.js";
import { checkAgain } from "../random/check.js";

const CPUS = ["js", "wasm", "native"];
const opened = [...CPUS, "opencl", "cuda", "hip", "webgpu"].filter(tested).map((name) =>
  open(name).catch((error: Error) => {
    if (!(error instanceof DeviceError)) throw error;
    return undefined;
  }),
);
const devices = (await Promise.all(opened)).filter((device) => device !== undefined);
const debug = await open("js-debug");
after(() => Promise.all([...devices, debug].map((device) => device.close())));

/** Random kernels take longer where a compiler of the machine is started for each. */
const runsOn = ({ backend }: Device): number =>
  ["js", "wasm"].includes(backend) ? Math.ceil(RUNS / 8) : ["opencl", "webgpu"].includes(backend) ? 10 : 40;

for (const device of devices)
  describe(`launches by run after others over the same views, on ${device.name}`, () => {
    const real = device.capabilities.f64 ? f64 : f32;
    it("agree with the evaluator on random kernels, parts of their ranges and other numbers", () =>
      campaign({ runs: runsOn(device), seed: SEED + 11, check: (program) => checkAgain(program, device) }));

    const walk = kernel(
      "walk",
      { x: view(real), y: view(real), a: real, by: i32, s: sum(real), m: max(i32) },
      ({ x, y, a, by, s, m }, i) => {
        y[i] = a * x[i + by];
        s.add(y[i]);
        m.max(i);
      },
    );
    const n = 5000;
    const data = Float64Array.from({ length: n }, (_, i) => Math.sin(i));

    it("give what js-debug gives, over ranges of all lengths", async () => {
      const [x, y] = [device.from(real, data), device.array(real, n)];
      const [x2, y2] = [debug.from(real, data), debug.array(real, n)];
      for (let k = 0; k < 40; k++) {
        const begin = (k * 37) % 90;
        const end = k === 7 ? begin : begin + 1 + Math.floor((k * k * k * 13) % 4800);
        const numbers = { a: 1 / (k + 1), by: k % 3 };
        const policy = range([begin, end]);
        const options = { precision: "strict" } as const;
        assert.deepEqual(
          await device.run(walk, { x, y, ...numbers }, policy, options),
          await debug.run(walk, { x: x2, y: y2, ...numbers }, policy, options),
          `${begin} to ${end}`,
        );
        assert.deepEqual(await device.queue.read(y), await debug.queue.read(y2));
      }
      for (const made of [x, y, x2, y2]) made.free();
    });

    it("give what js-debug gives where they have no results, over ranges of one to three axes", async () => {
      const along = kernel("along", { x: view(real), y: view(real), a: real, by: i32 }, ({ x, y, a, by }, i) => {
        y[i] = a * x[i + by];
      });
      const inPlane = kernel("inPlane", { x: view(real), y: view(real, 2), a: real, by: i32 }, ({ x, y, a, by }, j, i) => {
        y[j][i] = a * x[i + by] + j;
      });
      const inSpace = kernel("inSpace", { x: view(real), y: view(real, 3), a: real, by: i32 }, ({ x, y, a, by }, k, j, i) => {
        y[k][j][i] = a * x[i + by] + (3 * k - j);
      });
      const cases = [
        { of: along, extents: [4000] },
        { of: inPlane, extents: [30, 300] },
        { of: inSpace, extents: [6, 7, 90] },
      ] as const;
      for (const { of, extents } of cases) {
        const [one, two] = [device, debug].map((on) => ({ on, x: on.from(real, data), y: on.array(real, extents) }));
        for (let k = 0; k < 30; k++) {
          const box = extents.map((extent, axis) => {
            const begin = (k * (11 + 5 * axis)) % Math.max(1, extent >> 1);
            // Lengths that repeat, others, rows of one element, and none.
            const length = k === 9 ? 0 : k % 4 === 3 ? 1 : 1 + ((k * k * 7) % (extent - begin));
            return [begin, begin + length] as const;
          });
          const run = ({ on, x, y }: typeof one) =>
            on.run<any>(of, { x, y, a: 1 / (k + 1), by: k % 5 }, range(...(box as [never])), { precision: "strict" });
          await Promise.all([run(one), run(two)]);
          assert.deepEqual(await one.on.queue.read(one.y), await two.on.queue.read(two.y), `${of.name} over ${JSON.stringify(box)}`);
        }
        for (const { x, y } of [one, two]) for (const made of [x, y]) made.free();
      }
    });

    it("go their own ways at the same time", async () => {
      const mark = kernel("mark", { y: view(real), a: real }, ({ y, a }, i) => {
        y[i] = a + i;
      });
      const y = device.array(real, n);
      for (let turn = 0; turn < 5; turn++) {
        await Promise.all(
          Array.from({ length: 10 }, (_, k) => device.run(mark, { y, a: 1000 * turn + k }, range([500 * k, 500 * k + 100 * turn + 7 * k]))),
        );
        const found = await device.queue.read(y);
        for (let k = 0; k < 10; k++)
          for (let i = 500 * k; i < 500 * k + 100 * turn + 7 * k; i++)
            assert.equal(found[i], 1000 * turn + k + i, `turn ${turn}, run ${k}`);
      }
      y.free();
    });

    it("are refused as the first is, and leave the next ones as they were", async () => {
      const [x, y] = [device.from(real, data), device.array(real, n)];
      const run = (changed: object, policy = range(n - 1)) => device.run(walk, { x, y, a: 2, by: 1, ...changed }, policy);
      const { s } = await run({});
      for (let k = 0; k < 8; k++) await run({ a: k }, range(n - 1 - k));
      await assert.rejects(run({ by: 2 }), /reads x\[i \+ by\].*index 5000/);
      await assert.rejects(run({}, range(n)), /index 5000/);
      await assert.rejects(run({ by: 0.5 }), /by is i32/);
      await assert.rejects(run({ by: 2 ** 31 }), /by is i32/);
      await assert.rejects(run({ a: "2" }), /a is f/);
      await assert.rejects(run({ b: 1 }), /no parameter "b"/);
      await assert.rejects(run({}, null as never), /needs a policy/);
      await assert.rejects(run({}, { kind: "team", league: 1 } as never), /over a range/);
      await assert.rejects(run({ y: x }), /share memory/);
      assert.equal((await run({})).s, s);
      y.free();
      await assert.rejects(run({}), /freed/);
      x.free();
    });

    it("keep no memory of views, and little of their own", { skip: !CPUS.includes(device.name) }, async () => {
      const before = cpuStorage().allocated;
      for (let k = 0; k < 200; k++) {
        const [x, y] = [device.from(real, data), device.array(real, n)];
        for (let m = 0; m < 3; m++) await device.run(walk, { x, y, a: m, by: 0 }, range(n - m));
        x.free();
        y.free();
      }
      const kept = cpuStorage().allocated - before;
      assert.ok(kept < 64 * 8 * 4096, `${kept} bytes`);
    });

    it("keep no large memory of their own", { skip: !CPUS.includes(device.name) }, async () => {
      const lines = kernel("lines", { s: sum(real) }, ({ s }, i, _j) => s.add(+i));
      const before = cpuStorage().allocated;
      // A partial for each line: 1.6 MB.
      for (const first of [0, 1]) await device.run(lines, {}, range([first, 200_000], 1), { precision: "strict" });
      assert.equal(cpuStorage().allocated, before);
    });

    it("are apart from others that run at the same time", async () => {
      const [x, y] = [device.from(real, data), device.array(real, n)];
      await device.run(walk, { x, y, a: 1, by: 0 }, range(n), { precision: "strict" });
      const runs = Array.from({ length: 12 }, (_, k) =>
        device.run(walk, { x, y, a: 2 ** k, by: 0 }, range(k % 2 ? n : n - 1), { precision: "strict" }),
      );
      const sums = (await Promise.all(runs)).map(({ s }, k) => s / 2 ** k);
      for (let k = 2; k < 12; k++) assert.equal(sums[k], sums[k - 2]);
      x.free();
      y.free();
    });

    it("follow values that the device is tuned to", async () => {
      const [x, y] = [device.from(real, data), device.array(real, n)];
      const run = () => device.run(walk, { x, y, a: 1, by: 0 }, range(n));
      await run();
      device.tuning.set("walk", { workers: 3_000_000 });
      await assert.rejects(run(), /tuning/);
      device.tuning.set("walk", {});
      await run();
      x.free();
      y.free();
    });
  });
