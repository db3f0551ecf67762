import { IsoformError } from "../base/errors.js";
import type { TriangleMesh } from "../domain/index.js";
import { fail, readBytes } from "./files.js";

/*
 * Surfaces of triangles in two common formats: Wavefront's OBJ, a text, and STL (3D Systems), as text or binary.
 */

/**
 * Reads a mesh; the name ends in `.obj` or `.stl`. Faces with more than three corners become triangles around their first corner.
 * @throws IsoformError for other names, and for contents of another format, with the line
 */
export async function readMesh(path: string): Promise<TriangleMesh> {
  const [ending] = /\.(obj|stl)$/i.exec(path) ?? [undefined];
  if (ending === undefined) throw new IsoformError(`${path}: a mesh is read from files whose names end in .obj or .stl`);
  const bytes = await readBytes(path);
  try {
    return ending.toLowerCase() === ".obj" ? parseObj(new TextDecoder().decode(bytes)) : parseStl(bytes);
  } catch (error) {
    return fail(path, "read", error as Error);
  }
}

/** A mesh from the text of an OBJ file: its lines `v` and `f`, others are passed over. */
export function parseObj(text: string): TriangleMesh {
  const [vertices, triangles]: [number[], number[]] = [[], []];
  text.split(/\r?\n/).forEach((line, n) => {
    const [word, ...rest] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (word === "v") {
      const place = rest.slice(0, 3).map(Number);
      if (place.length < 3 || !place.every(Number.isFinite)) refuse(n, line, "a corner has three numbers");
      vertices.push(...place);
    } else if (word === "f") {
      const corners = rest.map((corner) => Number(corner.split("/")[0])).map((at) => (at < 0 ? vertices.length / 3 + at : at - 1));
      const isKnown = (at: number): boolean => Number.isInteger(at) && at >= 0 && at < vertices.length / 3;
      if (corners.length < 3 || !corners.every(isKnown)) refuse(n, line, "a face has three corners or more that stand before it");
      for (let k = 2; k < corners.length; k++) triangles.push(corners[0], corners[k - 1], corners[k]);
    }
  });
  return { vertices: Float64Array.from(vertices), triangles: Uint32Array.from(triangles) };
}

const refuse = (n: number, line: string, rule: string): never => {
  throw new IsoformError(`line ${n + 1}, "${line.trim().slice(0, 60)}": ${rule}`);
};

/** Bytes before the triangles of a binary STL file, and of each. */
const [HEADER, EACH] = [84, 50];

/** A mesh from the bytes of an STL file, whose triangles repeat their corners. Normals in the file are not used. */
export function parseStl(bytes: Uint8Array): TriangleMesh {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length >= HEADER ? data.getUint32(80, true) : -1;
  if (bytes.length === HEADER + EACH * count) {
    const vertices = Float64Array.from({ length: 9 * count }, (_, n) =>
      data.getFloat32(HEADER + EACH * Math.floor(n / 9) + 12 + 4 * (n % 9), true),
    );
    return { vertices, triangles: counted(3 * count) };
  }
  const text = new TextDecoder().decode(bytes);
  if (!/^\s*solid\b/.test(text))
    throw new IsoformError(
      count < 0
        ? `an STL file of ${bytes.length} bytes is cut off`
        : `an STL file of ${bytes.length} bytes: ${count} triangles take ${HEADER + EACH * count}`,
    );
  const vertices: number[] = [];
  text.split(/\r?\n/).forEach((line, n) => {
    const words = line.trim().split(/\s+/);
    if (words[0] !== "vertex") return;
    const place = words.slice(1).map(Number);
    if (place.length !== 3 || !place.every(Number.isFinite)) refuse(n, line, "a corner has three numbers");
    vertices.push(...place);
  });
  if (vertices.length % 9 !== 0 || !/\bendsolid\b/.test(text))
    throw new IsoformError(`an STL text with ${vertices.length / 3} corners is cut off: triangles have three, and "endsolid" ends it`);
  return { vertices: Float64Array.from(vertices), triangles: counted(vertices.length / 3) };
}

const counted = (length: number): Uint32Array => Uint32Array.from({ length }, (_, n) => n);
