import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { ColumnType, Table } from "../../../src/io/index.js";
import { columnOf, numbersOf, readTable, tableFormatOf, writeEcsv, writeFits, writeTables } from "../../../src/io/index.js";
import { contentOf, randomTable } from "./random-table.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-tables-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const ALL: readonly ColumnType[] = ["bool", "u8", "i16", "i32", "i64", "u64", "f32", "f64", "text"];
const FORMATS = [
  { file: "t.ecsv", types: ALL, lists: false, ascii: false },
  { file: "t.fits", types: ALL, lists: true, ascii: true },
  { file: "t.vot", types: ALL.filter((type) => type !== "u64"), lists: true, ascii: false },
] as const;
const SEEDS = 60;

for (const { file, ...wanted } of FORMATS)
  describe(`random tables in ${file}`, () => {
    it("come back with every bit, type, unit and missing value, also from gzip", async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const table = randomTable(seed, wanted);
        await writeTables(at(file), [table]);
        const read = await readTable(at(file));
        const name = file === "t.ecsv" ? undefined : table.name;
        assert.deepEqual(contentOf({ ...read, name }), contentOf({ ...table, name }), `seed ${seed}`);
        if (seed % 10 !== 0) continue;
        writeFileSync(at(`${file}.gz`), gzipSync(readFileSync(at(file))));
        const unpacked = await readTable(at(`${file}.gz`));
        assert.deepEqual(contentOf(unpacked), contentOf(read), `seed ${seed}`);
      }
    });
    it("come back with metadata, and with the columns that are asked for", async () => {
      const table = randomTable(3, wanted);
      await writeTables(at(file), [table]);
      const some = [table.columns[0].name, "nothing"];
      const { metadata, columns } = await readTable(at(file), { columns: some });
      for (const [key, value] of Object.entries(table.metadata!)) assert.equal(String(metadata![key]), String(value), key);
      assert.deepEqual(
        columns.map(({ name }) => name),
        [some[0]],
      );
    });
  });

