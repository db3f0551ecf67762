/* `print` and `write` in parallel loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { open } from "../../src/index.js";
import { NODE_DEVICES } from "../devices.js";

const code = fortran(
  `
subroutine show(n, x, total)
  integer, intent(in) :: n
  real(8), device :: x(n)
  real(8), intent(out) :: total
  integer :: i
  character(len=3) :: word
  total = 0
  !$acc parallel loop
  do i = 1, n
    total = total + x(i)
    if (x(i) > 1) then
      print *, "cell", i, x(i), x(i) > 2.5d0
      write(*,*) 'half', 0.5d0*x(i)
    end if
    print '(a,i0)', 'formats are left out', i
    print *, x
    print *, word
  end do
  do i = 1, n
    print *, 'of the host', i
  end do
end subroutine
`,
  { file: "show.f90" },
);

for (const name of NODE_DEVICES)
  test(`a loop prints lines on ${name}`, async () => {
    const lines: string[] = [];
    const device = await open(name, { print: (line) => void lines.push(line) });
    const x = code.array(device, "show", "x", { n: 4 }, [1, 2, 3, -4]);
    const { total } = await code.routine("show").run(device, { n: 4, x });
    assert.equal(total, 2);
    assert.deepEqual(lines.sort(), ["cell 2 2 false", "cell 3 3 true", "half 1", "half 1.5"]);
    await device.close();
  });
