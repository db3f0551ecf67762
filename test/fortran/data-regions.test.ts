/* Programs that keep data on a device: their ports print what they print, though host and device have memories of their own. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { FortranError, portSources } from "../../src/fortran/index.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { asHip, asOpenmpTarget, asWritten, DATA_PROGRAMS } from "./data-programs.js";
import { needsGfortran } from "./gfortran.js";

/** Copies that a port to HIP counts, and their bytes. */
function transfersOf(errors: string): number[] {
  const found = /^isoform: (\d+) copies to the device \((\d+) bytes\), (\d+) copies back \((\d+) bytes\)\n$/.exec(errors);
  assert.ok(found, errors);
  return found.slice(1).map(Number);
}

/** What each program copies: arrays to the device, their bytes, arrays back, their bytes. */
const TRANSFERS: Readonly<Record<string, readonly number[]>> = {
  // a, b and x; twice r, then x: nothing of the 100 iterations.
  CG: [3, 8 * (1600 + 40 + 40), 3, 8 * 3 * 40],
  // w and a, one element; two elements, then a.
  OBJECTS: [3, 8 * (3 + 16 + 1), 2, 8 * (2 + 16)],
  HALOS: [1 + 3 * 4, 8 * (56 + 3 * (5 + 5 + 8 + 8)), 1 + 3 * 4, 8 * (56 + 3 * (5 + 5 + 8 + 8))],
  // coef, x, and work after the host's statement; work before it, x, work for the last line.
  DECLARED: [3, 8 * (3 + 9 + 9), 3, 8 * (9 + 9 + 9)],
  ADDRESSES: [1, 8 * 16, 1, 8 * 16],
  // The loop of the host's threads has copies of its own.
  OPENMP: [1 + 2 * 10, 8 * 12 * 21, 1 + 2 * 10, 8 * 12 * 21],
  NESTED: [3, 8 * (8 + 6 + 3), 2, 8 * (6 + 3)],
};

describe("programs with data directives", needsGfortran, () => {
  for (const [name, text] of Object.entries(DATA_PROGRAMS))
    it(`${name} print the same, and copy what they say`, () => {
      const { output, status } = asWritten(text);
      assert.equal(status, 0);
      assert.ok(output.length > 20);
      assert.equal(asOpenmpTarget(text).output, output);
      const hip = asHip(text);
      assert.equal(hip.output, output, hip.errors);
      assert.deepEqual(transfersOf(hip.errors), TRANSFERS[name]);
    });

  /** Changes of a port that takes no notice of a directive. */
  const FAULTS: readonly (readonly [program: keyof typeof DATA_PROGRAMS, what: string, change: (text: string) => string])[] = [
    ["CG", "an update", (text) => text.replace("!$acc update self(r)", "")],
    ["CG", "a copy back", (text) => text.replace("copy(x)", "copyin(x)")],
    ["CG", "a copy to the device", (text) => text.replace("copyin(a, b)", "create(a, b)")],
    ["OBJECTS", "an update of a part", (text) => text.replace("!$acc update device(f%a(1))", "")],
    ["OBJECTS", "a copy at the end", (text) => text.replace(" copyout(f%a)", " delete(f%a)")],
    ["HALOS", "rows that are updated", (text) => text.replace("u(0, 1:m), u(n+1, 1:m))", "u(0, 1:m))")],
    ["HALOS", "a region", (text) => text.replace("!$acc enter data copyin(u) create(v)", "")],
    ["DECLARED", "an update of what is declared", (text) => text.replace("!$acc update device(coef)", "")],
    ["OPENMP", "an update to the device", (text) => text.replace("!$omp target update to(u)", "")],
  ];
  it("show directives that are not heeded", () => {
    for (const [program, what, change] of FAULTS) {
      const text = DATA_PROGRAMS[program];
      const changed = change(text);
      assert.notEqual(changed, text, what);
      assert.notEqual(asHip(changed).output, asWritten(text).output, `${program}: ${what}`);
    }
  });
});

it("a port to HIP has the lines that docs/fortran.md shows", () => {
  const page = readFileSync("docs/fortran.md", "utf8");
  const [, text] = /^const source = `\n(subroutine diffuse.*?)`;$/ms.exec(page)!;
  const [, shown] = /^```fortran\n(call isoform_enter.*?)```$/ms.exec(page)!;
  const [{ text: made }] = portCppSources([{ file: "diffuse.f90", text }], { targets: ["hip"] });
  const written = made.replace(/&\n *&/g, "");
  const calls = shown.split("\n").filter((line) => line.startsWith("call isoform_"));
  assert.equal(calls.length, 2);
  for (const line of calls) assert.ok(written.includes(line), line);
});

const routine = (declarations: string, body: string): string =>
  `module m
  type object
    real(8), allocatable :: a(:)
  end type
contains
subroutine s(n, x, y, q)
integer, intent(in) :: n
real(8) :: x(n, n), y(:)
type(object) :: q(3)
integer :: i
${declarations}
${body}
end subroutine
end module
`;
const LOOP = "!$acc parallel loop\ndo i = 1, n\nx(i, 1) = 2\nend do\n";

