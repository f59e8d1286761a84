#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# oriel-soft PROGRAM [ARGUMENT...] - run a verbs program on softverbs, the device made of shared memory.
#
# The libraries are looked for beside this script, as they lie in a build tree (bin and lib/soft) or are installed
# (bin and lib/oriel/soft).
here=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P) || exit 1

if [ $# -eq 0 ]; then
	echo "usage: ${0##*/} PROGRAM [ARGUMENT...]" >&2
	exit 2
fi
for dir in "$here/lib/soft" "$here/lib/oriel/soft"; do
	if [ -e "$dir/libibverbs.so.1" ]; then
		LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
		export LD_LIBRARY_PATH
		exec "$@"
	fi
done
echo "${0##*/}: no libibverbs.so.1 in $here/lib/soft or $here/lib/oriel/soft" >&2
exit 1
