import type { Field } from "isoform/grid";
import { CORNERS, elementStiffness, offsetOf } from "./hexahedron.js";
import type { Solid } from "./solid.js";

const NUMBERS = Array.from({ length: CORNERS }, (_, n) => n);
const AXES = [0, 1, 2];

/** The force on one node by the displacements around it, element by element, in plain JavaScript. */
export async function forceOn({ extents, active, material, edge }: Solid, displacement: Field, node: readonly number[]): Promise<number[]> {
  const stiffness = elementStiffness(material);
  const isActive = ([x, y, z]: readonly number[]): boolean =>
    [x, y, z].every((n, axis) => n >= 0 && n < extents[axis]) && (active?.(x, y, z) ?? true);
  const force = [0, 0, 0];
  for (const element of NUMBERS) {
    const corners = NUMBERS.map((corner) => AXES.map((axis) => node[axis] + offsetOf(element, corner, axis)));
    if (!corners.every(isActive)) continue;
    for (const [m, corner] of corners.entries())
      for (const b of AXES) {
        const value = await displacement.get(corner, b);
        for (const a of AXES) force[a] += edge * stiffness[3 * (7 - element) + a][3 * m + b] * value;
      }
  }
  return force;
}
