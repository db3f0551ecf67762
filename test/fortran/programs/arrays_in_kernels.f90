module arrays_in_kernels_module
  implicit none
contains
  subroutine arrays_in_kernels(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    !$acc kernels
    y(2:n-1) = x(1:n-2) + x(3:n)
    y(1) = 5
    !$acc end kernels
    !$acc kernels
    where (x > 0) y = y + 1
    !$acc end kernels
    seen(1) = sum(y)
  end subroutine
end module
