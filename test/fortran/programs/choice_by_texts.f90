module choice_by_texts_module
  implicit none
contains
  subroutine choice_by_texts(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    character(8) :: mode
    mode = 'double'
    if (mode == 'double') then
    !$acc parallel loop
    do i = 1, n
      y(i) = 2*x(i)
    end do
    else
    !$acc parallel loop
    do i = 1, n
      y(i) = 3*x(i)
    end do
    end if
    select case (trim(mode))
    case ('single')
      seen(1) = 1
    case ('double')
      seen(1) = 2
    end select
  end subroutine
end module
