module names_of_blocks_module
  implicit none
contains
  subroutine names_of_blocks(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    block
      use state, only : mi
      integer :: m
      m = mi + 2
      !$acc parallel loop
      do i = 1, n
        y(i) = m*x(i)
      end do
    end block
    !$acc parallel loop
    do i = 1, n
      blk: block
        real(8) :: t
        t = x(i)
        if (t > 0) exit blk
        y(i) = y(i) + t
      end block blk
    end do
  end subroutine
end module
