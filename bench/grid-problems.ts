import { f32, f64, i32, sum, table, type ScalarToken } from "isoform";
import type { Field, Grid } from "isoform/grid";
import { swap, type Step } from "isoform/skeleton";
import { D3Q19 } from "../apps/lbm/lattice.js";

export interface GridProblem {
  steps: readonly Step[];
  /**
   * Puts fields and scalars back to their start: iterations that go on long after they have converged compute with NaN, and that takes GPUs
   * another time.
   */
  restart: () => Promise<void>;
  /** What the iterations are for. */
  result: Field;
  /** Fields that nobody needs after an iteration. */
  temporary: readonly Field[];
}

/* The sequences of containers that the grid benchmark measures; bench/baselines/grid.cu holds the same by hand. */

const along = (axis: number) =>
  table(
    i32,
    D3Q19.directions.map((c) => c[axis]),
  );

/** D3Q19 BGK, two populations, pull; no walls: a fluid at rest lies outside. */
export async function lbmProblem(grid: Grid<3>, type: "f64" | "f32"): Promise<GridProblem> {
  return type === "f64" ? lbmOf(grid, f64, Float64Array) : lbmOf(grid, f32, Float32Array);
}

async function lbmOf(
  grid: Grid<3>,
  type: ScalarToken<"f64" | "f32">,
  Real: Float64ArrayConstructor | Float32ArrayConstructor,
): Promise<GridProblem> {
  const [f, g] = ["f", "g"].map((name) => grid.field(name, type, { cardinality: 19, fillValue: 1 / 19 }));
  const uneven = table(
    type,
    [0, 1, 2, 3, 4, 5, 6].map((n) => 1 + n / 1000),
  );
  const start = grid.container("start", { f, w: table(type, D3Q19.weights), uneven }, ({ f, w, uneven }, c) => {
    for (let q = 0; q < 19; q++) f[c][q] = w[q] * uneven[c.x % 7];
  });
  const restart = async () => void (await grid.run(start));
  await restart();
  const params = { f, g, Real, omega: table(type, [1.2]), cx: along(0), cy: along(1), cz: along(2), w: table(type, D3Q19.weights) };
  const step = grid.container("collide and stream", params, ({ f, g, Real, omega, cx, cy, cz, w }, c) => {
    const own = new Real(19);
    let rho = 0.0;
    let ux = 0.0;
    let uy = 0.0;
    let uz = 0.0;
    for (let q = 0; q < 19; q++) {
      own[q] = f.at(c, -cx[q], -cy[q], -cz[q])[q];
      rho += own[q];
      ux += cx[q] * own[q];
      uy += cy[q] * own[q];
      uz += cz[q] * own[q];
    }
    const inverse = 1 / rho;
    ux *= inverse;
    uy *= inverse;
    uz *= inverse;
    const rest = 1 - 1.5 * (ux * ux + uy * uy + uz * uz);
    g[c][0] = own[0] + omega[0] * (w[0] * rho * rest - own[0]);
    for (let q = 1; q < 19; q += 2) {
      const cu = cx[q] * ux + cy[q] * uy + cz[q] * uz;
      const even = w[q] * rho * (rest + 4.5 * cu * cu);
      const odd = w[q] * rho * 3 * cu;
      g[c][q] = own[q] + omega[0] * (even + odd - own[q]);
      g[c][q + 1] = own[q + 1] + omega[0] * (even - odd - own[q + 1]);
    }
  });
  return { steps: [step, swap(f, g)], restart, result: f as Field, temporary: [] };
}

/** Conjugate gradients for the 7-point Laplacian, zero around; all scalars stay on the devices. */
export async function cg(grid: Grid<3>): Promise<GridProblem> {
  const [x, r, p, s] = ["x", "r", "p", "s"].map((name) => grid.field(name, f64));
  const [rr, before, ps] = ["rr", "before", "ps"].map((name) => grid.scalar(name, f64));
  const uneven = table(
    f64,
    [0, 1, 2, 3, 4].map((n) => 1 + n),
  );
  const start = grid.container("start", { x, p, r, uneven }, ({ x, p, r, uneven }, c) => {
    x[c] = 0;
    r[c] = uneven[(c.x + c.y + c.z) % 5];
    p[c] = r[c];
  });
  const square = grid.container("r.r", { r, rr: sum(rr) }, ({ r, rr }, c) => rr.add(r[c] * r[c]));
  const restart = async () => {
    await grid.run(start);
    await grid.run(square);
  };
  await restart();
  const steps = [
    grid.container("A p", { p, s }, ({ p, s }, c) => {
      s[c] = 6 * p[c] - p.at(c, 1, 0, 0) - p.at(c, -1, 0, 0) - p.at(c, 0, 1, 0) - p.at(c, 0, -1, 0) - p.at(c, 0, 0, 1) - p.at(c, 0, 0, -1);
    }),
    grid.container("p.s", { p, s, ps: sum(ps) }, ({ p, s, ps }, c) => ps.add(p[c] * s[c])),
    grid.container("x", { rr, ps, p, x }, ({ rr, ps, p, x }, c) => {
      x[c] += (rr / ps) * p[c];
    }),
    grid.container("r", { rr, ps, s, r }, ({ rr, ps, s, r }, c) => {
      r[c] -= (rr / ps) * s[c];
    }),
    swap(rr, before),
    square,
    grid.container("p", { rr, before, r, p }, ({ rr, before, r, p }, c) => {
      p[c] = r[c] + (rr / before) * p[c];
    }),
  ];
  return { steps, restart, result: x as Field, temporary: [s] };
}
