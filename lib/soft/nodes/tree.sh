#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tree.sh DIRECTORY - what the kernel would show of the device, as files below DIRECTORY: device nodes, and what stands
# in /sys/class/infiniband. Those that are empty here are told by paths.c when they are opened.
set -eu
gids=64 # as many as SOFT_MAX_GIDS
root=$1
rm -rf "$root"
device=$root/sys/devices/virtual/infiniband/soft0
verbs=$root/sys/devices/virtual/infiniband_verbs/uverbs0
port=$device/ports/1
mkdir -p "$root/dev/infiniband" "$root/sys/class/infiniband" "$root/sys/class/infiniband_verbs" \
	"$verbs" "$port/gids" "$port/pkeys" "$port/gid_attrs/types"
ln -s ../../devices/virtual/infiniband/soft0 "$root/sys/class/infiniband/soft0"
ln -s ../../devices/virtual/infiniband_verbs/uverbs0 "$root/sys/class/infiniband_verbs/uverbs0"

# A character device that everybody may open, and that refuses to be written: no command to a kernel gets lost in it.
ln -s /dev/full "$root/dev/infiniband/uverbs0"
ln -s /dev/full "$root/dev/infiniband/rdma_cm"

say() { # file, line
	echo "$2" >"$1"
}

say "$root/sys/class/infiniband_verbs/abi_version" 6
say "$verbs/abi_version" 1
say "$verbs/ibdev" soft0
say "$verbs/dev" 1:7
say "$device/node_type" "1: CA"
say "$device/node_desc" softverbs
say "$device/fw_ver" softverbs
say "$device/uevent" NAME=soft0
: >"$device/node_guid"
: >"$device/sys_image_guid"
say "$port/state" "4: ACTIVE"
say "$port/phys_state" "5: LinkUp"
say "$port/link_layer" InfiniBand
say "$port/rate" "100 Gb/sec (4X EDR)"
say "$port/lid" 0x1
say "$port/sm_lid" 0x1
say "$port/lid_mask_count" 0
say "$port/sm_sl" 0
say "$port/cap_mask" 0x00010000
say "$port/pkeys/0" 0xffff
number=0
while [ $number -lt $gids ]; do
	: >"$port/gids/$number"
	say "$port/gid_attrs/types/$number" "IB/RoCE v1"
	number=$((number + 1))
done
