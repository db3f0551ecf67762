import { LaunchError } from "../../base/errors.js";
import { describe } from "../../base/describe.js";

/** A surface of triangles in space, of any units. */
export interface TriangleMesh {
  /** Three coordinates for each corner. */
  readonly vertices: ArrayLike<number>;
  /** Three numbers of corners for each triangle, counter-clockwise as seen from outside. */
  readonly triangles: ArrayLike<number>;
}

/** A mesh whose corners at one place are one, as `[x, y, z, ...]`; no triangle uses one twice. */
export interface JoinedMesh {
  readonly vertices: Float64Array;
  readonly triangles: Uint32Array;
}

/** @throws LaunchError for values that are not of a mesh */
function requireMesh({ vertices, triangles }: TriangleMesh): void {
  const refuse = (problem: string): never => {
    throw new LaunchError(`a mesh ${problem}: give { vertices: [x, y, z, ...], triangles: [a, b, c, ...] }`);
  };
  if (typeof vertices?.length !== "number" || vertices.length % 3 !== 0) refuse(`has ${describe(vertices)} for its corners`);
  if (typeof triangles?.length !== "number" || triangles.length % 3 !== 0) refuse(`has ${describe(triangles)} for its triangles`);
  if (triangles.length === 0) refuse("has no triangles");
  const corners = vertices.length / 3;
  for (let n = 0; n < vertices.length; n++)
    if (!Number.isFinite(vertices[n])) refuse(`has a corner ${Math.floor(n / 3)} with the coordinate ${vertices[n]}`);
  for (let n = 0; n < triangles.length; n++)
    if (!Number.isInteger(triangles[n]) || !(triangles[n] >= 0 && triangles[n] < corners))
      refuse(`of ${corners} corners has a triangle ${Math.floor(n / 3)} with the corner ${triangles[n]}`);
}

/**
 * The mesh with one corner for each place: files often repeat corners for each triangle.
 * @throws LaunchError for values that are not of a mesh, and for one that is open or whose triangles do not turn one way
 */
export function joinedMesh(mesh: TriangleMesh): JoinedMesh {
  requireMesh(mesh);
  const { vertices, triangles } = mesh;
  const places = new Map<string, number>();
  const joined: number[] = [];
  const cornerOf = Array.from({ length: vertices.length / 3 }, (_, n) => {
    // Adding 0 makes one zero of both.
    const place = [0, 1, 2].map((axis) => vertices[3 * n + axis] + 0);
    const key = place.join(" ");
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, places.size);
    joined.push(...place);
    return places.size - 1;
  });
  const kept: number[] = [];
  for (let n = 0; n < triangles.length; n += 3) {
    const [a, b, c] = [0, 1, 2].map((corner) => cornerOf[triangles[n + corner]]);
    if (a !== b && b !== c && c !== a) kept.push(a, b, c);
  }
  const made = { vertices: Float64Array.from(joined), triangles: Uint32Array.from(kept) };
  requireClosed(made);
  return made;
}

/** Throws LaunchError unless each edge is passed as often one way as the other. */
function requireClosed({ vertices, triangles }: JoinedMesh): void {
  const corners = vertices.length / 3;
  const edges = new Map<number, number>();
  for (let n = 0; n < triangles.length; n++) {
    const [a, b] = [triangles[n], triangles[n % 3 === 2 ? n - 2 : n + 1]];
    const [key, way] = a < b ? [a * corners + b, 1] : [b * corners + a, -1];
    edges.set(key, (edges.get(key) ?? 0) + way);
  }
  const open = [...edges].filter(([, ways]) => ways !== 0);
  if (open.length === 0) return;
  const [first] = open[0];
  const at = (corner: number): string => `[${[...vertices.subarray(3 * corner, 3 * corner + 3)].join(", ")}]`;
  throw new LaunchError(
    `the mesh has no inside: ${open.length} of its ${edges.size} edges have no triangle on one side, or two that turn opposite ways, the first one from ${at(Math.floor(first / corners))} to ${at(first % corners)}: ` +
      "close the holes, and let all triangles turn counter-clockwise as seen from outside",
  );
}
