/* Integers of 64 bits: as sizes, variables of loops and subscripts they have gfortran's results; other arithmetic is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";
import { compareWithGfortran, moduleOf, needsGfortran } from "./gfortran.js";

const inputs = {
  x: Float64Array.from({ length: 12 }, (_, n) => Math.sin(n * 1.7) * 3),
  k: Int32Array.from({ length: 12 }, (_, n) => ((n * 7) % 11) - 3),
};

const routine = (name: string, before: string, body: string, bounds = "1, nn"): string => `
  subroutine ${name}(n, x, k, y)
    use, intrinsic :: iso_fortran_env, only: int64
    integer, intent(in) :: n
    real(8) :: x(n), y(n)
    integer :: k(n), j
    integer(8) :: i, m, l
    integer(int64) :: nn
    nn = n
    ${before}
    !$acc parallel loop private(m)
    do i = ${bounds}
      ${body}
    end do
  end subroutine`;

const SAME: Record<string, string> = {
  size: routine("size", "", "y(i) = 2*x(i)"),
  value: routine("value", "", "y(i) = real(i, 8)*0.5d0 + i"),
  neighbours: routine("neighbours", "", "if (i > 1 .and. i + 1 <= nn) y(i) = x(i-1) + x(i+1)"),
  place: routine("place", "", "y((i - 1)*4_8 + 2*1) = x(i)", "1, nn/4"),
  kept: routine("kept", "", "m = i - 1\ny(m + 1) = x(i)*m"),
  inner: routine("inner", "", "do l = 1, i\ny(i) = y(i) + x(l)*mod(l, 3_8)\nend do"),
  from_behind: routine("from_behind", "m = nn/2", "y(i) = x(i)", "nn - 1, 2, -2"),
};

describe("integers of 64 bits", needsGfortran, () => {
  it("have gfortran's results", async () => {
    await compareWithGfortran(new Map(Object.entries(SAME)), inputs, ["js", "wasm"]);
  });

  const WIDE = /a\.F90:\d+:\d+: integer\(8\): it needs 64-bit arithmetic, .*\(use integer\(4\)\)/;
  for (const [body, message] of [
    ["y(i) = i*nn", WIDE],
    ["m = (i - 1)*nn\ny(1) = m/4", WIDE],
    ["if (i*nn > 5) y(i) = 1", WIDE],

    ["do l = 1, i*i\ny(i) = l\nend do", WIDE],
    ["y(i) = mod(i + nn, 3_8)", WIDE],
    ["m = m + 1\ny(i) = 1", /integer of kind 8: kernels have 32-bit integers only/],
    ["m = i\nm = m + 1\ny(i) = 1", WIDE],
  ] as const)
    it(`are refused: ${body.split("\n").join("; ")}`, () => {
      assert.throws(() => fortran(moduleOf([routine("a", "", body)]), { file: "a.F90" }), message);
    });

  it("are refused on the host where they may not fit", () => {
    assert.throws(() => fortran(moduleOf([routine("a", "m = nn*nn", "y(i) = 1")]), { file: "a.F90" }), WIDE);
  });

  it("have to fit when they are given", async () => {
    const text =
      "subroutine s(n, x)\ninteger(8) :: n, i\nreal(8) :: x(10)\n!$acc parallel loop\ndo i = n, n\nx(i - n + 1) = 1\nend do\nend subroutine";
    const device = await open("js");
    try {
      const x = device.array(f64, 10);
      await fortran(text).routine("s").run(device, { n: 7, x });
      assert.equal((await device.queue.read(x))[0], 1);
      await assert.rejects(
        fortran(text)
          .routine("s")
          .run(device, { n: 2 ** 31, x }),
        /n is 2147483648: integers of 64 bits have to stay below 2145386496 here/,
      );
    } finally {
      await device.close();
    }
  });
});
