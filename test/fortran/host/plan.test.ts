import assert from "node:assert/strict";
import { it } from "node:test";
import { fortran } from "../../../src/fortran/index.js";
import { f64, open } from "../../../src/index.js";

const TEXT = `module m
integer :: calls = 0
contains
integer function next(k)
  integer, intent(in) :: k
  calls = calls + 1
  next = k
end function
subroutine s(n, y)
  integer, intent(in) :: n
  real(8) :: y(3)
  integer :: i
  calls = 0
  if (n > 5) then
    y(1) = 1
  else if (next(n) > 2) then
    y(1) = 2
  else if (next(n) > 1) then
    y(1) = 3
  else
    !$acc parallel loop
    do i = 1, 1
      y(i) = 4
    end do
  end if
  y(2) = calls
  i = n
  do while (next(i) > 0)
    i = i - 2
  end do
  y(3) = calls
end subroutine
end module`;

it("functions that assign a module's variable are called once for each condition that is reached", async () => {
  const device = await open("js");
  const { s } = { s: fortran(TEXT, { file: "a.F90" }).routine("s") };
  for (const [n, branch, calls, turns] of [
    [6, 1, 0, 4],
    [3, 2, 1, 3],
    [2, 3, 2, 2],
    [1, 4, 2, 2],
  ]) {
    const y = device.array(f64, 3);
    await s.run(device, { n, y });
    assert.deepEqual([...(await device.queue.read(y))], [branch, calls, calls + turns], `n = ${n}`);
  }
  await device.close();
});
