import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { tune } from "../../../src/device/tuning/tune.js";
import { TUNING_NAMES } from "../../../src/ir/tuning.js";
import { f32, f64, i32, kernel, open, range, scatter, sum, view, type Device, type Launch, type Tuning } from "../../../src/index.js";
import { NOT_ASKED, tested } from "../../devices.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-tuning-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

const scale = kernel("scale", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = 3 * x[i];
});
const smooth = kernel("smooth", { u: view(f64, 3), v: view(f64, 3) }, ({ u, v }, i, j, k) => {
  v[i + 1][j + 1][k + 1] =
    u[i][j + 1][k + 1] + u[i + 2][j + 1][k + 1] + u[i + 1][j][k + 1] + u[i + 1][j + 2][k + 1] - 4 * u[i + 1][j + 1][k + 1];
});
const flat = kernel("flat", { u: view(f64, 2), v: view(f64, 2) }, ({ u, v }, i, j) => {
  v[i][j] = v[i][j] + u[i][j] * 0.1;
});
const norm = kernel("norm", { u: view(f64, 3), s: sum(f64) }, ({ u, s }, i, j, k) => {
  s.add(u[i][j][k] * u[i][j][k]);
});
const count = kernel("count", { x: view(f64), n: scatter(i32) }, ({ x, n }, i) => {
  n.add(i % 7, x[i] > 0.5 ? 1 : 2);
});

/** Elements along each axis of a box. */
const BOX = [9, 10, 40] as const;
const LENGTH = 5000;

const numbers = (length: number) => Float64Array.from({ length }, (_, n) => ((n * 7919) % 1000) / 997);

interface Case {
  readonly launch: Launch;
  /** All bits that a run leaves, from the same start. */
  outcome(launch: Launch): Promise<string>;
}

function cases(device: Device, precision: "strict" | "fast"): Record<string, Case> {
  const [x, y] = [device.from(f64, numbers(LENGTH)), device.array(f64, LENGTH)];
  const box = BOX[0] * BOX[1] * BOX[2];
  const [u, v] = [device.from(f64, numbers(box), BOX), device.array(f64, BOX)];
  const plane = [30, 70] as const;
  const [p, q] = [device.from(f64, numbers(2100), plane), device.array(f64, plane)];
  const n = device.array(i32, 7);
  const inside = range([0, 7], [0, 8], [0, 38]);
  const made = (launch: Launch, target?: typeof y | typeof v | typeof q | typeof n): Case => ({
    launch,
    async outcome(candidate) {
      if (target) device.queue.clear(target);
      device.queue.submit(candidate);
      const results = await device.queue.results(candidate);
      return JSON.stringify([results, target && [...(await device.queue.read(target))]]);
    },
  });
  return {
    scale: made(device.prepare(scale, { x, y }, range(LENGTH), { precision }), y),
    flat: made(device.prepare(flat, { u: p, v: q }, range(...plane), { precision }), q),
    smooth: made(device.prepare(smooth, { u, v }, inside, { precision }), v),
    norm: made(device.prepare(norm, { u }, range(...BOX), { precision })),
    count: made(device.prepare(count, { x, n }, range(LENGTH), { precision }), n),
  };
}

