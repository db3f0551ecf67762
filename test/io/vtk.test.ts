import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { f32, f64, i32 } from "../../src/kernel/declare/params.js";
import { u8 } from "../../src/kernel/declare/storage.js";
import { dense } from "../../src/domain/index.js";
import {
  readImage,
  readRaw,
  readRectilinear,
  readUnstructured,
  readVtkSeries,
  uploadActive,
  writeImage,
  writeRaw,
  writeRectilinear,
  writeUnstructured,
  writeVtkSeries,
} from "../../src/io/index.js";
import { jsSet, noise } from "../domain/sets.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
after(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);

const grids = [
  { title: "a box", extents: [5, 4, 3], active: undefined },
  { title: "a box with inactive cells", extents: [5, 4, 6], active: (x: number, y: number, z: number) => noise(x, y, z) > -0.2 },
  { title: "a rectangle", extents: [6, 5], active: (x: number, y: number) => x + y > 2 },
] as const;

function fieldsOf({ extents, active }: (typeof grids)[number]) {
  const grid = dense(jsSet(2), extents, { active });
  const fields = [
    grid.field("density & more", f64, { fillValue: 0.5 }),
    grid.field("u", f32, { cardinality: 3 }),
    grid.field("n", i32, { cardinality: 2, layout: "aos" }),
    grid.field("b", u8),
  ] as const;
  fields[0].fill(noise);
  fields[1].fill(noise);
  fields[2].fill((x, y, z, k) => x - 10 * y + 100 * z + 1000 * k);
  fields[3].fill((x, y, z) => x + 7 * y + 40 * z);
  return { grid, fields };
}

for (const encoding of ["appended", "inline"] as const)
  for (const shape of grids)
    describe(`VTK files of ${shape.title}, ${encoding}`, () => {
      it("images hold every cell", async () => {
        const { grid, fields } = fieldsOf(shape);
        const geometry = { origin: [1, 2, 3], spacing: [0.5, 0.25, 2] };
        await writeImage(path("image.vti"), fields, { encoding, ...geometry });
        const image = await readImage(path("image.vti"));
        assert.deepEqual(
          { ...image, cellData: [...image.cellData.keys()] },
          { extents: grid.extents, ...geometry, cellData: fields.map((f) => f.name) },
        );
        for (const field of fields) {
          const { data, components } = image.cellData.get(field.name)!;
          assert.deepEqual(data, await field.download());
          assert.equal(components, field.cardinality);
          const before = await field.download();
          field.fill(0);
          field.upload(data);
          assert.deepEqual(await field.download(), before);
        }
      });

      it("rectilinear grids hold every cell, and where it lies", async () => {
        const { grid, fields } = fieldsOf(shape);
        const faces = grid.extents.map((n, axis) => Float64Array.from({ length: n + 1 }, (_, i) => axis - 1 + i * i));
        await writeRectilinear(path("grid.vtr"), fields, { encoding, faces });
        const found = await readRectilinear(path("grid.vtr"));
        assert.deepEqual(
          { ...found, cellData: [...found.cellData.keys()] },
          { extents: grid.extents, faces, cellData: fields.map((f) => f.name) },
        );
        for (const field of fields) {
          const { data, components } = found.cellData.get(field.name)!;
          assert.deepEqual(data, await field.download());
          assert.equal(components, field.cardinality);
        }
        grid.free();
      });

      it("unstructured grids hold the active cells", async () => {
        const { grid, fields } = fieldsOf(shape);
        await writeUnstructured(path("grid.vtu"), fields, { encoding, origin: [1, 0, -1], spacing: [2, 3, 4] });
        const { points, corners, cellData } = await readUnstructured(path("grid.vtu"));
        const perCell = 2 ** grid.extents.length;
        assert.equal(corners.length, perCell * grid.cells);
        const cell = (n: number): number[][] =>
          Array.from(corners.subarray(n * perCell, (n + 1) * perCell), (c) => [...points.subarray(3 * c, 3 * c + 3)]);
        const seen = new Set<string>();
        for (let n = 0; n < grid.cells; n++) {
          const around = cell(n);
          const [low, high] = [around[0], around[perCell - 2]];
          const [x, y, z] = low.map((v, axis) => (v - [1, 0, -1][axis]) / [2, 3, 4][axis]);
          assert.deepEqual(
            high.map((v, axis) => v - low[axis]),
            [2, 3, grid.extents.length === 2 ? 0 : 4],
          );
          assert.ok(grid.mask === undefined || grid.mask[(z * grid.extents[1] + y) * grid.extents[0] + x] === 1);
          assert.equal(cellData.get("b")!.data[n], x + 7 * y + 40 * z);
          seen.add([x, y, z].join());
        }
        assert.equal(seen.size, grid.cells);
        assert.equal(
          new Set(Array.from({ length: points.length / 3 }, (_, n) => points.subarray(3 * n, 3 * n + 3).join())).size,
          points.length / 3,
        );
        for (const field of fields) {
          const before = await field.download();
          field.fill(0);
          uploadActive(field, cellData.get(field.name)!.data);
          assert.deepEqual(await field.download(), before);
        }
      });
    });

