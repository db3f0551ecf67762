! gfortran -cpp -O2 -ffree-line-length-none -c loops.F90   (link with loops_kernels.o)
module loops
  use, intrinsic :: iso_c_binding
  implicit none
  real(8), parameter :: weights(0:2) = [0.25d0, 0.5d0, 0.25d0]
  integer, parameter :: width = 3
contains

  subroutine four(n, m, a, b, most, total, found, flag)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_null_ptr, c_loc, c_bool, c_int
    integer, intent(in) :: n, m
    real(8), target :: a(0:n,-1:m,2,*)
    real(8), allocatable, target :: b(:,:)
    real(8), intent(inout) :: total
    integer, intent(inout) :: most, found
    logical, intent(in) :: flag
    integer :: i, j, k, l, c
    real(8) :: own(3), x
    interface
      subroutine four_launch_(stream_, m_, n_, c_, flag_, b_lower1_, b_lower2_, b_extent1_, b_extent2_, a_, b_, total_, most_, &
    &found_) bind(c, name="four_launch_")
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: stream_
        integer(c_int), value :: m_, n_, c_, b_lower1_, b_lower2_, b_extent1_, b_extent2_
        logical(c_bool), value :: flag_
        type(c_ptr), value :: a_, b_
        real(c_double) :: total_
        integer(c_int) :: most_, found_
      end subroutine four_launch_
    end interface
    call four_launch_(c_null_ptr,m,n,c,logical(flag,c_bool),lbound(b,1),lbound(b,2),size(b,1),size(b,2),c_loc(a),c_loc(b),total,&
    &most,found)
  end subroutine four

  subroutine two(n, m, a, s, mask)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_null_ptr, c_loc, c_bool, c_int
    integer, intent(in) :: n, m
    real(8), target :: a(n,m)
    real(4), intent(in) :: s
    integer, target :: mask(:,0:)
    integer :: i, j, k, p
    real(8) :: x
    interface
      subroutine two_launch_(stream_, m_, n_, s_, mask_extent1_, mask_extent2_, mask_, a_) bind(c, name="two_launch_")
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: stream_
        integer(c_int), value :: m_, n_, mask_extent1_, mask_extent2_
        real(c_float), value :: s_
        type(c_ptr), value :: mask_, a_
      end subroutine two_launch_
    end interface
    call two_launch_(c_null_ptr,m,n,s,size(mask,1),size(mask,2),c_loc(mask),c_loc(a))
  end subroutine two

  subroutine one(n, k, low, bits, last, x)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_null_ptr, c_loc, c_bool, c_int
    integer, intent(in) :: n, k
    integer, target :: x(n)
    integer :: low, bits, last, i
    interface
      subroutine one_launch_(stream_, k_, n_, x_, low_, bits_, last_) bind(c, name="one_launch_")
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: stream_
        integer(c_int), value :: k_, n_
        type(c_ptr), value :: x_
        integer(c_int) :: low_, bits_, last_
      end subroutine one_launch_
    end interface
    call one_launch_(c_null_ptr,k,n,c_loc(x),low,bits,last)
  end subroutine one
end module loops
