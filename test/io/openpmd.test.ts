import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { dense } from "../../src/domain/index.js";
import { hdf5Missing, readOpenPmd, recordsOf, writeHdf5Fields, writeOpenPmd, writeXdmf, type Snapshot } from "../../src/io/index.js";
import { f32, f64, i32 } from "../../src/kernel/declare/params.js";
import { u8 } from "../../src/kernel/declare/storage.js";
import { readHdf5 } from "../../src/io/hdf5-file.js";
import { jsSet, noise } from "../domain/sets.js";

const missing = await hdf5Missing();
const folder = mkdtempSync(join(tmpdir(), "isoform-test-"));
after(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);

const counted = (length: number): Float64Array => Float64Array.from({ length }, (_, n) => n / 3);
const SNAPSHOT: Snapshot = {
  step: 20,
  time: 1.5,
  dt: 0.075,
  meshes: {
    E: {
      extents: [4, 3, 2],
      geometry: { origin: [1, 2, 3], spacing: [0.1, 0.2, 0.3] },
      values: { x: counted(24), y: async () => counted(24).map((v) => -v), z: counted(24).reverse() },
      dimension: [1, 1, -3, -1],
    },
    rho: { extents: [4, 3, 2], values: Float32Array.from(counted(24)) },
    still: { extents: [4, 3, 2], values: { x: 0, y: 2 } },
  },
  species: {
    electrons: {
      count: 5,
      records: {
        position: { values: { x: counted(5), y: counted(5), z: counted(5) }, dimension: [1] },
        charge: { values: -1, dimension: [0, 0, 1, 1], attributes: { weightingPower: 1 } },
        id: { values: Uint32Array.of(9, 8, 7, 6, 5) },
      },
    },
  },
  comment: "two\nlines",
};

