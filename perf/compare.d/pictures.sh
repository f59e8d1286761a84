# SPDX-License-Identifier: BSD-2-Clause
# pictures.sh - draw what compare.json says, as SVG and PNG, where gnuplot is there

# The cells of one id as a file for gnuplot: a block a side, "size median low high", with the side as its title.
curve_data() { # id, file
	jq -r --arg id "$1" '[.cells[] | select(.id == $id and .size_bytes)] | group_by(.side)[] | "\"\(.[0].side)\"",
		(sort_by(.size_bytes)[] | "\(.size_bytes) \(.median) \(.low) \(.high)"), "", ""' "$out/compare.json" >"$2"
}

# The ratio of one side to another, by size.
ratio_data() { # ids, side, against, file
	local id
	for id in $1; do
		jq -r --arg id "$id" --arg a "$2" --arg b "$3" '
			[.cells[] | select(.id == $id and .size_bytes)] as $all
			| "\"\($id)\"", ([$all[] | select(.side == $a)] | sort_by(.size_bytes)[] as $x
			| $all[] | select(.side == $b and .size_bytes == $x.size_bytes)
			| "\($x.size_bytes) \($x.median / .median)"), "", ""' "$out/compare.json"
	done >"$4"
}

# Both kinds of picture of one plot; the commands come on standard input.
draw() { # name
	local script
	script=$(cat)
	for terminal in 'svg size 720,400 dynamic font "sans,12"|svg' 'pngcairo size 960,600 font "sans,12"|png'; do
		gnuplot <<-END 2>>"$work/gnuplot.txt" || echo "perf/compare: gnuplot could not draw $1; see $work/gnuplot.txt" >&2
			set terminal ${terminal%|*}
			set output "$out/$1.${terminal#*|}"
			set key outside right top noenhanced
			set grid
			set style data linespoints
			$script
		END
	done
}

curves() { # name, id, title, unit
	curve_data "$2" "$work/$1.data"
	[ "$(grep -c '^"' "$work/$1.data")" -gt 0 ] || return 0
	draw "$1" <<-END
		set logscale x 2
		set logscale y
		set format x '%.0b%BB'
		set xlabel 'bytes'
		set ylabel '$4'
		set title '$3'
		plot for [i=0:$(($(grep -c '^"' "$work/$1.data") - 1))] '$work/$1.data' index i using 1:2 title columnheader(1) lw 2
	END
}

ratio_curves() { # name, ids, side, against, title
	ratio_data "$2" "$3" "$4" "$work/$1.data"
	grep -q '^[0-9]' "$work/$1.data" || return 0
	draw "$1" <<-END
		set logscale x 2
		set format x '%.0b%BB'
		set yrange [0:*]
		set xlabel 'bytes'
		set ylabel 'ratio'
		set title '$5'
		plot for [i=0:$(($(grep -c '^"' "$work/$1.data") - 1))] \\
			'$work/$1.data' index i using 1:2 title columnheader(1) lw 2, 1 title '' lc rgb 'black' dt 2
	END
}

pictures_soft() {
	local window sync
	for window in allocate create; do
		for sync in pscw fence; do
			curves "put_lat-$window-$sync" "put_lat.$window.$sync" "put latency, $window, $sync, softverbs" us
		done
		curves "put_bw-$window" "put_bw.$window.pscw" "put bandwidth, $window, pscw, softverbs" MB/s
	done
	ratio_curves ratio-limit "put_lat.allocate.pscw put_lat.allocate.fence put_lat.create.pscw put_lat.create.fence" oriel shm \
		'latency of Oriel in terms of bare shared memory'
	ratio_curves ratio-raw "put_lat.allocate.pscw put_lat.allocate.fence put_lat.flush get_lat.flush" oriel raw \
		'latency of Oriel in terms of raw verbs, softverbs'
}

pictures_rdma() {
	curves rdma-put_lat put_lat.flush "put ping-pong, $device" us
	curves rdma-get_lat get_lat.flush "get latency, $device" us
	curves rdma-put_bw put_bw.flush "put bandwidth, $device" MB/s
	curves rdma-get_bw get_bw.flush "get bandwidth, $device" MB/s
	ratio_curves rdma-ratio-raw "put_lat.flush get_lat.flush" oriel raw "latency of Oriel in terms of raw verbs, $device"
}

# A picture a scaling program: its rows' first number along the bottom, each other number a curve.
pictures_scale() {
	local program
	for program in $(jq -r '.[].program' "$work/scale.json"); do
		jq -r --arg program "$program" '.[] | select(.program == $program) | .rows
			| (.[0] | keys_unsorted | map("\"\(.)\"") | join(" ")), (.[] | [.[]] | map(tostring) | join(" "))' \
			"$work/scale.json" >"$work/$program.data"
		draw "scaling-$program" <<-END
			set logscale xy
			set xlabel '$(head -n 1 "$work/$program.data" | cut -d '"' -f 2)'
			set title '$program, $device'
			plot for [i=2:$(head -n 1 "$work/$program.data" | wc -w)] \\
				'$work/$program.data' using 1:i title columnheader(i) lw 2
		END
	done
}

pictures() {
	command -v gnuplot >/dev/null || {
		echo "perf/compare: no gnuplot, so no pictures; run tests/deps perf" >&2
		return 0
	}
	"pictures_$kind"
	pictures_scale
}
