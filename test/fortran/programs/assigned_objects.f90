module assigned_objects_module
  implicit none
  type vec
    real(8) :: x, y
  end type
contains
  subroutine assigned_objects(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    type(vec) :: a, b, c, p(2)
    a%x = 1; a%y = 2
    b = a
    !$acc parallel loop private(c)
    do i = 1, n
      c = b
      c%x = c%x + x(i)
      y(i) = c%x + c%y
    end do
    p(1) = a
    p(2) = vec(3d0, 4d0)
    seen(1) = p(1)%y + p(2)%x
  end subroutine
end module
