/*
 * Whole routines as scientists write them, one a file in `programs`: objects in arrays, common blocks, texts, generic names, exits. Devices and ports
 * leave what gfortran's code leaves; what has no meaning here is refused at its place.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fortran, FortranError, portSources } from "../../src/fortran/index.js";
import { open, type Device, type View } from "../../src/index.js";
import { needsGfortran } from "./gfortran.js";
import { withHip } from "./cpp-routines.js";
import { STATE } from "./random-routines.js";
import { byGfortran, byIsoform, differenceOf, type Outcome, type Routines } from "./whole-routines.js";

const FOLDER = join(import.meta.dirname.replace(/([\\/])dist([\\/])/, "$1"), "programs");
const N = 12;
const names = readdirSync(FOLDER)
  .map((file) => file.replace(/\.f90$/, ""))
  .sort();
const parts = new Map(names.map((name) => [name, readFileSync(join(FOLDER, `${name}.f90`), "utf8")]));
const all = [...parts.values()].join("\n");
const uses = names.map((name) => `  use ${name}_module, only : ${name}`).join("\n");
const text = `${STATE}${all}\nmodule fixtures\n${uses}\n  implicit none\nend module\n`;
const routines: Routines = { text, names, parts, n: N };
const quiet = (): void => undefined;

/** A routine with the arrays of common blocks that its file names. */
async function left(code: ReturnType<typeof fortran>, name: string, device: Device): Promise<Outcome> {
  const [, list = ""] = /^! The test passes (.*)$/m.exec(parts.get(name)!) ?? [];
  const arrays: Record<string, View> = {};
  for (const array of list.match(/\w+/g) ?? []) arrays[array] = code.array(device, name, array, { n: N });
  const run = (of: string) => ({
    ...code.routine(of),
    run: (on: Device, args: object) => code.routine(of).run(on, { ...args, ...arrays }),
  });
  try {
    return await byIsoform({ ...code, routine: run } as typeof code, routines, name, device);
  } finally {
    for (const view of Object.values(arrays)) view.free();
  }
}

describe("ordinary programs", needsGfortran, () => {
  let expected: Outcome[];
  let code: ReturnType<typeof fortran>;
  const devices: Device[] = [];
  before(async () => {
    expected = byGfortran(routines);
    code = fortran(text, { file: "programs.f90" });
    for (const name of ["js", "wasm"]) devices.push(await open(name, { print: quiet }));
    for (const device of devices) device.precision = "strict";
  });
  after(() => Promise.all(devices.map((device) => device.close())));

  for (const [at, name] of names.entries())
    it(name.replaceAll("_", " "), async () => {
      assert.ok(
        expected[at].slice(0, N + 8).some((value) => value !== 0),
        "the routine leaves something",
      );
      for (const device of devices)
        assert.equal(differenceOf(expected[at], await left(code, name, device), routines), undefined, device.backend);
    });

  it("are the same as ports", () => {
    for (const target of ["cpu", "openmp"] as const) {
      const found = byGfortran(routines, { text: portSources([{ file: "programs.f90", text }], { targets: [target] })[0].text });
      for (const [at, name] of names.entries())
        assert.equal(differenceOf(expected[at], found[at], routines), undefined, `${target}: ${name}`);
    }
  });
});

const OBJECTS =
  /\broutines\.F90:\d+:\d+: \w+%\w+: the objects of the array lie between its elements, and ports to C\+\+ need them side by side \(make each component an array\)$/m;
const COMMON = /common :: \w+: its common block is laid out in different ways/;
const REFUSED: Readonly<Record<string, RegExp>> = {
  allocated_objects: OBJECTS,
  bounds_of_objects: OBJECTS,
  cells_of_a_grid: OBJECTS,
  components_of_particles: OBJECTS,
  particles_with_objects: OBJECTS,
  common_block: COMMON,
  common_blocks: COMMON,
};

/** Some of the routines by themselves. */
const only = (some: readonly string[]): Routines => {
  const used = some.map((name) => `  use ${name}_module, only : ${name}`).join("\n");
  const modules = some.map((name) => parts.get(name)!).join("\n");
  return { ...routines, names: [...some], text: `${STATE}${modules}\nmodule fixtures\n${used}\n  implicit none\nend module\n` };
};

describe("ordinary programs in HIP C++", needsGfortran, () => {
  it("are the same", () => {
    const some = only(names.filter((name) => !Object.hasOwn(REFUSED, name)));
    assert.ok(some.names.length >= 24);
    const expected = byGfortran(some);
    const found = withHip(some.text, (text, words) => byGfortran(some, { text, words, env: { SHIM_LATE: "1" } }));
    for (const [at, name] of some.names.entries()) assert.equal(differenceOf(expected[at], found[at], some), undefined, name);
  });

  for (const [name, message] of Object.entries(REFUSED))
    it(`${name.replaceAll("_", " ")}, refused`, () => assert.throws(() => withHip(only([name]).text, () => undefined), message));
});

describe("directives of OpenACC and OpenMP on one loop", () => {
  it("are one loop", async () => {
    const text = `subroutine s(n, a, r)
  integer, intent(in) :: n
  real(8) :: a(n), r
  integer :: i
  !$acc parallel loop reduction(+:r)
  !$omp parallel do reduction(+:r)
  do i = 1, n
    r = r + i
    a(i) = 2*i
  end do
end subroutine`;
    const code = fortran(text);
    const device = await open("js");
    const a = code.array(device, "s", "a", { n: 3 });
    assert.deepEqual(await code.routine("s").run(device, { n: 3, a, r: 10 }), { r: 16 });
    assert.deepEqual([[...(await device.queue.read(a))], [...code.kernels.keys()]], [[2, 4, 6], ["s"]]);
    await device.close();
  });
});

