#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""schema - whether a profile has the fields of oriel-profile/1, each of its kind; more fields may be there

usage: schema.py PAGE         whether oriel_profile(7) names the fields and causes, and no others
"""
import re
import sys

CAUSES = ("late_post late_complete late_fence late_collective lock data progress room setup registration signal threads "
          "handover short unknown").split()
NUMBER, INTEGER, COUNT, TEXT = "a number", "an integer", "a count", "a text"
RANK, CAUSE, SIZES = "a rank, or -1", "a cause", "counts"

PROFILE = {
    "schema": TEXT, "ranks": COUNT, "seconds": NUMBER, "clock_error_ns": COUNT, "lost": COUNT,
    "left_out": {"windows": COUNT, "windows_ns": COUNT, "sites": COUNT, "sites_ns": COUNT, "waits": COUNT, "waits_ns": COUNT},
    "windows": [{"id": INTEGER, "number": COUNT, "name": TEXT, "kind": TEXT, "in_calls_ns": COUNT, "waits_ns": COUNT, "library_ns": COUNT}],
    "sites": [{"id": INTEGER, "window": INTEGER, "rank": RANK, "call": TEXT, "function": TEXT, "file": TEXT, "line": COUNT,
               "object": TEXT, "build_id": TEXT, "offset": COUNT, "count": COUNT, "bytes": COUNT, "sizes": SIZES, "ns": COUNT}],
    "waits": [{"window": INTEGER, "site": INTEGER, "waiter": RANK, "culprit": RANK, "cause": CAUSE, "ns": COUNT,
               "count": COUNT, "max_ns": COUNT, "served": COUNT, "root": [{"rank": RANK, "ns": COUNT}]}],
    "advice": [{"rule": TEXT, "text": TEXT, "rank": RANK, "window": INTEGER, "site": INTEGER, "saves_ns": COUNT}],
}


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_count(value):
    return is_integer(value) and value >= 0


KINDS = {
    NUMBER: lambda value: is_integer(value) or isinstance(value, float),
    INTEGER: is_integer,
    COUNT: is_count,
    TEXT: lambda value: isinstance(value, str),
    RANK: lambda value: is_integer(value) and value >= -1,
    CAUSE: lambda value: value in CAUSES,
    SIZES: lambda value: isinstance(value, list) and all(map(is_count, value)),
}


def faults_of_fields(value, fields, where):
    if isinstance(fields, list):
        if not isinstance(value, list):
            return [f"{where} is no list"]
        return [fault for i, one in enumerate(value) for fault in faults_of_fields(one, fields[0], f"{where}[{i}]")]
    if isinstance(fields, dict):
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        missing = [f"{where}.{name} is missing" for name in fields if name not in value]
        return missing + [fault for name, kind in fields.items() if name in value
                          for fault in faults_of_fields(value[name], kind, f"{where}.{name}")]
    return [] if KINDS[fields](value) else [f"{where} is {value!r}, not {fields}"]


def faults_of_references(profile):
    """Windows and sites that are named and not there, and ids that are there twice."""
    faults = []
    windows = [window["id"] for window in profile["windows"]]
    sites = [site["id"] for site in profile["sites"]]
    faults += [f"window {one} is there twice" for one in set(windows) if windows.count(one) > 1]
    faults += [f"site {one} is there twice" for one in set(sites) if sites.count(one) > 1]
    for part in "sites", "waits", "advice":
        faults += [f"{part}: window {one['window']} is not there" for one in profile[part] if one["window"] not in windows + [-1]]
    for part in "waits", "advice":
        faults += [f"{part}: site {one['site']} is not there" for one in profile[part] if one["site"] not in sites + [-1]]
    return faults


def faults_of(profile):
    """What is wrong with a profile, as texts."""
    faults = faults_of_fields(profile, PROFILE, "profile")
    if faults:
        return faults
    if profile["schema"] != "oriel-profile/1":
        return [f"the schema is {profile['schema']}"]
    return faults_of_references(profile)


# ---- the manual ----

def section(page, title):
    """The first table of a section: its rows, cell by cell."""
    text = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line.startswith("|")][2:]


def words(text):
    return re.findall(r"`([a-z_]+)`", text)


def faults_of_page(page):
    told = {}
    for row in section(page, "The JSON"):
        inner = [name for name in words(row[0]) if isinstance(PROFILE.get(name), (list, dict))]
        told.update({name: words(row[1]) for name in inner} or {name: [] for name in words(row[0])})
    if told.keys() != PROFILE.keys():
        yield f"fields: {sorted(told.keys() ^ PROFILE.keys())}"
    for name, fields in PROFILE.items():
        names = set(fields[0] if isinstance(fields, list) else fields if isinstance(fields, dict) else [])
        if set(told.get(name, [])) != names:
            yield f"fields of {name}: {sorted(set(told.get(name, [])) ^ names)}"
    causes = {row[0].replace(" ", "_") for row in section(page, "Causes")}
    if causes | {"short"} != set(CAUSES):
        yield f"causes: {sorted(causes ^ set(CAUSES))}"


def main(path):
    with open(path) as file:
        faults = list(faults_of_page(file.read()))
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
