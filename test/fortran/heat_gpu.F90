module heat_gpu
  use cudafor
  implicit none
  integer, parameter :: rkind = 8
contains
  ! One step in time
  attributes(global) launch_bounds(256) subroutine step_kernel(nx, ny, first, t_gpu, new_gpu, steps)
    integer, value :: nx, ny, first, steps
    real(rkind), dimension(0:nx+1, 0:ny+1) :: t_gpu, new_gpu
    real(rkind), dimension(2) :: flux
    integer :: i, j
    i = blockdim%x * (blockidx%x - 1) + threadidx%x + first - 1
    j = blockdim%y * (blockidx%y - 1) + threadidx%y
    if (j > ny .or. i >= nx) return
    ! Both directions
    flux(1) = t_gpu(i+1, j) - 2._rkind*t_gpu(i, j) + t_gpu(i-1, j)
    flux(2) = t_gpu(i, j+1) - 2._rkind*t_gpu(i, j) + t_gpu(i, j-1)
    if (flux(1) == 0._rkind) return
    new_gpu(i, j) = t_gpu(i, j) + slope(flux(1), flux(2))
  end subroutine step_kernel
  attributes(device) function slope(a, b) result(s)
    real(rkind), value :: a, b
    real(rkind) :: s
    s = 0.1_rkind*(a + b)
  end function slope
  subroutine heat_sum_cuf(nx, ny, t_gpu, total, stream)
    integer, intent(in) :: nx, ny
    real(rkind), dimension(0:, 0:), intent(in), device :: t_gpu
    real(rkind), intent(out) :: total
    integer(kind=cuda_stream_kind), intent(in) :: stream
    integer :: i, j, ierr
    total = 0._rkind
    !$cuf kernel do(2) <<<*,*,stream=stream>>> reduce(+:total)
    do j = 1, ny
      do i = 1, nx
        total = total + t_gpu(i, j) ! all cells
      end do
    end do
    !@cuf ierr = cudadevicesynchronize()
  end subroutine heat_sum_cuf
end module heat_gpu
