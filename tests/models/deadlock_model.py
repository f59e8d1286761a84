#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which lib/check finds deadlocks, against all executions of small programs.

A program has a line of calls for each rank. An execution takes one step after the other, of any rank: a call begins,
a message, post or flag arrives, a call returns. What may happen when is what MPI and Oriel promise, and no more: a
complete may send a flag to one target while it waits for the post of another; a bcast's root and a fence with NOPRECEDE may return at once.

The truth: a rank is stuck in a state if it returns from its call in no execution that goes on from there.
The verdict: from the calls that have begun, their counts, and the messages that were received, as deadlock.c has it.

The model checks in each state that is reached:
- A rank of the verdict is stuck: no false report.
- If no step is possible, the verdict names every rank that has not ended.
At the end it leaves out rules one by one, or replaces them by wrong ones. Each must be found out by its program.

Calls, where T is another rank: `post O..`, `start T..`, `complete`, `wait`, `fence`, `precede` (a fence with NOPRECEDE),
`barrier`, `bcast`, from rank 0, `lock T`, `share T`, `unlock T`, `send T`, which does not wait, `recv O`, `any` (a
receive of any rank), `signal T`, `taken` (signal_wait).

usage: deadlock_model.py            all programs; it takes some seconds
       deadlock_model.py RULE       the program that shows what the rule is for

