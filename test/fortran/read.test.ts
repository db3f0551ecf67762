/* Reading without kernels: loops with their places, problems of both stages, and kernels that come later. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fortran, FortranError, problemText, readFortran } from "../../src/fortran/index.js";

const TWO = `
subroutine smooth(n, m, u, v)
  integer, intent(in) :: n, m
  real(8) :: u(n, m), v(n, m)
  integer :: i, j
  !$acc parallel loop collapse(2)
  do j = 1, m
    do i = 1, n
      v(i, j) = 0.5d0*u(i, j)
    end do
  end do
  do concurrent (i = 1:n)
    u(i, 1) = v(i, 1)
  end do
end subroutine
`;
const [FILE, HELPERS] = ["smooth.f90", "helpers.f90"];

test("a file is read into its loops, and its kernels are those of fortran()", async () => {
  const read = readFortran(TWO, { file: FILE, hosts: [{ file: HELPERS, text: TWO.replace("smooth", "other") }] });
  assert.deepEqual(read.loops, [
    { name: "smooth#1", at: { file: FILE, line: 6, column: 9 }, variables: ["j", "i"] },
    { name: "smooth#2", at: { file: FILE, line: 12, column: 3 }, variables: ["i"] },
  ]);
  assert.deepEqual(read.problems, []);
  const code = await read.compile();
  assert.equal(await read.compile(), code);
  const texts = async (kernels: typeof code) => (await kernels.emit("js")).files.map(({ text }) => text);
  assert.deepEqual(await texts(code), await texts(fortran(TWO, { file: FILE })));
});

test("reading tells its own problems, and compiling all of them", async () => {
  const last = TWO.replace("do concurrent (i = 1:n)", "!$omp parallel do lastprivate(i)\n  do i = 1, n").replace(
    "\nend sub",
    "\n  u(i, 1) = 0\nend sub",
  );
  const text = last.replace("0.5d0*", "erf(0.5d0)*");
  const read = readFortran(text, { file: FILE });
  assert.deepEqual(
    read.loops.map(({ name }) => name),
    ["smooth#1", "smooth#2"],
  );
  assert.deepEqual(read.problems.map(problemText), [
    "smooth.f90:12:9: i: the variable of a parallel loop is read after the loop (assign it after the loop)",
  ]);
  await assert.rejects(read.compile(), (error) => {
    assert.ok(error instanceof FortranError);
    assert.deepEqual(
      error.problems.map(({ at }) => at.line),
      [9, 12],
    );
    return true;
  });
  const partial = await readFortran(text, { file: FILE, partial: true }).compile();
  assert.equal(partial.problems.length, 2);
});

test("lines outside of procedures that cannot be read are refused at once, without partial", () => {
  const broken = `module m\n  integer :: : a\nend module\n${TWO}`;
  assert.throws(() => readFortran(broken, { file: FILE }), FortranError);
  assert.deepEqual(
    readFortran(broken, { file: FILE, partial: true }).loops.map(({ name }) => name),
    ["smooth#1", "smooth#2"],
  );
});