for (const name of ["js", "wasm", "native", "opencl"].filter(tested)) {
  const opened = await open(name).then(
    (device) => ({ device }),
    (error: Error) => ({ missing: error.message }),
  );
  describe(`tuning on ${name}`, { skip: "missing" in opened ? opened.missing : false }, () => {
    const { device } = opened as { device: Device };
    after(() => device.close());

    it("leaves strict bits as they are, whatever is set", async () => {
      let tried = 0;
      for (const { launch, outcome } of Object.values(cases(device, "strict"))) {
        const untuned = await outcome(launch);
        for (const parameter of TUNING_NAMES)
          for (const value of launch.tuning!.tunables[parameter] ?? []) {
            const tuned = launch.tuning!.prepare({ [parameter]: value });
            assert.equal(await outcome(tuned), untuned, `${launch.kernel.name}: ${parameter} ${value}`);
            tuned.free();
            tried++;
          }
      }
      assert.ok(tried >= 3, `${tried} values`);
    });

    it("gives the results of fast mode up to rounding, whatever is set", async () => {
      const { norm: reduced, smooth: stencil } = cases(device, "fast");
      for (const { launch, outcome } of [reduced, stencil]) {
        const untuned = numbersOf(await outcome(launch));
        for (const parameter of TUNING_NAMES)
          for (const value of launch.tuning!.tunables[parameter] ?? []) {
            const tuned = launch.tuning!.prepare({ [parameter]: value });
            const found = numbersOf(await outcome(tuned));
            assert.equal(found.length, untuned.length);
            found.forEach((x, n) =>
              assert.ok(Math.abs(x - untuned[n]) <= 1e-12 * Math.max(1, Math.abs(untuned[n])), `${parameter} ${value}`),
            );
            tuned.free();
          }
      }
    });

    it("refuses what a launch does not have, by the names of the kernel and the parameter", () => {
      const { launch } = cases(device, "strict").count;
      const refused = (tuning: object, message: RegExp) =>
        assert.throws(() => launch.tuning!.prepare(tuning as Tuning), { name: "LaunchError", message });
      refused({ thread: 3 }, /kernel "count" on .*there is no parameter "thread"; there are scatter/);
      refused({ planes: 2 }, /kernel "count" on .*planes cannot be set for this launch; it takes /);
      const [parameter, values] = Object.entries(launch.tuning!.tunables)[0];
      refused({ [parameter]: 77 }, new RegExp(`${parameter} cannot be 77; use one of ${values.join(", ")}`));
    });

    it("has scatter caches among the strategies, and tells where the one that is used comes from", async () => {
      const other = await open(name);
      const { launch } = cases(other, "fast").count;
      assert.ok(launch.tuning!.tunables.scatter!.includes("cached"));
      const strategy = (candidate: Launch) => candidate.remarks.find((line) => line.startsWith('scatter "n"'));
      assert.match(strategy(launch.tuning!.prepare({ scatter: "cached" }))!, /: cached, .*as asked$/);
      other.tuning.note(launch.tuning!, { values: { scatter: "cached" }, seconds: 1e-6, baseline: 2e-6 });
      assert.match(strategy(launch.tuning!.prepare())!, /: cached, .*as measured$/);
      other.tuning.set("count", { scatter: "atomic" });
      assert.match(strategy(launch.tuning!.prepare())!, /: atomic, .*as tuned$/);
      await other.close();
    });

    it("measures once, puts contents back, and takes over what it found in another process", async () => {
      const { launch, outcome } = cases(device, "fast").count;
      const [target] = launch.tuning!.changed;
      device.queue.write(target, [1, 2, 3, 4, 5, 6, 7]);
      const found = (await tune(device, launch))!;
      assert.ok(found.seconds > 0 && found.seconds <= found.baseline);
      assert.deepEqual([...(await device.queue.read(target))], [1, 2, 3, 4, 5, 6, 7]);
      const again = launch.tuning!.prepare();
      assert.equal(again.tuning!.from, "measured");
      assert.match(again.remarks.join("\n"), /tuning: .*, measured: .* us against .* us/);
      assert.equal(await outcome(again), await outcome(launch));
      // With the table of this process empty, only what is on disk can give the very same times.
      const other = await open(name);
      const elsewhere = cases(other, "fast").count.launch;
      assert.deepEqual(await tune(other, elsewhere), found);
      await other.close();
    });

    it("ignores what was measured of its kind where that is not possible", async () => {
      const other = await open(name);
      const { launch, outcome } = cases(other, "strict").count;
      const impossible = { threads: 3, workers: 77 };
      other.tuning.note(launch.tuning!, { values: impossible, seconds: 1, baseline: 2 });
      const again = launch.tuning!.prepare();
      assert.deepEqual([again.tuning!.from, again.tuning!.values], ["default", {}]);
      assert.equal(await outcome(again), await outcome(launch));
      await other.close();
    });

    it("uses the file's values, and measures nothing then", async () => {
      const untuned = cases(device, "fast").count;
      const [parameter, values] = Object.entries(untuned.launch.tuning!.tunables)[0];
      const wanted = { [parameter]: values[0] };
      const other = await open(name, { tuning: { [device.backend]: { count: wanted } }, tune: true });
      const { launch, outcome } = cases(other, "fast").count;
      assert.deepEqual([launch.tuning!.from, launch.tuning!.values], ["file", wanted]);
      assert.equal(await tune(other, launch), undefined);
      assert.match(launch.remarks.join("\n"), new RegExp(`tuning: ${parameter} ${values[0]}, as the tuning file asks`));
      assert.equal(await outcome(launch), await untuned.outcome(untuned.launch));
      await other.close();
    });

    it("measures at the first run where the device is asked to", async () => {
      const other = await open(name, { tune: true });
      const [x, n] = [other.from(f64, numbers(LENGTH)), other.array(i32, 7)];
      await other.run(count, { x, n }, range(LENGTH));
      const total = (values: Iterable<number>, of: (value: number) => number) => [...values].reduce((sum, value) => sum + of(value), 0);
      assert.equal(
        total(await other.queue.read(n), (bin) => bin),
        total(numbers(LENGTH), (value) => (value > 0.5 ? 1 : 2)),
      );
      assert.equal(other.prepare(count, { x, n }, range(LENGTH)).tuning!.from, "measured");
      await other.close();
    });
  });
}

describe("tuning on webgpu", { skip: !tested("webgpu") && NOT_ASKED }, () => {
  it("has the scatter strategies, with the same results", async (t) => {
    const device = await open("webgpu").catch((error: Error) => error);
    if (device instanceof Error) return t.skip(device.message);
    const narrow = kernel("narrow", { own: view(f32), n: scatter(i32) }, ({ own, n }, i) => {
      n.add(i % 7, own[i] > 0.5 ? 1 : 2);
    });
    const args = { own: device.from(f32, numbers(LENGTH)), n: device.array(i32, 7) };
    const outcome = async (tuning?: Tuning) => {
      device.queue.clear(args.n);
      await device.run(narrow, args, range(LENGTH), { tuning });
      return (await device.queue.read(args.n)).join();
    };
    const untuned = await outcome();
    for (const scatter of ["atomic", "duplicated", "cached", "sorted"] as const) assert.equal(await outcome({ scatter }), untuned, scatter);
    await assert.rejects(outcome({ workers: 2 }), /kernel "narrow" on webgpu.*workers cannot be set for this launch; it takes scatter/);
    await device.close();
  });
});

function numbersOf(outcome: string): number[] {
  return (outcome.match(/-?\d+(\.\d+)?(e[-+]?\d+)?/g) ?? []).map(Number);
}
