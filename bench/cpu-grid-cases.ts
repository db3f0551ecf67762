import { f64, u8 } from "isoform";
import type { Field, Grid } from "isoform/grid";
import type { Step } from "isoform/skeleton";
import { Kernels, type Fields } from "../apps/elasticity/kernels.js";
import { elementStiffness } from "../apps/elasticity/hexahedron.js";
import { D3Q19 } from "../apps/lbm/lattice.js";
import { addressIn, type Baselines } from "./baselines.js";
import { lbmProblem } from "./grid-problems.js";

type Extents = readonly [nx: number, ny: number, nz: number];

/** One sequence of containers on boxes of one size, with its hand-written counterpart. */
export interface GridCase {
  readonly name: string;
  /** Whether its fields fit into the caches nearest to the cores, or exceed all of them. */
  readonly where: "cache" | "memory";
  readonly extents: Extents;
  /** Bytes that an iteration moves at least for a cell: every field once. */
  readonly bytes: number;
  containers(grid: Grid<3>): Promise<Containers>;
  handWritten(baselines: Baselines): HandWrittenCase;
}

export interface Containers {
  readonly steps: readonly Step[];
  /** Holds what an iteration has made. */
  readonly result: Field;
}

export interface HandWrittenCase {
  run(times: number): void;
  /** A component in a cell. */
  result(x: number, y: number, z: number, k: number): number;
  /** What the function has the addresses of. */
  readonly arrays: readonly object[];
}

/** An array of `components` boxes, each with a layer of cells around it, as [k][nz + 2][ny + 2][nx + 2]. */
class Boxes {
  readonly data: Float64Array;
  readonly address: bigint;
  private readonly pitches: Extents;

  constructor(
    private readonly extents: Extents,
    private readonly components: number,
    fillValue = 0,
  ) {
    const [nx, ny, nz] = extents.map((n) => n + 2);
    this.pitches = [nx, nx * ny, nx * ny * nz];
    const memory = new SharedArrayBuffer(8 * components * nx * ny * nz);
    this.data = new Float64Array(memory).fill(fillValue);
    this.address = addressIn(memory, 0);
  }

  fill(value: (x: number, y: number, z: number, k: number) => number): this {
    const [nx, ny, nz] = this.extents;
    for (let k = 0; k < this.components; k++)
      for (let z = 0; z < nz; z++)
        for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) this.data[this.place(x, y, z, k)] = value(x, y, z, k);
    return this;
  }

  place(x: number, y: number, z: number, k: number): number {
    const [row, plane, box] = this.pitches;
    return x + 1 + row * (y + 1) + plane * (z + 1) + box * k;
  }

  /** Of the whole box, outermost first. */
  get sizes(): bigint[] {
    return this.extents.toReversed().map((n) => BigInt(n + 2));
  }
}

const repeat =
  (once: () => void) =>
  (times: number): void => {
    for (let n = 0; n < times; n++) once();
  };

/** A number for each cell and component, unlike that of its neighbours; for containers, too. */
const uneven = (x: number, y: number, z: number, k: number): number => 0.5 + ((x + 7 * y + 13 * z + 29 * k) % 1013) * 0.001;

function laplaceCase(where: GridCase["where"], extents: Extents): GridCase {
  return {
    name: "laplace",
    where,
    extents,
    bytes: 16,
    async containers(grid) {
      const [p, s] = ["p", "s"].map((name) => grid.field(name, f64));
      await grid.run(grid.container("start", { p, uneven }, ({ p, uneven }, c) => (p[c] = uneven(c.x, c.y, c.z, 0))));
      const step = grid.container("laplace", { p, s }, ({ p, s }, c) => {
        s[c] =
          6 * p[c] - p.at(c, 0, 0, -1) - p.at(c, 0, 0, 1) - p.at(c, 0, -1, 0) - p.at(c, 0, 1, 0) - p.at(c, -1, 0, 0) - p.at(c, 1, 0, 0);
      });
      return { steps: [step], result: s };
    },
    handWritten(baselines) {
      const [p, s] = [new Boxes(extents, 1).fill(uneven), new Boxes(extents, 1)];
      const once = baselines.bind("laplace", "laplace", [p.address, s.address, ...p.sizes]);
      return { run: repeat(once), result: (...at) => s.data[s.place(...at)], arrays: [p, s] };
    },
  };
}

