# SPDX-License-Identifier: BSD-2-Clause
# run.sh - run one side of one line of the plan, and keep what it measured: a line of JSON in $log

# What did not work is told, and not tried again in later rounds. Rivals' components differ in what they can do, so they may fail.
not_again=' '

fail_run() { # id, side
	not_again="$not_again$1@$2 "
	case $2 in
	openmpi-* | mpich)
		echo "$1: $2 cannot" >>"$out/left-out.txt"
		;;
	*)
		{ echo "== $1, $2"; tail -n 12 "$work/run.txt"; } >>"$out/failed.txt"
		echo "perf/compare: $1 of $2 failed; see $out/failed.txt" >&2
		;;
	esac
}

# Whoever is no rival has to work, and gets a second try: SoftRoCE of kernel 6.1 now and then leaves a message lying.
tried_again() { # id, side
	case $2 in
	openmpi-* | mpich) return 1 ;;
	esac
	echo "$1: $2 ended with an error or after $limit_s s, and was run once more" >>"$out/left-out.txt"
}

# A program that ends after so many seconds, or with this script.
limited() { # seconds, command...
	setpriv --pdeathsig TERM timeout -k 2 "$@"
}

# The command that starts ranks of a side; the program follows.
starter() { # side, ranks
	case $1 in
	openmpi-*)
		echo "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" \
			"mpirun.openmpi --oversubscribe --bind-to core -n $2 --mca osc ${1#openmpi-}"
		;;
	mpich) echo "mpirun.mpich -bind-to core -n $2" ;;
	on_openmpi) echo "$(starter openmpi-sm,rdma "$2") build/bin/oriel-mpi" ;;
	on_mpich) echo "$(starter mpich "$2") build/bin/oriel-mpi" ;;
	oriel-far) echo "build/bin/oriel-run -n $2 --grace 1 ${address:+--addr $address} $pin $soft $parts/apart" ;;
	raw) echo "build/bin/oriel-run -n $2 --grace 1 ${address:+--addr $address} $pin $soft" ;;
	*) echo "build/bin/oriel-run -n $2 --grace 1 --device $device ${address:+--addr $address} $pin" ;;
	esac
}

run_tool() { # id, side, tool, operations, sizes, options...
	local side=$2 tool=$3 n=$4 sizes=$5 ranks=2 program
	shift 5
	case ${1-} in
	-) shift ;;
	@*) ranks=${1#@} && shift ;;
	esac
	# Its fixed port may be somebody else's.
	[ "$side" != raw ] || set -- -p $((20000 + RANDOM % 10000)) "$@"
	[[ $* =~ (--neighbours|-q)\ ([0-9]+) ]] && ranks=$((BASH_REMATCH[2] + 1))
	program=${side%%-*}
	program=build/bin/${program#on_}_$tool
	[[ $tool == flush_lat || $tool == fop_lat || $tool == cas_lat ]] || set -- --sizes "$sizes" "$@"
	# shellcheck disable=SC2046 # words
	limited "$limit_s" $(starter "$side" "$ranks") "$program" -F -n "$n" \
		--out_json_file="$work/run.json" "$@" >"$work/run.txt" 2>&1 </dev/null && cat "$work/run.json"
}

run_limit() { # tool, turns, sizes
	limited "$limit_s" build/bin/shm_limit -n "$2" --sizes "$3" --out_json_file="$work/run.json" "$1" >"$work/run.txt" 2>&1 &&
		cat "$work/run.json"
}

await_listener() { # port, process
	local hex tries
	hex=$(printf '%04X' "$1")
	for ((tries = 0; tries < 500; tries++)); do
		grep -q ":$hex [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 && return 0
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.02
	done
	return 1
}

# Stock perftest has one size a run; its table becomes a row.
perftest_row() { # tool
	awk -v tool="$1" '
	$1 ~ /^[0-9]+$/ && tool ~ /lat/ && NF >= 9 {
		printf "{\"size_bytes\":%s,\"iterations\":%s,\"t_min_us\":%s,\"t_max_us\":%s,\"t_typical_us\":%s,", $1, $2, $3, $4, $5
		printf "\"t_avg_us\":%s,\"t_stdev_us\":%s,\"t_p99_us\":%s,\"t_p999_us\":%s}\n", $6, $7, $8, $9
		exit
	}
	$1 ~ /^[0-9]+$/ && tool ~ /bw/ && NF >= 5 {
		printf "{\"size_bytes\":%s,\"iterations\":%s,\"bw_peak_mbps\":%s,", $1, $2, $3
		printf "\"bw_average_mbps\":%s,\"msg_rate_mpps\":%s}\n", $4, $5
		exit
	}' "$work/run.txt"
}

run_perftest() { # tool, operations, sizes
	local program size server port options rows=
	case $1 in
	put_*) program=ib_write_${1#put_} ;;
	get_*) program=ib_read_${1#get_} ;;
	esac
	for size in ${3//,/ }; do
		port=$((20000 + RANDOM % 10000))
		options="-F -p $port -s $size -n $2"
		[ "$kind" = soft ] || options="$options -d $device"
		# shellcheck disable=SC2086 # words
		limited "$limit_s" $soft ${pin:+taskset -c 1} $program $options >/dev/null 2>&1 &
		server=$!
		await_listener $port $server || { wait $server; return 1; }
		# shellcheck disable=SC2086
		limited "$limit_s" $soft ${pin:+taskset -c 0} $program $options localhost >"$work/run.txt" 2>&1 ||
			{ wait $server; return 1; }
		wait $server
		rows="$rows${rows:+,}$(perftest_row "$1")"
	done
	echo "{\"tool\":\"$program\",\"backend\":\"perftest\",\"device\":\"$device\",\"ranks\":2,\"rows\":[$rows]}"
}

# Issue lines of softverbs' own test of speed, each a figure with its bound; repeated for the median.
run_speed() {
	limited 120 $soft build/tests/soft/speed >"$work/run.txt" 2>&1
	awk '
	match($0, /\((at most|at least) [0-9.]+\)/) {
		split(substr($0, RSTART + 1, RLENGTH - 2), bound, " ")
		what = substr($0, 1, 44); sub(/ +$/, "", what)
		split(substr($0, 45), value, " ")
		printf "%s{\"figure\":\"%s\",\"value\":%s,\"unit\":\"%s\",", n++ ? "," : "{\"tool\":\"speed\",\"rows\":[",
			what, value[1], value[2]
		printf "\"bar\":%s,\"at_most\":%s}", bound[3], bound[2] == "most" ? "true" : "false"
	}
	END { if (!n) exit 1; print "]}" }' "$work/run.txt"
}

run_many() {
	limited 120 $soft build/tests/soft/many >"$work/run.txt" 2>&1
	awk '
	/connections, made and ended/ {
		printf "{\"tool\":\"many\",\"rows\":[{\"figure\":\"rdma_cm connections\",\"value\":%s,", $(NF - 2)
		print "\"unit\":\"1/s\",\"bar\":2000,\"at_most\":false}]}"
		found = 1
	}
	END { exit !found }' "$work/run.txt"
}

run_side() { # id, side, tool, operations, sizes, options...
	case $2:$3 in
	*:speed) run_speed ;;
	*:many) run_many ;;
	shm:*_lat | shm:*_bw)
		if [ -x "build/bin/shm_$3" ]; then run_tool "$@"; else run_limit "$3" "$4" "$5"; fi ;;
	perftest:*) run_perftest "$3" "$4" "$5" ;;
	*) run_tool "$@" ;;
	esac
}

