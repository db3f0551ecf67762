/* Each file has one fault, and is refused with one message that begins with the fault's file, line and column. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { InputError } from "../../src/portability/csv.js";
import { readTimings } from "../../src/portability/published.js";
import type { ReadingOptions } from "../../src/portability/read-rows.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-malformed-"));
after(() => rmSync(folder, { recursive: true }));

const HEAD = "problem,platform,application,run,quantity,seconds\n";
const ROW = "q,X,a,1,iteration,1\n";
const COVERED = "problem,platform,application,fom,coverage\n";
const traced = (lines: string) => `"[{""file"":""f"",""id"":""1"",""used_lines"":${lines},""unused_lines"":[]}]"`;
const LOWER: ReadingOptions = { fom: "lower" };

interface Malformed {
  readonly text: string | Buffer;
  readonly at: string;
  readonly message: RegExp;
  readonly options?: ReadingOptions;
}

const FILES: Readonly<Record<string, Malformed>> = {
  "a negative time": { text: `${HEAD}${ROW}q,X,b,1,iteration,-1\n`, at: "3:19", message: /seconds is -1: it must be greater than 0/ },
  zero: { text: `${HEAD}q,X,a,1,iteration,0\n`, at: "2:19", message: /seconds is 0: it must be greater than 0 and finite/ },
  "too large": { text: `${HEAD}q,X,a,1,iteration,1e999\n`, at: "2:19", message: /seconds is 1e999: it must be .* finite/ },
  "too far from 1 for its square": {
    text: `${HEAD}q,X,a,1,iteration,1e-80\n`,
    at: "2:19",
    message: /seconds is 1e-80: it must lie between 1e-75 and 1e\+75: use another unit/,
  },
  infinite: { text: `${HEAD}q,X,a,1,iteration,inf\n`, at: "2:19", message: /seconds is "inf", which is not a number/ },
  "a word": { text: `${HEAD}q,X,a,1,iteration,fast\n`, at: "2:19", message: /seconds is "fast", which is not a number/ },
  "a decimal comma between semicolons": {
    text: `${HEAD.replaceAll(",", ";")}q;X;a;1;iteration;1,5\n`,
    at: "2:19",
    message: /seconds is "1,5", which is not a number: write a decimal point in place of the comma/,
  },
  "a decimal comma between commas": {
    text: `${HEAD}q,X,a,1,iteration,1,5\n`,
    at: "2:1",
    message: /the row has 7 fields where the first row has 6; a number takes a decimal point/,
  },
  "a decimal comma between tabs, in a wide table": {
    text: "platform\ta\nX\t1,5\n",
    at: "2:3",
    message: /a is "1,5", which is not a number: write a decimal point/,
    options: LOWER,
  },
  "separators of thousands": { text: `${HEAD}q,X,a,1,iteration,"1,234.5"\n`, at: "2:19", message: /no separators of thousands/ },
  "a hexadecimal number": { text: `${HEAD}q,X,a,1,iteration,0x10\n`, at: "2:19", message: /seconds is "0x10", which is not a number/ },
  "too few fields": { text: `${HEAD}${ROW}q,X,b,1\n`, at: "3:1", message: /the row has 4 fields where the first row has 6$/ },
  "too many fields, after a comment": {
    text: `# c\n${HEAD}\n${ROW.trim()},9\n`,
    at: "4:1",
    message: /the row has 7 fields where the first row has 6/,
  },
  "an open quote": { text: `${HEAD}q,"X,a,1,iteration,1\n`, at: "2:3", message: /the quoted field has no closing quote/ },
  "text after a quote": { text: `${HEAD}q,"X"Y,a,1,iteration,1\n`, at: "2:6", message: /a quoted field must end at a comma/ },
  "a column twice": { text: "problem,platform,platform,seconds\n", at: "1:18", message: /column "platform" appears twice/ },
  "an empty name": { text: `${HEAD}q,,a,1,iteration,1\n`, at: "2:3", message: /platform is empty/ },
  "a fraction of a run": { text: `${HEAD}q,X,a,1.5,iteration,1\n`, at: "2:7", message: /run is 1\.5: it must be a whole number/ },
  "a run twice": { text: `${HEAD}${ROW}${ROW}`, at: "3:7", message: /run 1 of iteration \(a, X, q\) is already in line 2/ },
  "no rows": { text: `# c\n${HEAD}`, at: "3:1", message: /the file has no timings/ },
  "everything missing": {
    text: `${HEAD}q,X,a,1,iteration,NA\nq,Y,a,1,iteration,X\n`,
    at: "2:19",
    message: /no row has a value of "iteration": this is the first of 2/,
  },
  "a quantity in capitals beside it": {
    text: `${HEAD}${ROW}q,X,b,1,Iteration,1\n`,
    at: "3:9",
    message: /quantity "Iteration" differs from "iteration" in its letters' case only/,
  },
  "seconds and figures of merit": {
    text: "problem,platform,application,seconds,fom\nq,X,a,1,1\n",
    at: "1:38",
    message: /there are the columns seconds and fom: remove one/,
  },
  "a kernel without bytes": {
    text: `${HEAD.trim()},bytes\nq,X,a,1,k,1,5\nq,X,a,1,l,1,\n`,
    at: "3:11",
    message: /kernel l has no bytes while other kernels of a on X, q have/,
  },
  "a kernel without seconds": {
    text: `${HEAD.trim()},bytes\nq,X,a,1,k,1,5\nq,X,a,1,l,X,5\n`,
    at: "3:11",
    message: /kernel l has no seconds while other kernels of a on X, q have/,
  },
  "no bytes": { text: `${HEAD.trim()},bytes\nq,X,a,1,k,1,0\n`, at: "2:13", message: /bytes is 0: it must be greater than 0/ },
  "a wide table of one column": { text: "platform\nX\n", at: "1:1", message: /one column only/, options: LOWER },
  "a wide table with a column without a name": {
    text: "platform,a,\nX,1,2\n",
    at: "1:12",
    message: /the column has no name: it must be an application's/,
    options: LOWER,
  },
  "a wide table with a platform without a name": { text: "platform,a\n,1\n", at: "2:1", message: /platform is empty/, options: LOWER },
  "a long table whose application has another name": {
    text: "problem,platform,language,fom\nq,X,a,1\n",
    at: "1:1",
    message: /no column "application" beside "problem": say which one it is with --columns application=NAME/,
    options: LOWER,
  },
  "another encoding": { text: Buffer.from(`${HEAD}q,X,\xe9,1,iteration,1\n`, "latin1"), at: "2:5", message: /a character is not UTF-8/ },
  "UTF-16": {
    text: Buffer.from(`\ufeff${HEAD}`, "utf16le"),
    at: "1:1",
    message: /a character is not UTF-8: save the file in this encoding/,
  },
  "coverage that is not JSON": {
    text: `${COVERED}q,X,a,1,main.c\n`,
    at: "2:9",
    message: /coverage is not JSON/,
    options: LOWER,
  },
  "coverage in another form": {
    text: `${COVERED}q,X,a,1,"{""file"":""f""}"\n`,
    at: "2:9",
    message: /coverage must be \[\{"file", "id", "used_lines", "unused_lines"\}, \.\.\.\]/,
    options: LOWER,
  },
  "coverage of no lines": { text: `${COVERED}q,X,a,1,${traced("[]")}\n`, at: "2:9", message: /coverage has no used line/, options: LOWER },
  "coverage on some platforms": {
    text: `${COVERED}q,X,a,1,${traced("[1]")}\nq,Y,a,1,\n`,
    at: "3:7",
    message: /a on Y \(q\) has no coverage while it has on other platforms/,
    options: LOWER,
  },
  "two coverages of one program": {
    text: `${COVERED}q,X,a,1,${traced("[1]")}\nq,X,a,2,${traced("[2]")}\n`,
    at: "3:7",
    message: /the coverage of a on X \(q\) differs from line 2/,
    options: LOWER,
  },
};

async function messageOf(file: string, options?: ReadingOptions): Promise<string> {
  const error = await readTimings(file, options).then(
    () => assert.fail(`${file} is read`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof InputError, String(error));
  return error.message;
}

describe(`${Object.keys(FILES).length} malformed files`, () => {
  for (const [name, { text, at, message, options }] of Object.entries(FILES))
    it(name, async () => {
      const file = join(folder, `${name.replaceAll(" ", "-")}.csv`);
      writeFileSync(file, text);
      const words = await messageOf(file, options);
      assert.ok(words.startsWith(`${file}:${at}: `), words);
      assert.match(words, message);
      assert.ok(!words.includes("\n"), words);
    });
});

describe("options that do not fit a file", () => {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it("figures of merit need a direction, and seconds have one", async () => {
    assert.match(await messageOf(file("fom.csv", "platform,a\nX,1\n")), /fom\.csv has figures of merit: say --fom lower or --fom higher$/);
    assert.match(await messageOf(file("seconds.csv", HEAD + ROW), { fom: "higher" }), /less seconds are better: leave out --fom higher/);
  });

  it("columns and problems that are not there", async () => {
    const path = file("columns.csv", "name,arch,language,fom\nq,X,a,1\n");
    const columns = { problem: "name", platform: "arch" };
    assert.match(
      await messageOf(path, { ...LOWER, columns }),
      /columns\.csv:1: no column "application": the first row names name, arch, language, fom; say which one it is with --columns application=NAME/,
    );
    assert.match(
      await messageOf(path, { ...LOWER, columns: { ...columns, application: "lang" } }),
      /:1: no column "lang": the first row names/,
    );
    assert.match(await messageOf(path, { columns: { speed: "fom" } }), /--columns speed=\.\.\.: unknown column: choose from application, /);
    assert.match(
      await messageOf(file("long.csv", HEAD + ROW), { problem: "q" }),
      /--problem is for tables with a column for each application/,
    );
  });

  it("coverages by keys that are not there", async () => {
    const path = file("keys.csv", "problem,platform,application,fom,coverage_key\nq,X,a,1,k1\n");
    const keys = file("coverage.csv", `coverage_key,coverage\nk2,${traced("[1]")}\n`);
    assert.match(await messageOf(path, { ...LOWER, coverage: keys }), /keys\.csv:2:9: .*coverage\.csv has no coverage with the key k1/);
    assert.match(await messageOf(file("wide.csv", "platform,a\nX,1\n"), { ...LOWER, coverage: keys }), /a wide table has no coverage keys/);
  });
});
