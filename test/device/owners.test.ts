import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { f64, i32, kernel, open, range, scatter, view, type Device, type Launch } from "../../src/index.js";
import { backend as native } from "../../src/device/native/native.js";
import { tested } from "../devices.js";

/** Twelve contributions to neighbouring knots, as of a cubic spline along three axes. */
const spline = kernel("spline", { a: view(f64, 2), knot: view(i32), v: scatter(f64, 2) }, ({ a, knot, v }, i) => {
  const first = knot[i];
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < 4; k++) v.add(axis, first + k, a[i][4 * axis + k]);
  }
});

/** Forces along the bonds of a net, over a range of two axes. */
const bonds = kernel("bonds", { ends: view(i32, 3), x: view(f64), force: scatter(f64) }, ({ ends, x, force }, i, j) => {
  const a = ends[i][j][0];
  const b = ends[i][j][1];
  const d = x[b] - x[a];
  const pull = Math.sqrt(d * d + 1) * Math.sin(d) * Math.cos(d);
  force.add(a, pull);
  if (d > 0) force.add(b, -pull);
});

/** Columns of a sparse matrix, as many as its rows hold. */
const transposed = kernel(
  "transposed",
  { start: view(i32), column: view(i32), a: view(f64), x: view(f64), y: scatter(f64) },
  ({ start, column, a, x, y }, i) => {
    const value = x[i];
    for (let k = start[i]; k < start[i + 1]; k++) y.add(column[k], Math.exp(a[k]) * value);
  },
);

const noise = (n: number) => Math.abs(Math.sin(12.9898 * (n + 1)) * 43758.5453) % 1;
const make = (count: number, of: (n: number) => number) => Array.from({ length: count }, (_, n) => of(n));
const THREADS = 20;

/** Submits and waits: long work is told to fail only then. */
async function done({ queue }: Device, launch: Launch): Promise<void> {
  queue.submit(launch);
  await queue.finish();
}

const missing = (await native.probe()).missing?.reason;

