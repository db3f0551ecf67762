import type { Device } from "../device/device.js";
import { range, teams } from "../device/launch/policy.js";
import { DeviceError } from "../base/errors.js";
import { kernel, teamKernel } from "../kernel/declare/kernel.js";
import { f64, i32, max, scatter, sum, view } from "../kernel/declare/params.js";

/*
 * Whether a device computes rightly, before it is measured: drivers have been seen that compile without a word what gives NaN. A kernel for each
 * way in which launches work together: elements, indices, reductions, scatters, teams.
 */

const elements = kernel("test_elements", { at: view(i32), x: view(f64), y: view(f64) }, ({ at, x, y }, i) => {
  const v = x[at[i]];
  y[i] = v > 0.5 ? Math.sqrt(v) / (v + 3) : 2 - v * v;
});
const reduce = kernel("test_reduce", { x: view(f64), total: sum(f64), most: max(f64) }, ({ x, total, most }, i) => {
  total.add(x[i] * x[i]);
  most.max(x[i]);
});
const spread = kernel("test_spread", { at: view(i32), x: view(f64), y: scatter(f64) }, ({ at, x, y }, i) => {
  y.add(at[i] % 37, x[i]);
});
const rows = teamKernel("test_rows", { x: view(f64, 2), y: view(f64) }, ({ x, y }, team) => {
  const row = team.index;
  const held = team.scratch("f64", 128);
  team.range(x[0].length, (j) => {
    held[j] = x[row][j] - 0.25;
  });
  // Several results: PoCL 6 gives the first of them rightly and the second not.
  const r = team.reduce(x[0].length, { total: "sum", twice: "sum", thrice: "sum" }, (j, r) => {
    const product = held[j] * held[(j + 1) % 100];
    r.total.add(product);
    r.twice.add(2 * product);
    r.thrice.add(3 * product);
  });
  team.single(() => {
    y[row] = r.total + 10 * r.twice + 100 * r.thrice;
  });
});

const ROWS = 101;
const COLUMNS = 100;
const ELEMENTS = ROWS * COLUMNS;
const TARGETS = 37;
/** Tolerance of sums of as many terms, in any order. */
const TOLERANCE = 1e-11;

/** Throws DeviceError if the device does not compute what plain JavaScript does, in strict mode or in fast mode. */
export async function selfTest(device: Device): Promise<void> {
  const tolerance = TOLERANCE * 2 ** (53 - (device.capabilities.f64Bits ?? 53));
  const require = (what: string, found: ArrayLike<number>, expected: readonly number[], precision: string): void => {
    const n = expected.findIndex((value, k) => !(Math.abs(found[k] - value) <= tolerance * Math.max(1, Math.abs(value))));
    if (n >= 0)
      throw new DeviceError(
        device.name,
        `it fails the self-test: ${what} gave ${found[n]} in place of ${expected[n]}, at ${n}, in ${precision} mode`,
        "its driver or compiler computes wrongly: use another version, or leave this device out",
      );
  };
  const x = Array.from({ length: ELEMENTS }, (_, n) => ((n * 7919) % 10007) / 10007);
  const at = Array.from({ length: ELEMENTS }, (_, n) => (n * 271) % ELEMENTS);
  const own = {
    x: device.from(f64, x),
    at: device.from(i32, at),
    y: device.array(f64, ELEMENTS),
    targets: device.array(f64, TARGETS),
    sums: device.array(f64, ROWS),
  };
  const all = range(ELEMENTS);
  try {
    for (const precision of ["strict", "fast"] as const) {
      await device.run(elements, { at: own.at, x: own.x, y: own.y }, all, { precision });
      const values = at.map((k) => (x[k] > 0.5 ? Math.sqrt(x[k]) / (x[k] + 3) : 2 - x[k] * x[k]));
      require("a kernel over elements", await device.queue.read(own.y), values, precision);
      const { total, most } = await device.run(reduce, { x: own.x }, all, { precision });
      require("a reduction", [total, most], [x.reduce((a, b) => a + b * b, 0), Math.max(...x)], precision);
      device.queue.clear(own.targets);
      await device.run(spread, { at: own.at, x: own.x, y: own.targets }, all, { precision });
      const targets = Array<number>(TARGETS).fill(0);
      for (const [n, k] of at.entries()) targets[k % TARGETS] += x[n];
      require("a scatter", await device.queue.read(own.targets), targets, precision);
      await device.run(rows, { x: own.x.reshape(ROWS, COLUMNS), y: own.sums }, teams(ROWS), { precision });
      const held = (row: number, j: number) => x[row * COLUMNS + (j % COLUMNS)] - 0.25;
      const sums = Array.from({ length: ROWS }, (_, row) =>
        x.slice(0, COLUMNS).reduce((a, _, j) => a + 321 * held(row, j) * held(row, j + 1), 0),
      );
      require("a kernel over teams", await device.queue.read(own.sums), sums, precision);
    }
  } finally {
    for (const view of Object.values(own)) view.free();
  }
}
