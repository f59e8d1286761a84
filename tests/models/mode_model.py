#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The modes of pages (lib/sync/atomic_mode.c, lib/sync/page_lock.c, lib/op), tried in all orders.

The states are explicit. A process updates a few words of one page (`few0`), or many words of one
page or two (`many0`, `many01`), or words of a page or two that it cannot map, by copies there and
back (`copy0`, `copy01`). A copy is plain code only: where the mode forbids that, the owner's handler updates the
words instead, as another process would. Their owner pins its pages, and later unpins them (`pin`). One word
stands for all words of a page. Each load, store and atomic instruction is a step of its own. A store
goes into the store buffer of its thread and reaches memory at any later time, in order; an atomic
instruction waits until this buffer is empty (x86-TSO). The heavy barrier is a fence in each thread
that takes part; each fence comes at any time between the begin and the end of the barrier.

The terms are those of atomic_mode.h and page_lock.h: a page is in mode atomic, switching, locked or
pinned. A thread announces an update in progress by a store to its flag. An outsider is a process that
cannot take part in the barrier.

A process may die at any step. Its stores are in memory before others can find it dead. While pages
are pinned, a device updates words. When all other processes have ended their updates or are dead,
one more process updates many words of all pages: the last one.

The model checks:
- No update is lost.
- No instruction updates a word while another thread holds the lock of its page in locked mode, or
  is in plain code there. Two threads are never in plain code on one page.
- No thread is in plain code between the return of a pin and its end.
- From every state all living processes can end, and the last one by plain code, unless the owner
  died and left a page pinned. So no death leaves a page locked, or closed to plain code (A21 of
  tests/rules.md).
- A process that is stopped for ever, at any step, keeps others from ending only if they need a page
  lock that it holds (L3, A13). Many words always need it; a few words and a pin need it unless the
  mode is atomic or pinned. So a stopped process that has an update in progress blocks nobody.

At the end the model leaves out parts of the protocol one by one, and each must be missed.

usage: mode_model.py           the short form takes some seconds
       mode_model.py full      with more processes and deaths: it takes a minute or two
       mode_model.py PART      the steps by which something goes wrong without that part

