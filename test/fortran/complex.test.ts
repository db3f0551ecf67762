/* Complex numbers: gfortran's bits, or 1e-12 where devices have functions of their own; refusals at their places. */
import { describe, it } from "node:test";
import { compareWithGfortran, needsGfortran, routine } from "./gfortran.js";

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
const sum = "real(z) + 10*aimag(z)";

const EXACT: Readonly<Record<string, (name: string) => string>> = {
  literals: own("complex(8) :: z, w", `z = (1.5d0, -2)\nw = z + (-1, 0.5d0)*x(i)\nz = w*z - (0.1, 0.2)\ny(i) = ${sum}`),
  products: own("complex(8) :: z, w", `z = cmplx(x(i), k(i), 8)\nw = (0.3d0, -1.7d0)\nz = z*w + w*z*z\ny(i) = ${sum}`),
  quotients: own("complex(8) :: z, w", `z = cmplx(x(i), k(i), 8)\nw = (0.3d0, -1.7d0)\nz = w/(z + 0.1d0) + z/w + z/3 + 2/w\ny(i) = ${sum}`),
  in_place: own("complex(8) :: z", `z = cmplx(x(i), 2, 8)\nz = z*z\nz = z/(1, 2)\nz = -z\nz = cmplx(aimag(z), real(z), 8)\ny(i) = ${sum}`),
  powers: own("complex(8) :: z", `z = cmplx(x(i), 2, 8)\nz = z**2 + z**5 + z**(-3) + z**0 + z**k(i)\ny(i) = ${sum}`),
  singles: own(
    "complex :: z\ncomplex(8) :: w",
    `z = cmplx(x(i), k(i))\nz = z*z + x(i)\nw = z*(0.1d0, 0.2d0) + conjg(z)\nz = w\ny(i) = ${sum} + real(w)`,
  ),
  reals: own("complex(8) :: z", `z = x(i)\nz = z + k(i)\na = z*(2, 3)\nm = z\ny(i) = a + m + ${sum} + real(z, 4) + dble(z) + int(z)`),
  equality: own(
    "complex(8) :: z, w",
    "z = cmplx(k(i), 1, 8)\nw = (2, 1)\ny(i) = 0\nif (z == w) y(i) = 1\nif (z /= 3 .and. .not. z == w) y(i) = 2",
  ),
  arrays: sub(
    "complex(8) :: a(n), b(0:n-1)\ninteger :: i",
    "a = cmplx(x, k, 8)\nb = a*(0, 1) + 2\nb(1:3) = conjg(a(2:4))\na = a + b\ndo i = 1, n\n y(i) = real(a(i)) + 10*aimag(b(i-1))\nend do",
  ),
  arrays_in_place: sub(
    "complex(8) :: a(12), b(3, 4)\ninteger :: i, j",
    `a = cmplx(x, k, 8)\na = a*a\na(2:) = a(:11)*(1, 2)\nb = reshape(a, [3, 4])\nb(:, 2) = b(:, 1)*b(:, 3)
b = b/(b + 5)\ny = 0\ndo j = 1, 4\n do i = 1, 3\n  y(i + 3*(j-1)) = real(b(i, j)) - aimag(b(i, j))\n end do\nend do`,
  ),
  sums: sub(
    "complex(8) :: a(n), z, m(3, 4)\ncomplex(8) :: s(4)",
    "a = cmplx(x, k, 8)\nz = sum(a) + sum(a, x > 0)\nm = reshape(a, shape(m))\ns = sum(m, 1)\ny = 0\ny(1) = real(z)\ny(2) = aimag(z)\ny(3:6) = real(s)\ny(7:10) = aimag(s)\nz = dot_product(a, a)\ny(11) = real(z)",
  ),
  private_arrays: own(
    "complex(8) :: v(3), z",
    `v = [(1d0, 2d0), (0d0, -1d0), (0.5d0, 0d0)]\nv(2) = v(2)*x(i)\nv = v*v(1)\nz = sum(v)\ny(i) = ${sum}`,
  ),
  subroutines: sub(
    "complex(8) :: z, a(n)\ninteger :: i",
    "a = cmplx(x, 1, 8)\n!$acc parallel loop private(z)\ndo i = 1, n\n call turn(a(i), z, i)\n call turn(z*2, a(i))\n y(i) = real(z) + 7*aimag(a(i))\nend do\ncall fill(a, n)\ncall fill(a(3), 2)\ny = y + real(a)",
    `subroutine turn(from, to, by)
complex(8), intent(in) :: from
complex(8), intent(out) :: to
integer, optional :: by
to = from*(0, 1)
if (present(by)) to = to + by
end subroutine
subroutine fill(b, m)
integer, intent(in) :: m
complex(8) :: b(m)
b = b + (1, 2)
b(1) = 5
end subroutine`,
  ),
  functions: sub(
    "complex(8) :: z\ninteger :: i",
    `!$omp parallel do private(z)\ndo i = 1, n\n z = square(cmplx(x(i), 1, 8)) + 2*other(i, z=(1d0, 2d0))\n y(i) = ${sum} + size_of(z)\nend do`,
    `complex(8) function square(w)
complex(8), intent(in) :: w
square = w*w
if (real(w) < 0) square = -square
end function
function other(i, z) result(r)
integer, intent(in) :: i
double complex :: z, r
r = z
r = r*r + i
end function
real(8) function size_of(w)
complex(8), intent(in) :: w
size_of = real(w)**2 + aimag(w)**2
end function`,
  ),
  reductions: sub(
    "complex(8) :: z, w\ninteger :: i",
    "z = (1, 2)\nw = 0\n!$acc parallel loop reduction(+:z, w)\ndo i = 1, n\n z = z + cmplx(k(i), 2*k(i), 8)\n w = w - k(i) + (1, 1)*k(i)\nend do\ny = 0\ny(1) = real(z)\ny(2) = aimag(z)\ny(3) = real(w)\ny(4) = aimag(w)",
  ),
  constants: sub(
    "complex(8), parameter :: im = (0d0, 1d0), two = 2*im*im, list(2) = [(1d0, 2d0), (3d0, 4d0)]\ncomplex(8) :: z = (1d0, 3d0)",
    "z = z + im*two + list(2)*list(1)\ny = real(z) + aimag(z) + im",
  ),
  values: sub(
    `complex(8), parameter :: m(2,2) = reshape([(1d0,0d0), (0d0,1d0), (0d0,-1d0), (2d0,2d0)], [2, 2])
complex(8) :: a(3) = (1d0, 2d0), b(0:1, 2) = (0d0, 1d0), z, c(2), d(2)
data z, c /(1d0, 2d0), 2*(3d0, 4d0)/, (d(i), i = 1, 2) /(5d0, 6d0), (7d0, 8d0)/
integer :: i`,
    "a(2) = a(1) + z + m(2, 2)\nb = b + m\nc(1) = c(2)*d(2)\ny = real(sum(a) + sum(b)*c(1)) + aimag(b(1, 1) + d(1))",
  ),
  old_kinds: sub(
    "complex*16 :: z\ncomplex*8 :: w\ncomplex(kind=rk) :: v\nz = dcmplx(x(1), 2d0)\nw = cmplx(x(2), 1.0)\nv = dconjg(z) + w",
    "y = real(v) + dimag(v) + dreal(z) + aimag(w)",
  ),
  objects: sub(
    "type t\n complex(8) :: z\n complex(8) :: a(3)\n real(8) :: r\nend type\ntype(t) :: p\ninteger :: i",
    "p%z = (1, 2)\np%a = [(1d0, 0d0), (2d0, 0d0), (0d0, 1d0)]\np%r = 3\n!$acc parallel loop\ndo i = 1, n\n y(i) = real(p%z*p%a(3)*x(i)) + aimag(p%a(2)*p%z) + p%r + p%z%im\nend do",
  ),
  constructs: sub(
    "complex(8) :: a(n), b(n)\ninteger :: i",
    `a = cmplx(x, k, 8)\nb = 0\nwhere (x > 0) b = a + 1\nwhere (x <= 0)\n b = conjg(a)*2\nelsewhere\n a = b\nend where
do concurrent (i = 1:n)\n block\n  complex(8) :: t\n  t = a(i)*b(i)\n  y(i) = real(t) - aimag(t)\n end block\nend do
associate (c => a(2:4), z => b(1))\n c = c + z\n y(2:4) = y(2:4) + real(c)\nend associate`,
  ),
  allocated: sub(
    "complex(8), allocatable :: a(:), b(:), c(:)\ncomplex(8), pointer :: p(:)\ntarget :: a\ninteger :: i",
    `allocate(a(0:n-1))\nallocate(b, source=a)\nallocate(c(n), source=(1d0, 2d0))\na = cmplx(x, k, 8)\nb = a(0:n-1)*2
p => a\n!$acc parallel loop\ndo i = 1, n\n y(i) = real(a(i-1)*c(i)) + aimag(b(lbound(b, 1) + i - 1))\nend do
y(1) = y(1) + size(a) + ubound(a, 1) + lbound(a, 1) + aimag(p(2))\ndeallocate(b)\nif (.not. allocated(b)) y(2) = 1`,
  ),
};

