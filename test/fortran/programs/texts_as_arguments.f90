module texts_as_arguments_module
  implicit none
contains
  subroutine scale(dir, n, x, y)
    character(len=*), intent(in) :: dir
    integer, intent(in) :: n
    real(8) :: x(n), y(n)
    integer :: i
    real(8) :: f
    f = 1
    if (dir == 'up') f = 2
    if (trim(dir) == 'down') f = 0.5d0
    !$omp parallel do
    do i = 1, n
      y(i) = y(i) + f*x(i)
    end do
  end subroutine
  subroutine report(what, v)
    character(*), intent(in) :: what
    real(8), intent(in) :: v
    write(*, '(a,f8.3)') what, v
  end subroutine
  subroutine texts_as_arguments(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    call scale('up', n, x, y)
    call scale('down', n, x, y)
    call report("total", sum(y))
  end subroutine
end module