Status 0: all states of each search are good, and each part was missed; else 1.
"""
import sys
from typing import NamedTuple

ATOMIC, SWITCHING, LOCKED, PINNED = "atomic", "switching", "locked", "pinned"
UNLOCKED = 0  # of a page lock; else its value is the number of the process that holds it, from 1 on

# Each process has a text. `&` stands between its threads, each of which uses a window of its own,
# and `!` before an outsider. Then come how many may die, and how often the device updates words.
SHORT = {
    "few_again": (("few0 few0", "many0"), 1, 0),
    "two_few": (("few0", "few0", "many0"), 1, 0),
    "two_many": (("few0 few0", "many0", "many0"), 0, 0),
    "many_die": (("few0", "many0", "many0"), 1, 0),
    "two_deaths": (("few0", "many0 few0"), 2, 0),
    "two_pages": (("few1", "many01", "many1"), 0, 0),
    "two_pages_die": (("few0", "many01"), 1, 0),
    "two_windows": (("few0 & many0", "few0"), 1, 0),
    "outsider": (("!few0 many0", "few0", "many0"), 0, 0),
    "pin": (("pin", "few0", "many0"), 0, 1),
    "pin_again": (("pin pin", "many0"), 1, 1),
    "pin_dies": (("pin", "many0 few0"), 1, 1),
    "pin_two_pages": (("pin", "few0", "many01"), 0, 0),
    "two_pins": (("pin & pin", "many0"), 0, 1),
    "copies": (("few0 few0", "copy0", "many0"), 1, 0),
    "copy_and_pin": (("pin", "few0", "copy0"), 0, 1),
    "copies_of_two_pages": (("few0 few1", "copy01", "many1"), 0, 0),
    "copies_of_two_pages_die": (("few0", "copy01"), 1, 0),
}
FULL = {
    "few_and_many": (("few0 few0", "few0 many0", "many0 few0"), 1, 0),
    "three_few": (("few0", "few0", "few0", "many0"), 1, 0),
    "three_die": (("few0", "few0", "many0"), 3, 0),
    "two_pages_in_turn": (("few0 few1", "many01", "many01"), 1, 0),
    "windows_of_two": (("few0 & many0", "few0 & many0"), 1, 0),
    "outsiders": (("!few0", "!many0", "few0 many0"), 1, 0),
    "pin_and_die": (("pin", "few0 few0", "many0"), 2, 2),
    "pin_all": (("pin", "few0", "many01"), 1, 1),
    "pins": (("pin & pin", "few0", "many0"), 1, 1),
}
BESIDE, TWO, BELOW = "INSTRUCTION BESIDE PLAIN CODE", "TWO IN PLAIN CODE", "PLAIN CODE WHILE PINNED"
STUCK, BLOCKED, LOST = "STUCK", "BLOCKED BY A STOPPED PROCESS", "UPDATE LOST"
WITHOUT = None  # the part that is left out: a name of PARTS
PARTS = {  # the setting that shows what each part is for, and what goes wrong without it
    "heavy_barrier": ("few_again", BESIDE),
    "look_for_updates_in_progress": ("few_again", BESIDE),
    "mode_read_after_announcing": ("few_again", BESIDE),
    "announced_until_updated": ("few_again", BESIDE),
    "withdrawn_if_refused": ("few_again", STUCK),
    "few_take_page_lock_while_switching": ("few_again", BESIDE),
    "switching_before_locked": ("few_again", BESIDE),
    "outsiders_announce_nothing": ("outsider", BESIDE),
    "update_of_dead_has_ended": ("few_again", STUCK),
    "page_lock_of_dead_is_taken": ("few_again", STUCK),
    "page_lock_of_dead_by_compare_and_swap": ("many_die", TWO),
    "stopped_update_is_not_waited_for": ("few_again", BLOCKED),
    "tried_again_from_the_start": ("pin", BLOCKED),
    "mode_read_under_page_lock": ("pin", BELOW),
    "pinned_is_not_switched": ("pin_again", BESIDE),
    "switched_by_compare_and_swap": ("pin_again", BESIDE),
    "only_switching_becomes_locked": ("pin_two_pages", BESIDE),
    "all_pages_are_locked": ("pin_two_pages", BESIDE),
    "pin_takes_page_lock": ("pin_again", BELOW),
    "atomic_is_pinned_without_page_lock": ("pin_again", BLOCKED),
    "pins_are_counted": ("two_pins", BESIDE),
    "counted_before_pinned": ("two_pins", BESIDE),
    "copies_only_in_locked_mode": ("copies", BESIDE),
}
LIMIT = 2000000  # states


class Violation(Exception):
    pass


class Thread(NamedTuple):
    op: int  # number of the operation in the program
    next_step: str  # the name of a function
    pages: tuple = ()  # those that the operation has still to update
    held: int = 0  # how many of them the thread holds, the first ones
    at: int = 0  # this and the rest: what a step hands on to the next one
    seen: object = None
    mode: str = None


class State(NamedTuple):
    memory: tuple
    threads: tuple
    buffers: tuple  # one for each thread: (address, value), the oldest first
    dead: frozenset
    pins: int  # as the owner counts them
    mutex: bool  # the lock of the owner's threads, which guards `pins`
    pinned: int  # how many pins have returned, and have not begun to end
    updates: int  # how many the device has still to do


class Setting:
    def __init__(self, processes, deaths, updates):
        texts = [thread for process in processes for thread in process.split("&")]
        self.pages = tuple(range(2 if any("1" in text for text in texts) else 1))
        self.last = len(texts)  # the thread of the last process, which has the highest number, too
        self.last_process = len(processes) + 1
        self.process = [i for i, text in enumerate(processes, 1) for _ in text.split("&")] + [self.last_process]
        self.takes_part = ["!" not in text for text in texts] + [True]
        self.programs = [text.replace("!", "").split() for text in texts]
        self.programs.append(["many" + "".join(map(str, self.pages))])
        self.announcers = [t for t in range(self.last) if any(op.startswith("few") for op in self.programs[t])]
        self.owners = {process for process, program in zip(self.process, self.programs) if "pin" in program}
        self.deaths, self.updates = deaths, updates

    def start(self):
        memory = (ATOMIC, UNLOCKED, 0) * len(self.pages) + (0,) * len(self.programs)
        threads = tuple(self.begin(t, 0) for t in range(len(self.programs)))
        return State(memory, threads, ((),) * len(threads), frozenset(), 0, False, 0, self.updates)

    def begin(self, t, op, seen=None):
        """The thread at the begin of an operation, or behind the last one."""
        if op == len(self.programs[t]):
            return Thread(op, "done", seen=seen)
        if self.programs[t][op] == "pin":
            return Thread(op, "pin_page" if WITHOUT == "counted_before_pinned" else "count_pin")
        pages = tuple(int(digit) for digit in self.programs[t][op] if digit.isdigit())
        return Thread(op, "announce" if self.announces(t, op) else "take_pages", pages)

    def is_few(self, t, op):
        return self.programs[t][op].startswith("few")

    def copies(self, t, op):
        return self.programs[t][op].startswith("copy")

    def without_switch(self, t, op):
        """The step that follows if the words must not change by plain code."""
        if not self.copies(t, op):
            return "update_held"
        return "load_word" if WITHOUT == "copies_only_in_locked_mode" else "give_page"

    def announces(self, t, op):
        return self.is_few(t, op) and (self.takes_part[t] or WITHOUT == "outsiders_announce_nothing")

    def threads_of(self, process):
        return [t for t, other in enumerate(self.process) if other == process]

    def flag_of(self, t):
        return 3 * len(self.pages) + t


# Memory.

def mode_of(page):
    return 3 * page


def lock_of(page):
    return 3 * page + 1


def word_of(page):
    return 3 * page + 2


def put(items, at, value):
    return items[:at] + (value,) + items[at + 1:]


def load(state, t, address):
    stored = [value for where, value in state.buffers[t] if where == address]
    return stored[-1] if stored else state.memory[address]


def store(state, t, address, value):
    return state._replace(buffers=put(state.buffers, t, state.buffers[t] + ((address, value),)))


def write(state, address, value):
    """An atomic instruction writes to memory at once."""
    return state._replace(memory=put(state.memory, address, value))


def drain(state, t, setting):
    """The oldest store of a buffer reaches memory. A word grows by one, or an update is lost."""
    (address, value), rest = state.buffers[t][0], state.buffers[t][1:]
    if address in map(word_of, setting.pages) and value != state.memory[address] + 1:
        raise Violation(LOST)
    return write(state, address, value)._replace(buffers=put(state.buffers, t, rest))


def is_in_plain_code(state, u, page):
    """Whether the thread updates the page by plain code, or its store is still in the buffer."""
    thread = state.threads[u]
    inside = thread.next_step in ("load_word", "store_word") and page in thread.pages[:thread.held]
    return inside or any(address == word_of(page) for address, _ in state.buffers[u])


def others_in_plain_code(state, t, page):
    return any(is_in_plain_code(state, u, page) for u in range(len(state.threads)) if u != t)


def instruct(state, t, page, own):
    """A thread or the device updates the word by an atomic instruction.

    Process `own` may hold the page lock meanwhile.
    """
    is_locked = state.memory[mode_of(page)] == LOCKED and state.memory[lock_of(page)] not in (UNLOCKED, own)
    if is_locked or others_in_plain_code(state, t, page):
        raise Violation(BESIDE)
    return write(state, word_of(page), state.memory[word_of(page)] + 1)


# The steps of a thread. Each returns the states that may follow; without any the thread waits.

def go(state, t, next_step, **fields):
    return state._replace(threads=put(state.threads, t, state.threads[t]._replace(next_step=next_step, **fields)))


def end(state, t, setting, seen=None):
    return [state._replace(threads=put(state.threads, t, setting.begin(t, state.threads[t].op + 1, seen)))]


# A few words are updated without the page lock if the mode allows it.

def announce(state, t, setting):
    if WITHOUT == "mode_read_after_announcing":
        return [go(state, t, "look_at_mode", mode=load(state, t, mode_of(state.threads[t].pages[0])))]
    return [go(store(state, t, setting.flag_of(t), 1), t, "look_at_mode")]


def look_at_mode(state, t, setting):
    thread = state.threads[t]
    mode = thread.mode or load(state, t, mode_of(thread.pages[0]))
    announced = store(state, t, setting.flag_of(t), 1) if thread.mode else state
    withdrawn = store(announced, t, setting.flag_of(t), 0)
    if mode in (ATOMIC, PINNED) or (mode == SWITCHING and WITHOUT == "few_take_page_lock_while_switching"):
        return [go(withdrawn if WITHOUT == "announced_until_updated" else announced, t, "update_few", mode=None)]
    return [go(announced if WITHOUT == "withdrawn_if_refused" else withdrawn, t, "take_pages",
               mode=mode if WITHOUT == "mode_read_under_page_lock" else None)]


def update_few(state, t, setting):
    return [go(instruct(state, t, state.threads[t].pages[0], None), t, "withdraw")]


def withdraw(state, t, setting):
    return end(store(state, t, setting.flag_of(t), 0), t, setting)


# Page locks. `seen` is a holder that the thread has found dead.

def take(state, t, setting, page, taken, not_now):
    """Try to take a page lock. `taken` or `not_now` returns the states that follow."""
    seen, own, holder = state.threads[t].seen, setting.process[t], state.memory[lock_of(page)]
    if holder in (UNLOCKED, seen) or (seen and WITHOUT == "page_lock_of_dead_by_compare_and_swap"):
        return taken(write(state, lock_of(page), own))
    if seen is None and holder in state.dead and WITHOUT != "page_lock_of_dead_is_taken":
        return [go(state, t, state.threads[t].next_step, seen=holder)]
    return not_now(state)


def take_pages(state, t, setting):
    """Take all pages, or the first of two.

    Else the thread tries again from the start: a few words may need no page lock by then.
    """
    thread = state.threads[t]

    def taken(after):
        held = thread.held + 1
        return [go(after, t, "take_pages" if held < len(thread.pages) else "choose", held=held, seen=None)]

    def not_now(after):
        if thread.held:
            return [go(after, t, "choose", seen=None)]
        if WITHOUT == "tried_again_from_the_start":
            return [go(after, t, "take_pages", seen=None)]
        return [go(after, t, setting.begin(t, thread.op).next_step, seen=None, mode=None)]

    return take(state, t, setting, thread.pages[thread.held], taken, not_now)


def held_modes(state, t):
    thread = state.threads[t]
    return [load(state, t, mode_of(page)) for page in thread.pages[:thread.held]]


def choose(state, t, setting):
    """Plain code, or instructions, or a try to switch the mode. The last process always tries."""
    thread = state.threads[t]
    modes = [thread.mode] if thread.mode else held_modes(state, t)
    if all(mode == LOCKED for mode in modes):
        return [go(state, t, "load_word", mode=None)]
    by_instructions = go(state, t, setting.without_switch(t, thread.op), mode=None)
    if setting.is_few(t, thread.op) or not setting.takes_part[t]:
        return [by_instructions]
    tries = go(state, t, "begin_barrier" if WITHOUT == "switching_before_locked" else "begin_switch", seen=False)
    return [tries] if t == setting.last else [tries, by_instructions]


def begin_switch(state, t, setting):
    """Switch page by page. `seen` says whether any is switching then."""
    thread = state.threads[t]
    if thread.at == thread.held:
        return [go(state, t, "begin_barrier" if thread.seen else setting.without_switch(t, thread.op), at=0, seen=None)]
    mode = state.memory[mode_of(thread.pages[thread.at])]
    if mode == ATOMIC or (mode == PINNED and WITHOUT == "pinned_is_not_switched"):
        in_two = WITHOUT == "switched_by_compare_and_swap"
        return [go(state, t, "store_switching")] if in_two else store_switching(state, t, setting)
    return [go(state, t, "begin_switch", at=thread.at + 1, seen=thread.seen or mode == SWITCHING)]


def store_switching(state, t, setting):
    thread = state.threads[t]
    after = write(state, mode_of(thread.pages[thread.at]), SWITCHING)
    return [go(after, t, "begin_switch", at=thread.at + 1, seen=True)]


def begin_barrier(state, t, setting):
    """The kernel may refuse it. `seen`: threads that announce and have not passed a fence yet."""
    others = [u for u in setting.announcers if u != t and setting.takes_part[u] and not is_idle(state, u, setting)]
    begun = go(state, t, "end_barrier", seen=() if WITHOUT == "heavy_barrier" else tuple(others))
    refused = go(state, t, setting.without_switch(t, state.threads[t].op), seen=None)
    return [begun] if t == setting.last else [begun, refused]


def end_barrier(state, t, setting):
    seen = state.threads[t].seen
    if not seen:
        looks = WITHOUT != "look_for_updates_in_progress"
        return [go(state, t, "await_update" if looks else "lock_mode", seen=None)]
    fenced = [u for u in seen if not state.buffers[u]]
    return [go(state, t, "end_barrier", seen=tuple(v for v in seen if v != u)) for u in fenced]


def await_update(state, t, setting):
    """Wait for one update in progress after the other, or give up.

    The last process does not give up: it begins when all updates of living processes have ended.
    """
    at = state.threads[t].at
    if at == len(setting.announcers):
        return [go(state, t, "lock_mode", at=0)]
    u = setting.announcers[at]
    dead = setting.process[u] in state.dead and WITHOUT != "update_of_dead_has_ended"
    if dead or load(state, t, setting.flag_of(u)) == 0:
        return [go(state, t, "await_update", at=at + 1)]
    waits = t == setting.last or WITHOUT == "stopped_update_is_not_waited_for"
    return [] if waits else [go(state, t, setting.without_switch(t, state.threads[t].op), at=0)]


def lock_mode(state, t, setting):
    """Go from switching to locked, page by page. Plain code follows if no page is pinned."""
    thread, modes = state.threads[t], held_modes(state, t)
    if thread.at == thread.held:
        can = (any if WITHOUT == "all_pages_are_locked" else all)(mode == LOCKED for mode in modes)
        return [go(state, t, "load_word" if can else setting.without_switch(t, thread.op), at=0)]
    if modes[thread.at] == SWITCHING or WITHOUT in ("only_switching_becomes_locked", "switching_before_locked"):
        state = store(state, t, mode_of(thread.pages[thread.at]), LOCKED)
    return [go(state, t, "lock_mode", at=thread.at + 1)]


def load_word(state, t, setting):
    page = state.threads[t].pages[state.threads[t].at]
    if state.pinned:
        raise Violation(BELOW)
    if others_in_plain_code(state, t, page):
        raise Violation(TWO)
    return [go(state, t, "store_word", seen=load(state, t, word_of(page)))]


def store_word(state, t, setting):
    thread = state.threads[t]
    after = store(state, t, word_of(thread.pages[thread.at]), thread.seen + 1)
    return next_page(after, t, "load_word")


def update_held(state, t, setting):
    thread = state.threads[t]
    return next_page(instruct(state, t, thread.pages[thread.at], setting.process[t]), t, "update_held")


def next_page(state, t, way):
    """Update the next page in this way, or give the locks back; `seen` keeps the way."""
    thread = state.threads[t]
    if thread.at + 1 < thread.held:
        return [go(state, t, way, at=thread.at + 1)]
    return [go(state, t, "give_page", at=0, seen=way)]


def give_page(state, t, setting):
    thread = state.threads[t]
    after = store(state, t, lock_of(thread.pages[thread.at]), UNLOCKED)
    if thread.at + 1 < thread.held:
        return [go(after, t, "give_page", at=thread.at + 1)]
    if thread.held < len(thread.pages):
        return [go(after, t, "take_pages", pages=thread.pages[thread.held:], held=0, at=0, seen=None)]
    return end(after, t, setting, thread.seen if t == setting.last else None)


# A pin, and its end. If the owner does not get a page lock it begins the pin again.

def count_pin(state, t, setting):
    if state.mutex:
        return []
    then = "return_pin" if WITHOUT == "counted_before_pinned" else "pin_page"
    return [go(state, t, then)._replace(pins=state.pins + 1)]


def pin_page(state, t, setting):
    at = state.threads[t].at
    if at == len(setting.pages):
        return [go(state, t, "count_pin" if WITHOUT == "counted_before_pinned" else "return_pin")]
    free = (PINNED,) if WITHOUT == "atomic_is_pinned_without_page_lock" else (ATOMIC, PINNED)
    if state.memory[mode_of(at)] in free:
        return [go(write(state, mode_of(at), PINNED), t, "pin_page", at=at + 1)]
    return [go(state, t, "pin_held" if WITHOUT == "pin_takes_page_lock" else "take_to_pin")]


def take_to_pin(state, t, setting):
    def taken(after):
        return [go(after, t, "pin_held", seen=None)]

    def not_now(after):
        return [go(after, t, "pin_page", at=0, seen=None)]

    return take(state, t, setting, state.threads[t].at, taken, not_now)


def pin_held(state, t, setting):
    return [go(store(state, t, mode_of(state.threads[t].at), PINNED), t, "give_pinned")]


def give_pinned(state, t, setting):
    at = state.threads[t].at
    return [go(store(state, t, lock_of(at), UNLOCKED), t, "pin_page", at=at + 1)]


def return_pin(state, t, setting):
    return [go(state, t, "use_pinned")._replace(pinned=state.pinned + 1)]


def use_pinned(state, t, setting):
    return [go(state, t, "begin_unpin")._replace(pinned=state.pinned - 1)]


def begin_unpin(state, t, setting):
    if state.mutex:
        return []
    return [go(state, t, "unpin_page", at=0)._replace(pins=state.pins - 1, mutex=True)]


def unpin_page(state, t, setting):
    at = state.threads[t].at
    if at == len(setting.pages) or (state.pins and WITHOUT != "pins_are_counted"):
        return [go(state, t, "end_unpin")]
    is_pinned = load(state, t, mode_of(at)) == PINNED
    return [go(store(state, t, mode_of(at), ATOMIC) if is_pinned else state, t, "unpin_page", at=at + 1)]


def end_unpin(state, t, setting):
    return end(state._replace(mutex=False), t, setting)


# Atomic instructions wait until the buffer is empty. A mutex is taken and given by one, too.
ATOMICS = {step.__name__: step for step in (
    update_few, take_pages, begin_switch, store_switching, begin_barrier, update_held, count_pin, pin_page, take_to_pin,
    begin_unpin, end_unpin)}
STEPS = ATOMICS | {step.__name__: step for step in (
    announce, look_at_mode, withdraw, choose, end_barrier, await_update, lock_mode, load_word, store_word, give_page,
    pin_held, give_pinned, return_pin, use_pinned, unpin_page)}


# What may happen in a state.

def is_idle(state, t, setting):
    """Whether the thread takes no step any more, and all its stores are in memory."""
    return (state.threads[t].next_step == "done" or setting.process[t] in state.dead) and not state.buffers[t]


def may_step(state, t, setting):
    thread = state.threads[t]
    if thread.next_step == "done" or (thread.next_step in ATOMICS and state.buffers[t]):
        return False
    return t != setting.last or all(is_idle(state, u, setting) for u in range(setting.last))


def steps(state, setting):
    """(The process that takes the step, or None: a buffer or the device; the state behind it)."""
    for t, process in enumerate(setting.process):
        if state.buffers[t]:
            yield None, drain(state, t, setting)
        if may_step(state, t, setting):
            for after in STEPS[state.threads[t].next_step](state, t, setting):
                yield process, after
    if state.updates and state.pinned:
        after = state._replace(updates=state.updates - 1)
        for page in setting.pages:
            after = instruct(after, None, page, None)
        yield None, after


def deaths(state, setting):
    """A death ends all threads of a process; the death of the owner stops its device, too."""
    for process in range(1, setting.last_process) if len(state.dead) < setting.deaths else ():
        threads = setting.threads_of(process)
        if any(state.buffers[t] for t in threads) or all(state.threads[t].next_step == "done" for t in threads):
            continue
        after = state._replace(dead=state.dead | {process}, pinned=0 if process in setting.owners else state.pinned)
        for t in threads:
            after = go(after, t, "done")
        yield after


def pins_given_up(state):
    """The time of a pin is over."""
    for t, thread in enumerate(state.threads):
        if thread.next_step == "take_to_pin" and WITHOUT != "counted_before_pinned":
            yield go(state, t, "begin_unpin", seen=None)


class Search:
    """All states of a setting, and the first violation: (what, number of the state)."""

    def __init__(self, setting):
        self.setting, self.states, self.number_of, self.violation = setting, [], {}, None
        self.before = []  # of each state: (process, number) of steps to it that others may rely on
        self.found_from = []  # of each state: the number of the state from which it was found first
        self.see(setting.start(), None)
        for number, state in enumerate(self.states):  # grows meanwhile
            self.see_behind(number, state)
            if self.violation:
                return
        self.violation = self.find_stuck() or self.find_blocked()

    def see(self, state, number):
        at = self.number_of.setdefault(state, len(self.states))
        if at == len(self.states):
            self.states.append(state)
            self.before.append([])
            self.found_from.append(number)
        return at

    def see_behind(self, number, state):
        try:
            for process, after in steps(state, self.setting):
                self.before[self.see(after, number)].append((process, number))
        except Violation as violation:
            self.violation = str(violation), number
        for after in (*deaths(state, self.setting), *pins_given_up(state)):
            self.see(after, number)
        if len(self.states) > LIMIT:
            self.violation = "limit", number

    def reaching(self, goals, stopped=None):
        """Of each state whether a goal can be reached without a step of the stopped process."""
        good, stack = bytearray(len(self.states)), list(goals)
        for number in stack:
            good[number] = True
        while stack:
            for process, number in self.before[stack.pop()]:
                if not good[number] and (stopped is None or process != stopped):
                    good[number] = True
                    stack.append(number)
        return good

    def numbers_where(self, holds):
        return (number for number, state in enumerate(self.states) if holds(state))

    def is_good_end(self, state):
        last = state.threads[self.setting.last]
        left_pinned = self.setting.owners & state.dead and PINNED in state.memory
        return last.next_step == "done" and not any(state.buffers) and (last.seen == "load_word" or left_pinned)

    def find_stuck(self):
        good = self.reaching(self.numbers_where(self.is_good_end))
        return next(((STUCK, number) for number in range(len(good)) if not good[number]), None)

    def find_blocked(self):
        pairs = [(stopped, u) for stopped in range(1, self.setting.last_process)
                 for u in range(self.setting.last) if self.setting.process[u] != stopped]
        for stopped, u in pairs:
            good = self.reaching(self.numbers_where(lambda state: state.threads[u].next_step == "done"), stopped)
            for number, state in enumerate(self.states):
                if not good[number] and not self.may_wait(state, u, stopped):
                    return BLOCKED, number
        return None

    def may_wait(self, state, u, stopped):
        """Whether a thread needs what a stopped process holds.

        It holds a page lock if memory says so when its stores have left their buffers, which needs no step of it.
        """
        if stopped in state.dead or any(state.buffers[t] for t in self.setting.threads_of(stopped)):
            return True
        held = {page for page in self.setting.pages if state.memory[lock_of(page)] == stopped}
        closed = {page for page in held if state.memory[mode_of(page)] in (SWITCHING, LOCKED)}
        return bool(held) and any(self.needs(state.threads[u], u, op, held, closed)
                                  for op in range(state.threads[u].op, len(self.setting.programs[u])))

    def needs(self, thread, u, op, held, closed):
        if self.setting.programs[u][op] == "pin":
            return bool(closed)
        pages = thread.pages if op == thread.op else self.setting.begin(u, op).pages
        return not (closed if self.setting.announces(u, op) else held).isdisjoint(pages)

    def trace(self):
        """Print the way to the violation: next step of each thread, memory, buffers, the dead."""
        what, number = self.violation
        way = []
        while number is not None:
            way.append(self.states[number])
            number = self.found_from[number]
        for state in reversed(way):
            print("#", *(thread.next_step for thread in state.threads), state.memory, state.buffers, *state.dead)
        print("#", what)


def report(good, name, *found):
    print("ok" if good else "not ok", f"mode_model_{name}:", *found, flush=True)


def all_are_good(settings):
    failed = 0
    for name, setting in settings.items():
        search = Search(Setting(*setting))
        if search.violation:
            search.trace()
            failed += 1
        report(not search.violation, name, search.violation[0] if search.violation else "ok", len(search.states))
    return failed == 0


def search_without(part):
    global WITHOUT
    WITHOUT = part
    return Search(Setting(*SHORT[PARTS[part][0]]))


def all_parts_are_missed():
    failed = 0
    for part, (_, expected) in PARTS.items():
        found = (search_without(part).violation or ("ok",))[0]
        failed += found != expected
        report(found == expected, f"without_{part}", found)
    return failed == 0


def main(what=None):
    if what in PARTS:
        search_without(what).trace()
        return 0
    good = all_are_good(SHORT | FULL if what == "full" else SHORT)
    return 0 if all_parts_are_missed() and good else 1


sys.exit(main(*sys.argv[1:]))
