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
receive of any rank), `signal T`, `taken` (signal_wait), `ssend T` (a synchronous send); `isend T`, `issend T`,
`irecv O` and `ibarrier`, which make requests; `all` and `some`, which wait for all requests, or for one of them. Messages have the tag
0; with a stroke, as `send' T` and `recv' O`, the tag 1.

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
    "ssend_needs_receive": "ssend 1; recv 1 | ssend 0; recv 0",
    "begun_receive_is_none_missing": "ssend 1; barrier | irecv 0; barrier; all",
    "tags_are_counted": "send' 1; ssend 1; barrier | recv 0; barrier; recv' 0",
    "received_message_is_none_missing": "ssend 1; barrier | recv 0; barrier",
    "request_of_ssend_needs_receive": "issend 1; all; recv 1 | issend 0; all; recv 0",
    "other_tags_do_not_count": "ssend' 1; send 1 | recv 0; recv' 0",
    "begun_receive_of_another_tag_does_not_count": "ssend 1 | recv' 0",
    "request_of_a_barrier_needs_all": "ibarrier; all; send 1 | recv 0; ibarrier; all",
    "all_needs_each": "irecv 1; irecv 2; all; send 1 | recv 0; send 0 | send 0",
    "receives_of_a_wait_are_counted": "irecv 1; irecv 1; all; send 1 | send 0; recv 0; send 0",
    "some_is_stuck_with_all": "irecv 1; irecv 2; some; send 1; send 2 | recv 0; send 0 | recv 0; send 0",
    "one_request_ends_it": "irecv 1; irecv 2; some; send 1 | recv 0; send 0 | send 0",
    "any_request_may_end_it": "isend 1; irecv 1; some; send' 1 | recv' 0; recv 0; send 0",
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
    "ssend 1 | ssend 2 | ssend 0", "ssend 1; barrier | barrier; recv 0", "ssend 1 | any",
    "ssend 1; recv 1 | any; ssend 0", "ssend' 1; send 1 | recv 0; recv' 0", "ssend 1 | recv' 0",
    "ibarrier; ibarrier; all; send 1 | ibarrier; recv 0; ibarrier", "ibarrier; irecv 1; some; send 1 | recv 0; send 0",
    "irecv 1; issend 1; all | irecv 0; issend 0; all", "irecv 1; ssend 1; all | ssend 0; recv 0",
    "irecv 1; ssend 1; all | irecv 0; ssend 0; all", "issend 1; irecv 1; some; all | recv 0; recv 0; send 0",
    "irecv 1; irecv 1; some; send 1; all | send 0; recv 0; send 0", "irecv 1; all; ssend 1 | ssend' 0; recv 0",
    "irecv 1; irecv 2; all | recv 2; send 0 | send 0; recv 1; send 1", "isend 1; all; barrier | barrier; recv 0",
    "send 1; ssend 1; recv 1 | recv 0; ssend 0; recv 0", "issend 1; recv 1; all | irecv 0; ssend 0; all",
]
SENDS, RECEIVES, REQUESTS = ("send", "ssend", "isend", "issend"), ("recv", "any", "irecv"), ("isend", "issend", "irecv", "ibarrier")


def parse(text):
    lines = [[call.split() for call in line.split(";") if call.strip()] for line in text.split("|")]
    return tuple(tuple((call[0], *map(int, call[1:])) for call in line) for line in lines)


def enumerated():
    """Two ranks with up to three calls each, and up to four together."""
    def lines(me):
        calls = (("barrier",), ("fence",), ("send", 1 - me), ("recv", 1 - me), ("any",),
                 ("post", 1 - me), ("wait",), ("ssend", 0)) if me else (("barrier",), ("fence",), ("send", 1), ("recv", 1), ("any",),
                                                         ("start", 1), ("complete",), ("ssend", 1))
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


def kind_of(call):
    return call[0].rstrip("'")


def tag_of(call):
    return call[0].count("'")


