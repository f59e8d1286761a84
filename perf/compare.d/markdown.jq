# SPDX-License-Identifier: BSD-2-Clause
# markdown.jq - compare.json as README's tables ($part "short") or as every row of the comparison ($part "all")

def number:
  if . == null then "–" elif . < 10 then (. * 100 | round / 100) elif . < 100 then (. * 10 | round / 10)
  else round end | tostring;
def ratio: if . == null then "–" else (. * 100 | round / 100 | tostring) end;
def size:
  if . == null then "" elif . >= 1048576 then "\(. / 1048576) MiB" elif . >= 1024 then "\(. / 1024) KiB"
  else "\(.) B" end;
def line: "| " + join(" | ") + " |";
def rule: "|" + (map("---|") | join(""));

def where:
  "\(.date), `\(.command)`, \(.rounds) rounds; \(.cpu), \(.cores) cores"
  + "\(if .where == "" then "" else ", " + .where end), \(.kernel), device \(.device); "
  + "Oriel \(.versions.oriel), perftest \(.versions.perftest)"
  + (if .kind == "soft" then ", Open MPI \(.versions.openmpi), MPICH \(.versions.mpich)" else "" end) + ".";

def cell($all; $id; $side; $size):
  first($all.cells[] | select(.id == $id and .side == $side and .size_bytes == $size)) // null;
def best($all; $id; $size):
  [$all.cells[] | select(.id == $id and .size_bytes == $size and (.side | test("^(openmpi|mpich)")))]
  | if length == 0 then null elif .[0].at_most then min_by(.median) else max_by(.median) end;

# Three lines of one pattern: Oriel, the best peer at each size, bare memory.
def three($all; $id; $what; $sizes):
  (["\($what): Oriel"] + [$sizes[] as $s | cell($all; $id; "oriel"; $s).median | number] | line),
  (["best peer"] + [$sizes[] as $s | best($all; $id; $s) | if . then "\(.median | number) (\(.side))" else "–" end]
   | line),
  (["bare shared memory"] + [$sizes[] as $s | cell($all; $id; "shm"; $s).median | number] | line);

def short_soft:
  . as $all | [8, 4096, 65536, 1048576] as $sizes
  | (["put latency, µs"] + ($sizes | map(size)) | line, rule),
    three($all; "put_lat.allocate.pscw"; "allocate, pscw"; $sizes),
    three($all; "put_lat.allocate.fence"; "allocate, fence"; $sizes),
    three($all; "put_lat.create.pscw"; "create, pscw"; $sizes),
    three($all; "put_lat.create.fence"; "create, fence"; $sizes),
    (["put bandwidth, MB/s, 64 puts an epoch"] + ($sizes | map(size)) | "", line, rule),
    three($all; "put_bw.allocate.pscw"; "allocate, pscw"; $sizes),
    three($all; "put_bw.create.pscw"; "create, pscw"; $sizes);

def rows:
  (["figure", "size", "side", "median", "against", "ratio", "lowest to highest", "bar", ""] | line, rule),
  (.[] | [.figure, (.size_bytes | size), .side, "\(.value | number) \(.unit // "")",
          "\(.other | number) \(.against)", (.ratio | ratio),
          "\(.ratio_low | ratio) to \(.ratio_high | ratio)", (.bar | gsub("<"; "&lt;") | gsub(">"; "&gt;")),
          .verdict] | line);

def verdicts:
  "\([.rows[] | select(.verdict == "holds")] | length) bars hold, \([.rows[] | select(.verdict == "misses")] | length) miss"
  + ([.rows[] | select(.verdict == "not measured")] | length | if . > 0 then ", \(.) were not measured" else "" end) + ".";

if $part == "short" then
  where, "", (if .kind == "soft" then short_soft else (.rows | map(select(.bar != "-")) | rows) end), "", verdicts
else
  where, "", (.rows | rows), "", verdicts
end
