module bounds_at_the_beginning_module
  implicit none
contains
  subroutine halve(n, m, a, total)
    integer, value :: n
    integer, intent(inout) :: m
    real(8) :: a(n, m), own(0:m), total
    integer :: i, j
    own = 1
    do while (n > 1)
      n = n - 1
      m = m - 1
      !$acc parallel loop collapse(2)
      do j = 1, m
        do i = 1, n
          a(i, j) = a(i, j) + 10*n + m + own(j)
        end do
      end do
      if (m < 2) return
    end do
    total = size(a) + size(own)
  end subroutine
  subroutine fill(n, a)
    integer :: n
    real(8), dimension(n) :: a
    integer :: i
    call next(n)
    !$omp parallel do
    do i = 1, size(a)
      a(i) = a(i) + n
    end do
    n = n + 1
  end subroutine
  subroutine next(n)
    integer, intent(inout) :: n
    n = n + 3
  end subroutine
  subroutine bounds_at_the_beginning(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: m, four
    y = x
    m = 3
    dr = 0
    call halve(4, m, y, dr)
    four = 4
    call fill(four, y)
    di = m + 10*four
    m = 4
    call halve(3, m, y, dr)
    seen(1) = m
  end subroutine
end module