class State:
    """Where each rank is, and what the calls that have begun have left."""

    def __init__(self, program):
        self.program, self.ranks = program, range(len(program))
        self.at = [0 for _ in self.ranks]  # the call that each rank is in front of, or in
        self.inside = [False for _ in self.ranks]
        self.arrived = {}  # (kind, from, to): messages, posts, flags and signals that have come
        self.taken = {}  # the same, received: the receive has returned, or is waited for
        self.matched = {}  # receives that have begun, with what they receive: (kind, from, to)
        self.done = set()  # requests that a wait has ended
        self.held = {}  # (target, rank): "lock" or "share"

    def copy(self):
        other = State(self.program)
        other.at, other.inside = list(self.at), list(self.inside)
        other.arrived, other.taken, other.held = dict(self.arrived), dict(self.taken), dict(self.held)
        other.matched, other.done = dict(self.matched), set(self.done)
        return other

    def key(self):
        return (tuple(self.at), tuple(self.inside), tuple(sorted(self.done)),
                *(tuple(sorted(part.items())) for part in (self.arrived, self.taken, self.held, self.matched)))

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

    # ---- messages ----

    def messages(self, source, target, tag=None, upto=None):
        """How many the source has begun to send."""
        return sum(kind_of(call) in SENDS and call[1] == target and tag in (None, tag_of(call))
                   for call in self.begun(source)[:upto])

    def received(self, source, target, tag=None):
        return sum(self.taken.get((stream, source, target), 0) for stream in ("send", "send'")
                   if tag is None or stream == "send" + "'" * tag)

    def unmatched(self, rank):
        """Receives that have begun, in their order."""
        return [at for at, call in enumerate(self.begun(rank))
                if kind_of(call) in RECEIVES and (rank, at) not in self.matched]

    def fits(self, rank, at, stream):
        call = self.program[rank][at]
        return kind_of(call) == "any" or stream == ("send" + "'" * tag_of(call), call[1], rank)

    def matches(self, rank):
        """What may be matched next: (the receive, the message). A message goes to the first receive that it fits."""
        for kind, source in itertools.product(("send", "send'"), self.ranks):
            stream = kind, source, rank
            used = list(self.matched.values()).count(stream)
            fitting = [at for at in self.unmatched(rank) if self.fits(rank, at, stream)]
            if fitting and self.arrived.get(stream, 0) > used:
                yield fitting[0], stream

    def is_met(self, rank, at):
        """Whether a receive has begun for the message of this call."""
        call = self.program[rank][at]
        stream = "send" + "'" * tag_of(call), rank, call[1]
        number = self.messages(rank, call[1], tag_of(call), at + 1)
        return list(self.matched.values()).count(stream) >= number

    def requests(self, rank):
        return [at for at, call in enumerate(self.begun(rank))
                if kind_of(call) in REQUESTS and (rank, at) not in self.done]

    def is_complete(self, rank, at):
        kind = kind_of(self.program[rank][at])
        if kind == "ibarrier":
            return all(self.count(other, kind) >= self.barriers(rank, at) for other in self.ranks)
        return kind == "isend" or (self.is_met(rank, at) if kind == "issend" else (rank, at) in self.matched)

    def barriers(self, rank, at):
        return sum(call[0] == "ibarrier" for call in self.program[rank][:at + 1])

    def take(self, rank, at):
        """A receive, or another request, has ended."""
        self.done.add((rank, at))
        if (rank, at) in self.matched:
            stream = self.matched[rank, at]
            self.taken[stream] = self.taken.get(stream, 0) + 1

    # ---- steps ----

    def sent(self):
        """All that is on its way sooner or later: (kind, from, to) with how many have left."""
        for one, other in itertools.product(self.ranks, self.ranks):
            yield ("send", one, other), self.messages(one, other, 0)
            yield ("send'", one, other), self.messages(one, other, 1)
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
        if name == "taken":
            return bool(self.signals(rank))
        if kind_of(call) in ("recv", "any"):
            return (rank, self.at[rank]) in self.matched
        if kind_of(call) == "ssend":
            return self.is_met(rank, self.at[rank])
        if name in ("all", "some"):
            ended = [self.is_complete(rank, at) for at in self.requests(rank)]
            return all(ended) if name == "all" else any(ended) or not ended
        return True

    def signals(self, rank):
        """Those that have come and may be taken."""
        return [("signal", source, rank) for source in self.ranks
                if self.arrived.get(("signal", source, rank), 0) > self.taken.get(("signal", source, rank), 0)]

    def outcomes(self, rank):
        """What the call may end when it returns: requests or a receive, by their places; signals."""
        name = self.call(rank)[0]
        if name == "taken":
            return [([], signal) for signal in self.signals(rank)]
        if name == "all":
            return [(self.requests(rank), None)]
        if name == "some":
            return [([at], None) for at in self.requests(rank) if self.is_complete(rank, at)] or [([], None)]
        return [([self.at[rank]] if kind_of(self.call(rank)) in ("recv", "any") else [], None)]

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
                for ended, signal in self.outcomes(rank):
                    after = self.copy()
                    for at in ended:
                        after.take(rank, at)
                    after.at[rank] += 1
                    after.inside[rank] = False
                    if signal:
                        after.taken[signal] = after.taken.get(signal, 0) + 1
                    if call[0] in ("lock", "share"):
                        after.held[call[1], rank] = call[0]
                    yield after, rank
        for rank in self.ranks:
            for at, stream in self.matches(rank):
                after = self.copy()
                after.matched[rank, at] = stream
                yield after, None
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
    if kind_of(call) == "recv":
        return WITHOUT != "recv_needs_send" and other == call[1] and is_missing(state, other, rank, tag_of(call))
    if kind_of(call) == "ssend":
        return WITHOUT != "ssend_needs_receive" and needs_receive(state, rank, state.at[rank], other)
    return False


