import { LaunchError } from "isoform";
import { FLUID } from "./kinds.js";
import { D2Q9, type Lattice } from "./lattice.js";
import type { RunWatch } from "./run.js";
import type { Flow, Simulation } from "./simulation.js";

/** Options of `vortex`. */
export interface VortexOptions {
  /** Reynolds number of the greatest speed at the start and the length of the box. */
  reynolds: number;
  /** Cells along each axis, which hold one wave: at least 4. */
  size: number;
  /** Default: `D2Q9`. */
  lattice?: Lattice;
  /** The greatest at the start, in cells a step; compressibility errors grow with its square. Default: 0.05. */
  speed?: number;
}

/**
 * Vortices side by side in a box without ends, the same along z, which keep their shape while they decay (Taylor and Green, Proc. R. Soc. A 158,
 * 1937).
 * @throws LaunchError for fewer than 4 cells
 */
export function vortex({ reynolds, size, lattice = D2Q9, speed = 0.05 }: VortexOptions): Flow {
  if (size < 4) throw new LaunchError(`a box of ${size} cells is too small for vortices: it needs at least 4`);
  const k = waveNumber(size);
  return {
    lattice,
    extents: Array<number>(lattice.dimension).fill(size),
    periodic: true,
    kind: () => FLUID,
    velocity: (x, y) => [-speed * Math.cos(k * x) * Math.sin(k * y), speed * Math.sin(k * x) * Math.cos(k * y), 0],
    // Their pressure, which is a third of the density.
    density: (x, y) => 1 - (3 / 4) * speed ** 2 * (Math.cos(2 * k * x) + Math.cos(2 * k * y)),
    viscosity: (speed * size) / reynolds,
  };
}

const waveNumber = (size: number): number => (2 * Math.PI) / size;

/** The rate at which the velocity of `vortex` decays, by step: 2 nu k^2. */
export const decayRate = ({ viscosity, extents }: Flow): number => 2 * viscosity * waveNumber(extents[0]) ** 2;

/** Decay of vortices. */
export interface Decay {
  /** Rate by step: found between a tenth of the steps, when sound waves of the start have settled, and the last. */
  readonly rate: number;
  /** `decayRate` of the flow. */
  readonly expected: number;
  /** Root of the mean square of the velocity's deviation from the solution at the end, relative to the solution. */
  readonly deviation: number;
}

/** Parts of the run after which the velocity is compared; the rate is found from the first on. */
const TENTHS = 10;

/** The velocity after a part of the run. */
interface DecayState {
  readonly step: number;
  readonly amplitude: number;
  readonly deviation: number;
}

/** Runs a flow of `vortex` for `steps`, by default until its velocity has fallen to 1/e, and compares it with the exact solution. */
export async function watchDecay(
  simulation: Simulation,
  steps = Math.round(1 / decayRate(simulation.flow)),
  { report, samples = [], keep }: RunWatch<DecayState> = {},
): Promise<Decay> {
  const expected = decayRate(simulation.flow);
  const seen = [...samples];
  for (let tenth = seen.length + 1; tenth <= TENTHS; tenth++) {
    const until = Math.ceil((steps * tenth) / TENTHS);
    const seconds = await simulation.run(Math.max(0, until - simulation.steps));
    await simulation.measure();
    const found = await compare(simulation, Math.exp(-expected * simulation.steps));
    seen.push({ step: simulation.steps, ...found });
    report?.(simulation.steps, steps, `steps, vortices at ${found.amplitude.toFixed(4)} of their strength`, seconds);
    await keep?.(seen, tenth === TENTHS);
  }
  const [first, last] = [seen[0], seen[TENTHS - 1]];
  return { rate: Math.log(first.amplitude / last.amplitude) / (last.step - first.step), expected, deviation: last.deviation };
}

/** The part of the velocity that has the shape of the start, by that at the start; and its deviation from the start's times `factor`. */
async function compare({ velocity, flow }: Simulation, factor: number): Promise<{ amplitude: number; deviation: number }> {
  const values = await velocity.download();
  const { cardinality } = velocity;
  const [nx, ny] = flow.extents;
  let [along, whole, square] = [0, 0, 0];
  for (let cell = 0; cell * cardinality < values.length; cell++) {
    const start = flow.velocity(cell % nx, Math.floor(cell / nx) % ny, 0);
    for (let axis = 0; axis < cardinality; axis++) {
      const value = values[cell * cardinality + axis];
      along += value * start[axis];
      whole += start[axis] ** 2;
      square += (value - factor * start[axis]) ** 2;
    }
  }
  return { amplitude: along / whole, deviation: Math.sqrt(square / whole) / factor };
}
