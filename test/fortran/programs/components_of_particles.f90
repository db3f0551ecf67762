module components_of_particles_module
  implicit none
  type particle
    real(8) :: x
    integer :: v
    logical :: on
    real(8) :: c(2)
  end type
contains
  subroutine components_of_particles(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    type(particle) :: p(n)
    !$acc parallel loop
    do i = 1, n
      p(i)%x = x(i)
      p(i)%v = k(i)
      p(i)%on = x(i) > 0
      p(i)%c(1) = i
      p(i)%c(2) = 2*i
    end do
    !$acc parallel loop reduction(+:dr)
    do i = 1, n
      if (p(i)%on) y(i) = p(i)%x*p(i)%v + sum(p(i)%c)
      dr = dr + p(i)%x
    end do
    seen(1) = p(3)%x
  end subroutine
end module
