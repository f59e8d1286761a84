#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""counts - whether a profile has the calls of see-counts: counts.py PROFILE [RANK...]: of these ranks"""
import json
import sys

import schema

CALLS = {"oriel_put": (8, 5 * 8 + 3 * 4096), "oriel_get": (2, 200), "oriel_win_flush": (7, 0), "oriel_win_fence": (4, 0),
         "oriel_win_lock_all": (1, 0), "oriel_win_unlock_all": (1, 0), "oriel_win_allocate": (1, 0), "oriel_win_free": (1, 0)}


def faults_of_rank(profile, rank):
    sites = [site for site in profile["sites"] if site["rank"] == rank and site["window"] >= 0]
    for call, (count, size) in CALLS.items():
        own = [site for site in sites if site["call"] == call]
        found = sum(site["count"] for site in own), sum(site["bytes"] for site in own)
        if found != (count, size):
            yield f"rank {rank}: {call}: {found}, not {(count, size)}"
    sizes = [site["sizes"] for site in sites if site["call"] == "oriel_put"]
    if sorted((index, count) for one in sizes for index, count in enumerate(one) if count) != [(4, 5), (13, 3)]:
        yield f"rank {rank}: the classes of puts are {sizes}"
    for site in sites:
        if not site["function"] or site["object"].split("/")[-1] != "see-counts" or not site["build_id"]:
            yield f"rank {rank}: {site['call']} has no place: {site}"


def main(path, *ranks):
    with open(path) as file:
        profile = json.load(file)
    faults = schema.faults_of(profile) + [fault for rank in ranks or ["0", "1"] for fault in faults_of_rank(profile, int(rank))]
    if [window["name"] for window in profile["windows"]] != ["counted"]:
        faults.append(f"the windows are {profile['windows']}")
    if any(profile["left_out"].values()):
        faults.append(f"it leaves out {profile['left_out']}")
    print("\n".join(faults))
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
