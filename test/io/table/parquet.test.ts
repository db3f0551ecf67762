import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readParquet, readTable, writeParquet, writeTables, type Column, type Table } from "../../../src/io/index.js";
import { python, pythonLacks } from "./python.js";
import { randomNumbers } from "./random-table.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-parquet-"));
after(() => rmSync(folder, { recursive: true }));
const missing = await pythonLacks("pyarrow");
const random = randomNumbers(7);
const at = (name: string): string => join(folder, `${name}.parquet`);

/** Columns of all types, with values at the edges. */
function columns(rows: number): Column[] {
  const whole = (): number => Math.floor(4294967296 * random()) | 0;
  const list = <T>(of: (n: number) => T): T[] => Array.from({ length: rows }, (_, n) => of(n));
  const gaps = Uint8Array.from(list(() => (random() < 0.2 ? 1 : 0)));
  const long = (): bigint => (BigInt(whole()) << 32n) | BigInt(whole() >>> 0);
  const zeroed = <A extends Int32Array | BigInt64Array>(values: A): A => {
    gaps.forEach((gap, n) => gap && (values[n] = (typeof values[n] === "bigint" ? 0n : 0) as never));
    return values;
  };
  return [
    { name: "on", type: "bool", values: Uint8Array.from(list((n) => n % 3 && 1)) },
    { name: "small", type: "u8", values: Uint8Array.from(list(whole)) },
    { name: "short", type: "i16", values: Int16Array.from(list(whole)) },
    { name: "whole", type: "i32", values: Int32Array.from(list(whole)), unit: "m" },
    { name: "source id", type: "i64", values: BigInt64Array.from(list(long)), description: "of the catalogue" },
    { name: "great", type: "u64", values: BigUint64Array.from(list(long)) },
    { name: "single", type: "f32", values: Float32Array.from(list((n) => [NaN, -0, Infinity, 1e-45, random()][n % 5])) },
    { name: "ra", type: "f64", values: Float64Array.from(list((n) => [-Infinity, -0, NaN, 5e-324, 1 / (n + 1)][n % 5])), unit: "deg" },
    { name: "name", type: "text", values: list((n) => ["", "α Cen", `star ${n}`, 'a,b\n"c"'][n % 4]) },
    { name: "count", type: "i32", values: zeroed(Int32Array.from(list(whole))), ...(gaps.includes(1) && { missing: gaps }) },
    { name: "next", type: "i64", values: zeroed(BigInt64Array.from(list(long))), ...(gaps.includes(1) && { missing: gaps }) },
  ];
}

const given = (table: Table): Table => ({ ...table, columns: table.columns.map((column) => ({ ...column })) });

describe("parquet files", () => {
  it("give tables back bit by bit", async () => {
    for (const rows of [0, 1, 7, 1000, 140_000]) {
      const table: Table = { name: "STARS", metadata: { epoch: 2016, frame: "ICRS" }, columns: columns(rows) };
      await writeParquet(at("a"), table);
      const { rows: found, where, ...read } = await readParquet(at("a"));
      assert.deepEqual(read, given(table), `${rows} rows`);
      assert.deepEqual([found, where(2)], [rows, `${at("a")}, row 3`]);
    }
    const { columns: some } = await readParquet(at("a"), { columns: ["ra", "on"] });
    assert.deepEqual(some.map(({ name }) => name).toSorted(), ["on", "ra"]);
    await writeTables(at("b"), [{ columns: columns(3) }]);
    assert.equal((await readTable(at("b"))).rows, 3);
  });

  it("refuse columns that are not there, lists, several tables, and damaged files", async () => {
    await writeParquet(at("a"), { columns: columns(50) });
    await assert.rejects(readParquet(at("a"), { columns: ["dec"] }), /no column "dec": it has on, small, short, whole/);
    await assert.rejects(readParquet(at("none")), /none\.parquet cannot be read: /);
    const whole = readFileSync(at("a"));
    writeFileSync(at("cut"), whole.subarray(0, whole.length - 9));
    await assert.rejects(readParquet(at("cut")), /cut\.parquet is not a whole Parquet file: /);
    writeFileSync(at("text"), "a,b\n1,2\n");
    await assert.rejects(readParquet(at("text")), /text\.parquet is not a whole Parquet file: /);
    const lists: Column = { name: "l", type: "f64", values: Float64Array.of(1, 2, 3), offsets: [0, 1, 3] };
    await assert.rejects(writeParquet(at("a"), { columns: [lists] }), /the column "l" has lists: write FITS or VOTable/);
    await assert.rejects(writeTables(at("a"), [{ columns: columns(1) }, { columns: columns(1) }]), /it holds one table, not 2/);
    assert.deepEqual(readFileSync(at("a")), whole);
  });
});

/** Compares our file with its values, and writes types of its own with each compression. */
const PROGRAM = `
import sys, pyarrow, pyarrow.parquet as parquet, numpy, datetime
folder = sys.argv[1]
table = parquet.read_table(f"{folder}/ours.parquet")
parquet.write_table(table, f"{folder}/again.parquet")
own = pyarrow.table({
    "i8": pyarrow.array([-128, None, 127], pyarrow.int8()), "u16": pyarrow.array([0, 65535, 7], pyarrow.uint16()),
    "u32": pyarrow.array([0, 4294967295, None], pyarrow.uint32()), "half": pyarrow.array(numpy.array([1.5, -0.0, 65504], numpy.float16)),
    "text": pyarrow.array(["a", None, "c"]), "f": pyarrow.array([1.0, None, float("nan")]),
    "day": pyarrow.array([datetime.date(2020, 1, 1)] * 3), "l": pyarrow.array([[1.0], [], [2.0, 3.0]]),
})
for how in ("none", "snappy", "gzip", "brotli"):
    parquet.write_table(own, f"{folder}/{how}.parquet", compression=how)
`;

it("parquet files have the same bits for Arrow, both ways", { skip: missing }, async () => {
  const table: Table = { columns: columns(2000) };
  await writeParquet(at("ours"), table);
  await python(PROGRAM, folder);
  const again = await readParquet(at("again"));
  const bare = ({ columns: all }: Table) =>
    all.map(({ name, type, values, missing: gaps }) => ({ name, type, values, ...(gaps && { missing: gaps }) }));
  assert.deepEqual(bare(again), bare(table));
  for (const how of ["none", "snappy", "gzip", "brotli"]) {
    await assert.rejects(readParquet(at(how)), /the column "(day|l)" has (date|lists or records), and isoform reads numbers/);
    const read = await readParquet(at(how), { columns: ["i8", "u16", "u32", "half", "text", "f"] });
    const values = Object.fromEntries(read.columns.map((column) => [column.name, column]));
    assert.deepEqual(values.i8, { name: "i8", type: "i16", values: Int16Array.of(-128, 0, 127), missing: Uint8Array.of(0, 1, 0) }, how);
    assert.deepEqual(values.u16.values, Int32Array.of(0, 65535, 7));
    assert.deepEqual(values.u32.values, BigInt64Array.of(0n, 4294967295n, 0n));
    assert.deepEqual(values.half.values, Float32Array.of(1.5, -0, 65504));
    assert.deepEqual(values.text.values, ["a", "", "c"]);
    assert.deepEqual(values.f.values, Float64Array.of(1, NaN, NaN));
  }
});
