import assert from "node:assert/strict";
import { it } from "node:test";
import { fortran } from "../../../src/fortran/index.js";
import { f64, open } from "../../../src/index.js";

/** A loop that calls a function whose dummy argument is `a(bounds)` with an array. */
const calling = (bounds: string, actual: string, value: string): string => `module m
contains
real(8) function f(a, i)
  !$acc routine seq
  real(8), intent(in) :: a(${bounds})
  integer, intent(in) :: i
  f = ${value}
end function
subroutine s(n, x, y, z)
  integer, intent(in) :: n
  real(8) :: x(n), y(n, 2), z(n)
  integer :: i
  !$acc parallel loop
  do i = 1, n
    z(i) = f(${actual}, i)
  end do
end subroutine
end module`;

it("dummy arrays of assumed shape take arrays of their rank, and number elements from their own bounds", async () => {
  const device = await open("js");
  const x = Float64Array.of(1, 2, 3);
  const y = Float64Array.of(10, 20, 30, 40, 50, 60);
  for (const [bounds, actual, value, expected] of [
    [":", "x", "a(i)", [1, 2, 3]],
    ["0:", "x", "a(i-1)", [1, 2, 3]],
    [":", "y(:, 2)", "a(i)", [40, 50, 60]],
    [":", "y(i, :)", "a(2)", [40, 50, 60]],
    [":, :", "y", "a(i, 1) + a(i, 2)", [50, 70, 90]],
    [":, 0:", "y", "a(i, 0) - a(i, 1)", [-30, -30, -30]],
    ["3, 2", "y", "a(i, 2)", [40, 50, 60]],
    ["6", "y", "a(i+1)", [20, 30, 40]],
    ["*", "x", "a(i)", [1, 2, 3]],
    ["*", "y", "a(i+3)", [40, 50, 60]],
    ["*", "y(2, 1)", "a(i)", [20, 30, 40]],
    ["0:*", "y(1, 2)", "a(i-1)", [40, 50, 60]],
    ["3, *", "y", "a(i, 2)", [40, 50, 60]],
    ["2, *", "y", "a(1, i)", [10, 30, 50]],
  ] as const) {
    const args = { x: device.array(f64, 3), y: device.array(f64, [2, 3]), z: device.array(f64, 3) };
    device.queue.write(args.x, x);
    device.queue.write(args.y, y);
    await fortran(calling(bounds, actual, value), { file: "a.F90" })
      .routine("s")
      .run(device, { n: 3, ...args });
    assert.deepEqual([...(await device.queue.read(args.z))], expected, `a(${bounds}) of ${actual}`);
  }
  await device.close();
});

it("dummy arrays of assumed shape refuse arrays of another rank, and elements", () => {
  for (const [bounds, actual, value] of [
    [":", "y", "a(i)"],
    [":, :", "x", "a(i, 1)"],
    [":", "x(2)", "a(i)"],
  ] as const) {
    const axes = bounds.split(",").length;
    const message = new RegExp(`${actual[0]}: it does not have the ${axes} axes of the argument a`);
    assert.throws(() => fortran(calling(bounds, actual, value), { file: "a.F90" }), message, `a(${bounds}) of ${actual}`);
  }
});
