import type { Language } from "./messages.js";

interface Example {
  readonly title: string;
  readonly text: string;
}

const MODULES: readonly Example[] = [
  {
    title: "axpy: vectors",
    text: `import { f32, kernel, view } from "isoform";

export const axpy = kernel("axpy", { a: f32, x: view(f32), y: view(f32) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

// Arguments of a run; all are optional.
export const launch = { size: 1_000_000, a: 2 };
`,
  },
  {
    title: "smooth: a stencil",
    text: `import { f32, kernel, view } from "isoform";

export const smooth = kernel("smooth", { a: f32, u: view(f32, 2), v: view(f32, 2) }, ({ a, u, v }, i, j) => {
  const around = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
  v[i][j] = (1 - 4 * a) * u[i][j] + a * around;
});

// Cells on the border have no neighbours beyond it.
export const launch = { size: 1024, a: 0.2, range: [[1, 1023], [1, 1023]] };
`,
  },
  {
    title: "energy: a reduction with a helper",
    text: `import { f32, kernel, sum, view } from "isoform";

function square(v: number): number {
  return v * v;
}

export const energy = kernel("energy", { m: view(f32), v: view(f32, 2), square, total: sum(f32) }, ({ m, v, square, total }, i) => {
  let speed2 = 0;
  for (let axis = 0; axis < 3; axis++) speed2 += square(v[i][axis]);
  total.add(0.5 * m[i] * speed2);
});

export const launch = { size: 1000 };
`,
  },
];

const FORTRAN: readonly Example[] = [
  {
    title: "smooth: a stencil with a maximum",
    text: `! run smooth with nx = 510, ny = 510, a = 0.2
module heat
  implicit none
  integer, parameter :: rkind = kind(1.0d0)
contains
  subroutine smooth(nx, ny, a, u, v, most)
    integer, intent(in) :: nx, ny
    real(rkind), intent(in) :: a
    real(rkind), device :: u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1)
    real(rkind), intent(out) :: most
    real(rkind) :: around
    integer :: i, j
    most = 0
    !$cuf kernel do(2) <<<*,*>>>
    do j = 1, ny
      do i = 1, nx
        around = u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1)
        v(i, j) = u(i, j) + a*(around - 4*u(i, j))
        most = max(most, abs(v(i, j) - u(i, j)))
      end do
    end do
  end subroutine smooth
end module heat
`,
  },
  {
    title: "axpy: do concurrent",
    text: `! run axpy with n = 1000000, a = 2.0
subroutine axpy(n, a, x, y)
  implicit none
  integer, parameter :: rkind = kind(1.0)
  integer, intent(in) :: n
  real(rkind), intent(in) :: a, x(n)
  real(rkind), intent(inout) :: y(n)
  integer :: i
  do concurrent (i = 1:n)
    y(i) = a*x(i) + y(i)
  end do
end subroutine axpy
`,
  },
  {
    title: "energy: OpenACC, and a function",
    text: `! run energy with n = 1000
module particles
  implicit none
  integer, parameter :: rkind = kind(1.0d0)
contains
  subroutine energy(n, m, v, total)
    integer, intent(in) :: n
    real(rkind), intent(in) :: m(n), v(3, n)
    real(rkind), intent(out) :: total
    integer :: i
    total = 0
    !$acc parallel loop reduction(+:total)
    do i = 1, n
      total = total + 0.5_rkind*m(i)*square(v(1, i), v(2, i), v(3, i))
    end do
  end subroutine energy

  function square(x, y, z) result(s)
    real(rkind), intent(in) :: x, y, z
    real(rkind) :: s
    s = x**2 + y**2 + z**2
  end function square
end module particles
`,
  },
];

/** Programs to begin with. */
export const EXAMPLES: Readonly<Record<Language, readonly Example[]>> = { typescript: MODULES, fortran: FORTRAN };
