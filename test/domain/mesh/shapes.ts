import type { TriangleMesh } from "../../../src/domain/index.js";

type Place = readonly [x: number, y: number, z: number];

/** A box between two corners; `inwards` turns its triangles. */
export function boxMesh(low: Place, high: Place, inwards = false): TriangleMesh {
  const vertices = [...Array(8).keys()].flatMap((n) => [0, 1, 2].map((axis) => ((n >> axis) & 1 ? high : low)[axis]));
  const quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]; // prettier-ignore
  const triangles = quads.flatMap(([a, b, c, d]) => (inwards ? [a, c, b, a, d, c] : [a, b, c, a, c, d]));
  return { vertices, triangles };
}

/** A torus around the z axis: `tube` is the radius of its tube. */
export function torusMesh(radius: number, tube: number, around: number, across: number): TriangleMesh {
  const vertices: number[] = [];
  const triangles: number[] = [];
  for (let i = 0; i < around; i++)
    for (let j = 0; j < across; j++) {
      const [u, v] = [(2 * Math.PI * i) / around, (2 * Math.PI * j) / across];
      const far = radius + tube * Math.cos(v);
      vertices.push(far * Math.cos(u), far * Math.sin(u), tube * Math.sin(v));
      const at = (di: number, dj: number): number => ((i + di) % around) * across + ((j + dj) % across);
      triangles.push(at(0, 0), at(1, 0), at(1, 1), at(0, 0), at(1, 1), at(0, 1));
    }
  return { vertices, triangles };
}

/** Several meshes as one. */
export function together(...meshes: readonly TriangleMesh[]): TriangleMesh {
  const [vertices, triangles]: [number[], number[]] = [[], []];
  for (const mesh of meshes) {
    const first = vertices.length / 3;
    vertices.push(...Array.from(mesh.vertices));
    triangles.push(...Array.from(mesh.triangles, (at) => first + at));
  }
  return { vertices, triangles };
}

/** How often a mesh winds around a place: the solid angles of its triangles, over 4 pi (A. Van Oosterom, J. Strackee, IEEE Trans. Biomed. Eng. 30, 1983). */
export function windingAt({ vertices, triangles }: TriangleMesh, place: Place): number {
  let sum = 0;
  for (let n = 0; n < triangles.length; n += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((axis) => vertices[3 * triangles[n + k] + axis] - place[axis]));
    const [la, lb, lc] = [a, b, c].map((v) => Math.hypot(...v));
    const dot = (p: number[], q: number[]): number => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    const volume = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    sum += 2 * Math.atan2(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return sum / (4 * Math.PI);
}
