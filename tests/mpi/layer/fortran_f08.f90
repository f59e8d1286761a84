! SPDX-License-Identifier: BSD-2-Clause
! fortran_f08.f90 - one-sided communication by mpi_f08
module callback_f08
  use mpi_f08
  implicit none
  type(MPI_Win) :: whole
  integer :: me, told, handled, last_class
contains
  subroutine use_window(given, which, at, state, ierror)
    type(MPI_Win) :: given
    include 'fortran_callback.inc'
  end subroutine

  subroutine count_errors(given, code)
    type(MPI_Win) :: given
    include 'fortran_handler.inc'
  end subroutine
end module

program fortran_f08
  use callback_f08, only: me, whole, use_window, count_errors, handled, last_class
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: ierr, rank, ranks, right, left, failed, result, keyval, length
  type(MPI_Win) :: win
  type(MPI_Comm) :: node
  type(MPI_Group) :: group, world, to, from
  type(MPI_Request) :: request, requests(3)
  type(MPI_Status) :: statuses(3)
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, attribute, value, extra
  integer, asynchronous :: memory(10)
  integer, asynchronous :: back(2)
  integer :: number, which, indices(3)
  integer, pointer, asynchronous :: there(:)
  type(c_ptr) :: base
  logical :: found, truth, all_true
  character(MPI_MAX_OBJECT_NAME) :: name
  character(20) :: hint
  character(*), parameter :: way = 'f08'

  include 'fortran_calls.inc'
end program
