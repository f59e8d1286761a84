# SPDX-License-Identifier: BSD-2-Clause
"""PETSc's star forests over windows, by its module for Python: roots to leaves, and leaves added to roots.

usage: starforest.py ROUNDS [PETSc's options]

Each leaf of a rank belongs to a root of some rank: the halo of an unstructured grid.
"""
import glob
import sys

import numpy

sys.path += glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages")
import petsc4py

petsc4py.init(sys.argv[:1] + sys.argv[2:])
from mpi4py import MPI
from petsc4py import PETSc

ROOTS, LEAVES = 5000, 7000
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
numbers = numpy.random.RandomState(rank)
forest = PETSc.SF().create(comm=world)
forest.setFromOptions()
ends = numpy.stack([numbers.randint(0, ranks, LEAVES), numbers.randint(0, ROOTS, LEAVES)], axis=1).astype(PETSc.IntType)
forest.setGraph(ROOTS, None, ends.ravel())
forest.setUp()
roots, leaves = numpy.arange(ROOTS, dtype=float) + rank, numpy.zeros(LEAVES)
for _ in range(int(sys.argv[1])):
    forest.bcastBegin(MPI.DOUBLE, roots, leaves, MPI.REPLACE)
    forest.bcastEnd(MPI.DOUBLE, roots, leaves, MPI.REPLACE)
    leaves %= 1000
    forest.reduceBegin(MPI.DOUBLE, leaves, roots, MPI.SUM)
    forest.reduceEnd(MPI.DOUBLE, leaves, roots, MPI.SUM)
    roots %= 1000
total = world.reduce(float(roots.sum() + leaves.sum()))
if rank == 0:
    print("result: %s %.9g" % (forest.getType(), total))
forest.destroy()
