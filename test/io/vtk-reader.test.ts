import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { pieceName } from "../../src/io/piece-folder.js";
import { readVtk } from "../../src/io/vtk-reader.js";

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
