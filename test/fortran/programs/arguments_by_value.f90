module arguments_by_value_module
  implicit none
contains
  subroutine sub(n, m, x, y)
    integer, value :: n, m
    real(8) :: x(:), y(:)
    integer :: i
    m = m + 1
    !$omp parallel do
    do i = 1, n
      y(i) = x(i)*m
    end do
    m = m*2
    n = n - 1
    y(n) = m
  end subroutine
  real(8) function f(a, v)
    integer, value :: a
    real(8), value :: v
    a = a + 2
    do while (a > 4)
      a = a - 3
      v = v + 1
    end do
    f = a + v
  end function
  subroutine arguments_by_value(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    call sub(n, 3, x, y)
    !$acc parallel loop
    do i = 1, n
      y(i) = y(i) + f(k(i), x(i))
    end do
  end subroutine
end module
