import { helper } from "isoform";
import { indicesOf, pieceAt, splinesAt } from "./splines.js";

/* Helpers for kernels: the motion of a particle along axis a, from cell to cell. */

interface Scalars3 {
  readonly [a: number]: { readonly [b: number]: { readonly [c: number]: number; readonly length: number }; readonly length: number };
  readonly length: number;
}
type Pieces = Parameters<typeof pieceAt>[0];
type Column = Record<number, number>;

/** Parameters of the kernels of the motion, as `motionParams` declares them. */
interface Motion {
  readonly dt: number;
  readonly charge: number;
  readonly ratio: number;
  readonly ha: number;
  readonly hb: number;
  readonly hc: number;
  readonly length: number;
  readonly xa: Column;
  readonly xb: Column;
  readonly xc: Column;
  readonly va: Column;
  readonly vb: Column;
  readonly vc: Column;
  readonly w: Column;
  readonly fieldB: Scalars3;
  readonly fieldC: Scalars3;
  readonly turnsB: boolean;
  readonly turnsC: boolean;
  readonly j: { add(a: number, b: number, c: number, value: number): void };
  readonly primitives: Pieces;
  readonly upperB: Pieces;
  readonly lowerB: Pieces;
  readonly upperC: Pieces;
  readonly lowerC: Pieces;
}

/**
 * The turn of the velocity of a particle that stays in its cell, and its currents: entry k = n + p (l + (p + 1) m) of the splines n, l, m that are not
 * zero there is added to `sums[lane + lanes * k]`. Coefficients of B near the cell are `nearB[from + k]`, `nearC[from + k]`.
 */
export function turnInCell(
  p: Motion,
  i: number,
  weight: number,
  path: Float64Array,
  sb: Float64Array,
  tb: Float64Array,
  sc: Float64Array,
  tc: Float64Array,
  nearB: Column,
  nearC: Column,
  from: number,
  sums: Column,
  lane: number,
  lanes: number,
): void {
  let turnB = 0;
  let turnC = 0;
  for (let m = 0; m < sc.length; m++) {
    let sumB = 0;
    let sumC = 0;
    for (let l = 0; l < sb.length; l++) {
      const s = sb[l] * sc[m] * weight;
      let f = 0;
      let g = 0;
      for (let n = 0; n < path.length; n++) {
        const k = n + path.length * (l + sb.length * m);
        sums[lane + lanes * k] += path[n] * s;
        if (l > 0) f += nearC[from + k] * path[n];
        if (m > 0) g += nearB[from + k] * path[n];
      }
      if (l > 0) sumB += f * tb[l - 1];
      sumC += g * sb[l];
    }
    turnB += sumB * sc[m];
    if (m > 0) turnC += sumC * tc[m - 1];
  }
  p.vb[i] -= p.ratio * turnB;
  p.vc[i] += p.ratio * turnC;
}

/** The flow H_p along axis a of particle i, wherever it is and however far it goes. Most particles stay in their cell. */
export function pushParticle(p: Motion, i: number): void {
  const { fieldB, fieldC, turnsB, turnsC, primitives } = p;
  const sb = new Float64Array(p.upperB.length);
  const tb = new Float64Array(p.lowerB.length);
  const ib = new Int32Array(p.upperB.length);
  const sc = new Float64Array(p.upperC.length);
  const tc = new Float64Array(p.lowerC.length);
  const ic = new Int32Array(p.upperC.length);
  splinesAt(sb.length > 1 ? p.xb[i] : 0, p.hb, fieldB[0].length, p.upperB, p.lowerB, sb, tb, ib);
  splinesAt(sc.length > 1 ? p.xc[i] : 0, p.hc, fieldB[0][0].length, p.upperC, p.lowerC, sc, tc, ic);
  const moves = primitives[0].length > 1;
  const weight = p.charge * p.w[i];
  const shift = p.dt * p.va[i];
  const before = moves ? p.xa[i] : 0;
  const after = before + shift;
  const first = before / p.ha;
  const end = after / p.ha;
  let cell = moves ? Math.floor(first) | 0 : 0;
  // Limits paths: a run that blows up ends as nonsense, but soon, as nobody waits for a path of more than a million cells.
  const last = moves && Math.abs(end - first) < 1e6 ? Math.floor(end) | 0 : cell;
  const towards = last < cell ? -1 : 1;
  let from = first - cell;
  let turnB = 0;
  let turnC = 0;
  const path = new Float64Array(primitives.length);
  const ia = new Int32Array(primitives.length);
  let onward = true;
  while (onward) {
    onward = cell !== last;
    const to = onward ? (towards > 0 ? 1 : 0) : end - last;
    for (let n = 0; n < path.length; n++) path[n] = moves ? p.ha * (pieceAt(primitives, n, to) - pieceAt(primitives, n, from)) : shift;
    indicesOf(cell, fieldB.length, ia);
    for (let m = 0; m < sc.length; m++) {
      let sumB = 0;
      let sumC = 0;
      for (let l = 0; l < sb.length; l++) {
        const s = sb[l] * sc[m] * weight;
        let f = 0;
        let g = 0;
        for (let n = 0; n < path.length; n++) {
          p.j.add(ia[n], ib[l], ic[m], path[n] * s);
          if (turnsB && l >= sb.length - tb.length) f += fieldC[ia[n]][ib[l]][ic[m]] * path[n];
          if (turnsC && m >= sc.length - tc.length) g += fieldB[ia[n]][ib[l]][ic[m]] * path[n];
        }
        if (turnsB && l >= sb.length - tb.length) sumB += f * tb[l - (sb.length - tb.length)];
        if (turnsC) sumC += g * sb[l];
      }
      if (turnsB) turnB += sumB * sc[m];
      if (turnsC && m >= sc.length - tc.length) turnC += sumC * tc[m - (sc.length - tc.length)];
    }
    cell += towards;
    from = towards > 0 ? 0 : 1;
  }
  if (turnsB) p.vb[i] -= p.ratio * turnB;
  if (turnsC) p.vc[i] += p.ratio * turnC;
  if (moves) {
    const inside = after - p.length * Math.floor(after / p.length);
    p.xa[i] = inside < p.length ? inside : 0;
  }
}
helper(pushParticle, () => [splinesAt, pieceAt, indicesOf]);
