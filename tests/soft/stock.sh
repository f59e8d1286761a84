#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Stock programs on softverbs, between two processes each. Usage: stock.sh DIRECTORY-OF-THE-LIBRARIES [pattern]
# One line per program; status 1 if one fails, 77 if none of them is installed.
LD_LIBRARY_PATH=$1
export LD_LIBRARY_PATH
pattern=${2:-.}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0
ran=0
# shellcheck source=tests/soft/pairs.sh
. "$(dirname "$0")/pairs.sh"
# The slowest takes seconds on an idle machine; this is for a machine that is not.
limit=$((120 * ${TESTS_SLOWNESS:-1}))

report() { # name, status
	ran=$((ran + 1))
	if [ "$2" -eq 0 ]; then
		echo "passed  $1"
	else
		echo "FAILED  $1 (status $2)"
		tail -n 5 "$out"/* 2>/dev/null | sed 's/^/        /'
		failed=$((failed + 1))
	fi
}

single() { # command ...
	command -v "$1" >/dev/null && echo "$*" | grep -q "$pattern" || return 0
	timeout $limit "$@" >"$out/single" 2>&1
	report "$*" $?
}

# perftest measures the frequency of the clock itself, a size a time, and gives up where other
# programs disturb that: it is run again.
pair() {
	command -v "$1" >/dev/null && echo "$1 $2" | grep -q -- "$pattern" || return 0
	for again in 1 2 3 4 5 6 7 8 9 10; do
		both "$@"
		result=$?
		[ $result -ne 0 ] && [ $again -lt 10 ] && grep -q 'Correlation coefficient' "$out/client" "$out/server" || break
	done
	report "$1 $2" $result
}

single ibv_devices
single ibv_devinfo -v
pair ibv_rc_pingpong "-c -p @P" "-c -p @P 127.0.0.1"
pair ibv_rc_pingpong "-c -e -p @P" "-c -e -p @P 127.0.0.1"
pair ibv_rc_pingpong "-c -N -p @P" "-c -N -p @P 127.0.0.1"
pair ibv_rc_pingpong "-c -g 1 -s 100000 -p @P" "-c -g 1 -s 100000 -p @P 127.0.0.1"
pair ibv_rc_pingpong "-c -t -p @P" "-c -t -p @P 127.0.0.1"
pair ibv_srq_pingpong "-c -p @P" "-c -p @P 127.0.0.1"
pair ibv_srq_pingpong "-c -e -p @P" "-c -e -p @P 127.0.0.1"
pair ibv_ud_pingpong "-c -p @P" "-c -p @P 127.0.0.1"
pair ibv_ud_pingpong "-c -e -p @P" "-c -e -p @P 127.0.0.1"
pair ibv_ud_pingpong "-c -g 1 -s 4000 -p @P" "-c -g 1 -s 4000 -p @P 127.0.0.1"
pair ibv_uc_pingpong "-c -p @P" "-c -p @P 127.0.0.1"
pair ibv_uc_pingpong "-c -e -s 100000 -p @P" "-c -e -s 100000 -p @P 127.0.0.1"
pair rping "-s -a 127.0.0.1 -p @P -C 100 -V" "-c -a 127.0.0.1 -p @P -C 100 -V"
pair rping "-s -a ::1 -p @P -C 100 -V" "-c -a ::1 -p @P -C 100 -V"
pair rping "-s -q -a 127.0.0.1 -p @P -C 100 -V" "-c -q -a 127.0.0.1 -p @P -C 100 -V"
pair ucmatose "-p @P -c 10" "-s 127.0.0.1 -p @P -c 10"
pair ucmatose "-p @P -m" "-s 127.0.0.1 -p @P -m"

# The port is the program's own: tests that run beside this one take turns.
at_its_port() { # program, port, server's arguments, client's arguments
	command -v "$1" >/dev/null && echo "$1 $4" | grep -q -- "$pattern" || return 0
	(
		flock 9
		# shellcheck disable=SC2086
		timeout $limit $1 $3 >"$out/server" 2>&1 &
		pid=$!
		await_listener "$2" $pid
		# shellcheck disable=SC2086
		timeout $limit $1 $4 >"$out/client" 2>&1 && wait $pid
	) 9>"${TMPDIR:-/tmp}/softverbs-$1-$(id -u)"
	report "$1 $4" $?
}

at_its_port udaddy 7174 "-c 3" "-s 127.0.0.1 -c 3"
at_its_port udaddy 7174 "-b ::1 -C 100 -S 4000" "-s ::1 -C 100 -S 4000"

command -v rdma_server >/dev/null && echo rdma_server | grep -q "$pattern" && {
	next_port
	timeout $limit rdma_server -p $port >"$out/server" 2>&1 &
	pid=$!
	await_listener $port $pid
	timeout $limit rdma_client -s 127.0.0.1 -p $port >"$out/client" 2>&1
	status=$?
	wait $pid || status=1
	report "rdma_server and rdma_client" $status
}

for way in "" "-R"; do
	for tool in ib_write_lat ib_write_bw ib_read_lat ib_read_bw ib_send_lat ib_send_bw ib_atomic_lat ib_atomic_bw; do
		pair $tool "$way -p @P" "$way -p @P 127.0.0.1"
	done
done
# All sizes, up to 8 MiB, 5,000 times each would copy 80 GB.
pair ib_write_bw "-a -n 100 -p @P" "-a -n 100 -p @P 127.0.0.1"
pair ib_send_bw "-a -n 100 -b -p @P" "-a -n 100 -b -p @P 127.0.0.1"
pair ib_read_bw "-q 4 -b -p @P" "-q 4 -b -p @P 127.0.0.1"
pair ib_send_lat "-e -p @P" "-e -p @P 127.0.0.1"
for tool in ib_send_lat ib_send_bw; do
	pair $tool "-c UD -p @P" "-c UD -p @P 127.0.0.1"
done
for tool in ib_write_lat ib_write_bw ib_send_lat ib_send_bw; do
	pair $tool "-c UC -p @P" "-c UC -p @P 127.0.0.1"
done
pair ib_send_bw "-c UC -a -n 100 -b -p @P" "-c UC -a -n 100 -b -p @P 127.0.0.1"
pair ib_send_bw "-c UD -a -b -q 2 -p @P" "-c UD -a -b -q 2 -p @P 127.0.0.1"

[ $ran -eq 0 ] && exit 77
echo "$((ran - failed)) of $ran passed"
[ $failed -eq 0 ]