Status 0: all verdicts are true, and each wrong rule was found out; else 1.
"""
import itertools
import sys

WITHOUT = None  # a name of RULES
RULES = {  # what is left out, or is wrong: a program that shows it
    "complete_needs_post": "start 1; complete | recv 0",
    "posts_are_counted": "start 1; complete; start 1; complete | post 0; wait; recv 0",
    "post_under_way_is_none_missing": "start 1; complete; send 1 | post 0; recv 0",
    "wait_needs_complete": "post 1; wait; send 1 | recv 0; start 0; complete",
    "starts_are_counted": "post 1; wait; post 1; wait | start 0; complete; recv 0",
    "begun_complete_is_none_missing": "post 1; wait; send 2 | start 0 2; complete | recv 0; post 1; wait",
    "fence_needs_all": "fence; send 1 | recv 0; fence",
    "fences_are_counted": "fence; fence | fence; recv 0",
    "precede_needs_none": "precede; send 1 | recv 0; precede",
    "barrier_needs_all": "barrier; send 1 | recv 0; barrier",
    "bcast_needs_root": "recv 1; bcast | bcast; send 0",
    "root_needs_none": "bcast; send 1 | recv 0; bcast",
    "lock_needs_holder": "lock 0; send 1; recv 1; unlock 0 | recv 0; lock 0; unlock 0; send 0",
    "shared_excludes_exclusive": "share 0; send 1; recv 1; unlock 0 | recv 0; lock 0; unlock 0; send 0",
    "shared_excludes_no_shared": "share 0; send 1; recv 1; unlock 0 | recv 0; share 0; unlock 0; send 0",
    "locks_are_of_one_target": "lock 0; send 1; recv 1; unlock 0 | recv 0; lock 1; unlock 1; send 0",
    "unlock_is_called_first": "lock 0; send 1; unlock 0; recv 1 | recv 0; lock 0; unlock 0; send 0",
    "recv_needs_send": "recv 1; send 1 | recv 0; send 0",
    "messages_are_counted": "send 1; recv 1 | recv 0; recv 0",
    "message_under_way_is_none_missing": "send 1; barrier | recv 0; barrier",
    "any_needs_all": "any; send 1 | recv 0 | send 0",
    "any_is_stuck_with_all": "any; send 1 | recv 0; send 0",
    "message_of_one_is_enough": "send 1; recv 1 | any; send 0 | send 1",
    "signal_is_stuck_with_all": "taken; send 1 | recv 0; signal 0",
    "signals_are_counted": "taken; taken | signal 0; recv 0",
    "signal_under_way_is_none_missing": "taken; send 1 | signal 0; recv 0",
    "an_ended_rank_calls_nothing": "recv 1 | ",
    "an_end_gives_locks_back": "lock 0; send 1 | recv 0; lock 0; unlock 0",
    "one_free_rank_ends_it": "recv 1 | recv 2; send 0 | send 1",
}
MORE = [
    "barrier | barrier", "fence; barrier | fence; barrier", "fence; barrier | barrier; fence",
    "start 1; complete | post 0; wait", "post 1; start 1; complete; wait | post 0; start 0; complete; wait",
    "post 1; start 1; wait; complete | post 0; start 0; wait; complete",
    "post 1; start 2; wait; complete | post 2; start 0; wait; complete | post 0; start 1; wait; complete",
    "start 1 2; complete | post 0; wait | barrier",
    "start 1; complete; barrier | barrier | barrier", "post 1 2; wait | start 0; complete | start 0; complete",
    "post 1 2; wait | start 0; complete | recv 0; start 0; complete",
    "lock 0; lock 1; unlock 1; unlock 0 | lock 1; lock 0; unlock 0; unlock 1",
    "lock 0; lock 1; unlock 1; unlock 0 | lock 1; lock 2; unlock 2; unlock 1 | lock 2; lock 0; unlock 0; unlock 2",
    "share 0; lock 1; unlock 1; unlock 0 | share 1; lock 0; unlock 0; unlock 1",
    "start 1; recv 1; complete | post 0; wait; send 0",
    "any; any | send 0; barrier | barrier", "any | any | any", "taken | taken", "signal 1; taken | taken; signal 0",
    "bcast; barrier | bcast; barrier | barrier; bcast", "recv 1 | barrier", "barrier | recv 0; barrier | barrier",
    "post 1; wait; send 2 | start 0 2; complete | recv 0; recv 1",
]


def parse(text):
    lines = [[call.split() for call in line.split(";") if call.strip()] for line in text.split("|")]
    return tuple(tuple((call[0], *map(int, call[1:])) for call in line) for line in lines)


def enumerated():
    """Two ranks with up to three calls each, and up to four together."""
    def lines(me):
        calls = (("barrier",), ("fence",), ("send", 1 - me), ("recv", 1 - me), ("any",),
                 ("post", 1 - me), ("wait",)) if me else (("barrier",), ("fence",), ("send", 1), ("recv", 1), ("any",),
                                                         ("start", 1), ("complete",))
        for length in range(4):
            yield from itertools.product(calls, repeat=length)

    def is_legal(line, opens, closes):
        opened = 0
        for call in line:
            opened += (call[0] == opens) - (call[0] == closes)
            if opened not in (0, 1):
                return False
        return True

    firsts = [line for line in lines(0) if is_legal(line, "start", "complete")]
    seconds = [line for line in lines(1) if is_legal(line, "post", "wait")]
    return (pair for pair in itertools.product(firsts, seconds) if len(pair[0]) + len(pair[1]) <= 4)


class State:
    """Where each rank is, and what the calls that have begun have left."""

    def __init__(self, program):
        self.program, self.ranks = program, range(len(program))
        self.at = [0 for _ in self.ranks]  # the call that each rank is in front of, or in
        self.inside = [False for _ in self.ranks]
        self.arrived = {}  # (kind, from, to): messages, posts, flags and signals that have come
        self.taken = {}  # the same, received
        self.held = {}  # (target, rank): "lock" or "share"

    def copy(self):
        other = State(self.program)
        other.at, other.inside = list(self.at), list(self.inside)
        other.arrived, other.taken, other.held = dict(self.arrived), dict(self.taken), dict(self.held)
        return other

    def key(self):
        return (tuple(self.at), tuple(self.inside), *(tuple(sorted(part.items())) for part in
                                                     (self.arrived, self.taken, self.held)))

    def call(self, rank):
        line = self.program[rank]
        return line[self.at[rank]] if self.at[rank] < len(line) else None

    def waits(self, rank):
        return self.call(rank) if self.inside[rank] else None

    def begun(self, rank):
        return self.program[rank][:self.at[rank] + self.inside[rank]]

    def count(self, rank, name, other=None):
        """How many calls of the name have begun, of those that name the other rank."""
        return sum(call[0] == name and (other is None or other in call[1:]) for call in self.begun(rank))

    def group(self, rank, name):
        """The ranks of the last call of the name."""
        return [call for call in self.begun(rank) if call[0] == name][-1][1:]

    # ---- steps ----

    def sent(self):
        """All that is on its way sooner or later: (kind, from, to) with how many have left."""
        for one, other in itertools.product(self.ranks, self.ranks):
            yield ("send", one, other), self.count(one, "send", other)
            yield ("signal", one, other), self.count(one, "signal", other)
            yield ("post", one, other), self.count(one, "post", other)
            yield ("flag", one, other), self.flags(one, other)

    def flags(self, origin, target):
        """A flag leaves once complete has begun and the target's post is there."""
        ended, named = 0, 0
        for at, call in enumerate(self.begun(origin)):
            if call[0] == "start":
                current = call[1:]
                named += target in current
            if call[0] == "complete" and target in current:
                is_over = at < self.at[origin]
                ended += is_over or self.arrived.get(("post", target, origin), 0) >= named
        return ended

    def may_return(self, rank):
        call = self.call(rank)
        name, others = call[0], [other for other in self.ranks if other != rank]
        come = self.arrived.get
        if name in ("fence", "barrier"):
            names = ("fence", "precede") if name == "fence" else (name,)
            mine = sum(self.count(rank, which) for which in names)
            return all(sum(self.count(other, which) for which in names) >= mine for other in others)
        if name == "bcast":
            return rank == 0 or self.count(0, "bcast") >= self.count(rank, "bcast")
        if name == "complete":
            return all(come(("post", target, rank), 0) >= self.count(rank, "start", target)
                       for target in self.group(rank, "start"))
        if name == "wait":
            return all(come(("flag", origin, rank), 0) >= self.count(rank, "post", origin)
                       for origin in self.group(rank, "post"))
        if name in ("lock", "share"):
            return not any(target == call[1] and other != rank and "lock" in (name, how)
                           for (target, other), how in self.held.items())
        if name in ("recv", "any", "taken"):
            return bool(self.there(rank))
        return True

    def there(self, rank):
        """What has come and may be received."""
        call, kind = self.call(rank), "signal" if self.call(rank)[0] == "taken" else "send"
        sources = call[1:] if call[0] == "recv" else self.ranks
        return [(kind, source, rank) for source in sources
                if self.arrived.get((kind, source, rank), 0) > self.taken.get((kind, source, rank), 0)]

    def next_states(self):
        """Yields the states that are one step away, and the rank that has returned, or None."""
        for rank in self.ranks:
            call = self.call(rank)
            if call is None:
                continue
            if not self.inside[rank]:
                after = self.copy()
                after.inside[rank] = True
                if call[0] == "unlock":
                    del after.held[call[1], rank]
                yield after, None
            elif self.may_return(rank):
                for received in self.there(rank) if call[0] in ("recv", "any", "taken") else [None]:
                    after = self.copy()
                    after.at[rank] += 1
                    after.inside[rank] = False
                    if received:
                        after.taken[received] = after.taken.get(received, 0) + 1
                    if call[0] in ("lock", "share"):
                        after.held[call[1], rank] = call[0]
                    yield after, rank
        for what, count in self.sent():
            if self.arrived.get(what, 0) < count:
                after = self.copy()
                after.arrived[what] = after.arrived.get(what, 0) + 1
                yield after, None
        for (target, rank), _ in list(self.held.items()):
            if self.call(rank) is None:
                after = self.copy()
                del after.held[target, rank]
                yield after, None


