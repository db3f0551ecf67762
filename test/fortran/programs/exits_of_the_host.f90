module exits_of_the_host_module
  implicit none
contains
  subroutine touch(i, y, n)
    integer, intent(in) :: i, n
    real(8) :: y(n)
    integer :: j
    !$acc parallel loop
    do j = 1, n
      y(j) = y(j) + i
    end do
  end subroutine
  subroutine exits_of_the_host(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    search: do i = 1, n
      outer: block
        call touch(i, y, n)
        if (x(i) > 4) exit search
        if (k(i) > 6) exit outer
        y(i) = y(i) + 100
      end block outer
    end do search
    seen(1) = i
    pick: if (n > 3) then
      !$acc parallel loop
      do j = 1, n
        y(j) = y(j) + 1
      end do
      if (n > 5) exit pick
      seen(2) = 7
    end if pick
    seen(3) = 1
  end subroutine
end module
