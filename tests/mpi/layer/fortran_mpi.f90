! SPDX-License-Identifier: BSD-2-Clause
! fortran_mpi.f90 - one-sided communication by the module mpi
module callback_mpi
  use mpi
  implicit none
  integer :: whole
  integer :: me, told
contains
  subroutine use_window(given, which, at, state, ierror)
    integer :: given
    include 'fortran_callback.inc'
  end subroutine
end module

program fortran_mpi
  use callback_mpi, only: me, whole, use_window
  use mpi
  implicit none
  integer :: ierr, rank, ranks, win, right, left, failed, group, world, result, request, keyval
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, attribute, value, extra
  integer :: memory(10), number
  logical :: found, truth, all_true
  character(*), parameter :: way = 'mpi'

  include 'fortran_calls.inc'
end program
