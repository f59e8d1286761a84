#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# others.sh - what others have written for verbs, on softverbs: rdma-core's own tests and some of
# its programs, UCX, libfabric, and MPIs on top of them
#
# usage: tests/soft/others.sh [GROUP...], from the top of the tree, after `make tests`, with GROUP one of rdma_core, rdmacm, ucx,
# libfabric, mpi; `tests/soft/others.sh --rxe [GROUP...]` does the same on rxe0, and `tests/soft/others.sh --table` prints the outcomes on both as
# they stand in others.md, which takes ten minutes, most of them for what UCX says when it aborts in the virtual machine.
#
# A line for each: "ok NAME", "not ok NAME: why", or "skip NAME: why" where the device says that it
# does not have what is needed. What others.md has as passed must not be skipped any more. The last
# line is "soft_others: N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.." || exit 1
table=tests/soft/others.md
groups_all="rdma_core rdmacm ucx libfabric mpi"
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
# The slowest takes seconds on an idle machine; this is for a machine that is not. What does not heed SIGTERM is killed.
limit=$((60 * ${TESTS_SLOWNESS:-1}))
bounded="timeout -k 10 $limit"
# shellcheck source=tests/soft/pairs.sh
. tests/soft/pairs.sh
# shellcheck source=tests/mpi/versions.sh
. tests/mpi/versions.sh
# UCX prints why it gives up, without a backtrace, which takes long.
export UCX_HANDLE_ERRORS=none

# The command that starts a program, the device, and its address.
before=build/bin/oriel-soft device=soft0 address=127.0.0.1
on_rxe() {
	before=env device=rxe0 address=10.99.0.1
}

say() { # ok, skip, not ok; name; why
	echo "$1 $2${3:+: $3}"
}

# The line that tells best what was the matter, without what differs from run to run.
why() { # file...
	local pattern line=
	for pattern in 'does not support' 'error|fail|unsupported|wrong'; do
		[ -n "$line" ] || line=$(grep -hiE "$pattern" "$@" 2>/dev/null | tail -n 1)
	done
	[ -n "$line" ] || line=$(tail -qn 1 "$@" | tail -n 1)
	sed -E 's/^.* UCX +ERROR +//; s/0x[0-9a-f]+/0x.../g' <<<"$line" | cut -c1-150
}

installed() { # program, names
	command -v "$1" >/dev/null && return 0
	shift
	for name; do say skip "$name" "it is not installed"; done
	return 1
}

# ---- rdma-core ----

# Finds its tests: in the documentation of python3-pyverbs or, on images without documentation, in the package.
rdma_core_tests() {
	local dir=build/test/rdma-core found
	for found in /usr/share/doc/rdma-core "$dir/usr/share/doc/rdma-core"; do
		[ ! -e "$found/tests/test_pd.py" ] || break
	done
	if [ ! -e "$found/tests/test_pd.py" ]; then
		mkdir -p $dir && (cd $dir && apt-get -q -o APT::Sandbox::User=root download python3-pyverbs && dpkg-deb -x python3-pyverbs_*.deb .)
	fi >/dev/null 2>&1
	[ -e "$found/tests/test_pd.py" ] && cp -r "$found/tests" "$out" && chmod -R u+w "$out/tests" &&
		find "$out/tests" -name '*.gz' -exec gunzip {} +
}

run_rdma_core() {
	if ! /usr/bin/python3 -c 'import pyverbs' 2>/dev/null || ! rdma_core_tests; then
		say skip rdma_core "python3-pyverbs is not installed, or its tests are not there"
		return
	fi
	$bounded $before /usr/bin/python3 tests/soft/rdma_core.py "$out" $address >"$out/rdma_core" 2>"$out/errors"
	grep -E '^(ok|skip|not ok) ' "$out/rdma_core"
	grep -q '^rdma_core: ' "$out/rdma_core" || say "not ok" rdma_core "$(why "$out/errors")"
}

# ---- programs of librdmacm that stock.sh, which is for what softverbs has, does not run ----

# A listener of rdma_cm is not to be seen from outside on rxe: the client tries again while nobody takes it, and the server, which
# may not end by itself, is told to.
cm_test() { # name, server, client
	local name=$1 pid status end=$((SECONDS + limit))
	$bounded $before $2 >"$out/server" 2>&1 &
	pid=$!
	while
		$bounded $before $3 >"$out/client" 2>&1
		status=$?
		grep -qE 'refused|REJECTED' "$out/client" && kill -0 $pid 2>/dev/null && [ $SECONDS -lt $end ]
	do
		sleep 0.1
	done
	kill $pid 2>/dev/null
	wait $pid
	if [ $status -eq 0 ] && ! grep -q REJECTED "$out/client"; then
		say ok "$name"
	elif grep -q 'Operation not supported' "$out/client"; then
		say skip "$name" "$(why "$out/client")"
	else
		say "not ok" "$name" "$(why "$out/client")"
	fi
}

