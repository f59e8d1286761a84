# SPDX-License-Identifier: BSD-2-Clause
# table.jq - compare.json as lines for table.awk: kind, then fields, separated by tabs
def number:
  if . == null then "" elif . < 10 then (. * 1000 | round / 1000) elif . < 100 then (. * 100 | round / 100)
  elif . < 1000 then (. * 10 | round / 10) else round end | tostring;
def ratio: if . == null then "" else (. * 100 | round / 100 | tostring) end;

def spread:
  if .ratio_low then "\(.ratio_low | ratio) to \(.ratio_high | ratio)"
  elif .low then "\(.low | number) to \(.high | number)" else "" end;
def count($verdict): [.rows[] | select(.verdict == $verdict)] | length;

["head", "\(.date)  \(.command)"],
["head", "\(.cpu), \(.cores) cores\(if .where == "" then "" else ", " + .where end); \(.kernel); device \(.device)"],
(.versions | ["head", "Oriel \(.oriel), Open MPI \(.openmpi), MPICH \(.mpich), perftest \(.perftest)"]),
["head", "\(.rounds) rounds\(if .quick then ", QUICK: the figures mean nothing" else "" end)"],
(.rows[] | ["row", .figure, (.size_bytes // "" | tostring), .side, (.value | number), (.unit // ""), .against,
            (.other | number), (.ratio | ratio), spread, .bar, .verdict]),
["tail", "\(count("holds")) hold, \(count("misses")) miss, \(count("not measured")) not measured"
         + (count("spread") | if . > 0 then ", \(.) not judged, whose rounds spread" else "" end)]
| @tsv
