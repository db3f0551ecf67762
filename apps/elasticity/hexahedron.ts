import { LaunchError } from "isoform";

/*
 * The trilinear hexahedron: a cube with a displacement in each of its 8 corners. Corner m lies at (m & 1, m >> 1 & 1, m >> 2).
 */

/** An isotropic linear elastic material. */
export interface Material {
  /** Young's modulus, above 0. */
  readonly young: number;
  /** Poisson's ratio, above -1 and below 1/2. */
  readonly poisson: number;
}

export const CORNERS = 8;

/** Place of a corner's component of the displacement in the element's vector. */
const place = (corner: number, axis: number): number => 3 * corner + axis;
const AXES = [0, 1, 2];
const bit = (n: number, axis: number): number => (n >> axis) & 1;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/**
 * Forces in the corners by displacements of the corners: a symmetric matrix of 24 x 24, rows and columns 3 * corner + axis, for a cube of
 * edge 1; an element of edge h has h times as much. Gauss quadrature of 2 x 2 x 2 points, which is exact here
 * (Hughes, The Finite Element Method, 2000, sections 3.5 and 3.8). Throws LaunchError for a material that is not stable.
 */
export function elementStiffness({ young, poisson }: Material): number[][] {
  if (!(young > 0 && young < Infinity && poisson > -1 && poisson < 0.5))
    throw new LaunchError(`Young's modulus ${young} and Poisson's ratio ${poisson}: they must be above 0, and above -1 and below 0.5`);
  const lambda = (young * poisson) / ((1 + poisson) * (1 - 2 * poisson));
  const mu = young / (2 * (1 + poisson));
  const stiffness = numbers(3 * CORNERS).map(() => Array<number>(3 * CORNERS).fill(0));
  for (const point of numbers(8)) {
    const at = AXES.map((axis) => (1 + (2 * bit(point, axis) - 1) / Math.sqrt(3)) / 2);
    const gradients = numbers(CORNERS).map((corner) => gradient(corner, at));
    for (const [i, g] of gradients.entries())
      for (const [j, h] of gradients.entries()) {
        const both = AXES.reduce((sum, axis) => sum + g[axis] * h[axis], 0);
        for (const a of AXES)
          for (const b of AXES)
            stiffness[place(i, a)][place(j, b)] += (lambda * g[a] * h[b] + mu * g[b] * h[a] + (a === b ? mu * both : 0)) / 8;
      }
  }
  return likened(stiffness);
}

/** Makes entries equal, or 0, that differ by round-off alone: code has fewer constants then, and fewer terms. */
function likened(rows: readonly (readonly number[])[]): number[][] {
  const unit = Math.max(...rows.flat().map(Math.abs));
  const known = new Map<string, number>([[(0).toFixed(12), 0]]);
  const alike = (value: number): number => {
    const rounded = (Math.abs(value) / unit).toFixed(12);
    const size = known.get(rounded) ?? Math.abs(value);
    known.set(rounded, size);
    return value < 0 && size > 0 ? -size : size;
  };
  return rows.map((row) => row.map(alike));
}

/** The gradient of a corner's shape function. */
function gradient(corner: number, at: readonly number[]): number[] {
  const value = (axis: number) => (bit(corner, axis) ? at[axis] : 1 - at[axis]);
  return AXES.map((axis) => AXES.reduce((product, other) => product * (other === axis ? 2 * bit(corner, axis) - 1 : value(other)), 1));
}

/**
 * Element e of the 8 around a node lies on the far side of the axes whose bits are set in e, so the node is its corner 7 - e. The offset
 * along an axis from the node to a corner of that element; for containers, too.
 */
export const offsetOf = (element: number, corner: number, axis: number): number => ((element >> axis) & 1) - 1 + ((corner >> axis) & 1);

/**
 * Forces in a node that `elements` of the 8 surround (all of them: 255), by the displacements around it: for the neighbour at (dx, dy, dz)
 * the 3 x 3 block `[9 * (dz + 1) + 3 * (dy + 1) + dx + 1]`, row by row.
 */
export function nodeStiffness(stiffness: readonly (readonly number[])[], elements = 255): number[][] {
  const blocks = numbers(27).map(() => Array<number>(9).fill(0));
  for (const element of numbers(CORNERS).filter((element) => bit(elements, element)))
    for (const corner of numbers(CORNERS)) {
      const [dx, dy, dz] = AXES.map((axis) => offsetOf(element, corner, axis));
      const block = blocks[9 * (dz + 1) + 3 * (dy + 1) + dx + 1];
      for (const a of AXES) for (const b of AXES) block[3 * a + b] += stiffness[place(7 - element, a)][place(corner, b)];
    }
  return likened(blocks);
}
