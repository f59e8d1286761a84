# SPDX-License-Identifier: BSD-2-Clause
# config.mk - what a user may change; the Makefile takes the rest from here

VERSION = 0.1.0
SOVERSION = 0

PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
MANDIR = $(PREFIX)/share/man
DOCDIR = $(PREFIX)/share/doc/oriel
PKGCONFIGDIR = $(LIBDIR)/pkgconfig
CMAKEDIR = $(LIBDIR)/cmake/Oriel

# Everything is built below B. A command is shown as one word and the file it makes, with `make V=1` in full.
B = build
V =
quiet = @mkdir -p $(@D); $(if $(V),set -x,echo "$(1) $@");

CC = gcc
AR = ar
LD = ld
OBJCOPY = objcopy
CFLAGS = -O2 -g
LDFLAGS =
# More of them, for programs that tests alone run. tests/suite sets what compiles and links faster.
TEST_CFLAGS =
TEST_LDFLAGS =
WARNINGS = -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wconversion
# The client for launchers with PMIx (mpirun, srun --mpi=pmix) needs its headers, and libpmix when
# such a job is started. Empty: without.
WITH_PMIX := $(shell pkg-config --exists pmix 2>/dev/null && echo yes)
# Lines of source in reports (watchdog, oriel-top, profile, checker) need the headers of libdw, and libdw when they print. Empty: without.
WITH_DW := $(shell pkg-config --exists libdw 2>/dev/null && echo yes)
FUZZ_CC = clang
FUZZ_SECONDS = 60
# Which tests `make test` runs: quick, in ten minutes; all; or systems, which want other distributions (tests/plan).
TESTS = quick
# Seeds of the random epochs test: how many the tests run, and how many `make soak` does over SoftRoCE (ten times as many on
# softverbs), which starts as many jobs in a row under each starter too (make soak SEEDS=5000).
TEST_SEEDS = 200
SEEDS = 1000
