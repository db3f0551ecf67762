// Heat in a body that is given as a mesh of triangles: cells whose centres are inside are active, and the grid stores only these.
// With a second argument, `torus.svg`, it draws the middle plane.
import { f64, sum } from "isoform";
import { show } from "isoform/draw";
import { meshActivity, sparse } from "isoform/grid";
import { parseObj } from "isoform/io";
import { devices } from "isoform/set";
import { skeleton, swap } from "isoform/skeleton";
import { writeFileSync } from "node:fs";

/** The text of an OBJ file, as any modelling program writes it: a torus of radius 3 whose tube has radius 1. */
function torus(around: number, across: number): string {
  const [corners, faces]: [string[], string[]] = [[], []];
  for (let i = 0; i < around; i++)
    for (let j = 0; j < across; j++) {
      const [u, v] = [(2 * Math.PI * i) / around, (2 * Math.PI * j) / across];
      corners.push(`v ${(3 + Math.cos(v)) * Math.cos(u)} ${(3 + Math.cos(v)) * Math.sin(u)} ${Math.sin(v)}`);
      const at = (di: number, dj: number): number => ((i + di) % around) * across + ((j + dj) % across) + 1;
      faces.push(`f ${at(0, 0)} ${at(1, 0)} ${at(1, 1)} ${at(0, 1)}`);
    }
  return [...corners, ...faces].join("\n");
}

const [name = "wasm", picture] = process.argv.slice(2);
const extents = [64, 64, 18] as const;
const { active, spacing } = meshActivity(parseObj(torus(120, 40)), extents);
const set = await devices(name);
const grid = sparse(set, extents, active);
console.log(`${grid.cells} of ${active.length} cells`); // -> 27560 of 73728 cells
const volume = grid.cells * spacing ** 3;
console.log(`volume ${((volume / (6 * Math.PI ** 2)) * 100).toFixed(1)} % of the torus's`); // -> volume 100.0 % of the torus's

const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
const total = grid.scalar("total", f64);
u.fill((x) => (x < 8 ? 1 : 0.2));
// No heat leaves the body: the neighbour outside counts as the cell itself.
const conduct = grid.container("conduct", { u, next }, ({ u, next }, c) => {
  let flow = 0.0;
  for (let axis = 0; axis < 3; axis++)
    for (let d = -1; d <= 1; d += 2) {
      const [dx, dy, dz] = [axis === 0 ? d : 0, axis === 1 ? d : 0, axis === 2 ? d : 0];
      if (u.isActive(c, dx, dy, dz)) flow += u.at(c, dx, dy, dz) - u[c];
    }
  next[c] = u[c] + 0.15 * flow;
});
const measure = grid.container("measure", { u, total: sum(total) }, ({ u, total }, c) => total.add(u[c]));
await grid.run(measure);
const before = await total.get();
await skeleton(set, "heat", [conduct, swap(u, next)]).run(400);
await grid.run(measure);
console.log(`heat kept: ${Math.abs((await total.get()) / before - 1) < 1e-12}`); // -> heat kept: true
if (picture !== undefined) writeFileSync(picture, (await show(u, { title: "heat in a torus" })).svg());
