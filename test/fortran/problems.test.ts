/* Fortran that is wrong, as the soak's mutations found it: a message at its place, never an error of the library's own. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FortranError, fortran, portSources } from "../../src/fortran/index.js";
import { portKernels } from "../../src/fortran/port-kernels.js";

const loop = (declarations: string, statement = "x(i) = 1"): string =>
  `subroutine s(n, x)\n${declarations}\ninteger :: n, i\n!$acc parallel loop\ndo i = 1, n\n${statement}\nend do\nend subroutine`;

const problemsOf = (make: () => unknown): string[] => {
  try {
    make();
    return [];
  } catch (error) {
    assert.ok(error instanceof FortranError, String(error));
    return error.message.split("\n");
  }
};

describe("problems", () => {
  it("are constants and bounds that depend on themselves", () => {
    const cases: readonly (readonly [declarations: string, what: RegExp])[] = [
      ["integer, parameter :: a = b + 1, b = a\nreal :: x(a)", /:2:34: b: its value depends on itself/],
      ["integer, parameter :: rk = rk\nreal(rk) :: x(n)", /:2:23: rk: its value depends on itself/],
      ["real :: x(x(1))", /:2:9: x: its bounds depend on itself/],
      ["real :: x(size(x))", /:2:9: x: its bounds depend on itself/],
    ];
    for (const [declarations, what] of cases) assert.match(problemsOf(() => fortran(loop(declarations)))[0], what);
  });

  it("are constants that are no integers of 32 bits", () => {
    for (const value of ["1e999", "int(-3d9)"])
      assert.match(
        problemsOf(() => fortran(loop("real :: x(n)\ninteger :: k", `k = ${value}\nx(i) = k`)))[0],
        /:\d+: .* is not a 32-bit integer/,
      );
  });

  it("are dummy arguments of inlined functions without a type", () => {
    const text = `module m\nimplicit none\ncontains\n${loop("real :: x(n)", "x(i) = f(i)")}\nfunction f(j)\nreal :: f\nf = 1\nend function\nend module`;
    assert.deepEqual(
      problemsOf(() => fortran(text)).map((line) => line.replace(/^.*?:(?=\d)/, "")),
      ["12:1: j: a dummy argument without a declaration (declare its type)"],
    );
  });

  it("are statements that begin with words of the parser's own", () => {
    for (const word of ["wrong", "directive", "declaration", "points", "assign"])
      assert.match(problemsOf(() => fortran(loop("real :: x(n)", `${word} here`)))[0], /:6:\d+: .*no statement begins like this/);
  });

  it("are variables with values by `data`, in common blocks of two layouts or beside each other in memory", () => {
    const other = "\nsubroutine other\nreal :: w(3)\ncommon /c/ w\nw(1) = 0\nend subroutine\n";
    for (const line of ["data w /1.0/, w", "common /c/ w", "equivalence (w, v)"]) {
      const text = loop(`real :: x(n), w(2), v(2)\n${line}`, "x(i) = w(1)") + other;
      assert.match(problemsOf(() => fortran(text))[0], new RegExp(`:7:8: ${line.split(" ")[0]} :: w: `));
    }
  });

  it("are macros whose arguments are wrong, where they are used", () => {
    const text = `#define TWICE(a) (2*a)\n#if defined(TWICE)\n${loop("real :: x(n)")}\n#endif`;
    const used = (call: string): string[] =>
      problemsOf(() => fortran(text.replace("x(i) = 1", `x(i) = ${call}`))).map((line) => line.split(" (")[0]);
    assert.deepEqual(used("TWICE(n)"), []);
    assert.equal(used("TWICE(n, i)")[0], "program.F90:8:8: TWICE: it is called with 2 arguments, and takes 1");
    assert.equal(used("TWICE(n")[0], "program.F90:8:8: TWICE: the parenthesis is not closed");
    const grows = Array.from({ length: 40 }, (_, n) => `#define A${n + 1}(x) A${n}(x) + A${n}(x)`).join("\n");
    assert.match(problemsOf(() => fortran(`${grows}\n${loop("real :: x(n)").replace("= 1", "= A40(i)")}`))[0], /: nests too deep/);
  });

  it("are directives with what is outside of the language", () => {
    const text = loop("real :: x(n)").replace("!$acc parallel loop", "!$cuf kernel do(1) <<<*,*,stream=s[1]>>>");
    assert.match(problemsOf(() => portSources([{ file: "a.F90", text }], { targets: ["cpu"] }))[0], /^a\.F90:4:\d+: \[…\]: is not part/);
  });

  it("of several procedures are told in one run: what cannot be read, and what cannot be lowered", () => {
    const named = (name: string, declarations: string, statement?: string): string =>
      loop(declarations, statement).replace("subroutine s", `subroutine ${name}`);
    const text = [
      named("first", "real :: x(n)", "x(i) = = 1"),
      named("second", "real :: x(n)\nreal(16) :: z", "z = 1\nx(i) = 2"),
      // What calls the first is not wrong.
      named("third", "real :: x(n)").replace("end subroutine", "call first(n, x)\nend subroutine"),
      named("fourth", "real :: x(n)", "x(i) = y"),
    ].join("\n");
    const lines = (make: () => unknown): string[] => problemsOf(make).map((line) => line.split(": ").slice(0, 2).join(": "));
    assert.deepEqual(
      lines(() => fortran(text)),
      ["program.F90:6:8: =", "program.F90:11:13: real of kind 16", "program.F90:33:8: y"],
    );
    const ports = text.replace("x(i) = y", "x(i) = 1\nend do\n!$acc parallel loop\nx(1) = 2\ndo i = 1, n");
    assert.equal(lines(() => portSources([{ file: "a.F90", text: ports }], { targets: ["cpu"] })).length, 2);
  });

  it("of several files are told in one run, also where one of them cannot be read", () => {
    const sources = [
      { file: "a.F90", text: loop("real :: x(n)", "x(i) = = 1") },
      { file: "b.F90", text: loop("real :: x(n)").replace("end do", "end do\n!$acc parallel loop\nx(1) = 2") },
    ];
    const files = (make: () => unknown): string[] => [...new Set(problemsOf(make).map((line) => line.split(":")[0]))];
    assert.deepEqual(
      files(() => portSources(sources, { targets: ["cpu"] })),
      ["a.F90", "b.F90"],
    );
    assert.deepEqual(
      files(() => portKernels(sources, { targets: ["c"] })),
      ["a.F90", "b.F90"],
    );
  });
});

it("operators of a program's own are refused with the way out", () => {
  const text =
    "module m\ninterface operator(.plus.)\nmodule procedure add\nend interface\ncontains\nreal(8) function add(a, b)\nreal(8), intent(in) :: a, b\nadd = a + b\nend function\n" +
    "subroutine s(n, a)\ninteger :: n, i\nreal(8) :: a(n)\n!$acc parallel loop\ndo i = 1, n\na(i) = a(i) .plus. 1d0\nend do\nend subroutine\nend module\n";
  assert.throws(
    () => fortran(text, { file: "o.f90" }),
    /^FortranError: o\.f90:15:\d+: \.plus\.: it is not part of the supported Fortran \(call the operator's function by its name\)$/,
  );
});
