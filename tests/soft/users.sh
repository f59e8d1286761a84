#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# users.sh - who reaches whom on softverbs: processes of one user do, and where the kernel restricts access to other
# processes' memory (Yama) with the same bytes; those of two users do not, and are told so. Root only, for it acts as
# two users.
#
# usage: tests/soft/users.sh DIRECTORY-OF-THE-LIBRARIES DIRECTORY-OF-THE-TESTS. One line per case; the last line is
# "soft_users: N passed, N failed, N skipped".
set -u
export LD_LIBRARY_PATH=$1
tests=$2
scope=/proc/sys/kernel/yama/ptrace_scope
passed=0 failed=0 skipped=0
finish() {
	echo "soft_users: $passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
	exit
}
for program in setpriv ibv_rc_pingpong rping; do
	if [ "$(id -u)" -ne 0 ] || ! command -v $program >/dev/null; then
		echo "skip users: this needs root and $program"
		skipped=1
		finish
	fi
done
out=$(mktemp -d) || exit 1
chmod 755 "$out"
limit=$((20 * ${TESTS_SLOWNESS:-1}))
# shellcheck source=tests/soft/pairs.sh
. "$(dirname "$0")/pairs.sh"

# The libraries and programs, where another user can read them.
cp "$1"/*.so.1 "$tests"/death "$tests"/conform_ext "$out" || exit 1
chmod 755 "$out"/*
LD_LIBRARY_PATH=$out
old_scope=$(cat $scope 2>/dev/null)
tidy() {
	[ -z "$old_scope" ] || echo "$old_scope" >$scope
	rm -rf "$out"
}
trap tidy EXIT

other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

passes() {
	echo "ok $1"
	passed=$((passed + 1))
}

fails() {
	echo "not ok $1: $2"
	sed 's/^/# /' "$out/client.log"
	failed=$((failed + 1))
}

works() { # name, status
	if [ "$2" -eq 0 ]; then passes "$1"; else fails "$1" "status $2"; fi
}

# The client ends by itself, with an error that it tells: neither by the limit nor by a signal, nor in silence.
refused() { # name, status, what the client has to say
	if [ "$2" -eq 0 ] || { [ "$2" -ge 124 ] && [ "$2" -lt 255 ]; }; then
		fails "$1" "status $2"
	elif ! grep -qE "$3" "$out/client.log"; then
		fails "$1" "nothing is said of $3"
	else
		passes "$1"
	fi
}

# A program as server by one user and as client by another one; the client's status.
between() { # server's user, client's user, program, server's options, client's options
	local server status
	next_port
	# shellcheck disable=SC2086
	$1 timeout $limit $3 $4 -p $port >"$out/server.log" 2>&1 &
	server=$!
	await_listener $port $server
	# shellcheck disable=SC2086
	$2 timeout $limit $3 $5 -p $port >"$out/client.log" 2>&1
	status=$?
	kill $server 2>/dev/null
	wait $server 2>/dev/null
	return $status
}

pingpong() { between "$1" "$2" ibv_rc_pingpong "-c -s 100000 -n 100" "-c -s 100000 -n 100 127.0.0.1"; }
ping_cm() { between "$1" "$2" rping "-s -a 127.0.0.1 -C 10 -V" "-c -a 127.0.0.1 -C 10 -V"; }

unheard='transport retry counter exceeded'
nobody='RDMA_CM_EVENT_(UNREACHABLE|REJECTED|CONNECT_ERROR)|ECONNREFUSED|Connection refused'

# Nothing is restricted, where it could be.
{ echo 0 >$scope; } 2>/dev/null
pingpong other other
works "one user, by queue pair number" $?
ping_cm other other
works "one user, by connection manager" $?
pingpong "" other
refused "two users do not reach each other by queue pair number" $? "$unheard"
pingpong other ""
refused "nor does root reach another user" $? "$unheard"
ping_cm "" other
refused "two users do not reach each other by connection manager" $? "$nobody"
ping_cm other ""
refused "nor does root, by connection manager" $? "$nobody"

# Neither process is the other's child, so one user's reach each other by ring only.
for restriction in 1 2; do
	if ! { echo $restriction >$scope; } 2>/dev/null; then
		echo "skip ptrace_scope $restriction: the kernel has none, or it cannot be set"
		skipped=$((skipped + 1))
		continue
	fi
	pingpong other other
	works "ptrace_scope $restriction: large messages" $?
	other timeout 60 "$out/death" >"$out/client.log" 2>&1
	works "ptrace_scope $restriction: death" $?
	other timeout 60 "$out/conform_ext" immediate >"$out/client.log" 2>&1
	works "ptrace_scope $restriction: large write with immediate" $?
	pingpong "" other
	refused "ptrace_scope $restriction: two users, by queue pair number" $? "$unheard"
	ping_cm other ""
	refused "ptrace_scope $restriction: two users, by connection manager" $? "$nobody"
done
finish
