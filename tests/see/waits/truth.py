# SPDX-License-Identifier: BSD-2-Clause
"""truth - the true waits of a run, computed from its ranks' notes (notes.h)

A wait is a piece of a call's time. All times are of one clock, each taken by the rank that made the call, right before and
right after it. What delays a rank, be it the program or the machine, lies between the same stamps as in a profile.
"""
import collections
import os

NOBODY, ANYBODY = -1, "*"
SHORT_NS = 2000  # a call below it is no wait
BLOCKED_NS = 50000  # an operation above it has waited for room

Call = collections.namedtuple("Call", "rank kind name window begun ended ranks hint")
Hold = collections.namedtuple("Hold", "rank exclusive begun ended")
Piece = collections.namedtuple("Piece", "waiter culprit cause window call begun ended")


def overlap(one, other):
    return one.begun < other.ended and one.ended > other.begun


class Run:
    """The notes of all ranks: ranks, property, causes, rounds, and the calls of each rank in their order."""

    def __init__(self, folder):
        self.calls = []
        rank = 0
        while rank == 0 or rank < self.ranks:
            with open(os.path.join(folder, f"notes.{rank}")) as file:
                words = file.readline().split()
                head = dict(zip(words[::2], words[1::2]))
                self.ranks = int(head["ranks"])
                self.property, self.causes = head["property"], head["causes"].split(",")
                self.rounds = int(head["rounds"])
                self.calls.append(sorted((self.call(rank, line) for line in file), key=lambda call: call.begun))
            rank += 1

    def call(self, rank, line):
        kind, name, window, begun, ended, ranks, hint = line.split()
        these = range(self.ranks) if ranks == "*" else [] if ranks == "-" else [int(one) for one in ranks.split(",")]
        return Call(rank, kind, name, window, int(begun), int(ended), list(these), hint)

    def all_calls(self):
        return (call for calls in self.calls for call in calls)

    def time_in_calls(self):
        return sum(call.ended - call.begun for call in self.all_calls())


