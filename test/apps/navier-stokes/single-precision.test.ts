import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { devices } from "isoform/set";
import { CASE_OF } from "../../../apps/navier-stokes/cases/cases.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import type { CaseName, Given } from "../../../apps/navier-stokes/config/config-keys.js";
import { Simulation, type Settings } from "../../../apps/navier-stokes/simulation/simulation.js";
import { tested } from "../../devices.js";

const STEPS = 3;
const walls: Given = { nx: 16, ny: 20, nz: 8 };
const layer: Given = { nx: 24, ny: 32, nz: 8, nWall: 20 };
const fast: Given = { ...walls, mach: 2, thetaWall: 0.35, reTau: 100 };

const REHEATED = "a channel of a thermally perfect gas, reheated, hybrid";

/** Each case, kind of flux, gas and viscosity. */
const FLOWS: Readonly<Record<string, readonly [CaseName, Given]>> = {
  "a channel": ["channel", walls],
  [REHEATED]: ["channel", { ...fast, gas: "thermal", sensorThreshold: 0.005 }],
  "a channel with WENO everywhere": ["channel", { ...fast, sensorThreshold: -1, viscous: "expanded" }],
  "a turbulent layer": ["layer", layer],
  "a laminar layer": ["layer", { ...layer, inflow: "laminar", re: 1000 }],
  "a shock that meets a layer": ["shock", { ...layer, nx: 32 }],
  "Taylor-Green vortices": ["box", { nx: 12, ny: 12, nz: 12, viscosity: "power" }],
  "a tube": ["tube", { nx: 40 }],
};

interface End {
  readonly w: Float64Array;
  readonly residual: number;
  readonly means: readonly Float64Array[];
}

async function end(device: string, [name, given]: readonly [CaseName, Given], type: Settings["type"]): Promise<End> {
  const set = await devices(device);
  const simulation = await Simulation.create(set, CASE_OF[name].flow(configOf(name, given)), { type, statsEvery: 2 });
  await simulation.run(STEPS);
  const w = Float64Array.from(await simulation.fields.w.download());
  const { residual } = await simulation.progress();
  const { columns } = await simulation.statistics!.read();
  simulation.free();
  await set.close();
  return { w, residual, means: [...columns.values()] };
}

/** The greatest difference, by the greatest of the values. */
function apart(a: Float64Array, b: Float64Array): number {
  const most = (values: Float64Array): number => values.reduce((greatest, value) => Math.max(greatest, Math.abs(value)), 0);
  return most(a.map((value, n) => value - b[n])) / most(b);
}

/** Some hundred roundings of f32. */
const CLOSE = 2e-5;

/** In f64, on wasm. */
const doubles = new Map<string, Promise<End>>();
const double = (title: string): Promise<End> => {
  const known = doubles.get(title) ?? end("wasm", FLOWS[title], "f64");
  doubles.set(title, known);
  return known;
};

async function compare(device: string, title: string): Promise<void> {
  const [single, exact] = [await end(device, FLOWS[title], "f32"), await double(title)];
  const difference = apart(single.w, exact.w);
  assert.ok(difference > 0 && difference < CLOSE, `${difference}`);
  assert.ok(Math.abs(single.residual / exact.residual - 1) < 1e-3);
  assert.ok(apart(single.means[0], exact.means[0]) < CLOSE);
}

describe("f32 is f64 but for its rounding", () => {
  for (const title of Object.keys(FLOWS)) it(`in ${title}`, { skip: !tested("wasm") }, () => compare("wasm", title));
  for (const device of ["js", "native"]) it(`on ${device}`, { skip: !tested(device) }, () => compare(device, REHEATED));
});
