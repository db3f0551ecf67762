module arrays_of_the_routine_module
  implicit none
contains
  subroutine sub(n, x, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n)
    real(8) :: t(n), u(0:n+1)
    integer :: i
    !$acc data create(t, u)
    !$acc parallel loop
    do i = 1, n
      t(i) = x(i)*2
      u(i) = x(i)
    end do
    !$acc parallel loop
    do i = 2, n - 1
      y(i) = t(i-1) + u(i+1)
    end do
    !$acc end data
  end subroutine
  subroutine arrays_of_the_routine(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    call sub(n, x, y)
  end subroutine
end module
