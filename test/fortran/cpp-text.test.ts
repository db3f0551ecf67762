/* Ports to C++ in full: every kind of bound, result and parameter once. `cpp-compiled.test.ts` and `cpp-programs.test.ts` compile such texts. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import type { CppTarget } from "../../src/fortran/port/targets.js";
import { matchesSnapshot } from "../emit/snapshot.js";

const LOOPS = `module loops
  use, intrinsic :: iso_c_binding
  implicit none
  real(8), parameter :: weights(0:2) = [0.25d0, 0.5d0, 0.25d0]
  integer, parameter :: width = 3
contains
  attributes(device) subroutine smooth(w, k, out, last)
    real(8), intent(in) :: w(:)
    integer, intent(in) :: k
    real(8), intent(out) :: out
    integer, intent(inout) :: last
    real(8) :: part
    integer :: m
    out = 0
    do m = 1, width
      part = w(m)*weights(m - 1)
      if (part < 0) cycle
      out = out + part
      if (m == k) return
    end do
    last = k
  end subroutine

  subroutine four(n, m, a, b, most, total, found, flag)
    integer, intent(in) :: n, m
    real(8), device :: a(0:n, -1:m, 2, *)
    real(8), allocatable, device :: b(:, :)
    real(8), intent(inout) :: total
    integer, intent(inout) :: most, found
    logical, intent(in) :: flag
    integer :: i, j, k, l, c
    real(8) :: own(3), x
    !$acc parallel loop collapse(4) private(own) reduction(+: total) reduction(max: most) copy(found)
    do l = 1, 2
      do k = 2, 1, -1
        do j = 0, m
          do i = 1, n - 1, 2
            own = 0d0
            own(2) = a(i, j, k, l)
            call smooth(own, 2, x, c)
            if (flag .and. x > 1d0) then
              total = total + x
            else if (x < -1 .or. .not. flag) then
              total = total - b(i, j)
              found = i
            else
              most = max(most, c)
            end if
          end do
        end do
      end do
    end do
  end subroutine

  subroutine two(n, m, a, s, mask)
    integer, intent(in) :: n, m
    real(8), device :: a(n, m)
    real(4), intent(in) :: s
    integer, device :: mask(:, 0:)
    integer :: i, j, k, p
    real(8) :: x
    !$cuf kernel do(2) <<<*,*>>>
    do j = 1, m
      do i = n, 1, -1
        select case (mask(i, j))
        case (1)
          x = s
        case (:-1, 5:7)
          x = -(s + 1)*2
        case default
          x = merge(0d0, real(i, 8), i > j .eqv. j > 2)
        end select
        outer: do k = 3, 1, -2
          do p = k, 4
            if (p > 2) exit outer
            if (p == k) cycle outer
            x = x - p/(k - (p - 1))
          end do
        end do outer
        do while (x > 100)
          x = x/2
        end do
        a(i, j) = x
      end do
    end do
  end subroutine

  subroutine one(n, k, low, bits, last, x)
    integer, intent(in) :: n, k
    integer, device :: x(n)
    integer :: low, bits, last, i
    !$omp parallel do reduction(min: low) reduction(*: bits) lastprivate(last)
    do i = k, n, k
      low = min(low, x(i))
      bits = bits*x(i)
      last = x(i)
    end do
  end subroutine
end module
`;

function ported(target: CppTarget): { fortran: string; kernels: string; header: string } {
  const [fortran, kernels, header] = portCppSources([{ file: "loops.F90", text: LOOPS }], { targets: [target] });
  return { fortran: fortran.text, kernels: kernels.text, header: header.text };
}

/** The functions that Fortran calls. */
const called = (text: string): string => [...text.matchAll(/^extern "C" void [^]*?\}$/gm)].map(([found]) => `${found}\n`).join("\n");

it("functions that Fortran calls work out sizes, launch, and fold results", () =>
  matchesSnapshot("fortran/port/loops_launches.hip.cpp", called(ported("hip").kernels)));

it("Fortran gives arrays, the bounds that declarations leave open and scalars, in the order of the interface", () =>
  matchesSnapshot("fortran/port/loops.F90", ported("hip").fortran));

it("they are the same for CUDA, but for the names of the run-time system", () => {
  const [hip, cuda] = (["hip", "cuda"] as const).map((target) => ported(target));
  assert.equal(called(cuda.kernels), called(hip.kernels).replaceAll(/\bhip(?=[A-Z])/g, "cuda"));
  assert.equal(cuda.fortran, hip.fortran);
  assert.doesNotMatch(cuda.header + cuda.kernels, /hip/i);
});
