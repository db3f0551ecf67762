module allocated_objects_module
  implicit none
  type vec
    real(8) :: a = 0, b = 1
  end type
  type particle
    real(8) :: x = 5
    type(vec) :: pos
  end type
contains
  subroutine fill(n, q)
    integer, intent(in) :: n
    type(particle) :: q(n)
    integer :: i
    !$acc parallel loop
    do i = 1, n
      q(i)%pos%b = 3*i
    end do
  end subroutine
  subroutine one(q)
    type(particle) :: q
    q%x = 77
  end subroutine
  subroutine allocated_objects(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    type(particle), allocatable :: p(:)
    allocate(p(0:n+1))
    do i = 0, n + 1
      p(i)%x = i
    end do
    !$omp parallel do
    do i = 1, n
      p(i)%x = p(i)%x + x(i)
      p(i)%pos%a = p(i-1)%pos%b
    end do
    call fill(n, p(1:n))
    call one(p(2))
    do i = 1, n
      y(i) = p(i)%x + p(i)%pos%b
    end do
    seen(2) = p(n+1)%x
    deallocate(p)
  end subroutine
end module
