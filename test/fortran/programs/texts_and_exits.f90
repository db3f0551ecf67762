module texts_and_exits_module
  implicit none
contains
  subroutine texts_and_exits(n, x, k, y, seen, di, dr, dq)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    character(len=20) :: name
    character(8) :: mode
    integer :: ios
    name = 'hello'
    write(*,*) 'start ', trim(name), n
    print '(a,i5)', 'n = ', n
    write(6, '(a)') name
    call get_environment_variable('HOME', name)
    mode = 'double'
    if (n > 1000) then
      print *, "too many"
      call exit(1)
    end if
    if (n < 0) stop 'negative'
    !$acc parallel loop
    do i = 1, n
      y(i) = 2*x(i)
    end do
    if (n > 1000) error stop 2
    write(name, '(i0)') n
    print *, 'done'
  end subroutine
end module
