# SPDX-License-Identifier: BSD-2-Clause
"""Oriel for Spack: copy this file to packages/oriel/package.py of a repository, and let homepage and git name the tree."""

from spack.package import *


class Oriel(MakefilePackage):
    """One-sided communication on InfiniBand verbs: put, get and accumulate with the epochs of MPI-4.1, and signals."""

    homepage = "file:///path/to/oriel/README.md"
    git = "file:///path/to/oriel"

    license("BSD-2-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("pmix", default=True, description="Clients for launchers with PMIx (mpirun, srun --mpi=pmix)")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("rdma-core")
    depends_on("libsodium")
    depends_on("libev")
    depends_on("pmix", when="+pmix")

    def make_arguments(self):
        spec = self.spec
        folders = [spec[name].prefix for name in ("rdma-core", "libsodium", "libev")]
        cflags = " ".join(["-O2 -g"] + ["-isystem {0}/include".format(folder) for folder in folders])
        # libev and libpmix are opened by name when a job starts: they are found by the library's own path.
        loaded = folders + ([spec["pmix"].prefix] if spec.satisfies("+pmix") else [])
        ldflags = " ".join("-L{0}/lib -Wl,-rpath,{0}/lib".format(folder) for folder in loaded)
        return [
            "PREFIX={0}".format(self.prefix),
            "CC=cc",
            "CFLAGS={0}".format(cflags),
            "LDFLAGS={0}".format(ldflags),
            "WITH_PMIX={0}".format("yes" if spec.satisfies("+pmix") else ""),
            "WITH_DW=",
            "perf_rivals=",
        ]

    def build(self, spec, prefix):
        make("all", *self.make_arguments())

    def install(self, spec, prefix):
        make("install", *self.make_arguments())
