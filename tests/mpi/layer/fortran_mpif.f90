! SPDX-License-Identifier: BSD-2-Clause
! fortran_mpif.f90 - one-sided communication by mpif.h
module callback_mpif
  implicit none
  include 'mpif.h'
  integer :: whole
  integer :: me, told
contains
  subroutine use_window(given, which, at, state, ierror)
    integer :: given
    include 'fortran_callback.inc'
  end subroutine
end module

program fortran_mpif
  use callback_mpif, only: me, whole, use_window
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, ranks, win, right, left, failed, group, world, result, request, keyval
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, attribute, value, extra
  integer :: memory(10), number
  logical :: found, truth, all_true
  character(*), parameter :: way = 'mpif'

  include 'fortran_calls.inc'
end program
