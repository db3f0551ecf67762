import { f64, sum } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { noise } from "../domain/sets.js";

const EXTENTS = [9, 5, 16] as const;

/** Fields, scalars and the steps of conjugate gradients for the Laplacian, started at 0. */
export function poisson(set: DeviceSet, extents: readonly [number, number, number] = EXTENTS) {
  const grid = dense(set, extents);
  const [x, r, p, s] = ["x", "r", "p", "s"].map((name) => grid.field(name, f64));
  const [rr, ps, old] = ["rr", "ps", "old"].map((name) => grid.scalar(name, f64));
  const laplace = grid.container("laplace", { p, s }, ({ p, s }, c) => {
    s[c] = 6 * p[c] - p.at(c, 1, 0, 0) - p.at(c, -1, 0, 0) - p.at(c, 0, 1, 0) - p.at(c, 0, -1, 0) - p.at(c, 0, 0, 1) - p.at(c, 0, 0, -1);
  });
  const dot = grid.container("dot", { p, s, ps: sum(ps) }, ({ p, s, ps }, c) => ps.add(p[c] * s[c]));
  const update = grid.container("update", { rr, ps, p, s, x, r }, ({ rr, ps, p, s, x, r }, c) => {
    x[c] += (rr / ps) * p[c];
    r[c] -= (rr / ps) * s[c];
  });
  const keep = grid.container("keep", { rr, old: sum(old), first: r }, ({ rr, old }, c) => old.add(c.x + c.y + c.z === 0 ? rr : 0));
  const residual = grid.container("residual", { r, rr: sum(rr) }, ({ r, rr }, c) => rr.add(r[c] * r[c]));
  const direction = grid.container("direction", { rr, old, r, p }, ({ rr, old, r, p }, c) => {
    p[c] = r[c] + (rr / old) * p[c];
  });
  const start = async (): Promise<void> => {
    x.fill(0);
    r.fill((i, j, k) => noise(i, j, k));
    p.fill((i, j, k) => noise(i, j, k));
    await grid.run(residual, { precision: "strict" });
  };
  return { grid, x, r, p, s, rr, ps, start, steps: [laplace, dot, update, keep, residual, direction] };
}
