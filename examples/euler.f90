!> The equations of Euler in two dimensions: second order in space and time by MUSCL-Hancock and HLLC (Toro, Riemann Solvers and Numerical Methods
!> for Fluid Dynamics, chapters 10 and 14), one axis after the other. Cells are squares; the gas leaves and enters through all sides.
module euler
  implicit none
  integer, parameter :: rkind = kind(1.0d0)
  integer, parameter :: ghosts = 2
  real(rkind), parameter :: gamma = 1.4_rkind
contains

  !> Four streams of gas that meet in a point (Lax and Liu, SIAM J. Sci. Comput. 19, 1998, configuration 3).
  !> w has density, momentum along x and y, and energy, each by volume.
  subroutine start(nx, ny, w)
    integer, intent(in) :: nx, ny
    real(rkind), intent(inout) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4)
    integer :: i, j
    logical :: east, north
    real(rkind) :: rho, u, v, p
    !$acc parallel loop collapse(2)
    do j = 1, ny
      do i = 1, nx
        east = 10*i > 8*nx
        north = 10*j > 8*ny
        rho = 0.138_rkind
        p = 0.029_rkind
        if (east .neqv. north) rho = 0.5323_rkind
        if (east .neqv. north) p = 0.3_rkind
        if (east .and. north) rho = 1.5_rkind
        if (east .and. north) p = 1.5_rkind
        u = merge(0.0_rkind, 1.206_rkind, east)
        v = merge(0.0_rkind, 1.206_rkind, north)
        w(i, j, 1) = rho
        w(i, j, 2) = rho*u
        w(i, j, 3) = rho*v
        w(i, j, 4) = p/(gamma - 1) + 0.5_rkind*rho*(u*u + v*v)
      end do
    end do
  end subroutine start

  !> Brings the gas from one time to another; steps counts what that takes.
  subroutine advance(nx, ny, dx, cfl, time, until, w, f, steps)
    integer, intent(in) :: nx, ny
    real(rkind), intent(in) :: dx, cfl, until
    real(rkind), intent(inout) :: time
    real(rkind), intent(inout) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4), f(nx+1, ny+1, 4)
    integer, intent(out) :: steps
    real(rkind) :: speed, dt
    steps = 0
    do while (time < until)
      call fastest(nx, ny, w, speed)
      dt = min(cfl*dx/speed, until - time)
      if (mod(steps, 2) == 0) then
        call sweep(nx, ny, 1, 0, dt/dx, w, f)
        call sweep(nx, ny, 0, 1, dt/dx, w, f)
      else
        call sweep(nx, ny, 0, 1, dt/dx, w, f)
        call sweep(nx, ny, 1, 0, dt/dx, w, f)
      end if
      time = time + dt
      steps = steps + 1
    end do
  end subroutine advance

  !> The greatest speed of a wave.
  subroutine fastest(nx, ny, w, speed)
    integer, intent(in) :: nx, ny
    real(rkind), intent(in) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4)
    real(rkind), intent(out) :: speed
    integer :: i, j
    real(rkind) :: u, v, p
    speed = 0
    !$acc parallel loop collapse(2) reduction(max:speed)
    do j = 1, ny
      do i = 1, nx
        u = w(i, j, 2)/w(i, j, 1)
        v = w(i, j, 3)/w(i, j, 1)
        p = (gamma - 1)*(w(i, j, 4) - 0.5_rkind*w(i, j, 1)*(u*u + v*v))
        speed = max(speed, max(abs(u), abs(v)) + sqrt(gamma*p/w(i, j, 1)))
      end do
    end do
  end subroutine fastest

  !> One step along x, (di, dj) = (1, 0), or along y, (0, 1). ratio is dt/dx.
  subroutine sweep(nx, ny, di, dj, ratio, w, f)
    integer, intent(in) :: nx, ny, di, dj
    real(rkind), intent(in) :: ratio
    real(rkind), intent(inout) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4), f(nx+1, ny+1, 4)
    call fill_ghosts(nx, ny, w)
    call fluxes(nx, ny, di, dj, ratio, w, f)
    call update(nx, ny, di, dj, ratio, f, w)
  end subroutine sweep

  !> Ghosts hold what the nearest cell holds.
  subroutine fill_ghosts(nx, ny, w)
    integer, intent(in) :: nx, ny
    real(rkind), intent(inout) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4)
    integer :: i, j, k
    !$acc parallel loop collapse(2)
    do j = 1 - ghosts, ny + ghosts
      do i = 1 - ghosts, nx + ghosts
        if (i >= 1 .and. i <= nx .and. j >= 1 .and. j <= ny) cycle
        do k = 1, 4
          w(i, j, k) = w(max(1, min(nx, i)), max(1, min(ny, j)), k)
        end do
      end do
    end do
  end subroutine fill_ghosts

  !> Through the face before each cell, and behind the last.
  subroutine fluxes(nx, ny, di, dj, ratio, w, f)
    integer, intent(in) :: nx, ny, di, dj
    real(rkind), intent(in) :: ratio
    real(rkind), intent(in) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4)
    real(rkind), intent(inout) :: f(nx+1, ny+1, 4)
    integer :: i, j, m, along, across
    real(rkind) :: cells(4, 4), left(4), right(4), through(4)
    !$acc parallel loop collapse(2) private(cells, left, right, through)
    do j = 1, ny + dj
      do i = 1, nx + di
        along = 2 + dj
        across = 3 - dj
        do m = 1, 4
          cells(1, m) = w(i + (m - 3)*di, j + (m - 3)*dj, 1)
          cells(2, m) = w(i + (m - 3)*di, j + (m - 3)*dj, along)/cells(1, m)
          cells(3, m) = w(i + (m - 3)*di, j + (m - 3)*dj, across)/cells(1, m)
          cells(4, m) = (gamma - 1)*(w(i + (m - 3)*di, j + (m - 3)*dj, 4) &
            - 0.5_rkind*cells(1, m)*(cells(2, m)*cells(2, m) + cells(3, m)*cells(3, m)))
        end do
        call extrapolate(cells, 2, 1.0_rkind, ratio, left)
        call extrapolate(cells, 3, -1.0_rkind, ratio, right)
        call hllc(left, right, through)
        f(i, j, 1) = through(1)
        f(i, j, along) = through(2)
        f(i, j, across) = through(3)
        f(i, j, 4) = through(4)
      end do
    end do
  end subroutine fluxes

  subroutine update(nx, ny, di, dj, ratio, f, w)
    integer, intent(in) :: nx, ny, di, dj
    real(rkind), intent(in) :: ratio, f(nx+1, ny+1, 4)
    real(rkind), intent(inout) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4)
    integer :: i, j, k
    !$acc parallel loop collapse(2)
    do j = 1, ny
      do i = 1, nx
        do k = 1, 4
          w(i, j, k) = w(i, j, k) - ratio*(f(i + di, j + dj, k) - f(i, j, k))
        end do
      end do
    end do
  end subroutine update

  !> Density, velocity along and across, and pressure of cell m at a face half a step later: ahead of it for a side of 1, behind it for -1.
  subroutine extrapolate(cells, m, side, ratio, state)
    !$acc routine seq
    real(rkind), intent(in) :: cells(4, 4), side, ratio
    integer, intent(in) :: m
    real(rkind), intent(out) :: state(4)
    real(rkind) :: slope(4), before, behind
    integer :: k
    do k = 1, 4
      before = cells(k, m) - cells(k, m - 1)
      behind = cells(k, m + 1) - cells(k, m)
      slope(k) = 0
      if (before*behind > 0) slope(k) = 2*before*behind/(before + behind)
    end do
    state(1) = cells(1, m) + 0.5_rkind*(side*slope(1) - ratio*(cells(2, m)*slope(1) + cells(1, m)*slope(2)))
    state(2) = cells(2, m) + 0.5_rkind*(side*slope(2) - ratio*(cells(2, m)*slope(2) + slope(4)/cells(1, m)))
    state(3) = cells(3, m) + 0.5_rkind*(side*slope(3) - ratio*cells(2, m)*slope(3))
    state(4) = cells(4, m) + 0.5_rkind*(side*slope(4) - ratio*(cells(2, m)*slope(4) + gamma*cells(4, m)*slope(2)))
  end subroutine extrapolate

  !> The flux between two states, with the speeds of Davis: left and right, and that of the contact between them.
  subroutine hllc(l, r, flux)
    !$acc routine seq
    real(rkind), intent(in) :: l(4), r(4)
    real(rkind), intent(out) :: flux(4)
    real(rkind) :: cl, cr, sl, sr, contact
    cl = sqrt(gamma*l(4)/l(1))
    cr = sqrt(gamma*r(4)/r(1))
    sl = min(l(2) - cl, r(2) - cr)
    sr = max(l(2) + cl, r(2) + cr)
    contact = (r(4) - l(4) + l(1)*l(2)*(sl - l(2)) - r(1)*r(2)*(sr - r(2)))/(l(1)*(sl - l(2)) - r(1)*(sr - r(2)))
    if (contact >= 0) then
      call side_flux(l, min(sl, 0.0_rkind), contact, flux)
    else
      call side_flux(r, max(sr, 0.0_rkind), contact, flux)
    end if
  end subroutine hllc

  !> The flux on one side of the contact; its outer wave, of that speed, does not move where all waves leave to the other side.
  subroutine side_flux(s, speed, contact, flux)
    !$acc routine seq
    real(rkind), intent(in) :: s(4), speed, contact
    real(rkind), intent(out) :: flux(4)
    real(rkind) :: energy, factor
    energy = s(4)/(gamma - 1) + 0.5_rkind*s(1)*(s(2)*s(2) + s(3)*s(3))
    flux(1) = s(1)*s(2)
    flux(2) = s(1)*s(2)*s(2) + s(4)
    flux(3) = s(1)*s(2)*s(3)
    flux(4) = s(2)*(energy + s(4))
    if (speed == 0) return
    factor = s(1)*(speed - s(2))/(speed - contact)
    flux(1) = flux(1) + speed*(factor - s(1))
    flux(2) = flux(2) + speed*(factor*contact - s(1)*s(2))
    flux(3) = flux(3) + speed*(factor*s(3) - s(1)*s(3))
    flux(4) = flux(4) + speed*(factor*(energy/s(1) + (contact - s(2))*(contact + s(4)/(s(1)*(speed - s(2))))) - energy)
  end subroutine side_flux
end module euler
