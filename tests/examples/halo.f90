! SPDX-License-Identifier: BSD-2-Clause
!
! halo.f90 - halo.c in Fortran: heat in a rod, with post, start, complete and wait
!
program halo
  use oriel
  implicit none

  integer, parameter :: cells = 4, steps = 2000
  real(c_double), pointer, asynchronous :: cell(:)
  type(c_ptr) :: job, world, neighbours, win, memory
  integer(c_int) :: rank, ranks
  integer(c_size_t), parameter :: double = c_sizeof(1.0_c_double)
  real(c_double) :: worst
  integer :: i

  if (command_argument_count() > 0) then
    print '(a)', 'usage: oriel-run -n 4 ./halo_f'
    stop
  end if
  call check(oriel_init(c_null_ptr, job))
  rank = oriel_rank(job)
  ranks = oriel_size(job)
  call check(oriel_group_world(job, world))
  call find_neighbours()
  call check(oriel_win_allocate((cells + 2) * double, double, c_null_ptr, world, memory, win))
  call c_f_pointer(memory, cell, [cells + 2])
  cell(0:) => cell ! cell(0) and cell(cells + 1) are the halo; displacements count from 0, too
  if (rank == 0) cell(0) = 100

  do i = 1, steps
    call exchange()
    cell(1:cells) = (cell(0:cells - 1) + cell(2:cells + 1)) / 2
  end do
  worst = maxval([(abs(cell(i) - 100 * (1 - (rank * cells + i) / (ranks * cells + 1d0))), i = 1, cells)])
  print '("rank ", i0, ": ", f0.2, " to ", f0.2)', rank, cell(1), cell(cells)

  call check(oriel_win_free(win))
  call check(oriel_group_free(neighbours))
  call check(oriel_group_free(world))
  call check(oriel_finalize(job))
  if (worst > 1d-6) error stop 'the temperatures are no straight line'

contains

  subroutine check(rc)
    integer(c_int), intent(in) :: rc

    if (rc >= 0) return
    print '(a)', oriel_error_message()
    error stop 1
  end subroutine

  ! The ranks on either side: two, or one at an end of the rod.
  subroutine find_neighbours()
    integer(c_int) :: list(2), count

    count = 0
    if (rank > 0) then
      count = count + 1
      list(count) = rank - 1
    end if
    if (rank < ranks - 1) then
      count = count + 1
      list(count) = rank + 1
    end if
    call check(oriel_group_incl(world, count, list, neighbours))
  end subroutine

  ! Puts the outermost cells into the neighbours' halos, and waits until theirs have arrived here.
  subroutine exchange()
    call check(oriel_win_post(win, neighbours, 0))
    call check(oriel_win_start(win, neighbours, 0))
    if (rank > 0) call check(oriel_put(win, c_loc(cell(1)), double, rank - 1, cells + 1_c_size_t))
    if (rank < ranks - 1) call check(oriel_put(win, c_loc(cell(cells)), double, rank + 1, 0_c_size_t))
    call check(oriel_win_complete(win))
    call check(oriel_win_wait(win))
  end subroutine

end program
