import { atFirstUse, LaunchError, open, type Device, type Precision } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION, mean } from "isoform/portability";
import { CASES } from "./simulation/cases.js";
import { cellSize } from "./mesh/mesh.js";
import { DEFAULTS } from "./simulation/problem.js";
import { Simulation } from "./simulation/simulation.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.005 : 0.05);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 3 : 10);

/** Seven numbers. */
const BYTES_PER_PARTICLE = 56;
/** Tolerance of the density's change, relative to the density: sums over all particles of a cell. */
const TOLERANCE = 1e-11;
const PUSH = "push1";

/** Number of particles that take this much memory. */
function particles(gib: number): number {
  const count = Math.floor((gib * 2 ** 30) / BYTES_PER_PARTICLE);
  if (!(count >= 1 && count < 2 ** 31)) throw new LaunchError(`pic of ${gib} GiB: it can have from 1 to 2147483647 particles of 56 bytes`);
  return count;
}

/** The operator H_p1 alone, as in Artigues et al. (2019): particles move along axis 1, turn in the magnetic field and leave their current. */
export const application: Application = {
  name: "pic",
  summary: "particle-in-cell: the current deposition of GEMPIC, 16 x 8 x 8 cells, cubic splines",

  footprint: (options) => BYTES_PER_PARTICLE * particles(sizeOf(options)),

  async prepare({ locals: [{ device }] }, options) {
    const gib = sizeOf(options);
    const { simulation, dt } = await plasma(device, gib, options.precision ?? device.precision);
    const { queue } = device;
    const { current } = simulation.maxwell;
    const launch = await atFirstUse(device, simulation.parts[0].pushLaunch(simulation.species[0], 0, dt));

    const prepared: PreparedApplication = {
      problem: `pic ${gib} GiB`,

      async run(iterations = iterationsOf(options)): Promise<Sample[]> {
        const times: { whole: number; push: number }[] = [];
        for (let n = 0; n < iterations; n++) {
          const start = queue.record();
          queue.clear(current);
          const cleared = queue.record();
          queue.submit(launch);
          const end = queue.record();
          times.push({ whole: await end.since(start), push: await end.since(cleared) });
        }
        return [
          { quantity: ITERATION, seconds: mean(times.map(({ whole }) => whole)), ...launch.cost },
          { quantity: PUSH, seconds: mean(times.map(({ push }) => push)), ...launch.cost },
        ];
      },

      /** Once more, against the continuity equation: the density changes by the divergence of the current. */
      async validate(): Promise<Verdict> {
        const before = await simulation.density();
        queue.clear(current);
        queue.submit(launch);
        const j = await queue.read(current);
        const after = await simulation.density();
        const [axis] = simulation.problem.mesh.axes;
        const h = cellSize(axis);
        let [off, most] = [0, 0];
        for (const [id, value] of j.entries()) {
          const next = (id + 1) % axis.cells === 0 ? id + 1 - axis.cells : id + 1;
          off = Math.max(off, Math.abs(after[id] - before[id] - (value - j[next]) / h));
          most = Math.max(most, Math.abs(after[id]));
        }
        const maxError = off / most;
        return { ok: maxError < TOLERANCE, maxError, against: "the continuity equation, relative to the charge density" };
      },

      free: () => {
        launch.free();
        simulation.free();
      },
    };
    return prepared;
  },

  /** From the particles and fields of the device `js`, against which it is judged. */
  async byHand(options) {
    const gib = sizeOf(options);
    const iterations = iterationsOf(options);
    const device = await open("js");
    try {
      const { simulation, dt } = await plasma(device, gib, "fast");
      const { species, maxwell, parts } = simulation;
      const { charge, ratio, length, fieldB } = parts[0].pushArguments(species[0], 0, dt);
      const [b2, b3] = [await device.queue.read(maxwell.b.at(0, 1)), await device.queue.read(maxwell.b.at(0, 2))];
      const [{ storage }] = species;
      const [count] = storage.shape;
      const first = await columns(device, simulation);
      const launch = parts[0].pushLaunch(species[0], 0, dt);
      for (let n = 0; n < iterations; n++) {
        device.queue.clear(maxwell.current);
        device.queue.submit(launch);
      }
      const expected = [await device.queue.read(maxwell.current), await columns(device, simulation)];
      launch.free();
      simulation.free();
      // Takes the currents as if all particles flew forwards: the currents of a plasma at rest nearly cancel, and their rounding errors do not.
      let moved = 0;
      for (let i = 0; i < count; i++) moved += Math.abs(charge * first[6 * count + i] * dt * first[3 * count + i]);
      const scales = [moved / b2.length, 1];
      return {
        program: "pic",
        problem: `pic ${gib} GiB`,
        iterations,
        sizes: [count, ...fieldB.shape],
        inputs: [first, b2, b3, [dt, charge, ratio, length]].map((values) => Float64Array.from(values)),
        outputs: [b2.length, first.length],
        quantities: [ITERATION, PUSH],
        validate(outputs) {
          let maxError = 0;
          for (const [k, values] of outputs.entries())
            for (let i = 0; i < values.length; i++) {
              const error = Math.abs(values[i] - expected[k][i]) / scales[k];
              // A NaN must not be lost.
              if (!(error <= maxError)) maxError = error;
            }
          return { ok: maxError < TOLERANCE, maxError, against: "current and particles on the device js" };
        },
      };
    } finally {
      await device.close();
    }
  },
};

async function plasma(device: Device, gib: number, precision: Precision): Promise<{ simulation: Simulation; dt: number }> {
  const box = CASES.find(({ name }) => name === "3d3v")!;
  const { dt } = box.defaults;
  return {
    simulation: await Simulation.create(device, box.problem(box.defaults), { ...DEFAULTS, count: particles(gib), dt, precision }),
    dt,
  };
}

/** The seven values of all particles, one value after the other. */
async function columns(device: Device, { species: [{ storage }] }: Simulation): Promise<Float64Array> {
  const [count, width] = storage.shape;
  const values = new Float64Array(count * width);
  for (let k = 0; k < width; k++) values.set(await device.queue.read(storage.at(1, k)), k * count);
  return values;
}
