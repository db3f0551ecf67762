/* Messages about indices outside of arrays count as the program does: by declared bounds, axes from 1 in Fortran's order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fortran, RunError } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";
import { NODE_DEVICES } from "../devices.js";

const code = fortran(
  `
subroutine shift(nx, n, ng, at, w, y)
  integer, intent(in) :: nx, n, ng
  integer, device :: at(nx)
  real(8), device :: w(1-ng:nx+ng, 0:n), y(nx)
  integer :: i
  !$cuf kernel do <<<*,*>>>
  do i = 1, nx
    y(i) = w(at(i), n)
  end do
end subroutine
subroutine beyond(nx, ng, w)
  integer, intent(in) :: nx, ng
  real(8), device :: w(1-ng:nx+ng, 0:3)
  integer :: i
  !$cuf kernel do <<<*,*>>>
  do i = 1, nx
    w(i+3, 2) = 1
  end do
end subroutine
subroutine below(n, w)
  integer, intent(in) :: n
  real(8), device :: w(-1:4, n)
  integer :: i
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    w(i-3, i) = 1
  end do
end subroutine
subroutine plain(n, at, y)
  integer, intent(in) :: n
  integer, device :: at(n)
  real(8), device :: y(n)
  integer :: i
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    y(at(i)) = i
  end do
end subroutine
`,
  { file: "w.f90" },
);

const sizes = { nx: 10, n: 2, ng: 2 };

for (const name of NODE_DEVICES)
  test(`an index that a program computes, on ${name}`, async () => {
    const device = await open(name, { checked: true });
    const run = async (at: readonly number[]): Promise<unknown> => {
      const arrays = Object.fromEntries(["w", "y"].map((array) => [array, code.array(device, "shift", array, sizes)]));
      return code.routine("shift").run(device, { ...sizes, ...arrays, at: code.array(device, "shift", "at", sizes, Int32Array.from(at)) });
    };
    await run([-1, 0, 1, 2, 3, 4, 5, 6, 7, 12]);
    await assert.rejects(
      run([1, 2, 3, 13, 5, 6, 7, 8, 9, 10]),
      /w\.f90:9.*index 13 is outside axis 1 of "w", which goes from 1 - ng to nx \+ ng \(-1 to 12\)/,
    );
    await assert.rejects(
      run([1, 2, 3, -2, 5, 6, 7, 8, 9, 10]),
      /index -2 is outside axis 1 of "w", which goes from 1 - ng to nx \+ ng \(-1 to 12\)/,
    );
    const y = code.array(device, "plain", "y", { n: 2 });
    const at = code.array(device, "plain", "at", { n: 2 }, Int32Array.of(1, 3));
    await assert.rejects(
      (async () => code.routine("plain").run(device, { n: 2, at, y }))(),
      /w\.f90:37.*index 3 is outside axis 1 of "y", which goes from 1 to n \(1 to 2\)/,
    );
    await device.close();
  });

test("an index that is known before the launch", async () => {
  const device = await open("js");
  const refused = async (name: string, args: Record<string, number>): Promise<string> => {
    const w = code.array(device, name, "w", args);
    try {
      await code.routine(name).run(device, { ...args, w });
    } catch (error) {
      return (error as Error).message;
    }
    return assert.fail("it ran");
  };
  assert.match(
    await refused("beyond", { nx: 10, ng: 2 }),
    /writes w at w\.f90:18 with index 13 along axis 1, but w goes from 1 - ng to nx \+ ng \(-1 to 12\) there; give a longer view or a smaller range$/,
  );
  assert.match(await refused("below", { n: 4 }), /writes w at w\.f90:27 with index -2 along axis 1, but w goes from -1 to 4 there/);
  await device.close();
});

test("an array of a module begins where the routine that allocates it says", async () => {
  const text = (lower: string): string => `
module other
  integer :: first = 0
end module
module m
  integer :: lo = 1
  real(8), allocatable :: a(:)
contains
  subroutine work(n)
    integer, intent(in) :: n
    integer :: i
    !$acc parallel loop
    do i = 1, n
      a(i) = i
    end do
  end subroutine
end module
subroutine init(lo, n)
  use m, only: a
  use other
  integer, intent(in) :: lo, n
  allocate(a(${lower}:n))
end subroutine`;
  assert.deepEqual([...fortran(text("first")).kernels.get("work")!.lowered.sources.keys()].sort(), ["a", "first", "n"]);
  // Not the variable of the module: only a run tells.
  const code = fortran(text("lo"));
  assert.deepEqual([...code.kernels.get("work")!.lowered.sources.keys()].sort(), ["a", "a_lower1", "n"]);
  const device = await open("js");
  const a = device.array(f64, 5);
  await assert.rejects(
    code.routine("work").run(device, { n: 2, a }),
    new RunError("work: only the run that allocates a knows where it begins: pass a_lower1, too"),
  );
  await code.routine("work").run(device, { n: 2, a, a_lower1: -2 });
  assert.deepEqual([...(await device.queue.read(a))], [0, 0, 0, 1, 2]);
  await device.close();
});

test("bounds with variables of a module that the procedure assigns are refused", () => {
  const text = (first: string): string =>
    `module v\ninteger :: m\nend module\nsubroutine s(a)\nuse v\nreal(8) :: a(2:m)\ninteger :: i, k\n${first}\n!$acc parallel loop\ndo i = 2, 4\na(i) = i\nend do\nend subroutine\n`;
  assert.throws(
    () => fortran(text("m = m - 1"), { file: "s.f90" }),
    /s\.f90:\d+:\d+: a: its bounds are as its procedure began, and it is not known which values variables of them had then \(copy these variables, and assign the copies\)/,
  );
  assert.equal(fortran(text("k = m - 1"), { file: "s.f90" }).kernels.size, 1);
});