# How long a flag takes from one processor to the other, in nanoseconds. A virtual machine's two are
# now siblings on a core and now far apart, for minutes each, and everything between two ranks is up
# to five times as slow then.
distance_ns() {
	build/bin/shm_limit -n 5000 --sizes 8 --out_json_file="$work/run.json" flag_lat >/dev/null 2>&1 &&
		jq '.rows[0].t_typical_us * 1000 | round' "$work/run.json"
}

# Whether the processors have moved since.
moved_since() { # distance before
	[ -n "$pin" ] || return 1
	awk -v before="${1:-0}" -v now="$(distance_ns)" 'BEGIN { exit !(before && now && (now > 1.6 * before || before > 1.6 * now)) }'
}

run_and_keep() { # round, id, side, tool, operations, sizes, options...
	local round=$1 id=$2 side=$3 json
	shift
	[[ $not_again == *" $id@$side "* ]] && return
	if json=$(run_side "$@") || { tried_again "$id" "$side" && json=$(run_side "$@"); }; then
		jq -c --argjson round "$round" --arg id "$id" --arg side "$side" \
			'{round: $round, id: $id, side: $side} + .' <<<"$json" >>"$work/line.jsonl"
	else
		fail_run "$id" "$side"
	fi
}

# Every side in turn, another one first in every round. False: they were not measured on the same machine, which the last try
# does not ask about.
run_sides() { # round, id, sides, tool, operations, sizes, options...
	local sides i before
	read -ra sides <<<"$(sides_of "$3")"
	: >"$work/line.jsonl"
	[ -z "$pin" ] || [ -n "$last_try" ] || before=$(distance_ns)
	for ((i = 0; i < ${#sides[@]}; i++)); do
		run_and_keep "$1" "$2" "${sides[$(((i + $1) % ${#sides[@]}))]}" "${@:4}"
		[ -n "$last_try" ] || [ ${#sides[@]} -eq 1 ] || ! moved_since "$before" || return 1
	done
}

# One line of the plan. What was measured on two machines is measured again, twice at most; not by
# --quick, whose figures mean nothing.
run_line() { # round, id, sides, tool, operations, sizes, options...
	local tries n=$5 last_try=$quick
	[ -z "$quick" ] || n=$((n / 100 + 10))
	for ((tries = 0; tries < 3; tries++)); do
		[ $tries -lt 2 ] || last_try=1
		run_sides "${@:1:4}" "$n" "${@:6}" && break
		echo "$2: the processors moved in round $1; it is measured anew, at most twice" >>"$out/left-out.txt"
	done
	cat "$work/line.jsonl" >>"$log"
}

run_round() { # round
	local id sides tool n sizes options line=0
	while read -r id sides tool n sizes options; do
		case $id in '' | \#*) continue ;; esac
		[[ $id =~ $only ]] || continue
		line=$((line + 1))
		[ -t 2 ] && printf '\r\033[Kround %d: %s' "$1" "$id" >&2
		# shellcheck disable=SC2086 # words
		run_line "$1" "$id" "$sides" "$tool" "$n" "$sizes" $options
	done <"$parts/plan.$kind"
	[ -t 2 ] && printf '\r\033[K' >&2
	return 0
}
