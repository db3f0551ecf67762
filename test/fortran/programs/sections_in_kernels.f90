module sections_in_kernels_module
  implicit none
contains
  subroutine sections_in_kernels(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8), allocatable :: p(:,:,:)
    integer :: lo
    allocate(p(0:3,0:3,n))
    p = 0
    lo = 2
    !$acc kernels
    do j = lo, n
      p(:, :, j) = x(j)
    end do
    !$acc end kernels
    !$acc kernels
    do j = lo, n - 1
      p(lo-1:lo+1, 0:2, j) = p(lo-1:lo+1, 0:2, j) + k(j)
    end do
    !$acc end kernels
    do j = 1, n
      y(j) = sum(p(:,:,j))
    end do
  end subroutine
end module
