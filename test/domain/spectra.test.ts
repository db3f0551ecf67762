import assert from "node:assert/strict";
import { it } from "node:test";
import { f32, f64, helper } from "isoform";
import { powerSpectrum } from "isoform/patterns";
import { dense, sparse, spectrum } from "../../src/domain/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { jsSet, noise, onEachBackend } from "./sets.js";

const EXTENTS = [20, 6, 35] as const;
const COUNTS = [1, 2, 3, 7];

/** The spectrum along an axis of a function of the cell, for each coordinate along others, in the mean over the rest. */
function expected(value: (cell: readonly number[]) => number, axis: number, along: readonly number[], modes: number): number[] {
  const lines = new Map<string, Float64Array[]>();
  const [a, b] = [0, 1, 2].filter((other) => other !== axis);
  for (let j = 0; j < EXTENTS[b]; j++)
    for (let i = 0; i < EXTENTS[a]; i++) {
      const cell = (n: number): number[] => {
        const at = [0, 0, 0];
        [at[a], at[b], at[axis]] = [i, j, n];
        return at;
      };
      const key = along.toReversed().map((other) => cell(0)[other]).join(); // prettier-ignore
      const line = powerSpectrum(Array.from({ length: EXTENTS[axis] }, (_, n) => value(cell(n))));
      lines.set(key, [...(lines.get(key) ?? []), line.slice(0, modes)]);
    }
  const keys = [...lines.keys()].sort((p, q) => compare(p.split(",").map(Number), q.split(",").map(Number)));
  return keys.flatMap((key) => {
    const list = lines.get(key)!;
    return Array.from(list[0], (_, m) => list.reduce((sum, line) => sum + line[m], 0) / list.length);
  });
}

const compare = (p: number[], q: number[]): number => p.reduce((order, v, n) => order || v - q[n], 0);

await onEachBackend("spectra", ({ of, some }) => {
  for (const [axis, along, modes] of [
    ["z", ["y"], 18],
    ["z", ["x", "y"], 5],
    ["x", ["y"], 11],
    ["x", ["y", "z"], 3],
    ["y", ["x"], 4],
  ] as const)
    it(`along ${axis} are those of the host, for each of ${along}, with the same bits on any number of members`, async () => {
      const number = "xyz".indexOf(axis);
      const others = along.map((name) => "xyz".indexOf(name));
      const value = ([x, y, z]: readonly number[]): number => Math.fround(3 * noise(x, y, z) + y);
      const wanted = expected(value, number, others, modes);
      const results = new Set<string>();
      for (const count of some(COUNTS)) {
        const grid = dense(of(count), EXTENTS, { periodic: true });
        const u = grid.field("u", f32, { cardinality: 2 });
        const energy = grid.field("energy", f64, { axes: along, cardinality: modes as number });
        u.fill((x, y, z, k) => (k === 1 ? value([x, y, z]) : 1e9));
        const double = grid.container("double", { u }, ({ u }, c) => {
          u[c][1] *= 2;
        });
        const steps = skeleton(grid.set, "spectra", [spectrum(u, energy, { axis, component: 1 }), double], { precision: "strict" });
        await steps.run(2);
        const found = await energy.download();
        results.add(found.join());
        found.forEach((v, n) => assert.ok(Math.abs(v / 4 - wanted[n]) < 1e-11 * (1 + Math.abs(wanted[n])), `${n}: ${v / 4}, ${wanted[n]}`));
        steps.free();
        grid.free();
      }
      assert.equal(results.size, 1);
    });

  it("of a value, added up over runs, are those of the field that has it", async () => {
    const grid = dense(of(3), [16, 4, 12], { periodic: true });
    const w = grid.field("w", f32, { cardinality: 2 });
    const u = grid.field("u", f64);
    w.fill((x, y, z, k) => (k === 0 ? 1 + y : noise(x, y, z)));
    u.fill((x, y, z) => Math.fround(noise(x, y, z)) / (1 + y));
    const [own, added] = ["own", "added"].map((name) => grid.field(name, f64, { axes: ["y"], cardinality: 7 }));
    const two = 2;
    const value = helper(
      (w: { [c: symbol]: readonly number[] }, c: symbol): number => (0.5 * two * w[c as never][1]) / w[c as never][0],
      () => [two],
    );
    for (const step of spectrum(u, own, { axis: "z" })) await grid.run(step);
    for (let n = 0; n < 3; n++) for (const step of spectrum(w, added, { axis: "z", value, accumulate: true })) await grid.run(step);
    const wanted = await own.download();
    (await added.download()).forEach((v, n) =>
      assert.ok(Math.abs(v / 3 - wanted[n]) < 1e-7 * (1e-3 + wanted[n]), `${v / 3}, ${wanted[n]}`),
    );
    assert.throws(() => spectrum(w, added, { axis: "z", value, component: 1 }), /give one of them/);
    grid.free();
  });

  it("hold the energy of waves in their modes, and sum up to the mean square", async () => {
    const grid = dense(of(2), [48, 10], { periodic: [true, false] });
    const u = grid.field("u", f64);
    const energy = grid.field("energy", f64, { axes: ["y"], cardinality: 25 });
    u.fill((x, y) => y + 3 * Math.cos((2 * Math.PI * 20 * x) / 48 + y));
    for (const step of spectrum(u, energy, { axis: "x" })) await grid.run(step);
    for (let y = 0; y < 10; y++)
      for (let m = 0; m < 25; m++)
        assert.ok(Math.abs((await energy.get([y], m)) - (m === 0 ? y * y : m === 20 ? 4.5 : 0)) < 1e-12, `${y} ${m}`);
    u.fill(noise);
    for (const step of spectrum(u, energy, { axis: "x" })) await grid.run(step);
    const [all, values] = [await energy.download(), await u.download()];
    const sum = (list: ArrayLike<number>) => Array.from(list).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum(all) / 10 - sum(values.map((v) => v * v)) / 480) < 1e-13);
    grid.free();
  });
});

it("spectra that cannot be are refused", async () => {
  const grid = dense(await jsSet(1), [8, 6, 4], { periodic: [true, false, true] });
  const u = grid.field("u", f64);
  const into = grid.field("into", f64, { axes: ["y"], cardinality: 3 });
  assert.throws(() => spectrum(u, into, { axis: "y" }), /y is not a periodic axis/);
  assert.throws(() => spectrum(u, into, { axis: "x", component: 1 }), /component 1 of 1 of "u"/);
  assert.throws(() => spectrum(u, grid.field("many", f64, { axes: ["y"], cardinality: 4 }), { axis: "z" }), /of cardinality 2 to 3/);
  assert.throws(
    () => spectrum(u, grid.field("same", f64, { axes: ["x"], cardinality: 4 }), { axis: "x" }),
    /on axes of the same grid other than x/,
  );
  assert.throws(() => spectrum(u, into, { axis: "x", modes: 3 } as never), /no option "modes"/);
  const thin = sparse(await jsSet(1), [8, 6, 4], undefined, { periodic: true });
  assert.throws(() => spectrum(thin.field("u", f64), into, { axis: "x" }), /not dense/);
});
