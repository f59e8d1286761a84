# SPDX-License-Identifier: BSD-2-Clause
# Programs that only perf/compare needs: bare shared memory, and the peers where their compilers are installed. Not part of `all`.
perf_peers := $(foreach peer,openmpi mpich,$(if $(shell command -v mpicc.$(peer)),$(peer)))
perf_shm_bin = $(B)/bin/shm_limit $(addprefix $(B)/bin/shm_,put_lat get_lat put_bw get_bw)
perf_mpi_bin = $(foreach peer,$(perf_peers),$(addprefix $(B)/bin/$(peer)_,put_lat get_lat put_bw get_bw))

.PHONY: perf perf-rxe perf-readme perf-programs
perf-programs: all soft-tests $(perf_shm_bin) $(perf_mpi_bin)

perf:
	@tests/deps perf && $(MAKE) --no-print-directory perf-programs
	@[ ! -x perf/scale ] || perf/scale
	@perf/compare
perf-rxe:
	@tests/deps perf && $(MAKE) --no-print-directory perf-programs
	@tests/vm/run --timeout 900 --setup perf/compare.d/guest -- perf/compare --measure --out build/perf/rxe
	@perf/compare --tell --out build/perf/rxe

perf-readme: ; @perf/readme

$(B)/bin/shm_limit: $(call objects,perf/shm.c perf/shm_report.c perf/stats.c perf/ticks.c)
	$(link) $^ -lm

$(B)/bin/shm_%: $(B)/obj/perf/%.o $(B)/obj/perf/backend_shm.o $(perf_obj)
	$(link) $^ -lm

# Each peer's own compiler knows where its header and library are.
$(B)/obj/perf/mpi/%.o: perf/mpi/backend_mpi.c
	@mkdir -p $(@D)
	mpicc.$* -std=c11 -D_GNU_SOURCE -Iperf $(filter-out -Wpedantic,$(WARNINGS)) $(CFLAGS) -MMD -MP -c -o $@ $<

define perf_peer
$(B)/bin/$(1)_%: $(B)/obj/perf/%.o $(B)/obj/perf/mpi/$(1).o $(perf_obj)
	@mkdir -p $$(@D); echo "link $$@"; mpicc.$(1) $(CFLAGS) -o $$@ $$^ -lm
endef
$(foreach peer,$(perf_peers),$(eval $(call perf_peer,$(peer))))
