module shapes_of_constants_module
  implicit none
contains
  subroutine shapes_of_constants(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8), parameter :: tab(3) = [1d0, 2d0, 3d0]
    integer, parameter :: s(1) = shape(tab)
    integer, parameter :: m(2) = shape(reshape([1,2,3,4],[2,2]))
    real(8), parameter :: w(2,2) = reshape([1d0,2d0,3d0,4d0], shape(w))
    !$acc parallel loop
    do i = 1, n
      y(i) = x(i)*tab(2) + m(1)*s(1) + size(tab) + w(2,2)
    end do
  end subroutine
end module
