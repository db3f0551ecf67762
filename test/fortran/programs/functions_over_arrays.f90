module functions_over_arrays_module
  implicit none
contains
  subroutine functions_over_arrays(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8) :: b(3,2), c(2,2)
    seen(1) = count(x > 0)
    seen(2) = merge(1, 0, any(x > 5))
    seen(3) = merge(1, 0, all(x > -10))
    seen(4) = nint(norm2(x)*1e6)
    seen(5) = maxval(abs(x))
    seen(6) = minloc(x, 1)
    seen(7) = product(x(1:3))
    y = cshift(x, 2)
    y = y + eoshift(x, -1)
    b = spread(x(1:3), 2, 2)
    y(1:6) = y(1:6) + reshape(b, [6])
    y(7) = dot_product(x, x)
    c = matmul(transpose(b), b)
    y(8) = c(1,2)
    y(9:10) = c(:,1)
  end subroutine
end module
