module conditions_before_extremes_module
  implicit none
contains
  subroutine conditions_before_extremes(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8) :: lo, e
    integer :: m
    lo = 100
    m = 2
    !$acc parallel loop
    do i = 1, n
      e = x(i)
      if (m == 2 .and. e > 0) y(i) = e
    end do
    !$acc parallel loop reduction(min:lo) private(e)
    do i = 1, n
      e = abs(x(i))
      if (m == 2 .and. e > 0 .and. e < lo) lo = e
      if (m == 3 .and. e < lo) lo = e
    end do
    seen(2) = lo
  end subroutine
end module
