module bounds_of_objects_module
  implicit none
  type cell
    real(8) :: x = 1, w(2)
  end type
contains
  subroutine bounds_of_objects(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    type(cell), allocatable :: cells(:)
    integer :: i, turn
    do turn = 1, 2
      if (turn == 1) then
        allocate(cells(0:n))
      else
        allocate(cells(-2:n+1))
      end if
      !$acc parallel loop
      do i = lbound(cells, 1), n
        cells(i)%x = cells(i)%x + i
        cells(i)%w(1) = 2*i
        cells(i)%w(2) = turn
      end do
      do i = 1, n
        y(i) = y(i) + cells(i-1)%x*cells(i)%w(turn)
      end do
      seen(turn) = cells(lbound(cells, 1))%x
      deallocate(cells)
    end do
  end subroutine
end module