function lbmCase(where: GridCase["where"], extents: Extents): GridCase {
  const FILL_VALUE = 1 / 19;
  return {
    name: "lbm",
    where,
    extents,
    bytes: 19 * 16,
    async containers(grid) {
      const { steps, result } = await lbmProblem(grid, "f64");
      return { steps, result };
    },
    handWritten(baselines) {
      const start = (x: number, _y: number, _z: number, q: number) => D3Q19.weights[q] * (1 + (x % 7) / 1000);
      let [from, to] = [new Boxes(extents, 19, FILL_VALUE).fill(start), new Boxes(extents, 19, FILL_VALUE)];
      const step = (a: Boxes, b: Boxes) => baselines.bind("lbm", "lbm", [1.2, a.address, b.address, ...a.sizes]);
      let [forth, back] = [step(from, to), step(to, from)];
      const once = () => {
        forth();
        [from, to, forth, back] = [to, from, back, forth];
      };
      return { run: repeat(once), result: (...at) => from.data[from.place(...at)], arrays: [from, to] };
    },
  };
}

const MATERIAL = { young: 1, poisson: 0.3 };

function elasticityCase(where: GridCase["where"], extents: Extents): GridCase {
  return {
    name: "elasticity",
    where,
    extents,
    bytes: 3 * 16 + 1,
    async containers(grid) {
      const vectors = (name: string) => grid.field(name, f64, { cardinality: 3 });
      const [displacement, product] = ["displacement", "product"].map(vectors);
      const bits = (name: string) => grid.field(name, u8);
      // What the operator does not use is never laid out.
      const fields: Fields = {
        elements: bits("elements"),
        fixed: bits("fixed"),
        load: vectors("load"),
        displacement,
        residual: vectors("residual"),
        direction: vectors("direction"),
        product,
      };
      const kernels = new Kernels(grid, fields, MATERIAL, 1);
      fields.fixed.fill(0);
      await grid.run(kernels.findElements());
      const start = grid.container("start", { displacement, uneven }, ({ displacement, uneven }, c) => {
        for (let k = 0; k < 3; k++) displacement[c][k] = uneven(c.x, c.y, c.z, k);
      });
      await grid.run(start);
      return { steps: [kernels.multiply(displacement, product)], result: product };
    },
    handWritten(baselines) {
      const [u, f] = [new Boxes(extents, 3).fill(uneven), new Boxes(extents, 3)];
      const table = (length: number) => new Float64Array(new SharedArrayBuffer(8 * length));
      const [stiffness, blocks] = [table(24 * 24), table(27 * 27 * 9)];
      stiffness.set(elementStiffness(MATERIAL).flat());
      const [element, perNode] = [stiffness, blocks].map(({ buffer }) => addressIn(buffer, 0));
      baselines.bind("elasticity", "elasticity_blocks", [element, perNode])();
      const args = [u.address, f.address, perNode, ...extents.toReversed().map((n) => BigInt(n))];
      const once = baselines.bind("elasticity", "elasticity", args);
      return { run: repeat(once), result: (...at) => f.data[f.place(...at)], arrays: [u, f, blocks, stiffness] };
    },
  };
}

/** All cases: fields of 1 to 2.5 MiB in all for the caches, of 0.4 to 1 GiB for memory. */
export const GRID_CASES: readonly GridCase[] = [
  laplaceCase("cache", [40, 40, 40]),
  lbmCase("cache", [24, 15, 13]),
  elasticityCase("cache", [32, 32, 32]),
  laplaceCase("memory", [396, 396, 396]),
  lbmCase("memory", [150, 148, 148]),
  elasticityCase("memory", [200, 200, 200]),
];
