#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""arrows - whether a timeline has the arrows of the waits that see-waits has made: arrows.py FOLDER TRACE

An arrow begins in the call of the other rank, by that rank's own notes in the folder, and ends in the call that waited for
it. Of each such pair there is one at most. A wait of some length has its arrow; few may lack it, since a rank that gets no
processor may find what it awaits without having waited.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))

import perfetto
from truth import Run, Truth

KINDS = {"post": {"post"}, "complete": {"complete"}, "last at the fence": {"fence"}, "unlock": {"unlock", "unlock_all"},
         "signal": {"signal"}, "last in the call": {"collective"}}
CAUSES = {"late_post", "late_complete", "late_fence", "late_collective", "lock", "signal"}
LIFE = {"oriel_init", "oriel_finalize", "MPI_Init", "MPI_Init_thread", "MPI_Finalize"}  # not in the notes
LONG_NS = 300000
APART_NS = 1000  # between a time of the processor's counter and the same one of the system's clock
RECALL = 0.95
FEW = 2  # arrows that may lack in any case


class Awaited(Truth):
    """As the truth, but each post and complete that is awaited counts, and of a lock the last holder."""

    def late(self, call, awaited, numbers, cause):
        for calls, origin, target in awaited:
            key = call.window, origin, target
            one = calls[key][numbers[cause, key]]
            numbers[cause, key] += 1
            self.add(call, one.rank, cause, call.begun, one.begun)

    def lock(self, call, held, asked):
        before = len(self.pieces)
        super().lock(call, held, asked)
        del self.pieces[before:-1]

    def waits(self):
        """(waiter, culprit, when the culprit's call begins)"""
        return [(piece.waiter, piece.culprit, piece.ended) for piece in self.pieces
                if piece.cause in CAUSES and piece.ended - piece.begun >= LONG_NS]


def call_at(calls, time, kinds=None, apart=0):
    for call in calls:
        if call.begun - apart <= time <= call.ended + apart and (kinds is None or call.kind in kinds):
            return call
    return None


def enclosing(trace, end):
    return next(one for one in trace.slices if one.track == end.track and one.above == 0 and one.begun <= end.begun <= one.ended)


def faults_of(run, trace):
    found = collections.Counter()
    for begin, end in trace.arrows():
        if enclosing(trace, end).name in LIFE:
            continue
        culprit, waiter = trace.rank(begin.track), trace.rank(end.track)
        late = call_at(run.calls[culprit], begin.begun, KINDS[begin.name])
        waited = call_at(run.calls[waiter], end.begun, None, APART_NS)
        if not late or not waited:
            yield f"rank {culprit} has made no such call, or rank {waiter} none: {begin} {end}"
        elif waited.begun > begin.begun + APART_NS:
            yield f"rank {waiter} has not waited yet: {begin} {waited}"
        elif late.kind != "collective" and begin.annotations["window"] != late.window:
            yield f"another window: {begin} {late}"
        else:
            found[waiter, culprit, late.begun] += 1
    yield from (f"rank {key[0]} has {count} arrows from the call of rank {key[1]} at {key[2]}" for key, count in found.items() if count > 1)
    waits = Awaited(run).waits()
    missing = [wait for wait in waits if not found[wait]]
    print(f"{sum(found.values())} arrows, {len(waits)} long waits, {len(missing)} without an arrow")
    if len(missing) > max(FEW, (1 - RECALL) * len(waits)):
        yield f"{len(missing)} of {len(waits)} waits have no arrow, among them {missing[:3]}"
    if not waits:
        yield "no rank has waited"


def main(folder, path):
    faults = list(faults_of(Run(folder), perfetto.read(path)))
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