# The sender starts when the receiver has joined, or has ended in vain.
mckey_test() {
	$bounded $before stdbuf -oL mckey -m 239.1.1.1 -b $address >"$out/server" 2>&1 &
	local pid=$!
	until grep -q 'receiving data' "$out/server" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	if $bounded $before mckey -m 239.1.1.1 -b $address -s >"$out/client" 2>&1 && wait $pid; then
		say ok mckey
	elif grep -q 'Operation not supported' "$out/client"; then
		say skip mckey "$(grep -m 1 'Operation not supported' "$out/client")"
	else
		say "not ok" mckey "$(why "$out/client")"
	fi
}

run_rdmacm() {
	installed rstream cmtime rstream riostream rcopy mckey || return
	next_port
	cm_test cmtime "cmtime -b $address -p $port -c 50" "cmtime -s $address -p $port -c 50"
	local few="-p $port -S 4000 -I 10 -C 10"
	cm_test rstream "rstream -b $address $few" "rstream -s $address $few"
	cm_test riostream "riostream -b $address $few" "riostream -s $address $few"
	cp tests/soft/others.md "$out/sent"
	cm_test rcopy "rcopy -p $port" "rcopy $out/sent $address:$out/received -p $port"
	mckey_test
}

# ---- UCX ----

# One test of ucx_perftest, between two processes. One that is linked with an MPI wants the MPI's starter otherwise.
ucx_test() { # name, arguments
	local few="-n 1000 -w 10 -f"
	! ucx_perftest -h 2>&1 | grep -q '^ *-P ' || few="$few -P 0"
	both "$before ucx_perftest" "-p @P $2 $few" "-p @P $2 $few $address"
	local status=$?
	if [ $status -eq 0 ]; then
		say ok "$1"
	elif grep -qi 'does not support' "$out/client"; then
		say skip "$1" "$(why "$out/client")"
	else
		say "not ok" "$1" "$(why "$out/client"); its server: $(why "$out/server")"
	fi
}

uct='ucx_am_lat -t am_lat
ucx_am_lat_events -t am_lat -e
ucx_am_bw_zcopy -t am_bw -s 8000 -D zcopy
ucx_put_lat -t put_lat
ucx_put_bw -t put_bw
ucx_put_bw_bcopy -t put_bw -s 8000 -D bcopy
ucx_put_bw_zcopy -t put_bw -s 100000 -D zcopy
ucx_get_bcopy -t get -D bcopy
ucx_get_zcopy -t get -s 100000 -D zcopy
ucx_add_lat -t add_lat
ucx_add_rate -t add_mr
ucx_fadd -t fadd
ucx_cswap -t cswap
ucx_swap -t swap'
ucp='ucp_tag_lat -t tag_lat
ucp_tag_bw -t tag_bw -s 100000
ucp_stream_bw -t stream_bw -s 100000
ucp_put_lat -t ucp_put_lat
ucp_put_bw -t ucp_put_bw -s 100000
ucp_get -t ucp_get -s 100000
ucp_add -t ucp_add
ucp_fadd -t ucp_fadd
ucp_swap -t ucp_swap
ucp_cswap -t ucp_cswap
ucp_am_bw -t ucp_am_bw -s 100000'

# UCX has connections made by datagrams.
has_datagrams() {
	$before ucx_info -d 2>&1 | awk '/Transport:/ { ud = /ud_verbs/ } ud && /max eps/ { found = 1 } END { exit !found }'
}

run_ucx() {
	local name arguments
	# shellcheck disable=SC2046
	installed ucx_perftest $(printf '%s\n' ucx_info "$uct" "$ucp" | cut -d' ' -f1) || return
	if $before ucx_info -d 2>"$out/client" | grep -q "Device: $device:1"; then
		say ok ucx_info
	else
		say "not ok" ucx_info "UCX does not take the device"
	fi
	while read -r name arguments; do
		ucx_test "$name" "-d $device:1 -x rc_verbs $arguments"
	done <<<"$uct"
	while read -r name arguments; do
		if has_datagrams; then
			UCX_TLS=rc_v,self UCX_NET_DEVICES=$device:1 ucx_test "$name" "$arguments"
		else
			say skip "$name" "UCX connects by datagrams (UD), which the device does not have"
		fi
	done <<<"$ucp"
}

# ---- libfabric ----

fi_test() { # name, provider, kind of endpoint
	both "$before fi_pingpong" "-B @P -I 100 -c -p $2 -e $3" "-P @P -I 100 -c -p $2 -e $3 $address"
	local status=$?
	if [ $status -eq 0 ]; then
		say ok "$1"
	elif grep -q 'fi_getinfo.*No data available' "$out/server"; then
		say skip "$1" "the provider has no such endpoint on this device"
	else
		say "not ok" "$1" "$(why "$out/client" "$out/server")"
	fi
}

