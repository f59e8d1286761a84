# SPDX-License-Identifier: BSD-2-Clause
# all.jq - compare.json: the machine, the rows of the table, those of the scaling programs, and what all of it comes from
def scaling_row: {
  figure: "scaling, \(.program): bars that hold", side: "oriel", value: (.bars - .missed), against: "bars", other: .bars,
  bar: "all", verdict: (if .missed > 0 then "misses" else "holds" end)};

$machine[0] + {rows: ($rows[0] + [$scaling[0][] | scaling_row]), cells: $cells[0], scaling: $scaling[0]}
