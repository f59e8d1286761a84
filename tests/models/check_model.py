#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which lib/check finds races, against all executions of small programs.

A program has a line of calls for each rank. An execution takes one step after the other, of any rank: a call
begins, a call ends, an operation takes effect at one moment between its call and its completion, an unlock gives
the lock back. What may happen when is what MPI and Oriel promise, and no more.

The truth: two conflicting accesses race if one execution has them in one order, and another in the other order.
The verdict: the judge reads what the recorder writes in one execution, in the order of time: calls without
synchronisation and releases at their begin, acquires at their end. It keeps a clock of each rank, and reports an
access that begins when a conflicting one is not over.

The model checks:
- No execution of a program without a race is reported: no false report.
- A race is reported in at least one execution; without atomics, several signals or a synchronous send in each one.
Executions in which locks were granted in different orders are different programs to both.

At the end it leaves out rules of the judge one by one, or replaces them by wrong ones, and each must be missed.

Calls, where T is the target: `put T`, to one location in T's memory; `get T`, into one buffer; `use`, an access of
that buffer by a call that returns when it is done; `set T` and `spin T`, accumulates of a word that end when they
have taken effect: `spin` sees a `set`; `poll`: loads of a word until a put of `flag T` has come, which no recorder
sees; `fetch`: the same by fetches, of what an accumulate brings, which `flag` stands for; `flush T`, `local T` (flush_local), `lock T`, `share T`, `unlock T`, `post O..`, `start T..`, `complete`,
`wait`, `fence`, `precede` (a fence with NOPRECEDE), `signal T`, `taken` (signal_wait), `send T`, `ssend T` (a
synchronous send), `recv O`, `barrier`, `bcast`, from rank 0, `reduce`, to rank 0. Of messages whose buffer is the
rank's own memory, to which others put: `give T` (a send), `take O` (a receive), `lend T`, `expect O` (the nonblocking
ones), `done` (the wait for the latest of these), and `show T`, a send of the word of `flag`. `raise` is a store, which
no recorder sees, and `look T` gets the word until it is raised. `load`, `store`: of the location in
one's own memory; `reset`: a store of the word of `flag`; `hoist`: a store of another word, and `peek T`: gets of that
word of T until it is hoisted. Loads and stores are recorded when their rank's next event is.

Of shared windows, whose members load and store other parts, too: `lay T` and `view T`, a store and a load of the location in T's
memory; `mark T`, a store of few bytes there, and `await T`, loads of these until a `mark` has come. What these do in memory
no call says. A race of lay or view is reported if no mark and await were seen of which no call says the order.

A line that begins with `@0` is a further thread of rank 0. It goes on behind `fork` of its rank. `join` waits for its
end, and `hear` for a `tell` of the rank. Threads are ordered by these, and by nothing else.

usage: check_model.py            all programs; it takes some seconds
       check_model.py RULE       the program that shows what the rule is for

