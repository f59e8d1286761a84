#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# oriel-soft PROGRAM [ARGUMENT...] - run a verbs program on softverbs, the device made of shared memory.
#
# The libraries are looked for beside this script, as they lie in a build tree (bin and lib/soft) or are installed (bin and
# oriel/soft in the folder for libraries, which `make install` writes here).
installed=lib
here=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P) || exit 1
name=${0##*/}

usage() {
	echo "usage: $name PROGRAM [ARGUMENT...]"
}

help() {
	usage
	cat <<-'END'

	Runs PROGRAM on softverbs, a verbs device made of shared memory, in place of the machine's RDMA devices.
	Any program that uses libibverbs or librdmacm will do; processes of one user on one machine reach each other.

	  -h, --help   this text
	  --version    the version
	  --           what follows is PROGRAM, even if it begins with "-"

	It puts softverbs' libraries in front of LD_LIBRARY_PATH. Programs that are linked statically, that change their
	user or that have an RPATH of their own do not look there. And it appends to LD_PRELOAD what shows programs the
	device below /dev/infiniband and /sys/class/infiniband, where some look first (UCX); nothing there is changed.
	END
}

# Without them the device is there all the same, but not for programs that look for its files first.
show_files() { # directory of the libraries
	case $1 in
	*[[:space:]:]*)
		echo "$name: LD_PRELOAD cannot name files in \"$1\": programs that look for /dev/infiniband or" \
			"/sys/class/infiniband first, as UCX does, will not find the device" >&2
		return
		;;
	esac
	if [ -e "$1/libsoftnodes.so" ] && [ -e "$1/nodes/dev/infiniband/uverbs0" ]; then
		# Last, since what others preload may have to be first. A program with gcc's AddressSanitizer refuses to start
		# behind anything that is preloaded, unless told that it may.
		LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$1/libsoftnodes.so
		ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
		export LD_PRELOAD ASAN_OPTIONS
	else
		echo "$name: $1 lacks libsoftnodes.so or nodes (or /dev/full is missing): programs that look for" \
			"/dev/infiniband or /sys/class/infiniband first, as UCX does, will not find the device" >&2
	fi
}

# A library of the same name that is loaded earlier is the one that the program gets.
warn_of_preloads() {
	for library in $(echo "${LD_PRELOAD:-}" | tr : ' '); do
		case ${library##*/} in
		libibverbs.so* | librdmacm.so*)
			[ "$(readlink -f "$library")" = "$(readlink -f "$1/${library##*/}")" ] ||
				echo "$name: LD_PRELOAD loads $library before softverbs, which the program will not see: take it out" >&2
			;;
		esac
	done
}

case ${1:-} in
'')
	usage >&2
	exit 2
	;;
-h | --help)
	help
	exit 0
	;;
--version)
	echo "$name @VERSION@"
	exit 0
	;;
--)
	shift
	[ $# -gt 0 ] || {
		usage >&2
		exit 2
	}
	;;
-*)
	echo "$name: unknown option $1; $name --help says more" >&2
	exit 2
	;;
esac
for dir in "$here/lib/soft" "$here/$installed/oriel/soft"; do
	if [ -e "$dir/libibverbs.so.1" ]; then
		warn_of_preloads "$dir"
		LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
		export LD_LIBRARY_PATH
		show_files "$dir"
		exec "$@"
	fi
done
echo "$name: no libibverbs.so.1 in $here/lib/soft or $here/$installed/oriel/soft" >&2
exit 1
