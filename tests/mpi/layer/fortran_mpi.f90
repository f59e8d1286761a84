! SPDX-License-Identifier: BSD-2-Clause
! fortran_mpi.f90 - one-sided communication by the module mpi
module callback_mpi
  use mpi
  implicit none
  integer :: whole
  integer :: me, told, handled, last_class
contains
  subroutine use_window(given, which, at, state, ierror)
    integer :: given
    include 'fortran_callback.inc'
  end subroutine

  subroutine count_errors(given, code)
    integer :: given
    include 'fortran_handler.inc'
  end subroutine
end module

program fortran_mpi
  use callback_mpi, only: me, whole, use_window, count_errors, handled, last_class
  use mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: ierr, rank, ranks, win, right, left, failed, group, world, result, request, keyval, length, info, handler
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, attribute, value, extra
  integer, volatile :: memory(10)
  integer, volatile :: back(2)
  integer :: number, which, indices(3), requests(3), statuses(MPI_STATUS_SIZE, 3), to, from, node
  integer, pointer, volatile :: there(:)
  type(c_ptr) :: base
  logical :: found, truth, all_true
  character(MPI_MAX_OBJECT_NAME) :: name
  character(20) :: hint
  character(*), parameter :: way = 'mpi'

  include 'fortran_calls.inc'
end program
