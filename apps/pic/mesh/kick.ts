import type { splinesAt } from "./splines.js";

/* Helpers for kernels: what the electric field does to a particle. */

interface Scalars3 {
  readonly [a: number]: { readonly [b: number]: { readonly [c: number]: number; readonly length: number }; readonly length: number };
  readonly length: number;
}
type Pieces = Parameters<typeof splinesAt>[3];
type Column = Record<number, number>;

/** Parameters of the kernels, as `kickParams` declares them. */
interface Kick {
  readonly ha: number;
  readonly hb: number;
  readonly hc: number;
  readonly xa: Column;
  readonly xb: Column;
  readonly xc: Column;
  readonly upperA: Pieces;
  readonly lowerA: Pieces;
  readonly upperB: Pieces;
  readonly lowerB: Pieces;
  readonly upperC: Pieces;
  readonly lowerC: Pieces;
  readonly splinesAt: typeof splinesAt;
  readonly factor: number;
  readonly e1: Scalars3;
  readonly e2: Scalars3;
  readonly e3: Scalars3;
  readonly v1: Column;
  readonly v2: Column;
  readonly v3: Column;
  readonly velocities: number;
}

/** The particles' part of the flow H_E for particle i, wherever it is. */
export function kickParticle(p: Kick, i: number): void {
  const { e1, e2, e3, velocities } = p;
  const sa = new Float64Array(p.upperA.length);
  const ta = new Float64Array(p.lowerA.length);
  const ia = new Int32Array(p.upperA.length);
  const sb = new Float64Array(p.upperB.length);
  const tb = new Float64Array(p.lowerB.length);
  const ib = new Int32Array(p.upperB.length);
  const sc = new Float64Array(p.upperC.length);
  const tc = new Float64Array(p.lowerC.length);
  const ic = new Int32Array(p.upperC.length);
  p.splinesAt(sa.length > 1 ? p.xa[i] : 0, p.ha, e1.length, p.upperA, p.lowerA, sa, ta, ia);
  p.splinesAt(sb.length > 1 ? p.xb[i] : 0, p.hb, e1[0].length, p.upperB, p.lowerB, sb, tb, ib);
  p.splinesAt(sc.length > 1 ? p.xc[i] : 0, p.hc, e1[0][0].length, p.upperC, p.lowerC, sc, tc, ic);
  let k1 = 0;
  let k2 = 0;
  let k3 = 0;
  for (let m = 0; m < sc.length; m++)
    for (let l = 0; l < sb.length; l++) {
      let f1 = 0;
      let f2 = 0;
      let f3 = 0;
      for (let n = 0; n < sa.length; n++) {
        if (n >= sa.length - ta.length) f1 += e1[ia[n]][ib[l]][ic[m]] * ta[n - (sa.length - ta.length)];
        if (velocities > 1 && l >= sb.length - tb.length) f2 += e2[ia[n]][ib[l]][ic[m]] * sa[n];
        if (velocities > 2 && m >= sc.length - tc.length) f3 += e3[ia[n]][ib[l]][ic[m]] * sa[n];
      }
      k1 += f1 * (sb[l] * sc[m]);
      if (velocities > 1 && l >= sb.length - tb.length) k2 += f2 * (tb[l - (sb.length - tb.length)] * sc[m]);
      if (velocities > 2 && m >= sc.length - tc.length) k3 += f3 * (sb[l] * tc[m - (sc.length - tc.length)]);
    }
  p.v1[i] += p.factor * k1;
  if (velocities > 1) p.v2[i] += p.factor * k2;
  if (velocities > 2) p.v3[i] += p.factor * k3;
}

/**
 * The same for a particle of a mesh of three axes whose splines are known, with `factor` dt q / m or 0. Coefficient n + (p + 1) (l + (p + 1) m) of
 * those near its cell is `near1`, `near2`, `near3` of it; the first ones of an axis on which splines are of degree p - 1 are not used.
 */
export function kickInCell(
  p: Kick,
  i: number,
  factor: number,
  sa: Float64Array,
  ta: Float64Array,
  sb: Float64Array,
  tb: Float64Array,
  sc: Float64Array,
  tc: Float64Array,
  near1: Column,
  near2: Column,
  near3: Column,
): void {
  let k1 = 0;
  let k2 = 0;
  let k3 = 0;
  for (let m = 0; m < sc.length; m++)
    for (let l = 0; l < sb.length; l++) {
      let f1 = 0;
      let f2 = 0;
      let f3 = 0;
      for (let n = 0; n < sa.length; n++) {
        const k = n + sa.length * (l + sb.length * m);
        if (n > 0) f1 += near1[k] * ta[n - 1];
        if (l > 0) f2 += near2[k] * sa[n];
        if (m > 0) f3 += near3[k] * sa[n];
      }
      k1 += f1 * (sb[l] * sc[m]);
      if (l > 0) k2 += f2 * (tb[l - 1] * sc[m]);
      if (m > 0) k3 += f3 * (sb[l] * tc[m - 1]);
    }
  p.v1[i] += factor * k1;
  p.v2[i] += factor * k2;
  p.v3[i] += factor * k3;
}
