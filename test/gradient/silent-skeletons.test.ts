import assert from "node:assert/strict";
import { it } from "node:test";
import { dense } from "../../src/domain/index.js";
import { gradient } from "../../src/gradient/skeleton-gradient.js";
import { f64, i32, max, sum } from "../../src/kernel/declare/params.js";
import { devices } from "../../src/set/index.js";
import { skeleton } from "../../src/skeleton/index.js";

const cube = [4, 4, 4] as const;

it("least and greatest values in fast mode: the adjoint runs in strict mode, and says so", async () => {
  for (const names of ["js", "wasm", "native"]) {
    const set = await devices(names).catch(() => undefined);
    if (!set) continue;
    const grid = dense(set, [...cube]);
    const [w, v] = ["w", "v"].map((name) => grid.field(name, f64));
    const m = grid.scalar("m", f64);
    const greatest = grid.container("greatest", { w, v, m: max(m) }, ({ w, v, m }, c) => m.max(w[c] * v[c] + w[c] * w[c]));
    const grad = gradient(skeleton(set, "extreme", [greatest], { precision: "fast" }), { of: m, wrt: [w, v] });
    for (let k = 0; k < 8; k++) {
      w.fill((x, y, z) => Math.sin(1.1 * x + 2.3 * y + 0.7 * z + k));
      v.fill((x, y, z) => Math.cos(0.3 * x - 1.9 * y + z + 2 * k));
      const { value } = await grad.run(1);
      const [a, b] = [await w.download(), await v.download()];
      const all = Array.from(a, (each, n) => each * b[n] + each * each);
      const at = all.indexOf(Math.max(...all));
      assert.ok(Math.abs(value! - all[at]) < 1e-14);
      const [byW, byV] = [await grad.of(w).download(), await grad.of(v).download()];
      all.forEach((_, n) => {
        assert.ok(Math.abs(byW[n] - (n === at ? b[n] + 2 * a[n] : 0)) < 1e-14, `${names} ${k} ${n}: ${byW[n]}`);
        assert.ok(Math.abs(byV[n] - (n === at ? a[n] : 0)) < 1e-14, `${names} ${k} ${n}: ${byV[n]}`);
      });
    }
    assert.match(grad.remarks.join("\n"), /container "greatest": its values are compared with .* so the gradient runs in strict mode/);
    grad.free();
    await set.close();
  }
});

it("a reduction of what does not depend on wrt ends what has reached its scalar", async () => {
  const set = await devices("js*2");
  const grid = dense(set, [...cube]);
  const [w, v, q] = ["w", "v", "q"].map((name) => grid.field(name, f64));
  const [s, e] = ["s", "e"].map((name) => grid.scalar(name, f64));
  const total = grid.container("total", { w, s: sum(s) }, ({ w, s }, c) => s.add(w[c]));
  const scaled = grid.container("scaled", { v, w, s }, ({ v, w, s }, c) => {
    v[c] = s * w[c];
  });
  const other = {
    sum: grid.container("other sum", { q, s: sum(s) }, ({ q, s }, c) => s.add(0.0625 * q[c])),
    max: grid.container("other max", { q, s: max(s) }, ({ q, s }, c) => s.max(4 * q[c])),
  };
  const loss = grid.container("loss", { v, s, e: sum(e) }, ({ v, s, e }, c) => e.add(v[c] * s));
  w.fill((x) => x + 1);
  q.fill(4);
  for (const overwrites of Object.values(other)) {
    const grad = gradient(skeleton(set, "ends", [total, scaled, overwrites, loss], { precision: "strict" }), { of: e, wrt: [w] });
    const { value } = await grad.run(1);
    // The loss is 16 W W for W the sum of w, 160.
    assert.equal(value, 16 * 160 * 160);
    assert.ok((await grad.of(w).download()).every((each) => each === 2 * 160 * 16));
    grad.free();
  }
  await set.close();
});

it("a neighbour's component that is found while the code runs", async () => {
  const set = await devices("js*2");
  const grid = dense(set, [...cube], { periodic: [true, false, false] });
  const u = grid.field("u", f64, { cardinality: 3 });
  const k = grid.field("k", i32);
  const s = grid.scalar("s", f64);
  const product = grid.container("product", { u, k, s: sum(s) }, ({ u, k, s }, c) => s.add(u.at(c, 1, 0, 0)[k[c]] * u[c][0]));
  const grad = gradient(skeleton(set, "found", [product], { precision: "strict" }), { of: s, wrt: [u] });
  u.fill((x, y, z, c) => 1 + x + 2 * y + 3 * z + 0.5 * c);
  k.fill((x, y, z) => (x + y + z) % 3);
  await grad.run(1);
  const values = await u.download();
  const at = (x: number, y: number, z: number, c: number): number => ((z * 4 + y) * 4 + (x & 3)) * 3 + c;
  const expected = new Float64Array(values.length);
  for (let z = 0; z < 4; z++)
    for (let y = 0; y < 4; y++)
      for (let x = 0; x < 4; x++) {
        const there = at(x + 1, y, z, (x + y + z) % 3);
        expected[there] += values[at(x, y, z, 0)];
        expected[at(x, y, z, 0)] += values[there];
      }
  assert.deepEqual(Float64Array.from(await grad.of(u).download()), expected);
  grad.free();
  await set.close();
});

it("seeds of one field are added", async () => {
  const set = await devices("js*2");
  const grid = dense(set, [...cube]);
  const [w, v] = ["w", "v"].map((name) => grid.field(name, f64));
  const squares = grid.container("squares", { w, v }, ({ w, v }, c) => {
    v[c] = w[c] * w[c] * 3;
  });
  w.fill(2);
  const seeds = Float64Array.from({ length: 64 }, (_, n) => n);
  const grad = gradient(skeleton(set, "seeds", [squares], { precision: "strict" }), {
    of: [
      [v, 2],
      [w, 1],
      [v, (x) => x],
      [v, seeds],
    ],
    wrt: [w],
  });
  await grad.run(1);
  assert.deepEqual(
    Float64Array.from(await grad.of(w).download()),
    seeds.map((n) => 12 * (2 + (n % 4) + n) + 1),
  );
  grad.free();
  await set.close();
});
