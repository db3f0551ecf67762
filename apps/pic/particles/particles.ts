import type { Args } from "isoform";
import { f64, fixed, bool, i32, kernel, scatter, sum, table, view } from "isoform";
import { kickParticle } from "../mesh/kick.js";
import type { Axis, Mesh } from "../mesh/mesh.js";
import { cyclic, isPresent, axisSplinePieces } from "../mesh/mesh.js";
import { pushParticle } from "../mesh/motion.js";
import { indicesOf, pieceAt, primitivePieces, splinesAt, wrapped } from "../mesh/splines.js";

/*
 * The kernels over particles. Positions and velocities come as columns, one view a component. Grid scalars come as [a][b][c] in the cyclic
 * order of axes that a kernel works in; which axes these are is the launch's business. What a problem has not (positions along absent axes,
 * velocities that stay 0) is never read: any column may stand there.
 */

/* Functions that the bodies of kernels call. */
const helpers = { pieceAt, wrapped, indicesOf, splinesAt };

/** Makes a kernel once for each list of degrees (and direction), so that it is compiled once. */
export function remembered<K extends readonly unknown[], R>(make: (...key: K) => R, keyOf: (...key: K) => string): (...key: K) => R {
  const made = new Map<string, R>();
  return (...key) => {
    const name = keyOf(...key);
    if (!made.has(name)) made.set(name, make(...key));
    return made.get(name)!;
  };
}
export const degreesOf = ({ axes }: Mesh): string => axes.map(({ degree }) => degree).join();
export const motionOf = (mesh: Mesh, direction: number): string => `${degreesOf(mesh)} ${direction}`;

/** Tables of the splines of two axes. */
function tablesOf(b: Axis, c: Axis) {
  const [ofB, ofC] = [axisSplinePieces(b), axisSplinePieces(c)];
  return {
    upperB: table(f64, ofB.upper),
    lowerB: table(f64, ofB.lower),
    upperC: table(f64, ofC.upper),
    lowerC: table(f64, ofC.lower),
  };
}

/** Parameters of the kernels that move particles along an axis. `disjoint`: which particles one writes depends on data. */
export function motionParams({ axes }: Mesh, direction: number, disjoint = false) {
  const [a, b, c] = cyclic(direction).map((axis) => axes[axis]);
  return {
    dt: f64,
    /** q times what all weights have in common. */
    charge: f64,
    /** q / m */
    ratio: f64,
    ha: f64,
    hb: f64,
    hc: f64,
    length: f64,
    xa: view(f64, 1, { disjoint }),
    xb: view(f64),
    xc: view(f64),
    va: view(f64),
    vb: view(f64, 1, { disjoint }),
    vc: view(f64, 1, { disjoint }),
    w: view(f64),
    /** B_b, which turns v_c, and B_c, which turns v_b; each is read where `turnsC`, `turnsB` say so. */
    fieldB: view(f64, 3),
    fieldC: view(f64, 3),
    turnsB: fixed(bool),
    turnsC: fixed(bool),
    j: scatter(f64, 3),
    /** An absent axis has primitives without powers. */
    primitives: table(f64, isPresent(a) ? primitivePieces(a.degree - 1) : [[1]]),
    ...tablesOf(b, c),
    ...helpers,
    pushParticle,
  };
}

/** Arguments of a launch of `pushKernel`. */
export type PushArguments = Args<ReturnType<typeof motionParams>>;

/**
 * The flow H_p along axis a, equations (7) to (9) of Artigues et al. (2019) for a = 1: particles move along a, the magnetic field along the
 * path turns their velocities, and the charge that passes is added to the time-integrated current,
 *
 *     x_a += dt v_a ;  v_b -= q/m int B_c dx_a ;  v_c += q/m int B_b dx_a ;  j[g] += q w int Lambda^1_g dx_a .
 *
 * The path is cut where it crosses cells. Inside a cell the integral of each of the p splines of degree p - 1 is a difference of its
 * primitive, so all loops but that over cells have constant bounds.
 */
export const pushKernel = remembered(
  (mesh: Mesh, direction: number) =>
    kernel(`push${direction + 1}`, motionParams(mesh, direction), (p, i) => {
      p.pushParticle(p, i);
    }),
  motionOf,
);