describe("files", () => {
  it("raw values go there and back", async () => {
    for (const shape of grids) {
      const { fields } = fieldsOf(shape);
      for (const field of fields) {
        const before = await field.download();
        await writeRaw(path("values.raw"), field);
        field.fill(1);
        await readRaw(path("values.raw"), field);
        assert.deepEqual(await field.download(), before);
      }
    }
  });

  it("files that others changed are refused in one line", async () => {
    const { grid, fields } = fieldsOf(grids[0]);
    await writeImage(path("image.vti"), fields);
    await writeUnstructured(path("mesh.vtu"), fields);
    const changed = async (file: string, from: string, to: string): Promise<unknown> => {
      const bytes = readFileSync(path(file)).toString("latin1");
      assert.ok(bytes.includes(from), from);
      writeFileSync(path("changed"), Buffer.from(bytes.replace(from, to), "latin1"));
      return file === "image.vti" ? readImage(path("changed")) : readUnstructured(path("changed"));
    };
    const refused = (file: string, from: string, to: string, message: RegExp) =>
      assert.rejects(changed(file, from, to), { name: "IsoformError", message });
    await refused("image.vti", "<ImageData", "</a></b></c><ImageData", /its elements end before they begin/);
    await refused("image.vti", 'NumberOfComponents="1"', 'NumberOfComponents="x"', /has x components/);
    await refused("image.vti", 'WholeExtent="0 5', 'WholeExtent="0 7', /its pieces have 60 of 84 cells/);
    await refused("image.vti", 'WholeExtent="0 5', 'WholeExtent="0 -5', /its WholeExtent is not a box of cells/);
    await refused("image.vti", 'Origin="', 'Origin="x ', /its Origin is not 3 numbers/);
    await refused("image.vti", 'offset="0"', 'offset="-9"', /is missing/);
    await refused("image.vti", 'type="Float64"', 'type="Float6"', /is of type Float6/);
    await refused("mesh.vtu", 'Name="connectivity"', 'Name="connected"', /it lacks an array "connectivity" of Int32 in Cells/);
    await refused("mesh.vtu", 'Name="Points"', 'Name="Point"', /it lacks an array "Points" of Float64 in Points/);
    await refused("mesh.vtu", 'Name="offsets"', 'Name="offset"', /it lacks an array "offsets" of Int32 in Cells/);
    grid.free();
  });

  it("faces that are none of the cells are refused", async () => {
    const { grid, fields } = fieldsOf(grids[2]);
    const write = (...faces: number[][]) => writeRectilinear(path("no.vtr"), fields, { faces });
    const x = [0, 1, 2, 3, 4, 5, 6];
    await assert.rejects(write(x), /0 faces along y for 5 cells: give 6/);
    await assert.rejects(write(x.slice(1), x), /6 faces along x for 6 cells: give 7/);
    await assert.rejects(write(x, [0, 1, 2, 2, 3, 4]), /face 3 along y is at 2: give finite coordinates that rise/);
    await assert.rejects(write(x, [0, 1, 2, NaN, 3, 4]), /face 3 along y is at NaN/);
    await writeImage(path("box.vti"), fields);
    await assert.rejects(readRectilinear(path("box.vti")), /holds ImageData, not RectilinearGrid/);
    await write(x, x.slice(1));
    const text = readFileSync(path("no.vtr"), "latin1")
      .replace('Name="z_coordinates"', 'Name="z_coordinates" n="')
      .replace("<Coordinates>", "<Coordinates/>");
    writeFileSync(path("no.vtr"), text, "latin1");
    await assert.rejects(readRectilinear(path("no.vtr")), /it has coordinates of 0 axes, not 3/);
    grid.free();
  });

  it("what cannot be read or written is named", async () => {
    const { grid, fields } = fieldsOf(grids[0]);
    const [field] = fields;
    await assert.rejects(writeImage(path("none.vti"), []), { name: "IsoformError", message: "no fields to write: give at least one" });
    await assert.rejects(
      writeImage(path("two.vti"), [field, fieldsOf(grids[1]).fields[1]]),
      /fields "density & more" and "u" are of different grids/,
    );
    await assert.rejects(writeImage(join(folder, "no", "image.vti"), fields), /no.image\.vti cannot be written: ENOENT/);
    await assert.rejects(readImage(path("absent.vti")), /absent\.vti cannot be read: ENOENT/);
    await writeImage(path("image.vti"), fields);
    await assert.rejects(readUnstructured(path("image.vti")), /image\.vti holds ImageData, not UnstructuredGrid/);
    writeFileSync(path("short.raw"), new Uint8Array(5));
    await assert.rejects(
      readRaw(path("short.raw"), field),
      /short\.raw has 5 bytes; field "density & more" takes 480, 1 f64 for each cell of \[5,4,3\]/,
    );
    const whole = readFileSync(path("image.vti"));
    writeFileSync(path("cut.vti"), whole.subarray(0, whole.length - 200));
    await assert.rejects(readImage(path("cut.vti")), /cut\.vti: array "[nb]" ends early/);
    writeFileSync(path("other.vti"), "<html></html>");
    await assert.rejects(readImage(path("other.vti")), /other\.vti: it is not a little-endian VTK XML file/);
    assert.throws(() => uploadActive(field, [1]), /field "density & more" is given 1 values; it takes 1 for each of 60 active cells/);
    grid.free();
  });
});

describe("a series of files", () => {
  it("has their names and times", async () => {
    const snapshots = [
      { time: 0, file: "a&b-000000.vtr" },
      { time: 1.25e-3, file: "a&b-000010.vtr" },
    ];
    await writeVtkSeries(path("a.pvd"), snapshots);
    assert.match(readFileSync(path("a.pvd"), "utf8"), /<VTKFile type="Collection"/);
    assert.deepEqual(await readVtkSeries(path("a.pvd")), snapshots);
  });

  it("is refused where it is another file", async () => {
    writeFileSync(path("b.pvd"), "<VTKFile/>");
    await assert.rejects(readVtkSeries(path("b.pvd")), /is not a list of VTK files/);
  });
});