/** Data that no port keeps, or one does not: by the directives, the targets and the message. */
const REFUSED: readonly (readonly [targets: readonly ("hip" | "openmp-target")[], declarations: string, body: string, message: RegExp])[] =
  [
    [["hip", "openmp-target"], "", `!$acc data copyin(q(1)%a)\n${LOOP}!$acc end data`, /q\(1\)%a: data directives of arrays of objects/],
    [["hip", "openmp-target"], "", `!$acc data create(zero: x)\n${LOOP}!$acc end data`, /create\(zero:\): the modifier is not supported/],
    [["hip", "openmp-target"], "", `!$acc data copyin(x(1:n:2, 1))\n${LOOP}!$acc end data`, /x\(1:n:2,1\): a section with a stride/],
    [["hip", "openmp-target"], "", `!$acc data copyin(/blk/)\n${LOOP}!$acc end data`, /copyin\(blk\): its list is not one of variables/],
    [["hip", "openmp-target"], "", `!$acc enter data copyin(nowhere)\n${LOOP}`, /nowhere: it is not known what a data directive names/],
    [
      ["openmp-target"],
      "",
      `!$acc data copy(x(2:n-1, 2:n-1))\n${LOOP}!$acc end data`,
      /OpenMP maps adjacent elements only \(name whole columns/,
    ],
    [
      ["openmp-target"],
      "",
      "!$acc host_data use_device(x) if_present\ncall t(x)\n!$acc end host_data",
      /host_data if_present: OpenMP has no/,
    ],
    [
      ["hip"],
      "",
      "!$acc host_data use_device(x) if(n > 3)\ncall t(x)\n!$acc end host_data",
      /host_data if: its condition is not supported/,
    ],
    [
      ["hip", "openmp-target"],
      "!$acc declare copyin(x)",
      `if (n < 0) return\n${LOOP}`,
      /declare: a `return` would leave its data on the device/,
    ],
  ];

describe("data that ports do not keep", () => {
  for (const [targets, declarations, body, message] of REFUSED)
    for (const target of targets)
      it(`is refused: ${message} for ${target}`, () => {
        const source = { file: "a.f90", text: routine(declarations, body) };
        const port = (): unknown =>
          target === "hip" ? portCppSources([source], { targets: [target] }) : portSources([source], { targets: [target] });
        assert.throws(
          port,
          (error) => error instanceof FortranError && message.test(error.message) && /^a\.f90:\d+:\d+: /.test(error.message),
        );
      });
});

/** Programs that HIP's runtime ends, with a message. */
const STOPPED: readonly (readonly [what: string, declarations: string, body: string, message: RegExp])[] = [
  [
    "present data that are not",
    "",
    "!$acc parallel loop present(u)",
    /^isoform: u at run\.F90:\d+: it is not on the device: enter it before\n/,
  ],
  ["an update of what is absent", "", "!$acc update self(u)\n!$acc parallel loop", /u at run\.F90:\d+: it is not on the device/],
  [
    "a loop over more than is there",
    "",
    "!$acc enter data copyin(u(1:3))\n!$acc parallel loop",
    /u at run\.F90:\d+: only a part of it is on the device\n/,
  ],
  [
    "a section that lies outside",
    "",
    "!$acc update self(u(0:3))\n!$acc parallel loop",
    /u at run\.F90:\d+: the section is outside of it\n/,
  ],
];

describe("the runtime of ports to HIP", needsGfortran, () => {
  for (const [what, declarations, body, message] of STOPPED)
    it(`refuses ${what}`, () => {
      const text = `program run\nreal(8) :: u(8)\ninteger :: i\n${declarations}\nu = 1\n${body}\ndo i = 1, 8\nu(i) = 2*u(i)\nend do\nprint *, u\nend program\n`;
      const { output, errors, status } = asHip(text);
      assert.deepEqual([output, status], ["", 1]);
      assert.match(errors, message);
    });

  it("refuses elements that are not adjacent", () => {
    const text =
      "module m\ncontains\nsubroutine twice(n, u)\ninteger :: n, i\nreal(8) :: u(:)\n!$acc parallel loop\ndo i = 1, n\nu(i) = 2*u(i)\nend do\nend subroutine\n" +
      "end module\nprogram run\nuse m\nreal(8) :: u(8)\nu = 1\ncall twice(3, u(2:4))\nprint '(8f4.0)', u\ncall twice(4, u(::2))\nprint *, u\nend program\n";
    const { output, errors } = asHip(text);
    assert.equal(output, "  1.  2.  2.  2.  1.  1.  1.  1.\n");
    assert.match(errors, /^isoform: u at run\.F90:6: its elements are not adjacent: copy it to an array first\n/);
  });
});
