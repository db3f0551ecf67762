/* Arrays of run-time size that each element of a loop has for itself: rows of views that a launch makes. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran, FortranError } from "../../src/fortran/index.js";
import { open, type Device } from "../../src/index.js";

let devices: Device[] = [];
before(async () => {
  devices = await Promise.all(["js", "js-debug", "wasm"].map((name) => open(name)));
});
after(() => Promise.all(devices.map((device) => device.close())));

const [NX, NY, M] = [5, 4, 3];
const U = Float64Array.from({ length: M * NX * NY }, (_, n) => Math.sin(n));
/** u(l, i, j), counted from 1. */
const u = (l: number, i: number, j: number): number => U[l - 1 + M * (i - 1 + NX * (j - 1))];

const subroutine = (declared: string, body: string, behind = ""): string => `
module columns
contains
subroutine s(nx, ny, m, u, v, c)
  integer, intent(in) :: nx, ny, m
  real(8), intent(inout) :: u(m, nx, ny), v(nx, ny)
  real(8), intent(in) :: c(m)
  integer :: i, j, l
  ${declared}
${body}
end subroutine
${behind}
end module
`;

const nest = (directive: string, body: string): string => `
  !$acc parallel loop collapse(2) ${directive}
  do j = 1, ny
    do i = 1, nx
${body}
    end do
  end do`;

async function run(text: string): Promise<{ v: number[]; u: number[] }> {
  const code = fortran(text, { file: "a.F90" });
  const all = await Promise.all(
    devices.map(async (device) => {
      const scalars = { nx: NX, ny: NY, m: M };
      const [columns, v, c] = [
        code.array(device, "s", "u", scalars, U),
        code.array(device, "s", "v", scalars),
        code.array(device, "s", "c", scalars, [10, 20, 30]),
      ];
      await code.routine("s").run(device, { ...scalars, u: columns, v, c });
      return { v: [...(await device.queue.read(v))], u: [...(await device.queue.read(columns))] };
    }),
  );
  for (const each of all.slice(1)) assert.deepEqual(each, all[0]);
  return all[0];
}

/** v(i, j) in memory's order. */
const each = (of: (i: number, j: number) => number): number[] =>
  Array.from({ length: NX * NY }, (_, n) => of((n % NX) + 1, Math.floor(n / NX) + 1));
/** Sums of a column of squares, backwards. */
const squares = each((i, j) => [3, 2, 1].reduce((sum, l) => sum + u(l, i, j) ** 2, 0));

const SUM = `
      do l = 1, m
        t(l) = u(l, i, j)**2
      end do
      v(i, j) = 0
      do l = m, 1, -1
        v(i, j) = v(i, j) + t(l)
      end do`;

describe("arrays of run-time size that an element has for itself", () => {
  it("by a clause", async () => {
    assert.deepEqual((await run(subroutine("real(8) :: t(m)", nest("private(t)", SUM)))).v, squares);
  });

  it("by local of do concurrent", async () => {
    const body = `  do concurrent (j = 1:ny, i = 1:nx) local(t, l)\n${SUM}\n  end do`;
    assert.deepEqual((await run(subroutine("real(8) :: t(m)", body))).v, squares);
  });

  it("of a procedure that is called, with axes and lower bounds", async () => {
    const called = `
subroutine column(n, x, s)
  !$acc routine seq
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8), intent(out) :: s
  real(8) :: t(0:n-1, 2)
  integer :: l
  do l = 1, n
    t(l-1, 1) = x(l)
    t(l-1, 2) = x(l)*t(l-1, 1)
  end do
  s = 0
  do l = n, 1, -1
    s = s + t(l-1, 2)
  end do
end subroutine`;
    assert.deepEqual((await run(subroutine("", nest("", "      call column(m, u(:, i, j), v(i, j))"), called))).v, squares);
  });

  it("that begin with the values from before", async () => {
    const body = `  t = c\n${nest("firstprivate(t)", "      t(m) = t(m) + u(1, i, j)\n      v(i, j) = t(1) + t(m)")}`;
    assert.deepEqual(
      (await run(subroutine("real(8) :: t(m)", body))).v,
      each((i, j) => 10 + (30 + u(1, i, j))),
    );
  });

  it("for the copy that an assignment needs", async () => {
    const { u: after } = await run(subroutine("", nest("", "      u(2:m, i, j) = u(1:m-1, i, j)")));
    const shifted = Array.from({ length: NX * NY }, (_, n) => [0, 0, 1].map((l) => U[n * M + l])).flat();
    assert.deepEqual(after, shifted);
  });

  it("for who launches the kernel himself", async () => {
    const code = fortran(subroutine("real(8) :: t(m)", nest("private(t)", SUM)), { file: "a.F90" });
    const [device] = devices;
    const kernel = code.kernels.get("s")!;
    const scalars = { nx: NX, ny: NY, m: M };
    const [columns, v] = [code.array(device, "s", "u", scalars, U), code.array(device, "s", "v", scalars)];
    const args = { ...scalars, u: columns, v };
    const rows = kernel.rows(device, args);
    assert.deepEqual(
      Object.values(rows).map(({ shape }) => [...shape]),
      [[NY, NX, M]],
    );
    await device.run(kernel, { ...args, ...rows }, kernel.range(args));
    assert.deepEqual([...(await device.queue.read(v))], squares);
  });

  it("are refused where the launch does not know the size", () => {
    const called = `
function first(n) result(s)
  !$acc routine seq
  integer, intent(in) :: n
  real(8) :: t(n), s
  t(1) = n
  s = t(1)
end function`;
    assert.throws(
      () => fortran(subroutine("", nest("", "      v(i, j) = first(i)"), called), { file: "a.F90" }),
      (error: FortranError) => /t: the size of a private array is not known before the launch/.test(error.message),
    );
  });
});