describe("tables", () => {
  const table: Table = {
    name: "STARS",
    columns: [
      { name: "source_id", type: "i64", values: BigInt64Array.of(4318465066420528000n, 5n) },
      { name: "ra", type: "f64", unit: "deg", values: Float64Array.of(0.1, NaN), description: "right ascension" },
    ],
  };

  it("several share a FITS file or a VOTable, and are found by name", async () => {
    const other: Table = { name: "MORE", columns: [{ name: "x", type: "u8", values: Uint8Array.of(1, 2, 3) }] };
    for (const file of ["two.fits", "two.vot"]) {
      await writeTables(at(file), [table, other]);
      assert.deepEqual(contentOf(await readTable(at(file), { table: "MORE" })), contentOf(other));
      assert.deepEqual(contentOf(await readTable(at(file))), contentOf(table));
      await assert.rejects(readTable(at(file), { table: "NONE" }), /does not have a .*table "NONE": it has STARS, MORE/);
    }
    await assert.rejects(writeTables(at("two.ecsv"), [table, other]), /it holds one table, not 2: write FITS or VOTable/);
  });

  it("of plain CSV get the types of their values, and rows know their lines", async () => {
    writeFileSync(at("plain.csv"), '# a comment\nid, x ,name\n4318465066420528000,1.5,"a,b"\n\n7,null,\n');
    const read = await readTable(at("plain.csv"));
    assert.deepEqual(
      read.columns.map(({ name, type }) => [name, type]),
      [
        ["id", "i64"],
        ["x", "f64"],
        ["name", "text"],
      ],
    );
    assert.equal((columnOf(read, "id", "f").values as BigInt64Array)[0], 4318465066420528000n);
    assert.deepEqual([...numbersOf(columnOf(read, "x", "f"), "f")], [1.5, NaN]);
    assert.deepEqual([read.where(0), read.where(1)], [`${at("plain.csv")}:3`, `${at("plain.csv")}:5`]);
    assert.throws(() => columnOf(read, "y", "f"), /f: no column "y": it has id, x, name/);
    assert.throws(() => numbersOf(columnOf(read, "name", "f"), "f"), /the column "name" has texts, and numbers are needed/);
  });

  it("of ECSV with headers in block style and folded lines are read, as archives write them", async () => {
    const header = [
      "%ECSV 1.0",
      "---",
      "delimiter: ','",
      "datatype:",
      "-",
      "  name: source_id",
      "  datatype: int64",
      "  description: Unique identifier (unique within a particular",
      "    release): one a source",
      "- name: ra",
      "  datatype: float64",
      "  unit: deg",
      "- {name: 'a: b', datatype: string, meta: {ucd: x, list: [1, 2]},",
      '  description: "it\\u0027s, here"}',
      "meta: !!omap",
      "- {release: DR4}",
      "- name: t",
      "schema: astropy-2.0",
    ];
    writeFileSync(at("block.ecsv"), `${header.map((line) => `# ${line}\n`).join("")}source_id,ra,a: b\n5,null,"q ""z"""\n`);
    const { columns, metadata } = await readTable(at("block.ecsv"));
    assert.deepEqual(
      columns.map(({ name, type, unit, description }) => [name, type, unit, description]),
      [
        ["source_id", "i64", undefined, "Unique identifier (unique within a particular release): one a source"],
        ["ra", "f64", "deg", undefined],
        ["a: b", "text", undefined, "it's, here"],
      ],
    );
    assert.deepEqual([columns[1].values[0], columns[2].values[0]], [NaN, 'q "z"']);
    assert.deepEqual([metadata!.release, metadata!.name], ["DR4", "t"]);
  });

  it("of VOTable as text are read, with null values and texts in CDATA", async () => {
    writeFileSync(
      at("text.vot"),
      `<?xml version="1.0"?><!-- c --><v:VOTABLE xmlns:v="http://www.ivoa.net/xml/VOTable/v1.3"><v:RESOURCE><v:TABLE name="t">
<v:FIELD name="n" datatype="int"><v:VALUES null="-99"/></v:FIELD><v:FIELD name="x" datatype="double" arraysize="2"/><v:FIELD name="s" datatype="char" arraysize="*"/>
<v:DATA><v:TABLEDATA><v:TR><v:TD>-99</v:TD><v:TD> 1 2.5 </v:TD><v:TD><![CDATA[a<b]]></v:TD></v:TR><v:TR><v:TD>4</v:TD><v:TD>NaN 1</v:TD><v:TD/></v:TR></v:TABLEDATA></v:DATA></v:TABLE></v:RESOURCE></v:VOTABLE>`,
    );
    const [n, x, s] = (await readTable(at("text.vot"))).columns;
    assert.deepEqual(
      [[...(n.values as Int32Array)], n.missing && [...n.missing]],
      [
        [0, 4],
        [1, 0],
      ],
    );
    assert.deepEqual(
      [[...(x.values as Float64Array)], Array.from(x.offsets!)],
      [
        [1, 2.5, NaN, 1],
        [0, 2, 4],
      ],
    );
    assert.deepEqual(s.values, ["a<b", ""]);
  });

  it("of VOTable have NaN in empty cells of floats, and a missing 0 or false in others", async () => {
    const types = ["double", "float", "int", "long", "boolean"];
    const fields = types.map((type) => `<FIELD name="${type}" datatype="${type}"/>`).join("");
    const rows = `<TR>${"<TD/>".repeat(5)}</TR><TR>${["1.5", "2.5", "3", "4", "?"].map((word) => `<TD>${word}</TD>`).join("")}</TR>`;
    writeFileSync(
      at("empty.vot"),
      `<VOTABLE xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>${fields}<DATA><TABLEDATA>${rows}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`,
    );
    const { columns } = await readTable(at("empty.vot"));
    assert.deepEqual(
      columns.map(({ values }) => [...(values as Float64Array)]),
      [
        [NaN, 1.5],
        [NaN, 2.5],
        [0, 3],
        [0n, 4n],
        [0, 0],
      ],
    );
    assert.deepEqual(
      columns.map(({ missing }) => missing && [...missing]),
      [undefined, undefined, [1, 0], [1, 0], [1, 1]],
    );
  });

  it("that a format cannot hold are refused before the file is touched", async () => {
    const with_ = (column: object): Table => ({
      columns: [table.columns[0], { name: "x", type: "f64", values: Float64Array.of(1, 2), ...column } as never],
    });
    const bad: [Table, string, RegExp][] = [
      [with_({ values: Float64Array.of(1) }), "b.fits", /column "x" has 1 rows, and the first one 2: give all the same/],
      [with_({ name: "source_id" }), "b.ecsv", /two columns have the name "source_id": rename one/],
      [with_({ name: "" }), "b.vot", /"" is not a column's name/],
      [with_({ name: "a\u0000" }), "b.vot", /control characters/],
      [with_({ values: [1, 2] }), "b.fits", /column "x" of type f64 needs a Float64Array/],
      [with_({ name: "é" }), "b.fits", /FITS has names of up to 68 ASCII characters, and a column is called "é": rename it, or write ECSV/],
      [with_({ unit: "µas" }), "b.fits", /units in ASCII/],
      [with_({ type: "text", values: ["a", "ü"] }), "b.fits", /texts in ASCII, and row 2 of the column "x" has others: write ECSV/],
      [with_({ name: "SOURCE_ID" }), "b.fits", /two columns are called "SOURCE_ID": rename one/],
      [with_({ offsets: [0, 1, 2] }), "b.ecsv", /the column "x" has lists: write FITS or VOTable/],
      [with_({ offsets: [0, 2, 1] }), "b.fits", /offsets of the column "x" do not rise/],
      [with_({ type: "u64", values: BigUint64Array.of(1n, 2n) }), "b.vot", /no unsigned 64-bit integers, and the column "x" has them/],
      [with_({}), "b.txt", /does not tell a format of tables: end it in \.ecsv, \.csv, \.fits/],
      [with_({}), "b.fits.gz", /leave \.gz out/],
      [{ ...with_({}), metadata: { "long key": 1 } }, "b.fits", /"long key" is not a keyword of FITS/],
      [{ ...with_({}), metadata: { X: NaN } }, "b.fits", /the value of X is not ASCII text or a finite number/],
    ];
    for (const [each, file, message] of bad) {
      await assert.rejects(writeTables(at(file), [each]), message);
      assert.throws(() => readFileSync(at(file)));
    }
    const full: Table = {
      columns: [
        {
          name: "x",
          type: "u8",
          values: Uint8Array.from({ length: 257 }, (_, n) => n),
          missing: Uint8Array.from({ length: 257 }, (_, n) => (n === 256 ? 1 : 0)),
        },
      ],
    };
    await assert.rejects(writeFits(at("b.fits"), full), /every value that u8 has: give it a wider type/);
    await assert.rejects(writeEcsv(at("b.ecsv"), { columns: [] }), /ECSV needs a column/);
    assert.equal(tableFormatOf("A.FITS.GZ"), "fits");
  });
});
