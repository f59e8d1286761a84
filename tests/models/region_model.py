#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of regions of lib/mem/region_table.c, and how lib/win/remote_regions.c reads it, tried in all orders.

Explicit states. An owner attaches and detaches regions; each of its stores is a step, in any order that its fences leave
open. An origin uses regions. What one request reads of the table's root, or of an entry, it reads word by word in any order,
and words that a check protects in halves; entries it reads one after the other, upwards or downwards. `notified` is placed in
halves. Of a check it is modelled that no mixture fits it. An origin looks at `notified` and answers at any time between two
calls, as its service thread may.

Checked: a call that begins behind an attach, and ends before the detach begins, finds the region; what is used is no
mixture; no request arrives by the key of a region whose detach has returned; from every state all calls can end, and the
origin's call that is under way also if the owner never takes another step. Last, parts are left out one by one, and missed.

usage: region_model.py    it takes some seconds

Status 0: all states of each search have been seen, and are good, and each part that was left out was missed; else 1.
"""
import sys
from typing import NamedTuple

# What the owner does: (region, index, address) attaches, (region,) detaches. Then what the origin uses: a region, or what is
# at its address by then, once it has been attached.
SCRIPTS = {
    "grows": (((1, 0, "x"), (2, 1, "y")), (1, 2)),
    "again": (((1, 0, "x"), (1,), (2, 0, "x")), (1, 2)),
    "goes": (((1, 0, "x"), (2, 1, "y"), (1,), (2,)), (1, 2)),
    "returns": (((1, 0, "x"), (2, 1, "y"), (1,), (3, 0, "x")), (2, 1)),
    "three": (((1, 0, "x"), (2, 1, "y"), (3, 2, "z")), (1, 3)),
}
WITHOUT = None  # a name of MENDS: that part is left out, and a violation must be found
MENDS = {  # and the script that shows it
    "every_refusal_has_read": "grows",  # a count of changes, read with the root, says that there is nothing new to read
    "no_count_of_changes": "three",  # the same by a count that is read before the root, in halves
    "used_has_a_check": "grows",
    "missing_segment_is_passed_over": "grows",  # nothing is read then
    "entry_has_a_check": "grows",
    "torn_entry_is_passed_over": "grows",  # the origin reads again until no entry is torn
    "hidden_before_heard_is_read": "again",
    "heard_before_reading": "again",
    "notified_drops": "again",
    "answer_behind_requests": "again",
    "whole_answer": "goes",
}
FREE = (0, 0, 0)
ATTACHED, LEAVES, GONE = 1, 2, 3  # what a region is to the program; 0: not there yet
IDLE, LOOK, COUNT, ROOT, ENTRIES, USE = range(6)


class State(NamedTuple):
    linked: bool  # the table: whether its second segment, of all indices but 0, is; entries: base, key, check
    used: int
    changes: int
    entries: tuple
    turn: int  # the owner: its place in the script, and which steps of it are left; None: not begun
    left: tuple
    regions: tuple
    notified: tuple  # at the origin: detaches so far, index of the last; and halves that are not placed yet
    unplaced: tuple
    acked: tuple  # at the owner; None: the origin has never read
    call: int  # the origin
    at: int
    due: bool  # the region was attached when the call began
    got: frozenset  # parts that have been read, with their values
    known: tuple  # base, key and index
    acted: tuple  # the last `notified` acted upon
    answering: bool
    flight: tuple  # keys of requests
    kept: int  # the count of changes at the last reading that was whole


def put(items, at, value):
    return items[:at] + (value,) + items[at + 1:]


class Violation(Exception):
    pass


# The owner.

def index_of(script, region):
    return next(step[1] for step in script if step[0] == region and len(step) > 1)


def notified_by(script, turn):
    return sum(len(step) == 1 for step in script[:turn + 1]), index_of(script, script[turn][0])


def stores_of(state, step):
    if len(step) == 1:
        return ("open", "base", "key", "check", "changes", "ask")
    index = step[1]
    return ("open", "base", "key", "check") + ("link",) * (index > 0) + ("used",) * (state.used <= index) + ("changes",)


def may(what, left):
    """Fences: the check is cleared first and set last, changes are counted behind all, `acked` is read behind it."""
    if what == "ask":
        return len(left) == 1 or WITHOUT == "hidden_before_heard_is_read"
    if what == "changes":
        return set(left) <= {"changes", "ask", "wait"}
    behind = {"open": set(), "base": {"open"}, "key": {"open"}, "check": {"open", "base", "key"}}
    return not behind.get(what, set()) & set(left)


def store(state, what, index, value):
    base, key, check = state.entries[index]
    if what == "link":
        return state._replace(linked=True)
    if what == "used":
        return state._replace(used=index + 1)
    if what == "changes":
        return state._replace(changes=state.changes + 1)
    entry = {"open": (base, key, 0), "base": (value, key, check), "key": (base, value, check), "check": (base, key, value)}
    return state._replace(entries=put(state.entries, index, entry[what]))


def is_answered(acked, notified):
    return acked == notified or (WITHOUT == "whole_answer" and acked[0] == notified[0])


def owner(state, script):
    """The states behind each step that it can take."""
    if state.turn == len(script):
        return
    step, left = script[state.turn], state.left
    region, detaches = step[0], len(step) == 1
    if left is None:
        regions = put(state.regions, region, LEAVES) if detaches else state.regions
        yield state._replace(left=stores_of(state, step), regions=regions)
    elif not left:
        yield state._replace(turn=state.turn + 1, left=None,
                             regions=put(state.regions, region, GONE if detaches else ATTACHED))
    for i, what in enumerate(left or ()):
        after, rest = state, left[:i] + left[i + 1:]
        if what == "wait":
            if len(left) > 1 or not is_answered(state.acked, notified_by(script, state.turn)):
                continue
        elif not may(what, left):
            continue
        elif what == "ask":
            if state.acked is not None:
                after, rest = state._replace(unplaced=tuple(enumerate(notified_by(script, state.turn)))), rest + ("wait",)
        else:
            after = store(state, what, index_of(script, region), 0 if detaches else region)
        yield after._replace(left=rest)


def placed(state):
    """The device places what of `notified` is on its way."""
    for half, value in state.unplaced:
        rest = tuple(i for i in state.unplaced if i[0] != half)
        yield state._replace(notified=put(state.notified, half, value), unplaced=rest)


# The origin.

def readable(state):
    """What there is to read now, and with which values."""
    if state.at == COUNT:
        return {"changes_high": state.changes // 2, "changes_low": state.changes % 2}
    if state.at == ENTRIES:
        got = dict(state.got)
        left = ([(i, part) for part in range(3) if (i, part) not in got] for i in got["indices"])
        return {(i, part): state.entries[i][part] for i, part in next(filter(None, left), ())}
    root = {"linked": state.linked}
    if WITHOUT == "every_refusal_has_read":
        return dict(root, used=state.used, changes=state.changes)
    return dict(root, used_high=state.used // 2, used_low=state.used % 2, used_check=state.used)


def used_told(got, most):
    if "used" in got:
        return got["used"]
    used = 2 * got["used_high"] + got["used_low"]
    return min(used, most) if used == got["used_check"] or WITHOUT == "used_has_a_check" else most


def read(state, script):
    got = dict(state.got)
    for part, value in readable(state).items():
        if part not in got:
            after = state._replace(got=state.got | {(part, value)})
            if readable(after).keys() - dict(after.got).keys():
                yield after
            else:
                yield from have_read(after, script)


def have_read(state, script):
    got = dict(state.got)
    if state.at == COUNT:
        return [state._replace(at=ROOT, got=frozenset({("changes", 2 * got["changes_high"] + got["changes_low"])}))]
    if state.at == ROOT:
        return have_root(state, script, got)
    return [have_entries(state, script, got)]


def have_root(state, script, got):
    changes, used = got.get("changes"), used_told(got, len(state.entries))
    if changes is not None and changes == state.kept:
        return [end(state, script)]
    if WITHOUT == "missing_segment_is_passed_over" and used > 1 and not got["linked"]:
        return [end(state, script)]
    there = tuple(i for i in range(used) if i == 0 or got["linked"])
    counted = changes if len(there) == used else None
    if not there:
        return [have_entries(state, script, {"indices": (), "changes": counted})]
    return [state._replace(at=ENTRIES, got=frozenset({("indices", order), ("changes", counted)}))
            for order in {there, there[::-1]}]


def have_entries(state, script, got):
    entries = [(i, tuple(got[i, part] for part in range(3))) for i in got["indices"]]
    torn = [i for i, entry in entries if entry != FREE and len(set(entry)) > 1]
    if torn and WITHOUT == "torn_entry_is_passed_over":
        return state._replace(at=ROOT, got=frozenset())
    if WITHOUT == "entry_has_a_check":
        torn = []
    known = tuple(sorted((entry[0], entry[1], i) for i, entry in entries if entry[0] and i not in torn))
    return state._replace(at=USE, got=frozenset(), known=known, kept=None if torn else got["changes"])


def found(state, script):
    """What is known at the address that the call is to use."""
    address = {step[0]: step[2] for step in script[0] if len(step) > 1}
    wanted = address[script[1][state.call]]
    return [(base, key) for base, key, _ in state.known if address[base] == wanted]


def end(state, script):
    """The call uses the region, or refuses it."""
    regions = found(state, script)
    if not regions and state.due and state.regions[script[1][state.call]] == ATTACHED:
        raise Violation("REFUSED")
    if any(base != key for base, key in regions):
        raise Violation("MIXTURE USED")
    flight = state.flight + tuple(key for _, key in regions)
    return subscribe(state)._replace(call=state.call + 1, at=IDLE, got=frozenset(), due=False, flight=flight)


def subscribe(state):
    return state._replace(acked=state.acted) if state.acked is None else state


def act(state):
    known = state.known if WITHOUT == "notified_drops" else tuple(i for i in state.known if i[2] != state.notified[1])
    return state._replace(acted=state.notified, answering=True, known=known, kept=None)


def between_calls(state, script):
    if state.acked is not None and state.notified != state.acted:
        yield act(state)
    if state.answering and (not state.flight or WITHOUT == "answer_behind_requests"):
        yield state._replace(acked=state.acted, answering=False)
    if state.call < len(script[1]) and state.regions[script[1][state.call]]:
        first = state if WITHOUT == "heard_before_reading" else subscribe(state)
        yield first._replace(at=LOOK, due=state.regions[script[1][state.call]] == ATTACHED)


def origin(state, script):
    if state.flight:
        if state.regions[state.flight[0]] == GONE:
            raise Violation("KEY OF WHAT IS GONE")
        yield state._replace(flight=state.flight[1:])
    if state.at == IDLE:
        yield from between_calls(state, script)
    elif state.at == USE or (state.at == LOOK and found(state, script)):
        yield end(state, script)
    elif state.at == LOOK:
        yield state._replace(at=COUNT if WITHOUT == "no_count_of_changes" else ROOT)
    else:
        yield from read(state, script)


def others(state, script):
    """What is done without the owner."""
    yield from placed(state)
    yield from origin(state, script)


def is_idle(state):
    return state.at == IDLE and not state.flight


def has_ended(state, script):
    return is_idle(state) and state.turn == len(script[0]) and state.call == len(script[1])


def first_state(script):
    entries = 1 + max(step[1] for step in script if len(step) > 1)
    regions = 1 + max(step[0] for step in script)
    return State(False, 0, 0, (FREE,) * entries, 0, None, (0,) * regions, (0, 0), (), None, 0, IDLE, False,
                 frozenset(), (), (0, 0), False, (), None)


def reaching(goals, before):
    """The states, by number, from which one of the goals can be reached."""
    good, stack = set(goals), list(goals)
    while stack:
        for number in before[stack.pop()]:
            if number not in good:
                good.add(number)
                stack.append(number)
    return good


def run(script):
    start = first_state(script[0])
    number_of, states = {start: 0}, [start]
    before, before_others = [[]], [[]]  # the states in front of each, and those without the owner's steps
    for number, state in enumerate(states):  # grows meanwhile
        try:
            after = [(new, True) for new in others(state, script)] + [(new, False) for new in owner(state, script[0])]
        except Violation as violation:
            return str(violation), state
        for new, is_other in after:
            at = number_of.setdefault(new, len(states))
            if at == len(states):
                states.append(new)
                before.append([])
                before_others.append([])
            (before_others if is_other else before)[at].append(number)
        if len(states) > LIMIT:
            return "limit", len(states)
    return judge(script, states, before, before_others)


def judge(script, states, before, before_others):
    """Whether all calls can end from every state, and the origin's by steps of others than the owner."""
    alone = reaching([i for i, state in enumerate(states) if is_idle(state)], before_others)
    both = [own + other for own, other in zip(before, before_others)]
    ended = reaching([i for i, state in enumerate(states) if has_ended(state, script)], both)
    stuck = next((i for i in range(len(states)) if i not in alone or i not in ended), None)
    return ("ok", len(states)) if stuck is None else ("STUCK", states[stuck])


LIMIT = 1000000  # states


def report(good, name, *found):
    print("ok" if good else "not ok", f"region_model_{name}:", *found, flush=True)


def main():
    failed = 0
    for name, script in SCRIPTS.items():
        what, found = run(script)
        failed += what != "ok"
        report(what == "ok", name, what, found)
    return 1 if failed + without_mends() else 0


def without_mends():
    """Each of the parts is needed: how many were left out and not missed."""
    global WITHOUT
    failed = 0
    for WITHOUT, name in MENDS.items():
        what = run(SCRIPTS[name])[0]
        missed = what not in ("ok", "limit")
        failed += not missed
        report(missed, f"without_{WITHOUT}", what)
    return failed


sys.exit(main())
