import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Device } from "../../../src/device/device.js";
import { open } from "../../../src/device/open.js";
import { range, teams } from "../../../src/device/launch/policy.js";
import { kernel, teamKernel, type Kernel } from "../../../src/kernel/declare/kernel.js";
import { f32, f64, i32, max, min, reducer, sum, u32, view } from "../../../src/kernel/declare/params.js";
import { openWebGpu } from "./opened.js";

const params = { x: view(f32), k: view(i32), s: sum(f32), high: max(i32), low: min(i32), top: max(f32) };
const all = kernel("all", params, ({ x, k, s, high, low, top }, i) => {
  s.add(x[i]);
  high.max(k[i]);
  low.min(k[i]);
  top.max(x[i]);
});
const rows = teamKernel("rows", { x: view(f32, 2), y: view(f32) }, ({ x, y }, team) => {
  const total = team.sum(x[0].length, (j) => x[team.index][j]);
  y[team.index] = total;
});

/** Sums of these are exact in any order. */
const xs = Float32Array.from({ length: 70_001 }, (_, i) => (i % 8) / 8);
const ks = Int32Array.from(xs, (_, i) => Math.imul(i + 1, 2654435761));

const { device, skip } = await openWebGpu();

describe("fast folds on webgpu", { skip }, () => {
  after(() => device?.close());

  it("go by subgroups where the adapter has them, but for the least and greatest of floats", async () => {
    const launch = device.prepare(all, { x: device.from(f32, xs), k: device.from(i32, ks) }, range(xs.length));
    const calls = new Set([...launch.source().matchAll(/subgroup(Add|Min|Max)\(/g)].map(([, fold]) => fold));
    assert.deepEqual([...calls], device.gpu.hasSubgroups ? ["Add", "Max", "Min"] : []);
    device.queue.submit(launch);
    const expected = {
      s: xs.reduce((a, b) => a + b),
      high: ks.reduce((a, b) => Math.max(a, b)),
      low: ks.reduce((a, b) => Math.min(a, b)),
      top: 0.875,
    };
    assert.deepEqual(await device.queue.results(launch), expected);
    launch.free();
  });

  it("give sums of teams of any size", async () => {
    const [x, y] = [device.from(f32, xs.slice(0, 1000), [10, 100]), device.array(f32, 10)];
    const expected = Array.from({ length: 10 }, (_, row) => xs.slice(100 * row, 100 * (row + 1)).reduce((a, b) => a + b));
    for (const size of [undefined, 1, 32, 200]) {
      await device.run(rows, { x, y }, teams(10, { size }));
      assert.deepEqual([...(await device.queue.read(y))], expected, `teams of ${size}`);
    }
  });
});

const TYPES = { f32, f64, i32, u32 };
type Type = keyof typeof TYPES;
const METHODS = { sum: "add", min: "min", max: "max" };
type Op = keyof typeof METHODS;

/** Each team folds the columns of its elements, one by each of `ops`. */
function columnsKernel(type: Type, ops: readonly Op[]): Kernel {
  const each = (of: (op: Op, k: number) => string) => ops.map(of).join("\n");
  const text = `({ x, y }, team) => {
    const found = team.reduce(x[0].length, { ${each((op, k) => `r${k}: "${op}",`)} }, (j, r) => {
      ${each((op, k) => `r.r${k}.${METHODS[op]}(x[team.index][j][${k}]);`)}
    });
    ${each((_, k) => `y[team.index][${k}] = found.r${k};`)}
  }`;
  const made = teamKernel("columns", { x: view(TYPES[type], 3), y: view(TYPES[type], 2) }, new Function(`return ${text}`)() as never);
  return made as unknown as Kernel;
}

/** Sums of these are exact in any order, too; integers wrap. */
const valueOf: Readonly<Record<Type, (n: number) => number>> = {
  f32: (n) => ((n * 37) % 101) / 8 - 6,
  f64: (n) => ((n * 37) % 101) / 8 - 6 + ((n * 11) % 17) * 2 ** -30,
  i32: (n) => Math.imul(n + 1, 0x9e3779b1),
  u32: (n) => Math.imul(n + 1, 0x9e3779b1) >>> 0,
};

const many = kernel(
  "many",
  {
    x: view(f64, 2),
    y: view(f32, 2),
    k: view(i32, 2),
    xs: sum(f64),
    squares: sum(f64),
    least: min(f64),
    most: max(f64),
    ys: sum(f32),
    low: min(f32),
    lower: min(f32),
    ks: sum(i32),
    twice: sum(i32),
    // Names of operators, as a kernel's own may be.
    sum: reducer(i32, 1, (a, b) => a * b),
    far: reducer(f32, 0, (a, b) => (Math.abs(a) > Math.abs(b) ? a : b)),
  },
  ({ x, y, k, xs, squares, least, most, ys, low, lower, ks, twice, sum, far }, i, j) => {
    xs.add(x[i][j]);
    squares.add(y[i][j] * y[i][j]);
    least.min(x[i][j]);
    most.max(x[i][j]);
    ys.add(y[i][j]);
    low.min(y[i][j]);
    lower.min(y[i][j] * 0);
    ks.add(k[i][j]);
    twice.add(2 * k[i][j]);
    sum.merge(2 * k[i][j] + 1);
    far.merge(y[i][j] + 0.25);
  },
);

const emulated = await openWebGpu({ f64: "emulate" });

describe("folds of several results on webgpu", { skip: emulated.skip }, () => {
  const { device } = emulated;
  const own = device?.gpu.subgroupSize;
  let js: Device;
  before(async () => void (js = await open("js")));
  after(() => Promise.all([device.close(), js.close()]));

  /** What js and webgpu find for teams of `size`, two of 300 elements. */
  async function assertColumns(type: Type, ops: readonly Op[], size: number, value = valueOf[type]): Promise<void> {
    const columns = columnsKernel(type, ops);
    const data = Float64Array.from({ length: 2 * 300 * ops.length }, (_, n) => value(n));
    const [actual, expected] = await Promise.all(
      [device as Device, js].map(async (on) => {
        const [x, y] = [on.from(TYPES[type], data, [2, 300, ops.length]), on.array(TYPES[type], [2, ops.length])];
        await on.run(columns, { x, y }, teams(2, { size }), { precision: "fast" });
        return [...(await on.queue.read(y))];
      }),
    );
    assert.deepEqual(actual, expected, `${ops} of ${type} by teams of ${size}`);
  }

  /** On the device as it is, on one that takes its subgroups for others, as if they were not full, and on one with subgroups of no known size. */
  const sizes = own === undefined ? [undefined] : [own, 2 * own, undefined];
  for (const subgroupSize of sizes)
    describe(`by subgroups of ${subgroupSize ?? "any"}`, () => {
      before(() => void Object.defineProperty(device.gpu, "subgroupSize", { value: subgroupSize, configurable: true }));
      after(() => void Reflect.deleteProperty(device.gpu, "subgroupSize"));

      for (const type of Object.keys(TYPES) as Type[])
        it(`are those of js for sums of ${type}`, async () => {
          for (const n of subgroupSize === own ? [1, 2, 3, 5, 6, 12] : [5]) await assertColumns(type, Array<Op>(n).fill("sum"), 64);
        });

      it("are those of js for several operators, whatever the team's size", async () => {
        for (const size of subgroupSize === own ? [32, 64, 256] : [32])
          for (const type of ["f64", "i32"] as const)
            await assertColumns(type, ["sum", "min", "sum", "max", "sum", "max", "min", "max"], size);
      });

      it("tell zeros by sign, and NaN", async () => {
        for (const type of ["f32", "f64"] as const) {
          await assertColumns(type, ["min", "max", "min", "max", "min"], 64, (n) => (n % 3 === 0 ? -0 : 0));
          await assertColumns(type, ["min", "max", "max"], 64, (n) => (n === 100 ? NaN : n));
        }
      });

      it("are those of js over ranges", async () => {
        const shape = [50, 70];
        const data = (of: (n: number) => number) => Float64Array.from({ length: 50 * 70 }, (_, n) => of(n));
        const [actual, expected] = await Promise.all(
          [device as Device, js].map((on) =>
            on.run(
              many,
              {
                x: on.from(f64, data(valueOf.f64), shape),
                y: on.from(f32, data(valueOf.f32), shape),
                k: on.from(i32, data(valueOf.i32), shape),
              },
              range(50, 70),
              { precision: "fast" },
            ),
          ),
        );
        assert.deepEqual(actual, expected);
      });
    });

  it("shuffle what WGSL does not fold itself", { skip: own === undefined && "the adapter has no subgroups of one size" }, () => {
    const [x, y] = [device.array(f64, [2, 300, 3]), device.array(f64, [2, 3])];
    const launch = device.prepare(columnsKernel("f64", ["sum", "sum", "min"]), { x, y }, teams(2), { precision: "fast" });
    assert.match(launch.source(), /subgroupShuffleXor/);
    const strict = device.prepare(columnsKernel("f64", ["sum", "sum", "min"]), { x, y }, teams(2), { precision: "strict" });
    assert.doesNotMatch(strict.source(), /subgroup[A-Z_]/);
  });
});
