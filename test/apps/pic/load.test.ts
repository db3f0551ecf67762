import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { open } from "isoform";
import { cosineOfTurns, inverseNormal, logarithm, NORMAL } from "../../../apps/pic/particles/load.js";
import { meshOf } from "../../../apps/pic/mesh/mesh.js";
import { loadSpecies, Particles, type Species } from "../../../apps/pic/particles/species.js";
import { Workspace } from "../../../apps/pic/fields/workspace.js";

const device = await open("js");
after(() => device.close());

test("normal deviates have the known quantiles", () => {
  const known = [
    [1e-9, -5.9978070150076865],
    [2 ** -32, -6.230260137989043],
    [0.001, -3.090232306167813],
    [0.07, -1.4757910281791706],
    [0.2, -0.8416212335729142],
    [0.8, 0.8416212335729143],
    [0.999, 3.090232306167813],
  ];
  for (const [u, value] of known) assert.ok(Math.abs(inverseNormal(u, NORMAL) / value - 1) < 2e-15, `${u}`);
  assert.ok(Math.abs(inverseNormal(0.5000001, NORMAL) - 2.506628273311648e-7) < 1e-21);
});

test("logarithm and cosine are those of Math", () => {
  for (let n = 1; n <= 1000; n++) {
    const u = n * n * 1e-6;
    assert.ok(Math.abs(logarithm(u) - Math.log(u)) <= 4e-16 * Math.max(1, -Math.log(u)), `ln ${u}`);
    const turns = 0.0057 * n - 2;
    assert.ok(Math.abs(cosineOfTurns(turns) - Math.cos(2 * Math.PI * turns)) < 4e-15, `cos of ${turns} turns`);
  }
  assert.equal(logarithm(1), 0);
  assert.deepEqual([0, 0.5, 1, -3].map(cosineOfTurns), [1, -1, 1, 1]);
});

describe("a species", () => {
  const mesh = meshOf([16], [5], 3, 2);
  const species: Species = {
    name: "electrons",
    charge: -1,
    mass: 1,
    beams: [
      { fraction: 0.25, drift: [3, 0], sigma: [0.5, 2] },
      { fraction: 0.75, drift: [-1, 0], sigma: [1, 2] },
    ],
    perturbation: { amplitude: 0.3, mode: 2 },
  };
  const loaded = async (options: ConstructorParameters<typeof Particles>[3]) => {
    const work = new Workspace(device, "strict");
    const particles = new Particles(work, mesh, species, options);
    await loadSpecies([particles]);
    const read = async () => Promise.all([particles.x[0], particles.v[0], particles.v[1], particles.w].map((u) => device.queue.read(u)));
    const [x, v1, v2, w] = await read();
    const moments = await particles.moments();
    work.free();
    return { x, v1, v2, w, moments };
  };

  test("has the distribution that was asked for", async () => {
    const count = 1 << 14;
    const { x, v1, v2, w, moments } = await loaded({ count, loading: "sobol", layout: "left" });
    assert.ok(x.every((place) => place >= 0 && place < 5));
    const each = 5 / count;
    for (let i = 0; i < count; i += 100) assert.ok(Math.abs(w[i] - each * (1 + 0.3 * Math.cos((4 * Math.PI * x[i]) / 5))) < 1e-18);
    assert.ok(Math.abs(moments.mass - 5) < 1e-3);
    assert.ok(moments.momentum.every((p) => Math.abs(p) < 1e-13));
    const mean = (f: (i: number) => number) => w.reduce((sum, weight, i) => sum + weight * f(i), 0) / moments.mass;
    assert.ok(Math.abs(mean((i) => v1[i] ** 2) - (0.25 * (9 + 0.25) + 0.75 * (1 + 1))) < 0.01);
    assert.ok(Math.abs(mean((i) => v2[i] ** 2) - 4) < 0.01);
    assert.ok(Math.abs(mean((i) => v1[i] * v2[i])) < 0.01);
    assert.ok(Math.abs(moments.energy - 0.5 * moments.mass * mean((i) => v1[i] ** 2 + v2[i] ** 2)) < 1e-11);
  });

  test("has the same values in either layout", async () => {
    const options = { count: 500, loading: "sobol" } as const;
    assert.deepEqual(await loaded({ ...options, layout: "left" }), await loaded({ ...options, layout: "right" }));
  });

  test("loaded symmetrically is mirrored in groups of eight", async () => {
    const { x, v2, w } = await loaded({ count: 800, loading: "symmetric", layout: "left" });
    for (let i = 0; i < 800; i += 8) {
      assert.ok(Math.abs(x[i] + x[i + 1] - 5) < 1e-14 && Math.abs(w[i] - w[i + 1]) < 1e-17);
      assert.ok(v2[i] === v2[i + 3] && v2[i] === -v2[i + 4]);
    }
    await assert.rejects(loaded({ count: 801, loading: "symmetric", layout: "left" }), /801 particles of species "electrons".*multiple/);
  });
});
