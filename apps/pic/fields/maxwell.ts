import type { View } from "isoform";
import { range } from "isoform";
import * as kernels from "./field-kernels.js";
import type { Mesh, CirculantRow } from "../mesh/mesh.js";
import {
  along,
  cellSize,
  cyclic,
  differenceRow,
  dofs,
  eigenvalues,
  inverse,
  isPresent,
  massRow,
  mixedRow,
  product,
  transposed,
} from "../mesh/mesh.js";
import type { QueueWork, Workspace } from "./workspace.js";

/** The circulant matrices of one axis: mass matrices of degree p (`upper`) and p - 1 (`lower`), their inverses, and K_p^-1 D^T K_(p-1). */
interface AxisRows {
  readonly upper: CirculantRow;
  readonly lower: CirculantRow;
  readonly inverseUpper: CirculantRow;
  readonly inverseLower: CirculantRow;
  readonly curl: CirculantRow;
  /** Degree p against p - 1. */
  readonly mixed: CirculantRow;
}
type RowName = keyof AxisRows;

type Block = View<"f64">;

/**
 * The discrete de Rham complex of tensor-product splines, the electric field as a 1-form and the magnetic field as a 2-form: component k of E is
 * of degree p - 1 along axis k and p along the others, component k of B the other way round. Coefficients lie in the order [component][z][y][x].
 */
export class Maxwell {
  readonly e: View<"f64", 4>;
  readonly b: View<"f64", 4>;
  /** The time-integrated current against the splines of one component of E, or the charge density against the splines of V0. */
  readonly current: Block;
  private readonly scratch: readonly [Block, Block];
  private readonly rows: readonly Record<RowName, View<"f64", 1>>[];
  private readonly policies: readonly ReturnType<typeof range>[];

  constructor(
    private readonly work: Workspace,
    readonly mesh: Mesh,
  ) {
    const extents = mesh.axes.map(({ cells }) => cells).reverse();
    const [nz, ny, nx] = extents;
    this.e = work.array([3, nz, ny, nx]);
    this.b = work.array([3, nz, ny, nx]);
    const scalar = (): Block => work.array([nz, ny, nx]);
    this.current = scalar();
    this.scratch = [scalar(), scalar()];
    this.rows = rowsOf(mesh).map(
      (rows) => Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, work.vector(row)])) as Record<RowName, View<"f64", 1>>,
    );
    this.policies = [0, 1, 2].map((a) => range(...cyclic(a).map((axis) => mesh.axes[axis].cells)));
  }

  /** The field's part of H_E: b -= dt C e. */
  faraday(dt: number): QueueWork[] {
    const { axes, velocities } = this.mesh;
    return components(velocities).magnetic.map((a) => {
      const [, b, c] = cyclic(a);
      const fields = { fieldB: along(this.e.at(0, b), a), fieldC: along(this.e.at(0, c), a), b: along(this.b.at(0, a), a) };
      return this.work.work(kernels.faraday, { ...fields, hb: cellSize(axes[b]), hc: cellSize(axes[c]), dt }, this.policies[a]);
    });
  }

  /** H_B: M1 e += dt C^T M2 b. */
  ampere(dt: number): QueueWork[] {
    const { magnetic, electric } = components(this.mesh.velocities);
    if (magnetic.length === 0) return [];
    return electric.map((a) => {
      const [, b, c] = cyclic(a);
      const fields = { fieldB: along(this.b.at(0, b), a), fieldC: along(this.b.at(0, c), a), e: along(this.e.at(0, a), a) };
      return this.work.work(kernels.ampere, { ...fields, rowB: this.rows[b].curl, rowC: this.rows[c].curl, dt }, this.policies[a]);
    });
  }

  /** M1 e_a -= j, where j is what `current` holds. */
  absorbCurrent(a: number): QueueWork[] {
    return this.multiply(this.namesOf("e", a, true), this.current, this.e.at(0, a), -1, 1);
  }

  /** to := factor M u for component a of a 1-form (`e`) or 2-form (`b`), or its inverse. */
  mass(form: "e" | "b", a: number, from: Block, to: Block, inverted = false): QueueWork[] {
    return this.multiply(this.namesOf(form, a, inverted), from, to, 1, 0);
  }

  /** to := X b, so that e_k X b is the integral of component k of E times the component of B that is neither along k nor along axis a. */
  cross(a: number, k: number, from: Block, to: Block): QueueWork[] {
    const names = [0, 1, 2].map((axis): RowName => (axis === a ? "mixed" : axis === k ? "lower" : "upper"));
    return this.multiply(names, from, to, 1, 0);
  }

  private namesOf(form: "e" | "b", a: number, inverted: boolean): RowName[] {
    return [0, 1, 2].map((axis) => {
      const lower = (axis === a) === (form === "e");
      return inverted ? (lower ? "inverseLower" : "inverseUpper") : lower ? "lower" : "upper";
    });
  }

  /** to := keep to + factor A_1 A_2 A_3 from, pass by pass along the existing axes. */
  private multiply(names: readonly RowName[], from: Block, to: Block, factor: number, keep: number): QueueWork[] {
    const present = [0, 1, 2].filter((axis) => isPresent(this.mesh.axes[axis]));
    let x = from;
    return present.map((axis, n) => {
      const isLast = n === present.length - 1;
      const y = isLast ? to : this.scratch[n % 2];
      const args = { row: this.rows[axis][names[axis]], x: along(x, axis), y: along(y, axis) };
      x = y;
      return this.work.work(kernels.circulant, { ...args, factor: isLast ? factor : 1, keep: isLast ? keep : 0 }, this.policies[axis]);
    });
  }

  /** Solves G^T M1 G phi = rho - mean(rho) by discrete Fourier transforms, and sets e = -G phi. `rho` is lost. */
  poisson(rho: Block): QueueWork[] {
    const { work, mesh } = this;
    const extents = mesh.axes.map(({ cells }) => cells).reverse();
    const pair = () => [work.array(extents) as Block, work.array(extents) as Block] as const;
    let [re, im] = [rho, pair()[0]];
    let next = pair();
    const transform = (sign: number): QueueWork[] =>
      [0, 1, 2]
        .filter((axis) => isPresent(mesh.axes[axis]))
        .map((axis) => {
          const { cells } = mesh.axes[axis];
          const angles = Array.from({ length: cells }, (_, m) => (2 * Math.PI * m) / cells);
          const [reOut, imOut] = next;
          const [view, input] = [(u: Block) => along(u, axis), [re, im] as const];
          const args = {
            cosine: work.vector(angles.map(Math.cos)),
            sine: work.vector(angles.map(Math.sin)),
            sign,
            re: view(re),
            im: view(im),
            reOut: view(reOut),
            imOut: view(imOut),
          };
          [[re, im], next] = [[reOut, imOut], input];
          return work.work(kernels.fourier, args, this.policies[axis]);
        });
    const forward = transform(1);
    const n = dofs(mesh);
    const divide = [re, im].map((x) => work.work(kernels.scaleBy, { f: work.vector(inversePoisson(mesh)), x: x.reshape(n) }, range(n)));
    const back = transform(-1);
    const gradients = [0, 1, 2].map((a) =>
      work.work(kernels.negativeGradient, { h: cellSize(mesh.axes[a]), phi: along(re, a), u: along(this.e.at(0, a), a) }, this.policies[a]),
    );
    return [...forward, ...divide, ...back, ...gradients];
  }
}

