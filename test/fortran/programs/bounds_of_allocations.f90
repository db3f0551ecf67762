module bounds_of_allocations_module
  implicit none
  real(8), allocatable :: field(:,:)
  real(8), pointer :: view(:) => null()
contains
  subroutine make(n, wide)
    integer, intent(in) :: n
    logical, intent(in) :: wide
    if (wide) then
      allocate(field(0:n+1, -1:2))
    else
      allocate(field(3:n, 2:4))
    end if
  end subroutine
  subroutine fill(a)
    real(8), allocatable, intent(inout) :: a(:,:)
    integer :: i, j
    !$acc parallel loop collapse(2)
    do j = lbound(a, 2), ubound(a, 2)
      do i = lbound(a, 1), ubound(a, 1)
        a(i, j) = i + 100*j
      end do
    end do
  end subroutine
  subroutine gather(n, part, total)
    integer, intent(in) :: n
    real(8), intent(in) :: part(n)
    real(8), intent(inout) :: total
    integer :: i
    do i = 1, n
      total = total + i*part(i)
    end do
  end subroutine
  subroutine bounds_of_allocations(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    real(8), target :: b(5:9)
    real(8), allocatable :: c(:,:)
    integer :: i, turn
    do i = 5, 9
      b(i) = i + x(1)
    end do
    do turn = 1, 2
      call make(n, turn == 1)
      call fill(field)
      seen(turn) = lbound(field, 1) + 10*ubound(field, 2)
      call gather(2, field(4:5, 2), seen(turn))
      allocate(c, source=field)
      seen(turn + 2) = lbound(c, 2)
      !$acc parallel loop
      do i = 3, n
        y(i) = y(i) + turn*c(i, 2)
      end do
      if (turn == 1) then
        view => b
      else
        view(2:) => b
      end if
      !$acc parallel loop reduction(+:dr)
      do i = lbound(view, 1), lbound(view, 1) + 2
        dr = dr + view(i)*i
      end do
      view => b(6:)
      seen(turn + 4) = view(2)
      deallocate(c, field)
    end do
  end subroutine
end module