run_libfabric() {
	installed fi_pingpong fi_info fi_msg fi_rdm fi_dgram || return
	if $before fi_info -p verbs 2>/dev/null | grep -q "domain: $device"; then
		say ok fi_info
	else
		say "not ok" fi_info "libfabric does not take the device"
	fi
	fi_test fi_msg verbs msg
	# rxm destroys its queue pair once it sees that the peer has disconnected, and so discards completions that it has not polled,
	# as on a card. By default it looks for that every 10 ms. A process that gets no processor then often finds it before its last
	# completion, and fails.
	FI_OFI_RXM_CM_PROGRESS_INTERVAL=1000000 fi_test fi_rdm "verbs;ofi_rxm" rdm
	fi_test fi_dgram verbs dgram
}

# ---- MPIs ----

mpi_test() { # name, command
	local name=$1
	shift
	if $bounded $before "$@" >"$out/client" 2>&1 && grep -q '2 ranks exchanged' "$out/client"; then
		say ok "$name"
	else
		say "not ok" "$name" "$(why "$out/client")"
		tail -n 30 "$out/client" | sed 's/^/# /'
	fi
}

# The MPI's own name for a way, and whether it needs datagrams.
mpi_by_datagrams() { # name, command
	if has_datagrams; then
		UCX_TLS=rc_v,self UCX_NET_DEVICES=$device:1 mpi_test "$@"
	else
		say skip "$1" "it connects by datagrams (UD), which the device does not have"
	fi
}

run_mpi() {
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
	if installed mpirun.openmpi openmpi_ofi openmpi_openib openmpi_ucx; then
		mpi_test openmpi_ofi mpirun.openmpi -n 2 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' build/tests/mpi/exchange-openmpi
		# Of Open MPI 4. Without its warning that it has no parameters for the device: where both
		# ranks send it at once, mpirun now and then cannot read it
		# ("Data unpack would read past end of buffer"), and hangs.
		if open_mpi_is_5; then
			say skip openmpi_openib "Open MPI 5 has it no more"
		else
			mpi_by_datagrams openmpi_openib mpirun.openmpi -n 2 --mca pml ob1 --mca btl openib,self --mca btl_openib_allow_ib 1 \
				--mca btl_openib_warn_no_device_params_found 0 build/tests/mpi/exchange-openmpi
		fi
		mpi_by_datagrams openmpi_ucx mpirun.openmpi -n 2 --mca pml ucx --mca osc ucx build/tests/mpi/exchange-openmpi
	fi
	installed mpiexec.mpich mpich_ucx || return
	mpi_by_datagrams mpich_ucx mpiexec.mpich -n 2 build/tests/mpi/exchange-mpich
}

# ---- all of it ----

run_groups() {
	local group groups=${*:-$groups_all}
	for group in $groups; do
		run_"$group"
	done
}

# "name|outcome" of lines; of the table, "name|softverbs".
outcomes() { sed -nE 's/^ok ([^ :]+).*/\1|passed/p; s/^not ok ([^ :]+).*/\1|failed/p; s/^skip ([^ :]+): (.*)/\1|skipped: \2/p' "$1"; }
# Newer versions than the table's have some no more, and say so.
gone() {
	! open_mpi_is_5 || echo openmpi_openib
	[ "$(pkg-config --modversion libibverbs | cut -d. -f3)" -le 44 ] || echo test_odp.OdpTestCase.test_odp_implicit_rc_traffic
}
passed_before() { sed -nE 's/^\| ([^ |]+) \| passed \|.*/\1/p' $table | grep -vxFf <(gone; echo /); }

print_table() {
	run_groups >"$out/soft.lines"
	tests/vm/run --vm --timeout 900 -- tests/soft/others.sh --rxe >"$out/rxe.lines" 2>&1
	outcomes "$out/soft.lines" >"$out/soft.names"
	outcomes "$out/rxe.lines" | sort >"$out/rxe.names"
	while IFS='|' read -r name soft; do
		echo "| $name | $soft | $(awk -F'|' -v name="$name" '$1 == name { print $2 }' "$out/rxe.names") |"
	done <"$out/soft.names"
}

case ${1:-} in
--table)
	print_table
	exit
	;;
--rxe)
	shift
	on_rxe
	run_groups "$@"
	exit
	;;
esac
passed_before >"$out/before"
# What passed before and is skipped now fails. Each line is printed when its program has ended: a hang shows behind which.
run_groups "$@" | sed -uE "s/^skip ($(paste -sd'|' "$out/before")):/not ok \1: it passed before, and is skipped now:/" | tee "$out/lines"
counted() { grep -cE "^$1 " "$out/lines"; }
failed=$(counted "not ok")
echo "soft_others: $(counted ok) passed, $failed failed, $(counted skip) skipped"
[ "$failed" -eq 0 ]
