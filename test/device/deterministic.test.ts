import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { f64, i32, kernel, open, range, scatter, sum, teamKernel, teams, view, type Device, type LaunchOptions } from "../../src/index.js";
import { tested } from "../devices.js";

const COUNT = 30_000;
const BINS = 5_000;
/** Of many magnitudes, so that another order gives other bits. */
const value = (k: number): number => ((((k * 7919) % 1009) - 500) / 7) * 10 ** (k % 12);
const bin = (k: number): number => ((k * 104_729) % 3) * 1000 + (k % 800);

const deposit = kernel("deposit", { at: view(i32), x: view(f64), h: scatter(f64), s: sum(f64) }, ({ at, x, h, s }, i) => {
  h.add(at[i], x[i] * x[i] + x[i]);
  h.add(at[i] + 1, 0.3 * x[i]);
  s.add(x[i] * x[i] + x[i]);
});
const rows = teamKernel("rows", { x: view(f64, 2), h: scatter(f64) }, ({ x, h }, team) => {
  h.add(
    team.index % 7,
    team.sum(x[0].length, (j) => x[team.index][j] * x[team.index][j] + x[team.index][j]),
  );
});

/** Whatever a run leaves, bit for bit. */
async function outcome(device: Device, options: LaunchOptions): Promise<string> {
  const at = device.from(
    i32,
    Int32Array.from({ length: COUNT }, (_, k) => bin(k)),
  );
  const xs = Float64Array.from({ length: COUNT }, (_, k) => value(k));
  const x = device.from(f64, xs);
  const matrix = device.from(f64, xs, [100, COUNT / 100]);
  const [h, few] = [device.array(f64, BINS), device.array(f64, 7)];
  const { s } = await device.run(deposit, { at, x, h }, range(COUNT), options);
  await device.run(rows, { x: matrix, h: few }, teams(100), options);
  const bits = [s, ...(await device.queue.read(h)), ...(await device.queue.read(few))];
  for (const array of [at, x, matrix, h, few]) array.free();
  return JSON.stringify(bits);
}

for (const name of ["js", "wasm", "native", "opencl"].filter(tested))
  describe(`deterministic launches on ${name}`, async () => {
    const device = await open(name, { deterministic: true }).catch((error: Error) => error);
    const skip = device instanceof Error ? device.message : false;
    after(() => (device instanceof Error ? undefined : device.close()));

    it("give the same bits in each run, with any number of workers", { skip }, async () => {
      if (device instanceof Error) return;
      const first = await outcome(device, {});
      for (const workers of [undefined, 1, device.capabilities.parallelism])
        for (let run = 0; run < 3; run++) {
          const tuned = name === "opencl" || workers === undefined ? {} : { tuning: { workers } };
          assert.equal(await outcome(device, tuned), first);
        }
    });

    it("sort what they scatter, say so, and refuse what would change the order of sums", { skip }, () => {
      if (device instanceof Error) return;
      const args = { at: device.array(i32, COUNT), x: device.array(f64, COUNT), h: device.array(f64, BINS) };
      const launch = device.prepare(deposit, args, range(COUNT));
      assert.match(launch.remarks.join("\n"), /scatter "h": sorted/);
      assert.equal(launch.tuning?.measurable, false);
      for (const scatter of ["atomic", "duplicated", "cached"] as const) {
        const refused = /"deposit" .*: scatter "h" cannot be \w+ in a deterministic launch.*use the strategy "sorted"/;
        assert.throws(() => device.prepare(deposit, args, range(COUNT), { scatter }), refused);
        device.prepare(deposit, args, range(COUNT), { scatter, deterministic: false }).free();
      }
      launch.free();
    });

    it("let integers come in any order", { skip }, () => {
      if (device instanceof Error) return;
      const count = kernel("count", { at: view(i32), n: scatter(i32) }, ({ at, n }, i) => {
        n.add(at[i], 1);
      });
      const args = { at: device.array(i32, COUNT), n: device.array(i32, 10) };
      device.prepare(count, args, range(COUNT), { scatter: "atomic" }).free();
    });
  });
