/* Which loops of a file are parallel regions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { regionsOf } from "../../src/fortran/analyse/regions.js";
import { readSymbols } from "../../src/fortran/analyse/symbols.js";
import { Problems } from "../../src/fortran/errors.js";
import { fortran, portSources } from "../../src/fortran/index.js";
import { parse } from "../../src/fortran/parse/index.js";
import { f64, i32, open } from "../../src/index.js";

const LOOP = "do concurrent (i = 1:n)\n  y(i) = 2\nend do";
const module = (attributes: string): string => `module m
contains
${attributes} subroutine s(n, y)
  integer, value :: n
  real(8) :: y(n)
  integer :: i
  ${LOOP}
end subroutine
end module
`;

/** The regions of a file's procedures and programs. */
function regions(text: string): string[] {
  const problems = new Problems();
  const { scopes } = readSymbols([parse(text, { file: "m.CUF" }, problems)], {}, problems);
  const found = scopes.flatMap(regionsOf).map(({ name }) => name);
  problems.throwIfAny();
  return found;
}

test("loops of procedures that run on the device alone are no regions", () => {
  assert.deepEqual(regions(module("")), ["s"]);
  assert.deepEqual(regions(module("attributes(host)")), ["s"]);
  assert.deepEqual(regions(module("attributes(host, device)")), ["s"]);
  assert.deepEqual(regions(module("attributes(device)")), []);
  const program = `program main\n  integer, parameter :: n = 3\n  real(8) :: y(n)\n  integer :: i\n  ${LOOP}\nend program\n`;
  assert.deepEqual(regions(program), ["main"]);
});

const CYCLES: Record<string, string> = {
  "by its name": "each: do i = 1, n\nif (k(i) < 0) cycle each\ny(i) = 1\nend do each",
  "from a loop inside":
    "each: do i = 1, n\ndo j = 1, 3\nif (k(i) < 0) cycle each\ny(i) = y(i) + 0.25d0*j - 0.25d0*(j - 1)/j\nend do\ny(i) = 1\nend do each",
};
const cycling = (directive: string, loop: string): string =>
  `subroutine s(n, k, y)\ninteger, intent(in) :: n\ninteger :: k(n), i, j\nreal(8) :: y(n)\n${directive}\n${loop}\nend subroutine\n`;

test("cycle may call the parallel loop by its name", async () => {
  const device = await open("js");
  try {
    for (const [how, loop] of Object.entries(CYCLES))
      for (const directive of ["!$acc parallel loop private(j)", "!$omp parallel do private(j)"]) {
        const y = device.array(f64, 4);
        const code = fortran(cycling(directive, loop), { file: "s.f90" });
        await code.routine("s").run(device, { n: 4, k: device.from(i32, [1, -1, 2, -2]), y });
        assert.deepEqual([...(await device.queue.read(y))], [1, 0, 1, 0], `${how}, ${directive}`);
      }
    const y = device.array(f64, 4);
    const concurrent = "each: do concurrent (i = 1:n)\nif (k(i) < 0) cycle each\ny(i) = 1\nend do each";
    await fortran(cycling("", concurrent), { file: "s.f90" })
      .routine("s")
      .run(device, { n: 4, k: device.from(i32, [1, -1, 2, -2]), y });
    assert.deepEqual([...(await device.queue.read(y))], [1, 0, 1, 0]);
  } finally {
    await device.close();
  }
});

test("cycle of a loop that is not around it is refused", () => {
  const outer = "outer: do i = 1, n\ninner: do j = 1, n\nif (k(i) < 0) cycle outer\ny(i) = 1\nend do inner\nend do outer";
  assert.throws(() => fortran(cycling("!$acc parallel loop collapse(2)", outer), { file: "s.f90" }), /it is not inside a loop named outer/);
});

test("a port to a target that is unknown is refused", () => {
  const source = { file: "s.f90", text: cycling("!$acc parallel loop", CYCLES["by its name"]) };
  assert.throws(
    () => portSources([source], { targets: ["openacc" as "openmp"] }),
    /^IsoformError: targets: openacc is unknown \(choose from cpu, openmp, openmp-target\)$/,
  );
});