for (const name of ["js", "wasm", "native"].filter(tested))
  describe(`owners of scatter targets on ${name}`, { skip: name === "native" && (missing ?? false) }, () => {
    let device: Device;
    const kept = process.env.ISOFORM_THREADS;
    before(async () => {
      process.env.ISOFORM_THREADS = String(THREADS);
      device = await open(name);
    });
    after(async () => {
      await device.close();
      if (kept === undefined) delete process.env.ISOFORM_THREADS;
      else process.env.ISOFORM_THREADS = kept;
    });

    function run(launch: Launch): void {
      assert.match(
        launch.remarks.join("\n"),
        /sorted, 20 workers go through all elements in order, and each adds to its own part of axis \d/,
      );
      device.queue.submit(launch);
      launch.free();
    }

    test("neighbouring contributions come in element order", async () => {
      const [rows, knots] = [5000, 300];
      const a = make(12 * rows, noise);
      const knot = make(rows, (n) => Math.floor(noise(n + 0.3) * (knots - 3)));
      const start = make(3 * knots, (n) => n / 7);
      const expected = Float64Array.from(start);
      knot.forEach((first, row) => {
        for (let axis = 0; axis < 3; axis++) for (let k = 0; k < 4; k++) expected[axis * knots + first + k] += a[12 * row + 4 * axis + k];
      });
      const v = device.from(f64, start, [3, knots]);
      const args = { a: device.from(f64, a, [rows, 12]), knot: device.from(i32, knot), v };
      const launch = device.prepare(spline, args, range(rows), { precision: "strict" });
      assert.match(launch.remarks.join("\n"), /its own part of axis 1/);
      run(launch);
      assert.deepEqual(await device.queue.read(v), expected);
    });

    test("an index that is in nobody's part is told, and its element adds nothing", async () => {
      const [rows, knots] = [5000, 300];
      const a = make(12 * rows, noise);
      const good = make(rows, (n) => Math.floor(noise(n + 0.3) * (knots - 3)));
      const knot = Object.assign([...good], { 4000: -2, 4001: 2e9, 77: knots - 2, 78: -1 });
      const expected = new Float64Array(3 * knots);
      knot.forEach((first, row) => {
        if (first < 0 || first + 3 >= knots) return;
        for (let axis = 0; axis < 3; axis++) for (let k = 0; k < 4; k++) expected[axis * knots + first + k] += a[12 * row + 4 * axis + k];
      });
      const args = { a: device.from(f64, a, [rows, 12]), knot: device.from(i32, knot), v: device.array(f64, [3, knots]) };
      const launch = device.prepare(spline, args, range(rows), { precision: "strict" });
      const outside = /adds into v\[0\]\[first \+ 2\]: index 300 is outside axis 1 of "v", which has extent 300 \(element \[77\], on /;
      for (let turn = 0; turn < 2; turn++) {
        await device.queue.write(args.v, new Float64Array(3 * knots));
        await assert.rejects(done(device, launch), outside);
        assert.deepEqual(await device.queue.read(args.v), expected);
      }
      await device.queue.write(args.knot, Int32Array.from(good));
      run(launch);
    });

    test("an index of what is added is told by all owners alike, whose part it may be", async () => {
      const [rows, columns, nodes] = [60, 70, 500];
      const ends = make(2 * rows * columns, (n) => Math.floor(noise(n) * nodes));
      // The first end lies in the last owner's part.
      ends.splice(2 * (20 * columns + 30), 2, nodes - 1, nodes);
      ends.splice(2 * (20 * columns + 31), 2, 0, -1);
      ends.splice(2 * (50 * columns + 1), 2, -5, 1);
      const args = { ends: device.from(i32, ends, [rows, columns, 2]), force: device.array(f64, nodes) };
      const prepared = (length: number) =>
        device.prepare(bonds, { ...args, x: device.array(f64, length) }, range(rows, columns), { precision: "strict" });
      const inside = prepared(nodes);
      assert.match(inside.remarks.join("\n"), /20 workers go through all elements/);
      assert.throws(
        () => device.queue.submit(inside),
        /reads x\[b\]: index 500 is outside axis 0 of "x", which has extent 500 \(element \[20, 30\], on /,
      );
      assert.throws(
        () => device.queue.submit(prepared(nodes + 1)),
        /reads x\[b\]: index -1 is outside axis 0 of "x", which has extent 501 \(element \[20, 31\], on /,
      );
    });

    test("contributions under conditions, from a plane of elements, into a slice", async () => {
      const [rows, columns, nodes] = [60, 70, 500];
      const ends = make(2 * rows * columns, (n) => Math.floor(noise(n) * nodes));
      const x = make(nodes, (n) => 3 * noise(n + 0.7));
      const xs = device.from(f64, x);
      const args = { ends: device.from(i32, ends, [rows, columns, 2]), x: xs };
      const all = device.array(f64, nodes + 20);
      const force = all.slice([10, nodes + 10]);
      // Functions may differ between backends: one worker of the same backend adds in order too.
      const one = device.array(f64, nodes);
      for (let row = 0; row < rows; row++)
        for (let first = 0; first < columns; first += 10)
          await device.run(bonds, { ...args, force: one }, range([row, row + 1], [first, first + 10]), { precision: "strict" });
      run(device.prepare(bonds, { ...args, force }, range(rows, columns), { precision: "strict" }));
      assert.deepEqual(await device.queue.read(force), await device.queue.read(one));
      const around = await device.queue.read(all);
      assert.ok([...around.slice(0, 10), ...around.slice(-10)].every((value) => value === 0));
    });

    test("as many contributions as data say", async () => {
      const [rows, columns] = [3000, 400];
      const start = make(rows + 1, (n) => Math.floor((n * n) / 1000));
      const entries = start[rows];
      const args = {
        start: device.from(i32, start),
        column: device.from(
          i32,
          make(entries, (n) => Math.floor(noise(n) * columns)),
        ),
        a: device.from(f64, make(entries, noise)),
        x: device.from(
          f64,
          make(rows, (n) => noise(n + 0.2) - 0.5),
        ),
      };
      const [y, one] = [device.array(f64, columns), device.array(f64, columns)];
      for (let row = 0; row < rows; row += 10)
        await device.run(transposed, { ...args, y: one }, range([row, row + 10]), { precision: "strict" });
      run(device.prepare(transposed, { ...args, y }, range(rows), { precision: "strict" }));
      assert.deepEqual(await device.queue.read(y), await device.queue.read(one));
    });
  });

describe("ordered scatter", () => {
  let device: Device;
  const kept = process.env.ISOFORM_THREADS;
  before(async () => {
    process.env.ISOFORM_THREADS = "2";
    device = await open("js");
  });
  after(async () => {
    await device.close();
    if (kept === undefined) delete process.env.ISOFORM_THREADS;
    else process.env.ISOFORM_THREADS = kept;
  });
  const decided = (launch: Launch) => {
    launch.free();
    return launch.remarks.join("\n");
  };

  test("is one worker's where owners would gain nothing", () => {
    const bins = kernel("bins", { at: view(i32), h: scatter(f64) }, ({ at, h }, i) => h.add(at[i], 1));
    const at = device.array(i32, 5000);
    const prepare = (size: number) => device.prepare(bins, { at, h: device.array(f64, size) }, range(5000), { precision: "strict" });
    assert.match(
      decided(prepare(1000)),
      /one worker adds in element order, as 2 would each look at all elements, for a gain of 0\.\d+ at best/,
    );
    assert.match(decided(prepare(10)), /one worker adds in element order, as "h" is too short to be shared out/);
  });

  test("is free where any order gives the same bits", async () => {
    const count = kernel("count", { at: view(i32), h: scatter(i32), low: scatter(f64, 1, "min") }, ({ at, h, low }, i) => {
      h.add(at[i], 1);
      low.min(at[i], i);
    });
    const at = device.from(
      i32,
      make(5000, (n) => n % 10),
    );
    const [h, low] = [
      device.array(i32, 10),
      device.from(
        f64,
        make(10, () => Infinity),
      ),
    ];
    const launch = device.prepare(count, { at, h, low }, range(5000), { precision: "strict" });
    device.queue.submit(launch);
    assert.match(
      decided(launch),
      /workers: 2\nscatter "h": duplicated, any order gives the same bits.*\nscatter "low": duplicated, any order/,
    );
    assert.deepEqual([...(await device.queue.read(h))], Array(10).fill(500));
    assert.deepEqual(
      [...(await device.queue.read(low))],
      make(10, (n) => n),
    );
  });
});
