# SPDX-License-Identifier: BSD-2-Clause
"""What perf/apps/run has measured, as tables in Markdown, and whether the bars hold."""
import json
from statistics import median

from programs import NAMES

MORE_MIB = 8  # a rank may have resident, beside 5 % more than alone
SHARE_BAR, FASTER_BAR = 0.20, 1.2  # programs with this share of one-sided calls are to be so much faster in the middle


def ratios(row):
    """In their order; where the MPI alone fails, to the other MPI alone."""
    return sorted(under / alone for alone, under in zip(row["beside"], row["under"]) if alone and under)


def needs_more_memory(row):
    return row["resident"] and row["resident_under"] and row["resident_under"] > 1.05 * row["resident"] + MORE_MIB


def is_wrong(row):
    return row["agree"] is False and not row["alone_wrong"]


def verdict(row):
    """Slower only by chance is no miss: the middle is above the bar, and so much as three rounds of four were slower."""
    all_ratios = ratios(row)
    if is_wrong(row):
        return "misses: results differ"
    if row["under_fails"]:
        return "misses: " + row["under_fails"]
    if needs_more_memory(row):
        return "misses: memory"
    if not all_ratios:
        return "-"
    return "misses" if median(all_ratios) > row["bar"] and all_ratios[len(all_ratios) // 4] > 1 else "holds"


def seconds(row, side):
    taken = [value for value in row[side] if value]
    return f"{median(taken):.2f}" if taken else row[side + "_fails"] or "-"


def percent(share):
    return "-" if share is None else f"{100 * share:.0f} %"


def mebibytes(resident):
    return "-" if resident is None else f"{resident:.0f}"


def cells(row):
    all_ratios, agree = ratios(row), {True: "yes", False: "**no**", None: "-"}[row["agree"]]
    if row["alone_wrong"]:
        agree = "no, those of the MPI alone are wrong"
    spread = f"{all_ratios[0]:.2f} to {all_ratios[-1]:.2f}" if all_ratios else "-"
    return [row["name"], NAMES[row["mpi"]], str(row["ranks"]), seconds(row, "alone"), seconds(row, "under"),
            f"{median(all_ratios):.2f}" if all_ratios else "-", spread, mebibytes(row["resident"]), mebibytes(row["resident_under"]),
            agree + (", some windows the MPI's own" if row["left"] else ""), percent(row["share"]), percent(row["share_under"]),
            f"&lt;={row['bar']:.2f}", verdict(row)]


def table(head, rows):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head)] + rows)


def middle(rows):
    """How much faster the programs are that spend their time in one-sided calls, and what the bar says."""
    faster = [1 / median(ratios(row)) for row in rows if (row["share"] or 0) >= SHARE_BAR and ratios(row)]
    if not faster:
        return "No program spends 20 % or more of its time in one-sided calls."
    holds = "holds" if median(faster) >= FASTER_BAR else "misses"
    return (f"In {len(faster)} of the measured rows, the program spends {100 * SHARE_BAR:.0f} % or more of its time in one-sided calls with the "
            f"MPI alone. The median of these is {median(faster):.2f} times as fast under oriel-mpi (bar: &gt;={FASTER_BAR}, {holds}).")


def conditions(result):
    m, rounds = result["machine"], max([len(row["under"]) for row in result["rows"]] or [0])
    return (f"{m['date']}, `perf/apps/run --rounds {rounds}`; {m['cpu']}, {m['processors']} processors, Linux {m['kernel']}; "
            f"Oriel {m['oriel']}, Open MPI {m['openmpi']}, MPICH {m['mpich']}.")


def first_of_each_kind(rows):
    """The rows for README.md: of programs whose names begin alike the plan's first, both MPIs beside each other. Those that only
    communicate beside a window are no programs that anybody waits for."""
    names = {}
    for row in rows:
        if row["name"].endswith("beside a window"):
            continue
        names.setdefault(row["name"].split(",")[0], row["name"])
    for name in names.values():
        found = {row["mpi"]: row for row in rows if row["name"] == name and row["ranks"] == 2}
        yield [name] + [seconds(found[mpi], side) if mpi in found else "-" for mpi in NAMES for side in ("alone", "under")]


def tell(out):
    result = json.load(open(out + "/apps.json"))
    rows = result["rows"]
    head = ["program", "MPI", "ranks", "s alone", "s under oriel-mpi", "ratio", "lowest to highest", "MiB alone", "under",
            "results agree", "one-sided alone", "under", "bar", ""]
    missing = [f"- {name}, {NAMES[mpi]}: {why}." for name, mpi, why in result["missing"]]
    full = [conditions(result), "", table(head, [cells(row) for row in rows]), "", middle(rows)]
    full += ["", "Missing:", ""] + missing if missing else []
    with open(out + "/apps.md", "w") as file:
        file.write("\n".join(full) + "\n")
    with open(out + "/apps-front.md", "w") as file:
        front = ["seconds of the whole program, 2 ranks"] + [word for mpi in NAMES for word in (NAMES[mpi], "under oriel-mpi")]
        file.write(table(front, list(first_of_each_kind(rows))) + "\n\n" + middle(rows) + "\n")
    print("\n".join(full))
    return any(is_wrong(row) or row["under_fails"] for row in rows) or not rows
