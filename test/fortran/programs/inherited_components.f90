module inherited_components_module
  implicit none
  type :: box
    integer :: n = 2
    real(8) :: corner(2) = 0
  end type
  type, extends(box) :: grid
    real(8) :: h
    real(8), allocatable :: u(:)
  end type
  type, extends(grid) :: named_grid
    logical :: is_closed = .true.
  end type
contains
  subroutine place(b, at)
    class(box), intent(inout) :: b
    real(8), intent(in) :: at
    b%corner(1) = at
    b%corner(2) = at + b%n
  end subroutine
  real(8) function width(g)
    type(grid), intent(in) :: g
    width = g%n*g%h + g%box%corner(2)
  end function
  subroutine fill(g, x)
    type(named_grid), intent(inout) :: g
    real(8), intent(in) :: x(:)
    integer :: i
    !$acc parallel loop
    do i = 1, g%n
      g%u(i) = g%h*x(i) + g%corner(2)
      if (g%is_closed) g%grid%u(i) = g%u(i) + g%box%corner(1)
    end do
  end subroutine
  subroutine inherited_components(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    type(named_grid) :: g
    integer :: i
    g%n = n
    g%grid%h = 0.5d0
    allocate(g%u(n))
    call place(g, 3d0)
    call fill(g, x)
    dr = width(g%grid)
    call place(g%box, 4d0)
    !$omp parallel do
    do i = 1, n
      y(i) = g%u(i) + k(i)*g%box%corner(1) + g%grid%corner(2)
    end do
    dq = g%is_closed
    di = g%box%n
    deallocate(g%u)
  end subroutine
end module
