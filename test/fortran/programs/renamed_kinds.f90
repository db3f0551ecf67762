module kinds_of_reals
  use iso_fortran_env, only : dp => real64, sp => real32
  implicit none
end module
module renamed_kinds_module
  implicit none
contains
  subroutine renamed_kinds(n, x, k, y, seen, di, dr, dq)
    use kinds_of_reals, only : rp => dp, wp => dp, sp
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    real(rp) :: c
    c = 0.1_rp
    !$acc parallel loop
    do i = 1, n
      y(i) = x(i)*c + 0.3_rp + real(k(i), wp)/3 + 0.7_sp
    end do
  end subroutine
end module
