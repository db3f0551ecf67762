import { LaunchError } from "isoform";
import type { Application, PreparedApplication, ProblemOptions, Sample, Verdict } from "isoform/portability";
import { ITERATION } from "isoform/portability";
import { givenSettings, gridReport, roundOff } from "../grids.js";
import { BYTES_PER_NODE, Elasticity } from "./elasticity.js";
import { CORNERS, elementStiffness, nodeStiffness } from "./hexahedron.js";
import { forceOn } from "./reference.js";
import { cube } from "./solid.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.01 : 0.1);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

const TOLERANCE = 1e-11;
const AGAINST = "residual f - K u and forces by plain JavaScript, relative";
const SOLVER = "conjugate gradients";
const MATERIAL = { young: 1, poisson: 0.3 };
const PRESSURE = 0.01;

/** Excess of the compiler's count: it takes the way to multiply at the surface, which is heavier, for all nodes. */
const OVERCOUNT =
  2 *
  (CORNERS * 3 * 24 -
    nodeStiffness(elementStiffness(MATERIAL))
      .flat()
      .filter((value) => value !== 0).length);

/** Nodes along each side of the cube that takes `gib`. */
function side(gib: number): number {
  const nodes = Math.floor(((gib * 2 ** 30) / BYTES_PER_NODE) ** (1 / 3));
  if (!(nodes >= 4 && 3 * nodes ** 3 < 2 ** 31))
    throw new LaunchError(`a cube of ${gib} GiB: it can have from 4 to 894 nodes along each side, 8e-6 to 81 GiB`);
  return nodes;
}

export const application: Application = {
  name: "elasticity",
  summary: "linear elastic cube of hexahedra, matrix-free conjugate gradients",

  onGrid: true,

  footprint: (options) => BYTES_PER_NODE * side(sizeOf(options)) ** 3,

  async prepare(set, options) {
    const gib = sizeOf(options);
    const size = side(gib);
    const solid = cube({ size, material: MATERIAL, pressure: PRESSURE });
    const elasticity = await Elasticity.create(set, solid, { precision: set.locals[0].device.precision, ...givenSettings(options) });
    const { bytes, flops } = await elasticity.skeleton.work();
    const work = { bytes, flops: flops - OVERCOUNT * elasticity.grid.cells };

    const prepared: PreparedApplication = {
      problem: `elasticity ${gib} GiB`,

      async run(iterations = iterationsOf(options)): Promise<Sample[]> {
        await elasticity.restart();
        const seconds = (await elasticity.skeleton.run(iterations)).seconds / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: SOLVER, seconds, ...work },
        ];
      },

      /** The residual that the iterations carry along, compared with the solution's; and the forces on some nodes, by plain JavaScript. */
      async validate(): Promise<Verdict> {
        const errors = [await elasticity.drift()];
        const { displacement, product } = elasticity.fields;
        for (const node of sampleNodes(size)) {
          const expected = await forceOn(solid, displacement, node);
          const largest = Math.max(...expected.map(Math.abs), Number.MIN_VALUE);
          for (const [axis, force] of expected.entries()) errors.push(Math.abs((await product.get(node, axis)) - force) / largest);
        }
        const maxError = Math.max(...errors);
        return { ok: maxError < TOLERANCE * roundOff(set), maxError, against: AGAINST };
      },

      report: () => gridReport(elasticity),

      free: () => elasticity.free(),
    };
    return prepared;
  },

  byHand(options) {
    const gib = sizeOf(options);
    const n = side(gib);
    const { edge, load } = cube({ size: n, material: MATERIAL, pressure: PRESSURE });
    const stiffness = elementStiffness(MATERIAL).map((row) => row.map((value) => edge * value));
    const loads = new Float64Array(n ** 3);
    for (let y = 0; y < n; y++) for (let x = 0; x < n; x++) loads[((n - 1) * n + y) * n + x] = load!(x, y, n - 1, 2);
    return {
      program: "elasticity",
      problem: `elasticity ${gib} GiB`,
      iterations: iterationsOf(options),
      sizes: [n],
      inputs: [Float64Array.from(stiffness.flat()), loads],
      outputs: [3 * n ** 3, 3 * n ** 3],
      quantities: [ITERATION, SOLVER],
      validate([u, r]) {
        const maxError = drift(n, stiffness, { loads, u, r });
        return { ok: maxError < TOLERANCE, maxError, against: AGAINST };
      },
    };
  },
};

/** Largest difference between r and f - K u on nodes that are not held, relative to the largest force on any node; u and r are [3][n][n][n]. */
function drift(
  n: number,
  stiffness: readonly (readonly number[])[],
  { loads, u, r }: Readonly<Record<"loads" | "u" | "r", Float64Array>>,
): number {
  const rows = new Map<number, readonly Row[]>();
  let [most, difference] = [0, 0];
  const along = (at: number, far: number): boolean => (far ? at < n - 1 : at > 0);
  for (let i = 0, z = 0; z < n; z++)
    for (let y = 0; y < n; y++)
      for (let x = 0; x < n; x++, i++) {
        let elements = 0;
        for (let e = 0; e < CORNERS; e++) if (along(x, e & 1) && along(y, (e >> 1) & 1) && along(z, e >> 2)) elements |= 1 << e;
        let axes = rows.get(elements);
        if (axes === undefined) rows.set(elements, (axes = rowsOf(nodeStiffness(stiffness, elements), n)));
        for (let a = 0; a < 3; a++) {
          const { places, values } = axes[a];
          let force = a === 2 ? loads[i] : 0;
          for (let k = 0; k < values.length; k++) force -= values[k] * u[i + places[k]];
          most = Math.max(most, Math.abs(force));
          const error = Math.abs((z === 0 ? 0 : force) - r[a * n ** 3 + i]);
          // A NaN must not be lost.
          if (!(error <= difference)) difference = error;
        }
      }
  return difference / most;
}

/** Entries of a row of the matrix that are not 0, with their places in `u` from the node's own. */
interface Row {
  readonly places: Int32Array;
  readonly values: Float64Array;
}

/** The rows of a node's three forces, from the 3x3 blocks of its 27 neighbours. */
function rowsOf(blocks: readonly (readonly number[])[], n: number): Row[] {
  return [0, 1, 2].map((a) => {
    const entries = blocks.flatMap((block, k) => {
      const at = (k % 3) - 1 + n * ((Math.trunc(k / 3) % 3) - 1) + n * n * (Math.trunc(k / 9) - 1);
      return [0, 1, 2].flatMap((b) => (block[3 * a + b] === 0 ? [] : [[b * n ** 3 + at, block[3 * a + b]]]));
    });
    return { places: Int32Array.from(entries, ([place]) => place), values: Float64Array.from(entries, ([, value]) => value) };
  });
}

/** Corners, middles of edges and faces, and the centre. */
function sampleNodes(size: number): number[][] {
  const along = [0, size >> 1, size - 1];
  return along.flatMap((x) => along.flatMap((y) => along.map((z) => [x, y, z])));
}
