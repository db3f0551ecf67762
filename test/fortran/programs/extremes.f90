module extremes_module
  implicit none
contains
  subroutine extremes(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8) :: lo, hi, e
    integer :: m
    lo = 100
    m = 2
    !$acc parallel loop reduction(min:lo)
    do i = 1, n
      e = x(i)*2
      if (m == 2 .and. e < lo) lo = e
    end do
    dr = lo
    hi = -100
    !$omp parallel do reduction(max:hi) private(e)
    do i = 1, n
      e = x(i)*2
      if (e > hi .and. k(i) > 3) hi = e
    end do
    seen(1) = hi
  end subroutine
end module
