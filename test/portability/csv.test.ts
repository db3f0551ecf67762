import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
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

test("separators are found in the first row, outside of quotes and after comments", () => {
  assert.deepEqual(words("# a,b,c,d\n\na;b\n1;2,5\n"), [["1", "2,5"]]);
  assert.deepEqual(words('"a,b,c";d\n1;2\n'), [["1", "2"]]);
  assert.deepEqual(words("a\tb\n1\t\n"), [["1", ""]]);
  assert.deepEqual(words("a\n1;2\n"), [["1;2"]]);
});

test("random tables are read back from every way to write them, and every field knows its place", () => {
  const field = fc.oneof(fc.string({ unit: fc.constantFrom(...'ab1.#-;,\t "\n'), maxLength: 6 }), fc.constantFrom("", "X", "1e-3"));
  const table = fc
    .record({ columns: fc.integer({ min: 2, max: 5 }), rows: fc.integer({ min: 0, max: 5 }) })
    .chain(({ columns, rows }) =>
      fc.array(fc.array(field, { minLength: columns, maxLength: columns }), { minLength: rows, maxLength: rows }),
    );
  const form = fc.record({
    separator: fc.constantFrom(",", ";", "\t"),
    end: fc.constantFrom("\n", "\r\n"),
    skipped: fc.constantFrom("", "# x,y;z", "   "),
    mark: fc.boolean(),
    spaces: fc.constantFrom("", " ", "   "),
  });
  fc.assert(
    fc.property(table, form, (rows, { separator, end, skipped, mark, spaces }) => {
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const plain = (text: string, first: boolean) => !/["\n;,\t]/.test(text) && text.trim() === text && !(first && text.startsWith("#"));
      const places: [number, number][] = [];
      let text = mark ? "\ufeff" : "";
      const columnAt = () => text.length - Math.max(text.lastIndexOf("\n"), mark ? 0 : -1);
      const lineAt = () => text.split("\n").length;
      const names = Array.from({ length: rows[0]?.length ?? 2 }, (_, n) => `n${n}`);
      text += `${skipped}${end}${names.join(separator)}${end}`;
      for (const row of rows) {
        row.forEach((value, n) => {
          if (n > 0) text += separator;
          // A line of spaces alone would be an empty one.
          const written = plain(value, n === 0) && !(row.join("") === "") ? value : quoted(value);
          places.push([lineAt(), columnAt() + (written === "" ? 0 : spaces.length)]);
          text += spaces + written + spaces;
        });
        text += `${end}${skipped}${end}`;
      }
      const read = new CsvTable("t.csv", text);
      assert.deepEqual(
        read.rows.map((row) => row.map((one) => one.text)),
        rows.map((row) => row.map((value) => value.trim())),
      );
      assert.deepEqual(
        read.rows.flat().map(({ line, column }) => [line, column]),
        places,
      );
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("whatever a file holds, it is a table, or refused with its name", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a1,;\t "#\r\n\0\ufffd'), maxLength: 30 }), (text) => {
      try {
        const { rows, header } = new CsvTable("t.csv", text);
        assert.ok(rows.every((row) => row.length === header.length));
      } catch (error) {
        assert.ok(error instanceof InputError && /^t\.csv(:\d+:\d+)?: /.test(error.message), String(error));
      }
    }),
    { seed: 2, numRuns: 2000 },
  );
});
