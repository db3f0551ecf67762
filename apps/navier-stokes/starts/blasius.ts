/*
 * The laminar boundary layer of a compressible gas on a flat plate, as a similarity solution over eta = y sqrt(Re/x); velocities in units of the free
 * stream's, v times sqrt(Re x) too, density and temperature of the free stream's.
 */

interface BlasiusOptions {
  readonly mach: number;
  /** Temperature of the free stream, in kelvin. */
  readonly temperature: number;
  /** Temperature of the wall, in units of the free stream's. */
  readonly wallTemperature: number;
  readonly prandtl: number;
  readonly gamma: number;
}

interface Blasius {
  readonly eta: Float64Array;
  readonly u: Float64Array;
  readonly v: Float64Array;
  readonly temperature: Float64Array;
  /** Height at which the velocity reaches 0.99. */
  readonly edge: number;
  /** The slope of u at the wall. */
  readonly slope: number;
}

const STEP = 0.02;
const STEPS = 1000;
const CLOSE = 1e-6;
const MOST_ITERATIONS = 100;

/** Viscosity of air at a temperature in kelvin, in Pa s: Sutherland's law, linear in the cold. */
const viscosity = (T: number): number => (T < 110.4 ? 0.693873e-6 * T : (1.458e-5 * T ** 1.5) / (T + 110.4));

/** u, its stress f, the temperature t from the free stream's (0) to the stagnation temperature (1), its flux g, and the stream function h. */
type State = readonly number[];

/** The similarity solution. Throws RangeError if shooting finds none. */
export function blasius(options: BlasiusOptions): Blasius {
  const { mach, temperature, wallTemperature, prandtl, gamma } = options;
  const rise = 0.5 * (gamma - 1) * mach ** 2;
  const wall = (wallTemperature - 1) / rise;
  const temperatureOf = (t: number): number => 1 + rise * t;

  const slopes = ([u, f, t, g, h]: State, m: number): State => [
    f / m,
    (-h * f) / m,
    (g * prandtl) / m,
    -(h * g * prandtl + 2 * f ** 2) / m,
    (0.5 * u) / temperatureOf(t),
  ];
  const moved = (s: State, by: State, step: number): State => s.map((value, n) => value + step * by[n]);
  const solve = (f: number, g: number): State[] => {
    const states: State[] = [[0, f, wall, g, 0]];
    for (let n = 0; n < STEPS; n++) {
      const s = states[n];
      const m = viscosity(temperature * temperatureOf(s[2])) / viscosity(temperature);
      const a = slopes(s, m);
      const b = slopes(moved(s, a, STEP / 2), m);
      const c = slopes(moved(s, b, STEP / 2), m);
      const d = slopes(moved(s, c, STEP), m);
      states.push(s.map((value, k) => value + (STEP / 6) * (a[k] + 2 * b[k] + 2 * c[k] + d[k])));
    }
    return states;
  };
  const misses = (states: readonly State[]): readonly [number, number] => [states[STEPS][0] - 1, states[STEPS][2]];

  let [f, g] = [0.334, 0.22];
  for (let n = 0; n < MOST_ITERATIONS; n++) {
    const states = solve(f, g);
    const [u, t] = misses(states);
    if (Math.max(Math.abs(u), Math.abs(t)) < CLOSE) return tabulated(states, temperatureOf, f);
    const small = 1e-6;
    const [uf, tf] = misses(solve(f + small, g)).map((value, k) => (value - [u, t][k]) / small);
    const [ug, tg] = misses(solve(f, g + small)).map((value, k) => (value - [u, t][k]) / small);
    const determinant = uf * tg - ug * tf;
    f -= (u * tg - t * ug) / determinant;
    g -= (t * uf - u * tf) / determinant;
  }
  throw new RangeError(
    `no laminar layer at Mach number ${mach} and a wall of ${wallTemperature} was found: choose a wall nearer to the recovery temperature`,
  );
}

function tabulated(states: readonly State[], temperatureOf: (t: number) => number, slope: number): Blasius {
  const column = (of: (s: State, n: number) => number): Float64Array => Float64Array.from(states, of);
  const u = column((s) => s[0]);
  return {
    eta: column((_, n) => n * STEP),
    u,
    v: column(([u, , t, , h], n) => (0.5 * n * STEP * u) / temperatureOf(t) - h),
    temperature: column((s) => temperatureOf(s[2])),
    edge: STEP * u.findLastIndex((value) => value < 0.99),
    slope,
  };
}

interface LaminarPoint {
  readonly rho: number;
  readonly u: number;
  readonly v: number;
}

/** A layer whose edge is at y = 1 where x = 0, for a Reynolds number of that length. Velocities in units of `u0`. */
export function laminarLayer(solution: Blasius, reynolds: number, u0: number) {
  const { eta, u, v, temperature, edge } = solution;
  /** How far before x = 0 the plate begins. */
  const origin = reynolds / edge ** 2;

  const at = (x: number, y: number): LaminarPoint => {
    const place = y * edge * Math.sqrt(origin / (x + origin));
    // Takes the interval before the place's, and never the first, as the original solver does.
    const n = Math.max(1, Math.min(STEPS - 1, Math.ceil(place / STEP) - 2));
    const share = (place - eta[n]) / (eta[n + 1] - eta[n]);
    const linear = (values: Float64Array): number => values[n] + share * (values[n + 1] - values[n]);
    return { rho: 1 / linear(temperature), u: u0 * linear(u), v: (linear(v) * u0) / Math.sqrt(reynolds * (x + origin)) };
  };
  return { origin, at };
}
