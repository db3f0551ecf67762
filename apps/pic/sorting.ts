import type { Device, Launch, Precision, View } from "isoform";
import { i32, teams } from "isoform";
import { LANES, pushGroupsKernel } from "./cell-groups.js";
import { MEMBERS, PARTS, pushCellsKernel } from "./cells.js";
import type { Mesh } from "./mesh.js";
import { cellSize, cyclic, dofs } from "./mesh.js";
import type { PushArguments } from "./particles.js";
import type { Particles } from "./species.js";

/** Particles that are sorted by cell. */
export interface Cells {
  /** Those of cell c = c_a + N_a (c_b + N_b c_c) are `start[c]` to `start[c + 1] - 1`. */
  readonly start: View<"i32", 1>;
  /** Room for a number a particle. */
  readonly later: View<"i32", 1>;
}

/** A launch that does what `pushKernel` does with those arguments, for particles that are sorted by cell. */
export function prepareSorted(
  device: Device,
  mesh: Mesh,
  direction: number,
  args: PushArguments,
  cells: Cells,
  precision: Precision,
): Launch {
  // On CPUs groups of particles fill vectors, on GPUs members of teams fill warps.
  if (device.memory.name === "cpu") {
    const { start } = cells;
    return device.prepare(pushGroupsKernel(mesh, direction), { ...args, start, lanes: LANES }, teams(dofs(mesh)), { precision });
  }
  const policy = teams(PARTS * dofs(mesh), { size: MEMBERS });
  return device.prepare(pushCellsKernel(mesh, direction), { ...args, ...cells, parts: PARTS, members: MEMBERS }, policy, { precision });
}

/** Sorts particles of a mesh of three axes by the cell that they are in, on the host. */
export async function sortByCell(device: Device, mesh: Mesh, particles: Particles, direction: number): Promise<Cells> {
  const { storage } = particles;
  const [count, width] = storage.shape;
  const values = await device.queue.read(storage);
  const axes = cyclic(direction);
  const cellOf = (i: number): number =>
    axes.reduceRight((cell, axis) => {
      const { cells } = mesh.axes[axis];
      return cells * cell + Math.floor(values[width * i + axis] / cellSize(mesh.axes[axis]));
    }, 0);
  const start = new Int32Array(dofs(mesh) + 1);
  const cellsOf = new Int32Array(count);
  for (let i = 0; i < count; i++) start[(cellsOf[i] = cellOf(i)) + 1]++;
  for (let c = 0; c + 1 < start.length; c++) start[c + 1] += start[c];
  const next = start.slice();
  const sorted = new Float64Array(values.length);
  for (let i = 0; i < count; i++) {
    const to = next[cellsOf[i]]++;
    for (let k = 0; k < width; k++) sorted[width * to + k] = values[width * i + k];
  }
  device.queue.write(storage, sorted);
  return { start: device.from(i32, start), later: device.array(i32, count) };
}
