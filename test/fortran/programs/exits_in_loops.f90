module exits_in_loops_module
  implicit none
contains
  subroutine exits_in_loops(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    !$acc parallel loop
    do i = 1, n
      test: if (x(i) > 0) then
        y(i) = 1
        if (k(i) > 5) exit test
        y(i) = 2
      end if test
      sel: select case (k(i))
      case (1:4)
        if (x(i) < 0) exit sel
        y(i) = y(i) + 10
      end select sel
      as: associate (a => y(i))
        if (a > 5) exit as
        a = a + 100
      end associate as
    end do
  end subroutine
end module