# ---- the rules ----

def needs(state, rank, other):
    """Whether the rank's call cannot return before a call of the other, which has not begun."""
    call = state.waits(rank)
    name = call[0]
    if name == "complete" and WITHOUT != "complete_needs_post":
        started = state.count(rank, "start", other)
        posted = state.count(other, "post", rank)
        if WITHOUT == "posts_are_counted":
            started = min(started, 1)
        if WITHOUT == "post_under_way_is_none_missing":
            posted = state.arrived.get(("post", other, rank), 0)
        return other in state.group(rank, "start") and posted < started
    if name == "wait" and WITHOUT != "wait_needs_complete":
        posted, started = state.count(rank, "post", other), state.count(other, "start", rank)
        if WITHOUT == "starts_are_counted":
            posted = min(posted, 1)
        epoch = [at for at, call in enumerate(c for c in state.begun(other) if c[0] == "start") if rank in call[1:]]
        begun = state.count(other, "complete") - (WITHOUT == "begun_complete_is_none_missing" and
                                                  (state.waits(other) or [None])[0] == "complete")
        return other in state.group(rank, "post") and (
            started < posted or (started == posted and begun < epoch[-1] + 1))
    if name == "fence" or (name == "precede" and WITHOUT == "precede_needs_none"):
        mine, others = (state.count(who, "fence") + state.count(who, "precede") for who in (rank, other))
        if WITHOUT == "fences_are_counted":
            mine = min(mine, 1)
        return WITHOUT != "fence_needs_all" and others < mine
    if name == "barrier":
        return WITHOUT != "barrier_needs_all" and state.count(other, name) < state.count(rank, name)
    if name == "bcast":
        is_needed = other == 0 and WITHOUT != "bcast_needs_root" or WITHOUT == "root_needs_none"
        return is_needed and state.count(other, name) < state.count(rank, name)
    if name in ("lock", "share"):
        return needs_unlock(state, rank, other, name, call[1])
    if name == "recv":
        return WITHOUT != "recv_needs_send" and other == call[1] and is_missing(state, "send", other, rank)
    return False


def needs_unlock(state, rank, other, name, target):
    how = state.held.get((target, other))
    if WITHOUT == "locks_are_of_one_target":
        how = next((held for (_, who), held in state.held.items() if who == other), None)
    if WITHOUT == "unlock_is_called_first" and state.count(other, "lock", target):
        how = "lock"
    if WITHOUT == "lock_needs_holder" or other == rank or not how:
        return False
    if WITHOUT == "shared_excludes_exclusive":
        return how == "lock"
    if WITHOUT == "shared_excludes_no_shared":
        return True
    if state.call(other) is None and WITHOUT != "an_end_gives_locks_back":
        return False
    return "lock" in (name, how)


