#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counts - whether a timeline has the calls of see-counts and see-calls

usage: counts.py all TRACE                   the calls of see-counts, by two ranks, with their places and windows
       counts.py ring TRACE CALLS THREADS    the last calls of one rank of see-calls, and a mark for the others
       counts.py dead TRACE:CALLS...         what rank 1 had made, which was killed after CALLS puts, or in the next one
       counts.py same TRACE TRACE...         the calls of see-counts, and the same arrows in all
"""
import collections
import sys

import perfetto

CALLS = {"oriel_init": 1, "oriel_put": 8, "oriel_get": 2, "oriel_win_flush": 7, "oriel_win_fence": 4, "oriel_win_lock_all": 1,
         "oriel_win_unlock_all": 1, "oriel_win_allocate": 1, "oriel_win_free": 1, "oriel_finalize": 1}
RING_BYTES = 1 << 20
LIFE = {"oriel_init", "oriel_finalize"}


def all_calls(trace):
    for rank in 0, 1:
        calls = trace.calls(rank)
        names = collections.Counter(call.name for call in calls)
        if names != CALLS:
            yield f"rank {rank}: {names}, not {CALLS}"
        if {call.annotations.get("window") for call in calls if call.name not in LIFE} != {"counted"}:
            yield f"rank {rank}: a call has no window, or another one"
        if any(call.place[0] != "counts.c" or not call.place[1] or not call.place[2] for call in calls):
            yield f"rank {rank}: a call has no place"
        puts = [call.annotations for call in calls if call.name == "oriel_put"]
        if any(put["rank"] != 1 - rank for put in puts) or [put["bytes"] for put in puts] != 5 * [8] + 3 * [4096]:
            yield f"rank {rank}: other targets or sizes: {puts}"


def ring(trace, calls, threads):
    """What is kept nearly fills the room, and nothing is lost in between: each thread's last calls are there."""
    calls, threads = int(calls), int(threads)
    every = threads * (calls + calls // 10) + 8
    kept = trace.calls(0)
    texts = [text for _, _, text in trace.marks if "earlier calls" in text]
    if sum(int(text.split()[0]) for text in texts) + len(kept) != every:
        yield f"{len(kept)} calls and {texts}, of {every}"
    if not 0.4 * RING_BYTES / 32 < len(kept) <= RING_BYTES / 32:
        yield f"{len(kept)} calls are kept"
    if not any(call.name == "oriel_finalize" for call in kept):
        yield "the last call is missing"
    if len({call.track for call in kept}) < min(threads, 2):
        yield f"calls of {len({call.track for call in kept})} threads"


def dead(*deaths):
    for death in deaths:
        path, calls = death.rsplit(":", 1)
        trace = perfetto.read(path)
        puts = [call for call in trace.calls(1) if call.name == "oriel_put"]
        if len(puts) - int(calls) not in (0, 1):
            yield f"{path}: rank 1 has made {calls} puts, and {len(puts)} are there"
        if not any(text == "the rank was killed by signal 9 (Killed)" and trace.rank(track) == 1 for track, _, text in trace.marks):
            yield f"{path}: rank 1 has no mark: {trace.marks}"
        if not trace.calls(0):
            yield f"{path}: the calls of rank 0 are missing"


def same(*paths):
    traces = [perfetto.read(path) for path in paths]
    arrows = [collections.Counter((one.rank(begin.track), end.name, one.rank(end.track)) for begin, end in one.arrows()) for one in traces]
    for trace, of in zip(traces, arrows):
        yield from all_calls(trace)
        if of != arrows[0]:
            yield f"the arrows are {of} and {arrows[0]}"


def main(name, *arguments):
    if name in ("dead", "same"):
        faults = list({"dead": dead, "same": same}[name](*arguments))
    else:
        faults = list({"all": all_calls, "ring": ring}[name](perfetto.read(arguments[0]), *arguments[1:]))
    print("\n".join(faults))
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
