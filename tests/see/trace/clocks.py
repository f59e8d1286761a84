#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""clocks - parts as if some ranks ran on another machine, whose clock differs; and whether its timeline is right nevertheless

usage: clocks.py falsify PART...                     ranks 2 and 3 are elsewhere, 50 ms ahead, and run away by 50 in a million
       clocks.py judge TRUE_PROFILE PROFILE TRUE_TRACE TRACE   whether times are true within the error that the profile has
       clocks.py meet PROFILE TRACE                  whether no call of a fence ends before another begins, but for the error

The layout is that of lib/see/front/part.h.
"""
import json
import struct
import sys

import perfetto

AHEAD_NS, DRIFT = 50_000_000, 50e-6
RANK_AT, TIMES_AT, HOST_AT, MEETINGS_AT = 16, 32, 168, 360
MEETINGS, MEETING_BYTES = 128, 32
CHUNKS_AT, CHUNK_BYTES, CHUNK_HEAD_BYTES, ENTRY_BYTES, CALL = 2 << 20, 8192, 32, 32, 0xFFFF
LATENESSES_AT, LATENESSES, LATENESS_BYTES = 201832, 4096, 32
WAITS_AT, WAITS, WAIT_BYTES = 735856, 2048, 176
BEGINS_AT, BEGINS, BEGIN_BYTES, REMOTE_WAITS, REMOTE_WAIT_BYTES = 1096312, 16384, 24, 2048, 112
ROUNDING_NS = 2000


def begun_ns(path):
    with open(path, "rb") as file:
        return struct.unpack_from("<Q", file.read(TIMES_AT + 8), TIMES_AT)[0]


def falsify(path, first):
    """Changes the times of a part of rank 2 or 3, whose clock is AHEAD_NS ahead at the time `first`."""
    with open(path, "rb") as file:
        part = bytearray(file.read())
    if struct.unpack_from("<i", part, RANK_AT)[0] < 2:
        return

    def change(at):
        ns = struct.unpack_from("<Q", part, at)[0]
        if ns:
            struct.pack_into("<Q", part, at, ns + AHEAD_NS + int((ns - first) * DRIFT))

    def lengthen(at, count):
        ns = struct.unpack_from("<Q", part, at)[0]
        struct.pack_into("<Q", part, at, ns + int(ns * DRIFT) + count)

    struct.pack_into("<10s", part, HOST_AT, b"elsewhere")
    for at in [WAITS_AT + WAIT_BYTES * i for i in range(WAITS)]:
        count = struct.unpack_from("<I", part, at + 16)[0]  # each may be rounded up in the list of its times
        lengthen(at + 24, count)
        lengthen(at + 32, count)
    for at in [TIMES_AT, TIMES_AT + 8] + [MEETINGS_AT + MEETING_BYTES * i + k for i in range(MEETINGS) for k in (16, 24)]:
        change(at)
    for at in [LATENESSES_AT + LATENESS_BYTES * i + k for i in range(LATENESSES) for k in (8, 16)]:
        change(at)
    for at in [BEGINS_AT + BEGIN_BYTES * i + 8 for i in range(BEGINS)]:
        change(at)
    for at in [BEGINS_AT + BEGIN_BYTES * BEGINS + REMOTE_WAIT_BYTES * i + k for i in range(REMOTE_WAITS) for k in (8, 16)]:
        change(at)
    for at in range(CHUNKS_AT, len(part) - CHUNK_BYTES + 1, CHUNK_BYTES):
        change(at + 16)
        for i in range(struct.unpack_from("<I", part, at + 28)[0]):
            entry = at + CHUNK_HEAD_BYTES + ENTRY_BYTES * i
            if struct.unpack_from("<H", part, entry + 30)[0] != CALL:
                change(entry)
                change(entry + 8)
    with open(path, "wb") as file:
        file.write(part)


def error_of(path):
    with open(path) as file:
        return json.load(file)["clock_error_ns"]


def seconds_of(path):
    with open(path) as file:
        return json.load(file)["seconds"]


def judge(true_profile, profile, true_path, path):
    error, true, false = error_of(profile), perfetto.read(true_path), perfetto.read(path)
    if abs(seconds_of(profile) - seconds_of(true_profile)) * 1e9 > 2 * error + ROUNDING_NS:
        yield f"the job lasts {seconds_of(profile)} s in place of {seconds_of(true_profile)}"
    if not 0 < error < AHEAD_NS / 5:
        yield f"the error is {error} ns"
    for rank in range(4):
        apart = [abs(a.begun - b.begun) for a, b in zip(true.calls(rank), false.calls(rank))]
        if len(true.calls(rank)) != len(false.calls(rank)) or not apart:
            yield f"rank {rank} has {len(false.calls(rank))} calls in place of {len(true.calls(rank))}"
        elif max(apart) > (error if rank > 1 else 0) + ROUNDING_NS:
            yield f"rank {rank} is {max(apart)} ns from the truth, and the error is {error} ns"


def meet(profile, path):
    error, trace = error_of(profile), perfetto.read(path)
    ranks = sorted({trace.rank(call.track) for call in trace.calls()})
    fences = [[call for call in trace.calls(rank) if call.name.endswith("in_fence")] for rank in ranks]
    print(f"# {len(ranks)} ranks, {len(fences[0])} fences, an error of {error} ns")
    if not 0 < error < 10**18 or len(ranks) < 2:
        yield f"{len(ranks)} ranks, an error of {error} ns"
    for number, calls in enumerate(zip(*fences)):
        before = max(call.begun for call in calls) - min(call.ended for call in calls)
        if before > error + ROUNDING_NS:
            yield f"fence {number}: a rank ended it {before} ns before another began it"
    if len({len(calls) for calls in fences}) != 1:
        yield f"ranks have {[len(calls) for calls in fences]} fences"


def main(name, *arguments):
    if name == "falsify":
        first = min(begun_ns(path) for path in arguments)
        for path in arguments:
            falsify(path, first)
        return 0
    faults = list({"judge": judge, "meet": meet}[name](*arguments))
    print("\n".join(faults))
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
