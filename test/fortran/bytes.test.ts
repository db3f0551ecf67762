/* Integers of 8 bits: arrays of the program, and scalars. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { open } from "../../src/index.js";
import { compareWithGfortran, needsGfortran } from "./gfortran.js";

const routine = (name: string, declarations: string, before: string, body: string, inner = ""): [string, string] => [
  name,
  `
subroutine ${name}(n, x, k, y)
  integer, intent(in) :: n
  real(8) :: x(n), y(n)
  integer :: k(n), i
  ${declarations}
  ${before}
  !$acc parallel loop
  do i = 1, n
    ${body}
  end do
  ${inner}
end subroutine`,
];
const INPUTS = { x: Float64Array.from({ length: 9 }, (_, i) => i - 4), k: Int32Array.from({ length: 9 }, (_, i) => 60 * i - 200) };

const CASES = new Map([
  routine("assigned", "integer(1) :: w(9), v", "", "w(i) = k(i)\nv = k(i)\ny(i) = 1000*w(i) + v"),
  routine("converted", "integer(1) :: w(9)", "w = int(k, 1)", "w(i) = w(i)/2_1\ny(i) = 1000*int(k(i), 1) + w(i)"),
  routine("whole", "integer(kind=1), allocatable :: w(:)", "allocate(w(n))\nw = -3\nw(2) = 5", "y(i) = mod(w(i), 2_1) + iand(w(i), 12_1)"),
  routine("folded", "integer(1) :: w(9)", "w = k", "y(i) = maxval(w) + count(w > 4)"),
  routine(
    "chosen",
    "integer(selected_int_kind(2)) :: w(9)\ninteger(1), parameter :: wall = 1",
    "w = [(merge(1, 0, mod(i, 2) == 0), i = 1, 9)]",
    "select case (w(i))\ncase (wall)\ny(i) = x(i)\ncase default\ny(i) = w(i)\nend select",
  ),
  routine(
    "passed",
    "integer(1) :: w(9)",
    "w = 7\nw(3) = -7",
    "y(i) = twice(w(i))\ncall add(w, i)\ny(i) = y(i) + w(i)",
    `contains
  real(8) function twice(t)
    integer(1), intent(in) :: t
    twice = t*2
  end function
  subroutine add(t, i)
    integer(1) :: t(9)
    integer, intent(in) :: i
    t(i) = t(i) + 1_1
  end subroutine`,
  ),
]);

describe("integers of 8 bits", () => {
  it("have gfortran's values", needsGfortran, async () => {
    await compareWithGfortran(CASES, INPUTS, ["js", "wasm"]);
  });

  it("are bytes in memory", async () => {
    const code = fortran(`
subroutine mark(n, w)
  integer, intent(in) :: n
  integer(1) :: w(n)
  integer :: i
  !$acc parallel loop
  do i = 1, n
    w(i) = w(i) - 2_1
  end do
end subroutine`);
    const device = await open("js");
    const w = code.array(device, "mark", "w", { n: 3 }, [1, 2, 255]);
    await code.routine("mark").run(device, { n: 3, w });
    assert.deepEqual([w.type, [...(await device.queue.read(w))]], ["u8", [255, 0, 253]]);
    await device.close();
  });

  const refused: Readonly<Record<string, [string, string, RegExp]>> = {
    "where all their bits count": ["integer(1) :: v", "y(i) = popcnt(v)", /popcnt: v has 8 bits, and kernels have 32-bit integers only/],
    "as private arrays": ["integer(1) :: w(3)", "w(1) = 1", /w: private arrays cannot hold 8-bit integers \(use integer\(4\)\)/],
  };
  for (const [what, [declarations, body, message]] of Object.entries(refused))
    it(`are refused ${what}`, () => {
      const [, text] = routine("s", declarations, "", body);
      assert.throws(() => fortran(text.replace("parallel loop", "parallel loop private(w)")), message);
    });

  it("are written in Fortran as they are", () => {
    const [, text] = routine("s", "integer(1) :: w(9)", "", "w(i) = 1_1");
    assert.match(portSources([{ file: "a.f90", text }], { targets: ["openmp"] })[0].text, /integer\(1\) :: w\(9\)/);
  });
});
