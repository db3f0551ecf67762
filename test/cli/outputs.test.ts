import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { makeShell } from "../../src/cli/shell.js";
import { isoform } from "./isoform.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-outputs-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
for (const name of ["real", "port"]) mkdirSync(at(name));
symlinkSync("real", at("other"));
for (const name of ["there", "twin"]) writeFileSync(at(name), name);
symlinkSync("there", at("link"));
symlinkSync("absent", at("dangling"));
linkSync(at("there"), at("hard"));

const ONE_FILE: readonly (readonly [string, string, string])[] = [
  ["the same path", at("new"), at("new")],
  ["a relative path", at("new"), relative(process.cwd(), at("new"))],
  ["a longer path", at("new"), `${folder}/real/../new`],
  ["a linked folder", at("real/new"), at("other/new")],
  ["a link to a file", at("there"), at("link")],
  ["a link to a file that is not there yet", at("absent"), at("dangling")],
  ["a hard link", at("there"), at("hard")],
];

for (const [name, a, b] of ONE_FILE)
  test(`two outputs that are one file are refused: ${name}`, async () => {
    await assert.rejects(
      makeShell().checkOutputs({ csv: a, checkpoint: b }),
      /^IsoformError: --csv and --checkpoint would write the same file, .*: give each its own file$/,
    );
    // Options of all commands are checked first, by a call of their own.
    const shell = makeShell();
    await shell.checkOutputs({ profileJson: a });
    await assert.rejects(shell.checkOutputs({ csv: b }), /--profile-json and --csv would write the same file/);
    await assert.rejects(
      makeShell().checkOutputs({ csv: b }, { restart: a }),
      /--csv would overwrite .*, which --restart reads: give it another file/,
    );
    // Before and after the outputs, and in calls of their own.
    await assert.rejects(
      shell.checkOutputs({}, { config: b }),
      /--profile-json would overwrite .*, which --config reads: give it another file/,
    );
    const tuned = makeShell();
    await tuned.checkOutputs({}, { tuning: a });
    await assert.rejects(tuned.checkOutputs({ json: b }), /--json would overwrite .*, which --tuning reads: give it another file/);
  });

test("an output replaces an input only where the command says so", async () => {
  const [file, other] = [at("there"), at("twin")];
  const shell = makeShell();
  await shell.checkOutputs({ checkpoint: [file, at("there.previous")] }, { restart: file, config: other }, { checkpoint: "restart" });
  await assert.rejects(shell.checkOutputs({ json: other }), /--json would overwrite .*twin, which --config reads/);
  await assert.rejects(
    makeShell().checkOutputs({ checkpoint: other }, { restart: file, config: other }, { checkpoint: "restart" }),
    /--checkpoint would overwrite .*twin, which --config reads/,
  );
});

test("one option that names a file twice is refused", async () => {
  await assert.rejects(
    makeShell().checkOutputs({ energy: [at("a"), at("a")] }),
    /--energy would write .* twice: give it a different file each time/,
  );
});

test("different files, and devices and pipes, are taken", async () => {
  await makeShell().checkOutputs({ csv: at("there"), json: at("twin"), svg: [at("a"), at("b")], vtk: undefined }, { config: at("new") });
  await makeShell().checkOutputs({ csv: "/dev/null", json: "/dev/null" });
});

test("files in a folder that a command writes are outputs, too", () => {
  writeFileSync(
    at("loop.f90"),
    "subroutine s(x, n)\n  integer :: n, i\n  real(8) :: x(n)\n  do concurrent (i = 1:n)\n    x(i) = 2 * x(i)\n  end do\nend subroutine\n",
  );
  const { status, stderr } = isoform(["port", at("loop.f90"), "--to", "openmp", "--out", at("port"), "--report", at("port/loop.f90")]);
  assert.match(stderr, /^isoform: --report and --out would write the same file, /m);
  assert.equal(status, 2);
});

test("files that a command reads are not written over", () => {
  const fortran =
    "subroutine s(x, n)\n  integer :: n, i\n  real(8) :: x(n)\n  do concurrent (i = 1:n)\n    x(i) = 2 * x(i)\n  end do\nend subroutine\n";
  const module = `import { f64, kernel, view } from ${JSON.stringify(new URL("../../src/index.js", import.meta.url).href)};\nexport const twice = kernel("twice", { x: view(f64) }, ({ x }, i) => {\n  x[i] = 2 * x[i];\n});\n`;
  const tuning = "[native.twice]\nthreads = 64\n";
  const inputs: readonly (readonly [name: string, text: string, words: string, message: RegExp])[] = [
    ["in.f90", fortran, "port F --check --report F", /--report would overwrite .*in\.f90, which the command reads/],
    ["twice.mjs", module, `emit F --target js --out ${folder}`, /--out would overwrite .*twice\.mjs, which the command reads/],
    ["tuning.toml", tuning, "--tuning F heat --svg F", /--svg would overwrite .*tuning\.toml, which --tuning reads/],
    ["own.mjs", module, "--backend F heat --svg F", /--svg would overwrite .*own\.mjs, which --backend reads/],
  ];
  for (const [name, text, words, message] of inputs) {
    writeFileSync(at(name), text);
    const { status, stderr } = isoform(words.replaceAll(/\bF\b/g, at(name)).split(" "));
    assert.match(stderr, message);
    assert.equal(status, 2);
    assert.equal(readFileSync(at(name), "utf8"), text);
  }
});

test("what cannot be written says why", async () => {
  await assert.rejects(makeShell().checkOutputs({ csv: folder }), /it is a directory; name a file/);
  await assert.rejects(makeShell().checkOutputs({ csv: at("no/x") }), /there is no directory .*no; make it first/);
});

/* Every command that writes several files. */
const COMMANDS: readonly (readonly [words: string, options: string])[] = [
  ["assess stream --json F --report F", "--json and --report"],
  ["elasticity --svg F --json F", "--svg and --json"],
  ["heat --svg F --profile-json F", "--profile-json and --svg"],
  ["heat --profile-trace F --profile-json F", "--profile-json and --profile-trace"],
  ["lbm cavity --vtk F --json F", "--vtk and --json"],
  ["navier-stokes box --checkpoint F --json F", "--checkpoint and --json"],
  ["navier-stokes box --energy F --progress F", "--progress and --energy"],
  ["navier-stokes box --json F --checkpoint G", "--checkpoint and --json"],
  ["pic landau --checkpoint F --csv F", "--checkpoint and --csv"],
  ["poisson --vtk F --json F", "--vtk and --json"],
];

for (const [words, options] of COMMANDS)
  test(`isoform ${words}`, () => {
    // A checkpoint keeps the one before it beside it.
    const named = words
      .replaceAll("--json F --checkpoint G", `--json ${at("G.previous")} --checkpoint ${at("G")}`)
      .replaceAll(/\bF\b/g, at("F"));
    const { status, stderr } = isoform(named.split(" "));
    assert.match(stderr, new RegExp(`^isoform: ${options} would write the same file, `, "m"));
    assert.equal(status, 2);
  });
