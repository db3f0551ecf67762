import { IsoformError } from "isoform";
import { sobol, SOBOL_DIRECTIONS } from "isoform/patterns";
import { dimension, isPresent, type Mesh } from "../mesh/mesh.js";

/** A distribution of your own, in place of beams. */
export interface Distribution {
  /** Density in phase space at a place and a velocity, on any scale: a number from 0 on. Both have as many components as the problem. */
  readonly density: (x: readonly number[], v: readonly number[]) => number;
  /** The velocities between which there are particles, a pair for each component. */
  readonly velocities: readonly (readonly [from: number, to: number])[];
}

/** Points that the marginal distributions of the velocities are found from, and their cells. */
const POINTS = 1 << 15;
const BINS = 128;
/** Share of the particles that are spread evenly, so that some lie wherever the distribution is above 0. */
const EVEN = 0.02;

/** Draws velocities of one component as often as the distribution has them. */
interface Marginal {
  /** At 0 to 1: the velocity that such a share of the particles is below, and how densely they lie there. */
  at(share: number): { readonly v: number; readonly density: number };
}

/**
 * Particles of a distribution, made on the host from Sobol's points: places spread evenly, each component of the velocity drawn from its marginal
 * distribution, and as weight what is left of the density, which is 1 where the distribution is a product. Throws IsoformError for densities that are not numbers from 0 on.
 */
export class Draws {
  private readonly marginals: readonly Marginal[];
  private readonly lengths: readonly number[];

  constructor(
    private readonly distribution: Distribution,
    mesh: Mesh,
    private readonly species: string,
  ) {
    const { velocities } = distribution;
    if (
      velocities.length !== mesh.velocities ||
      !velocities.every(([from, to]) => Number.isFinite(from) && Number.isFinite(to) && from < to)
    )
      throw new IsoformError(
        `pic: the distribution of species "${species}" has velocities ${JSON.stringify(velocities)}; ` +
          `this problem needs ${mesh.velocities === 1 ? "one pair" : `${mesh.velocities} pairs`} [from, to], from below to`,
      );
    this.lengths = mesh.axes.filter(isPresent).map(({ length }) => length);
    this.marginals = this.findMarginals(dimension(mesh));
  }

  /** Particle `n`, 0 to 2^32 - 2: places, velocities, and its weight, to be scaled so that all add up to the whole. */
  particle(n: number): { readonly x: readonly number[]; readonly v: readonly number[]; readonly weight: number } {
    const x = this.lengths.map((length, k) => length * sobol(SOBOL_DIRECTIONS, n + 1, k));
    const drawn = this.marginals.map((marginal, k) => marginal.at(sobol(SOBOL_DIRECTIONS, n + 1, x.length + k)));
    const v = drawn.map((each) => each.v);
    return { x, v, weight: drawn.reduce((weight, { density }) => weight / density, this.densityAt(x, v)) };
  }

  private densityAt(x: readonly number[], v: readonly number[]): number {
    const density = this.distribution.density(x, v);
    if (!(density >= 0 && density < Infinity))
      throw new IsoformError(
        `pic: the distribution of species "${this.species}" is ${density} at x = [${x.join(", ")}], v = [${v.join(", ")}]: it has to be a number from 0 on`,
      );
    return density;
  }

  private findMarginals(space: number): Marginal[] {
    const { velocities } = this.distribution;
    const sums = velocities.map(() => new Float64Array(BINS));
    for (let n = 1; n <= POINTS; n++) {
      const x = this.lengths.map((length, k) => length * sobol(SOBOL_DIRECTIONS, n, k));
      const shares = velocities.map((_, k) => sobol(SOBOL_DIRECTIONS, n, space + k));
      const density = this.densityAt(
        x,
        shares.map((share, k) => velocities[k][0] + share * (velocities[k][1] - velocities[k][0])),
      );
      shares.forEach((share, k) => (sums[k][Math.floor(share * BINS)] += density));
    }
    const total = sums[0].reduce((a, b) => a + b);
    if (total === 0)
      throw new IsoformError(`pic: the distribution of species "${this.species}" is 0 everywhere between the velocities that it gives`);
    return sums.map((bins, k) =>
      marginalOf(
        Array.from(bins, (sum) => (1 - EVEN) * (sum / total) + EVEN / BINS),
        velocities[k],
      ),
    );
  }
}

/** Marginal distribution from the share of particles in each of some equal parts of a range. */
function marginalOf(shares: readonly number[], [from, to]: readonly [number, number]): Marginal {
  const width = (to - from) / shares.length;
  let sum = 0;
  const below = [0, ...shares.map((share) => (sum += share))];
  return {
    at: (share) => {
      const wanted = share * sum;
      let [low, high] = [0, shares.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (below[middle] <= wanted) low = middle;
        else high = middle - 1;
      }
      return { v: from + width * (low + (wanted - below[low]) / shares[low]), density: shares[low] / width };
    },
  };
}
