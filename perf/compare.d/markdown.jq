# SPDX-License-Identifier: BSD-2-Clause
# markdown.jq - compare.json as README's sentences ($part "front"), its table of MPI programs ($part "mpi"), or as all tables of
# perf/results.md ($part "all")

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

# Three lines of one pattern: Oriel, the best other library at each size, bare memory.
def three($all; $id; $what; $sizes):
  (["\($what): Oriel"] + [$sizes[] as $s | cell($all; $id; "oriel"; $s).median | number] | line),
  (["best other"] + [$sizes[] as $s | best($all; $id; $s) | if . then "\(.median | number) (\(.side))" else "–" end]
   | line),
  (["bare shared memory"] + [$sizes[] as $s | cell($all; $id; "shm"; $s).median | number] | line);

def overview:
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
  + ([.rows[] | select(.verdict == "not measured")] | length | if . > 0 then ", \(.) were not measured" else "" end)
  + ([.rows[] | select(.verdict == "spread")] | length | if . > 0 then ", \(.) were not judged, whose rounds spread" else "" end) + ".";

def named: sub("^openmpi"; "Open MPI") | sub("^mpich"; "MPICH") | sub("-(?<way>.*)$"; ", \(.way)");

# Two sentences: what a put costs beside the best other library and bare memory, and how much 64 of them move.
def front_soft:
  . as $all
  | def oriel($id; $size): cell($all; $id; "oriel"; $size).median | number;
    def other($id; $size): best($all; $id; $size) | "\(.median | number) (\(.side | named))";
  "On softverbs, an epoch with one put of 8 bytes takes \(oriel("put_lat.allocate.pscw"; 8)) µs in allocated memory and"
  + " \(oriel("put_lat.create.pscw"; 8)) in created memory; with the best other library it takes"
  + " \(other("put_lat.allocate.pscw"; 8)) and \(other("put_lat.create.pscw"; 8)).",
  "Epochs of 64 puts of 64 KiB move \(oriel("put_bw.allocate.pscw"; 65536)) MB/s in allocated memory and"
  + " \(oriel("put_bw.create.pscw"; 65536)) in created memory, those of the best other library"
  + " \(other("put_bw.allocate.pscw"; 65536)) and \(other("put_bw.create.pscw"; 65536)).";

# One sentence: how far from bare verbs.
def front_rdma:
  first(.rows[] | select(.figure == "put ping-pong" and .size_bytes == 8)) as $put
  | "Over SoftRoCE, a put of 8 bytes and one back take \($put.ratio | ratio) times as long as on bare verbs.";

# What one operation takes, of a rate too, which is one of MB (2^20 bytes) a second.
def microseconds: if .at_most then .median else .size_bytes / (.median * 1.048576) end;

# MPI programs without oriel-mpi, by the best way that the MPI has, and with it. Nothing where that was not measured.
def of_mpi($all; $mpi; $id; $size):
  [$all.cells[] | select(.id == $id and .size_bytes == $size and (.side | startswith($mpi))) | microseconds] | min;
def with_oriel($all; $mpi; $id; $size):
  cell($all; $id; "on_" + $mpi; $size) | if . then microseconds else null end;
def mpi_line($all; $what; $id; $size):
  [$what, ("openmpi", "mpich") as $mpi | of_mpi($all; $mpi; $id; $size), with_oriel($all; $mpi; $id; $size)]
  | [.[0], (.[1:][] | number)] | line;
def mpi_table:
  . as $all
  | if any(.cells[]; .side | startswith("on_")) then
      (["µs, allocated memory", "Open MPI", "under oriel-mpi", "MPICH", "under oriel-mpi"] | line, rule),
      mpi_line($all; "epoch with one put of 8 bytes, pscw"; "put_lat.allocate.pscw"; 8),
      mpi_line($all; "the same, fence"; "put_lat.allocate.fence"; 8),
      mpi_line($all; "put of 4 KiB and flush"; "put_flush.allocate"; 4096),
      mpi_line($all; "lock, put, unlock"; "lock.exclusive.allocate"; 8),
      mpi_line($all; "fetch_and_op"; "fop.allocate"; 8),
      mpi_line($all; "accumulate of 64 doubles"; "acc_lat.allocate"; 512)
    else empty end;

if $part == "mpi" then mpi_table
elif $part == "front" then
  if .kind == "soft" then front_soft else front_rdma end
else
  where, "", (if .kind == "soft" then overview, "" else empty end), (.rows | rows), "", verdicts
end
