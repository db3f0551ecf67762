module particles_with_objects_module
  implicit none
  type vec
    real(8) :: x
  end type
  type part
    integer :: id
    logical :: ok
    complex(8) :: z
    type(vec) :: t(2)
    real(4) :: s = 1.5
  end type
contains
  subroutine work(p, m)
    integer, intent(in) :: m
    type(part), intent(inout) :: p(m)
    integer :: i
    !$omp target teams distribute parallel do
    do i = 1, m
      p(i)%t(2)%x = p(i)%t(2)%x + 1
      call bump(p(i))
    end do
  end subroutine
  subroutine work2(p)
    type(part), intent(inout) :: p(0:)
    integer :: i
    !$acc parallel loop
    do i = 0, ubound(p, 1)
      p(i)%s = p(i)%s + i
    end do
  end subroutine
  subroutine bump(q)
    type(part), intent(inout) :: q
    q%s = q%s*2
    if (q%ok) q%t(1)%x = 4
  end subroutine
  subroutine particles_with_objects(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    type(part) :: ps(40)
    do i = 1, n
      ps(i)%id = i
      ps(i)%ok = mod(i, 2) == 0
      ps(i)%z = cmplx(x(i), i, 8)
      ps(i)%t(:)%x = 0
      ps(i)%t(1)%x = i
    end do
    !$acc parallel loop reduction(+:dr) reduction(max:di)
    do i = 1, n
      if (ps(i)%ok) dr = dr + ps(i)%t(1)%x
      di = max(di, ps(i)%id)
      ps(i)%t(2)%x = real(ps(i)%z * ps(i)%z)
      ps(i)%z = ps(i)%z*2
    end do
    call work(ps, n)
    call work2(ps(2:5))
    do i = 1, n
      y(i) = ps(i)%t(2)%x + aimag(ps(i)%z) + ps(i)%s
    end do
  end subroutine
end module
