import { LaunchError } from "../../base/errors.js";
import { requireOptions } from "../../base/own.js";
import { crossingAt } from "./crossings.js";
import { joinedMesh, type JoinedMesh, type TriangleMesh } from "./mesh.js";

/** Place of a mesh in a box of cells. */
export interface MeshPlacement {
  /** Place of the lower corner of the first cell, in the mesh's units. Default: the mesh in the middle of the box. */
  readonly origin?: readonly [x: number, y: number, z: number];
  /** Length of a cell's edge in the mesh's units. Default: as small as lets the mesh fit into the box with one cell around it. */
  readonly spacing?: number;
}

/** Result of `meshActivity`. */
export interface MeshActivity extends Required<MeshPlacement> {
  /** A byte for each cell in (z, y, x) order, 1 for those whose centre is inside: the option `active` of a grid. */
  readonly active: Uint8Array;
}

/**
 * The cells of a box whose centres lie inside a closed mesh, that is, around which it winds (a winding number that is not 0): a cavity whose triangles turn
 * the other way is outside, and parts of a mesh may overlap. Decided without rounding for each line of cells along x; a centre on the surface counts as beyond it along x.
 *
 * @param extents cells along x, y and z
 * @throws LaunchError for a mesh that is open or malformed, and for extents and placements that are not of a box
 */
export function meshActivity(mesh: TriangleMesh, extents: readonly number[], placement: MeshPlacement = {}): MeshActivity {
  requireOptions("meshActivity", placement, ["origin", "spacing"]);
  if (extents?.length !== 3 || !extents.every((n) => Number.isInteger(n) && n > 0))
    throw new LaunchError(`a mesh in a box of [${extents}] cells: give whole numbers of cells along x, y and z`);
  const joined = joinedMesh(mesh);
  const place = placed(joined, extents, placement);
  const active = new Uint8Array(extents[0] * extents[1] * extents[2]);
  new Lines(joined, extents, place).fill(active);
  return { active, ...place };
}

function placed({ vertices }: JoinedMesh, extents: readonly number[], { origin, spacing }: MeshPlacement): Required<MeshPlacement> {
  if (spacing !== undefined && !(spacing > 0 && spacing < Infinity))
    throw new LaunchError(`a mesh in cells of the length ${spacing}: give a positive number`);
  if (origin !== undefined && !(origin.length === 3 && origin.every(Number.isFinite)))
    throw new LaunchError(`a mesh in a box that begins at [${origin}]: give three numbers`);
  const bounds = [0, 1, 2].map((axis) => {
    let [low, high] = [Infinity, -Infinity];
    for (let n = axis; n < vertices.length; n += 3) [low, high] = [Math.min(low, vertices[n]), Math.max(high, vertices[n])];
    return [low, high] as const;
  });
  if (spacing === undefined && !extents.every((n) => n > 2))
    throw new LaunchError(`a mesh with a cell around it in a box of [${extents}] cells: give more cells, or the spacing`);
  const edge = spacing ?? Math.max(...bounds.map(([low, high], axis) => (high - low) / (extents[axis] - 2)));
  if (!(edge > 0)) throw new LaunchError("a mesh whose corners are all at one place has no inside: give another mesh");
  const first = bounds.map(([low, high], axis) => (low + high) / 2 - (edge * extents[axis]) / 2);
  return { origin: origin ?? [first[0], first[1], first[2]], spacing: edge };
}

/** Cells by which a place along an axis may be off; what lies so near is tested without rounding. */
const ROUNDING = 1e-6;

/** Lines of cells along x, plane by plane. */
class Lines {
  /** By plane, the triangles that begin there. */
  private readonly beginning = new Map<number, number[]>();
  private readonly endOf = new Map<number, number>();

  constructor(
    private readonly mesh: JoinedMesh,
    private readonly extents: readonly number[],
    private readonly place: Required<MeshPlacement>,
  ) {
    for (let triangle = 0; triangle < mesh.triangles.length; triangle += 3) {
      const [first, end] = this.span(triangle, 2);
      if (first >= end) continue;
      this.endOf.set(triangle, end);
      const list = this.beginning.get(first);
      if (list) list.push(triangle);
      else this.beginning.set(first, [triangle]);
    }
  }

  fill(active: Uint8Array): void {
    const [nx, ny, nz] = this.extents;
    // Changes of the winding number from cell to cell, one place more than a line has cells.
    const changes = new Int32Array((nx + 1) * ny);
    let current: number[] = [];
    for (let k = 0; k < nz; k++) {
      current = [...current.filter((triangle) => this.endOf.get(triangle)! > k), ...(this.beginning.get(k) ?? [])];
      if (current.length === 0) continue;
      changes.fill(0);
      for (const triangle of current) this.addCrossings(triangle, k, changes);
      for (let j = 0; j < ny; j++) {
        let winding = 0;
        for (let i = 0; i < nx; i++) {
          winding += changes[j * (nx + 1) + i];
          if (winding !== 0) active[(k * ny + j) * nx + i] = 1;
        }
      }
    }
  }

  private addCrossings(triangle: number, k: number, changes: Int32Array): void {
    const [nx] = this.extents;
    const [first, end] = this.span(triangle, 1);
    for (let j = first; j < end; j++) {
      const crossing = crossingAt(this.mesh, triangle, this.centre(1, j), this.centre(2, k));
      if (!crossing) continue;
      let cell = Math.min(Math.max(Math.ceil((crossing.x - this.place.origin[0]) / this.place.spacing - 0.5), 0), nx);
      // The centre itself decides, whatever the division has rounded.
      while (cell > 0 && this.centre(0, cell - 1) >= crossing.x) cell--;
      while (cell < nx && this.centre(0, cell) < crossing.x) cell++;
      changes[j * (nx + 1) + cell] += crossing.way;
    }
  }

  private centre(axis: number, cell: number): number {
    return this.place.origin[axis] + (cell + 0.5) * this.place.spacing;
  }

  /** Cells along an axis whose centres a triangle may meet: the first, and the one after the last. */
  private span(triangle: number, axis: number): readonly [first: number, end: number] {
    const { vertices, triangles } = this.mesh;
    const [a, b, c] = [0, 1, 2].map((corner) => vertices[3 * triangles[triangle + corner] + axis]);
    const cellOf = (place: number): number => (place - this.place.origin[axis]) / this.place.spacing - 0.5;
    const [low, high] = [cellOf(Math.min(a, b, c)), cellOf(Math.max(a, b, c))];
    return [Math.max(0, Math.ceil(low - ROUNDING)), Math.min(this.extents[axis], Math.floor(high + ROUNDING) + 1)];
  }
}
