import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

/* The command: what it prints, in each format, and how it ends. */

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
const INDEX = new URL("../../src/index.js", import.meta.url).href;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "isoform-check-")));

function check(...words: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [MAIN, "check", ...words], { cwd: folder, encoding: "utf8" });
}
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

const RACE =
  "several elements of the range may write x[0] (index x by the range's index i, use scatter or a reduction, or assert view(..., { disjoint: true }))";
const WRONG = `import { f64, kernel, view } from "isoform";
const DX = Number(process.argv[2]);
kernel("wrong", { x: view(f64) }, ({ x }, i) => {
  x[0] = i;
});
kernel("unknown", { x: view(f64) }, ({ x }, i) => (x[i] = DX), () => [DX]);
`;

test("text has a line for each problem and each kernel that is not checked", () => {
  const { status, stdout, stderr } = check(file("wrong.ts", WRONG));
  assert.equal(stderr, "");
  assert.deepEqual(stdout.split("\n"), [
    `wrong.ts:4:3: error: kernel "wrong": ${RACE}`,
    'wrong.ts:6:1: note: "unknown" not checked: DX is known only when the program runs',
    "1 kernel checked in 1 file, 1 not checked: 1 problem",
    "",
  ]);
  assert.equal(status, 1);
});

test("JSON and SARIF tell the same", () => {
  file("wrong.ts", WRONG);
  const json = JSON.parse(check("wrong.ts", "--format", "json").stdout) as {
    kernels: { name: string; checked: boolean }[];
    problems: { file: string; line: number; column: number; message: string }[];
  };
  assert.deepEqual(
    json.kernels.map(({ name, checked }) => [name, checked]),
    [
      ["wrong", true],
      ["unknown", false],
    ],
  );
  const [{ file: path, line, column, message }] = json.problems;
  assert.deepEqual([path, line, column, message], [join(folder, "wrong.ts"), 4, 3, `kernel "wrong": ${RACE}`]);
  const sarif = JSON.parse(check("wrong.ts", "--format", "sarif").stdout) as {
    version: string;
    runs: { results: { level: string; message: { text: string }; locations: unknown[] }[] }[];
  };
  const [error, note] = sarif.runs[0].results;
  assert.deepEqual([sarif.version, error.level, error.message.text, note.level], ["2.1.0", "error", message, "note"]);
  const artifactLocation = { uri: pathToFileURL(join(folder, "wrong.ts")).href };
  assert.deepEqual(error.locations, [{ physicalLocation: { artifactLocation, region: { startLine: 4, startColumn: 3 } } }]);
});

test("folders are searched, JavaScript is read, and a right program ends with 0", () => {
  mkdirSync(join(folder, "right/node_modules"), { recursive: true });
  file("right/node_modules/other.ts", WRONG);
  file(
    "right/a.mjs",
    'import * as iso from "isoform";\nconst C = 2 ** 3;\niso.kernel("a", { x: iso.view(iso.f64) }, ({ x }, i) => { x[i] = C; }, () => [C]);\n',
  );
  const { status, stdout } = check("right");
  assert.deepEqual([status, stdout], [0, "1 kernel checked in 1 file, 0 not checked: 0 problems\n"]);
});

test("what cannot be read ends with 2", () => {
  const ended = (words: string[], message: RegExp): void => {
    const { status, stderr } = check(...words);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  };
  ended(["absent.ts"], /absent\.ts is neither a file nor a folder/);
  ended([file("data.json", "{}")], /data\.json is neither TypeScript nor JavaScript/);
  ended([file("broken.ts", "const a = ;\n")], /broken\.ts:1:11: Expression expected/);
  ended([file("other.ts", 'import { f64 } from "isoform/absent";\nvoid f64;\n')], /"isoform\/absent" is not found from there/);
  ended([file("throws.mjs", 'throw new Error("no")\n'), "--load"], /throws\.mjs could not be loaded: no/);
});

test("--load runs the module, which tells what is known only then", () => {
  const text = WRONG.replace('"isoform"', JSON.stringify(INDEX))
    .replace("process.argv[2]", "3")
    .replaceAll("\nkernel(", "\nexport const NAME = kernel(");
  let n = 0;
  const { status, stdout } = check(
    file(
      "loaded.mjs",
      text.replaceAll("NAME", () => `k${n++}`),
    ),
    "--load",
  );
  assert.match(
    stdout,
    /^loaded\.mjs:4:3: error: kernel "wrong": several elements[^\n]*\n2 kernels checked in 1 file, 0 not checked: 1 problem\n$/,
  );
  assert.equal(status, 1);
});

test("a declaration that Isoform refuses is placed where it stands", () => {
  const text =
    'import { f64, kernel, view } from "isoform";\nkernel("k", {\n  // @ts-expect-error\n  x: view(f64, 9),\n}, ({ x }, i) => { x[i] = 0; });\n';
  const { stdout } = check(file("rank.ts", text));
  assert.match(stdout, /^rank\.ts:4:6: error: view\(\.\.\.\) is given 9 for its rank; use a whole number from 1 to 7/);
});
