/* Functions of Fortran that give arrays, and that take whole arrays: gfortran's bits, or a refusal at its place. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { compareWithGfortran, moduleOf, needsGfortran, routine } from "./gfortran.js";

const N = 12;
const inputs = {
  x: Float64Array.from({ length: N }, (_, n) => 3 * Math.sin(1.7 * n)),
  k: Int32Array.from({ length: N }, (_, n) => ((7 * n) % 11) - 3),
};

/** A subroutine with these declarations and statements; `more` stands behind `contains`. */
const sub =
  (declarations: string, statements: string, more = "") =>
  (name: string): string =>
    `subroutine ${name}(n, x, k, y)
integer, intent(in) :: n
real(8) :: x(n), y(n)
integer :: k(n)
${declarations}
${statements}
${more && `contains\n${more}`}
end subroutine`;
/** The body of a loop over elements that have variables of their own. */
const own =
  (declarations: string, body: string) =>
  (name: string): string =>
    routine(name, body, declarations);

const MATRIX = "real(8) :: a(3,4), b(4,3), d(0:2,-1:2)";

const CASES: Readonly<Record<string, (name: string) => string>> = {
  cshift: sub("", "y = 2*cshift(x, -2) + cshift(x, 14)"),
  eoshift: sub("", "y = eoshift(x, 1) + eoshift(x, -1, boundary=1.5d0) + eoshift(x, n) + eoshift(x, -20, 3d0)"),
  shifts_of_integers: sub("", "y = cshift(k, 5) + eoshift(k, 2, boundary=7)"),
  shifts_by_elements: own("real(8) :: v(3)", "v = [x(i), 1d0, -2d0]\nv = cshift(v, k(i))\ny(i) = v(1) + 10*v(2)"),
  shifts_of_axes: sub(MATRIX, "a = reshape(x(1:12), (/3, 4/))\na = cshift(a, 1, 2) + eoshift(a, shift=-1, dim=1)\ny = reshape(a, [12])"),
  shifts_of_bounds: sub(MATRIX, "d = reshape(x, [3, 4])\nd = cshift(d, shift=1)\ny = reshape(d, [12])"),
  spread: sub(MATRIX, "a = spread(x(1:3), 2, 4) + spread(x(1:4), dim=1, ncopies=3)\ny = reshape(a, [12])"),
  transpose: sub(MATRIX, "a = reshape(x, [3, 4])\nb = transpose(a)\ny = reshape(b, [12])"),
  transpose_in_place: own("real(8) :: g(2,2)", "g = x(i)\ng(1,2) = 3\ng = transpose(g)\ny(i) = g(1,2) + 10*g(2,1)"),
  reshape: sub(
    `${MATRIX}\ninteger :: s(2)`,
    "s = [4, 3]\nb = reshape(x, shape(b)) + reshape([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], s)\ny = reshape(b, [12])",
  ),
  matmul: own(
    "real(8) :: g(2,2), h(2,2), v(2)",
    "g = x(i)\ng(1,2) = 3\nh = matmul(g, transpose(g))\nv = matmul(h, g(:,1))\ny(i) = v(1) + dot_product(v, h(1,:)) + sum(matmul(v, h))",
  ),
  matmul_of_kinds: own("real(4) :: g(2,2)\ninteger :: v(2)", "g = real(x(i), 4)\ng(2,1) = 2\nv = [k(i), 3]\ny(i) = sum(matmul(g, v))"),
  matmul_on_host: sub(
    "real(8) :: a(3,4), b(4,3), c(3,3)",
    "a = reshape(x, [3, 4])\nb = 2*transpose(a)\nc = matmul(a, b)\ny = 0\ny(1:9) = reshape(c, [9])",
  ),
  sums: sub(
    MATRIX,
    "a = reshape(x, [3, 4])\ny = 0\ny(1:4) = sum(a, dim=1)\ny(5:7) = maxval(a, 2)\ny(8:11) = count(a > 0, 1)\ny(12) = sum(a, mask=a > 0)",
  ),
  any_all: own(
    "real(8) :: v(3)",
    "v = [x(i), 1d0, -2d0]\ny(i) = count(v > 0)\nif (any(v > 0.5d0)) y(i) = y(i) + 3\nif (all(v < 1.5d0)) y(i) = y(i) + 5",
  ),
  places: own(
    "integer :: v(4), o(1)",
    "v = [k(i), 1, 5, 5]\no = minloc(v)\ny(i) = maxloc(v, 1) + 10*o(1) + 100*maxloc(v, dim=1, mask=v < 5) + 1000*minloc(v, 1, v > 7)",
  ),
  places_of_reals: own(
    "real(8) :: v(4), z\ninteger :: o(1)",
    "z = 0\nv = [z/z, x(i), 1d0, x(i)]\no = maxloc(v)\ny(i) = o(1) + 10*minloc(v, 1)\nv = z/z\ny(i) = y(i) + 100*minloc(v, 1) + 1000*maxloc(v, 1, [.false., .true., .true., .false.])",
  ),
  places_in_matrices: sub(
    "real(8) :: a(3,4)\ninteger :: o(2)",
    "a = reshape(x, [3, 4])\no = maxloc(a)\ny = o(1)*10 + o(2)\no = minloc(a, mask=a > 0)\ny(2) = o(1)*10 + o(2)\no = maxloc(a, a > 99)\ny(3) = o(1)*10 + o(2)\ny(5:8) = minloc(a, 1)\ny(9:11) = maxloc(a, dim=2)",
  ),
  bounds: sub(
    "integer :: s(2)\nreal(8) :: a(0:2, 4)",
    "a = 0\ns = shape(a)\ny = s(1)*10 + s(2)\ny(1:2) = [lbound(a, 1), ubound(a, dim=1)]",
  ),
  no_numbers: sub(
    "integer :: i",
    "!$acc parallel loop\ndo i = 1, n\ny(i) = merge(1, 2, bad(x(i)/x(1)))\nend do",
    "logical function bad(a)\nuse, intrinsic :: ieee_arithmetic, only: ieee_is_nan\nreal(8), intent(in) :: a\nbad = ieee_is_nan(a)\nend function",
  ),
  names_of_procedures: sub(
    "integer :: i",
    "!$acc parallel loop\ndo i = 1, n\ny(i) = shape(x(i)) + sum([shape(1d0), 2d0])\nend do",
    "real(8) function shape(a)\nreal(8), intent(in) :: a\nshape = 3*a\nend function",
  ),
  of_elements: sub("", "y = f(x) + f(2*x)*f(1d0)", "elemental real(8) function f(a)\nreal(8), intent(in) :: a\nf = 2*a + 1\nend function"),
  of_elements_and_sums: sub(
    "real(8) :: a(3,4)",
    "a = reshape(x, [3, 4])\na = f(a, 2) + a\ny = reshape(a, [12])\ny(3) = sum(f(a, 3)) + maxval(f(transpose(a), -1))\ny(4:6) = f(y(1:3), k(2:4))",
    "elemental real(8) function f(a, m)\nreal(8), intent(in) :: a\ninteger, intent(in) :: m\nf = a*m\nif (m < 0) f = a\nend function",
  ),
  of_elements_in_place: sub(
    "",
    "y = x\ny = f(y)",
    "elemental function f(a) result(r)\nreal(8), intent(in) :: a\nreal(8) :: r\nr = 3*a\nend function",
  ),
  arrays_of_functions: sub(
    "real(8) :: v(3)\ninteger :: i",
    "!$acc parallel loop private(v)\ndo i = 1, n\nv = f(x(i)) + 1\nv = f(v(2)) + f(v(3))*v\ny(i) = v(1) + v(2) - v(3)\nend do",
    "function f(a)\nreal(8), intent(in) :: a\nreal(8) :: f(3)\nf = [a, 2*a, 3*a]\nend function",
  ),
  arrays_to_functions: sub(
    "real(8) :: v(3)\ninteger :: i",
    "!$acc parallel loop private(v)\ndo i = 1, n\nv = [x(i), 2d0, 3d0]\nv = turned(v)\ny(i) = v(1) + 10*v(3)\nend do",
    "function turned(a) result(b)\nreal(8), intent(in) :: a(3)\nreal(8) :: b(3)\nb(1) = a(2)\nb(2) = a(3)\nb(3) = a(1)\nend function",
  ),
  bits: own("", "y(i) = popcnt(k(i)) + shifta(k(i), 1) + 100*popcnt(not(k(i)))\nif (isnan(x(i)/x(1))) y(i) = -y(i)"),
};

