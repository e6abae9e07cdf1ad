! SPDX-License-Identifier: Apache-2.0
module fields
contains
subroutine blur(a, b, rows, cols, rounds)
  integer, intent(in) :: rows, cols, rounds
  real(8), intent(inout) :: a(rows, cols), b(rows, cols)
  integer :: r, c, k
  do k = 1, rounds                               ! loop 1 in blur
    do c = 2, cols - 1                           ! loop 2 in blur
      do r = 2, rows - 1                         ! loop 3 in blur
        b(r, c) = (a(r - 1, c) + a(r + 1, c) + a(r, c - 1) + a(r, c + 1)) * 0.25d0
      end do
    end do
    do c = 2, cols - 1                           ! loop 2 in blur
      do r = 2, rows - 1                         ! loop 3 in blur
        a(r, c) = b(r, c) + 1d-3
      end do
    end do
  end do
end subroutine
subroutine settle(x, steps)
  real(8), intent(inout) :: x
  integer, intent(out) :: steps
  steps = 0
  do while (x > 1d-6)                            ! loop 1 in settle
    x = x * 0.99d0 + cos(x) * 1d-13
    steps = steps + 1
    if (steps > 50000) exit
  end do
  walk: do                                       ! loop 1 in settle
    steps = steps + 3
    do                                           ! loop 2 in settle
      steps = steps - 5
      if (mod(steps, 11) == 0) cycle walk
      if (steps < 4) exit walk
    end do
  end do walk
end subroutine
subroutine shared_blur(a, b, rows, cols)
  integer, intent(in) :: rows, cols
  real(8), intent(inout) :: a(rows, cols), b(rows, cols)
  integer :: r, c
!$omp parallel do private(r)
  do c = 2, cols - 1                             ! loop 1 in shared_blur
    do r = 2, rows - 1                           ! loop 2 in shared_blur
      b(r, c) = (a(r - 1, c) + a(r + 1, c)) * 0.5d0
    end do
  end do
!$omp end parallel do
end subroutine
real(8) function heat(a, rows, cols)
  integer, intent(in) :: rows, cols
  real(8), intent(in) :: a(rows, cols)
  integer :: r, c
  heat = 0
  do c = 1, cols                                 ! loop 1 in heat
    do r = 1, rows                               ! loop 2 in heat
      if (a(r, c) > 0) heat = heat + a(r, c) ** 2
    end do
  end do
end function
end module
program run
  use fields
  integer, parameter :: n = 200
  real(8), allocatable :: a(:, :), b(:, :)
  real(8) :: x
  integer :: steps
  allocate(a(n, n), b(n, n))
  a = 1; b = 2                                   ! loops
  call blur(a, b, n, n, 10)
  call shared_blur(a, b, n, n)
  x = 1
  call settle(x, steps)
  print *, heat(a, n, n), steps
end program
