! SPDX-License-Identifier: Apache-2.0
! Loops for which gfortran gives no line, and several on one line.
module waves
contains
subroutine advance(next, now, rows, cols)
  integer, intent(in) :: rows, cols
  real(8), intent(inout) :: next(rows, cols), now(rows, cols)
  integer :: r, c
!$omp parallel
!$omp do
  do c = 1, cols                                 ! loop 1 in advance
    do r = 1, rows                               ! loop 2 in advance
      now(r, c) = next(r, c)
    end do
  end do
!$omp end do
!$omp end parallel
end subroutine
real(8) function power(a, rows, cols)
  integer, intent(in) :: rows, cols
  real(8), intent(in) :: a(rows, cols)
  integer :: r, c
  power = 0
  do concurrent (c = 1:cols)                     ! loop 1 in power
    do r = 1, rows                               ! loop 2 in power
      power = power + a(r, c) * a(r, c)
    end do
  end do
  power = power + sum(a) - maxval(abs(a))        ! nests 2
end function
real(8) function spread_of(a, n)
  integer, intent(in) :: n
  real(8), intent(in) :: a(n)
  spread_of = sum(a) + dot_product(a, a) + product(a) ! nests 3
end function
end module
program run
  use waves
  integer, parameter :: n = 300
  real(8), allocatable :: a(:, :), b(:, :)
  integer :: k
  allocate(a(n, n), b(n, n))
  do k = 1, n                                    ! loop 1 in run
    a(:, k) = k; b(:, k) = sqrt(real(k, 8))      ! loops
  end do
  call advance(a, b, n, n)
  print *, power(a, n, n), spread_of(b, n)
end program
