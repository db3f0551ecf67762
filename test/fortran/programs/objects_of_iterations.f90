module objects_of_iterations_module
  implicit none
  type vec
    real(8) :: a, b
  end type
contains
  pure real(8) function dotv(p, q)
    type(vec), intent(in) :: p, q
    dotv = p%a*q%a + p%b*q%b
  end function
  subroutine objects_of_iterations(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    type(vec) :: q(2)
    !$acc parallel loop private(q)
    do i = 1, n
      q(1)%a = x(i)
      q(2)%a = k(i)
      q(1)%b = 1
      q(2)%b = 2
      y(i) = dotv(q(1), q(2))
    end do
  end subroutine
end module
