module functions_of_bits_module
  implicit none
contains
  subroutine functions_of_bits(n, x, k, y, seen, di, dr, dq)
    use ieee_arithmetic
    integer, intent(in) :: n
    real(8) :: x(n), y(n), seen(8)
    integer :: k(n)
    integer, intent(inout) :: di
    real(8), intent(inout) :: dr
    logical, intent(inout) :: dq
    integer :: i, j
    integer :: m
    !$acc parallel loop
    do i = 1, n
      m = iand(k(i), 6) + ior(k(i), 1) + ieor(k(i), 5) + ishft(k(i), 2) + ishft(k(i), -1) + ibset(k(i), 4)
      if (btest(k(i), 1)) m = m + 100
      m = m + floor(x(i)/2, kind=4) + ceiling(x(i)/3d0) + nint(x(i)/2) + int(x(i)*1.5, kind=4)
      if (ieee_is_nan(x(i))) m = -1
      if (.not. ieee_is_finite(x(i))) m = -2
      y(i) = m + sign(1d0, x(i)) + mod(k(i), 3) + modulo(-k(i), 3) + dim(x(i), 1d0)
      y(i) = y(i) + merge(1, 2, x(i) > 0) + huge(1) + epsilon(1d0) + max(1, k(i), 3)
      y(i) = y(i) + popcnt(k(i)) + leadz(k(i)) + trailz(k(i))
    end do
  end subroutine
end module