def is_missing(state, kind, source, rank):
    """Whether no message of the source is under way."""
    sent, taken = state.count(source, kind, rank), state.taken.get((kind, source, rank), 0)
    if kind == "send" and WITHOUT == "messages_are_counted":
        return sent == 0
    if kind == "send" and WITHOUT == "message_under_way_is_none_missing":
        return True
    return sent == taken


def stays(state, rank, members):
    name = state.waits(rank)[0]
    others = [other for other in state.ranks if other != rank]
    if name == "any":
        if WITHOUT == "any_is_stuck_with_all":
            return False
        if WITHOUT == "message_of_one_is_enough":
            return members.issuperset(state.ranks)
        if WITHOUT == "any_needs_all":
            return any(other in members and is_missing(state, "send", other, rank) for other in others)
        return members.issuperset(state.ranks) and all(is_missing(state, "send", other, rank) for other in state.ranks)
    if name == "taken":
        sent = sum(state.count(other, "signal", rank) for other in state.ranks)
        taken = sum(count for (kind, _, to), count in state.taken.items() if kind == "signal" and to == rank)
        if WITHOUT == "signals_are_counted":
            taken = 0
        if WITHOUT == "signal_under_way_is_none_missing":
            taken = sent
        return WITHOUT != "signal_is_stuck_with_all" and members.issuperset(state.ranks) and sent == taken
    if WITHOUT == "one_free_rank_ends_it":
        return any(needs(state, rank, other) for other in others)
    return any(other in members and needs(state, rank, other) for other in others)


def verdict(state):
    """The largest set of ranks each of which waits for the set; and those in it that have not ended."""
    ended = {rank for rank in state.ranks if state.call(rank) is None}
    members = {rank for rank in state.ranks if state.inside[rank]} | ended
    if WITHOUT == "an_ended_rank_calls_nothing":
        members -= ended
    while True:
        left = {rank for rank in members if rank in ended or stays(state, rank, members)}
        if left == members:
            return members - ended
        members = left


# ---- all executions ----

def explore(program):
    """Returns the states by their keys, and for each its steps: (key, the rank that returns)."""
    first = State(program)
    states, steps, work = {first.key(): first}, {}, [first]
    while work:
        state = work.pop()
        steps[state.key()] = []
        for after, rank in state.next_states():
            steps[state.key()].append((after.key(), rank))
            if after.key() not in states:
                states[after.key()] = after
                work.append(after)
    return states, steps


def can_return(steps):
    """For each state, the ranks that return in an execution that goes on from it."""
    ranks = {key: set() for key in steps}
    before = {key: [] for key in steps}
    for key, following in steps.items():
        for after, rank in following:
            before[after].append((key, rank))
    work = list(steps)
    while work:
        after = work.pop()
        for key, rank in before[after]:
            more = ranks[after] | ({rank} if rank is not None else set())
            if not more <= ranks[key]:
                ranks[key] |= more
                work.append(key)
    return ranks


def fault(program):
    """Returns what is wrong with the verdicts on the program, or None."""
    states, steps = explore(program)
    returns = can_return(steps)
    for key, state in states.items():
        said = verdict(state)
        if said & returns[key]:
            return f"a false report of {sorted(said & returns[key])} in {[state.waits(rank) for rank in state.ranks]}"
        left = {rank for rank in state.ranks if state.call(rank) is not None}
        if not steps[key] and said != left:
            return f"{sorted(left - said)} are not found in {[state.waits(rank) for rank in state.ranks]}"
    return None


def check_all():
    texts = list(RULES.values()) + MORE
    programs = [(parse(text), text) for text in texts] + [(program, None) for program in enumerated()]
    for program, text in programs:
        found = fault(program)
        if found:
            print(f"{text or program}: {found}")
            return False
    print(f"{len(programs)} programs: all verdicts are true")
    return True


def check_rules():
    global WITHOUT
    for WITHOUT, text in RULES.items():
        if not fault(parse(text)):
            print(f"{WITHOUT}: the rule is not missed by {text}")
            return False
    WITHOUT = None
    print(f"{len(RULES)} rules, each of which is missed")
    return True


def main():
    global WITHOUT
    if len(sys.argv) > 1:
        text = RULES[sys.argv[1]]
        print(f"{text}: {fault(parse(text)) or 'true'}")
        WITHOUT = sys.argv[1]
        print(f"without {WITHOUT}: {fault(parse(text)) or 'true'}")
        return 0
    return 0 if check_all() and check_rules() else 1


if __name__ == "__main__":
    sys.exit(main())