const CLOSE: Readonly<Record<string, (name: string) => string>> = {
  moduli: own("complex(8) :: z", "z = cmplx(x(i), k(i), 8)\ny(i) = abs(z) + cdabs(z*z) + abs(z/(1, 2))"),
  functions_of_devices: own(
    "complex(8) :: z",
    `z = cmplx(x(i)/4, k(i)/5d0, 8)\nz = exp(z) + sin(z)*cos(z) + sinh(z) + cosh(z) + tanh(z/9) + tan(z/9)\ny(i) = ${sum}`,
  ),
  roots: own(
    "complex(8) :: z",
    `z = cmplx(x(i), k(i), 8)\nz = sqrt(z) + sqrt(conjg(z)) + log(z + 9) + z**0.5d0 + z**(1d0, 0.5d0)\ny(i) = ${sum}`,
  ),
  sums_of_reals: sub(
    "complex(8) :: z\ninteger :: i",
    "z = 0\n!$acc parallel loop reduction(+:z)\ndo i = 1, n\n z = z + exp((0, 1)*x(i))\nend do\ny = real(z)\ny(2) = aimag(z)\ny(3) = abs(z)",
  ),
};

describe("complex numbers", needsGfortran, () => {
  for (const [cases, tolerance] of [
    [EXACT, 0],
    [CLOSE, 1e-12],
  ] as const)
    for (const [name, text] of Object.entries(cases))
      it(name.replaceAll("_", " "), async () => {
        await compareWithGfortran(new Map([[`t_${name}`, text(`t_${name}`)]]), inputs, ["js", "wasm"], () => tolerance);
      });
});
