/* Would a wrong translation be seen? 20 places of a kernel are changed, one at a time: each gives other bits than gfortran's of the original. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { byGfortran, byIsoform, moduleOf, needsGfortran } from "./gfortran.js";

const ORIGINAL = moduleOf([
  `
  subroutine flux(n, x, k, y)
    integer, intent(in) :: n
    real(8), device :: x(n), y(n)
    integer, device :: k(n)
    integer :: i, j
    real(8) :: a, b, w(-1:1)
    real(8) :: total
    total = 0.5_rk
    !$cuf kernel do(1) <<<*,*>>>
    do i = 1, n
      total = total + x(i)
    end do
    !$cuf kernel do(1) <<<*,*>>>
    do i = 2, n - 1
      do j = -1, 1
        w(j) = 0.25_rk*x(i+j) + k(i+j)/2
      end do
      a = (w(-1) - 2*w(0) + w(1))/3._rk
      b = 0.1*x(i) - mod(k(i), 3)
      if (b > a) b = max(a, -b)
      y(i) = sign(a, x(i)) + b**2*total - x(i-1)
    end do
  end subroutine`,
]);

const MUTATIONS: readonly (readonly [from: string, to: string])[] = [
  // Coefficients.
  ["0.25_rk", "0.2500001_rk"],
  ["2*w(0)", "3*w(0)"],
  ["/3._rk", "*(1._rk/3._rk)"],
  // Indices.
  ["x(i+j)", "x(i)"],
  ["- x(i-1)", "- x(i)"],
  ["do i = 2, n - 1", "do i = 2, n - 2"],
  ["do i = 2, n - 1", "do i = 3, n - 1"],
  ["do j = -1, 1", "do j = -1, 0\n w(1) = 0"],
  ["w(-1) - 2*w(0)", "w(0) - 2*w(-1)"],
  // Signs.
  ["+ b**2", "- b**2"],
  ["max(a, -b)", "max(a, b)"],
  ["- mod(", "+ mod("],
  ["sign(a, x(i))", "sign(x(i), a)"],
  // Kinds of literals, and whole numbers.
  ["0.1*x", "0.1_rk*x"],
  ["k(i+j)/2", "k(i+j)/2._rk"],
  ["mod(k(i), 3)", "modulo(k(i), 3)"],
  // Values from before, and extremes.
  ["total = 0.5_rk", "total = 0"],
  ["total + x(i)", "total + abs(x(i))"],
  ["max(a, -b)", "min(a, -b)"],
  ["b > a", "b < a"],
];

test("each of 20 changes of a kernel is seen by comparison with gfortran's bits", needsGfortran, async () => {
  const inputs = {
    x: Float64Array.of(0.5, -0.25, 1.5, 2.25, -3.75, 0.125, 7, -6.5, 1.125, -0.75, 3.5, 2),
    k: Int32Array.of(1, -1, 2, -5, 7, -3, 8, 4, -7, 5, 6, 3),
  };
  const [expected] = byGfortran(ORIGINAL, ["flux"], inputs);
  const seen = async (text: string): Promise<boolean> => {
    const [found] = await byIsoform(text, ["flux"], inputs, "js");
    return found.some((value, n) => !Object.is(value, expected[n]));
  };
  assert.equal(await seen(ORIGINAL), false);
  assert.equal(MUTATIONS.length, 20);
  for (const [from, to] of MUTATIONS) {
    assert.ok(ORIGINAL.includes(from), from);
    assert.ok(await seen(ORIGINAL.replace(from, () => to)), `${from} became ${to}`);
  }
});
