! SPDX-License-Identifier: BSD-2-Clause
! mpi_loads_fortran.f90 CASE racy|free - two of the cases of mpi_loads.c, in Fortran
program loads
	use, intrinsic :: iso_c_binding
	use mpi
	implicit none
	integer, parameter :: numbers = 64
	double precision, pointer :: part(:)
	double precision, allocatable :: values(:) ! of other local arrays the compiler leaves accesses out
	double precision :: total
	type(c_ptr) :: base
	integer(kind=MPI_ADDRESS_KIND) :: bytes, address, at
	integer :: win, me, error
	character(len=64) :: name, form
	logical :: racy

	call get_command_argument(1, name)
	call get_command_argument(2, form)
	racy = form == "racy"
	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
	bytes = 8 * numbers
	at = 0
	call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, address, win, error)
	base = transfer(address, base)
	call c_f_pointer(base, part, [numbers])
	call MPI_Win_set_name(win, "halo", error)
	part = 0
	allocate(values(numbers))
	values = 1
	call MPI_Win_fence(0, win, error)
	if (name == "K17_load_of_fortran" .and. me == 0) &
		call MPI_Put(values, numbers, MPI_DOUBLE_PRECISION, 2, at, numbers, MPI_DOUBLE_PRECISION, win, error) ! RACE
	if (name == "K17_buffer_of_fortran" .and. me == 0) &
		call MPI_Put(values, numbers, MPI_DOUBLE_PRECISION, 2, at, numbers, MPI_DOUBLE_PRECISION, win, error) ! RACE
	if (.not. racy) call MPI_Win_fence(0, win, error)
	if (name == "K17_load_of_fortran" .and. me == 2) then
		total = part(5) ! RACE
		print *, total >= 0
	end if
	if (name == "K17_buffer_of_fortran" .and. me == 0) &
		values = values + 1 ! RACE
	if (racy) call MPI_Win_fence(0, win, error)
	call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, error)
	call MPI_Win_free(win, error)
	call MPI_Finalize(error)
end program
