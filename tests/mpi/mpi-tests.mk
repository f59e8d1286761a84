# SPDX-License-Identifier: BSD-2-Clause
# One program for each MPI that is installed and each way to link with Oriel: its shared library or its archive, before
# or behind the MPI's library. (The compiler of an MPI names its library once more, last.) And a module for host, with
# both. with_mpi is the demonstration.
mpi_ways = so_first so_last a_first a_last module
mpi_lib_openmpi = -lmpi
mpi_lib_mpich = -lmpich
mpi_so = -L$(B)/lib -Wl,-rpath,$(abspath $(B)/lib) -loriel
mpi_cflags = -std=c11 -D_GNU_SOURCE -Iinclude $(filter-out -Wpedantic,$(WARNINGS)) $(CFLAGS) -fPIC -MMD -MP
mpi_a = $(B)/lib/liboriel.a $(LIBS)

.PHONY: mpi-tests
mpi-tests: layer-tests $(B)/tests/mpi/host $(perf_rivals:%=$(B)/tests/mpi/with_mpi-%) $(perf_rivals:%=$(B)/tests/mpi/exchange-%) $(foreach mpi,$(perf_rivals),$(mpi_ways:%=$(B)/tests/mpi/beside-$(mpi)-%))

$(B)/tests/mpi/host: $(B)/obj/tests/mpi/host.o
	$(link_test) $^

define mpi_programs
$(B)/obj/tests/mpi/%-$(1).o: tests/mpi/%.c config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) $$(mpi_cflags) -c -o $$@ $$<

$(B)/obj/tests/examples/%-$(1).o: tests/examples/%.c config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) $$(mpi_cflags) -c -o $$@ $$<

$(B)/tests/mpi/with_mpi-$(1): $(B)/obj/tests/examples/with_mpi-$(1).o $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -o $$@ $$< $$(mpi_so)

# Nothing but MPI, on softverbs.
$(B)/tests/mpi/exchange-$(1): $(B)/obj/tests/mpi/exchange-$(1).o
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -o $$@ $$<

$(B)/tests/mpi/%-$(1)-so_first: $(B)/obj/tests/mpi/%-$(1).o $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -pthread -o $$@ $$< $$(mpi_so)

$(B)/tests/mpi/%-$(1)-so_last: $(B)/obj/tests/mpi/%-$(1).o $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -pthread -o $$@ $$< $$(mpi_lib_$(1)) $$(mpi_so)

$(B)/tests/mpi/%-$(1)-a_first: $(B)/obj/tests/mpi/%-$(1).o $(B)/lib/liboriel.a
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -pthread -o $$@ $$< $$(mpi_a)

$(B)/tests/mpi/%-$(1)-a_last: $(B)/obj/tests/mpi/%-$(1).o $(B)/lib/liboriel.a
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -pthread -o $$@ $$< $$(mpi_lib_$(1)) $$(mpi_a)

$(B)/tests/mpi/%-$(1)-module: $(B)/obj/tests/mpi/%-$(1).o $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(TEST_LDFLAGS) -shared -pthread -o $$@ $$< $$(mpi_so)
endef
$(foreach mpi,$(perf_rivals),$(eval $(call mpi_programs,$(mpi))))
