import { f64, max, sum, table } from "isoform";
import { dot, type Cell, type Container, type Field, type FieldAccess, type Grid } from "isoform/grid";
import type { Scalar } from "isoform/set";
import { elementStiffness, nodeStiffness, offsetOf, type Material } from "./hexahedron.js";

/*
 * The containers. Cells of the grid are nodes; a displacement, a force or a residual is a field of three components.
 */

export type Vectors = Field<"f64", 3, 3>;
export type Bits = Field<"u8", 1, 3>;

/** The fields of a solid: cells are nodes. */
export interface Fields {
  /** Bit e: element e of the 8 around the node exists (`offsetOf` in hexahedron.ts). */
  readonly elements: Bits;
  /** Bit k: component k of the displacement is given. */
  readonly fixed: Bits;
  readonly load: Vectors;
  readonly displacement: Vectors;
  /** The force that nothing balances yet; 0 where the displacement is given. */
  readonly residual: Vectors;
  readonly direction: Vectors;
  /** The stiffness times a displacement. */
  readonly product: Vectors;
}

export interface Scalars {
  /** Residual times preconditioned residual. */
  readonly rz: Scalar<"f64">;
  /** The same an iteration ago. */
  readonly before: Scalar<"f64">;
  /** Direction times its product. */
  readonly ps: Scalar<"f64">;
}

/** One iteration of conjugate gradients, in order; between the two parts `rz` becomes `before`. */
export interface Iteration {
  readonly advance: readonly Container[];
  readonly square: Container;
  readonly turn: Container;
}

/** The preconditioners by name. */
export const PRECONDITIONERS = ["none", "jacobi"] as const;
/** `none`, or `jacobi`: the residual by the diagonal of the stiffness. */
export type Preconditioner = (typeof PRECONDITIONERS)[number];

interface Vector {
  readonly [axis: number]: number;
}
interface Rows {
  readonly [row: number]: Vector;
}
/** A private array. */
interface Values {
  [axis: number]: number;
}

const square = (a: Vector): number => a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
const isFree = (fixed: number, axis: number): boolean => ((fixed >> axis) & 1) === 0;

/* 0 where nothing is left to be done. */
const ratio = (a: number, b: number): number => (b === 0 ? 0 : a / b);

/* Factors of a node's residual. Each element adds the same to the diagonal of the stiffness, in all of its corners. */
const WEIGHTS: Record<Preconditioner, (elements: number, diagonal: number) => number> = {
  none: () => 1,
  jacobi: (elements, diagonal) => {
    let count = 0;
    for (let e = 0; e < 8; e++) count += (elements >> e) & 1;
    return count === 0 ? 0 : 1 / (diagonal * count);
  },
};

/** Adds the product of a block of 3 x 3, row after row, with a displacement. */
function addProduct(block: Vector, u: Vector, sum: Values): void {
  for (let a = 0; a < 3; a++)
    for (let b = 0; b < 3; b++) {
      const k = block[3 * a + b];
      if (k !== 0) sum[a] += k * u[b];
    }
}

/* Products of a node's rows of the stiffness with displacements. Short sums do not wait for each other. */

/** All elements exist: 27 `blocks`. */
function multiplyNode(blocks: Rows, u: FieldAccess<3, 3>, c: Cell<3>, total: Values): void {
  for (let dz = -1; dz <= 1; dz++) {
    const plane = new Float64Array(3);
    for (let dy = -1; dy <= 1; dy++)
      for (let dx = -1; dx <= 1; dx++) addProduct(blocks[9 * (dz + 1) + 3 * (dy + 1) + dx + 1], u.at(c, dx, dy, dz), plane);
    for (let a = 0; a < 3; a++) total[a] += plane[a];
  }
}

/** All four elements on a side along x exist: 18 blocks. */
function multiplySide(sides: Rows, side: number, u: FieldAccess<3, 3>, c: Cell<3>, total: Values): void {
  for (let dz = -1; dz <= 1; dz++) {
    const plane = new Float64Array(3);
    for (let dy = -1; dy <= 1; dy++)
      for (let n = 0; n < 2; n++)
        addProduct(sides[27 * side + 9 * (dz + 1) + 3 * (dy + 1) + side + n], u.at(c, side - 1 + n, dy, dz), plane);
    for (let a = 0; a < 3; a++) total[a] += plane[a];
  }
}

/** Elements on a side along x, one by one. */
function multiplyElements(stiffness: Rows, elements: number, side: number, u: FieldAccess<3, 3>, c: Cell<3>, total: Values): void {
  for (let n = 0; n < 4; n++) {
    const e = 2 * n + side;
    if (((elements >> e) & 1) === 1)
      for (let m = 0; m < 8; m++)
        for (let a = 0; a < 3; a++)
          for (let b = 0; b < 3; b++)
            total[a] += stiffness[3 * (7 - e) + a][3 * m + b] * u.at(c, offsetOf(e, m, 0), offsetOf(e, m, 1), offsetOf(e, m, 2))[b];
  }
}

/** The containers of a solid of some material, of elements of some edge. */
export class Kernels {
  private readonly stiffness: number[][];

