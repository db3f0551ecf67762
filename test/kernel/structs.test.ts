import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  f32,
  f64,
  i32,
  kernel,
  LaunchError,
  open,
  range,
  struct,
  structArrays,
  structArraysFrom,
  sum,
  vec2,
  vec3,
  view,
  type StructValue,
} from "isoform";

const Hit = struct("Hit", { at: vec3, cell: i32 });
const Ray = struct("Ray", { o: vec3, d: vec3, t: f64, hit: Hit, w: f32 });
type RayValue = StructValue<typeof Ray.struct.fields>;
const step = (r: RayValue, dt: number): RayValue => ({ ...r, o: r.o.add(r.d.scale(dt)), t: r.t + dt });

describe("records with a type", () => {
  it("are parameters, elements of arrays and values, the same on each device", async () => {
    const trace = kernel(
      "trace",
      { sun: Ray, rays: view(Ray), grid: view(Hit, 2), total: sum(f64) },
      ({ sun, rays, grid, total }, i) => {
        let r = step(rays[i], 0.5);
        if (r.t > 1) r = Ray({ ...r, d: sun.d, w: r.w * 2 });
        rays[i] = Ray({ o: r.o, d: r.d, t: r.t, hit: Hit({ at: r.o, cell: i }), w: r.w });
        const before = rays[i];
        rays[i].t += 1;
        rays[i].hit.cell = rays[i].hit.cell + 7;
        rays[i].o.y = -1;
        grid[i][1] = rays[i].hit;
        total.add(before.t + sun.t + rays.length + grid[i].length);
      },
      () => [Ray, Hit, step],
    );
    for (const name of ["js", "wasm", "js-debug"]) {
      const device = await open(name);
      const ray = (i: number): RayValue =>
        Ray({ o: vec3(i, 0, 1), d: vec3(0, i, 0), t: i / 4, hit: Hit({ at: vec3(0, 0, 0), cell: -1 }), w: 0.1 });
      const rays = structArraysFrom(device, Ray, [0, 1, 2, 3].map(ray));
      const grid = structArrays(device, Hit, [4, 2]);
      assert.deepEqual([rays.o.shape, rays.hit.cell.shape, grid.at.shape], [[4, 3], [4], [4, 2, 3]]);
      const { total } = await device.run(trace, { sun: ray(5), rays, grid }, range(4), { precision: "strict" });
      const read = async (v: typeof rays.t | typeof rays.hit.cell | typeof rays.w): Promise<number[]> => [
        ...(await device.queue.read(v as typeof rays.t)),
      ];
      assert.equal(total, 0.5 * 4 + 1.5 + 4 * (1.25 + 4 + 2), name);
      assert.deepEqual(await read(rays.t), [1.5, 1.75, 2, 2.25]);
      assert.deepEqual(await read(rays.o as never), [0, -1, 1, 1, -1, 1, 2, -1, 1, 3, -1, 1]);
      assert.deepEqual(await read(rays.d as never), [0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 5, 0]);
      assert.deepEqual(await read(rays.w), [0.1, 0.1, 0.1, 0.2].map(Math.fround));
      assert.deepEqual(await read(rays.hit.cell), [7, 8, 9, 10]);
      assert.deepEqual(await read(grid.cell as never), [0, 7, 0, 8, 0, 9, 0, 10]);
      await device.close();
    }
  });

  it("are what their constructor says", () => {
    const refused: [() => unknown, RegExp][] = [
      [() => Hit({ at: vec3(0, 0, 0) } as never), /a Hit has the fields at, cell, and is given at/],
      [() => Hit({ at: vec3(0, 0, 0), cell: 1, x: 2 } as never), /is given at, cell, x/],
      [() => Hit({ at: vec2(0, 0), cell: 1 } as never), /at of Hit is a vec3, and is given vec2/],
      [() => Hit({ at: vec3(0, 0, 0), cell: "1" } as never), /cell of Hit is a number, and is given a string/],
      [() => struct("Bad", { on: true } as never), /has the field on of true; use f64/],
      [() => struct("None", {}), /is given .* for its fields; write \{ x: f64 \}/],
    ];
    for (const [run, message] of refused) assert.throws(run, (e) => e instanceof LaunchError && message.test(e.message), String(message));
    assert.deepEqual({ ...Hit({ at: vec3(1, 2, 3), cell: 4 }) }, { at: vec3(1, 2, 3), cell: 4 });
    assert.ok(Object.isFrozen(Hit({ at: vec3(1, 2, 3), cell: 4 })));
  });

  it("are refused as arguments where a field is missing or another", async () => {
    const device = await open("js");
    const k = kernel("k", { hit: Hit, hits: view(Hit) }, ({ hit, hits }, i) => {
      hits[i] = hit;
    });
    const hits = structArrays(device, Hit, 2);
    const hit = Hit({ at: vec3(1, 2, 3), cell: 4 });
    const refused: [object, RegExp][] = [
      [{ hits }, /kernel "k": hit is a Hit, and is given nothing; give Hit\(\{ at, cell \}\)/],
      [{ hit: 3, hits }, /hit is a Hit, and is given 3/],
      [{ hit: { at: vec3(0, 0, 0) }, hits }, /hit is a Hit, and is given nothing for cell/],
      [{ hit: { at: 1, cell: 1 }, hits }, /hit\.at is a vec3, and is given 1/],
      [{ hit, hits: { at: hits.at } }, /hits is an array of Hit, and is given nothing for cell; give structArrays\(device, Hit, n\)/],
      [{ hit, hits: hits.at }, /hits is an array of Hit, and is given nothing for at/],
      [{ hit, hits: { at: hits.cell, cell: hits.cell } }, /hits_at needs a view of f64|hits_at is view\(vec3\)|hits_at/],
      [{ hit, hits, more: 1 }, /no parameter "more"; it takes hit, hits/],
    ];
    for (const [args, message] of refused) await assert.rejects(() => device.run(k, args as never, range(2)), message, String(message));
    await device.run(k, { hit, hits }, range(2));
    assert.deepEqual([...(await device.queue.read(hits.at))], [1, 2, 3, 1, 2, 3]);
    assert.throws(() => structArraysFrom(device, Hit, { length: 1 } as never), /an array of Hit is given .*; give a list of records/);
    await device.close();
  });
});
