# SPDX-License-Identifier: BSD-2-Clause
# cells.jq - the runs, a list of them, become cells: one for each figure of each side, with its value in every round

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# Under contention the typical turn says little: who has the lock's line keeps it for a while.
def figure($tool; $ranks):
  if $tool == "lock_lat" and $ranks > 2 then {unit: "us", at_most: true, value: .t_avg_us}
  elif has("t_typical_us") then {unit: "us", at_most: true, value: .t_typical_us}
  elif has("value") then {unit, at_most, value, bar}
  elif $tool == "rate" then {unit: "M/s", at_most: false, value: .msg_rate_mpps}
  else {unit: "MB/s", at_most: false, value: .bw_average_mbps} end;

# Beside the time of a lock that is fought for: how often rank 0 has given way to others for each of its holds; and, where it
# reaches the words by work requests, how many of them have read or changed atomically.
def counts($run):
  if $run.tool != "lock_lat" or $run.ranks <= 2 then empty
  else ([["yields", .yields_per_turn]]
        + if $run.side == "oriel-far" then [["reads", .reads_per_turn], ["atomics", .atomics_per_turn]] else [] end)[]
  | select(.[1] != null) | {id: ($run.id + "." + .[0]), unit: "", at_most: true, value: .[1]} end;

[.[] as $run | $run.rows[]
 | {id: $run.id, side: $run.side, round: $run.round, size_bytes, name: .figure}
   + (figure($run.tool; $run.ranks), counts($run))]
| group_by([.id, .side, .size_bytes, .name])
| map(.[0] + {values: map({round, value, bar}), median: (map(.value) | median), low: (map(.value) | min),
              high: (map(.value) | max)} | del(.round, .value, .bar))
