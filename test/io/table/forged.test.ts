import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { IsoformError } from "../../../src/base/errors.js";
import type { Table } from "../../../src/io/index.js";
import { readNpz, readTable, writeNpz, writeTables } from "../../../src/io/index.js";
import { randomNumbers } from "./random-table.js";

/* Files that are cut off, changed, or that ask for more than they have: each is refused with its name, or read; none ends a program in another way. */

const folder = mkdtempSync(join(tmpdir(), "isoform-forged-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const TABLE: Table = {
  name: "T",
  metadata: { KEY: 1 },
  columns: [
    { name: "id", type: "i64", values: BigInt64Array.of(1n, 2n, 3n), missing: Uint8Array.of(0, 1, 0) },
    { name: "x", type: "f64", values: Float64Array.of(1.5, NaN, 2), unit: "deg" },
    { name: "s", type: "text", values: ["a", "b c", ""] },
  ],
};
const LISTS: Table = {
  ...TABLE,
  columns: [...TABLE.columns, { name: "l", type: "f64", values: Float64Array.of(1, 2, 3), offsets: [0, 2, 2, 3] }],
};

/** The content of a file that was written, with a change. */
async function changed(name: string, table: Table, change: (bytes: Buffer) => Buffer | string): Promise<string> {
  await writeTables(at(name), [table]);
  writeFileSync(at(name), change(readFileSync(at(name))));
  return at(name);
}

/** A card of a FITS file replaced by another of the same key; sums are taken away. */
const card =
  (key: string, value: string) =>
  (bytes: Buffer): Buffer => {
    const place = bytes.indexOf(`${key.padEnd(8)}=`, 2880, "latin1");
    bytes.write(`${key.padEnd(8)}= ${value.padStart(20)}`.padEnd(80), place, "latin1");
    for (const sum of ["DATASUM", "CHECKSUM"]) bytes.write("X       ", bytes.indexOf(sum, 2880, "latin1"), "latin1");
    return bytes;
  };

describe("forged FITS files", () => {
  const BAD: [what: string, change: (bytes: Buffer) => Buffer | string, message: RegExp][] = [
    ["another format", () => "hello", /is not a FITS file/],
    ["nothing", () => "", /is not a FITS file/],
    ["cut off in the header", (bytes) => bytes.subarray(0, 3000), /the header at byte 2880 has no END/],
    ["cut off in the data", (bytes) => bytes.subarray(0, bytes.length - 2880), /is damaged: it has \d+ bytes and needs \d+/],
    ["a changed byte", (bytes) => ((bytes[bytes.length - 2880] ^= 1), bytes), /DATASUM does not match/],
    ["a changed header", (bytes) => (bytes.write("deh", bytes.indexOf("deg"), "latin1"), bytes), /CHECKSUM does not match/],
    ["a huge number of rows", card("NAXIS2", "9000000000000"), /is damaged: it has \d+ bytes and needs/],
    ["more rows than integers", card("NAXIS2", "99999999999999999999"), /NAXIS2 is "9+", not a whole number/],
    ["a negative width", card("NAXIS1", "-8"), /NAXIS1 is "-8"/],
    ["another width", card("NAXIS1", "9"), /its columns have \d+ bytes a row, and NAXIS1 is 9/],
    ["too many columns", card("TFIELDS", "1000"), /TFIELDS is "1000", not a whole number from 0 to 999/],
    ["columns without form", card("TFIELDS", "7"), /the column "column 5" has the form ""/],
    ["another form", card("TFORM2", "'1Z'"), /the column "x" has the form "1Z"/],
    ["a form that is not read", card("TFORM2", "'1C'"), /the column "x" has the form 1C: isoform reads L, B, I/],
  ];
  for (const [what, change, message] of BAD)
    it(`with ${what} are refused`, async () => {
      await assert.rejects(readTable(await changed("t.fits", LISTS, change)), (error: Error) => {
        assert.ok(error instanceof IsoformError);
        assert.match(error.message, message);
        assert.ok(error.message.includes("t.fits"));
        return true;
      });
    });
  it("with lists beyond the heap are refused", async () => {
    for (const value of [4n, -1n, 2n ** 62n]) {
      const path = await changed("t.fits", LISTS, (bytes) => {
        const data = bytes.length - 2880;
        bytes.writeBigInt64BE(value, data + 8 + 8 + 3);
        return card("GCOUNT", "1")(bytes);
      });
      await assert.rejects(readTable(path), /a list of the column "l" has -?\d+ values at 0, beyond the table/);
    }
  });
});

describe("forged texts", () => {
  const BAD: [name: string, text: string | Buffer, message: RegExp][] = [
    ["a.ecsv", "", /is not a table: it has no line with the names/],
    ["a.ecsv", "# %ECSV 3.7\n# ---\na\n1\n", /a\.ecsv:1: the version "%ECSV 3\.7" is not known/],
    ["a.ecsv", "# %ECSV 1.0\n# ---\n# schema: x\na\n1\n", /a\.ecsv:3: an ECSV header without a list "datatype:"/],
    ["a.ecsv", "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a}\na\n1\n", /a\.ecsv:4: a column needs name and datatype/],
    ["a.ecsv", "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a, datatype: complex64}\na\n1\n", /the datatype "complex64": there are bool/],
    [
      "a.ecsv",
      "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a, datatype: int8\na\n1\n",
      /a\.ecsv:4: this map of an ECSV header is not closed/,
    ],
    ["a.ecsv", "# %ECSV 1.0\n# ---\n# delimiter: '|'\n# datatype:\n# - {name: a, datatype: int8}\na\n1\n", /a\.ecsv:3: delimiter "\|"/],
    [
      "a.ecsv",
      "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a, datatype: int32}\nb\n1\n",
      /a\.ecsv:5: the names "b" are not the header's 1 columns/,
    ],
    [
      "a.ecsv",
      "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a, datatype: int32}\na\n1\n3000000000\n",
      /a\.ecsv:7: "3000000000" in the column "a" is not a value of the type i32/,
    ],
    [
      "a.ecsv",
      "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: a, datatype: string, subtype: 'float64[null]'}\na\n[1]\n",
      /subtype float64\[null\]/,
    ],
    ["a.csv", "a,b\n1\n", /a\.csv:2: 1 values, and the table has 2 columns/],
    ["a.csv", 'a,b\n"1,2\n3\n', /a\.csv:2: a quote is open at the end of the file/],
    ["a.csv", 'a,b\n"1"2,3\n', /a\.csv:2: a quote is followed by more text/],
    ["a.csv", "a,a\n", /a\.csv:1: two columns have the name "a"/],
    ["a.csv", Buffer.from([97, 10, 0xff, 10]), /a\.csv:1: not text in UTF-8/],
    ["a.csv.gz", gzipSync("a,b\n1,2\n".repeat(1000)).subarray(0, 40), /a\.csv\.gz is damaged after line \d+: unexpected end of file/],
    ["a.fits.gz", gzipSync("SIMPLE").subarray(0, 12), /is damaged: it begins like a file of gzip/],
    ["a.vot", "<html></html>", /is not a VOTable: it begins with <html>/],
    ["a.vot", "<VOTABLE><TABLE>", /a\.vot:1: XML ends inside of <TABLE>/],
    ["a.vot", "<VOTABLE></RESOURCE>", /<\/RESOURCE> ends an element that is not open/],
    ["a.vot", '<!DOCTYPE a [<!ENTITY b "c">]><VOTABLE/>', /a document type: leave it out/],
    ["a.vot", '<VOTABLE><TABLE name="&b;"/></VOTABLE>', /"&b" is not an entity of XML/],
    ["a.vot", '<VOTABLE><TABLE><FIELD name="x" datatype="floatComplex"/></TABLE></VOTABLE>', /datatype "floatComplex": isoform reads/],
    [
      "a.vot",
      '<VOTABLE><TABLE><FIELD name="x" datatype="int" arraysize="2x3"/></TABLE></VOTABLE>',
      /arraysize "2x3": isoform reads lists with one axis/,
    ],
    [
      "a.vot",
      '<VOTABLE><TABLE><FIELD name="x" datatype="int"/><DATA><TABLEDATA>\n<TR><TD>1.5</TD></TR></TABLEDATA></DATA></TABLE></VOTABLE>',
      /a\.vot:2: "1\.5" in the column "x" is not a value of the type int/,
    ],
    [
      "a.vot",
      '<VOTABLE><TABLE><FIELD name="x" datatype="int"/><DATA><BINARY><STREAM encoding="base64">AAAA</STREAM></BINARY></DATA></TABLE></VOTABLE>',
      /the rows end inside of row 1/,
    ],
    [
      "a.vot",
      '<VOTABLE><TABLE><FIELD name="x" datatype="int" arraysize="*"/><DATA><BINARY><STREAM encoding="base64">/////w==</STREAM></BINARY></DATA></TABLE></VOTABLE>',
      /the rows end inside of row 1/,
    ],
    [
      "a.vot",
      '<VOTABLE><TABLE><FIELD name="x" datatype="int" arraysize="0"/><DATA><BINARY><STREAM encoding="base64">AAAA</STREAM></BINARY></DATA></TABLE></VOTABLE>',
      /rows without bytes/,
    ],
    [
      "a.vot",
      '<VOTABLE><TABLE><FIELD name="x" datatype="int"/><DATA><BINARY2><STREAM encoding="base64">A?=A</STREAM></BINARY2></DATA></TABLE></VOTABLE>',
      /this is not base64/,
    ],
    [
      "a.vot",
      '<VOTABLE><TABLE><DATA><BINARY><STREAM href="file:///etc/passwd"/></BINARY></DATA></TABLE></VOTABLE>',
      /the rows are in another file/,
    ],
  ];
  for (const [name, text, message] of BAD)
    it(`${name}: ${message.source}`, async () => {
      writeFileSync(at(name), text);
      await assert.rejects(readTable(at(name)), (error: Error) => {
        assert.ok(error instanceof IsoformError, error.stack);
        assert.match(error.message, message);
        return true;
      });
    });
  it("files that are not there or are folders are refused", async () => {
    await assert.rejects(readTable(at("none.fits")), /none\.fits cannot be read/);
    await assert.rejects(readTable(at("none.ecsv")), /none\.ecsv cannot be read/);
    await assert.rejects(readTable(folder), /does not tell a format of tables/);
  });
});

describe("files with changed bytes", () => {
  for (const name of ["t.fits", "t.vot", "t.ecsv", "a.npz"])
    it(`${name}: are read or refused by name`, async () => {
      const random = randomNumbers(7);
      const path = at(name);
      if (name === "a.npz") await writeNpz(path, { a: Float64Array.of(1, 2), b: "csr" });
      else await writeTables(path, [name === "t.ecsv" ? TABLE : LISTS]);
      const whole = readFileSync(path);
      for (let n = 0; n < 150; n++) {
        let bytes = Buffer.from(whole);
        const place = Math.floor(random() * bytes.length);
        if (n % 3 === 0) bytes = bytes.subarray(0, place);
        else bytes[place] ^= 1 << Math.floor(random() * 8);
        writeFileSync(path, bytes);
        await (name === "a.npz" ? readNpz(path) : readTable(path)).catch((error: Error) => {
          assert.ok(error instanceof IsoformError && error.message.includes(name), `${n}: ${error.stack}`);
        });
      }
    });
});
