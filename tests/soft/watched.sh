#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# watched.sh - softverbs under tools that watch threads: ThreadSanitizer, plain and with an adversary, and helgrind
#
# usage: tests/soft/watched.sh, from the top of the tree. One line per run; status 1 if one was complained of. WATCHED_TIMES=2
# has twice as many rounds.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
times=${WATCHED_TIMES:-1}
# The slowest takes twenty seconds on an idle machine.
limit=$((120 * times * ${TESTS_SLOWNESS:-1}))
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

build() { # directory, flags
	make --no-print-directory -j"$(nproc)" -f lib/soft/soft.mk soft "$1/tests/soft/threads" "$1/tests/soft/ud_threads" \
		"$1/tests/soft/conform_cm" "$1/tests/soft/conform_cm_ud" "$1/tests/soft/conform_verbs" B="$1" CFLAGS="$2" >"$out/log" 2>&1 && return
	tail -n 5 "$out/log"
	failed=1
	return 1
}

run() { # name, directory, command...
	local name=$1 libs=$2/lib/soft
	shift 2
	if LD_LIBRARY_PATH=$libs timeout $limit "$@" >"$out/log" 2>&1; then
		echo "passed  $name"
	else
		echo "FAILED  $name (status $?)"
		head -n 40 "$out/log"
		failed=1
	fi
}

if command -v valgrind >/dev/null; then
	run "memcheck, registered files" build valgrind -q --error-exitcode=9 build/tests/soft/files
fi
if build build/tsan "-O1 -g -fsanitize=thread -Wno-tsan"; then
	run "thread sanitizer" build/tsan build/tsan/tests/soft/threads $((200 * times))
	for adversary in 1 2,disorder=50; do
		SOFTVERBS_ADVERSARY=$adversary run "thread sanitizer, adversary $adversary" build/tsan \
			build/tsan/tests/soft/threads $((100 * times))
	done
	run "thread sanitizer, unreliable" build/tsan build/tsan/tests/soft/threads $((100 * times)) uc
	SOFTVERBS_ADVERSARY=2,disorder=50 run "thread sanitizer, unreliable, adversary 2,disorder=50" build/tsan \
		build/tsan/tests/soft/threads $((50 * times)) uc
	run "thread sanitizer, datagrams" build/tsan build/tsan/tests/soft/ud_threads $((100 * times))
	for adversary in 1 2,disorder=50,lose=30; do
		SOFTVERBS_ADVERSARY=$adversary run "thread sanitizer, datagrams, adversary $adversary" build/tsan \
			build/tsan/tests/soft/ud_threads $((25 * times))
	done
	run "thread sanitizer, connection manager" build/tsan build/tsan/tests/soft/conform_cm
	run "thread sanitizer, connection manager, datagrams" build/tsan build/tsan/tests/soft/conform_cm_ud
	# A program that is built so, on softverbs that is not: the device's doings are no races.
	for program in conform_verbs threads ud_threads; do
		run "thread sanitizer, $program only" build build/tsan/tests/soft/$program
	done
fi
if command -v valgrind >/dev/null && build build/helgrind "-O1 -g -include tests/soft/helgrind.h"; then
	run "helgrind" build/helgrind valgrind --tool=helgrind -q --error-exitcode=9 --fair-sched=yes \
		build/helgrind/tests/soft/threads $((20 * times))
	run "helgrind, unreliable" build/helgrind valgrind --tool=helgrind -q --error-exitcode=9 --fair-sched=yes \
		build/helgrind/tests/soft/threads $((10 * times)) uc
	run "helgrind, datagrams" build/helgrind valgrind --tool=helgrind -q --error-exitcode=9 --fair-sched=yes \
		build/helgrind/tests/soft/ud_threads $((10 * times))
fi
exit $failed
