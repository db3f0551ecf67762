import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { pieceName } from "../../src/io/piece-folder.js";
import { dense, type Field } from "../../src/domain/index.js";
import { writeImage } from "../../src/io/index.js";
import { pieceBoxes, cellDataOfBox, joinedCellData, readVtk } from "../../src/io/vtk-reader.js";
import { f32, f64 } from "../../src/kernel/declare/params.js";
import { jsSet } from "../domain/sets.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
after(() => rmSync(folder, { recursive: true }));

/** Reads an index whose only piece lies at `source`. */
function readIndex(source: string): Promise<unknown> {
  const path = join(folder, "a.pvti");
  writeFileSync(
    path,
    `<?xml version="1.0"?><VTKFile type="PImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">` +
      `<PImageData WholeExtent="0 1 0 1 0 1"><Piece Extent="0 1 0 1 0 1" Source="${source}"/></PImageData></VTKFile>`,
  );
  return readVtk(path, "ImageData");
}

it("an index of pieces leads to pieces beside it alone", async () => {
  const [own, piece] = ["a.host.7.0123456789abcdef", pieceName(0)];
  await assert.rejects(readIndex(`${own}/${piece}`), /cannot be read: ENOENT/, "such a name is followed");
  for (const source of [
    "",
    piece,
    own,
    `other/${piece}`,
    `${own}/other`,
    `../${piece}`,
    `${own}/..`,
    `${own}/${piece}/x`,
    `../${own}/${piece}`,
    "/etc/passwd",
  ])
    await assert.rejects(readIndex(source), /names the piece ".*"; only indexes that isoform wrote can be read/, source);
});

it("the cell data of pieces are joined in their order, and must be the same arrays", async () => {
  const grid = dense(jsSet(1), [2, 3]);
  const [a, b] = [grid.field("a", f64), grid.field("b", f32, { cardinality: 2 })];
  const piece = async (name: string, start: number, fields: Field[]) => {
    a.fill((x, y) => start + x + 2 * y);
    b.fill((x, y, _z, k) => start + x + 2 * y + 100 * k);
    const path = join(folder, name);
    await writeImage(path, fields);
    return (await readVtk(path, "ImageData")).pieces[0];
  };
  const pieces = [await piece("one.vti", 0, [a, b]), await piece("two.vti", 10, [a, b])];
  const joined = joinedCellData(pieces, [6, 6], "f");
  const first = [0, 1, 2, 3, 4, 5];
  assert.deepEqual([...joined.get("a")!.data], [...first, ...first.map((n) => n + 10)]);
  assert.deepEqual(
    [...joined.get("b")!.data],
    [...first, ...first.map((n) => n + 10)].flatMap((n) => [n, n + 100]),
  );
  assert.equal(joined.get("b")!.components, 2);
  const other = await piece("three.vti", 0, [a]);
  assert.throws(() => joinedCellData([pieces[0], other], [6, 6], "f"), /f: its pieces have different arrays, such as "/);
  grid.free();
});

it("pieces are the whole box, and no cell is in two", () => {
  const piece = (extent: string) => ({ tag: "Piece", attributes: { Extent: extent } });
  const boxes = (...extents: string[]) => pieceBoxes(extents.map(piece), [2, 3, 5], "f");
  assert.equal(boxes("0 2 0 3 0 5").length, 1);
  assert.equal(boxes("0 2 0 3 0 2", "0 2 0 3 2 2", "0 2 0 3 2 5").length, 3);
  assert.deepEqual(boxes("0 2 1 3 0 5", "0 2 0 1 0 5")[0], [
    [0, 2],
    [1, 3],
    [0, 5],
  ]);
  for (const [second, message] of [
    ["0 2 0 3 2 4", /f: its pieces have 24 of 30 cells/],
    ["0 2 0 3 3 5", /have 24 of 30 cells/],
    ["0 2 0 3 1 4", /two of its pieces have the same cells/],
    ["0 2 0 4 2 5", /its piece "0 2 0 4 2 5" is not in the box of \[2,3,5\] cells/],
    ["0 2 0 3 2 1", /is not in the box/],
    ["0 2 0 3 2 5 0", /is not in the box/],
    ["0 2 0 3 2 x", /is not in the box/],
  ] as const)
    assert.throws(() => boxes("0 2 0 3 0 2", second), message, second);
});

it("pieces with some rows of planes are put at their places", () => {
  const values = (name: string, extent: string, ...list: number[]) => ({
    tag: "Piece",
    attributes: { Extent: extent },
    children: [{ tag: "CellData", arrays: [{ name, components: 1, data: Float64Array.from(list) }] }],
  });
  const pieces = [values("a", "0 2 2 3 0 2", 4, 5, 10, 11), values("a", "0 2 0 2 0 2", 0, 1, 2, 3, 6, 7, 8, 9)];
  assert.deepEqual([...cellDataOfBox(pieces, [2, 3, 2], "f").get("a")!.data], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});
