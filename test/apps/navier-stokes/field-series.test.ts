import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readOpenPmd, readRectilinear, readVtkSeries } from "isoform/io";
import { devices } from "isoform/set";
import { boxFlow } from "../../../apps/navier-stokes/cases/box-flow.js";
import { channelFlow } from "../../../apps/navier-stokes/cases/channel.js";
import { configOf } from "../../../apps/navier-stokes/config/config.js";
import { facesOf } from "../../../apps/navier-stokes/measures/faces.js";
import { FieldSeries } from "../../../apps/navier-stokes/results/field-series.js";
import { planeAt, PlaneOf, rasterOf, type Quantity } from "../../../apps/navier-stokes/results/planes.js";
import { Simulation } from "../../../apps/navier-stokes/simulation/simulation.js";

const folder = await mkdtemp(join(tmpdir(), "isoform-"));
const set = await devices("wasm");
after(async () => {
  await set.close();
  await rm(folder, { recursive: true });
});
const at = (name: string): string => join(folder, name);
const shell = { print: () => undefined, writeFile: (path: string, text: string) => writeFile(path, text) };

/** Fails where elements do not end as they begin. */
function requireWellFormed(xml: string): void {
  const open: string[] = [];
  const rest = xml
    .replace(/^<\?xml version="1\.0"\?>/, "")
    .replace(/<(\/?)(\w+)((?: [\w:-]+="[^"<]*")*)(\/?)>/g, (_, closing, tag, _attributes, empty) => {
      if (closing) assert.equal(open.pop(), tag);
      else if (!empty) open.push(tag);
      return "";
    });
  assert.deepEqual(open, []);
  assert.doesNotMatch(rest, /[<>]/);
}

test("series of a run have their times, coordinates, and the shapes and places of what they name", async () => {
  const flow = channelFlow(configOf("channel", { nx: 8, ny: 12, nz: 10 }));
  const simulation = await Simulation.create(set, flow);
  const options = { vtk: at("a.vtr"), hdf5: at("b.h5"), svg: at("c.svg"), show: ["temperature", "velocity"] as const, fieldsEvery: 1 };
  const series = new FieldSeries("channel", simulation, options, shell);
  const times: number[] = [];
  for (let n = 0; n < 2; n++) {
    await simulation.run(2);
    times.push(await simulation.time.get());
    await series.write();
  }
  const w = await simulation.fields.w.download();

  const index = await readVtkSeries(at("a.pvd"));
  requireWellFormed(await readFile(at("a.pvd"), "utf8"));
  assert.deepEqual(index, [
    { time: times[0], file: "a-00000002.vtr" },
    { time: times[1], file: "a-00000004.vtr" },
  ]);
  const vtk = await readRectilinear(at(index[1].file));
  assert.deepEqual(vtk.extents, [8, 12, 10]);
  assert.deepEqual(
    vtk.faces.map((each) => Array.from(each)),
    facesOf(flow.axes).map((each) => [...each]),
  );

  const snapshots = await readOpenPmd(at("b.h5"));
  assert.deepEqual(
    snapshots.map(({ step, time }) => [step, time]),
    [
      [2, times[0]],
      [4, times[1]],
    ],
  );
  const { density } = snapshots[1].meshes;
  assert.deepEqual([...density.extents], [8, 12, 10]);
  const values = density.values as Float64Array;
  assert.ok(values.every((value, n) => value === w[5 * n]));

  const xdmf = await readFile(at("b.xmf"), "utf8");
  requireWellFormed(xdmf);
  assert.deepEqual(
    [...xdmf.matchAll(/<Time Value="([^"]*)"/g)].map(([, time]) => Number(time)),
    times,
  );
  const items = [...xdmf.matchAll(/Dimensions="([^"]*)"[^>]*Format="HDF">b\.h5:\/data\/(\d+)\/meshes\/(\w+)(?:\/([xyz]))?</g)];
  // Density, pressure, temperature and three components, twice.
  assert.equal(items.length, 12);
  for (const [, dimensions, step, name, component] of items) {
    const mesh = snapshots.find((each) => each.step === Number(step))!.meshes[name];
    const held = component === undefined ? mesh.values : (mesh.values as Record<string, Float64Array>)[component];
    assert.equal(dimensions, "10 12 8");
    assert.equal((held as Float64Array).length, 960);
  }

  const pictures = (await readdir(folder)).filter((name) => name.endsWith(".svg")).sort();
  assert.deepEqual(pictures, [
    "c-temperature-00000002.svg",
    "c-temperature-00000004.svg",
    "c-velocity-00000002.svg",
    "c-velocity-00000004.svg",
  ]);
  const picture = await readFile(at(pictures[3]), "utf8");
  requireWellFormed(picture.trimEnd());
  for (const words of ["channel, z = 3, t = ", "velocity along x / reference", "x / half height", "y / half height"])
    assert.ok(picture.includes(words), words);
  simulation.free();
});

