import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { HEAT_FILE } from "../fortran/fixtures.js";
import { isoform } from "./isoform.js";

describe("isoform port", () => {
  let folder = "";
  const port = (...words: string[]): ReturnType<typeof isoform> => isoform(["port", ...words], folder);
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "isoform-port-"));
    copyFileSync(HEAT_FILE, join(folder, "heat_gpu.F90"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("prints the port of a file", () => {
    const { status, stdout } = port("heat_gpu.F90", "--to", "cpu");
    assert.equal(status, 0);
    assert.match(stdout, /^module heat_gpu\n {2}implicit none\n/);
    assert.match(stdout, /\n {4}do j = 1,ny\n {6}do i = first,nx-1\n/);
  });

  it("writes files for all targets, with names of the configuration, and a report", () => {
    const toml =
      '[port.rename]\ncpu = { _gpu = "_cpu" }\nopenmp = { _gpu = "_omp" }\n[heat_sum_cuf]\nidx = ["i", "j"]\n[heat_sum_cuf.openmp-target]\nnum_loop = 1\n';
    writeFileSync(join(folder, "port.toml"), toml);
    const { status, stdout } = port("heat_gpu.F90", "--config", "port.toml", "--out", "made", "--report", "report.json");
    assert.equal(status, 0);
    assert.deepEqual(stdout.trim().split("\n"), ["made/cpu/heat_cpu.F90", "made/openmp/heat_omp.F90", "made/openmp-target/heat_gpu.F90"]);
    assert.match(readFileSync(join(folder, "made/cpu/heat_cpu.F90"), "utf8"), /do i = 1,nx\n +do j = 1,ny/);
    assert.match(readFileSync(join(folder, "made/openmp-target/heat_gpu.F90"), "utf8"), /collapse\(1\) has_device_addr\(t_gpu\) reduction/);
    const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
    assert.deepEqual(report[1].loops[1], {
      name: "heat_sum_cuf",
      axes: ["i", "j"],
      parallel: 2,
      reductions: ["+:total"],
      carried: [],
      file: "heat_gpu.F90",
      line: 33,
    });
  });

  it("tells in a report and in a check what ports leave out, and what they copy", () => {
    writeFileSync(
      join(folder, "acc.f90"),
      "subroutine s(n, a)\ninteger :: n, i\nreal(8) :: a(n)\n!$acc init\n!$acc parallel loop copyin(a)\ndo i = 1, n\na(i) = 1\nend do\nend subroutine\n",
    );
    const { status, stdout } = port("acc.f90", "--check", "--to", "cpu,openmp-target,hip", "--report", "acc.json");
    assert.equal(status, 0);
    assert.deepEqual(stdout.trim().split("\n"), [
      "1 parallel loop in 1 file",
      "cpu, openmp-target, hip: no problems",
      "acc.f90:4:7: acc init: left out: the default device is used",
    ]);
    const report = JSON.parse(readFileSync(join(folder, "acc.json"), "utf8"));
    assert.deepEqual(report[0].transfers, []);
    assert.deepEqual(report[1].notes, [{ construct: "acc init", note: "left out: the default device is used", file: "acc.f90", line: 4 }]);
    assert.deepEqual(report[1].transfers, [
      { array: "a", transfer: "target teams distribute parallel do map(to)", file: "acc.f90", line: 5 },
    ]);
  });

  it("writes Fortran that gfortran takes", (t) => {
    if (spawnSync("gfortran", ["--version"]).status !== 0) return t.skip("gfortran is not installed");
    port("heat_gpu.F90", "--out", "compiled");
    for (const target of ["cpu", "openmp", "openmp-target"]) {
      const path = join(folder, "compiled", target, "heat_gpu.F90");
      const { stderr } = spawnSync("gfortran", ["-fsyntax-only", "-fopenmp", path], {
        cwd: folder,
        encoding: "utf8",
      });
      assert.equal(stderr, "", target);
    }
  });

  it("writes its loops as kernels in other languages, with names of the configuration", (t) => {
    writeFileSync(join(folder, "kernels.toml"), '[port]\nkinds = { rkind = "f64" }\n[port.rename]\nc = { _cuf = "_loop" }\n');
    const { status, stdout } = port("heat_gpu.F90", "--to", "cpu,c,opencl", "--config", "kernels.toml", "--out", "mixed");
    assert.equal(status, 0);
    const files = ["cpu/heat_gpu.F90", "c/step_kernel.c", "c/heat_sum_loop.c"];
    for (const name of ["step_kernel", "heat_sum_cuf"]) files.push(`opencl/${name}.cl`, `opencl/${name}.host.c`);
    assert.deepEqual(
      stdout.trim().split("\n"),
      files.map((name) => `mixed/${name}`),
    );
    if (spawnSync("gcc", ["--version"]).status !== 0) return t.skip("gcc is not installed");
    for (const name of ["step_kernel", "heat_sum_loop"]) {
      const words = ["-std=gnu11", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-fsyntax-only", `mixed/c/${name}.c`];
      const { stderr } = spawnSync("gcc", words, { cwd: folder, encoding: "utf8" });
      assert.equal(stderr, "", name);
    }
  });

  it("names what a language lacks, and what helps", () => {
    const { status, stderr } = port("heat_gpu.F90", "--to", "wgsl", "--out", "never");
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^heat_gpu\.F90:7:3: step_kernel for wgsl: its parameter "t_gpu" is f64, which WGSL lacks \(.* --kind NAME=f32\)$/m,
    );
    assert.ok(!readdirSync(folder).includes("never"));
    assert.equal(port("heat_gpu.F90", "--to", "wgsl", "--kind", "rkind=f32").status, 0);
  });

  const module = (lines: string): string =>
    `module m\ncontains\nsubroutine s(n, a)\ninteger :: n, i\nreal(8) :: a(n)\n${lines}\nend subroutine s\nend module m\n`;
  it("checks", () => {
    const { status, stdout } = port("heat_gpu.F90", "--check", "--to", "openmp,cuda");
    assert.deepEqual({ status, stdout }, { status: 0, stdout: "2 parallel loops in 1 file\nopenmp, cuda: no problems\n" });
    const all = port("heat_gpu.F90", "--check");
    assert.deepEqual(
      { status: all.status, stdout: all.stdout },
      {
        status: 2,
        stdout: "2 parallel loops in 1 file\ncpu, openmp, openmp-target, hip, cuda, c, js, opencl, sycl: no problems\nwgsl: 2 problems\n",
      },
    );
    assert.match(
      all.stderr,
      /^heat_gpu\.F90:7:3: step_kernel for wgsl: [^\n]*\n[^\n]*heat_sum_cuf for wgsl: [^\n]*\nisoform: 2 problems in Fortran\n$/,
    );
  });

  it("checks loops of `do concurrent`, and kernels that only some targets refuse", () => {
    const text = module(
      "do concurrent (i = 1:n)\na(i) = 1\nend do\n!$acc parallel loop\ndo i = 1, n\nif (associated(p)) a(i) = p(1)\nend do",
    ).replace("real(8) :: a(n)", "real(8) :: a(n)\nreal(8), pointer :: p(:)");
    writeFileSync(join(folder, "concurrent.f90"), text);
    const { status, stdout, stderr } = port("concurrent.f90", "--check", "--to", "cpu,openmp,hip,cuda");
    assert.deepEqual(
      { status, stdout },
      { status: 2, stdout: "2 parallel loops in 1 file\ncpu, openmp: no problems\nhip: 1 problem\ncuda: 1 problem\n" },
    );
    assert.match(stderr, /^concurrent\.f90:10:7: p for hip, cuda: the loop asks whether it is there \(/m);
    for (const [to, exit] of [
      ["cpu,openmp", 0],
      ["hip", 2],
    ] as const)
      assert.equal(port("concurrent.f90", "--check", "--to", to).status, exit);
    assert.match(port("concurrent.f90", "--check", "--to", "hip").stderr, /^concurrent\.f90:10:7: p: the loop asks/);
  });

  /** Each has these problems, at these places, and all of them. */
  const wrong: [name: string, text: string, messages: RegExp[]][] = [
    ["unbalanced blocks", module("do i = 1, n\na(i) = 0\nif (n > 1) then\n"), [/:6:1: do: is not closed/, /:8:1: if then: is not closed/]],
    ["ends of nothing", module("end do\na(1) = 2"), [/:6:1: end do: /]],
    ["directives on nothing", module("!$cuf kernel do(1) <<<*,*>>>\na(1) = 0"), [/:6:\d+: !\$cuf kernel do: is not followed by a loop/]],
    ["unknown directives", module("!$cuf colonel do"), [/:6:\d+: .*colonel.*: is not a directive of `!\$cuf`/]],
    ["fixed form", "C     a comment\n      SUBROUTINE S\n      END\n", [/:1:\d+: /]],
    [
      "prose",
      "Dear reader,\nthis is no Fortran.\n",
      [/:1:1: Dear: is not a statement/, /:1:1: program: is not closed/, /:2:\d+: \.: the character/],
    ],
    ["characters of no language", module("a(1) = § 3\n\ta(2) = 1 ? 2"), [/:6:8: §/, /:7:11: \?/]],
    ["a missing end", "module m\ncontains\nsubroutine s\n", [/:1:1: module m: is not closed/, /:3:1: subroutine s: is not closed/]],
    ["an open #if", "#if 1\nsubroutine s\nend subroutine\n", [/:1:1: #if: is not closed/]],
    [
      "a statement that goes on behind the file",
      "subroutine s\nend subroutine &\n",
      [/:2:\d+: &: the statement continues past the end of the file/],
    ],
  ];
  for (const [name, text, messages] of wrong)
    it(`tells the places of ${name}`, () => {
      writeFileSync(join(folder, "wrong.F90"), text);
      const { status, stdout, stderr } = port("wrong.F90", "--out", "never");
      assert.equal(status, 2, stderr);
      assert.equal(stdout, "");
      assert.ok(!readdirSync(folder).includes("never"));
      const lines = stderr.trim().split("\n");
      assert.match(lines.pop()!, /^isoform: \d+ problems? in Fortran$/);
      assert.ok(lines.every((line) => line.startsWith("wrong.F90:")));
      messages.forEach((message, n) => assert.match(lines[n] ?? "", message, stderr));
    });

  const accepted: [name: string, text: string][] = [
    ["tabs, CR LF, UTF-8 and a byte order mark", `\uFEFF${module("\ta(1) = 0 ! ρ → ∞").replaceAll("\n", "\r\n")}`],
    ["lines beyond 132 columns", module(`a(1) = ${"1 + ".repeat(80)}0`)],
    ["a module that is nowhere", "subroutine s\nuse nowhere, only : x\nx = 1\nend subroutine\n"],
    ["kinds that are nowhere", module("").replace("real(8)", "real(anykind)")],
    ["nothing", ""],
  ];
  for (const [name, text] of accepted)
    it(`takes ${name}`, () => {
      writeFileSync(join(folder, "odd.F90"), text);
      const { status, stderr, stdout } = port("odd.F90", "--to", "cpu");
      assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
      assert.ok(stdout.split("\n").every((line) => line.length <= 132));
      assert.doesNotMatch(stdout, /\r|\t/);
    });

  const options: [words: string[], message: RegExp][] = [
    [["nowhere.F90"], /^isoform: cannot read nowhere\.F90: ENOENT/],
    [["."], /^isoform: cannot read \.: it is a folder/],
    [["binary.F90"], /^isoform: binary\.F90 is not a text file/],
    [
      ["heat_gpu.F90", "--to", "cpu,hpi"],
      /^error: option '--to <targets>' argument 'cpu,hpi' is invalid\. Choose from cpu, openmp, openmp-target/,
    ],
    [["heat_gpu.F90", "--define", "1=2"], /It needs NAME or NAME=VALUE/],
    [["heat_gpu.F90", "--kind", "rkind=f16"], /It needs NAME=f64, NAME=f32 or NAME=i32/],
    [["heat_gpu.F90", "--to", "cpu", "--out", "."], /heat_gpu\.F90 is one of the files to port: choose another folder/],
    [["heat_gpu.F90", "./heat_gpu.F90", "--to", "cpu", "--out", "x"], /would both become/],
    [["heat_gpu.F90", "--config", "bad.toml"], /^isoform: bad\.toml: Invalid TOML/],
    [["heat_gpu.F90", "--config", "keys.toml"], KEYS()],
    [["heat_gpu.F90", "--config", "loops.toml"], /^isoform: the settings name \[nothing#2\], but the files have no such loop/],
    [["heat_gpu.F90", "--config", "host.toml"], /^isoform: cannot read nowhere\.F90/],
  ];
  for (const [words, message] of options)
    it(`refuses ${words.join(" ")}`, () => {
      writeFileSync(join(folder, "heat.f"), "      END\n");
      writeFileSync(join(folder, "binary.F90"), "\0\0");
      writeFileSync(join(folder, "bad.toml"), "[port\n");
      writeFileSync(
        join(folder, "keys.toml"),
        '[port]\nhost = 1\nkinds = { r = "f16" }\nrename = { cobol = {} }\n[a]\nidx = [1]\nnum_loop = 0\n[a.cpu]\nblocks = 3\n[a.c]\nnum_loop = 1\n',
      );
      writeFileSync(join(folder, "loops.toml"), '["nothing#2"]\nnum_loop = 1\n');
      writeFileSync(join(folder, "host.toml"), '[port]\nhosts = ["nowhere.F90"]\n');
      const { status, stdout, stderr } = port(...words);
      assert.equal(status, 2);
      assert.equal(stdout, "");
      assert.match(stderr, message);
    });
});

/** All that is wrong with `keys.toml`. */
function KEYS(): RegExp {
  return new RegExp(
    [
      '^isoform: keys\\.toml: \\[port\\] has no key "host"; its keys are hosts, define, kinds, rename',
      'keys\\.toml: \\[port\\.rename\\] has no key "cobol"; its keys are cpu, openmp, openmp-target, hip[^\\n]*',
      'keys\\.toml: \\[port\\.kinds\\] takes f64, f32, i32 for "r"',
      "keys\\.toml: \\[a\\] takes a whole number above 0 for num_loop",
      "keys\\.toml: \\[a\\.idx\\] takes a list of names in quotes",
      'keys\\.toml: \\[a\\.cpu\\] has no key "blocks"; its keys are idx, num_loop',
      'keys\\.toml: \\[a\\.c\\] has no key "num_loop"; its keys are idx',
    ].join("\\n"),
  );
}
