#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""advice.py - whether a profile's advice has a sentence, or has none of a rule

usage: advice.py PROFILE has RULE RANK WORDS...
       advice.py PROFILE not RULE...
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "waits"))
import schema  # noqa: E402

ADVICE_MOST = 12


def faults_of_advice(profile):
    """What is wrong in any profile's advice."""
    advice, faults = profile["advice"], []
    if len(advice) > ADVICE_MOST:
        faults.append(f"there are {len(advice)} sentences")
    if [one["saves_ns"] for one in advice] != sorted((one["saves_ns"] for one in advice), reverse=True):
        faults.append("the sentences are not in the order of what they save")
    for one in advice:
        if one["saves_ns"] > profile["seconds"] * 1e9:
            faults.append(f"{one['rule']} saves more than the job takes")
        if " up to " not in one["text"] or not 0 <= one["rank"] < profile["ranks"]:
            faults.append(f"{one} has no bound or no rank")
    return faults


def faults_of_sentence(profile, rule, rank, words):
    found = [one for one in profile["advice"] if one["rule"] == rule]
    if len(found) != 1:
        return [f"there are {len(found)} sentences of {rule}: {profile['advice']}"]
    faults = [] if rank == "any" or found[0]["rank"] == int(rank) else [f"it is about rank {found[0]['rank']}: {found[0]['text']}"]
    return faults + [f"it has no \"{word}\": {found[0]['text']}" for word in words if word not in found[0]["text"]]


def main():
    with open(sys.argv[1]) as file:
        profile = json.load(file)
    faults = schema.faults_of(profile) or faults_of_advice(profile)
    if sys.argv[2] == "has":
        faults += faults_of_sentence(profile, sys.argv[3], sys.argv[4], sys.argv[5:])
    else:
        faults += [f"there is advice: {one['text']}" for one in profile["advice"] if one["rule"] in sys.argv[3:]]
    print("\n".join(faults))
    return bool(faults)


sys.exit(main())
