/* What Fortran becomes apart from running: kernels, arrays by their declarations, races that are named, files in other languages, refusals. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fortran, FortranError, RunError } from "../../src/fortran/index.js";
import { f64, open, range } from "../../src/index.js";

const HEAT = `
module heat
  implicit none
  integer, parameter :: rk = 8
  real(rk), allocatable :: field(:, :)
contains
  subroutine start(nx, ny)
    integer :: nx, ny
    allocate(field(0:nx, -1:ny))
  end subroutine
  subroutine update(nx, ny, ng, u, v)
    integer, intent(in) :: nx, ny, ng
    real(rk), device :: u(1-ng:nx+ng, 1-ng:ny+ng), v(nx, ny)
    integer :: i, j
    !$cuf kernel do(2) <<<*,*>>>
    do j = 1, ny
      do i = 1, nx
        v(i, j) = (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))/4
      end do
    end do
    !$cuf kernel do(2) <<<*,*>>>
    do j = 1, ny
      do i = 1, nx
        u(i, j) = u(i+1, j)
      end do
    end do
  end subroutine
end module`;
const code = fortran(HEAT, { file: "heat.F90" });

test("loops are kernels, which can be launched by themselves", async () => {
  assert.deepEqual([...code.kernels.keys()], ["update#1", "update#2"]);
  const kernel = code.kernels.get("update#1")!;
  const device = await open("js");
  const u = code.array(device, "update", "u", { nx: 2, ny: 1, ng: 1 }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assert.deepEqual(u.shape, [3, 4]);
  const args = { nx: 2, ny: 1, ng: 1, u, v: code.array(device, "update", "v", { nx: 2, ny: 1 }) };
  assert.deepEqual(kernel.range(args), range(1, 2));
  await device.run(kernel, args, kernel.range(args));
  assert.deepEqual([...(await device.queue.read(args.v))], [5, 6]);
  assert.throws(() => kernel.range({ nx: 2 }), new RunError("ny is missing: the kernel's bounds depend on it"));
  await device.close();
});

test("an array without bounds has those of its allocate", async () => {
  const device = await open("js");
  assert.deepEqual(code.array(device, "start", "field", { nx: 3, ny: 4 }).shape, [6, 4]);
  await device.close();
});

test("what may race is named, at its place", () => {
  assert.deepEqual(code.kernels.get("update#1")!.races(), []);
  const [race, ...more] = code.kernels.get("update#2")!.races();
  assert.match(race, /heat\.F90:24:19: reads u\[.* is written by another element/);
  assert.deepEqual(more, []);
});

test("kernels are written in other languages, or it is said why not", async () => {
  for (const target of ["c", "cuda", "hip", "js", "omp-target", "opencl", "sycl", "wat"] as const) {
    const { files, refused } = await code.emit(target);
    assert.ok(
      files.some(({ name, text }) => name.includes("update_2") && text.includes("u")),
      target,
    );
    assert.deepEqual(refused, []);
  }
  const { files, refused } = await code.emit("wgsl");
  assert.deepEqual(files, []);
  assert.match(refused[0].why, /is f64, which WGSL lacks/);
  assert.ok((await fortran(HEAT.replace("rk = 8", "rk = 4")).emit("wgsl")).files.length > 0);
});

test("arguments that are missing or do not fit are named", async () => {
  const device = await open("js");
  const run = (args: Record<string, unknown>) => code.routine("update").run(device, args);
  const sizes = { nx: 2, ny: 2, ng: 1 };
  const v = device.array(f64, [2, 2]);
  await assert.rejects(run({ ...sizes, v }), new RunError("update: the argument u is missing"));
  await assert.rejects(run({ ...sizes, v, u: "w" }), /update: u is given string: give a number, a truth value or a view/);
  await assert.rejects(run({ ...sizes, v, u: device.array(f64, 4) }), /u is given a view of shape \[4\], and is declared with \[4,4\]/);
  assert.throws(() => code.routine("downdate"), /no routine downdate; there are start, update/);
  await device.close();
});

const inLoop = (body: string, declarations = ""): string => `
subroutine s(n, x)
  integer :: n, i
  real(8) :: x(n)
  ${declarations}
  !$acc parallel loop
  do i = 1, n
    ${body}
  end do
end subroutine`;

const REFUSED: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  "an unknown name": [inLoop("x(i) = y"), /^a\.F90:8:12: y: it is unknown here \(declare it, or give the file with its module\)$/],
  "an unknown function": [inLoop("x(i) = bessel(x(i))"), /8:12: bessel: there is no function or array of this name/],
  "integers of 64 bits": [
    inLoop("x(i) = k(1)", "integer(8) :: k(3)"),
    /integer of kind 8: kernels have 32-bit integers only \(take integer\(4\)\)/,
  ],
  "a kind that is not known": [inLoop("t = x(i)", "real(wp) :: t"), /real of kind unknown: .*kinds: \{ name: "f64" \}/],
  goto: [inLoop("if (x(i) > 0) goto 10\n10 continue"), /go to: .*\(write do, if, exit and cycle\)/],
  recursion: [
    `module m\ncontains\nfunction f(a) result(b)\nreal(8) :: a, b\nb = f(a - 1)\nend function\n${inLoop("x(i) = f(x(i))")}\nend module`,
    /f: it calls itself \(write a loop: kernels have no recursion\)/,
  ],
  "allocate in a kernel": [inLoop("allocate(t(3))", "real(8), allocatable :: t(:)"), /allocate: kernels cannot allocate memory/],
  "stop in a kernel": [inLoop("if (x(i) < 0) stop"), /stop: a kernel cannot end the program/],
  "private arrays of a size that an array tells": [
    inLoop("t(1) = i\nx(i) = t(1)", "real(8) :: t(k(1))\ninteger :: k(3)").replace("!$acc parallel loop", "!$acc parallel loop private(t)"),
    /t: the size of a private array is not known before the launch/,
  ],
  "arrays of several axes beside others": [
    inLoop("y = max(y, z)\nx(i) = y(1)", "real(4) :: y(3), z(3, 2)"),
    /z: it has 2 axes, and is combined with arrays of 1 \(write a loop over its elements\)/,
  ],
  "too many indices": [inLoop("x(i, 1) = 0"), /x: 2 indices for an array of 1 axes/],
  "logical arithmetic": [inLoop("x(i) = 1 + (x(i) > 0)"), /a logical value is used where a number is needed/],
  "a number as a condition": [inLoop("if (i) x(i) = 0"), /a number is used where a logical value is needed \(compare it: n \/= 0\)/],
  "an unknown procedure": [inLoop("call work(x(i))"), /call work: the procedure is unknown/],
};

for (const [what, [text, message]] of Object.entries(REFUSED))
  test(`${what} is refused, with what to write instead`, () => {
    assert.throws(
      () => fortran(text, { file: "a.F90" }),
      (error: unknown) => error instanceof FortranError && message.test(error.message),
    );
  });

test("all problems of a file are told at once; the good routines may be had alone", () => {
  const text = `module m\ncontains\n${inLoop("x(i) = y").replace("subroutine s(", "subroutine bad(")}\n${inLoop("x(i) = i")}\n${inLoop("x(i) = z").replace("subroutine s(", "subroutine worse(")}\nend module`;
  assert.throws(
    () => fortran(text, { file: "a.F90" }),
    (error: unknown) => error instanceof FortranError && error.problems.length === 2,
  );
  const some = fortran(text, { file: "a.F90", partial: true });
  assert.deepEqual([some.routines, some.problems.map(({ construct }) => construct)], [["s"], ["y", "z"]]);
});
