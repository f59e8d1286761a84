# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# starters.sh - the starters, by the names they have in tests/starters: what is missing for one, and its command line
#
# Sourced, with $bin set. STARTERS says which are wanted; those on Slurm need $CLUSTER_NET (tests/starters/cluster).

starters=${STARTERS:-oriel mpirun hydra hydra_nodes pmix pmi2}

# Why a starter cannot be used here; nothing if it can.
missing() {
	case $1 in
	oriel) ;;
	mpirun) [ -n "$mpirun" ] || echo "no mpirun of Open MPI (package openmpi-bin)" ;;
	hydra | hydra_nodes) command -v mpiexec.hydra >/dev/null || echo "no mpiexec.hydra (package mpich)" ;;
	pmix | pmi2) [ -n "${CLUSTER_NET:-}" ] || echo "no Slurm: ${NO_CLUSTER:-it was not started}" ;;
	esac
}

find_mpirun() {
	local name
	for name in mpirun.openmpi mpirun; do
		"$name" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE' && echo "$name" && return
	done
}
mpirun=$(find_mpirun)

# Set $starter to the command line in front of a program: name, ranks. Slurm's and the second kind of hydra's are two nodes.
command_of() {
	local half=$((($2 + 1) / 2)) nodes=2
	[ "$2" -gt 1 ] || nodes=1
	case $1 in
	oriel) starter=("$bin/oriel-run" -n "$2") ;;
	mpirun) starter=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$mpirun" --oversubscribe -n "$2") ;;
	hydra) starter=(mpiexec.hydra -n "$2") ;;
	hydra_nodes) starter=(mpiexec.hydra -launcher fork -hosts "a:$half,b:$half" -n "$2") ;;
	pmix | pmi2 | none) starter=(nsenter --net="$CLUSTER_NET" srun --mpi="$1" -N $nodes -n "$2") ;;
	esac
}
