! SPDX-License-Identifier: BSD-2-Clause
! fortran_f08.f90 - one-sided communication by mpi_f08
module callback_f08
  use mpi_f08
  implicit none
  type(MPI_Win) :: whole
  integer :: me, told
contains
  subroutine use_window(given, which, at, state, ierror)
    type(MPI_Win) :: given
    include 'fortran_callback.inc'
  end subroutine
end module

program fortran_f08
  use callback_f08, only: me, whole, use_window
  use mpi_f08
  implicit none
  integer :: ierr, rank, ranks, right, left, failed, result, keyval
  type(MPI_Win) :: win
  type(MPI_Group) :: group, world
  type(MPI_Request) :: request
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, attribute, value, extra
  integer, asynchronous :: memory(10)
  integer :: number
  logical :: found, truth, all_true
  character(*), parameter :: way = 'f08'

  include 'fortran_calls.inc'
end program
