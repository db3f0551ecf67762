/*
 * The nominal scanning law of Gaia and the places of Sun and satellite, at nodes of equal steps in time. The law: Lindegren et al. 2012, A&A 538,
 * A78, and the documentation of Gaia EDR3. Nodes are made on the host, once for every device.
 */

export const YEAR = 365.25 * 86400;
/** Micro-arcsecond in radians. */
export const UAS = Math.PI / 648_000e6;
/** Seconds between nodes. */
export const STEP = 600;
/** Spin about the axis Z, radians a second. */
export const SPIN = (59.9641857803 * Math.PI) / 648_000;
/** Angle between the spin axis and the Sun. */
const SUN_ANGLE = Math.PI / 4;
/** Speed of the spin axis on the sky in units of the Sun's. */
const AXIS_SPEED = 4.220745;
/** Obliquity of the ecliptic, 84381.448 arcseconds. */
const OBLIQUITY = (84_381.448 * Math.PI) / 648_000;
export const COS_OBLIQUITY = Math.cos(OBLIQUITY);
export const SIN_OBLIQUITY = Math.sin(OBLIQUITY);
/** The Sun's motion in ecliptic longitude, radians a second. */
export const SUN_SPEED = (2 * Math.PI) / YEAR;

/** Numbers of a node: see `scanningLaw`. */
export const NODE = 11;

/** The law from time 0 on. */
export interface ScanningLaw {
  /** Seconds that it covers; the nodes go one step further. */
  readonly duration: number;
  /**
   * A row a node: 0 to 2, the spin axis z in ICRS; 3 to 5, the axis x carried along with z without turning about it; 6 and 7, cosine and sine of
   * the spin since the start; 8 and 9, cosine and sine of the Sun's longitude; 10, the spin until the next node, radians a second.
   */
  readonly nodes: Float64Array;
  /** 1 for each step from a node to the next in which stars are observed; absent where they are in all. */
  readonly covered?: Uint8Array;
  /** TCB of time 0, days from JD 2455197.5; absent for the nominal law. */
  readonly start?: number;
}

/** Rate of the spin axis's revolution angle with the Sun's longitude, from sin xi dnu/dL = cos xi sin nu + sqrt(S^2 - cos^2 nu). */
const revolution = (nu: number): number =>
  (Math.cos(SUN_ANGLE) * Math.sin(nu) + Math.sqrt(AXIS_SPEED * AXIS_SPEED - Math.cos(nu) ** 2)) / Math.sin(SUN_ANGLE);

/** Turns a vector from ecliptic coordinates to ICRS. */
const toIcrs = ([x, y, z]: readonly number[]): [number, number, number] => [
  x,
  COS_OBLIQUITY * y - SIN_OBLIQUITY * z,
  SIN_OBLIQUITY * y + COS_OBLIQUITY * z,
];

/**
 * The nominal law for `duration` seconds, whose revolution angle begins at `start` radians; second-order Runge-Kutta with steps of 600 s.
 */
export function scanningLaw(duration: number, start = 0.3): ScanningLaw {
  const count = Math.floor(duration / STEP) + 3;
  const nodes = new Float64Array(NODE * count);
  const step = SUN_SPEED * STEP;
  const [c, s] = [Math.cos(SUN_ANGLE), Math.sin(SUN_ANGLE)];
  let nu = start;
  let x: readonly number[] = [];
  for (let k = 0; k < count; k++) {
    const [cosL, sinL] = [Math.cos(step * k), Math.sin(step * k)];
    const [cosNu, sinNu] = [s * Math.cos(nu), s * Math.sin(nu)];
    const z = toIcrs([c * cosL - cosNu * sinL, c * sinL + cosNu * cosL, sinNu]);
    // Any direction across z does for the first x.
    x = across(z, k === 0 ? [z[1], z[2], z[0]] : x);
    const spin = SPIN * STEP * k;
    nodes.set([...z, ...x, Math.cos(spin), Math.sin(spin), cosL, sinL, SPIN], NODE * k);
    nu += step * revolution(nu + (step / 2) * revolution(nu));
  }
  return { duration, nodes };
}

/** The part of `v` across the unit vector `z`, of length 1. */
function across(z: readonly number[], v: readonly number[]): number[] {
  const along = z[0] * v[0] + z[1] * v[1] + z[2] * v[2];
  const w = z.map((e, i) => v[i] - along * e);
  const length = Math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  return w.map((e) => e / length);
}
