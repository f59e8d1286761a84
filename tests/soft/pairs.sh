# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# pairs.sh - a server and a client of one program; to be sourced. $limit bounds each, in seconds; $out is a directory
# that takes what they say.

# Ports that nobody else uses.
port=$((20000 + $$ % 20000))

# Wait until the server listens at a port, by TCP or by softverbs' rdma_cm, or has ended.
await_listener() { # port, server's process
	hex=$(printf '%04X' "$1")
	until grep -q ":$hex [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 || grep -qE "@softverbs-[0-9]+-cm[0-9]+-$1-" /proc/net/unix; do
		kill -0 "$2" 2>/dev/null || return 0
		sleep 0.02
	done
}

# Start "program args", then "program args address". @P is a port nobody else uses. Both have to succeed.
both() { # program, server's arguments, client's arguments
	port=$((port + 1))
	server=$(echo "$2" | sed "s/@P/$port/g")
	client=$(echo "$3" | sed "s/@P/$port/g")
	# shellcheck disable=SC2086
	timeout "$limit" $1 $server >"$out/server" 2>&1 &
	pid=$!
	await_listener $port $pid
	# shellcheck disable=SC2086
	timeout "$limit" $1 $client >"$out/client" 2>&1
	status=$?
	wait $pid
	other=$?
	[ $status -eq 0 ] && status=$other
	return $status
}
