# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# pairs.sh - a server and a client of one program; to be sourced. $limit bounds each, in seconds; $out is a directory
# that takes what they say.

# A hundred ports for each script that runs at the same time, below those that the kernel gives away.
port=$((20000 + $$ % 120 * 100))

listens() { # port: somebody does, by TCP or by softverbs' rdma_cm
	hex=$(printf '%04X' "$1")
	grep -q ":$hex [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 || grep -qE "@softverbs-[0-9]+-cm[0-9]+-$1-" /proc/net/unix
}

# Go on to the next port that nobody uses.
next_port() {
	port=$((port + 1))
	while listens $port; do port=$((port + 1)); done
}

# Wait until the server listens at a port, or has ended.
await_listener() { # port, server's process
	until listens "$1"; do
		kill -0 "$2" 2>/dev/null || return 0
		sleep 0.02
	done
}

# Start "program args", then "program args address". @P is a port nobody else uses. Both have to succeed.
both() { # program, server's arguments, client's arguments
	next_port
	server=$(echo "$2" | sed "s/@P/$port/g")
	client=$(echo "$3" | sed "s/@P/$port/g")
	# shellcheck disable=SC2086
	timeout -k 10 "$limit" $1 $server >"$out/server" 2>&1 &
	pid=$!
	await_listener $port $pid
	# shellcheck disable=SC2086
	timeout -k 10 "$limit" $1 $client >"$out/client" 2>&1
	status=$?
	wait $pid
	other=$?
	[ $status -eq 0 ] && status=$other
	return $status
}