/** Positions and grid of the kernels that work in all three axes. */
function inSpace({ axes }: Mesh) {
  const [upper, lower] = [axes.map((axis) => axisSplinePieces(axis).upper), axes.map((axis) => axisSplinePieces(axis).lower)];
  return {
    ha: f64,
    hb: f64,
    hc: f64,
    xa: view(f64),
    xb: view(f64),
    xc: view(f64),
    upperA: table(f64, upper[0]),
    lowerA: table(f64, lower[0]),
    upperB: table(f64, upper[1]),
    lowerB: table(f64, lower[1]),
    upperC: table(f64, upper[2]),
    lowerC: table(f64, lower[2]),
    ...helpers,
  };
}

/** Parameters of the kernels that speed particles up. `disjoint` as above. `e`: [k][a][b][c]. */
export const kickParams = (mesh: Mesh, disjoint = false) => ({
  ...inSpace(mesh),
  /** dt q / m */
  factor: f64,
  e1: view(f64, 3),
  e2: view(f64, 3),
  e3: view(f64, 3),
  v1: view(f64, 1, { disjoint }),
  v2: view(f64, 1, { disjoint }),
  v3: view(f64, 1, { disjoint }),
  velocities: fixed(i32),
  kickParticle,
});

/** Arguments of a launch of `kickKernel`. */
export type KickArguments = Args<ReturnType<typeof kickParams>>;

/** The particles' part of the flow H_E: v += dt q/m E(x), with E_k of degree p - 1 along k and p along the others. */
export const kickKernel = remembered(
  (mesh: Mesh) =>
    kernel("kick", kickParams(mesh), (p, i) => {
      p.kickParticle(p, i);
    }),
  degreesOf,
);

/** The charge density against the splines of V0: rho[g] += q w Lambda^0_g(x). */
export const depositKernel = remembered(makeDeposit, degreesOf);
function makeDeposit(mesh: Mesh) {
  return kernel(
    "deposit",
    { ...inSpace(mesh), charge: f64, w: view(f64), rho: scatter(f64, 3), na: i32, nb: i32, nc: i32 },
    ({ ha, hb, hc, xa, xb, xc, upperA, lowerA, upperB, lowerB, upperC, lowerC, splinesAt, charge, w, rho, na, nb, nc }, i) => {
      const sa = new Float64Array(upperA.length);
      const ta = new Float64Array(lowerA.length);
      const ia = new Int32Array(upperA.length);
      const sb = new Float64Array(upperB.length);
      const tb = new Float64Array(lowerB.length);
      const ib = new Int32Array(upperB.length);
      const sc = new Float64Array(upperC.length);
      const tc = new Float64Array(lowerC.length);
      const ic = new Int32Array(upperC.length);
      splinesAt(sa.length > 1 ? xa[i] : 0, ha, na, upperA, lowerA, sa, ta, ia);
      splinesAt(sb.length > 1 ? xb[i] : 0, hb, nb, upperB, lowerB, sb, tb, ib);
      splinesAt(sc.length > 1 ? xc[i] : 0, hc, nc, upperC, lowerC, sc, tc, ic);
      for (let m = 0; m < sc.length; m++)
        for (let l = 0; l < sb.length; l++) {
          const s = charge * w[i] * (sb[l] * sc[m]);
          for (let n = 0; n < sa.length; n++) rho.add(ia[n], ib[l], ic[m], s * sa[n]);
        }
    },
  );
}

/** Sums over the particles: w v_k, and w v_k^2 / 2. */
export const moments = kernel(
  "moments",
  {
    w: view(f64),
    v1: view(f64),
    v2: view(f64),
    v3: view(f64),
    velocities: fixed(i32),
    mass: sum(f64),
    p1: sum(f64),
    p2: sum(f64),
    p3: sum(f64),
    energy: sum(f64),
  },
  ({ w, v1, v2, v3, velocities, mass, p1, p2, p3, energy }, i) => {
    const u1 = v1[i];
    const u2 = velocities > 1 ? v2[i] : 0;
    const u3 = velocities > 2 ? v3[i] : 0;
    mass.add(w[i]);
    p1.add(w[i] * u1);
    p2.add(w[i] * u2);
    p3.add(w[i] * u3);
    energy.add(0.5 * w[i] * (u1 * u1 + u2 * u2 + u3 * u3));
  },
);
