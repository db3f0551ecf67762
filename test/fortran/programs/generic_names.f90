module generic_names_module
  implicit none
  interface scale
    module procedure scale_r, scale_i
  end interface
  interface twice
    procedure twice_r
    procedure twice_i
  end interface
contains
  subroutine scale_r(n, a, b)
    integer, intent(in) :: n
    real(8) :: a(n), b(n)
    integer :: i
    !$acc parallel loop
    do i = 1, n
      a(i) = 2*b(i)
    end do
  end subroutine
  subroutine scale_i(n, a, b)
    integer, intent(in) :: n
    integer :: a(n), b(n)
    integer :: i
    !$acc parallel loop
    do i = 1, n
      a(i) = 3*b(i)
    end do
  end subroutine
  pure real(8) function twice_r(v)
    real(8), intent(in) :: v
    twice_r = 2*v
  end function
  pure integer function twice_i(v)
    integer, intent(in) :: v
    twice_i = 5*v
  end function
  subroutine generic_names(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    integer :: kk(n)
    call scale(n, y, x)
    call scale(n, kk, k)
    !$acc parallel loop
    do i = 1, n
      y(i) = y(i) + twice(x(i)) + twice(k(i)) + kk(i)
    end do
    call scale(3, y(2:4), x(2:4))
  end subroutine
end module
