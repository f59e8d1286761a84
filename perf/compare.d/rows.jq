# SPDX-License-Identifier: BSD-2-Clause
# rows.jq - the rows of the table: each line of a bars file, a figure beside what it is measured against
#
# Input: the text of the file; $cells: what cells.jq made. A ratio is taken within each round, of figures that were taken
# right after each other; the row has the rounds' median, and their lowest and highest as its spread.

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;

def cell($id; $side; $size):
  first($cells[0][] | select(.id == $id and .side == $side and .size_bytes == $size)) // null;

def is_rival: .side | test("^(openmpi|mpich)");

# Of several rivals that which is best by its median.
def best_rival($id; $size):
  [$cells[0][] | select(.id == $id and .size_bytes == $size and is_rival)]
  | if length == 0 then null elif .[0].at_most then min_by(.median) else max_by(.median) end;

# "raw", "rivals", a number in the figure's unit, or another line's: "put_lat.allocate.pscw@shm".
def against($id; $word; $size):
  if $word | test("^[0-9.]+$") then {side: "bound", median: ($word | tonumber)}
  elif $word == "rivals" then best_rival($id; $size)
  elif ($word | contains("@")) then ($word | split("@")) as $two | cell($two[0]; $two[1]; $size)
  else cell($id; $word; $size) end;

def ratios($a; $b):
  if $b.values == null then [$a.values[].value / $b.median] else [$a.values[] as $x | $b.values[] | select(.round == $x.round and .value > 0) | $x.value / .value] end;

# A bar that ends with ~ leaves 3 % more, of a time or of a rate, where bare shared memory is within 5 % of the other side; one
# that ends with % is not judged where the rounds spread 10 % or more: the word is "spread" then.
def eased($bar; $other; $limit):
  if $limit and $other and ($bar | startswith("<")) and $limit >= 0.95 * $other then "<=1.03"
  elif $limit and $other and ($bar | startswith(">")) and $limit <= 1.05 * $other then ">=0.97"
  else $bar | rtrimstr("~") end;
def bar_of($bar; $other; $limit): if $bar | endswith("~") then eased($bar; $other; $limit) else $bar | rtrimstr("%") end;
def unsettled($bar; $ratios):
  ($bar | endswith("%")) and ($ratios | length > 0) and ($ratios | max) >= 1.1 * ($ratios | min);

def verdict($bar; $ratio):
  if $bar == "-" then "-"
  elif $ratio == null then "not measured"
  elif ($bar | startswith("<=")) then (if $ratio <= ($bar[2:] | tonumber) then "holds" else "misses" end)
  elif ($bar | startswith("<")) then (if $ratio < ($bar[1:] | tonumber) then "holds" else "misses" end)
  elif ($bar | startswith(">=")) then (if $ratio >= ($bar[2:] | tonumber) then "holds" else "misses" end)
  else (if $ratio > ($bar[1:] | tonumber) then "holds" else "misses" end) end;

def compared($line; $size):
  cell($line.id; $line.side; $size) as $a
  | against($line.id; $line.against; $size) as $b
  | (if $a and $b then ratios($a; $b) else [] end) as $all
  | (if $all | length > 0 then ($all | median) else null end) as $ratio
  | bar_of($line.bar; $b.median; cell($line.id; "shm"; $size).median) as $bar
  | {figure: $line.what, id: $line.id, size_bytes: $size, side: $line.side, unit: $a.unit, value: $a.median,
     low: $a.low, high: $a.high, against: ($b.side // $line.against), other: $b.median,
     ratio: $ratio, ratio_low: ($all | min), ratio_high: ($all | max),
     bar: $bar, verdict: (if unsettled($line.bar; $all) then "spread" else verdict($bar; $ratio) end)};

# Figures that come with their own bound, which may differ from round to round; the ratio is that to the bound.
def bounded($line):
  $cells[0][] | select(.id == $line.id and .name)
  | (if .at_most then "<=" else ">=" end) as $how
  | [.values[] | .value / .bar] as $all
  | {figure: ($line.what + ": " + .name), id, size_bytes: null, side, unit, value: .median, low, high, against: "bound",
     other: (.values | map(.bar) | median), ratio: ($all | median), ratio_low: ($all | min), ratio_high: ($all | max),
     bar: ($how + "1"), verdict: verdict($how + "1"; $all | median)};

[split("\n")[] | select(test("^[a-z]"))
 | [splits(" +")] as $f
 | {id: $f[0], sizes: ($f[1] | split(",")), side: $f[2], against: $f[3], bar: $f[4], what: ($f[5:] | join(" "))}
   as $line
 | if $line.against == "bound" then bounded($line)
   else ($line.sizes[] | tonumber) as $size | compared($line; $size) end]
