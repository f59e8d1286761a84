# SPDX-License-Identifier: BSD-2-Clause
# find.sh - what this machine has: the device, the rivals, stock perftest; the layer for MPI
# programs; sets kind, device, and the function sides_of

# The rivals. Open MPI takes its component by --mca osc; those that cannot make a window of one kind fail in the first round
# and are left out of that comparison.
openmpi_sides='openmpi-sm openmpi-rdma openmpi-ucx openmpi-pt2pt'
mpich_sides='mpich'

find_device() {
	if [ "$device" = auto ]; then
		device=$(ls /sys/class/infiniband 2>/dev/null | head -n 1)
		device=${device:-soft}
	fi
	kind=rdma
	[ "$device" = soft ] && kind=soft
	soft=
	[ "$kind" = soft ] && soft=build/bin/oriel-soft
	address=127.0.0.1
	[ "$kind" = soft ] || address=$(device_address)
}

# What rdma_cm needs: an address of the network interface that the device is on.
device_address() {
	local interface
	interface=$(cat "/sys/class/infiniband/$device/ports/1/gid_attrs/ndevs/0" 2>/dev/null ||
		ls "/sys/class/infiniband/$device/device/net" | head -n 1)
	ip -o -4 address show dev "$interface" 2>/dev/null | awk '{ sub("/.*", "", $4); print $4; exit }'
}

find_rivals() {
	local rival
	rivals=
	[ -z "$quick" ] || openmpi_sides=openmpi-sm
	[ "$kind" = soft ] || return 0
	[ -x build/bin/openmpi_put_lat ] && command -v mpirun.openmpi >/dev/null && rivals=$openmpi_sides
	[ -x build/bin/mpich_put_lat ] && command -v mpirun.mpich >/dev/null && rivals="$rivals $mpich_sides"
	for rival in openmpi mpich; do
		command -v mpirun.$rival >/dev/null && [ ! -x build/bin/${rival}_put_lat ] &&
			echo "perf/compare: $rival is installed, but mpicc.$rival does not compile a program with mpi.h; left out" >&2
	done
	[ -n "$rivals" ] || echo "perf/compare: no rivals here; tests/deps perf and make perf-programs bring them" >&2
}

# The rivals' own programs under oriel-mpi.
find_layers() {
	local mpi
	layers=
	[ "$kind" = soft ] || return 0
	for mpi in openmpi mpich; do
		[[ $rivals == *$mpi* ]] && [ -e build/lib/mpi/liboriel-mpi-$mpi.so ] && layers="$layers on_$mpi"
	done
	return 0
}

find_all() {
	find_device
	find_rivals
	find_layers
	perftest=
	command -v ib_write_lat >/dev/null && perftest=perftest
	shm=
	[ "$kind" = soft ] && shm=shm
	limit_s=20
	# One rank a core; but rxe works in the kernel, on whatever processor is free, and is not to be kept from it.
	pin=perf/pin
	[ "$kind" = soft ] || [ -e "/sys/class/infiniband/$device/device" ] || pin=
}

# Prints all names; with --quick one of them for every third line of the plan, another one each time, and none for the others.
in_turn() { # NAME...
	if [ -n "$quick" ] && [ $# -gt 0 ]; then
		[ $((line % 3)) -eq 1 ] || return 0
		set -- "${@:$((line / 3 % $# + 1)):1}"
	fi
	echo "$*"
}

# The sides that a plan's word stands for.
sides_of() {
	local word sides=
	for word in ${1//,/ }; do
		case $word in
		rivals) sides="$sides $(in_turn $rivals)" ;;
		layers) sides="$sides $(in_turn $layers)" ;;
		shm) sides="$sides $shm" ;;
		perftest) sides="$sides $perftest" ;;
		*) sides="$sides $word" ;;
		esac
	done
	echo "$sides"
}

version_of() { # package
	dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo none
}

machine_json() {
	jq -n --arg date "$(date -u +%Y-%m-%dT%H:%MZ)" --arg command "$command" --arg kernel "$(uname -sr)" \
		--arg machine "$(uname -m)" --arg cpu "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" --argjson cores "$(nproc)" \
		--arg device "$device" --arg kind "$kind" --argjson quick "${quick:-0}" \
		--arg oriel "$(git describe --always 2>/dev/null || sed -n 's/^VERSION = //p' config.mk)" \
		--arg openmpi "$(version_of openmpi-bin)" \
		--arg mpich "$(version_of mpich)" --arg perftest "$(version_of perftest)" \
		--arg verbs "$(version_of libibverbs1)" \
		--argjson rounds "$(jq -s 'map(.round) | unique | length' "$log")" \
		--arg emulated "$(grep -qw hypervisor /proc/cpuinfo && echo 'virtual machine')" \
		'{date: $date, command: $command, kernel: $kernel, machine: $machine, cpu: $cpu, cores: $cores, where: $emulated,
		  device: $device, kind: $kind, rounds: $rounds, quick: ($quick == 1),
		  versions: {oriel: $oriel, openmpi: $openmpi, mpich: $mpich, perftest: $perftest, libibverbs: $verbs}}'
}
