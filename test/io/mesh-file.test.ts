import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { meshActivity } from "../../src/domain/index.js";
import { parseObj, parseStl, readMesh } from "../../src/io/index.js";
import { boxMesh } from "../domain/mesh/shapes.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-mesh-"));
after(() => rmSync(folder, { recursive: true }));

const BOX = boxMesh([0, 0, 0], [3, 2, 1]);
const AT = { origin: [-1, -1, -1], spacing: 0.5 } as const;
const inside = meshActivity(BOX, [10, 8, 6], AT).active;
const corner = (n: number): number[] => [0, 1, 2].map((axis) => BOX.vertices[3 * BOX.triangles[n] + axis]);

/** The bytes of a binary STL file. */
function stlOf(header: string): Uint8Array {
  const count = BOX.triangles.length / 3;
  const data = new DataView(new ArrayBuffer(84 + 50 * count));
  new TextEncoder().encodeInto(header, new Uint8Array(data.buffer));
  data.setUint32(80, count, true);
  for (let n = 0; n < 3 * count; n++)
    corner(n).forEach((value, axis) => data.setFloat32(84 + 50 * Math.floor(n / 3) + 12 + 12 * (n % 3) + 4 * axis, value, true));
  return new Uint8Array(data.buffer);
}

describe("meshes from files", () => {
  it("OBJ: quads, texture coordinates, numbers from the end, comments", async () => {
    const corners = [...Array(8).keys()].map((n) => `v ${[0, 1, 2].map((axis) => BOX.vertices[3 * n + axis]).join(" ")} 1.0`);
    const quads = ["1/1/1 5/2/1 7/3/1 3/4/1", "2 4 8 6", "1//2 2//2 6//2 5//2", "-6 -2 -1 -5", "1 3 4 2", "5 6 8 7 # top"];
    const path = join(folder, "box.OBJ");
    await writeFile(path, ["# a box", "o box", ...corners, "vn 0 0 1", ...quads.map((quad) => `f ${quad}`), ""].join("\r\n"));
    assert.deepEqual(meshActivity(await readMesh(path), [10, 8, 6], AT).active, inside);
  });

  it("STL: binary, also with a header that begins as a text does, and text", async () => {
    const path = join(folder, "box.stl");
    await writeFile(path, stlOf("made by nobody"));
    assert.deepEqual(meshActivity(await readMesh(path), [10, 8, 6], AT).active, inside);
    assert.deepEqual(meshActivity(parseStl(stlOf("solid box")), [10, 8, 6], AT).active, inside);
    const facets = Array.from({ length: BOX.triangles.length / 3 }, (_, n) =>
      [
        "facet normal 0 0 0",
        " outer loop",
        ...[0, 1, 2].map((k) => `  vertex ${corner(3 * n + k).join(" ")}`),
        " endloop",
        "endfacet",
      ].join("\n"),
    );
    const text = ["solid box", ...facets, "endsolid box"].join("\n");
    assert.deepEqual(meshActivity(parseStl(new TextEncoder().encode(text)), [10, 8, 6], AT).active, inside);
  });

  it("are refused with the line where they are wrong", async () => {
    assert.throws(() => parseObj("v 0 0 0\nv 1 0"), /line 2, "v 1 0": a corner has three numbers/);
    assert.throws(() => parseObj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4"), /line 4, "f 1 2 4": a face has three corners or more/);
    assert.throws(() => parseStl(stlOf("cut").slice(0, 300)), /an STL file of 300 bytes: 12 triangles take 684/);
    assert.throws(() => parseStl(new Uint8Array(10)), /of 10 bytes is cut off/);
    assert.throws(() => parseStl(new TextEncoder().encode("solid a\nvertex 0 0 0\n")), /1 corners is cut off/);
    await assert.rejects(readMesh("shape.ply"), /shape\.ply: a mesh is read from files whose names end in \.obj or \.stl/);
    await assert.rejects(readMesh("missing.obj"), /missing\.obj/);
  });
});