describe("functions over arrays", () => {
  // Its matmul may multiply and add in one rounding.
  it("have gfortran's bits", needsGfortran, async () => {
    const cases = new Map(Object.entries(CASES).map(([name, text]) => [`t_${name}`, text(`t_${name}`)]));
    await compareWithGfortran(cases, inputs, ["js", "wasm"], (name) =>
      name.includes("matmul") ? (name.includes("kinds") ? 3e-7 : 1e-14) : 0,
    );
  });

  const M = "real(8) :: a(3,4)\ninteger :: i";
  const LOOP = "\n!$acc parallel loop\ndo i = 1, n\ny(i) = a(1,1)\nend do";
  const REFUSED: Readonly<Record<string, readonly [string, string, RegExp]>> = {
    "a shift by an array": [M, `a = 0\na = cshift(a, [1, 2, 3, 4], 1)${LOOP}`, /cshift: the shift is an array, with a value for each row/],
    "a boundary that is an array": [
      M,
      `a = 0\na = eoshift(a, 1, [1d0, 2d0, 3d0, 4d0])${LOOP}`,
      /eoshift: the shift is an array, with a value for each row/,
    ],
    padding: [M, `a = reshape(x(1:2), [3, 4], pad=[0d0])${LOOP}`, /reshape: an argument is not supported/],
    "an order of axes": [M, `a = reshape(x(1:12), [3, 4], order=[2, 1])${LOOP}`, /reshape: an argument is not supported/],
    "the last of places": [M, `a = 0\ni = maxloc(x, dim=1, back=.true.)${LOOP}`, /maxloc: an argument is not supported/],
    "the transpose of a row": [M, `a(1,:) = transpose(x(1:4))${LOOP}`, /transpose: its argument is not a matrix/],
    "an array of a function where a number stands": [
      "integer :: i",
      "!$acc parallel loop\ndo i = 1, n\ny(i) = sum(f(x(i)))\nend do\ncontains\nfunction f(a)\nreal(8), intent(in) :: a\nreal(8) :: f(3)\nf = a\nend function",
      /sum: its argument is not an array/,
    ],
    "a shift in place of a size that an array tells": [
      "integer :: i",
      "!$acc parallel loop\ndo i = 1, 1\nx(1:k(1)) = x(2:k(1)+1)\nend do",
      /x: the right side may read elements that were assigned before/,
    ],
  };
  for (const [what, [declarations, statements, message]] of Object.entries(REFUSED))
    it(`refuse ${what}`, () => {
      const code = fortran(moduleOf([sub(declarations, statements)("s")]), { file: "a.F90", partial: true });
      assert.match(code.problems.map(({ construct, why }) => `${construct}: ${why}`).join("\n"), message);
    });
});