Status 0: all verdicts are true, and each wrong rule was missed; else 1.
"""
import itertools
import sys

WITHOUT = None  # a name of RULES
RULES = {  # what is left out, or is wrong: a program that shows it
    "flush_completes": "put 2; flush 2; barrier | barrier; put 2 | barrier",
    "flush_local_does_not_complete": "put 2; local 2; barrier | barrier; put 2 | barrier",
    "flush_local_frees_the_buffer": "get 1; local 1; use | ",
    "only_a_completion_frees_the_buffer": "get 1; use | ",
    "complete_does_not_complete": "start 1; put 1; complete; send 2 | post 0; wait | recv 0; put 1",
    "wait_completes": "start 1; put 1; complete | post 0; wait; send 2 | recv 1; put 1",
    "complete_frees_the_buffer": "start 1; get 1; complete; use | post 0; wait",
    "post_comes_before_effects": "put 1; flush 1; send 1 | recv 0; post 2; wait | start 1; put 1; complete",
    "start_does_not_wait": "put 2; flush 2; post 1; wait | start 0; put 2; flush 2; complete | ",
    "complete_acquires_post": "put 2; flush 2; post 1; wait | start 0; complete; put 2; flush 2 | ",
    "fence_completes": "fence; put 1; fence | fence; fence; put 1; flush 1",
    "fence_is_a_barrier": "put 2; flush 2; fence | fence; put 2; flush 2 | fence",
    "noprecede_is_no_barrier": "put 2; flush 2; precede; fence | precede; put 2; flush 2; fence | fence; fence",
    "noprecede_holds_effects_back": "precede; put 1; fence | put 1; flush 1; precede; fence",
    "lock_follows_unlock": "lock 2; put 2; unlock 2 | lock 2; put 2; unlock 2 | ",
    "shared_locks_do_not_order": "share 2; put 2; unlock 2 | share 2; put 2; unlock 2 | ",
    "shared_follows_exclusive": "share 2; put 2; unlock 2 | lock 2; put 2; unlock 2 | ",
    "locks_are_of_one_target": "lock 2; put 2; unlock 2 | lock 1; put 2; flush 2; unlock 1 | ",
    "fetch_follows_accumulate": "put 2; flush 2; set 2 | spin 2; put 2; flush 2 | ",
    "accumulate_completes_nothing": "put 2; set 2 | spin 2; put 2; flush 2 | ",
    "poll_follows_put": "put 2; flush 2; flag 1 | poll; put 2; flush 2 | ",
    "signal_completes_what_is_before": "put 1; signal 1 | taken; put 1; flush 1",
    "signal_completes_nothing_after": "signal 1; put 1; flush 1 | taken; put 1; flush 1",
    "signal_completes_for_the_waiter_only": "put 1; signal 1; send 2 | taken | recv 0; put 1; flush 1",
    "receive_follows_send": "put 2; flush 2; send 1 | recv 0; put 2; flush 2 | ",
    "synchronous_send_follows_receive": "ssend 1; put 2; flush 2 | put 2; flush 2; recv 0 | ",
    "send_does_not_wait": "send 1; put 2; flush 2 | put 2; flush 2; recv 0 | ",
    "barrier_orders": "put 2; flush 2; barrier | barrier; put 2; flush 2 | barrier",
    "bcast_orders_root_first": "put 2; flush 2; bcast | bcast; put 2; flush 2 | bcast",
    "bcast_is_no_barrier": "bcast; put 2; flush 2 | put 2; flush 2; bcast | bcast",
    "reduce_orders_root_last": "reduce; put 2; flush 2 | put 2; flush 2; reduce | reduce",
    "reduce_is_no_barrier": "put 2; flush 2; reduce | reduce; put 2; flush 2 | reduce",
    "send_reads_before_the_message_leaves": "give 1 | recv 0; put 0; flush 0",
    "receive_writes_when_the_message_is_there": "take 1 | put 0; flush 0; send 0",
    "send_reads": "give 2 | put 0; flush 0 | recv 0",
    "receive_writes": "take 2 | put 0; flush 0 | send 0",
    "what_is_lent_is_read_until_done": "lend 2; barrier; done | barrier; put 0; flush 0 | barrier; recv 0",
    "done_ends_what_is_lent": "lend 2; done; barrier | barrier; put 0; flush 0 | barrier; recv 0",
    "receiver_ends_what_is_lent": "lend 1; done | recv 0; put 0; flush 0",
    "what_is_expected_is_written_from_the_call_on": "expect 1; done | put 0; flush 0; send 0",
    "done_ends_what_is_expected": "expect 2; done; barrier | barrier; put 0; flush 0 | send 0; barrier",
    "owner_may_have_seen_a_flag": "flag 1 | poll; show 2 | recv 1",
    "get_may_see_a_store_behind_a_message": "give 2; raise | look 0; put 0; flush 0 | recv 0",
    "loads_are_judged": "put 1; flush 1 | load",
    "stores_are_judged": "put 1; flush 1 | store",
    "loads_come_before_the_next_call": "store; barrier | barrier; put 0; flush 0",
    "loads_are_over_at_once": "load; send 1 | recv 0; put 0; flush 0",
    "loads_come_after_the_call_before": "put 1; flush 1; send 1 | recv 0; load",
    "loads_may_end_what_is_put": "flag 1 | poll; reset",
    "stores_do_not_end_what_is_put": "flag 1 | reset; reset",
    "a_fetch_may_end_what_is_accumulated": "flag 1 | fetch; reset",
    "peeked_segments_are_not_kept": "store; hoist | peek 0; put 0; flush 0 | ",
    "peeks_learn_of_the_owner": "store; send 2; hoist | peek 0; put 0; flush 0 | recv 0",
    "what_is_issued_before_a_peek_is_judged": "store; hoist | put 0; peek 0; flush 0 | ",
    "threads_are_not_ordered_by_time": "fork; get 1; flush 1; join | | @0 use",
    "fork_orders": "get 1; flush 1; fork | | @0 use",
    "join_orders": "fork; join; use | | @0 get 1; flush 1",
    "hear_follows_tell": "fork; hear; use | | @0 get 1; flush 1; tell",
    "hear_does_not_follow_the_thread": "fork; hear; use | | @0 tell; get 1; flush 1",
    "flush_completes_for_all_threads": "put 2; fork; join; barrier | barrier; put 2 | barrier | @0 flush 2",
    "a_flush_completes_what_comes_before_it": "fork; get 1; hear; use; join | | @0 flush 1; tell",
    "each_thread_completes_for_itself": "get 1; fork; flush 1; use; join | | @0 flush 1",
    "loads_of_all_threads_come_before_a_call": "fork; join; barrier | barrier; put 0; flush 0 | @0 store",
    "each_thread_loads_with_its_own_clock": "fork; recv 1; join | put 0; flush 0; send 0 | @0 load",
    "peeks_learn_of_all_threads": "fork | peek 0; put 0; flush 0 | @0 store; flush 0; hoist",
    "members_loads_and_stores_are_judged": "lay 2 | view 2 | ",
    "members_learn_by_calls": "lay 2; barrier | barrier; view 2 | barrier",
    "members_do_not_learn_by_time": "lay 2; send 2 | view 2; send 2 | recv 0; recv 1",
    "members_may_use_flags": "lay 2; mark 2 | await 2; view 2 | ",
    "members_may_use_flags_of_others": "lay 2; mark 0 | await 1; view 2 | await 0; mark 1",
    "what_calls_order_is_no_flag": "mark 2; barrier; lay 2 | barrier; await 2; view 2 | barrier",
    "order_is_transitive": "put 2; flush 2; send 1 | recv 0; send 2 | recv 1; put 2; flush 2",
}
# Programs whose verdict depends on the order of things: a race need not be reported in each execution.
BY_CHANCE = {"set", "spin", "flag", "poll", "fetch", "ssend", "hoist"}
MEMBERS = {"lay", "view"}
LOADS = {"load", "store", "reset", "hoist", "poll", "mark", "await"} | MEMBERS
# Calls whose begin, and whose end, is no event.
NO_BEGIN = LOADS | {"flush", "local", "lock", "share", "wait", "taken", "hear", "join"}
NO_END = LOADS
OPERATIONS = {"put", "get", "set", "flag", "signal"}
SENDS, RECEIVES = ("send", "ssend", "give", "show", "lend"), ("recv", "take", "expect")
OWN = {"give", "show", "take", "lend", "expect"}  # accesses of the rank's own memory
MORE = [
    "lock 2; put 2; unlock 2; send 1 | recv 0; put 2; flush 2 | ",
    "lock 2; put 2; flush 2; send 1; unlock 2 | recv 0; put 2; flush 2 | ",
    "lock 2; put 2; send 1; unlock 2 | recv 0; put 2; flush 2 | ",
    "get 1; flush 1; use | ",
    "get 1; flush 1; send 1; use | recv 0",
    "put 1; put 1; flush 1 | ",
    "put 1; flush 1; put 1 | ",
    "post 1; wait; put 0; flush 0 | start 0; put 0; complete",
    "post 1; put 0; flush 0; wait | start 0; put 0; complete",
    "start 2; put 2; complete | start 2; put 2; complete | post 0 1; wait",
    "start 2; put 2; complete; send 1 | recv 0; start 2; put 2; complete | post 0; wait; post 1; wait",
    "fence; put 2; fence | fence; fence; put 2; flush 2 | fence; fence",
    "fence; put 2; fence; fence | fence; fence; put 2; fence | fence; fence; fence",
    "fence; put 2; fence | fence; put 2; fence | fence; fence",
    "fence; get 1; fence; use | fence; fence",
    "fence; get 1; use; fence | fence; fence",
    "put 1; signal 1; flush 1 | taken; send 2 | recv 1; put 1; flush 1",
    "put 2; set 2; flush 2 | spin 2; put 2; flush 2 | ",
    "put 2; flush 2; set 1 | spin 1; put 2; flush 2 | ",
    "put 2; flag 1 | poll; put 2; flush 2 | ",
    "bcast; barrier; put 2; flush 2 | put 2; flush 2; bcast; barrier | bcast; barrier",
    "post 1; give 2; wait | start 0; put 0; complete | recv 0",
    "post 1; wait; give 2 | start 0; put 0; complete | recv 0",
    "give 2; post 1; wait | start 0; put 0; complete | recv 0",
    "take 2; precede; fence | precede; put 0; fence | send 0; precede; fence",
    "precede; take 2; fence | precede; put 0; fence | precede; send 0; fence",
    "lock 0; take 2; unlock 0 | lock 0; put 0; unlock 0 | send 0",
    "take 1 | send 0; put 0; flush 0",
    "take 1; give 2 | put 0; send 0; flush 0 | recv 0",
    "lend 2; barrier; done | barrier; put 0; flush 0 | recv 0; barrier",
    "lend 1; recv 1; done | recv 0; put 0; flush 0; send 0",
    "expect 1; post 1; done; wait | start 0; send 0; put 0; complete",
    "flag 1 | give 2; poll | recv 1",
    "flag 1 | show 2 | recv 1",
    "give 2; raise | look 0; send 2 | recv 0; recv 1; put 0; flush 0",
    "put 1; flush 1; flag 1 | poll; load; store",
    "put 1; flush 1; flag 1; flush 1 | poll; reset; load",
    "put 1; flag 1 | poll; load",
    "put 1; flag 1 | fetch; load",
    "put 1; flush 1; flag 1 | fetch; reset; load",
    "flag 1 | fetch; flag 1; flush 1; reset",
    "flag 2 | flag 2; flush 2; send 2 | fetch; recv 1; reset",
    "lock 1; put 1; unlock 1 | lock 1; load; store; unlock 1",
    "lock 1; put 1; unlock 1 | store; lock 1; load; unlock 1",
    "share 1; put 1; unlock 1 | lock 1; store; unlock 1",
    "share 1; put 1; unlock 1 | share 1; store; unlock 1",
    "start 1; put 1; complete | store; post 0; wait; load",
    "start 1; put 1; complete | store; post 0; load; wait",
    "fence; put 1; fence | store; fence; fence; load",
    "fence; put 1; fence | fence; load; fence",
    "precede; put 1; fence | store; precede; fence; load",
    "put 0; load; flush 0",
    "put 0; flush 0; load; store; put 0; flush 0",
    "put 1; signal 1 | taken; load",
    "signal 1; put 1; flush 1 | taken; load",
    "put 1; flush 1; set 1 | spin 1; load",
    "store; set 0 | spin 0; put 0; flush 0",
    "store; hoist; send 1 | peek 0; send 2; recv 0 | recv 1; put 0; flush 0",
    "store; hoist | peek 0; send 2 | recv 1; put 0; flush 0",
    "store; send 2; store; hoist | peek 0; put 0; flush 0 | recv 0",
    "hoist; send 1; store; flush 0 | recv 0; peek 0; put 0; flush 0",
    "fork; barrier; join | barrier; put 0; flush 0 | @0 store",
    "fork; hear; barrier; join | barrier; put 0; flush 0 | @0 store; tell",
    "fork; hear; barrier; join | barrier; put 0; flush 0 | @0 tell; store",
    "fork; put 1; join; flush 1 | load | @0 flush 1",
    "fork; put 1; flush 1; join; barrier | barrier; load | @0 put 1; flush 1",
    "put 1; flush 1; fork; join; barrier | barrier; load | @0 put 1; flush 1",
    "fork; get 1; flush 1; tell; join | | @0 hear; use",
    "fork; get 1; flush 1; join; use | | @0 store; tell",
    "fork; barrier; join; load | put 0; flush 0; barrier | @0 load",
    "fork; barrier; tell; join | put 0; flush 0; barrier | @0 hear; load",
    "fork; load | put 0; flush 0; flag 0 | @0 poll; load; tell",
    "fork; hear; load | put 0; flush 0; flag 0 | @0 poll; load; tell",
    "lay 2; send 1 | recv 0; view 2 | ",
    "lay 2; send 1 | recv 0; send 2; view 2 | recv 1; lay 2",
    "lock 2; lay 2; unlock 2 | lock 2; view 2; unlock 2 | ",
    "share 2; lay 2; unlock 2 | share 2; view 2; unlock 2 | ",
    "put 2; flush 2; barrier | barrier; view 2 | barrier",
    "put 2; barrier; flush 2 | barrier; view 2 | barrier",
    "view 2; send 1 | recv 0; put 2; flush 2 | ",
    "view 2 | put 2; flush 2 | ",
    "lay 2; fence | fence; view 2 | fence",
    "mark 2; lay 2; send 1 | recv 0; await 2; lay 2 | ",
]
# Races that the rules hide: where the store lies in its segment is not known, or members use flags.
HIDDEN = [
    "load; hoist; store | peek 0; put 0; flush 0",
    "store; send 1; hoist; store | recv 0; peek 0; put 0; flush 0",
    "lay 2; mark 2; lay 0 | await 2; view 2; view 0 | ",
    "await 2; lay 2; mark 2 | mark 2; await 2; view 2 | ",
]


# ---- programs ----

def parse(text):
    lines = []
    for line in text.split("|"):
        of, _, rest = line.strip().partition(" ") if "@" in line else ("", "", line)
        calls = [call.split() for call in rest.split(";") if call.strip()]
        lines.append(((("thread", int(of[1:])),) if of else ()) + tuple((call[0], *map(int, call[1:])) for call in calls))
    return tuple(lines)


def enumerated():
    """Two ranks with a put each to the same memory, and up to two calls of synchronisation around it."""
    calls = (("flush", 0), ("local", 0), ("barrier",), ("send",), ("recv",), ("signal", 0), ("taken",))

    def lines(me):
        other = 1 - me
        for around in itertools.chain([()], itertools.product(calls, repeat=1), itertools.product(calls, repeat=2)):
            line = [(call[0], other) if call[0] in ("send", "recv") else call for call in around]
            if me == 0 and ("signal", 0) in line or me == 1 and ("taken",) in line:
                continue
            for at in range(len(line) + 1):
                yield tuple(line[:at] + [("put", 0)] + line[at:])

    def count(line, name):
        return sum(call[0] == name for call in line)

    for left, right in itertools.product(lines(0), lines(1)):
        if (count(left, "barrier") == count(right, "barrier") and count(left, "send") == count(right, "recv") and
                count(left, "recv") == count(right, "send") and count(left, "taken") == count(right, "signal")):
            yield left, right


class Program:
    def __init__(self, lines):
        self.lines, self.strands = lines, range(len(lines))
        self.rank_of = [line[0][1] if line and line[0][0] == "thread" else at for at, line in enumerate(lines)]
        self.ranks = [at for at in self.strands if self.rank_of[at] == at]
        self.conflicts = {}  # access -> its location
        for strand, line in enumerate(lines):
            rank = self.rank_of[strand]
            for at, call in enumerate(line):
                self.add_conflict(strand, rank, at, call)
        names = [call[0] for line in lines for call in line]
        self.by_chance = not BY_CHANCE.isdisjoint(names) or names.count("signal") > 1

    def threads(self, rank):
        """The lines of the rank, of which this may be one."""
        return [at for at in self.strands if self.rank_of[at] == self.rank_of[rank]]

    def add_conflict(self, strand, rank, at, call):
        if call[0] == "put":
            self.conflicts[strand, at] = "memory", call[1]
        elif call[0] == "flag":
            self.conflicts[strand, at] = "flag", call[1]
        elif call[0] in ("get", "use"):
            self.conflicts[strand, at] = "buffer", rank
        elif call[0] in OWN:
            self.conflicts[strand, at] = "flag" if call[0] == "show" else "memory", rank
        elif call[0] in ("load", "store"):
            self.conflicts[strand, at] = "memory", rank
        elif call[0] == "reset":
            self.conflicts[strand, at] = "flag", rank
        elif call[0] in MEMBERS:
            self.conflicts[strand, at] = "memory", call[1]

    def conflict(self, a, b):
        """Two accesses that are no operations are not judged, but those of two members of a shared window."""
        names = [self.lines[rank][at][0] for rank, at in (a, b)]
        is_judged = not OPERATIONS.isdisjoint(names) or self.rank_of[a[0]] != self.rank_of[b[0]] and \
            set(names) in ({"lay"}, {"lay", "view"})
        return a != b and is_judged and a in self.conflicts and self.conflicts[a] == self.conflicts.get(b)

    def are_flag(self, a, b):
        """Whether one is a mark, and the other may await it."""
        calls = [self.lines[rank][at] for rank, at in (a, b)]
        return {calls[0][0], calls[1][0]} == {"mark", "await"} and calls[0][1] == calls[1][1] and a[0] != b[0]

    def begun_before(self, rank, at):
        """Where the message begins for which a `done` waits."""
        return [i for i in range(at) if self.lines[rank][i][0] in ("lend", "expect")][-1]

    def epoch(self, rank, at):
        """Of an operation: the number of starts and of fences before it, and whether an epoch of start is open."""
        names = [call[0] for call in self.lines[rank][:at]]
        starts, fences = names.count("start"), names.count("fence") + names.count("precede")
        return starts, fences, starts > names.count("complete")


# ---- executions: what may happen ----

def after(items, key, value):
    return tuple(sorted({**dict(items), key: value}.items(), key=repr))


class Execution:
    """A state. `begun` and `done` count what ranks have begun, and what has taken effect, by name."""
    __slots__ = ("at", "inside", "issued", "effects", "order", "counts", "locks", "grants", "giving", "judge")

    def copy(self):
        new = Execution()
        for name in Execution.__slots__:
            setattr(new, name, getattr(self, name))
        return new

    def key(self):
        return tuple(getattr(self, name) for name in Execution.__slots__)

    def count(self, *key):
        return dict(self.counts).get(key, 0)

    def add(self, *key):
        self.counts = after(self.counts, key, self.count(*key) + 1)


def begin_of(program):
    state = Execution()
    state.inside = tuple(0 for _ in program.strands)
    state.at = tuple(int(program.rank_of[at] != at) for at in program.strands)
    state.issued = state.effects = frozenset()
    state.order = state.counts = state.locks = state.grants = state.giving = ()
    state.judge = Judge(program.strands).frozen()
    return state


def group_index(program, rank, name, other, upto):
    """How many calls of that name before `upto` name the other rank."""
    return sum(call[0] == name and other in call[1:] for call in program.lines[rank][:upto])


def may_take_effect(program, state, op):
    rank, at = op
    call = program.lines[rank][at]
    target = call[1]
    if call[0] in OWN:
        return call[0] != "take" or is_there(state, target, rank)
    _, fences, in_start = program.epoch(rank, at)
    if call[0] == "signal":  # what was issued to this target before is complete there
        return all(other in state.effects for other in operations(program, state)
                   if other[0] == rank and other[1] < at and program.lines[rank][other[1]][1] == target)
    if in_start:
        return state.count("post", target, rank) >= group_index(program, rank, "start", target, at)
    if fences:
        before = [other for other in operations(program, state) if program.lines[other[0]][other[1]][1] == target and
                  program.epoch(*other)[1] < fences and not program.epoch(*other)[2]]
        kinds = [call[0] for call in program.lines[target] if call[0] in ("fence", "precede")]
        whole = kinds[fences - 1] == "precede" or all(other in state.effects for other in before)
        return state.count("fence", target) >= fences and whole
    return True


def operations(program, state):
    return [op for op in state.issued if program.lines[op[0]][op[1]][0] in OPERATIONS]


def is_there(state, sender, receiver):
    return state.count("send", sender, receiver) > state.count("recv", sender, receiver)


def own(program, state, rank, names, target=None, since=0):
    """Operations of a rank that have not taken effect."""
    return [op for op in state.issued - state.effects if op[0] in program.threads(rank) and op[1] >= since and
            program.lines[op[0]][op[1]][0] in names and target in (None, program.lines[op[0]][op[1]][1])]


def may_end(program, state, rank):
    call = program.lines[rank][state.at[rank]]
    name, to = call[0], call[1:]
    if name in ("flush", "set", "spin"):
        if name == "spin" and not state.count("effect", "set", to[0]):
            return False
        return not own(program, state, rank, ("set",) if name == "set" else OPERATIONS - {"signal"}, to[0]) \
            or name == "spin"
    if name == "local":
        return not own(program, state, rank, ("get",), to[0])
    if name in ("poll", "fetch"):
        return state.count("effect", "flag", program.rank_of[rank]) > 0
    if name == "peek":
        return state.count("hoist", to[0]) > 0
    if name == "await":
        return state.count("mark", to[0]) > 0
    if name == "hear":
        return state.count("tell", program.rank_of[rank]) > 0
    if name == "join":
        return all(state.at[other] == len(program.lines[other]) for other in program.threads(rank) if other != rank)
    if name in ("lock", "share"):
        held = [(holder, kind) for (holder, target), kind in state.locks if target == to[0]]
        return not held or name == "share" and all(kind == "share" for _, kind in held)
    if name == "unlock":
        return (rank, to[0]) not in dict(state.locks)
    if name == "complete":
        at = state.at[rank]
        start = max(i for i in range(at) if program.lines[rank][i][0] == "start")
        return not own(program, state, rank, ("get",), since=start) and all(
            state.count("post", target, rank) >= group_index(program, rank, "start", target, at)
            for target in program.lines[rank][start][1:])
    if name == "wait":
        at = state.at[rank]
        post = [i for i in range(at) if program.lines[rank][i][0] == "post"][-1]
        return all(is_complete(program, state, origin, rank, group_index(program, rank, "post", origin, at))
                   for origin in program.lines[rank][post][1:])
    if name in ("fence", "precede"):
        number = state.count("fence", rank)
        if name == "precede":
            return True
        mine = [op for op in set(operations(program, state)) - state.effects
                if program.epoch(*op)[1] < number and (program.lines[op[0]][op[1]][1] == rank or
                                                       op[0] == rank and program.lines[rank][op[1]][0] == "get")]
        return all(state.count("fence", other) >= number for other in program.ranks) and not mine
    if name == "taken":
        return state.count("effect", "signal", rank) > state.count("taken", rank)
    if name == "ssend":
        return state.count("receiving", rank, to[0]) >= state.count("send", rank, to[0])
    if name == "recv":
        return is_there(state, to[0], rank)
    if name in ("give", "show", "take"):
        return (rank, state.at[rank]) in state.effects
    if name == "done":
        begun = program.begun_before(rank, state.at[rank])
        kind, partner = program.lines[rank][begun]
        return (rank, begun) in state.effects and (kind == "lend" or is_there(state, partner, rank))
    if name == "look":
        return state.count("raised", to[0]) > 0
    if name == "barrier":
        return all(state.count("barrier", other) >= state.count("barrier", rank) for other in program.ranks)
    if name == "bcast":
        return state.count("bcast", 0) >= state.count("bcast", rank)
    if name == "reduce":
        return rank or all(state.count("reduce", other) >= state.count("reduce", 0) for other in program.ranks)
    return True


def is_complete(program, state, origin, target, number):
    """Whether the origin has completed its epoch of that number towards the target, and all is there."""
    starts = [i for i, call in enumerate(program.lines[origin]) if call[0] == "start" and target in call[1:]]
    if state.count("complete", origin, target) < number:
        return False
    return not [op for op in own(program, state, origin, OPERATIONS, target) if op[1] > starts[number - 1] and
                group_index(program, origin, "start", target, op[1]) == number]


IMMEDIATE = OPERATIONS - {"set"} | {"use", "post", "start", "send", "lend", "expect", "raise", "load", "store", "reset", "hoist", "fork",
                                   "tell", "lay", "view", "mark"}


def begin(program, state, rank):
    new = state.copy()
    call = program.lines[rank][state.at[rank]]
    name, to, access = call[0], call[1:], (rank, state.at[rank])
    judge = Judge.of(state.judge)
    if name in OPERATIONS | OWN:
        new.issued = state.issued | {access}
    for other in to if name == "post" else ():
        new.add("post", rank, other)
    if name in ("send", "ssend"):
        new.add("send", rank, to[0])
    if name in RECEIVES:
        new.add("receiving", to[0], rank)
    if name == "raise":
        new.add("raised", rank)
    if name in ("tell", "fork", "hoist"):
        new.add(name, program.rank_of[rank])
    if name == "mark":
        new.add("mark", to[0])
    if name in ("barrier", "bcast", "reduce"):
        new.add(name, rank)
    if name in ("fence", "precede"):
        new.add("fence", rank)
    if name == "complete":
        start = [call for call in program.lines[rank][:state.at[rank]] if call[0] == "start"][-1]
        for target in start[1:]:
            new.add("complete", rank, target)
    if name == "unlock":
        new.giving = state.giving + ((rank, to[0]),)
    if name in {"use", "load", "store", "reset"} | MEMBERS:
        new.order = state.order + (access,)
    judge.begin(program, rank, state.at[rank])
    new.judge = judge.frozen()
    if name in IMMEDIATE:
        new.at = step(state.at, rank)
    else:
        new.inside = tuple(1 if other == rank else value for other, value in enumerate(state.inside))
    return new


def end(program, state, rank):
    new = state.copy()
    call = program.lines[rank][state.at[rank]]
    judge = Judge.of(state.judge)
    if call[0] in ("lock", "share"):
        new.locks = after(state.locks, (rank, call[1]), call[0])
        new.grants = state.grants + (rank,)
    if call[0] in ("recv", "take"):
        new.add("recv", call[1], rank)
    if call[0] == "done":
        kind, partner = program.lines[rank][program.begun_before(rank, state.at[rank])]
        if kind == "expect":
            new.add("recv", partner, rank)
    if call[0] == "taken":
        new.add("taken", rank)
    judge.end(program, rank, state.at[rank])
    new.judge = judge.frozen()
    new.at = step(state.at, rank)
    new.inside = tuple(0 if other == rank else value for other, value in enumerate(state.inside))
    return new


def step(at, rank):
    return tuple(value + (other == rank) for other, value in enumerate(at))


def take_effect(program, state, op):
    new = state.copy()
    new.effects = state.effects | {op}
    call = program.lines[op[0]][op[1]]
    new.add("effect", call[0], call[1])
    if call[0] in ("give", "show", "lend"):
        new.add("send", op[0], call[1])
    if op in program.conflicts:
        new.order = state.order + (op,)
    return new


def give_lock(program, state, rank, target):
    if own(program, state, rank, OPERATIONS, target):
        return None
    new = state.copy()
    new.giving = tuple(pair for pair in state.giving if pair != (rank, target))
    new.locks = tuple(lock for lock in state.locks if lock[0] != (rank, target))
    return new


def steps(program, state):
    for rank in program.strands:
        is_begun = rank in program.ranks or state.count("fork", program.rank_of[rank])
        if state.at[rank] < len(program.lines[rank]) and is_begun:
            if not state.inside[rank]:
                yield begin(program, state, rank)
            elif may_end(program, state, rank):
                yield end(program, state, rank)
    for op in state.issued - state.effects:
        if may_take_effect(program, state, op):
            yield take_effect(program, state, op)
    for rank, target in state.giving:
        new = give_lock(program, state, rank, target)
        if new:
            yield new


# ---- the judge: what lib/check does with what is recorded ----

def join(a, b):
    return tuple(map(max, a, b))


def replace(values, at, value):
    return values[:at] + (value,) + values[at + 1:]


class Judge:
    """
    A clock of each strand, which is a thread of a rank. An access has the clock at its begin, and completions: (strand, its time). Behind the
    times of all strands are those by which accesses of their own memory end.
    """

    def __init__(self, ranks):
        zero = tuple(0 for _ in ranks) * 2
        self.clocks = [zero for _ in ranks]
        self.accesses = {}  # (rank, at) -> (clock or None: judged later, completions)
        self.slots = {}  # releases, by name
        self.reported = False
        self.by_calls = self.signals = frozenset()  # ranks of races, and of flags, of members
        self.loads = tuple(() for _ in ranks)  # that are not recorded yet
        self.peeks = tuple(frozenset() for _ in ranks)  # of the rank's word, in its segment: (peek, whether it goes on)
        self.late = tuple(frozenset() for _ in ranks)  # accesses that began behind such a peek

    def frozen(self):
        return (tuple(self.clocks), tuple(sorted(self.accesses.items())),
                tuple(sorted(self.slots.items(), key=repr)), self.reported, self.loads, self.peeks, self.late, self.by_calls,
                self.signals)

    @classmethod
    def of(cls, frozen):
        new = cls(())
        new.clocks, new.accesses, new.slots, new.reported = list(frozen[0]), dict(frozen[1]), dict(frozen[2]), frozen[3]
        new.loads, new.peeks, new.late, new.by_calls, new.signals = frozen[4:]
        return new

    def release(self, rank, *slot):
        self.slots[slot] = join(self.slots.get(slot, self.clocks[rank]), self.clocks[rank])

    def acquire(self, rank, *slot):
        if slot in self.slots:
            self.clocks[rank] = join(self.clocks[rank], self.slots[slot])

    def complete(self, rank, accesses, is_own=False):
        """The accesses are over for all that know this time of the rank."""
        clock = self.clocks[rank]
        which = rank + len(self.clocks) if is_own else rank
        self.clocks[rank] = tuple(value + (other == which) for other, value in enumerate(clock))
        for access in accesses:
            start, completions = self.accesses[access]
            if completions and WITHOUT == "each_thread_completes_for_itself":
                continue
            self.accesses[access] = start, completions + ((which, self.clocks[rank][which]),)

    def judge(self, program, access, clock, without=frozenset()):
        """Reports the access if a conflicting one, which has been judged, is not over when it begins, nor it before."""
        completions = self.accesses[access][1]
        self.accesses[access] = clock, completions
        for other, (start, ends) in self.accesses.items():
            are_flag = program.are_flag(access, other)
            if start is None or other in without or not (are_flag or program.conflict(access, other)):
                continue
            names = {program.lines[rank][at][0] for rank, at in (access, other)}
            is_known = WITHOUT != ("what_calls_order_is_no_flag" if are_flag else "members_learn_by_calls" if names & MEMBERS else 0)
            if is_known and any(clock[rank] >= time for rank, time in ends):
                continue
            if are_flag:
                self.signals |= {frozenset({access[0], other[0]})}
                continue
            if names & MEMBERS:
                self.by_calls |= {frozenset({access[0], other[0]})}
                continue
            if not any(start[rank] >= time for rank, time in completions) and not self.is_seen(program, other, access):
                self.reported = True

    def verdict(self):
        if WITHOUT == "members_may_use_flags_of_others":
            return self.reported or bool(self.by_calls - self.signals)
        return self.reported or bool(self.by_calls) and (not self.signals or WITHOUT == "members_may_use_flags")

    @staticmethod
    def is_seen(program, earlier, later):
        """The owner of the flag may have seen it, by loads, before its own access."""
        names = [program.lines[rank][at][0] for rank, at in (earlier, later)]
        return names == ["flag", "show"] and WITHOUT != "owner_may_have_seen_a_flag"

    def pending(self, program, rank, target=None, names=("put", "get", "flag"), since=0):
        strands = [rank] if WITHOUT == "flush_completes_for_all_threads" else program.threads(rank)
        return [access for access in self.accesses if access[0] in strands and access[1] >= since and
                program.lines[access[0]][access[1]][0] in names and
                target in (None, program.lines[access[0]][access[1]][1]) and self.knows_begin(rank, access)]

    def knows_begin(self, rank, access):
        strand, time = self.slots.get(("begun", *access), (rank, 0))
        return self.clocks[rank][strand] >= time or WITHOUT == "a_flush_completes_what_comes_before_it"

    def judge_loads(self, program, rank):
        """The rank's next event is recorded: its loads and stores before it are judged, loads first."""
        strand, rank = rank, program.rank_of[rank]
        alone = WITHOUT == "loads_of_all_threads_come_before_a_call"
        strands = [strand] if alone else program.threads(rank)
        names = [(access, program.lines[access[0]][access[1]][0]) for other in strands for access in self.loads[other]]
        names.sort(key=lambda load: load[1] not in ("load", "poll", "view", "await"))
        known = bool(self.peeks[rank]) and any(name == "hoist" for _, name in names)
        keep = not known or WITHOUT == "peeked_segments_are_not_kept"
        late = self.late[rank] if not keep else frozenset()
        if known and WITHOUT == "what_is_issued_before_a_peek_is_judged":
            late = frozenset(self.accesses)
        for other in strands:
            self.loads = replace(self.loads, other, ())
            self.complete(other, [])
        for access, name in names:
            of = strand if WITHOUT == "each_thread_loads_with_its_own_clock" else access[0]
            now = self.clocks[of]
            if name == "poll" or name == "reset" and WITHOUT == "stores_do_not_end_what_is_put":
                self.end_polled(program, rank, of, now)
            if name in ("poll", "hoist") or WITHOUT in (f"{name}s_are_judged",):
                continue
            if name in MEMBERS and WITHOUT == "members_loads_and_stores_are_judged":
                continue
            self.accesses[access] = None, () if WITHOUT == "loads_are_over_at_once" else ((of, now[of]),)
            self.judge(program, access, now, late)
            if not keep:
                del self.accesses[access]

    def end_polled(self, program, rank, strand, now):
        if WITHOUT == "owner_may_have_seen_a_flag":  # which is for loads that are not recorded
            return
        for other, (start, ends) in list(self.accesses.items()):
            if program.lines[other[0]][other[1]] == ("flag", rank) and WITHOUT != "loads_may_end_what_is_put":
                self.accesses[other] = start, ends + ((strand, now[strand]),)

    def rest(self, program, rank):
        """The end: no event follows the rank's last loads and stores."""
        self.acquire(rank, "polled", program.rank_of[rank])
        self.judge_loads(program, rank)

    def recorded(self, rank):
        """The rank's next segment begins."""
        self.peeks = replace(self.peeks, rank, frozenset(peek for peek in self.peeks[rank] if peek[1]))
        self.late = replace(self.late, rank, frozenset())

    def note_late(self, access):
        """Of an access that is issued: behind a peek, other ranks may have learnt of what the owner does."""
        for owner, peeks in enumerate(self.peeks):
            if peeks:
                self.late = replace(self.late, owner, self.late[owner] | {access})

    def judge_late(self, program, rank):
        """Accesses of epochs whose begin at the target is known now."""
        for access, (clock, _) in list(self.accesses.items()):
            if access[0] != rank or clock is not None:
                continue
            target = program.lines[rank][access[1]][1]
            _, fences, in_start = program.epoch(*access)
            gate = ("post", target, rank, group_index(program, rank, "start", target, access[1])) if in_start else \
                ("fence", fences, target)
            issued = self.slots["issued", *access]
            hold = WITHOUT != ("post_comes_before_effects" if in_start else "noprecede_holds_effects_back")
            self.judge(program, access, join(issued, self.slots.get(gate, issued)) if hold else issued)

    def begin(self, program, rank, at):
        call = program.lines[rank][at]
        name, to = call[0], call[1:]
        self.learn_by_time(program, rank)
        if WITHOUT != "poll_follows_put":
            self.acquire(rank, "polled", program.rank_of[rank])
        if name in LOADS:
            self.loads = replace(self.loads, rank, self.loads[rank] + ((rank, at),))
        if name in NO_BEGIN:
            return
        if WITHOUT != "loads_come_before_the_next_call":
            self.judge_loads(program, rank)
        self.begin_call(program, rank, at)
        if WITHOUT == "loads_come_before_the_next_call":
            self.judge_loads(program, rank)
        self.recorded(program.rank_of[rank])

    def begin_call(self, program, rank, at):
        call = program.lines[rank][at]
        name, to = call[0], call[1:]
        if name in ("put", "get", "use", "flag"):
            self.begin_access(program, rank, at)
        if name == "peek":
            self.peeks = replace(self.peeks, to[0], self.peeks[to[0]] | {((rank, at), True)})
        if name in OWN and name != "take":
            self.begin_own(program, rank, at)
        if name == "take" and WITHOUT == "receive_writes_when_the_message_is_there":
            self.begin_own(program, rank, at)
        if name == "tell":
            self.release(rank, "told", program.rank_of[rank])
        if name == "fork":
            for other in program.threads(rank) if WITHOUT != "fork_orders" else ():
                self.clocks[other] = join(self.clocks[other], self.clocks[rank])
        if name == "flag":
            self.release(rank, "polled", to[0])
        if name == "set":
            if WITHOUT == "accumulate_completes_nothing":
                self.complete(rank, self.pending(program, rank, to[0]))
            self.release(rank, "word", to[0])
        if name == "signal":
            before = self.pending(program, rank, to[0])
            sent = self.clocks[rank], tuple(before), rank
            self.slots["signal", to[0]] = self.slots.get(("signal", to[0]), ()) + (sent,)
            if WITHOUT == "signal_completes_for_the_waiter_only":
                self.complete(rank, before)
        if name == "post":
            for other in to:
                self.release(rank, "post", rank, other, group_index(program, rank, "post", other, at) + 1)
        if name == "start" and WITHOUT == "start_does_not_wait":
            for other in to:
                self.acquire(rank, "post", other, rank, group_index(program, rank, "start", other, at) + 1)
        if name == "complete":
            if WITHOUT == "complete_does_not_complete":
                self.complete(rank, self.pending(program, rank))
            start = max(i for i in range(at) if program.lines[rank][i][0] == "start")
            for other in program.lines[rank][start][1:]:
                self.release(rank, "complete", rank, other, group_index(program, rank, "start", other, at))
        if name == "unlock":
            self.complete(rank, self.pending(program, rank, to[0]))
            taken = [call for call in program.lines[rank][:at] if call[0] in ("lock", "share") and call[1] == to[0]][-1]
            self.release(rank, taken[0], to[0])
        if name in ("fence", "precede"):
            if name == "fence" and WITHOUT != "fence_completes":
                self.complete(rank, self.pending(program, rank))
            self.release(rank, "fence", self.fences(program, rank, at), rank)
        if name in SENDS:
            self.release(rank, "send", rank, to[0], self.message(program, rank, at, SENDS))
        if name in RECEIVES:
            self.release(rank, "receives", rank)
        if name == "send" and WITHOUT == "send_does_not_wait":
            self.acquire(rank, "receives", to[0])
        if name in ("barrier", "bcast", "reduce"):
            self.release(rank, name, self.number(program, rank, at), rank)

    def begin_access(self, program, rank, at):
        access, call = (rank, at), program.lines[rank][at]
        _, fences, in_start = program.epoch(rank, at)
        kinds = [call[0] for call in program.lines[rank][:at] if call[0] in ("fence", "precede")]
        if WITHOUT == "only_a_completion_frees_the_buffer":
            self.complete(rank, self.pending(program, rank, names=("get",)))
        self.complete(rank, [])
        self.slots["begun", *access] = rank, self.clocks[rank][rank]
        self.accesses[access] = None, ()
        self.note_late(access)
        if call[0] == "put" and (in_start or fences and kinds[-1] == "precede"):
            self.slots["issued", *access] = self.clocks[rank]
        else:
            self.judge(program, access, self.clocks[rank])
        if call[0] == "use":
            self.complete(rank, [access])

    def begin_own(self, program, rank, at):
        """An access of the rank's own memory: a nonblocking one ends when it is done."""
        access, name = (rank, at), program.lines[rank][at][0]
        if WITHOUT == ("receive_writes" if name in ("take", "expect") else "send_reads"):
            return
        if name == "expect" and WITHOUT == "what_is_expected_is_written_from_the_call_on":
            return
        self.accesses[access] = None, ()
        self.judge(program, access, self.clocks[rank])
        is_over = name in ("give", "show") and WITHOUT != "send_reads_before_the_message_leaves" or name == "take"
        if is_over or name == "lend" and WITHOUT == "what_is_lent_is_read_until_done":
            self.complete(rank, [access], is_own=True)

    def end_receive(self, program, rank, at):
        """The message is there: what its sender knew, and what it has lent to it."""
        sender = program.lines[rank][at][1]
        number = self.message(program, rank, at, RECEIVES)
        clock = self.slots["send", sender, rank, number]
        if WITHOUT == "order_is_transitive":
            clock = tuple(value if other == sender else 0 for other, value in enumerate(clock))
        if WITHOUT != "receive_follows_send":
            self.clocks[rank] = join(self.clocks[rank], clock)
        lent = [access for access in self.accesses if access[0] == sender and
                program.lines[sender][access[1]] == ("lend", rank) and
                self.message(program, sender, access[1], SENDS) == number]
        if WITHOUT != "receiver_ends_what_is_lent":
            self.complete(rank, lent, is_own=True)

    def end_done(self, program, rank, at):
        access = rank, program.begun_before(rank, at)
        kind, _ = program.lines[rank][access[1]]
        if kind == "expect":
            self.end_receive(program, *access)
        if kind == "expect" and WITHOUT == "what_is_expected_is_written_from_the_call_on":
            self.accesses[access] = None, ()
            self.judge(program, access, self.clocks[rank])
        if access in self.accesses and WITHOUT != f"done_ends_what_is_{'lent' if kind == 'lend' else 'expected'}":
            self.complete(rank, [access], is_own=True)

    @staticmethod
    def message(program, rank, at, names):
        """The number of a message of these two ranks, in their order."""
        partner = program.lines[rank][at][1]
        return sum(call[0] in names and call[1] == partner for call in program.lines[rank][:at])

    @staticmethod
    def fences(program, rank, at):
        return sum(call[0] in ("fence", "precede") for call in program.lines[rank][:at]) + 1

    @staticmethod
    def number(program, rank, at):
        return sum(call == program.lines[rank][at] for call in program.lines[rank][:at])

    def end(self, program, rank, at):
        self.learn_by_time(program, rank)
        if WITHOUT != "poll_follows_put":
            self.acquire(rank, "polled", program.rank_of[rank])
        if program.lines[rank][at][0] in NO_END:
            return
        if WITHOUT == "loads_come_after_the_call_before":
            self.loads = replace(self.loads, rank, tuple((rank, i) for i in range(len(program.lines[rank])) if
                                 (rank, i) not in self.accesses and program.lines[rank][i][0] in LOADS))
        self.judge_loads(program, rank)
        self.end_call(program, rank, at)
        self.recorded(program.rank_of[rank])

    def learn_by_time(self, program, rank):
        by_time = {"threads_are_not_ordered_by_time": program.threads(rank), "members_do_not_learn_by_time": program.ranks}
        for other in by_time.get(WITHOUT, ()):
            self.clocks[rank] = join(self.clocks[rank], self.clocks[other])

    def end_peek(self, program, rank, at, owner):
        self.peeks = replace(self.peeks, owner, self.peeks[owner] - {((rank, at), True)} | {((rank, at), False)})
        strands = [owner] if WITHOUT == "peeks_learn_of_all_threads" else program.threads(owner)
        for strand in strands if WITHOUT != "peeks_learn_of_the_owner" else ():
            self.clocks[rank] = join(self.clocks[rank], self.clocks[strand])

    def end_call(self, program, rank, at):
        call = program.lines[rank][at]
        name, to = call[0], call[1:]
        if name == "peek":
            self.end_peek(program, rank, at, to[0])
        if name == "hear" and WITHOUT != "hear_follows_tell":
            self.acquire(rank, "told", program.rank_of[rank])
        if name == "join" or name == "hear" and WITHOUT == "hear_does_not_follow_the_thread":
            for other in program.threads(rank) if WITHOUT != "join_orders" else ():
                self.clocks[rank] = join(self.clocks[rank], self.clocks[other])
        if name == "flush":
            self.judge_late(program, rank)
            if WITHOUT != "flush_completes":
                self.complete(rank, self.pending(program, rank, to[0]))
        if name == "local" and WITHOUT != "flush_local_frees_the_buffer":
            names = ("put", "get") if WITHOUT == "flush_local_does_not_complete" else ("get",)
            self.complete(rank, self.pending(program, rank, to[0], names))
        if name in ("lock", "share"):
            other = 1 if to[0] != 1 else 2
            for target in (to[0], other) if WITHOUT == "locks_are_of_one_target" else to:
                self.end_lock(rank, name, target)
        if name == "spin" and WITHOUT != "fetch_follows_accumulate":
            self.acquire(rank, "word", to[0])
        if name == "fetch" and WITHOUT != "a_fetch_may_end_what_is_accumulated":
            self.complete(rank, [access for access in self.accesses
                                 if program.lines[access[0]][access[1]] == ("flag", program.rank_of[rank])])
        if name == "complete":
            self.end_complete(program, rank, at)
        if name == "wait":
            self.end_wait(program, rank, at)
        if name == "fence":
            self.judge_late(program, rank)
            for other in program.ranks if WITHOUT != "fence_is_a_barrier" else ():
                self.acquire(rank, "fence", self.fences(program, rank, at), other)
        if name == "precede" and WITHOUT == "noprecede_is_no_barrier":
            for other in program.ranks:
                self.acquire(rank, "fence", self.fences(program, rank, at), other)
        if name == "taken":
            self.end_taken(program, rank)
        if name in ("recv", "take"):
            self.end_receive(program, rank, at)
        if name == "take" and WITHOUT != "receive_writes_when_the_message_is_there":
            self.begin_own(program, rank, at)
        if name == "done":
            self.end_done(program, rank, at)
        if name in ("give", "show") and WITHOUT == "send_reads_before_the_message_leaves":
            self.complete(rank, [(rank, at)], is_own=True)
        if name == "look" and WITHOUT != "get_may_see_a_store_behind_a_message":
            self.see_own(rank, to[0])
        if name == "ssend" and WITHOUT != "synchronous_send_follows_receive":
            self.acquire(rank, "receives", to[0])
        if name in ("barrier", "bcast", "reduce"):
            self.end_collective(program, rank, name, self.number(program, rank, at))

    def see_own(self, rank, owner):
        """What a get brings may be a word that the owner has stored behind accesses of its own."""
        which = len(self.clocks) + owner
        latest = self.clocks[owner][which]
        self.clocks[rank] = tuple(max(value, latest) if other == which else value
                                  for other, value in enumerate(self.clocks[rank]))

    def end_lock(self, rank, name, target):
        if WITHOUT == "lock_follows_unlock" or name == "share" and WITHOUT == "shared_follows_exclusive":
            return
        self.acquire(rank, "lock", target)
        if name == "lock" or WITHOUT == "shared_locks_do_not_order":
            self.acquire(rank, "share", target)

    def end_complete(self, program, rank, at):
        start = max(i for i in range(at) if program.lines[rank][i][0] == "start")
        for other in program.lines[rank][start][1:] if WITHOUT != "complete_acquires_post" else ():
            self.acquire(rank, "post", other, rank, group_index(program, rank, "start", other, at))
        self.judge_late(program, rank)
        if WITHOUT != "complete_frees_the_buffer":
            self.complete(rank, self.pending(program, rank, names=("get",), since=start))

    def end_wait(self, program, rank, at):
        post = max(i for i in range(at) if program.lines[rank][i][0] == "post")
        over = []
        for origin in program.lines[rank][post][1:]:
            number = group_index(program, rank, "post", origin, at)
            self.acquire(rank, "complete", origin, rank, number)
            over += [op for op in self.pending(program, origin, rank, ("put",)) if program.epoch(*op)[2] and
                     group_index(program, origin, "start", rank, op[1]) == number]
        if WITHOUT != "wait_completes":
            self.complete(rank, over)

    def end_taken(self, program, rank):
        over = []
        for clock, before, origin in self.slots.get(("signal", rank), ()):
            self.clocks[rank] = join(self.clocks[rank], clock)
            over += self.pending(program, origin, rank) if WITHOUT == "signal_completes_nothing_after" else before
        if WITHOUT != "signal_completes_what_is_before":
            self.complete(rank, over)

    def end_collective(self, program, rank, name, number):
        if WITHOUT == {"barrier": "barrier_orders", "bcast": "bcast_orders_root_first",
                       "reduce": "reduce_orders_root_last"}[name]:
            return
        wide = WITHOUT == {"bcast": "bcast_is_no_barrier", "reduce": "reduce_is_no_barrier"}.get(name, "")
        everybody = name == "barrier" or name == "reduce" and rank == 0 or wide
        for other in program.ranks if everybody else [0] if name == "bcast" else []:
            self.acquire(rank, name, number, other)