def needs_receive(state, rank, at, other):
    """No receive has begun that may have taken the message of this call."""
    call = state.program[rank][at]
    number, received = state.messages(rank, other, tag_of(call), at + 1), state.received(rank, other, tag_of(call))
    if WITHOUT == "tags_are_counted":
        number, received = state.messages(rank, other, None, at + 1), state.received(rank, other)
    if WITHOUT == "received_message_is_none_missing":
        received = 0
    begun = [place for place, receive in enumerate(state.begun(other)) if kind_of(receive) in RECEIVES and
             (other, place) not in state.done and (kind_of(receive) == "any" or receive[1] == rank and (
                 tag_of(receive) == tag_of(call) or WITHOUT == "begun_receive_of_another_tag_does_not_count"))]
    if WITHOUT == "begun_receive_is_none_missing":
        begun = []
    return other == call[1] and received < number and not begun


def needs_for_request(state, rank, at, other):
    call = state.program[rank][at]
    if kind_of(call) == "issend":
        return WITHOUT != "request_of_ssend_needs_receive" and needs_receive(state, rank, at, other)
    if kind_of(call) == "ibarrier":
        return WITHOUT != "request_of_a_barrier_needs_all" and state.count(other, "ibarrier") < state.barriers(rank, at)
    if kind_of(call) != "irecv" or call[1] != other:
        return False
    alike = sum(state.program[rank][i] == call for i in state.requests(rank))
    if state.waits(rank)[0] == "some" or WITHOUT == "receives_of_a_wait_are_counted":
        alike = 1
    return state.messages(other, rank, tag_of(call)) - state.received(other, rank, tag_of(call)) < alike


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


def is_missing(state, source, rank, tag=None):
    """Whether no message of the source is under way; None: of any tag."""
    if WITHOUT == "other_tags_do_not_count":
        tag = None
    sent, taken = state.messages(source, rank, tag), state.received(source, rank, tag)
    if WITHOUT == "messages_are_counted":
        return sent == 0
    if WITHOUT == "message_under_way_is_none_missing":
        return True
    return sent == taken


def requests_stay(state, rank, members):
    requests = state.requests(rank)
    stuck = [any(other in members and other != rank and needs_for_request(state, rank, at, other)
                 for other in state.ranks) for at in requests]
    if WITHOUT == "any_request_may_end_it":
        stuck = [is_stuck for is_stuck, at in zip(stuck, requests) if kind_of(state.program[rank][at]) != "isend"]
    if state.waits(rank)[0] == "all":
        return any(stuck) if WITHOUT != "all_needs_each" else bool(stuck) and all(stuck)
    if WITHOUT == "some_is_stuck_with_all":
        return False
    return any(stuck) if WITHOUT == "one_request_ends_it" else bool(stuck) and all(stuck)


def stays(state, rank, members):
    name = state.waits(rank)[0]
    others = [other for other in state.ranks if other != rank]
    if name == "any":
        if WITHOUT == "any_is_stuck_with_all":
            return False
        if WITHOUT == "message_of_one_is_enough":
            return members.issuperset(state.ranks)
        if WITHOUT == "any_needs_all":
            return any(other in members and is_missing(state, other, rank) for other in others)
        return members.issuperset(state.ranks) and all(is_missing(state, other, rank) for other in state.ranks)
    if name in ("all", "some"):
        return requests_stay(state, rank, members)
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