describe("openPMD files", { skip: missing?.reason }, () => {
  it("hold meshes and particles of each step", async () => {
    await writeOpenPmd(path("run.h5"), SNAPSHOT);
    await writeOpenPmd(path("run.h5"), { ...SNAPSHOT, step: 3, time: 0.5 }, "add");
    const [early, late] = await readOpenPmd(path("run.h5"));
    assert.deepEqual([early.step, early.time, late.step, late.time, late.dt], [3, 0.5, 20, 1.5, 0.075]);
    const { E, rho, still } = late.meshes;
    assert.deepEqual(E, {
      extents: [4, 3, 2],
      origin: [1, 2, 3],
      spacing: [0.1, 0.2, 0.3],
      values: { x: counted(24), y: counted(24).map((v) => -v), z: counted(24).reverse() },
    });
    assert.deepEqual(rho.values, Float32Array.from(counted(24)));
    assert.deepEqual([still.extents, still.values], [[4, 3, 2], { x: 0, y: 2 }]);
    assert.deepEqual(late.species.electrons, {
      position: { x: counted(5), y: counted(5), z: counted(5) },
      positionOffset: { x: 0, y: 0, z: 0 },
      charge: -1,
      id: Uint32Array.of(9, 8, 7, 6, 5),
    });
  });

  it("have the attributes that the standard requires", async () => {
    await writeOpenPmd(path("names.h5"), SNAPSHOT);
    await readHdf5(path("names.h5"), ({ attributes, groups }) => {
      const { date, ...rest } = attributes;
      assert.match(String(date), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000$/);
      assert.deepEqual(rest, {
        openPMD: "1.1.0",
        openPMDextension: 0,
        basePath: "/data/%T/",
        meshesPath: "meshes/",
        particlesPath: "particles/",
        iterationEncoding: "groupBased",
        iterationFormat: "/data/%T/",
        software: "isoform",
        comment: "two\nlines",
      });
      const iteration = groups.data.groups["20"];
      assert.deepEqual(iteration.attributes, { time: 1.5, dt: 0.075, timeUnitSI: 1 });
      const { E } = iteration.groups.meshes.groups;
      assert.deepEqual(E.attributes, {
        geometry: "cartesian",
        dataOrder: "C",
        axisLabels: ["z", "y", "x"],
        gridSpacing: Float64Array.of(0.3, 0.2, 0.1),
        gridGlobalOffset: Float64Array.of(3, 2, 1),
        gridUnitSI: 1,
        unitDimension: Float64Array.of(1, 1, -3, -1, 0, 0, 0),
        timeOffset: 0,
      });
      assert.deepEqual(E.datasets.x.shape, [2, 3, 4]);
      assert.deepEqual(E.datasets.x.attributes, { position: Float64Array.of(0.5, 0.5, 0.5), unitSI: 1 });
      const { charge } = iteration.groups.particles.groups.electrons.groups;
      assert.deepEqual(charge.attributes.shape, BigUint64Array.of(5n));
      assert.equal(charge.attributes.weightingPower, 1);
    });
  });

  it("are of step 0, at time 0, where nothing else is said", async () => {
    await writeOpenPmd(path("first.h5"), { species: { p: { count: 1, records: { position: { values: { x: counted(1) } } } } } });
    await readHdf5(path("first.h5"), ({ groups }) => {
      assert.deepEqual(Object.keys(groups.data.groups), ["0"]);
      assert.deepEqual(groups.data.groups["0"].attributes, { time: 0, dt: 1, timeUnitSI: 1 });
    });
  });

  it("take datasets in pieces", async () => {
    const values = counted(2_500_001);
    await writeOpenPmd(path("long.h5"), { species: { p: { count: values.length, records: { position: { values: { x: values } } } } } });
    const [{ species }] = await readOpenPmd(path("long.h5"));
    assert.deepEqual(species.p.position, { x: values });
    const box = { extents: [1200, 1100], values: counted(1_320_000) };
    await writeOpenPmd(path("plane.h5"), { meshes: { box } });
    assert.deepEqual((await readOpenPmd(path("plane.h5")))[0].meshes.box.values, box.values);
  });

  it("hold the fields of a grid", async () => {
    const grid = dense(jsSet(2), [5, 4, 6], { active: (x, y, z) => noise(x, y, z) > -0.2 });
    const fields = [
      grid.field("density", f64, { fillValue: 0.5 }),
      grid.field("u", f32, { cardinality: 3, layout: "aos" }),
      grid.field("n", i32, { cardinality: 4 }),
      grid.field("b", u8),
    ] as const;
    for (const field of fields) field.fill((x, y, z, k) => x + 7 * y + 40 * z + k);
    await writeHdf5Fields(path("fields.h5"), fields, { spacing: [0.5, 1, 2] });
    const [{ meshes }] = await readOpenPmd(path("fields.h5"));
    assert.deepEqual(meshes.density.values, await fields[0].download());
    assert.deepEqual(meshes.b.values, await fields[3].download());
    assert.deepEqual(meshes.active.values, grid.mask);
    const u = await fields[1].download();
    for (const [k, axis] of ["x", "y", "z"].entries())
      assert.deepEqual(
        (meshes.u.values as Record<string, Float32Array>)[axis],
        u.filter((_, n) => n % 3 === k),
      );
    assert.deepEqual(Object.keys(meshes.n.values), ["0", "1", "2", "3"]);
    assert.deepEqual(
      [meshes.u.extents, meshes.u.spacing],
      [
        [5, 4, 6],
        [0.5, 1, 2],
      ],
    );
    const odd = grid.field("density & more", f64);
    await assert.rejects(writeHdf5Fields(path("odd.h5"), [odd]), /openPMD has no name "density & more": give one of letters, digits and _/);
    grid.free();
  });

  it("are shown by XDMF files beside them", async () => {
    await writeOpenPmd(path("shown.h5"), SNAPSHOT);
    await writeOpenPmd(path("shown.h5"), { step: 40, time: 3, meshes: { line: { extents: [7], values: counted(7) } } }, "add");
    assert.equal(await writeXdmf(path("shown.h5")), path("shown.xmf"));
    const text = readFileSync(path("shown.xmf"), "utf8");
    assert.match(text, /<Time Value="1.5"\/>[\s\S]*<Time Value="3"\/>/);
    assert.match(text, /<Topology TopologyType="3DCoRectMesh" Dimensions="3 4 5"\/>/);
    assert.match(text, /Dimensions="3".*>3 2 1<[\s\S]*>0.3 0.2 0.1</);
    assert.match(text, /Name="E" AttributeType="Vector" Center="Cell">\n<DataItem .*JOIN\(\$0, \$1, \$2\)" Dimensions="2 3 4 3">/);
    assert.match(text, /<DataItem Dimensions="2 3 4" NumberType="Float" Precision="4" Format="HDF">shown.h5:\/data\/20\/meshes\/rho</);
    assert.match(text, /<Topology TopologyType="Polyvertex" NumberOfElements="5"/);
    assert.match(text, /shown.h5:\/data\/20\/particles\/electrons\/position\/z</);
    assert.match(text, /Dimensions="2 2 8"[\s\S]*shown.h5:\/data\/40\/meshes\/line</);
  });

  it("tell where the cells of stretched grids lie", async () => {
    const grid = dense(jsSet(1), [5, 4]);
    const u = grid.field("u", f64);
    u.fill((x, y) => x + 10 * y);
    const faces = [
      [0, 1, 3, 4, 8, 9],
      [-1, 0, 0.5, 1, 2],
    ];
    await writeHdf5Fields(path("stretched.h5"), [u], { faces });
    await writeOpenPmd(path("stretched.h5"), { step: 1, meshes: { even: { extents: [5, 4], values: counted(20) } } }, "add");
    const [{ meshes }, { meshes: even }] = await readOpenPmd(path("stretched.h5"));
    assert.deepEqual(
      meshes.u.faces?.map((values) => [...values]),
      faces,
    );
    assert.deepEqual([meshes.u.origin, meshes.u.spacing, even.even.faces], [[0, -1], [1.8, 0.75], undefined]);
    await writeXdmf(path("stretched.h5"));
    const text = readFileSync(path("stretched.xmf"), "utf8");
    assert.match(text, /<Topology TopologyType="3DRectMesh" Dimensions="2 5 6"\/>\n<Geometry GeometryType="VXVYVZ">/);
    assert.match(
      text,
      /<DataItem Dimensions="6" .*>0 1 3 4 8 9<.*\n<DataItem Dimensions="5" .*>-1 0 0.5 1 2<.*\n<DataItem Dimensions="2" .*>0 1</,
    );
    assert.match(text, /<Topology TopologyType="3DCoRectMesh" Dimensions="2 5 6"\/>/);
    await assert.rejects(writeHdf5Fields(path("no.h5"), [u], { faces: [faces[0]] }), /0 faces along y for 4 cells/);
    const long = { faces: [Float64Array.from({ length: 9001 }, (_, n) => n)] };
    const line = { extents: [9000], geometry: long, values: 0 };
    await assert.rejects(
      writeOpenPmd(path("no.h5"), { meshes: { line: { ...line, values: new Float64Array(9000) } } }),
      /9001 faces along x: a file takes 8000/,
    );
    grid.free();
  });

  it("that cannot be written or read are named", async () => {
    await assert.rejects(writeOpenPmd(join(folder, "no", "x.h5"), SNAPSHOT), /no.x\.h5 cannot be written: ENOENT/);
    await assert.rejects(readOpenPmd(path("absent.h5")), /absent\.h5 cannot be read: ENOENT/);
    await assert.rejects(writeOpenPmd(path("absent.h5"), SNAPSHOT, "add"), /absent\.h5 cannot be read: ENOENT/);
    writeFileSync(path("text.h5"), "no such thing");
    await assert.rejects(readOpenPmd(path("text.h5")), /text\.h5 is not an HDF5 file/);
    await assert.rejects(recordsOf([]), /no fields to write/);
  });

  it("that are damaged are named, whether they are read or added to", async () => {
    const file = path("whole.h5");
    await writeOpenPmd(file, SNAPSHOT);
    const whole = readFileSync(file);
    const damaged = {
      signature: whole.subarray(0, 8),
      start: whole.subarray(0, 700),
      garbage: Buffer.concat([whole.subarray(0, 8), Buffer.alloc(3000, 7)]),
    };
    for (const [name, bytes] of Object.entries(damaged)) {
      writeFileSync(path("damaged.h5"), bytes);
      const message = /damaged\.h5 is damaged: it begins like an HDF5 file, but HDF5 cannot read the rest; write it again/;
      await assert.rejects(readOpenPmd(path("damaged.h5")), message, name);
      await assert.rejects(writeOpenPmd(path("damaged.h5"), SNAPSHOT, "add"), message, name);
    }
    assert.ok(await readOpenPmd(file));
  });
});
