module functions_over_private_arrays_module
  implicit none
contains
  subroutine functions_over_private_arrays(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8) :: v(3)
    !$acc parallel loop private(v)
    do i = 1, n
      v = [x(i), 2*x(i), 1d0]
      y(i) = nint(1e6*norm2(v)) + maxloc(v, 1) + count(v > 0) + merge(1, 0, any(v > 3))
      v = cshift(v, 1)
      y(i) = y(i) + v(1)
      y(i) = y(i) + sum(v, mask=v > 0) + dot_product(v, [1d0, 2d0, 3d0])
      if (all(v > 0)) y(i) = -1
      y(i) = y(i) + sqrt(sum(v**2)) + minval(v(1:2)) + product(v) + ubound(v, 1) + size(v)
    end do
  end subroutine
end module
