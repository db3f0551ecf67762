import { indicesOf, pieceAt } from "./splines.js";

/* Helpers for kernels: the way of a particle along axis a, from cell to cell. */

interface Scalars3 {
  readonly [a: number]: { readonly [b: number]: { readonly [c: number]: number } };
  readonly length: number;
}

/** From the place `from` in `cell` to the place `to` in the cell `last`, 0 .. 1 in units of the cell size h; `shift` is the whole way. */
interface Way {
  readonly cell: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
  readonly h: number;
  readonly shift: number;
}

/** Splines of degree p and p - 1 across the path, and their coefficients, as `splinesAt` makes them. */
interface Across {
  readonly s: Float64Array;
  readonly t: Float64Array;
  readonly index: Int32Array;
}

interface Fields {
  readonly fieldB: Scalars3;
  readonly fieldC: Scalars3;
  readonly turnsB: boolean;
  readonly turnsC: boolean;
  /** Takes the current of a charge. */
  readonly j: { add(a: number, b: number, c: number, value: number): void };
  readonly charge: number;
}

/**
 * Adds the current of a path to j and returns the integrals of B_c and B_b along it. The path is cut where it crosses cells. Inside a cell the
 * integral of each of the p splines of degree p - 1 is a difference of its primitive, so all loops but that over cells have constant
 * bounds. An axis that is absent has primitives without powers. `path` and `index` are room for p values.
 */
export function followPath(
  { cell, last, from, to, h, shift }: Way,
  primitives: Parameters<typeof pieceAt>[0],
  b: Across,
  c: Across,
  { fieldB, fieldC, turnsB, turnsC, j, charge }: Fields,
  path: Float64Array,
  index: Int32Array,
): [alongC: number, alongB: number] {
  const towards = last < cell ? -1 : 1;
  let here = cell;
  let start = from;
  let alongC = 0;
  let alongB = 0;
  let onward = true;
  while (onward) {
    onward = here !== last;
    const end = onward ? (towards > 0 ? 1 : 0) : to;
    for (let n = 0; n < path.length; n++)
      path[n] = primitives[0].length > 1 ? h * (pieceAt(primitives, n, end) - pieceAt(primitives, n, start)) : shift;
    indicesOf(here, fieldB.length, index);
    for (let m = 0; m < c.s.length; m++) {
      let sumC = 0;
      let sumB = 0;
      for (let l = 0; l < b.s.length; l++) {
        const s = b.s[l] * c.s[m] * charge;
        let f = 0;
        let g = 0;
        for (let n = 0; n < path.length; n++) {
          j.add(index[n], b.index[l], c.index[m], path[n] * s);
          if (turnsB && l >= b.s.length - b.t.length) f += fieldC[index[n]][b.index[l]][c.index[m]] * path[n];
          if (turnsC && m >= c.s.length - c.t.length) g += fieldB[index[n]][b.index[l]][c.index[m]] * path[n];
        }
        if (turnsB && l >= b.s.length - b.t.length) sumC += f * b.t[l - (b.s.length - b.t.length)];
        if (turnsC) sumB += g * b.s[l];
      }
      if (turnsB) alongC += sumC * c.s[m];
      if (turnsC && m >= c.s.length - c.t.length) alongB += sumB * c.t[m - (c.s.length - c.t.length)];
    }
    here += towards;
    start = towards > 0 ? 0 : 1;
  }
  return [alongC, alongB];
}
