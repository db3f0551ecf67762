import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Column, Table } from "../../../src/io/index.js";
import { readTable, writeEcsv, writeFits, writeNpz, writeVotable } from "../../../src/io/index.js";
import { contentOf } from "./random-table.js";
import { python, pythonLacks } from "./python.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-astropy-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const [astropy, scipy] = [await pythonLacks("astropy"), await pythonLacks("scipy")];

const COLUMNS: Column[] = [
  { name: "source_id", type: "i64", values: BigInt64Array.of(4318465066420528000n, 5n, -7n) },
  { name: "ra", type: "f64", unit: "deg", values: Float64Array.of(0.1, 359.99999999999994, 12.5), description: "it's" },
  { name: "parallax", type: "f64", unit: "mas", values: Float64Array.of(1.5, NaN, -2e-3) },
  { name: "corr", type: "f32", values: Float32Array.of(0.25, -1, 0.5) },
  { name: "n_obs", type: "i16", values: Int16Array.of(9, 8, 62), missing: Uint8Array.of(0, 1, 0) },
  { name: "used", type: "bool", values: Uint8Array.of(1, 0, 1) },
  { name: "label", type: "text", values: ["a", 'it\'s, "b"', "c d"] },
];
const TABLE: Table = { name: "STARS", metadata: { LABEL: "x".repeat(150), EPOCH: 2017.5 }, columns: COLUMNS };
const LISTS: Table = {
  ...TABLE,
  columns: [...COLUMNS, { name: "l", type: "f64", values: Float64Array.of(1, 2.5, 3), offsets: [0, 2, 2, 3] }],
};

/** Prints a table's values as JSON: integers and floats by their repr. */
const SHOW = `
import sys, json, numpy as np
def show(t):
  def one(v):
    if v is np.ma.masked: return "missing"
    if isinstance(v, (np.ndarray, list)): return [one(w) for w in v]
    if isinstance(v, bytes): return v.decode()
    if isinstance(v, (bool, np.bool_)): return bool(v)
    if isinstance(v, (float, np.floating)): return repr(float(v))
    return str(v)
  print(json.dumps({n: [one(v) for v in t[n]] for n in t.colnames}))
  print(json.dumps({n: str(t[n].unit) for n in t.colnames if t[n].unit}))
`;
const EXPECTED = {
  source_id: ["4318465066420528000", "5", "-7"],
  ra: ["0.1", "359.99999999999994", "12.5"],
  parallax: ["1.5", "nan", "-0.002"],
  corr: ["0.25", "-1.0", "0.5"],
  n_obs: ["9", "missing", "62"],
  used: [true, false, true],
  label: ["a", 'it\'s, "b"', "c d"],
};

/** Compares what Python has read. */
function compare(lines: readonly string[], expected: object): void {
  const [values, units] = lines.map((line) => JSON.parse(line));
  // astropy masks NaN in some formats.
  values.parallax = values.parallax.map((value: string) => (value === "missing" ? "nan" : value));
  assert.deepEqual(values, expected);
  assert.deepEqual(units, { ra: "deg", parallax: "mas" });
}

