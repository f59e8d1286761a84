#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_judge - the truth of made-up notes, and whether the judge finds what is wrong with made-up profiles"""
import copy
import os
import tempfile
import unittest

import judge
import schema
from truth import NOBODY, Run, Truth

US = 1000


def run_of(causes, calls, ranks, name="made"):
    """A run of calls: (rank, kind, window, begun_us, ended_us, ranks, hint)."""
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(ranks):
            with open(os.path.join(folder, f"notes.{rank}"), "w") as file:
                file.write(f"rank {rank} ranks {ranks} property {name} causes {causes} rounds 1 delay_ns 1\n")
                for caller, kind, window, begun, ended, others, hint in calls:
                    if caller == rank:
                        file.write(f"{kind} call_{kind} {window} {begun * US} {ended * US} {others} {hint}\n")
        return Run(folder)


def pieces_of(causes, calls, ranks):
    """(waiter, culprit, cause, begun_us, ended_us), without handover."""
    truth = Truth(run_of(causes, calls, ranks))
    return [(one.waiter, one.culprit, one.cause, one.begun // US, one.ended // US) for one in truth.pieces if one.cause != "handover"]


def profile_of(run):
    """The profile that tells the truth, and gives the rest of each call to the library."""
    truth, names, sites = Truth(run), ["-"], {}
    profile = {"schema": "oriel-profile/1", "ranks": run.ranks, "seconds": 1.5, "clock_error_ns": 0, "lost": 0,
               "left_out": {"windows": 0, "windows_ns": 0, "sites": 0, "sites_ns": 0, "waits": 0, "waits_ns": 0},
               "windows": [], "sites": [], "waits": [], "advice": []}
    for call in run.all_calls():
        if call.window not in names:
            names.append(call.window)
        key = call.rank, call.window, call.name
        if key not in sites:
            sites[key] = {"id": len(sites), "window": names.index(call.window), "rank": call.rank, "call": call.name,
                          "function": "main", "file": "made.c", "line": 1, "object": "made", "build_id": "ab", "offset": 64,
                          "count": 0, "bytes": 0, "sizes": [0] * 32, "ns": 0}
            profile["sites"].append(sites[key])
        sites[key]["count"] += 1
        sites[key]["ns"] += call.ended - call.begun
    for piece in truth.pieces:
        ns = piece.ended - piece.begun
        culprit = NOBODY if piece.culprit == "*" else piece.culprit
        profile["waits"].append({"window": names.index(piece.window), "site": sites[piece.waiter, piece.window, piece.call]["id"],
                                 "waiter": piece.waiter, "culprit": culprit, "cause": piece.cause, "ns": ns, "count": 1,
                                 "max_ns": ns, "served": 0, "root": []})
    for number, name in enumerate(names):
        in_calls = sum(site["ns"] for site in profile["sites"] if site["window"] == number)
        waits = sum(wait["ns"] for wait in profile["waits"] if wait["window"] == number)
        profile["windows"].append({"id": number, "number": number, "name": name, "kind": "allocated", "in_calls_ns": in_calls, "waits_ns": waits,
                                   "library_ns": in_calls - waits})
    return profile


# Rank 1 posts 5 ms late, rank 0 completes 4 ms late, and all fence, rank 2 last.
MIXED = [
    (0, "start", "halo", 0, 3, "1", "-"), (0, "complete", "halo", 1000, 6010, "1", "-"),
    (1, "post", "halo", 6000, 6003, "0", "-"), (1, "wait", "halo", 6010, 6020, "0", "-"),
    (0, "fence", "halo", 6100, 20005, "*", "-"), (1, "fence", "halo", 6200, 20006, "*", "-"), (2, "fence", "halo", 20000, 20004, "*", "-"),
]
CHAIN = [
    (1, "post", "halo", 0, 3, "0", "-"), (2, "post", "halo", 0, 3, "1", "-"),
    (0, "start", "halo", 0, 3, "1", "-"), (0, "complete", "halo", 9000, 9005, "1", "-"), (1, "wait", "halo", 1000, 9010, "0", "-"),
    (1, "start", "halo", 9020, 9023, "2", "-"), (1, "complete", "halo", 11000, 11005, "2", "-"), (2, "wait", "halo", 3000, 11010, "1", "-"),
]


class TrueWaits(unittest.TestCase):
    def test_late_post_ends_with_the_post(self):
        self.assertIn((0, 1, "late_post", 1000, 6000), pieces_of("late_post", MIXED, 3))

    def test_last_of_several_posts_is_to_blame(self):
        calls = [(0, "start", "w", 0, 1, "1,2", "-"), (0, "complete", "w", 10, 90, "1,2", "-"), (1, "post", "w", 50, 51, "0", "-"),
                 (2, "post", "w", 70, 71, "0", "-")]
        self.assertEqual(pieces_of("late_post", calls, 3), [(0, 2, "late_post", 10, 70)])

    def test_a_start_matches_the_post_of_its_number(self):
        calls = [(0, "start", "w", 0, 1, "1", "-"), (0, "complete", "w", 10, 11, "1", "-"), (0, "start", "w", 20, 21, "1", "-"),
                 (0, "complete", "w", 30, 60, "1", "-"), (1, "post", "w", 5, 6, "0", "-"), (1, "wait", "w", 8, 13, "0", "-"),
                 (1, "post", "w", 55, 56, "0", "-"), (1, "wait", "w", 57, 61, "0", "-")]
        self.assertEqual(pieces_of("late_post", calls, 2), [(1, 0, "late_complete", 8, 10), (0, 1, "late_post", 30, 55)])

    def test_last_at_a_fence_is_to_blame(self):
        fences = [piece for piece in pieces_of("late_fence", MIXED, 3) if piece[2] == "late_fence"]
        self.assertEqual(fences, [(0, 2, "late_fence", 6100, 20000), (1, 2, "late_fence", 6200, 20000)])

    def test_collective_calls_match_across_windows(self):
        calls = [(0, "collective", "a", 0, 50, "*", "-"), (1, "collective", "a", 40, 51, "*", "-"),
                 (0, "collective", "-", 60, 90, "*", "-"), (1, "collective", "-", 80, 91, "*", "-")]
        self.assertEqual(pieces_of("late_collective", calls, 2), [(0, 1, "late_collective", 0, 40), (0, 1, "late_collective", 60, 80)])

    def test_lock_is_split_by_its_holders(self):
        calls = [(1, "lock_exclusive", "w", 0, 5, "0", "-"), (1, "unlock", "w", 50, 55, "0", "-"),
                 (2, "lock_exclusive", "w", 6, 58, "0", "-"), (2, "unlock", "w", 80, 82, "0", "-"),
                 (3, "lock_exclusive", "w", 6, 85, "0", "-"), (3, "unlock", "w", 90, 91, "0", "-")]
        self.assertEqual(sorted(pieces_of("lock", calls, 4)), [(2, 1, "lock", 6, 50), (3, 1, "lock", 6, 50), (3, 2, "lock", 58, 80)])

    def test_shared_locks_let_each_other_in(self):
        calls = [(1, "lock_shared", "w", 0, 5, "0", "-"), (1, "unlock", "w", 50, 55, "0", "-"), (2, "lock_shared", "w", 6, 16, "0", "-"),
                 (2, "unlock", "w", 20, 22, "0", "-")]
        self.assertEqual(pieces_of("lock", calls, 3), [])

    def test_flush_waits_for_the_lock_of_lock_all(self):
        calls = [(1, "lock_exclusive", "w", 0, 5, "0", "-"), (1, "unlock", "w", 50, 55, "0", "-"), (2, "lock_all", "w", 6, 7, "*", "-"),
                 (2, "flush", "w", 10, 60, "0", "-"), (2, "flush", "w", 61, 70, "0", "-"), (2, "unlock_all", "w", 80, 82, "*", "-"),
                 (1, "lock_exclusive", "w", 64, 84, "0", "-"), (1, "unlock", "w", 85, 86, "0", "-")]
        self.assertEqual(pieces_of("lock", calls, 3), [(2, 1, "lock", 10, 50), (1, 2, "lock", 64, 80)])

    def test_signal_is_late_until_it_is_sent(self):
        calls = [(0, "signal", "w", 40, 41, "1", "-"), (1, "signal_wait", "w", 10, 45, "0", "-")]
        self.assertEqual(pieces_of("signal", calls, 2), [(1, 0, "signal", 10, 40)])

    def test_progress_is_while_the_target_is_outside(self):
        calls = [(0, "flush", "w", 10, 60, "1", "progress"), (1, "fence", "w", 20, 30, "*", "-"), (0, "fence", "w", 70, 71, "*", "-")]
        flush = [piece for piece in pieces_of("progress", calls, 2) if piece[2] != "late_fence"]
        self.assertEqual(flush, [(0, 1, "progress", 10, 20), (0, 1, "data", 20, 30), (0, 1, "progress", 30, 60)])

    def test_short_calls_are_no_waits(self):
        calls = [(0, "fence", "w", 10, 11, "*", "-"), (1, "fence", "w", 10, 11, "*", "-")]
        self.assertEqual(pieces_of("late_fence", calls, 2), [])

    def test_a_late_ranks_own_wait_is_passed_on(self):
        roots = Truth(run_of("late_complete", CHAIN, 3)).roots()
        self.assertEqual(roots, {0: (8000 + 6000) * US, 1: 2000 * US})


class Judgement(unittest.TestCase):
    def setUp(self):
        self.run_made = run_of("late_post,late_fence", MIXED, 3)
        self.profile = profile_of(self.run_made)

    def faults(self, run=None):
        enough, faults, _ = judge.judge(run or self.run_made, Truth(run or self.run_made), self.profile)
        self.assertTrue(enough)
        return faults

    def is_wrong(self, text, run=None):
        faults = self.faults(run)
        self.assertTrue(any(text in fault for fault in faults), f"{text!r} is not in {faults}")

    def waits(self, cause):
        return [wait for wait in self.profile["waits"] if wait["cause"] == cause]

    def test_truth_is_right(self):
        self.assertEqual(self.faults(), [])

    def test_more_fields_are_right(self):
        self.profile["more"] = self.profile["waits"][0]["more"] = 1
        self.assertEqual(self.faults(), [])

    def test_other_culprit_is_wrong(self):
        for wait in self.waits("late_fence"):
            wait["culprit"] = 1 - wait["waiter"]
        self.is_wrong("late_fence: recall 0.000, precision 0.000")

    def test_other_cause_is_wrong(self):
        self.waits("late_post")[0]["cause"] = "late_complete"
        self.is_wrong("late_post: recall 0.000")

    def test_missing_cause_is_wrong(self):
        self.profile["waits"] = [wait for wait in self.profile["waits"] if wait["cause"] != "late_post"]
        self.is_wrong("late_post: recall 0.000, precision 1.000")

    def test_too_long_a_wait_is_wrong(self):
        self.waits("late_post")[0]["ns"] *= 2
        self.is_wrong("late_post: recall 1.000, precision 0.500")

    def test_other_window_is_wrong(self):
        self.waits("late_fence")[0]["window"] = 0
        self.is_wrong("with window and call: ")

    def test_a_tenth_of_a_wait_too_little_is_wrong(self):
        for wait in self.profile["waits"]:
            wait["ns"] = wait["ns"] * 9 // 10
        self.is_wrong("all: recall 0.900, precision 1.000")

    def test_open_account_is_wrong(self):
        self.profile["windows"][1]["library_ns"] += 10000000
        self.is_wrong("waits and library are")

    def test_time_that_no_site_has_is_wrong(self):
        self.profile["sites"][1]["ns"] = 0
        self.is_wrong("all its sites are")

    def test_wait_of_another_site_is_wrong(self):
        wait = self.waits("late_post")[0]
        wait["site"] = self.profile["sites"][0]["id"]  # of start, which is short
        self.is_wrong(f"of rank 0 waits {wait['ns']} of")

    def test_lost_call_is_wrong(self):
        self.profile["sites"][0]["count"] -= 1
        self.is_wrong("calls, the program 7")

    def test_unknown_cause_is_wrong(self):
        wait = copy.deepcopy(self.waits("late_post")[0])
        self.profile["waits"].append(wait)
        wait["cause"] = "unknown"
        self.is_wrong("have no cause")

    def test_too_little_is_no_judgement(self):
        run = run_of("late_post,signal", MIXED, 3)
        self.assertEqual(judge.judge(run, Truth(run), self.profile), (False, [], []))

    def test_balanced_program_gets_no_advice(self):
        run = run_of("balanced", MIXED, 3)
        self.assertEqual(self.faults(run), [])
        self.profile["advice"].append({"rule": "late", "text": "hurry", "rank": 0, "window": 1, "site": 0, "saves_ns": 1})
        self.is_wrong("gives advice", run)

    def test_roots_are_shares(self):
        run = run_of("late_complete", CHAIN, 3, "row")
        self.profile = profile_of(run)
        first, second = sorted(self.waits("late_complete"), key=lambda wait: wait["waiter"])
        first["root"] = [{"rank": 0, "ns": 8000 * US}]
        second["root"] = [{"rank": 0, "ns": 6000 * US}, {"rank": 1, "ns": 2000 * US}]
        self.assertEqual(self.faults(run), [])
        second["root"] = [{"rank": 1, "ns": 8000 * US}]
        self.is_wrong("rank 0 is the root of 0.875; it tells 0.500", run)
        first["root"] = second["root"] = []
        self.is_wrong("rank 1 is the root of 0.125; it tells 0.000", run)


class Schema(unittest.TestCase):
    def setUp(self):
        self.profile = profile_of(run_of("late_post", MIXED, 3))
        self.profile["waits"][0]["root"] = [{"rank": 1, "ns": 5}]
        self.profile["advice"].append({"rule": "late", "text": "hurry", "rank": 0, "window": 1, "site": 0, "saves_ns": 1})

    def test_whole_profile_is_right(self):
        self.assertEqual(schema.faults_of(self.profile), [])

    def test_each_field_is_missed(self):
        for part, fields in schema.PROFILE.items():
            for field in fields[0] if isinstance(fields, list) else [None]:
                profile = copy.deepcopy(self.profile)
                del (profile[part][0] if field else profile)[field or part]
                self.assertEqual(len(schema.faults_of(profile)), 1, f"{part} {field}")

    def test_each_kind_is_looked_at(self):
        for value, text in ((None, "is None"), (-2, "-2"), (True, "True"), (0.5, "0.5")):
            self.profile["waits"][0]["waiter"] = value
            self.assertIn(text, schema.faults_of(self.profile)[0])

    def test_strange_cause_is_wrong(self):
        self.profile["waits"][0]["cause"] = "late_poster"
        self.assertIn("late_poster", schema.faults_of(self.profile)[0])

    def test_window_that_is_not_there_is_wrong(self):
        self.profile["sites"][0]["window"] = 77
        self.assertEqual(schema.faults_of(self.profile), ["sites: window 77 is not there"])


if __name__ == "__main__":
    unittest.main()
