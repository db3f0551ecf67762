import type { Cell, ContainerOptions, FieldAccess, Grid } from "../../src/domain/index.js";
import { f64 } from "../../src/kernel/declare/params.js";
import { noise } from "./sets.js";

/* A container that computes the flux through each face for both cells beside it, and one that marches and computes it once. */

export const AXES = ["x", "y", "z"] as const;
export type Axis = (typeof AXES)[number];

/** A flux through the face `d` cells above the one below the cell. */
const fluxAt = {
  x: (u: FieldAccess<1, 3>, c: Cell<3>, d: number): number =>
    blend(u.at(c, d - 2, 0, 0), u.at(c, d - 1, 0, 0), u.at(c, d, 0, 0), u.at(c, d + 1, 0, 0)),
  y: (u: FieldAccess<1, 3>, c: Cell<3>, d: number): number =>
    blend(u.at(c, 0, d - 2, 0), u.at(c, 0, d - 1, 0), u.at(c, 0, d, 0), u.at(c, 1, d + 1, 0)),
  z: (u: FieldAccess<1, 3>, c: Cell<3>, d: number): number =>
    blend(u.at(c, 0, 0, d - 2), u.at(c, 0, 0, d - 1), u.at(c, 0, 0, d), u.at(c, 0, 0, d + 1)),
};

function blend(a: number, b: number, c: number, d: number): number {
  const [left, right] = [1 / (0.1 + (b - a) * (b - a) + 0.3 * (c - a) * (c - a)), 1 / (0.1 + (d - c) * (d - c) + 0.3 * (d - b) * (d - b))];
  const [w, v] = [left * left, right * right];
  return (
    (w * (1.5 * b - 0.5 * a) + v * (0.5 * b + 0.5 * c)) / (w + v) + 0.25 * Math.abs(c - b) * Math.max(a, b) + Math.sqrt(Math.abs(a * d))
  );
}

/** Differences of fluxes, of which each is computed once or twice, times metrics. */
export function fluxes(grid: Grid<3>, axis: Axis, options: ContainerOptions<3> = {}) {
  const flux = fluxAt[axis];
  const [u, plain, marched] = ["u", "plain", "marched"].map((name) => grid.field(name, f64));
  const m = grid.axis(axis, f64, (n) => 1 / (2 + Math.sin(n)));
  u.fill((x, y, z) => noise(x, y, z));
  const captures = () => [flux, blend];
  const twice = grid.container(
    "twice",
    { u, plain, m },
    ({ u, plain, m }, c) => {
      plain[c] = (flux(u, c, 1) - flux(u, c, 0)) * m[c] + 0.001 * (c.x + 3 * c.y + 7 * c.z);
    },
    captures,
    options.on ? { on: options.on } : undefined,
  );
  const once = grid.container(
    "once",
    { u, marched, m },
    ({ u, marched, m }, c) => {
      let below = flux(u, c, 0);
      c.march((cell) => {
        const above = flux(u, cell, 1);
        marched[cell] = (above - below) * m[cell] + 0.001 * (cell.x + 3 * cell.y + 7 * cell.z);
        below = above;
      });
    },
    captures,
    { ...options, march: axis },
  );
  return { u, plain, marched, twice, once };
}
