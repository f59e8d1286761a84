#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The lock of lib/win/lock_words.c, and its repair of lib/sync/lock_repair.c, tried in all orders.

Explicit states; each access of a word at the target is a step of its own. Ranks are R (ask for the lock
shared) or W (exclusive). With `deaths` ranks may die at any step; the target's service thread then repairs
their words, one by one. Checked: nobody is in beside a writer; serving moves only by its owner or the
repair of a dead one; a writer that comes in has read a count of orphans with every dead holder in it; from
every state all living ranks can finish. A rank may give up what it waits for, once (`leaves`): it keeps its
place, does not use the lock when it comes, and passes it on. A reading of `next` may be torn, its halves (of
one bit and the rest) read one after the other. A device may place a word twice (`twice`): then who leaves says so, and who
comes in waits until whoever was in before has said that it is out. Last, parts of it are left out one by one, and missed.

The last rank's word lies in a second segment of the table, which the target links at any time; it asks no
earlier.

usage: lock_model.py [--limit STATES] [full]    the short form takes some seconds, the full one some minutes

Status 0: all states of each search have been seen, and are good. 1: one is not, or a part left out was not missed. 2: a search
has come to its limit, which says nothing about the states that it has not seen; else as 0.
"""
import argparse
import sys

ABSENT, ASK, WAIT, INTENT, TICKET, GONE, LEAVES = range(7)  # LEAVES: INTENT, and gives the lock back
HELD, LEAVING, AWAY, PASSING, LEAVING_TWICE, AWAY_TWICE, READY = 50, 51, 52, 53, 54, 55, 56
WITHOUT = None  # a name of MENDS: that part is left out, and a violation must be found
MENDS = {  # what is run without it: kinds, rounds, deaths, order of the header's words, leaves, twice
    "read_again": ("RW", 2, 1, 1, 0, 0),
    "read_twice": ("WWR", 1, 0, 2, 0, 0),
    "older_waits_hold": ("RW", 2, 1, 0, 0, 0),
    "ask_first": ("RW", 2, 1, 0, 0, 0),
    "living_intent": ("WW", 2, 1, 0, 0, 0),
    "ticket_first": ("WW", 2, 1, 0, 0, 0),
    "count_again": ("RW", 1, 1, 0, 0, 0),
    "any_of_the_dead": ("WWW", 1, 2, 0, 0, 0),
    "keeps_its_place": ("WW", 1, 0, 0, 1, 0),
    "table_behind_ticket": ("WR", 1, 0, 0, 0, 0),
    "out_before_in": ("WW", 2, 0, 0, 0, 1),
    "says_that_it_leaves": ("WW", 2, 0, 0, 0, 1),
    "nothing_comes_of_the_dead": ("WW", 2, 1, 0, 0, 1),
    "out_before_away": ("WWR", 1, 0, 0, 0, 1),
    "out_before_repair": ("WW", 2, 1, 0, 0, 1),
}


def put(items, at, value):
    return items[:at] + (value,) + items[at + 1:]


def reader(pc, a, b, memory, me, order):
    """One step of a reader: the new (pc, a, b) and memory, or None while it waits. order: 0 serving before next, 1 after,
    2 before, and next in halves, the upper one first."""
    serving, following, states, tickets, orphans, linked = memory
    if pc == 0:
        said = put(states, me, ABSENT if WITHOUT == "ask_first" else ASK)
        return (1, 0, None), (serving, following, said, tickets, orphans, linked)
    if pc == 1:  # first of the two header words
        return (2, following if order == 1 else serving, b), memory
    if pc == 2 and order == 2:
        return (7, (a, following // 2 * 2), b), memory
    if pc in (2, 7):
        n, s = (a, serving) if order == 1 else (following, a)
        if pc == 7:
            s, n = a[0], a[1] + following % 2
        if n < s and WITHOUT != "read_again":
            return (1, 0, None), memory  # read again
        if n == s and n % 2 == 0 and order == 2 and b != n and WITHOUT != "read_twice":
            return (1, 0, n), memory  # a low half counts if it is read twice
        return ((HELD, 0, 0) if n == s else (3, s, 0)), memory
    if pc == 3:
        return (4, a, 0), (serving, following, states, put(tickets, me, a), orphans, linked)
    if pc == 4:
        return (5, a, 0), (serving, following, put(states, me, WAIT), tickets, orphans, linked)
    if pc == 5:
        return ((PASSING if b else HELD, 0, 0), memory) if serving > a else None
    return (None, 0, 0), (serving, following, put(states, me, ABSENT), tickets, orphans, linked)  # HELD: release


def read_header(memory, known, left):
    """What a writer keeps of a header: members looked at so far, those of them that have gone, how many had before,
    orphans, whether there is a second segment, whether the call has left."""
    return (0, 0, known, memory[4], memory[5], left)


def may_still_write(at, ticket, memory, notes):
    """Whether the rank was in before the writer with that ticket, and is not out."""
    if memory[2][at] == LEAVES:
        return notes[at] is None or WITHOUT == "nothing_comes_of_the_dead"
    return memory[2][at] == TICKET and memory[3][at] < ticket


def any_may_write(me, ticket, memory, notes):
    return any(may_still_write(i, ticket, memory, notes) for i in range(len(notes)) if i != me)


def writer(pc, a, b, memory, me, ranks, notes, twice):
    """a: the ticket; b: read_header."""
    serving, following, states, tickets, orphans, linked = memory
    if pc == 0:
        early = linked if WITHOUT == "table_behind_ticket" else None
        return (1, early, None), (serving, following, put(states, me, INTENT), tickets, orphans, linked)
    if pc == 1:
        return (2, following, a), (serving, following + 1, states, tickets, orphans, linked)
    if pc == 2:
        header = read_header(memory, 0, 0)
        header = header if b is None else put(header, 4, b)
        return ((6 if serving == a else 3), a, header), memory
    if pc == 3:
        said = tickets if WITHOUT == "ticket_first" else put(tickets, me, a)
        return (4, a, b), (serving, following, states, said, orphans, linked)
    if pc == 4:
        return (5, a, b), (serving, following, put(states, me, TICKET), tickets, orphans, linked)
    if pc == 5:
        return ((6, a, read_header(memory, b[2], b[5])), memory) if serving == a else None
    if pc == 6:
        at, gone, known, _, second, left = b
        if at == (ranks if second else ranks - 1):
            if gone > known and WITHOUT != "count_again":
                return (5, a, put(b, 2, gone)), memory  # the header is read again
            return (PASSING if left else HELD, a, b), memory
        blocked = states[at] == ASK or (states[at] == WAIT and tickets[at] != a and WITHOUT != "older_waits_hold")
        if twice and WITHOUT != "out_before_in":
            blocked = blocked or may_still_write(at, a, memory, notes)
        return ((6, a, (at + 1, gone + (states[at] == GONE)) + b[2:]), memory) if not blocked or at == me else None
    if pc in (LEAVING_TWICE, AWAY_TWICE):
        return (LEAVING if pc == LEAVING_TWICE else AWAY, a, 0), (a + 1, following, states, tickets, orphans, linked)
    if pc == AWAY:  # the turn is given away, and another ticket drawn
        return (0, 0, 0), (serving, following, put(states, me, ABSENT), tickets, orphans, linked)
    if pc in (HELD, PASSING) and twice and states[me] == INTENT and WITHOUT != "says_that_it_leaves":
        return (READY, a, 0), (serving, following, put(states, me, LEAVES), tickets, orphans, linked)
    if pc in (HELD, PASSING, READY):
        return (LEAVING_TWICE if twice else LEAVING, a, 0), (a + 1, following, states, tickets, orphans, linked)
    return (None, 0, 0), (serving, following, put(states, me, ABSENT), tickets, orphans, linked)


def leave(kind, pc, a, b, memory, me):
    """A call that waits times out: its rank goes on waiting without it. The new (pc, a, b) and memory, or None."""
    if kind == "R":
        return ((pc, a, 1), memory) if pc == 5 and not b else None
    if pc not in (5, 6) or b[5]:
        return None
    if WITHOUT == "keeps_its_place":
        return (None, 0, 0), put(memory, 2, put(memory[2], me, ABSENT))
    return (pc, a, put(b, 5, 1)), memory


def repair(memory, who, notes, living, dead, twice):
    """One look at a dead rank's word; notes[who] is what the first look left: None, or serving then. Atomic, but for
    the scan for a dead INTENT, whose two readings of serving make it so in effect."""
    serving, following, states, tickets, orphans, linked = memory
    state, first = states[who], notes[who] is None
    gone = put(states, who, ABSENT)
    if state in (ABSENT, GONE):
        return memory, notes
    if state in (ASK, WAIT):
        if state == WAIT and serving <= tickets[who]:
            return (serving, following, gone, tickets, orphans, linked), notes
        return (serving, following, put(states, who, GONE), tickets, orphans | {who}, linked), notes
    noted = put(notes, who, serving) if first else notes
    early = twice and any_may_write(who, serving, memory, noted) and WITHOUT != "out_before_repair"
    if state == TICKET:
        if serving < tickets[who]:
            return memory, noted
        mine = serving == tickets[who]
        if mine and early:
            return memory, notes
        return (serving + mine, following, gone, tickets, orphans | {who} if mine and first else orphans, linked), notes
    if any((states[i] in (INTENT, LEAVES) and WITHOUT != "living_intent") or (states[i] == TICKET and tickets[i] == serving) for i in living):
        return memory, noted
    others = [i for i in dead if i != who]
    if any((states[i] in (INTENT, LEAVES) and notes[i] is None) or (states[i] == TICKET and tickets[i] == serving) for i in others):
        return memory, noted
    if serving == following:
        return (serving, following, gone, tickets, orphans, linked), notes
    if early:
        return memory, noted
    maybe = {who} if WITHOUT == "any_of_the_dead" else {i for i in dead if states[i] in (INTENT, LEAVES)}
    counted = orphans | {i for i in maybe if noted[i] == serving}  # whose it was nobody knows
    return (serving + 1, following, gone, tickets, counted, linked), notes


def run(kinds, rounds, deaths, order, leaves, twice, limit):
    ranks = len(kinds)
    first = 2 if order == 2 else 1  # a carry comes with the second ticket that is drawn
    memory = (first, first, (ABSENT,) * ranks, (0,) * ranks, frozenset(), False)
    start = (memory, ((0, 0, 0, 0),) * ranks, (), (None,) * ranks, frozenset(), 0)
    seen, stack, before, goals = {start}, [start], {}, []
    while stack:
        state = stack.pop()
        memory, at, dead, notes, holders, left = state
        living = [i for i in range(ranks) if i not in dead]
        inside = [i for i in living if at[i][0] == HELD]
        if len(inside) > 1 and any(kinds[i] == "W" for i in inside):
            return "NOT EXCLUSIVE", state
        for i in inside:
            if kinds[i] == "W" and memory[0] != at[i][1]:
                return "SERVING MOVED UNDER ITS HOLDER", state
            if kinds[i] == "W" and not holders <= at[i][2][3]:
                return "ORPHAN NOT TOLD", state
        after = []
        if not memory[5]:
            after.append((memory[:5] + (True,), at, dead, notes, holders, left))
        for i in living:
            pc, a, b, done = at[i]
            if done == rounds or (i == ranks - 1 and not memory[5]):
                continue
            if len(dead) < deaths:
                held = holders | {i} if pc == HELD else holders
                after.append((memory, at, tuple(sorted(dead + (i,))), notes, held, left))
            early = twice and pc == 6 and (memory[2][i] == INTENT or any_may_write(i, a, memory, notes) and WITHOUT != "out_before_away")
            if pc == 6 and memory[1] <= ranks * rounds and WAIT in memory[2] and not early:  # it may give its turn away
                away = (memory[0] + 1,) + memory[1:]
                after.append((away, put(at, i, (AWAY_TWICE if twice else AWAY, a, 0, done)), dead, notes, holders, left))
            if kinds[i] == "R":
                steps = [(reader(pc, a, b, memory, i, order), left)]
            else:
                steps = [(writer(pc, a, b, memory, i, ranks, notes, twice), left)]
            if left < leaves:
                steps.append((leave(kinds[i], pc, a, b, memory, i), left + 1))
            for step, gone in steps:
                if step:
                    (pc, a, b), new = step
                    word = (0, 0, 0, done + 1) if pc is None else (pc, a, b, done)
                    after.append((new, put(at, i, word), dead, notes, holders, gone))
        for i in dead:
            new, noted = repair(memory, i, notes, living, dead, twice)
            if (new, noted) != (memory, notes):
                after.append((new, at, dead, noted, holders, left))
        if all(at[i][3] == rounds for i in living) and all(memory[2][i] in (ABSENT, GONE) for i in dead):
            if not holders <= memory[4]:
                return "ORPHAN NOT COUNTED", state
            goals.append(state)
        for new in after:
            before.setdefault(new, []).append(state)
            if new not in seen:
                seen.add(new)
                stack.append(new)
        if len(seen) > limit:
            return "limit", len(seen)
    good, stack = set(goals), list(goals)
    while stack:
        for state in before.get(stack.pop(), ()):
            if state not in good:
                good.add(state)
                stack.append(state)
    stuck = seen - good
    return ("STUCK", next(iter(stuck))) if stuck else ("ok", len(seen))


ORDERS = (0, 1)
SHORT = [  # kinds, rounds, deaths, leaves, orders, twice
    ("RW", 2, 1, 0, ORDERS, 0), ("WW", 1, 2, 0, (0,), 0), ("RRW", 1, 1, 0, (0,), 0), ("WWR", 1, 1, 0, ORDERS, 0),
    ("WR", 2, 0, 0, (2,), 0), ("WWR", 1, 0, 0, (2,), 0), ("RW", 1, 2, 0, ORDERS, 0), ("RW", 1, 1, 1, (0,), 0),
    ("WW", 1, 1, 1, (0,), 0), ("WR", 1, 1, 1, (0,), 0),
    ("WW", 2, 1, 0, (0,), 1), ("WW", 1, 2, 0, (0,), 1), ("RW", 1, 1, 0, (0,), 1), ("WWR", 1, 0, 0, (0,), 1), ("WW", 1, 1, 1, (0,), 1),
]
FULL = SHORT + [
    ("WW", 2, 1, 1, (0,), 0), ("WW", 2, 2, 0, (0,), 0), ("RWW", 1, 1, 0, ORDERS, 0), ("WWW", 1, 1, 0, (0,), 0),
    ("RRW", 2, 0, 0, ORDERS, 0), ("RWW", 1, 2, 0, ORDERS, 0), ("WWW", 1, 2, 0, (0,), 0), ("RRWW", 1, 0, 0, ORDERS, 0),
    ("RWW", 2, 0, 1, ORDERS, 0), ("WWR", 2, 0, 0, (2,), 0),
    ("WW", 2, 2, 0, (0,), 1), ("WWW", 1, 2, 0, (0,), 1), ("RWW", 1, 1, 0, (0,), 1), ("WWW", 2, 0, 0, (0,), 1),
]


LIMIT_SHORT, LIMIT_FULL = 400000, 4000000


def report(good, name, *found):
    print("ok" if good else "not ok", f"lock_model_{name}:", *found, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("form", nargs="?", choices=["full"])
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    limit = asked.limit or (LIMIT_FULL if asked.form else LIMIT_SHORT)
    failed = unfinished = 0
    for kinds, rounds, deaths, leaves, orders, twice in FULL if asked.form else SHORT:
        for order in orders:
            what, *found = run(kinds, rounds, deaths, order, leaves, twice, limit)
            unfinished += what == "limit"
            failed += what not in ("ok", "limit")
            if what == "limit":
                what = "not all states seen, limit reached at"
            report(what == "ok", f"{kinds}_{rounds}_{deaths}_{leaves}_{order}{'_twice' * twice}", what, *found)
    failed += without_mends()
    return 1 if failed else 2 if unfinished else 0


def without_mends():
    """Each of the parts is needed: how many were left out and not missed."""
    global WITHOUT
    failed = 0
    for WITHOUT, setting in MENDS.items():
        found = run(*setting, LIMIT_SHORT)[0]
        missed = found not in ("ok", "limit")
        failed += not missed
        report(missed, f"without_{WITHOUT}", found)
    return failed


sys.exit(main())
