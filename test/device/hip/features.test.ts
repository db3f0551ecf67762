import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { f32, f64, i32, kernel, open, range, teamKernel, teams, view } from "../../../src/index.js";
import { gemm } from "../../../src/patterns/index.js";
import { hipLanguage } from "../../../src/emit/c/hip.js";
import { emitGpu } from "../../../src/emit/c/gpu/emit.js";
import { hipDialect } from "../../../src/emit/c/hip/dialect.js";
import type { GpuLanguage } from "../../../src/schedule/program.js";
import { noiseValue } from "../../../src/testing/values.js";
import { campaign } from "../../random/campaign.js";
import { check } from "../../random/check.js";
import { fakeHip, type FakeHip } from "./fake.js";

/* What schedules make for GPUs of NVIDIA alone, on the CPU: HIP code with the features of CUDA. */

const fake = await fakeHip();
if (typeof fake === "string") describe("HIP code with the features of CUDA", () => void it("is tried", { skip: fake }));
else await run(fake);

async function run({ complaints }: FakeHip): Promise<void> {
  const plain = hipLanguage.emit;
  const language = hipLanguage as { -readonly [K in keyof GpuLanguage]: GpuLanguage[K] };
  // Boxes here are too small for launches to give threads two neighbours.
  language.emit = (ir, access, assumptions) => {
    const features = { writesOutTurns: true, stagesTurns: true, bytesOfThread: 32, assumed: { statement: () => "", address: () => "" } };
    const pairs = ir.name.startsWith("pairs");
    return emitGpu(ir, access, { ...assumptions, ...(pairs ? { pairs } : {}) }, { ...hipDialect(assumptions.wide), ...features });
  };
  const [hip, js] = [await open("hip"), await open("js")];
  after(async () => {
    language.emit = plain;
    await Promise.all([hip.close(), js.close()]);
  });

  const pull = kernel(
    "pull",
    { first: i32, last: i32, eps: f64, p: view(f64, 2), kinds: view(i32), a: view(f64, 2) },
    ({ first, last, eps, p, kinds, a }, i) => {
      const x = p[i][0];
      const y = p[i][1];
      let ax = 0;
      let ay = 0;
      for (let j = first; j < last; j++) {
        const dx = p[j][0] - x;
        const dy = p[j][1] - y;
        const r = dx * dx + dy * dy + eps;
        const kind = kinds[j];
        const m = j === i ? 0 : kind / r;
        ax += m * dx;
        ay += m * dy;
      }
      a[i][0] = ax;
      if (ay > 0) a[i][1] = ay;
    },
  );

  describe("HIP code with the features of CUDA", () => {
    for (const [from, to, first, last] of [
      [0, 700, 0, 700],
      [3, 701, 0, 256],
      [0, 1, 5, 5],
      [0, 257, 700, 1],
      [250, 300, 17, 274],
    ] as const)
      it(`goes through the block's memory for elements ${from} to ${to} and turns ${first} to ${last}`, async () => {
        const count = 701;
        const point = Float64Array.from({ length: 2 * count }, (_, k) => noiseValue(k));
        const kind = Int32Array.from({ length: count }, (_, k) => k % 3);
        const results = [];
        for (const device of [hip, js]) {
          const [p, kinds, a] = [device.from(f64, point, [count, 2]), device.from(i32, kind), device.array(f64, [count, 2])];
          const launch = device.prepare(pull, { first, last, eps: 1e-3, p, kinds, a }, range([from, to]), { precision: "strict" });
          if (device === hip) assert.match(launch.source(), /__shared__/);
          device.queue.submit(launch);
          results.push([...(await device.queue.read(a))]);
        }
        assert.deepEqual(results[0], results[1]);
        assert.equal(complaints(), "");
      });

    it("reads nothing that a condition keeps from being read", async () => {
      const guarded = kernel("guarded", { n: i32, p: view(f64), a: view(f64) }, ({ n, p, a }, i) => {
        let sum = 0;
        for (let j = 0; j < n; j++) {
          const d = (j < p.length ? p[j] : 1) - i;
          sum += d / (d * d + 1);
        }
        a[i] = sum;
      });
      const results = [];
      for (const device of [hip, js]) {
        const [p, a] = [device.from(f64, Float64Array.of(1, 2, 3)), device.array(f64, 5)];
        const launch = device.prepare(guarded, { n: 1000, p, a }, range(5), { precision: "strict" });
        if (device === hip) assert.doesNotMatch(launch.source(), /__shared__/);
        device.queue.submit(launch);
        results.push([...(await device.queue.read(a))]);
      }
      assert.deepEqual(results[0], results[1]);
    });

    const laplace = kernel("pairsOfLaplace", { p: view(f32, 3), s: view(f32, 3) }, ({ p, s }, z, y, x) => {
      const around = p[z - 1][y][x] + p[z + 1][y][x] + p[z][y - 1][x] + p[z][y + 1][x] + p[z][y][x - 1] + p[z][y][x + 1];
      s[z][y][x] = 6 * p[z][y][x] - around;
    });

    for (const [begin, end] of [
      [1, 1],
      [2, 1],
      [1, 2],
      [3, 3],
      [5, 5],
    ] as const)
      it(`computes two neighbours of a row, from ${begin} on to ${end} before its end`, async () => {
        for (const length of [12, 131]) {
          const shape = [11, 7, length] as const;
          const values = Float32Array.from({ length: 11 * 7 * length }, (_, k) => noiseValue(k));
          const results = [];
          for (const device of [hip, js]) {
            const [p, s] = [device.from(f32, values, shape), device.array(f32, shape)];
            const launch = device.prepare(laplace, { p, s }, range([1, 10], [1, 6], [begin, length - end]), { precision: "strict" });
            if (device === hip) assert.match(launch.source(), /s_next_/);
            device.queue.submit(launch);
            results.push([...(await device.queue.read(s))]);
          }
          assert.deepEqual(results[0], results[1]);
          assert.equal(complaints(), "");
        }
      });

    it("keeps members' sums in registers, and writes out turns over scratch", async () => {
      const count = 512;
      const tiled = teamKernel("tiled", { n: i32, p: view(f32), a: view(f32, 1, { disjoint: true }) }, ({ n, p, a }, team) => {
        const t = team.scratch("f32", 128);
        const s = team.scratch("f32", 128);
        team.range(128, (j) => {
          s[j] = 0;
        });
        for (let b = 0; b < n; b += 128) {
          team.range(128, (j) => {
            t[j] = p[b + j];
          });
          team.range(128, (j) => {
            const x = p[team.index * 128 + j];
            let sum = s[j];
            for (let k = 0; k < 128; k++) {
              const d = t[k] - x;
              sum += d / (d * d + 0.25);
            }
            s[j] = sum;
          });
        }
        team.range(128, (j) => {
          a[team.index * 128 + j] = s[j];
        });
      });
      const results = [];
      for (const device of [hip, js]) {
        const [p, a] = [
          device.from(
            f32,
            Float32Array.from({ length: count }, (_, k) => noiseValue(k)),
          ),
          device.array(f32, count),
        ];
        const launch = device.prepare(tiled, { n: count, p, a }, teams(count / 128, { size: 128 }), { precision: "strict" });
        if (device === hip) assert.match(launch.source(), /unroll 16/);
        device.queue.submit(launch);
        results.push([...(await device.queue.read(a))]);
      }
      assert.deepEqual(results[0], results[1]);
    });

    it("multiplies matrices", async () => {
      const results = [];
      for (const device of [hip, js]) {
        const [a, b] = [0, 1].map((n) =>
          device.from(
            f64,
            Float64Array.from({ length: 70 * 70 }, (_, k) => noiseValue(k + n)),
            [70, 70],
          ),
        );
        const c = device.array(f64, [70, 70]);
        await gemm(device, { a, b, c }, { precision: "strict" }).run();
        results.push([...(await device.queue.read(c))]);
      }
      assert.deepEqual(results[0], results[1]);
    });

    it("agrees with the evaluator on 25 random kernels", async () => {
      await campaign({ runs: 25, seed: 12, check: (program) => check(program, [hip]) });
      assert.equal(complaints(), "");
    });
  });
}
