import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, describe, it } from "node:test";
import { dense, sparse } from "../../src/domain/index.js";
import { HOST_LIMITS } from "../../src/domain/grid/pieces.js";
import { readRaw, writeImage, writeRaw, writeRectilinear, writeUnstructured } from "../../src/io/index.js";
import { readCheckpoint, writeCheckpoint } from "../../src/io/checkpoint.js";
import { f32, f64 } from "../../src/kernel/declare/params.js";
import { u8 } from "../../src/kernel/declare/storage.js";
import { findNan } from "../../src/skeleton/run/nan.js";
import { jsSet, noise } from "../domain/sets.js";

/* Files and searches of fields in pieces of few planes, as those of large boxes are. */

const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
const { piece, whole } = HOST_LIMITS;
after(() => rmSync(folder, { recursive: true }));
afterEach(() => Object.assign(HOST_LIMITS, { piece, whole }));

const extents = [7, 5, 6] as const;
const holes = (x: number, y: number, z: number): boolean => noise(x, y, z) > -0.2;
const faces = extents.map((n) => Array.from({ length: n + 1 }, (_, k) => k * k + k));

function fieldsOf(active: typeof holes | undefined, members = 2) {
  const grid = dense(jsSet(members), extents, { active, ghosts: { zmin: 1, ymax: 2 } });
  const fields = [grid.field("a", f64), grid.field("b", f32, { cardinality: 3, fillValue: 0.5 }), grid.field("c", u8)] as const;
  fields[0].fill(noise, { ghosts: true });
  fields[1].fill((x, y, z, k) => noise(x, y, z, k));
  fields[2].fill((x, y, z) => (x + 10 * y + 50 * z > 200 ? 1 : 0));
  return { grid, fields };
}

const writers: Readonly<Record<string, (path: string, { fields }: ReturnType<typeof fieldsOf>) => Promise<unknown>>> = {
  "VTK image": (path, { fields }) => writeImage(path, fields),
  "VTK image as text": (path, { fields }) => writeImage(path, fields, { encoding: "inline" }),
  "VTK rectilinear grid": (path, { fields }) => writeRectilinear(path, fields, { faces }),
  "VTK unstructured grid": (path, { fields }) => writeUnstructured(path, fields),
  "raw file": (path, { fields }) => writeRaw(path, fields[1]),
  checkpoint: (path, { fields }) => writeCheckpoint(path, fields),
};

describe("what goes to files in pieces", () => {
  for (const [title, write] of Object.entries(writers))
    for (const active of [undefined, holes])
      it(`is the same ${title}, byte for byte${active ? ", with inactive cells" : ""}`, async () => {
        const { grid, fields } = fieldsOf(active);
        const [whole, pieces] = ["whole", "pieces"].map((name) => join(folder, name));
        await write(whole, { grid, fields });
        Object.assign(HOST_LIMITS, { piece: 1, whole: 1 });
        await write(pieces, { grid, fields });
        assert.ok(readFileSync(pieces).equals(readFileSync(whole)));
        grid.free();
      });

  it("is read in pieces", async () => {
    const { grid, fields } = fieldsOf(holes);
    const expected = await Promise.all(fields.map((field) => field.download({ ghosts: true })));
    const [raw, state] = ["raw", "state"].map((name) => join(folder, name));
    await writeRaw(raw, fields[1]);
    await writeCheckpoint(state, fields);
    const other = fieldsOf(holes, 3);
    for (const field of other.fields) field.fill(0, { ghosts: true });
    HOST_LIMITS.piece = 200;
    await readRaw(raw, other.fields[1]);
    assert.deepEqual(await other.fields[1].download(), await fields[1].download());
    other.fields[1].fill(0);
    await (await readCheckpoint(state)).restore(other.fields);
    for (const [n, field] of other.fields.entries()) assert.deepEqual(await field.download({ ghosts: true }), expected[n], field.name);
    grid.free();
    other.grid.free();
  });
});

it("the first NaN is found in pieces, on grids of any kind", async () => {
  HOST_LIMITS.piece = 1;
  for (const grid of [dense(jsSet(2), extents), sparse(jsSet(2), extents, (x, y, z) => (x + y + z) % 3 === 0)]) {
    const field = grid.field("f", f64, { cardinality: 2 });
    field.fill(1);
    assert.equal(await findNan(field), undefined);
    field.set([5, 2, 5], NaN);
    field.set([2, 3, 4], NaN, 1);
    field.set([3, 2, 4], NaN, 1);
    const found = await findNan(field);
    assert.deepEqual([found?.cell, found?.component], [[3, 2, 4], 1]);
    grid.free();
  }
});