/** Values of a plane across y from the whole periodic field, by plain loops. */
async function expected(simulation: Simulation, quantity: Quantity, j: number, h: readonly number[]): Promise<number[]> {
  const { grid, fields, flow } = simulation;
  const n = grid.extents;
  const w = await fields.w.download();
  const value = (place: readonly number[], k: number): number => {
    const [a, b, c] = place.map((each, axis) => (each + n[axis]) % n[axis]);
    const o = 5 * (a + n[0] * (b + n[1] * c));
    return k === 0 ? w[o] : w[o + k] / w[o];
  };
  const slope = (place: readonly number[], k: number, axis: number): number => {
    const moved = (by: number): number[] => place.map((each, other) => each + (other === axis ? by : 0));
    return (value(moved(1), k) - value(moved(-1), k)) / (2 * h[axis]);
  };
  return Array.from({ length: n[0] * n[2] }, (_, at) => {
    const place = [at % n[0], j, Math.floor(at / n[0])];
    const inner = (value(place, 4) - 0.5 * [1, 2, 3].reduce((sum, k) => sum + value(place, k) ** 2, 0)) * 0.4;
    const d = [1, 2, 3].map((k) => [0, 1, 2].map((axis) => slope(place, k, axis)));
    const [strain, rotation] = [1, -1].map((sign) => d.flatMap((row, a) => row.map((each, b) => ((each + sign * d[b][a]) / 2) ** 2)));
    const sum = (squares: number[]): number => squares.reduce((a, b) => a + b, 0);
    switch (quantity) {
      case "schlieren":
        return Math.hypot(...[0, 1, 2].map((axis) => slope(place, 0, axis)));
      case "q-criterion":
        return (sum(rotation) - sum(strain)) / 2;
      case "temperature":
        return inner;
      case "pressure":
        return inner * value(place, 0);
      case "density":
        return value(place, 0);
      case "velocity":
        return value(place, 1) / flow.reference.speed;
      default:
        return quantity satisfies never;
    }
  });
}

test("planes show what is in the whole field", async () => {
  const config = configOf("box", { flow: "taylor-green", nx: 12, ny: 10, nz: 8 });
  const two = await devices("wasm*2");
  const simulation = await Simulation.create(two, boxFlow(config));
  await simulation.run(2);
  const plane = planeAt(simulation.flow, "y", 2);
  assert.equal(plane.index, 3);
  const h = [12, 10, 8].map((n) => (2 * Math.PI) / n);
  for (const quantity of ["schlieren", "q-criterion", "temperature", "velocity", "pressure", "density"] as const) {
    const found = await new PlaneOf(simulation, quantity, plane).read();
    const values = await expected(simulation, quantity, plane.index, h);
    const most = Math.max(...values.map(Math.abs));
    assert.equal(found.length, values.length);
    assert.ok(most > 1e-4, `${quantity} is 0`);
    values.forEach((value, n) => assert.ok(Math.abs(found[n] - value) < 1e-12 * most, `${quantity} ${n}: ${found[n]} is not ${value}`));
  }
  simulation.free();
  await two.close();
});

test("pictures have points at equal distances in cells of any widths", () => {
  const flow = channelFlow(configOf("channel", { nx: 8, ny: 12, nz: 10, lx: 4 }));
  const plane = planeAt(flow, "z");
  const rows = Array.from({ length: 96 }, (_, n) => Math.floor(n / 8));
  const { width, height, values, bounds, names } = rasterOf(flow, plane, rows);
  assert.deepEqual([width, height, names], [320, 160, ["x", "y"]]);
  assert.deepEqual(bounds[1], [-1, 1]);
  const faces = flow.axes[1].faces!;
  for (let row = 0; row < height; row++) {
    const y = -1 + (2 * (row + 0.5)) / height;
    const cell = values[row * width];
    assert.ok(faces[cell] <= y && y <= faces[cell + 1]);
  }
});
