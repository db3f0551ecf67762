import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { bf16, f16, f32, f64, i16, i8, kernel, open, range, stored, u16, u8, view } from "isoform";
import { makeGrid } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import { refusal } from "./lowered.js";

const js = await open("js");
const debug = await open("js-debug");
after(() => Promise.all([js.close(), debug.close()]));

describe("storage types", () => {
  it("are refused where they cannot be", () => {
    assert.throws(
      () => stored(f16, { scale: 3 }),
      /stored\(\.\.\.\) .* is given 3 for its scale: a scale is a power of two, so that strict bits hold: 2 \*\* -15/,
    );
    assert.throws(() => stored(f16, { scale: 2 ** -120 }), /give one from 2 \*\* -100 to 2 \*\* 100/);
    assert.throws(() => stored(f32 as never, { scale: 2 }), /use f16, bf16, i16, u16, i8 or u8/);
    assert.throws(
      () => js.array(stored(f16, { scale: 2 }) as never, 3),
      /an array has no scale, and holds numbers as they are stored: give the type alone/,
    );
    const narrowed = refusal(
      kernel("k", { x: view(f64), y: view(f16) }, ({ x, y }, i) => {
        y[i] = x[i];
      }),
    );
    assert.match(narrowed.problem, /^y holds f32, and f64 is stored into it$/);
    assert.match(narrowed.remedy!, /Math\.fround/);
  });

  it("are checked in host data", async () => {
    assert.throws(() => js.from(i8, [200]), /value 0 is 200, which i8 cannot hold: give whole numbers from -128 to 127/);
    assert.throws(() => js.from(u16, [-1]), /which u16 cannot hold/);
    assert.throws(() => js.from(f16, ["1"] as never), /value 0 is .*: give numbers/);
    const half = js.from(f16, [0.1, 70000, -0]);
    assert.deepEqual(await js.queue.read(half), Float32Array.of(0.0999755859375, Infinity, -0));
    const brain = js.from(bf16, [0.1, 70000]);
    assert.deepEqual(await js.queue.read(brain), Float32Array.of(0.10009765625, 70144));
  });

  it("that become infinite are reported by js-debug, in kernels and in containers", async () => {
    const double = kernel("double", { x: view(f16) }, ({ x }, i) => {
      x[i] = 2 * x[i];
    });
    const x = debug.from(f16, [1, 40000]);
    await assert.rejects(
      debug.run(double, { x }, range(2)),
      /x\[1\] is f16 and is given 80000, which it holds as Infinity .*give stored\(\.\.\.\) a scale, or store bf16 or f32/,
    );
    const grid = makeGrid(await devices([debug]), [4, 4]);
    const u = grid.field("u", f32, { storage: f16 });
    u.fill(60000);
    const grow = grid.container("grow", { u }, ({ u }, c) => {
      u[c] *= 2;
    });
    await assert.rejects(skeleton(grid.set, "s", [grow]).run(1), /"u" is f16 and is given 120000, which it holds as Infinity/);
  });

  it("of fields are refused where they do not fit", async () => {
    const grid = makeGrid(await devices([js]), [4, 4]);
    assert.throws(
      () => grid.field("u", f64 as never, { storage: f16 }),
      /field "u" has values of f64, and f16 is rounded from f32: write f32/,
    );
    assert.throws(() => grid.field("u", f32, { storage: u8 as never }), /field "u" is stored as u8; use f16 or bf16/);
    assert.throws(() => grid.field("u", f32, { storage: f16, scale: 0.3 }), /field "u" has scale 0\.3: a scale is a power of two/);
    assert.throws(() => grid.field("u", f64, { scale: 2 }), /field "u" has a scale, which fields of f64 have not: give it storage: f16/);
  });

  it("round what one container leaves for the next, which is not fused with it", async () => {
    const grid = makeGrid(await devices([js]), [8, 8]);
    const u = grid.field("u", f32, { storage: f16, scale: 0.5, cardinality: 2 });
    const [v, w] = [grid.field("v", f32), grid.field("w", i16)];
    u.fill((x, y, _z, k) => x + y / 3 + k);
    const host = await u.download();
    assert.equal(host[2 * 9 + 1], 2.333984375);
    assert.equal(await u.get([1, 1], 1), 2.333984375);
    u.set([1, 1], 0.1, 1);
    assert.equal(await u.get([1, 1], 1), 0.0999755859375);
    const halve = grid.container("halve", { u }, ({ u }, c) => {
      u[c][0] = u[c][0] / 3;
    });
    const take = grid.container("take", { u, v, w }, ({ u, v, w }, c) => {
      v[c] = u[c][0];
      w[c] = 70000;
    });
    const steps = skeleton(grid.set, "s", [halve, take]);
    await steps.run(1);
    assert.deepEqual(
      await v.download(),
      (await u.download()).filter((_, n) => n % 2 === 0),
    );
    assert.equal(await w.get([0, 0], 0), 70000 - 65536);
    assert.match(await steps.explain(), /u is stored as f16, which rounds what is read from it/);
  });
});