describe("main programs", () => {
  const program = `
program sums
  implicit none
  integer, parameter :: n = 4
  real(8) :: u(n), total
  integer :: i, step
  character(len=8) :: what
  what = 'squares'
  total = 0
  do step = 1, 2
    !$acc parallel loop
    do i = 1, n
      u(i) = step*i*i
    end do
    total = total + sum(u)
    write(*,*) 'step', step, what, total
  end do
  print '(a,4f8.3)', 'u', u
  if (total < 0) call exit(1)
end program
`;
  it("show what they print, and give their variables back", async () => {
    const lines: string[] = [];
    const device = await open("js", { print: (line) => lines.push(line) });
    const code = fortran(program);
    const u = code.array(device, "sums", "u");
    assert.deepEqual(await code.routine("sums").run(device, { u }), { total: 90, step: 3 });
    assert.deepEqual(lines, ["step 1 squares 30", "step 2 squares 90", "u 2 8 18 32"]);
    assert.deepEqual([...(await device.queue.read(u))], [2, 8, 18, 32]);
    await device.close();
  });

  it("end where they exit", async () => {
    const device = await open("js");
    const text = program.replace("total < 0", "total > 0");
    await assert.rejects(fortran(text, { file: "sums.f90" }).routine("sums").run(device, {}), /sums\.f90:19: the program stops/);
    await device.close();
  });
});

describe("what ordinary programs may not do", () => {
  const sub = (declarations: string, body: string, before = ""): string =>
    `module m\n${before}\nend module\nsubroutine s(n, x, y, mode)\nuse m\ninteger :: n, i\nreal(8) :: x(n), y(n)\ncharacter(*) :: mode\n${declarations}\n${body}\nend subroutine`;
  const loop = (body: string): string => `!$acc parallel loop\ndo i = 1, n\n${body}\nend do`;
  const refused: Readonly<Record<string, readonly [string, RegExp]>> = {
    "sizes of arrays in arrays of objects": [
      sub("type(t) :: p(2)", loop("p(1)%a(i) = x(i)"), "type t\nreal(8), allocatable :: a(:)\nend type"),
      /p%a: each object of the array may have an array of another size \(give the component constant bounds, or use an array\)/,
    ],
    "initial values of arrays in arrays of objects": [
      sub("type(t) :: p(2)", loop("p(1)%a(1) = x(i)"), "type t\nreal(8) :: a(2) = 3\nend type"),
      /p%a: initial values (of arrays of objects have to be numbers|are supported for scalar objects only)/,
    ],
    "whole objects with pointers": [
      sub("type(t) :: p(2)", "p(1) = p(2)\n" + loop("y(i) = p(1)%b"), "type t\nreal(8) :: b\nreal(8), pointer :: a(:)\nend type"),
      /type\(t\): kernels cannot use a whole object \(use its components one by one\)/,
    ],
    "choice by texts in a loop": [
      sub("", loop("if (mode == 'up') y(i) = x(i)")),
      /mode: kernels have no character strings \(decide before the loop, or keep a logical variable\)/,
    ],
    "choice by texts that are made": [
      sub("character(9) :: name", `name = mode // '.dat'\nif (name == 'a.dat') n = 1\n${loop("y(i) = x(i)")}`),
      /name: |character: kernels have no character strings/,
    ],
    "choice by results that are texts": [
      sub(
        "",
        `if (which(n) == 'a') n = 1\n${loop("y(i) = x(i)")}`,
        "contains\nfunction which(m)\ncharacter(1) :: which\ninteger :: m\nwhich = 'a'\nend function",
      ),
      /character|which/,
    ],
    "texts with quotes": [
      sub("character(4) :: name", `name = 'it''s'\nif (name == "it's") n = 1\n${loop("y(i) = x(i)")}`),
      /character: kernels have no character strings|name: /,
    ],
    "common blocks of two layouts": [
      sub("common /c/ z(2)\nreal(8) z", loop("y(i) = z(1)")) + "\nsubroutine other\nreal(4) :: z(4)\ncommon /c/ z\nz = 0\nend subroutine",
      /common :: z: its common block is laid out in different ways/,
    ],
    "functions that kernels do not have": [
      sub("", loop("y(i) = erf(x(i))")),
      /erf: kernels do not have this function \(write a function that computes it\)/,
    ],
    "generic names with arguments of no procedure": [
      sub(
        "",
        loop("y(i) = twice(i)"),
        "interface twice\nmodule procedure a, b\nend interface\ncontains\nreal(8) function a(v)\nreal(8) :: v\na = v\nend function\nreal(4) function b(v)\nreal(4) :: v\nb = v\nend function",
      ),
      /twice: the types of the arguments decide which procedure is meant/,
    ],
  };
  for (const [what, [text, message]] of Object.entries(refused))
    it(`${what} are refused`, () => {
      assert.throws(
        () => fortran(text, { file: "s.f90" }),
        (error) => error instanceof FortranError && message.test(error.message),
      );
    });
});
