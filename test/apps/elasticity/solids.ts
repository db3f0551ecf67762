import type { Elasticity } from "../../../apps/elasticity/elasticity.js";
import type { Solid } from "../../../apps/elasticity/solid.js";
import { noise } from "../../domain/sets.js";

/** A ragged body with a hole, held and pulled here and there: elements are missing in many ways. */
export const RAGGED: Solid = {
  extents: [13, 9, 15],
  active: (x, y, z) => (x - 6) ** 2 / 40 + (y - 4) ** 2 / 20 + (z - 7) ** 2 / 60 < 1 && (x - 4) ** 2 + (z - 6) ** 2 > 3,
  material: { young: 2, poisson: 0.2 },
  edge: 0.5,
  fixed: (x, y, z) => (z < 3 ? 7 : x === 9 && y === 4 ? 2 : 0),
  displacement: (x, y, z, axis) => noise(x, y, z, axis) / 100,
  load: (x, y, z, axis) => (z > 10 && axis !== 1 ? 0.01 : 0),
};

/** All that a solution leaves. */
export async function resultOf({ fields }: Elasticity): Promise<number[]> {
  return [...(await fields.displacement.download()), ...(await fields.residual.download())];
}

/** Nodes that are active. */
export function nodesOf({ extents: [nx, ny, nz], active }: Solid): number[][] {
  const along = (n: number) => Array.from({ length: n }, (_, at) => at);
  return along(nz).flatMap((z) =>
    along(ny).flatMap((y) =>
      along(nx)
        .filter((x) => active?.(x, y, z) ?? true)
        .map((x) => [x, y, z]),
    ),
  );
}