# ---- truth and verdict ----

def explore(program):
    """By the order of granted locks: pairs in each order that some execution has, and verdicts of executions."""
    first = begin_of(program)
    seen, stack, found = {first.key()}, [first], {}
    while stack:
        state = stack.pop()
        nexts = list(steps(program, state))
        if not nexts:
            if any(at < len(line) for at, line in zip(state.at, program.lines)):
                return {}  # a deadlock: no program to judge
            judge = Judge.of(state.judge)
            for rank in program.strands:
                judge.rest(program, rank)
            orders, verdicts = found.setdefault(state.grants, (set(), set()))
            orders |= {pair for pair in itertools.combinations(state.order, 2) if program.conflict(*pair)}
            verdicts.add(judge.verdict())
        for new in nexts:
            if new.key() not in seen:
                seen.add(new.key())
                stack.append(new)
    return found


def is_wrong(lines):
    """What is wrong with the verdict, or None."""
    program = Program(lines)
    for orders, verdicts in explore(program).values():
        races = any((b, a) in orders for a, b in orders)
        if not races and True in verdicts:
            return "a false report"
        if races and (True not in verdicts or False in verdicts and not program.by_chance):
            return "a race that is missed"
    return None


def text_of(lines):
    return " | ".join("; ".join(" ".join(map(str, call)) for call in line) for line in lines)


def all_are_right(programs):
    wrong = [(lines, what) for lines in programs if (what := is_wrong(lines))]
    for lines, what in wrong[:5]:
        print("#", what, "of", text_of(lines))
    return not wrong


def main(rule=None):
    global WITHOUT
    if rule in RULES:
        WITHOUT = rule
        print(RULES[rule], "#", is_wrong(parse(RULES[rule])))
        return 0
    failed = 0
    for name, programs in (("rules", map(parse, RULES.values())), ("more", map(parse, MORE)),
                           ("all_of_two_ranks", enumerated())):
        good = all_are_right(programs)
        failed += not good
        print("ok" if good else "not ok", f"check_model_{name}", flush=True)
    good = all(is_wrong(parse(text)) == "a race that is missed" for text in HIDDEN)
    failed += not good
    print("ok" if good else "not ok", "check_model_hidden", flush=True)
    for WITHOUT, text in RULES.items():
        what = is_wrong(parse(text))
        failed += what is None
        print("ok" if what else "not ok", f"check_model_without_{WITHOUT}:", what or "nobody notices", flush=True)
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
