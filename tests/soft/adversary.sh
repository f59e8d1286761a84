#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# adversary.sh - a job of Oriel on a device that misbehaves: the n-th call fails, for every n; the connection is cut;
# requests of one queue pair are carried out in another order. Each run has to end in time, with the right data or with
# an error that says what was the matter. And programs for any device, on one that is unkind and on one where calls fail.
#
# usage: tests/soft/adversary.sh [fail|cut|disorder|unreliable...], from the top of the tree, after `make tests`. One line per
# sweep; status 1 if a run ended in another way. ADVERSARY_EVERY=2 fails every second call: the odd ones of rank 0, the even ones
# of rank 1.
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=build/bin
parts=${*:-fail cut disorder unreliable}
calm=delay=0,late=0,reorder=0
calls_max=2000
every=${ADVERSARY_EVERY:-1}
limit=$((20 * ${TESTS_SLOWNESS:-1})) # seconds, of one run
failed=0
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

bad() {
	echo "FAILED  $*"
	tail -n 6 "$out/log" | cut -c1-300 | sed 's/^/        /'
	failed=$((failed + 1))
}

# A job in which rank $1 runs on the adversary $2, of $3 epochs; status in $status, output in the log.
job() {
	timeout -k 2 $limit $bin/oriel-run -n 2 --device soft --grace 8 build/tests/soft/job "$@" >"$out/log" 2>&1
	status=$?
}

# The n-th call of a rank fails, until there is no n-th.
sweep_calls() { # rank
	local n tried=0 told=0
	for ((n = 1 + $1 % every; n < calls_max; n += every)); do
		job "$1" "1,$calm,fail=$n"
		grep -q 'adversary lets call' "$out/log" || break
		sed -n 's/.*adversary lets call [0-9]* fail: //p' "$out/log" >>"$out/calls"
		[ $status -le 1 ] || bad "call $n of rank $1 ($(tail -n 1 "$out/calls")): status $status"
		tried=$((tried + 1)) told=$((told + status))
	done
	if [ $n -le 20 ] || [ $n -ge $calls_max ] || [ "$status" -ne 0 ]; then
		bad "rank $1: the sweep ended at call $n with status $status"
	fi
	echo "passed  $tried calls of rank $1 failed, one at a time; $told times the job said so, otherwise it went on"
}

# The connection of a rank is cut at some moment of its first 20 ms. A network tells nobody: the ranks have to find out,
# which takes them seconds, so several jobs run at once.
cut_once() { # rank, seed
	out=$out/$1.$2
	mkdir "$out"
	job "$1" "$2,$calm,cut=1" 2000000
	grep -q 'adversary cuts connection' "$out/log" && [ $status -eq 1 ]
}

sweep_cuts() {
	local seed rank pid jobs=()
	for seed in 1 2 3 4; do
		for rank in 0 1; do
			cut_once $rank $seed &
			jobs+=("$!:$rank.$seed")
		done
	done
	for pid in "${jobs[@]}"; do
		wait "${pid%%:*}" || { cp "$out/${pid#*:}/log" "$out/log" && bad "connection cut (rank.seed ${pid#*:})"; }
	done
	[ $failed -gt 0 ] || echo "passed  ${#jobs[@]} jobs whose connection was cut; each of them said so"
}

epochs() { # flags, first seed, number of seeds
	ORIEL_FLAGS=$1 SOFTVERBS_ADVERSARY=$2,disorder=50 timeout -k 2 $((5 * limit)) $bin/oriel-run -n 4 --device soft --timeout $((4 * limit)) \
		--grace 2 $bin/epochs --seed "$2" --seeds "$3" >"$out/log" 2>&1
}

# A program on softverbs, not of Oriel.
alone() { # adversary, program...
	local adversary=$1
	shift
	SOFTVERBS_ADVERSARY=$adversary LD_LIBRARY_PATH=build/lib/soft timeout -k 2 $limit "$@" >"$out/log" 2>&1
	status=$?
}

# Every case on an unkind device, and two processes.
sweep_unkind() {
	local adversary before=$failed
	for adversary in 1 2 3,disorder=50 4,disorder=50,twice=30; do
		alone $adversary build/tests/soft/conform_uc
		[ $status -eq 0 ] || bad "conform_uc, adversary $adversary: status $status"
		alone $adversary build/tests/soft/threads 50 uc
		[ $status -eq 0 ] || bad "threads uc, adversary $adversary: status $status"
	done
	[ $failed -gt "$before" ] || echo "passed  unreliable connections on an unkind device"
}

# The n-th call fails, until there is no n-th: the case fails or goes on, and ends by itself either way.
sweep_unreliable_calls() {
	local n before=$failed
	for ((n = 1; n < calls_max; n++)); do
		alone "1,$calm,fail=$n" build/tests/soft/conform_uc 'completions in order'
		grep -q 'adversary lets call' "$out/log" || break
		if [ $status -gt 1 ] || grep -q 'killed by signal' "$out/log"; then
			bad "unreliable, call $n: status $status"
		fi
	done
	if [ $n -le 20 ] || [ $n -eq $calls_max ] || [ "$status" -ne 0 ]; then
		bad "unreliable: the sweep ended at call $n with status $status"
	fi
	[ $failed -gt "$before" ] || echo "passed  $((n - 1)) calls of a case of unreliable connections failed, one at a time"
}

for part in $parts; do
	case $part in
	fail)
		sweep_calls 0
		sweep_calls 1
		echo "        calls that failed: $(sort -u "$out/calls" | tr '\n' ' ')"
		;;
	cut)
		sweep_cuts
		;;
	unreliable)
		sweep_unkind
		sweep_unreliable_calls
		;;
	disorder)
		for flags in atomic wait; do
			if epochs $flags 1 100; then
				echo "passed  epochs with ORIEL_FLAGS=$flags, seeds 1 to 100, requests in disorder"
			else
				bad "epochs with ORIEL_FLAGS=$flags, requests in disorder"
			fi
		done
		# Plain writes as flags rely on an order that this device does not keep: it has to show.
		if ORIEL_TIMEOUT=1 epochs write 3 1; then
			bad "epochs with ORIEL_FLAGS=write did not notice that requests are in disorder"
		else
			echo "passed  epochs with ORIEL_FLAGS=write notices that requests are in disorder"
		fi
		;;
	esac
done
[ $failed -eq 0 ]
