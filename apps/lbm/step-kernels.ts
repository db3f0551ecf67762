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

/** Relaxes populations towards their equilibrium. `u` is zero, and becomes the velocity. */
function collide(own: Values, u: Values, e: Vectors, w: Vector, rate: Vector): void {
  const density = moments(own, u, e);
  const square = 1.5 * dot(u, u);
  own[0] -= rate[0] * (own[0] - w[0] * (density - (1 + density) * square));
  for (let q = 1; q < own.length; q += 2) {
    const along = dot(e[q], u);
    const even = rate[0] * (0.5 * (own[q] + own[q + 1]) - w[q] * (density + (1 + density) * (4.5 * along * along - square)));
    const odd = rate[1] * (0.5 * (own[q] - own[q + 1]) - w[q] * (1 + density) * 3 * along);
    own[q] -= even + odd;
    own[q + 1] -= even - odd;
  }
}

/** Containers of time steps. */
export function stepKernels({ grid, type, populations, Real, e, w, opposite, origin }: Stencil) {
  return {
    /** Streams from `f` and collides into `g`: both hold populations after the collision. */
    step(rates: Rates): Container {
      const rate = table(type, rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, moments, dot, hasLink];
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
      const rate = table(type, rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, moments, dot, hasLink, returned];
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
      const rate = table(type, rates);
      const listed = () => [e, w, opposite, rate, Real, origin, collide, moments, take, dot, hasLink];
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
