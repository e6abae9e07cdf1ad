! SPDX-License-Identifier: Apache-2.0
! Modules, contained procedures, array expressions.
module grid
  implicit none
  type :: field
     integer :: n = 0
     real(8), allocatable :: v(:, :)
  end type field
contains
  subroutine setup(f, n)
    type(field), intent(inout) :: f
    integer, intent(in) :: n
    integer :: i, j
    f%n = n
    allocate (f%v(n, n))
    do j = 1, n
       do i = 1, n
          f%v(i, j) = start(i, j)
       end do
    end do
  contains
    real(8) function start(i, j)
      integer, intent(in) :: i, j
      start = sin(0.1d0*i)*cos(0.2d0*j) + 1.0d0/n
    end function start
  end subroutine setup

  subroutine smooth(f, steps)
    type(field), intent(inout) :: f
    integer, intent(in) :: steps
    real(8), allocatable :: old(:, :)
    integer :: k, i, j
    do k = 1, steps
       old = f%v
       do j = 2, f%n - 1
          do i = 2, f%n - 1
             f%v(i, j) = weight(old(i, j), old(i - 1, j), old(i + 1, j), old(i, j - 1), old(i, j + 1))
          end do
       end do
    end do
  end subroutine smooth

  pure real(8) function weight(c, a, b, d, e)
    real(8), intent(in) :: c, a, b, d, e
    weight = 0.5d0*c + 0.125d0*(a + b + d + e)
  end function weight
end module grid

program waves
  use grid
  implicit none
  type(field) :: f
  real(8) :: s
  call setup(f, 60)
  call smooth(f, 20)
  s = energy(f%v)
  write (*, '(a, f12.4, i6)') 'energy ', s, count(f%v > 0.5d0)
contains
  real(8) function energy(a)
    real(8), intent(in) :: a(:, :)
    energy = sum(a**2) + maxval(a) - minval(a)
    call report(energy)
  end function energy
  subroutine report(e)
    real(8), intent(in) :: e
    if (e < 0) write (*, *) 'negative energy', e, size(f%v)
  end subroutine report
end program waves
