! SPDX-License-Identifier: Apache-2.0
! Fortran: explicit loops, loops implied by array syntax, contained procedures, statement functions.

!: expect explicit_
!:   loop @jdo-@idone
!:     loop @ido-@idone
subroutine explicit(a, n)
  integer :: n, i, j
  real :: a(n, n)
  do j = 1, n                      ! @jdo
    do i = 1, n                    ! @ido
      a(i, j) = a(i, j) + i * j    ! @idone
    end do
  end do
end subroutine

! One statement, one loop, on its line.
!: expect slices_
!:   loop @slice-@slice
subroutine slices(a, b, n)
  integer :: n
  real :: a(n), b(n)
  a(1:n) = a(1:n) + 2.0 * b(1:n)   ! @slice
end subroutine

! Two dimensions, one statement: a nest of two.
! (Unrolled by gcc, one of the two loops jumps into the other: with several entries, a nest on one line is one loop.)
!: expect square_ if !unroll
!:   loop @plane-@plane
!:     loop @plane-@plane
subroutine square(a, b, n)
  integer :: n
  real :: a(n, n), b(n, n)
  a(2:n, 2:n) = b(2:n, 2:n) * 3.0  ! @plane
end subroutine

!: expect statement_
!:   loop @sdo-@suse
subroutine statement(a, n)
  integer :: n, i
  real :: a(n), square, x
  square(x) = x * x + 1.0
  do i = 1, n                      ! @sdo
    a(i) = square(a(i))            ! @suse
  end do
end subroutine

! The contained procedure's loop is its own; the host's lines continue after it.
! (At -O3 gcc unswitches host by the stride of the inlined loop and gives the copies lines of both; at -Os it
! leaves code of scale without its inlined call.)
!: expect host_ if !O3 !Os
!:   loop @hdo-@huse
!:     inline scale at @huse if !O0
!:       loop @cdo-@cuse if !O0
subroutine host(a, n)
  integer :: n, k
  real :: a(n)
  do k = 1, n                      ! @hdo
    call scale(a, n, k)            ! @huse
  end do
contains
!: expect scale if O0
!:   loop @cdo-@cuse
  subroutine scale(v, m, f)
    integer :: m, f, i
    real :: v(m)
    do i = 1, m                    ! @cdo
      v(i) = v(i) * f              ! @cuse
    end do
  end subroutine
end subroutine

program main
  real :: a(4), b(4), c(4, 4), d(4, 4)
  integer :: n
  n = command_argument_count() + 2
  a = 1.0; b = 2.0; c = 0.0; d = 1.0
  call explicit(c, n)
  call slices(a, b, n)
  call square(c, d, n)
  call statement(a, n)
  call host(a, n)
end program
