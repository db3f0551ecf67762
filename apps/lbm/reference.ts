import { MOVING_WALL, WALL } from "./kinds.js";
import type { Rates, Subgrid } from "./step-kernels.js";
import type { Flow, Settings } from "./simulation.js";

/** A flow with its populations, wherever they are. */
interface Stepped {
  readonly flow: Flow;
  readonly settings: Pick<Settings, "wall">;
  readonly populations: { readonly f: { get(cell: readonly number[], q: number): Promise<number> | number } };
}

/**
 * Computes one step of some cells of fluid in plain JavaScript, from their state: the textbook's form with whole
 * populations. Returns their deviations from the weights.
 */
export async function stepCells(
  { flow, populations, settings }: Stepped,
  cells: readonly (readonly number[])[],
  rates: Rates,
  subgrid?: Subgrid,
): Promise<number[][]> {
  const { directions, weights, dimension, extents, active, kind, velocity } = { ...flow.lattice, ...flow };
  const inDomain = ([x, y, z = 0]: readonly number[]): boolean =>
    [x, y, z].every((at, axis) => at >= 0 && at < (extents[axis] ?? 1)) && (active?.(x, y, z) ?? true);
  const opposite = (q: number): number => directions.findIndex((e) => e.every((d, axis) => d === 0 - directions[q][axis]));
  const whole = async (cell: readonly number[], q: number): Promise<number> => weights[q] + (await populations.f.get(cell, q));
  const dot = (e: readonly number[], u: readonly number[]): number => e.reduce((sum, d, axis) => sum + d * (u[axis] ?? 0), 0);

  const arriving = async (cell: readonly number[], q: number): Promise<number> => {
    const from = cell.map((at, axis) => at - directions[q][axis]);
    const [x, y, z = 0] = from;
    const found = inDomain(from) ? kind(x, y, z) : WALL;
    if (found < WALL) return whole(from, q);
    const moving = found === MOVING_WALL;
    const away = cell.map((at, axis) => at + directions[q][axis]);
    if (settings.wall === "interpolated" && !moving && inDomain(away) && kind(away[0], away[1], away[2] ?? 0) < WALL) {
      // Bouzidi, Firdaouss and Lallemand (2001), eq. (5).
      const share =
        flow.wallAt!(
          cell,
          directions[q].map((d) => 0 - d),
        ) ?? 0.5;
      const sent = await whole(cell, opposite(q));
      return share < 0.5
        ? 2 * share * sent + (1 - 2 * share) * (await whole(away, opposite(q)))
        : sent / (2 * share) + ((2 * share - 1) / (2 * share)) * (await whole(cell, q));
    }
    return (await whole(cell, opposite(q))) + (moving ? 6 * weights[q] * dot(directions[q], velocity(x, y, z)) : 0);
  };

  /** Rates where the stress of the populations' excess over the equilibrium adds the viscosity of eddies. */
  const withEddies = (excess: readonly number[], density: number): Rates => {
    let squares = 0;
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) squares += excess.reduce((sum, value, q) => sum + directions[q][a] * directions[q][b] * value, 0) ** 2;
    const { share, magic } = subgrid!;
    const time = (1 / rates[0] + Math.sqrt(rates[0] ** -2 + (share * Math.sqrt(squares)) / density)) / 2;
    return [1 / time, magic === 0 ? 1 / time : 1 / (magic / (time - 0.5) + 0.5)];
  };

  return Promise.all(
    cells.map(async (cell) => {
      const f = await Promise.all(weights.map((_, q) => arriving(cell, q)));
      const density = f.reduce((a, b) => a + b, 0);
      const u = [0, 1, 2].slice(0, dimension).map((axis) => f.reduce((sum, value, q) => sum + directions[q][axis] * value, 0) / density);
      const equilibrium = (q: number): number => {
        const along = dot(directions[q], u);
        return weights[q] * density * (1 + 3 * along + 4.5 * along ** 2 - 1.5 * dot(u, u));
      };
      const [even, odd] = subgrid
        ? withEddies(
            f.map((value, q) => value - equilibrium(q)),
            density,
          )
        : rates;
      return weights.map((weight, q) => {
        const excess = f[q] - equilibrium(q);
        const opposed = f[opposite(q)] - equilibrium(opposite(q));
        return f[q] - (even * (excess + opposed)) / 2 - (odd * (excess - opposed)) / 2 - weight;
      });
    }),
  );
}
