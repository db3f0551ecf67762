import assert from "node:assert/strict";
import { test } from "node:test";
import { CsvTable, InputError, readCsv } from "../../src/portability/csv.js";

const words = (text: string) => new CsvTable("t.csv", text).rows.map((row) => row.map((field) => field.text));

function refuses(text: string, message: RegExp): void {
  assert.throws(
    () => new CsvTable("t.csv", text),
    (error) => error instanceof InputError && message.test(error.message),
    String(message),
  );
}

test("quotes, escaped quotes, commas and line ends in fields, CRLF, byte order mark, empty lines, no last line end", () => {
  assert.deepEqual(words('\ufeffa,b\r\n"x, y","say ""no"""\r\n\r\n"two\nlines",'), [
    ["x, y", 'say "no"'],
    ["two\nlines", ""],
  ]);
});

test("a field knows its line and column, behind quoted line ends too", () => {
  const { rows } = new CsvTable("t.csv", 'a,b\n"1\n2",bad\n3,x\n');
  assert.deepEqual([rows[0][1].line, rows[0][1].column], [3, 4]);
  assert.deepEqual([rows[1][1].line, rows[1][1].column], [4, 3]);
});

test("what is no table is refused with its place", () => {
  refuses("", /^t\.csv: the file is empty/);
  refuses("a,b\n1,2,3\n", /^t\.csv:2:1: the row has 3 fields where the first row has 2/);
  refuses("a,a\n", /^t\.csv:1:3: column "a" appears twice/);
  refuses('a\n"open\n', /^t\.csv:2:1: the quoted field has no closing quote/);
  refuses('a\n"x"y\n', /^t\.csv:2:4: a quoted field must end/);
});

test("numbers must be positive, finite, decimal", () => {
  const table = new CsvTable("t.csv", "n\n1.5e-3\n-2\n0\nNaN\n1e999\n0x10\n");
  assert.equal(table.positive(table.rows[0][0], "seconds"), 1.5e-3);
  for (const [row, message] of [
    [1, /t\.csv:3:1: seconds is -2: it must be greater/],
    [2, /is 0:/],
    [3, /"NaN", which is not a number/],
    [4, /finite/],
    [5, /not a number/],
  ] as const)
    assert.throws(() => table.positive(table.rows[row][0], "seconds"), message);
});

test("counts are whole numbers from 0 on", () => {
  const table = new CsvTable("t.csv", "run\n0\n1.5\n-1\n");
  assert.equal(table.count(table.rows[0][0], "run"), 0);
  assert.throws(() => table.count(table.rows[1][0], "run"), /t\.csv:3:1: run is 1\.5: it must be a whole number/);
  assert.throws(() => table.count(table.rows[2][0], "run"), /t\.csv:4:1: run is -1/);
});

test("a missing column names those that are there", () => {
  assert.throws(() => new CsvTable("t.csv", "a,b\n").column("seconds"), /t\.csv:1: no column "seconds": the first row names a, b/);
});

test("a file that is not there is refused in words", async () => {
  await assert.rejects(readCsv("/nowhere/t.csv"), /\/nowhere\/t\.csv: there is no such file/);
});
