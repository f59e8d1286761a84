#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# inside.sh - softverbs as part of the library: alone, under oriel-run, beside softverbs in
# libibverbs' place, where little is left of a container. Needs a machine without an RDMA device.
#
# usage: tests/soft/inside.sh, from the top of the tree, after `make tests`. Status 1 if something is not as it should be.
set -u
cd "$(dirname "$0")/../.." || exit 1
inside="build/tests/soft/inside $PWD/build/lib/liboriel.so.0"
soft=build/bin/oriel-soft
failed=0
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT

# works WHAT COMMAND...
works() {
	local what=$1
	shift
	if timeout 60 "$@" >"$out" 2>&1; then
		echo "passed  $what"
	else
		echo "FAILED  $what: $*"
		sed 's/^/        /' "$out"
		failed=1
	fi
}

# refuses TEXT COMMAND...
refuses() {
	local text=$1
	shift
	if timeout 60 "$@" >"$out" 2>&1 || ! grep -qF -- "$text" "$out"; then
		echo "FAILED  it does not say \"$text\": $*"
		sed 's/^/        /' "$out"
		failed=1
	else
		echo "passed  it says \"$text\""
	fi
}

for case in job closed_and_opened_again child_with_a_job_of_its_own child_that_execs others_see_nothing; do
	works "alone: $case" $inside $case
done
for case in job closed_and_opened_again child_that_execs others_see_nothing; do
	works "four ranks: $case" build/bin/oriel-run -n 4 $inside $case
done
refuses 'another process of this rank is in the job' build/bin/oriel-run -n 1 $inside child_with_a_job_of_its_own
for case in job closed_and_opened_again child_with_a_job_of_its_own; do
	works "softverbs in libibverbs' place: $case" $soft $inside $case
done
works "both in one job" build/bin/oriel-run -n 4 sh -c "test \$((ORIEL_RANK % 2)) = 1 || exec $soft $inside job; exec $inside job"
works "asked for by name" env ORIEL_DEVICE=soft $inside job
refuses 'no RDMA device named nothing' env ORIEL_DEVICE=nothing $inside job
works "no network" unshare -rn $inside job
works "no room in /dev/shm" unshare -rm sh -c "mount -t tmpfs -o size=16k none /dev/shm && exec build/bin/oriel-run -n 2 $inside job"
refuses 'this process may have 12; close some, or raise the limit (ulimit -n)' sh -c "ulimit -n 12; exec $inside job"
for device in '' soft; do
	refuses 'softverbs cannot be opened: shared memory (memfd_create): Operation not permitted' env ORIEL_DEVICE=$device $inside job_without_memory_files
done
exit $failed