describe("astropy", { skip: astropy }, () => {
  it("reads our ECSV with either delimiter, FITS with headers, checksums and long texts, and VOTable, also lists", async () => {
    await writeEcsv(at("comma.ecsv"), TABLE);
    await writeEcsv(at("space.ecsv"), TABLE, { delimiter: " " });
    await writeFits(at("t.fits"), [LISTS, TABLE]);
    await writeVotable(at("t.vot"), LISTS);
    const program = `${SHOW}
from astropy.io import fits
from astropy.table import Table
d = sys.argv[1]
with fits.open(d + "/t.fits", checksum=True) as h:
  h.verify("exception")
  assert h["STARS"].header["LABEL"] == "x" * 150 and h["STARS"].header["EPOCH"] == 2017.5
  assert [list(v) for v in h[1].data["l"]] == [[1.0, 2.5], [], [3.0]]
show(Table.read(d + "/comma.ecsv", format="ascii.ecsv"))
show(Table.read(d + "/space.ecsv", format="ascii.ecsv"))
show(Table.read(d + "/t.fits", hdu=2))
show(Table.read(d + "/t.vot", format="votable"))`;
    const lines = (await python(program, folder)).trim().split("\n");
    for (const n of [0, 1, 2]) compare(lines.slice(2 * n, 2 * n + 2), EXPECTED);
    compare(lines.slice(6), { ...EXPECTED, l: [["1.0", "2.5"], [], ["3.0"]] });
  });
  it("writes tables that we read: FITS with unsigned integers and lists, ECSV, VOTable", async () => {
    const program = `
import sys, numpy as np
from astropy.io import fits
from astropy.table import Table, MaskedColumn
d = sys.argv[1]
t = Table(dict(source_id=np.array([2**62, 1, 3], dtype=np.int64), name=["a", "bcd", "e'f"], ok=[True, False, True], flag=np.array([1, 2, 3], np.int16), ra=np.array([1.5, np.nan, 3.0])))
t["ra"].unit = "deg"
u = t.copy(); u["transit"] = np.array([2**63 + 5, 1, 2], dtype=np.uint64)
h = fits.BinTableHDU(u)
c = fits.ColDefs([fits.Column("l", "PD()", array=np.array([np.array([1.0, 2.5]), np.array([3.0]), np.array([4.0, 5.0, 6.0])], dtype=object))])
fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(h.columns + c)]).writeto(d + "/a.fits", checksum=True)
t["n"] = MaskedColumn(np.array([4, 5, 6], np.int32), mask=[False, True, False])
t.write(d + "/a.ecsv", format="ascii.ecsv")
t.write(d + "/a.vot", format="votable", tabledata_format="binary2")
t.write(d + "/b.vot", format="votable")
del t["n"]
t.write(d + "/c.vot", format="votable", tabledata_format="binary")
`;
    await python(program, folder);
    const values = {
      source_id: [String(2n ** 62n), "1", "3"],
      name: ["a", "bcd", "e'f"],
      ok: ["1", "0", "1"],
      flag: ["1", "2", "3"],
      ra: ["1.5", "NaN", "3"],
    };
    const of = async (name: string) => {
      const { columns } = contentOf(await readTable(at(name))) as {
        columns: { column: string; values: string[]; unit?: string; offsets?: number[] }[];
      };
      assert.equal(columns.find(({ column }) => column === "ra")!.unit, "deg");
      return Object.fromEntries(columns.map(({ column, values: found }) => [column, found]));
    };
    assert.deepEqual(await of("a.fits"), { ...values, transit: [String(2n ** 63n + 5n), "1", "2"], l: ["1", "2.5", "3", "4", "5", "6"] });
    assert.deepEqual(await of("a.ecsv"), { ...values, n: ["4", "missing", "6"] });
    for (const name of ["a.vot", "b.vot"]) assert.deepEqual(await of(name), { ...values, n: ["4", "missing", "6"] }, name);
    assert.deepEqual((await of("c.vot")).source_id, values.source_id);
  });
});

describe("NumPy and SciPy", { skip: scipy }, () => {
  it("read our arrays and sparse matrices", async () => {
    await writeNpz(at("m.npz"), {
      indices: Int32Array.of(0, 3, 1, 0, 2),
      indptr: Int32Array.of(0, 2, 3, 5),
      format: "csr",
      shape: BigInt64Array.of(3n, 4n),
      data: Float64Array.of(1, 2, 3, 4, 0.1),
      b: { shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
    });
    const program = `
import sys, json, numpy as np, scipy.sparse as sp
print(json.dumps([sp.load_npz(sys.argv[1]).toarray().tolist(), np.load(sys.argv[1])["b"].tolist()]))`;
    assert.deepEqual(JSON.parse(await python(program, at("m.npz"))), [
      [
        [1, 0, 0, 2],
        [0, 3, 0, 0],
        [4, 0, 0.1, 0],
      ],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ]);
  });
});
