! The test passes tab w
module common_blocks_module
  implicit none
contains
  subroutine init2(n)
    integer n
    integer, parameter :: nmax = 40
    real*8 a, tab, w(nmax)
    integer :: m
    real z
    common /tables/ a, tab(2,2), m
    common /store/ w
    common // z
    a = 2
    tab = 7
    m = n
    w = 0
    z = 1.5
  end subroutine
  subroutine bump2()
    double precision :: b, c
    integer :: mm
    common /tables/ b, c(2, 2), mm
    b = b + 1
    c(2, 2) = mm
  end subroutine
  real(8) function f2(v)
    real(8) v, b, c(2,2)
    common /tables/ b, c
    f2 = v*b
  end function
  subroutine common_blocks(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    integer, parameter :: nm = 40
    real(8) :: a, tab(2,2), w
    integer :: m
    real(4) z
    common /tables/ a, tab, m, /store/ w(nm)
    common z
    call init2(n)
    !$acc parallel loop
    do i = 1, n
      w(i) = x(i)*a + tab(2, 1)
    end do
    !$omp parallel do
    do i = 1, n
      y(i) = w(i) + z
    end do
    call bump2()
    seen(1) = a
    seen(2) = tab(2, 2)
    seen(3) = z
    seen(4) = f2(2d0)
  end subroutine
end module
