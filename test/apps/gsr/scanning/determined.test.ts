import assert from "node:assert/strict";
import { after, test } from "node:test";
import { open } from "isoform";
import type { ScanningLaw } from "../../../../apps/gsr/scanning/law.js";
import { NODE, YEAR, scanningLaw } from "../../../../apps/gsr/scanning/law.js";
import { instrumentLayout, sections } from "../../../../apps/gsr/shape.js";
import { Solver } from "../../../../apps/gsr/solver.js";
import type { Entry } from "../dense-system.js";
import { readRows, scaledNormal } from "../dense-system.js";
import { eigenvalues } from "../eigenvalues.js";

const device = await open("js");
after(() => device.close());

/** A small focal plane, so that eigenvalues of the dense matrix take seconds. */
const plane = { rows: 2, strips: 3, shortRow: 2 };
/** Below: a direction of the unknowns that no row determines. */
const NULL = 1e-10;
const DETERMINED = 1e-6;

/**
 * The law of a year that observes in some watches of a few steps alone, evenly spread: so that knots of 1000 s, with a wide field for transits enough, are few
 * enough for a dense matrix.
 */
function watches(count: number, steps: number): ScanningLaw {
  const law = scanningLaw(YEAR);
  const covered = new Uint8Array(law.nodes.length / NODE - 1);
  for (let n = 0; n < count; n++) {
    const first = Math.floor((n * (covered.length - steps - 2)) / (count - 1));
    covered.fill(1, first, first + steps);
  }
  return { ...law, covered };
}

/** Rows of a small system with all its blocks, scaled. */
async function smallSystem(frame: boolean): Promise<{ rows: Entry[][]; solver: Solver }> {
  const options = { stars: 40, years: 2, seed: 1, plane, frame } as const;
  const solver = await Solver.create(device, { generator: "scanning", ...options });
  return { rows: await readRows(solver), solver };
}

const spectrum = (rows: Entry[][], solver: Solver) => eigenvalues(scaledNormal(rows, sections(solver.system.shape).unknowns).matrix);

test("with --frame every unknown is determined", async () => {
  const { rows, solver } = await smallSystem(true);
  const values = spectrum(rows, solver);
  assert.ok(values[0] > DETERMINED, `least eigenvalue ${values[0]}`);
  solver.free();
});

test("without it six directions are free, turn and spin of the frame", async () => {
  const { rows, solver } = await smallSystem(false);
  const values = spectrum(rows, solver);
  assert.ok(values[5] < NULL && values[6] > DETERMINED, values.slice(0, 8).join(" "));
  const n = sections(solver.system.shape).unknowns;
  const p = await device.queue.read(solver.system.scaling.all);
  const { stars } = solver.scanning!;
  const { attitude } = sections(solver.system.shape);
  const { knots } = solver.system.shape;
  for (let axis = 0; axis < 3; axis++) {
    // All stars and the attitude turned about one axis.
    const x = new Float64Array(n);
    for (let s = 0; s < stars.count; s++) {
      const row = stars.rows.subarray(11 * s, 11 * s + 11);
      x[5 * s] = row[5 + axis];
      x[5 * s + 1] = axis < 2 ? -row[3 + axis] : 0;
    }
    for (let k = 0; k < knots; k++) x[attitude + axis * knots + k] = 1;
    for (const row of rows) {
      const sum = row.reduce((t, [j, value]) => t + (p[j] > 0 ? (value * x[j]) / p[j] : 0), 0);
      assert.ok(Math.abs(sum) < 1e-12, `axis ${axis}: ${sum}`);
    }
  }
  solver.free();
});

test("about the satellite's axes, too, six directions are free with knots of 1000 s", async () => {
  const solver = await Solver.create(device, {
    generator: "scanning",
    stars: 160,
    seed: 1,
    plane,
    frame: false,
    axes: "satellite",
    knot: 1000,
    halfHeight: 75,
    law: watches(14, 10),
  });
  const { shape, scanning } = solver;
  assert.ok(scanning!.knots.pieces.length > 10 && scanning!.knots.length > 900);
  const values = spectrum(await readRows(solver), solver);
  assert.ok(values[5] < NULL && values[6] > DETERMINED, `${JSON.stringify(shape)}: ${values.slice(0, 8).join(" ")}`);
  solver.free();
});

test("a shift of the image by 1 instead of (G - 13)/4 would leave eleven free", async () => {
  const { rows, solver } = await smallSystem(false);
  const { shape, scaling } = solver.system;
  const { stars } = solver.scanning!;
  const { ccds } = instrumentLayout(shape);
  const { instrument } = sections(shape);
  const p = await device.queue.read(scaling.all);
  const shifted = rows.map((row, i): Entry[] =>
    i >= shape.observations || row[17][1] === 0
      ? row
      : row.map(([j, value], k) => [j, k === 17 ? value / p[j] / ((stars.magnitudes[Math.floor(row[0][0] / 5)] - 13) / 4) : value]),
  );
  assert.ok(shifted.some((row, i) => i < shape.observations && row[17][0] < instrument + ccds));
  const values = spectrum(shifted, solver);
  // The twelfth is small: a shift common to all CCDs is a turn about the spin axis, which the attitude's splines hold nearly.
  assert.ok(values[10] < NULL && values[11] > NULL && values[12] > DETERMINED, values.slice(0, 13).join(" "));
  solver.free();
});
