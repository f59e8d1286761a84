#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# oriel-mpi PROGRAM [ARGUMENT...] - run an MPI program with its one-sided communication done by Oriel.
#
# The libraries are looked for beside this script, as they lie in a build tree (bin and lib/mpi) or are installed
# (bin and lib/oriel/mpi).
here=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P) || exit 1
name=${0##*/}
mpi=

usage() {
	echo "usage: $name [--mpi=openmpi|mpich] PROGRAM [ARGUMENT...]"
}

help() {
	usage
	cat <<-'END'

	Runs PROGRAM, which uses MPI, with Oriel in place of the MPI's own one-sided communication:
	    mpirun -n 4 oriel-mpi ./app          srun oriel-mpi ./app

	  --mpi=NAME   which MPI it uses, openmpi or mpich; needed only where neither PROGRAM's list of libraries nor the
	               starter's environment tells it, as may be for interpreters
	  -h, --help   this text
	  --           what follows is PROGRAM, even if it begins with "-"

	It sets LD_PRELOAD. ORIEL_MPI_VERBOSE=1 tells what is left to the MPI, and why.
	END
}

fail() {
	echo "$name: $*" >&2
	exit 2
}

# The libraries that a program is linked with; nothing for a script.
libraries() {
	ldd "$1" 2>/dev/null
}

of_program() {
	case $(libraries "$1") in
	*libmpi.so.40*) echo openmpi ;;
	*libmpich.so.12*) echo mpich ;;
	*libmpi.so.*) echo other ;;
	esac
}

# Into a program without a dynamic linker nothing can be loaded.
check_dynamic() {
	[ "$(head -c 4 "$1" | od -An -c | tr -d ' ')" = '177ELF' ] || return 0
	case $(libraries "$1") in
	'' | *'statically linked'*) fail "$1 is linked statically: nothing can be loaded before it; link it with shared libraries" ;;
	esac
}

of_starter() {
	if [ "${OMPI_COMM_WORLD_SIZE:-}" ]; then
		echo openmpi
	elif [ "${HYDI_CONTROL_FD:-}${PMI_FD:-}" ]; then
		echo mpich
	elif [ "${PMIX_NAMESPACE:-}" ]; then
		echo openmpi
	fi
}

choose() {
	mpi=$(of_program "$1")
	[ "$mpi" != other ] || fail "$1 uses an MPI that is neither Open MPI 4 nor MPICH 3 or 4:" \
		"$(libraries "$1" | grep -o 'libmpi\.so\.[0-9]*' | head -n 1)"
	[ "$mpi" ] || mpi=$(of_starter)
	[ "$mpi" ] || fail "$1 is not linked with an MPI, and its starter is none that tells which it is:" \
		"say --mpi=openmpi or --mpi=mpich if it uses one all the same"
}

while :; do
	case ${1:-} in
	'')
		usage >&2
		exit 2
		;;
	-h | --help)
		help
		exit 0
		;;
	--mpi=openmpi | --mpi=mpich) mpi=${1#--mpi=} ;;
	--mpi=*) fail "there is no ${1#--mpi=}: --mpi=openmpi or --mpi=mpich" ;;
	--)
		shift
		break
		;;
	-*) fail "unknown option $1; $name --help says more" ;;
	*) break ;;
	esac
	shift
done
[ $# -gt 0 ] || {
	usage >&2
	exit 2
}
if ! program=$(command -v "$1"); then
	[ -f "./$1" ] && [ -x "./$1" ] || fail "there is no program $1"
	program=./$1 # Open MPI's mpirun finds programs here too
	shift
	set -- "$program" "$@"
fi
check_dynamic "$program"
[ "$mpi" ] || choose "$program"
for dir in "$here/lib/mpi" "$here/lib/oriel/mpi"; do
	if [ -e "$dir/liboriel-mpi-$mpi.so" ]; then
		# Behind what the user preloads: a tool's MPI_X goes on to PMPI_X, which is this library's.
		LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$dir/liboriel-mpi-$mpi.so
		export LD_PRELOAD
		exec "$@"
	fi
done
fail "there is no liboriel-mpi-$mpi.so in $here/lib/mpi or $here/lib/oriel/mpi: it is built where mpicc.$mpi finds mpi.h"
