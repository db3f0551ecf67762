import { writeOpenPmd, writeXdmf } from "isoform/io";
import { innerPoints } from "../equations/axes.js";
import { facesOf } from "../measures/faces.js";
import type { Flow } from "../simulation/simulation.js";
import type { Means } from "../measures/statistics.js";
import type { NamedColumns } from "./text-table.js";

/** Columns of places, then of means: y, or x and y, x fastest. */
export function columnsOf({ axes, extents, columns }: Means, flow: Flow): NamedColumns {
  const places = axes.map((axis) => innerPoints(flow.axes["xyz".indexOf(axis)]));
  const [inner] = extents;
  const count = extents.reduce((product, n) => product * n, 1);
  const coordinates = axes.map((axis, n) => {
    const at = (row: number): number => places[n][n === 0 ? row % inner : Math.floor(row / inner)];
    return [axis, Float64Array.from({ length: count }, (_, row) => at(row))] as const;
  });
  return new Map([...coordinates, ...columns]);
}

/** Writes means as meshes in the plane of x and y, as HDF5 with XDMF beside it; those along y alone are one cell wide. Throws IsoformError without the package h5wasm. */
export async function writeMeans(
  path: string,
  { axes, extents, columns }: Means,
  flow: Flow,
  when: { step: number; time: number },
): Promise<void> {
  const [x, y] = facesOf(flow.axes);
  const isProfile = axes.length === 1;
  const plane = isProfile ? [1, extents[0]] : extents;
  const geometry = { faces: [isProfile ? [x[0], x.at(-1)!] : x, y] };
  const meshes = Object.fromEntries([...columns].map(([name, values]) => [name, { extents: plane, geometry, values }]));
  await writeOpenPmd(path, { ...when, meshes });
  await writeXdmf(path);
}
