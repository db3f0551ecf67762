import { dense } from "isoform/grid";
import { writeByOne, writeImage } from "isoform/io";
import { devices, type DeviceSet } from "isoform/set";
import { f64 } from "isoform";
import type { Mesh } from "../mesh/mesh.js";
import { cellSize, dofs, isPresent } from "../mesh/mesh.js";
import type { Simulation } from "../simulation/simulation.js";
import { indicesOf, pieceAt, splinePieces } from "../mesh/splines.js";

/** One component in the middle of each cell, from its coefficients: of degree p - 1 along axis `lower` or, of a 2-form, along all but this. */
export function atCentres({ axes }: Mesh, coefficients: ArrayLike<number>, form: "e" | "b", lower: number): Float64Array {
  let values = Float64Array.from(coefficients);
  let stride = 1;
  for (const [a, axis] of axes.entries()) {
    if (isPresent(axis)) {
      const pieces = splinePieces((a === lower) === (form === "e") ? axis.degree - 1 : axis.degree);
      const weights = pieces.map((_, j) => pieceAt(pieces, j, 0.5));
      const index = new Int32Array(pieces.length);
      const next = new Float64Array(values.length);
      for (let id = 0; id < values.length; id++) {
        const cell = Math.floor(id / stride) % axis.cells;
        indicesOf(cell, axis.cells, index);
        next[id] = weights.reduce((sum, weight, j) => sum + weight * values[id + (index[j] - cell) * stride], 0);
      }
      values = next;
    }
    stride *= axis.cells;
  }
  return values;
}

/** The three components of E or B in the middle of each cell. */
export const valuesOf = ({ device, maxwell, problem }: Simulation, form: "e" | "b"): Promise<Float64Array[]> =>
  Promise.all([0, 1, 2].map(async (k) => atCentres(problem.mesh, await device.queue.read(maxwell[form].at(0, k)), form, k)));

/**
 * Writes E and B in the middle of each cell as a VTK image (.vti). Several processes, which all call it, write a piece each, and rank 0 an index (.pvti),
 * where the box has a plane of cells for each device; elsewhere rank 0 writes all.
 * @returns the path of the file to open
 */
export async function writeFields(path: string, simulation: Simulation): Promise<string> {
  const { set, problem } = simulation;
  const [, , { cells: planes }] = problem.mesh.axes;
  if (planes >= set.members.length) return writeCentres(path, simulation, set);
  // Each process has all values.
  await writeByOne(set, [], async () => void (await writeCentres(path, simulation, await devices([simulation.device]))));
  return path;
}

/** The same by a set, whose processes write what its members own. */
async function writeCentres(path: string, simulation: Simulation, set: DeviceSet): Promise<string> {
  const { mesh } = simulation.problem;
  const grid = dense(set, mesh.axes.map(({ cells }) => cells) as [number, number, number]);
  const fields = [];
  for (const form of ["e", "b"] as const) {
    const field = grid.field(form.toUpperCase(), f64, { cardinality: 3 });
    const values = new Float64Array(3 * dofs(mesh));
    for (const [k, centres] of (await valuesOf(simulation, form)).entries()) centres.forEach((value, id) => (values[3 * id + k] = value));
    field.upload(values);
    fields.push(field);
  }
  const written = await writeImage(path, fields, { spacing: mesh.axes.map(cellSize) });
  grid.free();
  return written;
}
