# SPDX-License-Identifier: BSD-2-Clause
# versions.sh - sourced by tests that run MPI programs: what differs between versions of an MPI
# shellcheck shell=sh

# The major version of Open MPI, from 5 on: before, its mpirun is OpenRTE's. It begins with the name that it was called by.
open_mpi_major() { mpirun.openmpi --version 2>/dev/null | sed -n 's/^mpirun[^ ]* (Open MPI) \([0-9]*\).*/\1/p'; }
open_mpi_is_5() { [ "$(open_mpi_major)" -ge 5 ] 2>/dev/null; }

# A component that does all of one-sided communication: of Open MPI 4 pt2pt. Open MPI 5 has it no more, and its rdma does all.
open_mpi_whole() {
	if open_mpi_is_5; then echo OMPI_MCA_osc=rdma,sm; else echo OMPI_MCA_osc=pt2pt,sm; fi
}
