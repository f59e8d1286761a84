# SPDX-License-Identifier: BSD-2-Clause
"""work_queue.py - queue.c with mpi4py: ranks take tasks from a counter at rank 0.

usage: mpirun -n 4 oriel-mpi --mpi=openmpi python3 work_queue.py

Without oriel-mpi the MPI itself carries out the one-sided calls; the program stays the same.
"""

import sys
from array import array

from mpi4py import MPI

TASKS = 100
NUMBERS = 200  # of each task
NEXT_TASK, PRIMES, WORDS = range(3)


def is_prime(n):
    return n > 1 and all(n % i for i in range(2, int(n**0.5) + 1))


def take_task(window):
    """The next task that no rank has taken yet; TASKS or more if there is none."""
    one, task = array("q", [1]), array("q", [0])
    window.Fetch_and_op([one, MPI.INT64_T], [task, MPI.INT64_T], 0, NEXT_TASK, MPI.SUM)
    window.Flush(0)
    return task[0]


def main():
    if len(sys.argv) > 1:
        print(__doc__)
        return
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    size = MPI.INT64_T.Get_size()
    window = MPI.Win.Allocate(WORDS * size if rank == 0 else 0, size, comm=world)
    if rank == 0:
        memoryview(window).cast("B")[:] = bytes(WORDS * size)
    world.Barrier()

    window.Lock_all()
    primes = array("q", [0])
    while (task := take_task(window)) < TASKS:
        primes[0] += sum(map(is_prime, range(task * NUMBERS, (task + 1) * NUMBERS)))
    window.Accumulate([primes, MPI.INT64_T], 0, [PRIMES, 1, MPI.INT64_T], MPI.SUM)
    window.Unlock_all()

    world.Barrier()
    if rank == 0:
        window.Lock(0)
        print(memoryview(window).cast("B").cast("q")[PRIMES], "primes below", TASKS * NUMBERS)
        window.Unlock(0)
    window.Free()


main()
