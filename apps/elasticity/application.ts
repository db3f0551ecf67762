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
const MATERIAL = { young: 1, poisson: 0.3 };

/** Of the two ways to multiply, the one for the surface is heavier: what the compiler counts too much for the other nodes. */
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
    const iterations = iterationsOf(options);
    const size = side(gib);
    const solid = cube({ size, material: MATERIAL, pressure: 0.01 });
    const elasticity = await Elasticity.create(set, solid, { precision: set.members[0].device.precision, ...givenSettings(options) });
    const { bytes, flops } = await elasticity.skeleton.work();
    const work = { bytes, flops: flops - OVERCOUNT * elasticity.grid.cells };

    const prepared: PreparedApplication = {
      problem: `elasticity ${gib} GiB`,

      async run(): Promise<Sample[]> {
        await elasticity.restart();
        const seconds = (await elasticity.skeleton.run(iterations)).seconds / iterations;
        return [
          { quantity: ITERATION, seconds, ...work },
          { quantity: "conjugate gradients", seconds, ...work },
        ];
      },

      /** The residual that the iterations carry along, against that of the solution; and the forces on some nodes, by plain JavaScript. */
      async validate(): Promise<Verdict> {
        const errors = [await elasticity.drift()];
        const { displacement, product } = elasticity.fields;
        for (const node of sampleNodes(size)) {
          const expected = await forceOn(solid, displacement, node);
          const largest = Math.max(...expected.map(Math.abs), Number.MIN_VALUE);
          for (const [axis, force] of expected.entries()) errors.push(Math.abs((await product.get(node, axis)) - force) / largest);
        }
        const maxError = Math.max(...errors);
        return { ok: maxError < TOLERANCE * roundOff(set), maxError, against: "residual f - K u and forces by plain JavaScript, relative" };
      },

      report: () => gridReport(elasticity),

      free: () => elasticity.free(),
    };
    return prepared;
  },
};

/** Corners, middles of edges and faces, and the centre. */
function sampleNodes(size: number): number[][] {
  const along = [0, size >> 1, size - 1];
  return along.flatMap((x) => along.flatMap((y) => along.map((z) => [x, y, z])));
}
