module pointers_of_modules_module
  implicit none
  real(8), allocatable, target :: store(:)
  real(8), pointer :: view(:)
contains
  subroutine setp()
    view => store
  end subroutine
  subroutine pointers_of_modules(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    allocate(store(n))
    store = x
    call setp()
    !$acc parallel loop
    do i = 1, n
      y(i) = view(i)*2
    end do
    nullify(view)
    deallocate(store)
  end subroutine
end module
