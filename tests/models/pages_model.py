#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The rights of pages in lib/check/pages/region.c, and what its faults note, tried in all orders.

Explicit states. Threads of a process access pages of one window, and call; each takes one step after the other. An access
whose page is closed faults: the handler enters the lock, looks at the table of rights, notes the access, opens the page,
and writes the table. A call takes the notes, and closes what is open, page by page. What lies between two calls of any
thread is a *segment*. While one thread is in the lock others access pages, and fault.

Checked, for each execution:
- Each note is of an access that was made, in a segment between its first attempt and its end, and covers what it names.
- Of each page that an access has reached in one segment there is a note in it, and a note of a store if it was one; but
  not of pages that were opened beside the one of the fault.
- An access faults once for each of its pages and each time that they are closed. No thread waits for ever.
At the end rules are left out one by one, and each must be missed.

Steps of a thread: `load P`, `store P`; `first P`, a load of the page's first byte; `span P`, a load of a vector that ends on
page P + 1, of which the program names the part on page P; `call`. Lines of several threads are parted by |.

usage: pages_model.py         all programs; it takes some seconds
       pages_model.py RULE    the program that shows what the rule is for

Status 0: all executions are good, and each rule that was left out was missed; else 1.
"""
import itertools
import sys
from typing import NamedTuple

PAGES, SINGLE = 4, 2  # pages; faults of a segment that open one page each
CLOSED, LOADABLE, OPEN = range(3)
WITHOUT = None  # a name of RULES
RULES = {  # what is left out: a program that shows it
    "a_load_opens_for_loads_only": "load 0; store 0",
    "a_call_closes_what_is_open": "load 0; call; load 0",
    "what_is_open_lies_between_bounds": "load 1; load 0; call; load 1",
    "faults_are_counted_before_a_page_opens": "load 0 | load 0; call",
    "the_table_is_read_under_the_lock": "store 0 | load 0",
    "notes_are_taken_with_their_segment": "load 0; call; load 1; call",
    "many_faults_open_pages_of_the_window_only": "load 0; load 1; load 3",
    "a_vector_may_begin_on_the_page_before": "load 0; span 0",
    "another_thread_may_have_closed_the_page_before": "load 0; span 0 | call",
}
MORE = [
    "load 0; store 0; load 0; call; store 0; load 0; call; load 0",
    "load 0; load 1; call; load 1; store 1; call; store 0",
    "span 0; call; first 1; call; load 0; first 1",
    "load 0; load 1; load 2; load 3; call; load 2; store 2",
    "load 0; call; store 0 | store 0; call; load 0",
    "load 0; store 1; call | span 0; call",
    "first 1; load 0 | span 0; call; first 1",
    "load 0; store 0 | store 0; load 0 | call",
    "load 0 | call; load 0 | store 0; call",
]
ALPHABET = ("load 0", "store 0", "span 0", "call")


class Note(NamedTuple):
    thread: int
    at: int
    page: int
    is_store: bool
    covers: tuple


class State(NamedTuple):
    at: tuple  # by thread: its step
    stage: tuple  # what it does: see `steps`
    since: tuple  # the segment in which it has begun the access, or None
    faulted: tuple  # how often the access has
    lock: bool
    real: tuple  # rights of pages, and what the table says of them
    table: tuple
    low: int
    high: int
    faults: int
    faulting: frozenset  # threads that have faulted or closed pages
    segment: int
    notes: tuple
    taken: frozenset  # (segment, note)
    made: frozenset  # (thread, at, first and last segment)
    wide: frozenset  # (segment, page) that was opened beside another one


class Violation(Exception):
    pass


def put(items, at, value):
    return items[:at] + (value,) + items[at + 1:]


def parse(text):
    return tuple(tuple(tuple(int(word) if word.isdigit() else word for word in step.split())
                       for step in line.split(";") if step.strip()) for line in text.split("|"))


def touched(step):
    return (step[1], step[1] + 1) if step[0] == "span" else (step[1],)


def needed(step):
    return OPEN if step[0] == "store" else LOADABLE


def begin(program):
    threads = len(program)
    closed = (CLOSED,) * PAGES
    return State((0,) * threads, ("run",) * threads, (None,) * threads, (0,) * threads, False, closed, closed, PAGES, 0, 0,
                 frozenset(), 0, (), frozenset(), frozenset(), frozenset())


# ---- an access ----

def access(state, thread, step):
    since = state.segment if state.since[thread] is None else state.since[thread]
    state = state._replace(since=put(state.since, thread, since))
    for page in touched(step):
        if state.real[page] < needed(step):
            count = state.faulted[thread] + 1
            if count > len(touched(step)) * (state.segment - since + 1 + ("close" in state.stage)):
                raise Violation("an access faults again")
            return state._replace(stage=put(state.stage, thread, ("fault", page)), faulted=put(state.faulted, thread, count))
    made = state.made | {(thread, state.at[thread], since, state.segment)}
    return state._replace(at=put(state.at, thread, state.at[thread] + 1), since=put(state.since, thread, None),
                          faulted=put(state.faulted, thread, 0), made=made)


def covers(state, thread, step, page):
    """The pages of which an access that has faulted there may have named a byte."""
    is_first = step[0] == "first" or page != step[1]
    if page == 0 or not is_first or WITHOUT == "a_vector_may_begin_on_the_page_before":
        return (page,)
    several = state.faulting | {thread} if WITHOUT != "another_thread_may_have_closed_the_page_before" else ()
    return (page - 1, page) if state.table[page - 1] != CLOSED or len(several) > 1 else (page,)


def pages_to_open(faults, page):
    left = PAGES if WITHOUT == "many_faults_open_pages_of_the_window_only" else PAGES - page
    return 1 if faults <= SINGLE else min(1 << (faults - SINGLE), left)


def handle(state, thread, step, page):
    """The handler enters the lock: it notes the access, and is about to open pages."""
    if state.table[page] >= needed(step) and WITHOUT != "the_table_is_read_under_the_lock":
        return state._replace(stage=put(state.stage, thread, "run"))
    note = Note(thread, state.at[thread], page, step[0] == "store", covers(state, thread, step, page))
    count = pages_to_open(state.faults + 1, page)
    if page + count > PAGES:
        raise Violation("pages behind the window are opened")
    rights = needed(step) if count == 1 and WITHOUT != "a_load_opens_for_loads_only" else OPEN
    faults = state.faults + (WITHOUT != "faults_are_counted_before_a_page_opens")
    return state._replace(stage=put(state.stage, thread, ("open", page, count, rights)), lock=True, notes=state.notes + (note,),
                          faults=faults, faulting=state.faulting | {thread})


def set_rights(rights, page, count, value):
    return rights[:page] + (value,) * count + rights[page + count:]


def write_table(state, thread, page, count, rights):
    wide = state.wide | {(state.segment, other) for other in range(page, page + count) if count > 1}
    is_late = WITHOUT == "what_is_open_lies_between_bounds"
    return state._replace(stage=put(state.stage, thread, "run"), lock=False, wide=wide,
                          table=set_rights(state.table, page, count, rights),
                          low=min(state.low, page), high=page + count if is_late else max(state.high, page + count),
                          faults=state.faults + (WITHOUT == "faults_are_counted_before_a_page_opens"))


# ---- a call ----

def call(state, thread):
    """Most calls come without a fault before them: those do not enter the lock."""
    if state.faults:
        return state._replace(stage=put(state.stage, thread, "take"))
    return end_call(state, thread)


def end_call(state, thread):
    return state._replace(at=put(state.at, thread, state.at[thread] + 1), stage=put(state.stage, thread, "run"),
                          segment=state.segment + 1)


def take(state, thread):
    taken = state.taken | {(state.segment, note) for note in state.notes}
    notes = state.notes if WITHOUT == "notes_are_taken_with_their_segment" else ()
    return state._replace(stage=put(state.stage, thread, "close"), lock=True, taken=taken, notes=notes, faults=0,
                          faulting=state.faulting | {thread})


def close(state, thread):
    """Closes one page, or ends the call."""
    is_left_out = WITHOUT == "a_call_closes_what_is_open"
    for page in () if is_left_out else range(state.low, state.high):
        if state.table[page] != CLOSED:
            return state._replace(real=put(state.real, page, CLOSED), table=put(state.table, page, CLOSED))
    return end_call(state._replace(lock=False, low=PAGES, high=0), thread)


# ---- all orders ----

def steps(program, state):
    for thread, line in enumerate(program):
        stage = state.stage[thread]
        if state.at[thread] == len(line):
            continue
        step = line[state.at[thread]]
        if stage == "run" and step[0] != "call":
            yield access(state, thread, step)
        elif stage == "run" and not {"take", "close"} & set(state.stage):  # calls have the lock of the trace
            yield call(state, thread)
        elif stage[0] == "fault" and not state.lock:
            yield handle(state, thread, step, stage[1])
        elif stage[0] == "open":
            yield state._replace(real=set_rights(state.real, *stage[1:]), stage=put(state.stage, thread, ("table", *stage[1:])))
        elif stage[0] == "table":
            yield write_table(state, thread, *stage[1:])
        elif stage == "take" and not state.lock:
            yield take(state, thread)
        elif stage == "close":
            yield close(state, thread)


def judge_notes(program, taken, made):
    for segment, note in taken:
        first, last = next(access[2:] for access in made if access[:2] == note[:2])
        if not first <= segment <= last:
            raise Violation("a note of another segment")
        if program[note.thread][note.at][1] not in note.covers:
            raise Violation("a note of what is not accessed")


def judge_accesses(program, state, taken):
    for thread, at, first, last in state.made:
        step = program[thread][at]
        for page in touched(step) if first == last else ():
            notes = [note for segment, note in taken if segment == first and note.page == page]
            is_noted = any(note.is_store or step[0] != "store" for note in notes)
            if not is_noted and (first, page) not in state.wide:
                raise Violation("an access that is not noted")


def what_is_wrong(program):
    """The first violation of any execution, or None."""
    seen, stack = set(), [begin(program)]
    try:
        while stack:
            state = stack.pop()
            nexts = list(steps(program, state))
            if not nexts and any(at < len(line) for at, line in zip(state.at, program)):
                return "a thread waits for ever"
            if not nexts:
                taken = state.taken | {(state.segment, note) for note in state.notes}
                judge_notes(program, taken, state.made)
                judge_accesses(program, state, taken)
            stack += [new for new in nexts if new not in seen]
            seen.update(nexts)
    except Violation as violation:
        return str(violation)
    return None


def enumerated():
    """All lines of three steps, each with all of two beside it."""
    for first in itertools.product(ALPHABET, repeat=3):
        for second in itertools.product(ALPHABET, repeat=2):
            yield "; ".join(first) + " | " + "; ".join(second)


def report(good, name, *found):
    print("ok" if good else "not ok", f"pages_model_{name}:", *found, flush=True)
    return not good


def main(rule=None):
    global WITHOUT
    if rule in RULES:
        WITHOUT = rule
        print(RULES[rule], "#", what_is_wrong(parse(RULES[rule])))
        return 0
    failed = 0
    for name, programs in (("rules", RULES.values()), ("more", MORE), ("all_of_two_threads", list(enumerated()))):
        wrong = [f"{text} # {what}" for text in programs if (what := what_is_wrong(parse(text)))]
        failed += report(not wrong, name, len(programs), *wrong[:3])
    for WITHOUT, text in RULES.items():
        what = what_is_wrong(parse(text))
        failed += report(what, f"without_{WITHOUT}", what or "nothing is missed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
