#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""MPI and Oriel as two modules, neither of which is linked with the other: modules.py LIBMPI LIBORIEL

Oriel comes first and must find the MPI by itself, since they share the launcher's connection.
"""
import ctypes
import sys

mpi, oriel = (ctypes.CDLL(name, ctypes.RTLD_LOCAL) for name in sys.argv[1:3])
oriel.oriel_last_error.restype = ctypes.c_char_p
job = ctypes.c_void_p()


def check(rc):
    if rc:
        sys.exit(f"not ok: {rc}, {oriel.oriel_last_error().decode()}")


check(oriel.oriel_init(None, ctypes.byref(job)))
check(mpi.MPI_Init(None, None))
check(oriel.oriel_barrier(job))
check(oriel.oriel_finalize(ctypes.byref(job)))
check(mpi.MPI_Finalize())
print("<through>")
