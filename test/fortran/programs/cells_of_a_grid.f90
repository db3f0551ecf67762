module cells_of_a_grid_module
  implicit none
  integer, parameter :: nf = 2
  type cell
    real(8) :: w
    real(8) :: f(nf)
  end type
  type grid
    integer :: m
    type(cell), allocatable :: cells(:)
  end type
contains
  subroutine upd(c, i)
    type(cell), intent(inout) :: c
    integer, intent(in) :: i
    c%f(2) = c%f(2) + i
    c%w = -c%w
  end subroutine
  subroutine all_of(g)
    type(grid) :: g
    integer :: i
    !$acc parallel loop
    do i = lbound(g%cells, 1), size(g%cells)
      g%cells(i)%w = g%cells(i)%w + 1
    end do
  end subroutine
  subroutine cells_of_a_grid(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    type(grid) :: g
    type(cell) :: h
    allocate(g%cells(n))
    do i = 1, n
      g%cells(i)%w = i
      g%cells(i)%f = [1d0, 2d0]
    end do
    !$acc parallel loop collapse(2)
    do i = 1, n
      do j = 1, 2
        g%cells(i)%f(j) = g%cells(i)%f(j)*x(i)
      end do
    end do
    !$omp parallel do
    do i = 1, n
      associate (c => g%cells(i))
        c%w = c%w + c%f(1)
        call upd(c, i)
      end associate
    end do
    call all_of(g)
    do i = 1, n
      y(i) = g%cells(i)%w + 10*sum(g%cells(i)%f) + g%cells(k(i))%w
    end do
    seen(1:2) = g%cells(3)%f
    seen(3) = sum(g%cells%w)
    seen(4) = maxval(g%cells(2:4)%f(1))
    g%cells(1) = g%cells(2)
    g%cells(3) = g%cells(5)
    seen(5) = g%cells(1)%w + g%cells(3)%f(2)
    g%cells(:)%w = 2*g%cells(:)%w
    seen(6) = g%cells(7)%w
    h = g%cells(4)
    seen(7) = h%f(2)
  end subroutine
end module
