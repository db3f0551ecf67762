import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { f64, i32, kernel, max, open, range, sum, view, type Device } from "isoform";
import { compileKernel } from "../../../src/kernel/compile.js";
import { runSuite, suite } from "../../../src/testing/index.js";
import { SeenRanges, withOwnRanges } from "../../../src/device/cpu/any-range.js";
import { RUNS, SEED } from "../../random/agrees.js";
import { campaign } from "../../random/campaign.js";
import { check } from "../../random/check.js";
import { sample } from "../../random/share.js";

const [wasm, js, debug] = await Promise.all([open("wasm"), open("js"), open("js-debug")]);
after(() => Promise.all([wasm.close(), js.close(), debug.close()]));

/** Runs `work` where all code is for any range. */
const forAnyRange = (work: () => Promise<void>): Promise<void> => withOwnRanges(0, work);

describe("ranges that were seen", () => {
  const { ir } = compileKernel(
    kernel("shift", { x: view(f64) }, ({ x }, i) => {
      x[i] += 1;
    }),
    {},
  );
  const areMany = (seen: SeenRanges, rest: string) => seen.areMany({ ir, policy: range(3), scatter: {} }, rest, true);

  it("are counted for each set of views", () => {
    const seen = new SeenRanges();
    const answers = ["a", "a", "a", "b", "a", "a"].map((rest) => areMany(seen, rest));
    assert.deepEqual(answers, [false, false, false, false, false, true]);
  });

  it("are forgotten where each launch has views of its own, so that counts take no memory", () => {
    const seen = new SeenRanges();
    for (let n = 0; n < 4; n++) areMany(seen, "first");
    for (let n = 0; n < 100; n++) assert.equal(areMany(seen, `views ${n}`), false);
    assert.equal(areMany(seen, "first"), false);
  });
});

for (const device of [wasm, js])
  describe(`code for any range on ${device.name}`, () => {
    it("agree with the evaluator on random kernels", () =>
      forAnyRange(() => campaign({ runs: Math.ceil(RUNS / 4), seed: SEED + 7, check: (program) => check(program, [device]) })));

    it("pass the suite", () =>
      forAnyRange(async () => {
        device.precision = "strict";
        for (const { testCase, error } of await runSuite(device, sample(suite)))
          assert.equal(error, undefined, `${testCase.number} ${testCase.title}`);
        device.precision = "fast";
      }));

    const box = kernel("box", { x: view(f64, 3), y: view(f64, 3), s: sum(f64), m: max(i32) }, ({ x, y, s, m }, i, j, k) => {
      const mean = (x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k] + x[i][j][k - 1] + x[i][j][k + 1]) / 6;
      y[i][j][k] = i % 2 === 0 ? mean : mean * 0.5 + i;
      s.add(y[i][j][k]);
      m.max(i * 10000 + j * 100 + k);
    });
    const shape = [9, 12, 700] as const;
    const values = Float64Array.from({ length: 9 * 12 * 700 }, (_, n) => Math.sin(n));

    const arraysOf = (device: Device) => ({ x: device.from(f64, values, shape), y: device.from(f64, values, shape) });

    async function launched(device: Device, { x, y }: ReturnType<typeof arraysOf>, begin: readonly number[], end: readonly number[]) {
      const launch = device.prepare(box, { x, y }, range(...begin.map((b, axis): [number, number] => [b, end[axis]])), {
        precision: "strict",
      });
      device.queue.submit(launch);
      const results = await device.queue.results(launch);
      const written = await device.queue.read(y);
      const remarks = launch.remarks.join("\n");
      launch.free();
      return { results, written, remarks };
    }

    it("serve a kernel once it has as many of its own as it gets, with the bits of the others", () =>
      withOwnRanges(4, async () => {
        // Ranges are counted for each set of arrays.
        const [mine, others] = [arraysOf(device), arraysOf(debug)];
        for (let n = 0; n < 24; n++) {
          const begin = [1 + (n % 3), 1 + (n % 5), 1 + ((n * 37) % 300)];
          const end = [2 + (n % 7), Math.max(1 + (n % 5), 11 - (n % 4)), 699 - ((n * 53) % 390)].map((e, axis) => Math.max(e, begin[axis]));
          const [own, expected] = [await launched(device, mine, begin, end), await launched(debug, others, begin, end)];
          assert.deepEqual(own.results, expected.results, `${begin} to ${end}`);
          assert.deepEqual(own.written, expected.written);
          assert.equal(/code: for any range/.test(own.remarks), n >= 4, own.remarks);
        }
        for (const array of [mine, others].flatMap(Object.values)) array.free();
      }));

    it("leave launches that are prepared their own for longer", async () => {
      const shift = kernel("shift", { x: view(f64) }, ({ x }, i) => {
        x[i] += 1;
      });
      const x = device.array(f64, 100);
      for (let n = 0; n < 10; n++) await device.run(shift, { x }, range([n, 50]));
      const prepared = device.prepare(shift, { x }, range([20, 90]));
      assert.doesNotMatch(prepared.remarks.join(), /any range/);
      assert.deepEqual(
        await device.queue.read(x),
        Float64Array.from({ length: 100 }, (_, i) => (i < 50 ? Math.min(i + 1, 10) : 0)),
      );
      prepared.free();
      x.free();
    });

    const far = kernel("far", { x: view(i32), first: i32 }, ({ x, first }, i) => {
      x[i - first] = i;
    });

    for (const first of [-2147483648, -5000, -1, 4090, 1 << 30, 2147483647 - 300])
      it(`count from ${first}`, () =>
        forAnyRange(async () => {
          const x = device.array(i32, 300);
          await device.run(far, { x, first }, range([first, first + 300]), { precision: "strict" });
          assert.deepEqual(
            await device.queue.read(x),
            Int32Array.from({ length: 300 }, (_, n) => first + n),
          );
          x.free();
        }));
  });
