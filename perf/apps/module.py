# SPDX-License-Identifier: BSD-2-Clause
"""One-sided communication from Python: what mpi4py's own tests of it do, which Debian's package lacks.

usage: module.py ROUNDS

Puts, gets and accumulates of all kinds of numbers and counts, with each synchronisation, by this module for MPI.
"""
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
right, left = (rank + 1) % ranks, (rank - 1) % ranks
COUNTS = (1, 7, 64, 1024)
KINDS = "bhilqfd"
BYTES = 8 * max(COUNTS)


def fence(win, numbers, back):
    """A put to the next rank, and a get of it."""
    win.Fence()
    win.Put(numbers, right)
    win.Fence()
    win.Get(back, right)
    win.Fence()


def post_start(win, numbers, back):
    to, of = world.group.Incl([right]), world.group.Incl([left])
    win.Post(of)
    win.Start(to)
    win.Accumulate(numbers, right, op=MPI.REPLACE)
    win.Complete()
    win.Wait()
    to.Free()
    of.Free()
    lock(win, numbers, back)


def lock(win, numbers, back):
    win.Lock(right, MPI.LOCK_EXCLUSIVE)
    win.Put(numbers, right)
    win.Flush(right)
    win.Get(back, right)
    win.Unlock(right)


def lock_all(win, numbers, back):
    win.Lock_all()
    win.Raccumulate(numbers, right, op=MPI.REPLACE).Wait()
    win.Flush(right)
    win.Get_accumulate(numbers, back, right, op=MPI.NO_OP)
    win.Flush_all()
    win.Rput(numbers, right).Wait()
    win.Unlock_all()


def word(win):
    """A counter and a word of rank 0, which all change at once; the counter says how far all have come."""
    one, old, expected = array("q", [1]), array("q", [0]), array("q", [0])
    win.Lock_all()
    win.Fetch_and_op(one, old, 0, 0, MPI.SUM)
    win.Compare_and_swap(one, expected, old, 0, 8)
    win.Flush(0)
    win.Unlock_all()


def kinds_and_counts(win, round_):
    total = 0
    for kind in KINDS:
        for count in COUNTS:
            numbers = array(kind, [(round_ + rank + i) % 100 for i in range(count)])
            for way in (fence, post_start, lock, lock_all):
                back = array(kind, [0]) * count
                way(win, numbers, back)
                assert back == numbers, (kind, count, way.__name__)
                world.Barrier()
            total += int(back[-1])
    return total


sum_ = 0
windows = [MPI.Win.Allocate(BYTES, 1, comm=world), MPI.Win.Create(bytearray(BYTES), 1, comm=world)]
counter = MPI.Win.Allocate(64, 1, comm=world)
memoryview(counter.tomemory()).cast("B")[:] = bytes(64)
world.Barrier()
for round_ in range(int(sys.argv[1])):
    for win in windows:
        sum_ += kinds_and_counts(win, round_)
    for _ in range(100):
        word(counter)
world.Barrier()
if rank == 0:
    counter.Lock(0)
    sum_ += sum(memoryview(counter.tomemory()).cast("B").cast("q"))
    counter.Unlock(0)
for win in windows + [counter]:
    win.Free()
sum_ = world.reduce(sum_)
if rank == 0:
    print("result: sum", sum_)
