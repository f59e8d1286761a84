# SPDX-License-Identifier: BSD-2-Clause
# module.py - one-sided communication from Python, by mpi4py
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
win = MPI.Win.Allocate(80, 8, comm=world)
memory = memoryview(win.tomemory()).cast("B").cast("d")
for i in range(10):
    memory[i] = 0
world.Barrier()
assert win.flavor == MPI.WIN_FLAVOR_ALLOCATE and win.model == MPI.WIN_UNIFIED
assert MPI.Group.Compare(win.group, world.group) == MPI.IDENT
right, left = (rank + 1) % ranks, (rank - 1) % ranks
number, one = array("d", [100.0 + rank]), array("d", [1.0])
win.Fence()
win.Put(number, right, 3)
win.Fence()
assert memory[3] == 100 + left
win.Fence(MPI.MODE_NOSUCCEED)
win.Lock_all()
win.Accumulate(one, 0, 4, MPI.SUM)
got = array("d", [0.0])
win.Rget(got, right, 3).Wait()
assert got[0] == 100 + rank
gotten = world.gather(got[0])
win.Unlock_all()
world.Barrier()
win.Lock(rank, MPI.LOCK_SHARED)
assert rank != 0 or memory[4] == ranks
win.Unlock(rank)
del memory
win.Free()
# Attached memory, by its address.
win = MPI.Win.Create_dynamic(comm=world)
attached = array("d", [0.0, 0.0])
win.Attach(attached)
addresses = world.allgather(MPI.Get_address(attached))
win.Lock_all()
requests = [win.Rput(number, right, addresses[right] + 8), world.isend(rank, right)]
assert world.recv(source=left) == left
MPI.Request.Waitall(requests)
win.Unlock_all()
world.Barrier()
assert attached[1] == 100 + left
win.Detach(attached)
win.Free()
# Memory of a node's ranks.
node = world.Split_type(MPI.COMM_TYPE_SHARED)
win = MPI.Win.Allocate_shared(16, 8, comm=node)
win.Fence()
memoryview(win.tomemory()).cast("B").cast("d")[1] = 7.0 + node.rank
win.Fence()
theirs, unit = win.Shared_query((node.rank + 1) % node.size)
assert unit == 8 and len(theirs) == 16
assert memoryview(theirs).cast("B").cast("d")[1] == 7 + (node.rank + 1) % node.size
win.Fence()
del theirs
win.Free()
node.Free()
try:
    bytes_out = bytearray(8)
    wrong = MPI.Win.Create(bytearray(8), 1, comm=MPI.COMM_WORLD)
    wrong.Set_errhandler(MPI.ERRORS_RETURN)
    wrong.Lock_all()
    wrong.Put(bytes_out, right, 4)
    raise SystemExit("a put beyond the window was taken")
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RMA_RANGE, error.Get_error_string()
    with open("/proc/self/maps") as maps:
        under_the_layer = "liboriel-mpi-" in maps.read()
    assert ("Oriel" in error.Get_error_string()) == under_the_layer
wrong.Unlock_all()
wrong.Free()
if rank == 0:
    print("# mpi4py got", gotten)
    print("ok I3_mpi4py")
