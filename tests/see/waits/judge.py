#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""judge - how right a profile is about the waits that see-waits has made

usage: judge.py FOLDER                what the ranks have waited, by their notes in this folder
       judge.py FOLDER PROFILE        how much of it a profile in JSON tells
       judge.py --schema PROFILE      whether it has the fields of oriel-profile/1

recall is the sum of min(told, true) / the sum of true, precision that / the sum of told, by waiter, culprit and cause. Both have
to be BAR at least, of all causes together and of each that the property makes. Ends with 1 if something is wrong, and
with 3 if the ranks have waited too little for a judgement.
"""
import os
import collections
import json
import sys

import schema
from truth import ANYBODY, Run, Truth

BAR = float(os.environ.get("WAITS_BAR", "0.95"))
CLOSED = 0.01  # the largest part of an account that may be missing
UNKNOWN = 0.01  # the largest part of the waits without a cause
ROOTS = float(os.environ.get("WAITS_ROOTS", "0.05"))  # the largest difference of a rank's share
ENOUGH_NS = 2000000  # of waits, for a judgement
CALL_NS = 400  # between the stamps of the notes and those of the profile, in each call
INTERRUPTED_NS = 1000000  # another process may have had the processor between the program's clock and the profile's
EXACT = {"late_post", "late_complete", "late_fence", "late_collective", "lock", "signal"}
NO_CULPRIT = {"setup", "registration", "threads", "handover"}  # whoever is named
LIFE = {"oriel_init", "oriel_finalize", "MPI_Init", "MPI_Init_thread", "MPI_Finalize"}  # not in the notes


def key_of(waiter, culprit, cause, window, call):
    """What a wait counts under. A collective call may have no window: it makes it."""
    return waiter, culprit, cause, "-" if cause == "late_collective" else window, call


def told_waits(profile):
    """(waiter, culprit, cause, name of the window, call) -> ns, of calls that are in the notes."""
    windows = {window["id"]: window["name"] for window in profile["windows"]}
    calls = {site["id"]: site["call"] for site in profile["sites"]}
    told = collections.Counter()
    for wait in profile["waits"]:
        call = calls.get(wait["site"], "-")
        if call not in LIFE:
            culprit = ANYBODY if wait["cause"] in NO_CULPRIT else wait["culprit"]
            told[key_of(wait["waiter"], culprit, wait["cause"], windows.get(wait["window"], "-"), call)] += wait["ns"]
    return told


def true_waits(truth):
    true = collections.Counter()
    for piece in truth.pieces:
        true[key_of(*piece[:5])] += piece.ended - piece.begun
    return true


def narrowed(waits, fields, causes):
    """Sums by some fields, of some causes."""
    sums = collections.Counter()
    for key, ns in waits.items():
        if key[2] in causes:
            sums[key[:fields]] += ns
    return sums


def has_enough(run, true):
    """Whether each cause that the property makes has been there for long."""
    return all(cause == "balanced" or sum(narrowed(true, 3, {cause}).values()) >= ENOUGH_NS for cause in run.causes)


def score(true, told):
    both = sum(min(ns, true[key]) for key, ns in told.items())
    return ratio(both, sum(true.values())), ratio(both, sum(told.values()))


def ratio(part, whole):
    return part / whole if whole else 1.0


class Judge:
    def __init__(self, run, truth, profile):
        self.run, self.truth, self.profile = run, truth, profile
        self.true, self.told = true_waits(truth), told_waits(profile)
        self.faults = []
        self.lines = []

    def expect(self, holds, text):
        if not holds:
            self.faults.append(text)

    def is_balanced(self):
        return self.run.causes == ["balanced"]

    # ---- waits ----

    def waits(self):
        # Where all that is made is handover, some of it is the other rank's, whose call has begun:
        # the notes have no cause for that.
        judged = EXACT | set(self.run.causes) - {"handover"}
        self.compare("all", judged, 3, True)
        for cause in sorted(judged):
            if any(cause == key[2] for waits in (self.true, self.told) for key in waits):
                self.compare(cause, {cause}, 3, cause in self.run.causes)
        # Window and call as well: a wait that is told of another window is no use.
        self.compare("with window and call", judged, 5, True)

    def compare(self, what, causes, fields, counts):
        true, told = narrowed(self.true, fields, causes), narrowed(self.told, fields, causes)
        recall, precision = score(true, told)
        self.lines.append(f"{what:22} true {sum(true.values()) / 1e6:9.3f} ms  told {sum(told.values()) / 1e6:9.3f} ms"
                          f"  recall {recall:.3f}  precision {precision:.3f}")
        if counts and min(recall, precision) < BAR:
            self.faults.append(f"{what}: recall {recall:.3f}, precision {precision:.3f}, {BAR} at least")
            self.lines += differences(true, told)

    def unknown(self):
        waits = sum(self.told.values())
        unknown = sum(narrowed(self.told, 3, {"unknown"}).values())
        self.expect(unknown <= UNKNOWN * waits, f"{unknown} ns of {waits} have no cause")

    def applied(self):
        """The targets compute outside of the library meanwhile: their service threads apply the operations."""
        waits = [wait for wait in self.profile["waits"] if wait["cause"] == "progress"]
        count, served = (sum(wait[field] for wait in waits) for field in ("count", "served"))
        self.lines.append(f"{served} of {count} times a service thread applied the operations")
        self.expect(served >= BAR * count, f"only {served} of {count} times a service thread applied the operations")

    # ---- accounts ----

    def closed(self):
        for window in self.profile["windows"]:
            mine = [one for one in self.profile["waits"] if one["window"] == window["id"]]
            sites = [one for one in self.profile["sites"] if one["window"] == window["id"]]
            name = f"window {window['id']} ({window['name']})"
            self.near(window["waits_ns"] + window["library_ns"], window["in_calls_ns"], f"{name}: waits and library", "in calls")
            self.near(sum(one["ns"] for one in mine), window["waits_ns"], f"{name}: all its waits", "waits_ns")
            self.near(sum(one["ns"] for one in sites), window["in_calls_ns"], f"{name}: all its sites", "in calls")

        waits = collections.Counter()
        for wait in self.profile["waits"]:
            waits[wait["site"]] += wait["ns"]
        for site in self.profile["sites"]:
            most = (1 + CLOSED) * site["ns"] + CALL_NS * site["count"]
            self.expect(waits[site["id"]] <= most, f"{site['call']} of rank {site['rank']} waits {waits[site['id']]} of {site['ns']} ns")

    def near(self, one, other, text, other_text):
        self.expect(abs(one - other) <= CLOSED * max(one, other), f"{text} are {one} ns, {other_text} {other}")

    def in_calls(self):
        """The profile's time in calls lies inside of the notes'."""
        calls = list(self.run.all_calls())
        names = {call.name for call in calls}
        told = sum(site["ns"] for site in self.profile["sites"] if site["call"] in names)
        count = sum(site["count"] for site in self.profile["sites"] if site["call"] in names)
        true = self.run.time_in_calls()
        self.expect(count == len(calls), f"it counts {count} calls, the program {len(calls)}")
        self.expect(told <= true * 1.001, f"it counts {told} ns in calls, the program {true}")
        least = (1 - CLOSED) * true - CALL_NS * len(calls) - INTERRUPTED_NS
        self.expect(told >= least, f"it counts only {told} ns in calls, the program {true}")

    def balanced(self):
        waits, calls = sum(self.told.values()), self.run.time_in_calls()
        self.expect(waits <= calls * 1.001, f"it tells {waits} ns of waits, and calls took {calls}")
        self.expect(not self.profile["advice"], f"it gives advice: {self.profile['advice']}")

    # ---- roots ----

    def roots(self):
        true, told = self.truth.roots(), collections.Counter()
        for wait in self.profile["waits"]:
            if wait["cause"] in EXACT:
                for root in wait["root"]:
                    told[root["rank"]] += root["ns"]
        for rank in range(self.run.ranks):
            is_true, is_told = (waits[rank] / max(sum(waits.values()), 1) for waits in (true, told))
            self.lines.append(f"root {rank:17} true {is_true:9.3f}     told {is_told:9.3f}")
            self.expect(abs(is_true - is_told) <= ROOTS, f"rank {rank} is the root of {is_true:.3f}; it tells {is_told:.3f}")


def differences(true, told):
    keys = sorted(set(true) | set(told), key=lambda key: -abs(true[key] - told[key]))
    return [f"    {' '.join(map(str, key))}: true {true[key]} ns, told {told[key]}" for key in keys[:8] if true[key] != told[key]]


def judge(run, truth, profile):
    """(enough to judge, what is wrong, lines to print)."""
    faults = schema.faults_of(profile)
    if faults:
        return True, faults, []
    one = Judge(run, truth, profile)
    if not has_enough(run, one.true):
        return False, [], []
    one.closed()
    one.in_calls()
    one.unknown()
    if one.is_balanced():
        one.balanced()
    else:
        one.waits()
    if run.property in ("row", "halo"):
        one.roots()
    if run.property == "progress":
        one.applied()
    return True, one.faults, one.lines


def truth_only(run, truth):
    true = true_waits(truth)
    sums = {cause: sum(narrowed(true, 3, {cause}).values()) for cause in schema.CAUSES}
    return has_enough(run, true), [], [f"{cause:22} true {ns / 1e6:9.3f} ms" for cause, ns in sums.items() if ns]


def read_profile(path):
    with open(path) as file:
        return json.load(file)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if sys.argv[1] == "--schema":
        enough, faults, lines = True, schema.faults_of(read_profile(sys.argv[2])), []
    else:
        run = Run(sys.argv[1])
        truth = Truth(run)
        enough, faults, lines = judge(run, truth, read_profile(sys.argv[2])) if len(sys.argv) == 3 else truth_only(run, truth)
    print("\n".join(lines + [f"wrong: {fault}" for fault in faults[:20]]))
    sys.exit(1 if faults else 0 if enough else 3)


if __name__ == "__main__":
    main()