/** Components of E and B, counted from 0, that `velocities` components of the velocity leave different from 0. */
export function components(velocities: 1 | 2 | 3): { readonly electric: number[]; readonly magnetic: number[] } {
  return { electric: [0, 1, 2].slice(0, velocities), magnetic: [[], [2], [0, 1, 2]][velocities - 1] };
}

function rowsOf({ axes }: Mesh): AxisRows[] {
  return axes.map((axis) => {
    const [upper, lower] = [massRow(axis, axis.degree), massRow(axis, axis.degree - 1)];
    const inverseUpper = inverse(upper);
    const curl = product(inverseUpper, product(transposed(differenceRow(axis)), lower));
    return { upper, lower, inverseUpper, inverseLower: inverse(lower), curl, mixed: mixedRow(axis) };
  });
}

/**
 * 1 / (n kappa) for each mode, 0 for the mean; kappa(m) = sum over a of 2 (1 - cos theta_a) / h_a^2 mu_(p-1)(m_a) prod over c != a of
 * mu_p(m_c) are the eigenvalues of G^T M1 G.
 */
function inversePoisson(mesh: Mesh): Float64Array {
  const spectra = mesh.axes.map((axis) => ({
    upper: eigenvalues(massRow(axis, axis.degree)),
    // 2 (1 - cos) loses digits for small angles.
    stiffness: eigenvalues(massRow(axis, axis.degree - 1)).map(
      (mu, m) => ((2 * Math.sin((Math.PI * m) / axis.cells)) / cellSize(axis)) ** 2 * mu,
    ),
  }));
  const n = dofs(mesh);
  const [n1, n2] = mesh.axes.map(({ cells }) => cells);
  return Float64Array.from({ length: n }, (_, id) => {
    const modes = [id % n1, Math.floor(id / n1) % n2, Math.floor(id / (n1 * n2))];
    const kappa = [0, 1, 2].reduce(
      (sum, a) => sum + modes.reduce((term, m, c) => term * (c === a ? spectra[c].stiffness[m] : spectra[c].upper[m]), 1),
      0,
    );
    return id === 0 ? 0 : 1 / (n * kappa);
  });
}
