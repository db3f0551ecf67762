import assert from "node:assert/strict";
import { test } from "node:test";
import { devices } from "isoform/set";
import { CASE_OF } from "../../../apps/navier-stokes/cases/cases.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { placeOf, innerPoints } from "../../../apps/navier-stokes/equations/axes.js";
import { noiseOf } from "../../../apps/navier-stokes/starts/noise.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";

const small = { nx: 8, ny: 12, nz: 12 } as const;
const layer: Given = { nx: 16, ny: 24, nz: 8, nWall: 12, dt: 0.001 };

test("each cell has numbers of its own, evenly spread from -1 to 1", () => {
  const N = 16;
  const columns: number[][] = [[], [], []];
  for (let i = 0; i < N; i++)
    for (let j = 0; j < N; j++)
      for (let k = 0; k < N; k++) {
        const noise = [0, 0, 0];
        noiseOf(i, j, k, noise);
        noise.forEach((value, n) => columns[n].push(value));
      }
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.equal(new Set(columns.flat()).size, 3 * N ** 3);
  // Six standard deviations of the means of 4096 numbers.
  const near = (found: number, expected: number, deviation: number): void =>
    assert.ok(Math.abs(found - expected) < (6 * deviation) / N ** 1.5, `${found}, not ${expected}`);
  for (const [n, values] of columns.entries()) {
    assert.ok(values.every((value) => Math.abs(value) <= 1));
    near(mean(values), 0, Math.sqrt(1 / 3));
    near(mean(values.map((value) => value ** 2)), 1 / 3, Math.sqrt(4 / 45));
    near(mean(values.map((value, c) => value * columns[(n + 1) % 3][c])), 0, 1 / 3);
    near(mean(values.slice(1).map((value, c) => value * values[c])), 0, 1 / 3);
  }
});

test("a channel starts with noise of 2 % of its bulk velocity, and its temperature stays", () => {
  const [quiet, noisy] = [false, true].map((random) => CASE_OF.channel.flow(configOf("channel", { ...small, random })));
  const { axes, reference } = noisy;
  let greatest = 0;
  for (const x of innerPoints(axes[0]))
    for (const y of innerPoints(axes[1]))
      for (const z of innerPoints(axes[2])) {
        const [a, b] = [quiet, noisy].map(({ initial }) => [0, 1, 2, 3, 4].map((k) => initial(x, y, z, k)));
        const inner = ([rho, mx, my, mz, E]: readonly number[]): number => E - (mx ** 2 + my ** 2 + mz ** 2) / (2 * rho);
        assert.equal(a[0], b[0]);
        assert.ok(Math.abs(inner(a) - inner(b)) < 1e-14 * inner(a));
        for (const k of [1, 2, 3]) greatest = Math.max(greatest, Math.abs(a[k] - b[k]) / a[0] / reference.speed);
      }
  assert.ok(greatest > 0.0199 && greatest <= 0.02 * (1 + 1e-12), `${greatest}`);
});

test("noise of a layer ends with it", () => {
  const [quiet, noisy] = [false, true].map((random) => CASE_OF.layer.flow(configOf("layer", { ...layer, random })));
  const [x, y, z] = noisy.axes;
  const differs = (j: number): boolean =>
    [1, 2, 3].some((k) => {
      const at = [placeOf(x, 3), placeOf(y, j), placeOf(z, 5), k] as const;
      return quiet.initial(...at) !== noisy.initial(...at);
    });
  assert.ok(differs(0));
  assert.ok(innerPoints(y).every((height, j) => (height < 0.9 ? differs(j) : height > 1.6 ? !differs(j) : true)));
});

test("any set of devices starts with the same noise", async () => {
  const start = async (name: string, random = true): Promise<ArrayLike<number>> => {
    const set = await devices(name);
    const flow = CASE_OF.channel.flow(configOf("channel", { ...small, dt: 0.001, random }));
    const simulation = await Simulation.create(set, flow, { precision: "strict" });
    const w = await simulation.fields.w.download();
    simulation.free();
    await set.close();
    return w;
  };
  const alone = await start("js");
  assert.notDeepEqual(alone, await start("js", false));
  for (const name of ["js*2", "wasm*3"]) assert.deepEqual(await start(name), alone, name);
});
