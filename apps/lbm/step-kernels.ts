import { table } from "isoform";
import type { Container } from "isoform/grid";
import { returned } from "./curved-walls.js";
import {
  dot,
  hasLink,
  moments,
  take,
  type Macroscopic,
  type RealField,
  type Stencil,
  type Values,
  type Vector,
  type Vectors,
} from "./stencil.js";

/** Rates of relaxation of the even and the odd parts of populations (Ginzburg's two relaxation times); equal ones are BGK. */
export type Rates = readonly [even: number, odd: number];

/** Smagorinsky's model of the eddies that no cell sees: `share` is 18 sqrt(2) C^2, `magic` TRT's product of relaxation times less a half, 0 for BGK. */
export interface Subgrid {
  readonly share: number;
  readonly magic: number;
}

/** Relaxes populations of a density and velocity towards their equilibrium. */
function relax(own: Values, u: Values, density: number, e: Vectors, w: Vector, evenRate: number, oddRate: number): void {
  const square = 1.5 * dot(u, u);
  own[0] -= evenRate * (own[0] - w[0] * (density - (1 + density) * square));
  for (let q = 1; q < own.length; q += 2) {
    const along = dot(e[q], u);
    const even = evenRate * (0.5 * (own[q] + own[q + 1]) - w[q] * (density + (1 + density) * (4.5 * along * along - square)));
    const odd = oddRate * (0.5 * (own[q] - own[q + 1]) - w[q] * (1 + density) * 3 * along);
    own[q] -= even + odd;
    own[q + 1] -= even - odd;
  }
}

/** Relaxes populations towards their equilibrium. `u` is zero, and becomes the velocity. */
function collideAtRates(own: Values, u: Values, e: Vectors, w: Vector, rate: Vector): void {
  const density = moments(own, u, e);
  relax(own, u, density, e, w, rate[0], rate[1]);
}

/**
 * The same at a viscosity that grows with the rate of strain, which the cell's own populations tell: Hou, Sterling, Chen and Doolen, Fields Inst. Commun. 6
 * (1996). The time that relaxes the stress is the root of tau^2 - tau0 tau = share |stress| / 4 density. After the rates comes `Subgrid`.
 */
function collideWithEddies(own: Values, u: Values, e: Vectors, w: Vector, rate: Vector): void {
  const density = moments(own, u, e);
  const square = 1.5 * dot(u, u);
  let [xx, yy, zz, xy, xz, yz] = [0, 0, 0, 0, 0, 0];
  for (let q = 1; q < own.length; q += 2) {
    const along = dot(e[q], u);
    const excess = own[q] + own[q + 1] - 2 * w[q] * (density + (1 + density) * (4.5 * along * along - square));
    xx += e[q][0] * e[q][0] * excess;
    yy += e[q][1] * e[q][1] * excess;
    zz += e[q][2] * e[q][2] * excess;
    xy += e[q][0] * e[q][1] * excess;
    xz += e[q][0] * e[q][2] * excess;
    yz += e[q][1] * e[q][2] * excess;
  }
  const stress = Math.sqrt(xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz));
  const least = 1 / rate[0];
  const time = 0.5 * (least + Math.sqrt(least * least + (rate[2] * stress) / (1 + density)));
  relax(own, u, density, e, w, 1 / time, rate[3] > 0 ? 1 / (rate[3] / (time - 0.5) + 0.5) : 1 / time);
}

/** Containers of time steps. */
export function stepKernels({ grid, type, populations, Real, e, w, opposite, origin }: Stencil, subgrid?: Subgrid) {
  const collide = subgrid ? collideWithEddies : collideAtRates;
  const tableOf = (rates: Rates) => table(type, subgrid ? [...rates, subgrid.share, subgrid.magic] : rates);
  return {
    /** Streams from `f` and collides into `g`: both hold populations after the collision. */
    step(rates: Rates): Container {
      const rate = tableOf(rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, relax, moments, dot, hasLink];
      return grid.container(
        "stream and collide",
        { ...populations },
        ({ f, g, links }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[q])[q];
          const found = links[c];
          if (found !== 0) for (let q = 1; q < w.length; q++) if (hasLink(found, q)) own[q] += f[c][opposite[q]];
          collide(own, new Real(3), e, w, rate);
          if (hasLink(found, 0)) for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          for (let q = 0; q < w.length; q++) g[c][q] = own[q];
        },
        listed,
      );
    },

    /** The same step with walls at rest where `shares` has them: component q on the way against direction q; 0.5 is half-way. */
    interpolatedStep(rates: Rates, shares: RealField): Container {
      const rate = tableOf(rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, relax, moments, dot, hasLink, returned];
      return grid.container(
        "stream and collide between curved walls",
        { ...populations, shares },
        ({ f, g, links, shares }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[q])[q];
          const found = links[c];
          if (found !== 0)
            for (let q = 1; q < w.length; q++)
              if (hasLink(found, q))
                own[q] += returned(shares[c][q], f[c][opposite[q]], origin(f, c, e[opposite[q]])[opposite[q]], f[c][q]);
          collide(own, new Real(3), e, w, rate);
          if (hasLink(found, 0)) for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          for (let q = 0; q < w.length; q++) g[c][q] = own[q];
        },
        listed,
      );
    },

    /**
     * The two steps of the AA pattern (Bailey, Myre, Walsh, Lilja and Saar, ICPP 2009), which need no second population. The first finds
     * what has arrived in a cell and leaves the results there, each in the opposite's place; the second takes what arrives from there, and
     * puts its results where they are to arrive. What meets a wall stays in the wall's cell, or in its own, until it has come back: one step
     * later than with two populations.
     */
    inPlace(rates: Rates, { velocity }: Macroscopic): readonly [even: Container, odd: Container] {
      const rate = tableOf(rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, relax, moments, take, dot, hasLink];
      const even = grid.container(
        "collide in place",
        { ...populations, velocity },
        ({ f, links, velocity }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = f[c][q];
          collide(own, new Real(3), e, w, rate);
          const found = links[c];
          if (hasLink(found, 0)) {
            const u = new Real(3);
            if (found !== 1) take(velocity, c, u);
            for (let q = 0; q < w.length; q++) own[q] = f[c][opposite[q]] + (hasLink(found, q) ? 6 * w[q] * dot(e[q], u) : 0);
          }
          for (let q = 0; q < w.length; q++) f[c][opposite[q]] = own[q];
        },
        listed,
      );
      const odd = grid.container(
        "stream, collide and stream",
        { ...populations, velocity },
        ({ f, links, velocity }, c) => {
          const own = new Real(w.length);
          for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[q])[opposite[q]];
          collide(own, new Real(3), e, w, rate);
          const found = links[c];
          if (hasLink(found, 0)) {
            const u = new Real(3);
            if (found !== 1) take(velocity, c, u);
            for (let q = 0; q < w.length; q++) own[q] = origin(f, c, e[opposite[q]])[q] + (hasLink(found, q) ? 6 * w[q] * dot(e[q], u) : 0);
          }
          for (let q = 0; q < w.length; q++) origin(f, c, e[opposite[q]])[q] = own[q];
        },
        listed,
      );
      return [even, odd];
    },
  };
}