class Truth:
    def __init__(self, run):
        self.run = run
        self.pieces = []
        self.match_epochs()
        self.together("fence", "late_fence")
        self.together("collective", "late_collective")
        self.signals()
        self.locks()
        self.hints()
        self.pieces.sort(key=lambda piece: piece.begun)

    def add(self, call, culprit, cause, begun, ended):
        begun, ended = max(begun, call.begun), min(ended, call.ended)
        if call.ended - call.begun >= SHORT_NS and ended > begun:
            self.pieces.append(Piece(call.rank, culprit, cause, call.window, call.name, begun, ended))

    # ---- epochs ----

    def match_epochs(self):
        """The k-th start at A that names B matches the k-th post at B that names A, and so do complete and wait."""
        posts = collections.defaultdict(list)
        completes = collections.defaultdict(list)
        for call in self.run.all_calls():
            for other in call.ranks:
                if call.kind == "post":
                    posts[call.window, other, call.rank].append(call)
                elif call.kind == "complete":
                    completes[call.window, call.rank, other].append(call)
        for calls in self.run.calls:
            numbers = collections.Counter()
            for call in calls:
                if call.kind == "complete":
                    self.late(call, [(posts, call.rank, other) for other in call.ranks], numbers, "late_post")
                elif call.kind == "wait":
                    self.late(call, [(completes, other, call.rank) for other in call.ranks], numbers, "late_complete")

    def late(self, call, awaited, numbers, cause):
        """The last of the awaited calls is to blame until it begins. Behind it come data, and handover."""
        last = None
        for calls, origin, target in awaited:
            key = call.window, origin, target
            one = calls[key][numbers[cause, key]]
            numbers[cause, key] += 1
            if last is None or one.begun > last.begun:
                last = one
        if last is None:
            return
        self.add(call, last.rank, cause, call.begun, last.begun)
        if call.hint == "data" or last.hint == "data":
            end = last.ended if cause == "late_complete" else call.ended
            self.add(call, last.rank, "data", last.begun, end)
            self.add(call, ANYBODY, "handover", max(last.begun, end), call.ended)
        else:
            self.add(call, ANYBODY, "handover", last.ended, call.ended)

    # ---- calls that all ranks make ----

    def together(self, kind, cause):
        """The n-th call of a rank is one with the n-th of the others; the last to come is to blame."""
        of = [collections.defaultdict(list) for _ in self.run.calls]
        for call in self.run.all_calls():
            if call.kind == kind:
                of[call.rank][call.window if kind == "fence" else None].append(call)
        for key in of[0]:
            for same in zip(*(calls[key] for calls in of)):
                last = max(same, key=lambda call: call.begun)
                for call in same:
                    self.add(call, last.rank, cause, call.begun, last.begun)

    def signals(self):
        sent = collections.defaultdict(list)
        for call in self.run.all_calls():
            if call.kind == "signal":
                sent[call.window, call.rank, call.ranks[0]].append(call)
        taken = collections.Counter()
        for call in self.run.all_calls():
            if call.kind == "signal_wait":
                key = call.window, call.ranks[0], call.rank
                self.add(call, call.ranks[0], "signal", call.begun, sent[key][taken[key]].begun)
                taken[key] += 1

    # ---- locks ----

    def holds(self):
        """For each window and target what surely held the lock. That of lock_all is sure at a flush."""
        held = collections.defaultdict(list)
        for calls in self.run.calls:
            since = {}
            everything = set()
            for call in calls:
                keys = [(call.window, target) for target in call.ranks]
                if call.kind in ("lock_exclusive", "lock_shared"):
                    since[keys[0]] = call.ended, call.kind == "lock_exclusive"
                elif call.kind == "lock_all":
                    everything.add(call.window)
                    since[call.window, call.rank] = call.ended, False  # its own memory at once
                elif call.kind == "flush" and call.window in everything:
                    since.setdefault(keys[0], (call.ended, False))
                elif call.kind in ("unlock", "unlock_all"):
                    everything.discard(call.window)
                    for key in keys:
                        if key in since:
                            begun, exclusive = since.pop(key)
                            held[key].append(Hold(call.rank, exclusive, begun, call.begun))
        return held

    def locks(self):
        """While a rank waits for a lock, the holder that holds it longest is to blame."""
        held, asked = self.holds(), collections.defaultdict(list)
        for call in self.run.all_calls():
            if call.kind == "lock_exclusive":
                asked[call.window, call.ranks[0]].append(call)
        for call in self.run.all_calls():
            if call.kind in ("lock_exclusive", "lock_shared", "flush", "lock_all") and call.hint == "-":
                self.lock(call, held, asked)

    def lock(self, call, held, asked):
        key = call.window, call.rank if call.kind == "lock_all" else call.ranks[0]
        if call.kind == "flush" and self.is_held(held, call):
            return
        holds = [hold for hold in held[key] if hold.rank != call.rank and overlap(hold, call)]
        exclusive = [one for one in asked[key] if overlap(one, call)]
        marks = {call.begun, call.ended}.union(*((one.begun, one.ended) for one in holds + exclusive))
        marks = sorted(mark for mark in marks if call.begun <= mark <= call.ended)
        for begun, ended in zip(marks, marks[1:]):
            now = [hold for hold in holds if hold.begun <= begun and hold.ended >= ended]
            # Shared locks are in the way of another only if one behind them asks for an exclusive lock.
            if not any(one.begun <= begun and one.ended >= ended for one in exclusive):
                now = [hold for hold in now if hold.exclusive]
            if now:
                self.add(call, max(now, key=lambda hold: hold.ended).rank, "lock", begun, ended)

    @staticmethod
    def is_held(held, call):
        """Whether a flush finds its lock held."""
        return any(hold.rank == call.rank and hold.begun < call.ended <= hold.ended for hold in held[call.window, call.ranks[0]])

    # ---- what only the program knows ----

    def hints(self):
        for call in self.run.all_calls():
            if call.hint == "setup":
                self.add(call, ANYBODY, "setup", call.begun, call.ended)
            elif call.hint == "registration" and call.kind == "transfer":
                self.add(call, ANYBODY, "registration", call.begun, call.ended)
            elif call.hint == "room" and call.ended - call.begun >= BLOCKED_NS:
                self.add(call, call.ranks[0], "room", call.begun, call.ended)
            elif call.hint == "progress" and call.kind == "flush":
                self.progress(call)
            elif call.hint == "threads":
                self.threads(call)

    def progress(self, call):
        """A flush behind records is progress while the target is outside of the library, and data else."""
        target, outside_since = call.ranks[0], call.begun
        for other in self.run.calls[target]:
            if overlap(other, call):
                self.add(call, target, "progress", outside_since, other.begun)
                self.add(call, target, "data", other.begun, other.ended)
                outside_since = other.ended
        self.add(call, target, "progress", outside_since, call.ended)

    def threads(self, call):
        for other in self.run.calls[call.rank]:
            if other.hint == "other_thread" and overlap(other, call):
                self.add(call, ANYBODY, "threads", other.begun, other.ended)

    # ---- roots ----

    def roots(self):
        """Nanoseconds for which each rank is to blame, if what a late rank has itself waited is passed on."""
        lates = [[] for _ in self.run.calls]
        for piece in self.pieces:
            if piece.culprit not in (NOBODY, ANYBODY) and piece.cause not in ("data", "progress", "room"):
                lates[piece.waiter].append(piece)
        sums = collections.Counter()

        def blame(rank, begun, ended, depth):
            own = ended - begun
            for piece in lates[rank] if depth else []:
                share = min(ended, piece.ended) - max(begun, piece.begun)
                if share > 0:
                    own -= share
                    blame(piece.culprit, max(begun, piece.begun), min(ended, piece.ended), depth - 1)
            sums[rank] += own

        for pieces in lates:
            for piece in pieces:
                blame(piece.culprit, piece.begun, piece.ended, self.run.ranks)
        return sums
