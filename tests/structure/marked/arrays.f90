! SPDX-License-Identifier: Apache-2.0
! Array syntax next to explicit loops, where, a procedure in a module, OpenMP.
module grid
contains
  subroutine relax(a, b, n)
    integer, intent(in) :: n
    real, intent(in) :: a(n, n)
    real, intent(out) :: b(n, n)
    integer :: i, j
    b = 0 ! loops
    do j = 2, n - 1 ! loop 1 in relax
      do i = 2, n - 1 ! loop 2 in relax
        b(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
  end subroutine

  real function norm(a, n)
    integer, intent(in) :: n
    real, intent(in) :: a(n, n)
    integer :: i, j
    norm = 0
    do j = 1, n ! loop 1 in norm
      do i = 1, n ! loop 2 in norm
        if (a(i, j) < 0) cycle
        norm = norm + sqrt(a(i, j)) / (norm + 1)
      end do
    end do
  end function

  integer function steps(x)
    real, intent(in) :: x
    real :: y
    y = x
    steps = 0
    do while (y > 1) ! loop 1 in steps
      y = y * 0.5 + 0.25 / y
      steps = steps + 1
      if (steps > 1000) exit
    end do
  end function
end module

program arrays
  use grid
  real, save :: a(200, 200), b(200, 200)
  integer :: k
  a = 1.5 ! loops
  do k = 1, 10 ! loop 1 in main|MAIN|arrays
    call relax(a, b, 200)
    a = b + 0.5 ! loops
  end do
  print *, norm(a, 200), steps(a(3, 3) * 1000)
end program
