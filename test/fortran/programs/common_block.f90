! The test passes tab
module common_block_module
  implicit none
contains
  subroutine init()
    real(8) :: a, tab(3)
    integer :: m
    common /coefficients/ a, tab, m
    a = 2
    tab = 7
    m = 1
  end subroutine
  subroutine bump()
    real(8) :: b, c
    integer :: mm
    common /coefficients/ b, c(3), mm
    b = b + 1
    c(3) = mm
  end subroutine
  subroutine common_block(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(8) :: a, tab(3)
    integer :: m
    common /coefficients/ a, tab, m
    call init()
    !$acc parallel loop
    do i = 1, n
      y(i) = x(i)*a + tab(2)
    end do
    call bump()
    seen(1) = a
    seen(2) = tab(3)
  end subroutine
end module
