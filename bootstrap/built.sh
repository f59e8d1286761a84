#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# built.sh FOLDER PMIX DW MPIS - write what is built, with versions, and what not, with the package
# that is missing, to built.txt and built.h in FOLDER
#
# PMIX and DW are "yes" or nothing, MPIS the MPIs whose compilers are here. A line of built.txt is NAME|VERSION|, or
# NAME||MISSING. built.h has the same for oriel-info. Files that would not change are not touched.
set -eu
folder=$1 pmix=$2 dw=$3 mpis=$4

line() { printf '%s|%s|%s\n' "$@"; }

# Prints macros of a header, as its MPI's compiler has them, with dots between.
version_by() { # COMPILER MACRO...
	compiler=$1
	shift
	echo "oriel_version $*" | $compiler -E -P -include mpi.h -x c - 2>/dev/null | sed -n 's/^oriel_version //p' | tr -d '"' | tr -s ' ' .
}

tell_pmix() {
	if [ "$pmix" ]; then
		line "PMIx (mpirun, srun --mpi=pmix)" "$(pkg-config --modversion pmix 2>/dev/null || echo yes)" ""
	else
		line "PMIx (mpirun, srun --mpi=pmix)" "" "pkg-config finds no pmix: libpmix-dev"
	fi
}

tell_dw() {
	if [ "$dw" ]; then
		line "lines of source in reports" "$(pkg-config --modversion libdw 2>/dev/null || echo yes)" ""
	else
		line "lines of source in reports" "" "pkg-config finds no libdw: libdw-dev"
	fi
}

tell_mpi() { # NAME OF-COMPILER PACKAGE MACRO...
	name=$1 mpi=$2 package=$3
	shift 3
	case " $mpis " in
	*" $mpi "*) line "oriel-mpi for $name" "$(version_by "mpicc.$mpi" "$@")" "" ;;
	*) line "oriel-mpi for $name" "" "mpicc.$mpi finds no mpi.h: $package" ;;
	esac
}

mkdir -p "$folder"
{
	line "liboriel, softverbs, oriel-run, oriel-info, oriel-soft" "${VERSION:-yes}" ""
	tell_pmix
	tell_dw
	tell_mpi "Open MPI" openmpi libopenmpi-dev OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
	tell_mpi MPICH mpich libmpich-dev MPICH_VERSION
} >"$folder/built.new"
cmp -s "$folder/built.new" "$folder/built.txt" || {
	cp "$folder/built.new" "$folder/built.txt"
	awk -F '|' '{ printf "\t{ \"%s\", \"%s\", \"%s\" },\n", $1, $2, $3 }' "$folder/built.txt" >"$folder/built.h"
}
rm -f "$folder/built.new"