  constructor(
    private readonly grid: Grid<3>,
    private readonly fields: Fields,
    material: Material,
    edge: number,
  ) {
    this.stiffness = elementStiffness(material).map((row) => row.map((value) => edge * value));
  }

  /** Finds the elements around each node: they exist where all their corners are active nodes. A node without any is held. */
  findElements(): Container {
    const { elements, fixed } = this.fields;
    return this.grid.container("find elements", { elements, fixed, offsetOf }, ({ elements, fixed, offsetOf }, c) => {
      let found = 0;
      for (let e = 0; e < 8; e++) {
        let complete = true;
        for (let m = 0; m < 8; m++) complete = complete && elements.isActive(c, offsetOf(e, m, 0), offsetOf(e, m, 1), offsetOf(e, m, 2));
        if (complete) found |= 1 << e;
      }
      elements[c] = found;
      if (found === 0) fixed[c] = 7;
    });
  }

  /**
   * Stiffness times displacements: 27 blocks where all elements exist (255), else 18 for each side along x that has all four of its own, for
   * every row of nodes ends with such a side; else element by element.
   */
  multiply(u: Vectors, forces: Vectors): Container {
    const { elements } = this.fields;
    const blocks = table(f64, nodeStiffness(this.stiffness));
    const sides = table(f64, [...nodeStiffness(this.stiffness, 0x55), ...nodeStiffness(this.stiffness, 0xaa)]);
    const stiffness = table(f64, this.stiffness);
    return this.grid.container(
      "K u",
      { u, forces, elements },
      ({ u, forces, elements }, c) => {
        const total = new Float64Array(3);
        const found = elements[c];
        if (found === 255) multiplyNode(blocks, u, c, total);
        else {
          for (let side = 0; side < 2; side++) {
            if (((found >> side) & 0x55) === 0x55) multiplySide(sides, side, u, c, total);
            else multiplyElements(stiffness, found, side, u, c, total);
          }
        }
        for (let a = 0; a < 3; a++) forces[c][a] = total[a];
      },
      () => [blocks, sides, stiffness, multiplyNode, multiplySide, multiplyElements, addProduct, offsetOf],
    );
  }

  /** The residual of the displacement whose product with the stiffness is in `product`. */
  residual(): Container {
    const { residual, load, product, fixed } = this.fields;
    return this.grid.container("f - K u", { residual, load, product, fixed, isFree }, ({ residual, load, product, fixed, isFree }, c) => {
      for (let k = 0; k < 3; k++) residual[c][k] = isFree(fixed[c], k) ? load[c][k] - product[c][k] : 0;
    });
  }

  /** Finds the largest difference between `residual` and the residual of the displacement whose product is in `product`, and the largest force. */
  drift(difference: Scalar<"f64">, largest: Scalar<"f64">): Container {
    const { residual, load, product, fixed } = this.fields;
    const params = { residual, load, product, fixed, isFree, difference: max(difference), largest: max(largest) };
    return this.grid.container("drift", params, ({ residual, load, product, fixed, isFree, difference, largest }, c) => {
      for (let k = 0; k < 3; k++) {
        const force = load[c][k] - product[c][k];
        largest.max(Math.abs(force));
        difference.max(Math.abs((isFree(fixed[c], k) ? force : 0) - residual[c][k]));
      }
    });
  }

  /** Preconditioned conjugate gradients (Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 9.1). */
  iteration({ rz, before, ps }: Scalars, preconditioner: Preconditioner): Iteration {
    const { grid } = this;
    const { displacement, residual, direction, product, fixed, elements } = this.fields;
    const [weight, [[diagonal]]] = [WEIGHTS[preconditioner], this.stiffness];
    return {
      advance: [
        this.multiply(direction, product),
        dot(direction, product, ps, "p.s"),
        grid.container("u", { displacement, direction, ratio, rz, ps }, ({ displacement, direction, ratio, rz, ps }, c) => {
          for (let k = 0; k < 3; k++) displacement[c][k] += ratio(rz, ps) * direction[c][k];
        }),
        grid.container(
          "r",
          { residual, product, fixed, rz, ps },
          ({ residual, product, fixed, rz, ps }, c) => {
            for (let k = 0; k < 3; k++) residual[c][k] -= isFree(fixed[c], k) ? ratio(rz, ps) * product[c][k] : 0;
          },
          () => [isFree, ratio],
        ),
      ],
      square: grid.container(
        "r.z",
        { residual, elements, diagonal, rz: sum(rz) },
        ({ residual, elements, diagonal, rz }, c) => rz.add(weight(elements[c], diagonal) * square(residual[c])),
        () => [weight, square],
      ),
      turn: grid.container(
        "p",
        { direction, residual, elements, diagonal, rz, before },
        ({ direction, residual, elements, diagonal, rz, before }, c) => {
          const w = weight(elements[c], diagonal);
          for (let k = 0; k < 3; k++) direction[c][k] = w * residual[c][k] + ratio(rz, before) * direction[c][k];
        },
        () => [weight, ratio],
      ),
    };
  }
}
