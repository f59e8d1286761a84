# SPDX-License-Identifier: BSD-2-Clause
# Benchmarks: one tool, one backend. Those of Oriel and of bare verbs are part of `all`; bare shared
# memory and the rivals, where a program for them compiles, are only for perf/compare.
perf_windows = create_lat allocate_lat dynamic_lat
perf_tools = $(perf_windows) put_lat put_bw get_lat get_bw put_bibw rate pscw_lat fence_lat lock_lat flush_lat acc_lat acc_bw fop_lat cas_lat signal_lat
perf_raw = $(filter-out $(perf_windows) acc_bw,$(perf_tools))
perf_solo = connect mem
perf_installed = $(perf_tools:%=$(B)/bin/oriel_%) $(perf_solo:%=$(B)/bin/oriel_%)
perf_man = $(patsubst $(B)/bin/%,$(B)/man/man1/%.1,$(perf_installed))
perf_bin = $(perf_installed) $(perf_raw:%=$(B)/bin/raw_%)
perf_obj = $(call objects,$(wildcard perf/bench/*.c))
perf_solo_obj = $(call objects,perf/tools/solo.c $(addprefix perf/bench/,json.c options.c stats.c ticks.c))
perf_limit_obj = $(call objects,$(wildcard perf/tools/shm_limit*.c) perf/bench/stats.c perf/bench/ticks.c)
perf_scale_src = $(filter-out perf/scaling/util.c,$(wildcard perf/scaling/*.c))
perf_scale_bin = $(perf_scale_src:perf/scaling/%.c=$(B)/bin/oriel_scale_%)
# A rival's compiler may be installed without its header.
has_mpi = $(shell mpicc.$(1) -include mpi.h -fsyntax-only -x c /dev/null >/dev/null 2>&1 && echo $(1))
perf_rivals := $(foreach rival,openmpi mpich,$(call has_mpi,$(rival)))
perf_compared = put_lat get_lat put_bw get_bw lock_lat flush_lat acc_lat acc_bw fop_lat cas_lat
perf_shm_bin = $(B)/bin/shm_limit $(perf_compared:%=$(B)/bin/shm_%) $(B)/bin/shm_signal_lat
perf_mpi_bin = $(foreach rival,$(perf_rivals),$(patsubst %,$(B)/bin/$(rival)_%,$(perf_compared) $(perf_windows)))

# One page describes them all; each name leads to it.
man: $(perf_man)
$(perf_man): config.mk
	$(call quiet,man) echo '.so man1/oriel-perf.1' >$@

$(perf_tools:%=$(B)/bin/oriel_%): $(B)/bin/oriel_%: $(B)/obj/perf/tools/%.o $(B)/obj/perf/backends/oriel.o $(perf_obj) $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

$(perf_raw:%=$(B)/bin/raw_%): $(B)/bin/raw_%: $(B)/obj/perf/tools/%.o $(call objects,$(wildcard perf/backends/raw*.c)) $(perf_obj)
	$(link) $^ -libverbs -lrdmacm -lm -ldl

$(perf_solo:%=$(B)/bin/oriel_%): $(B)/bin/oriel_%: $(B)/obj/perf/tools/%.o $(perf_solo_obj) $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

$(perf_scale_bin): $(B)/bin/oriel_scale_%: $(B)/obj/perf/scaling/%.o $(B)/obj/perf/scaling/util.o $(lib_all)
	$(link) $^ $(LIBS) -lrt

$(B)/bin/shm_limit: $(perf_limit_obj)
	$(link) $^ -lm

# Its additions are to be the machine's limit.
$(B)/obj/perf/backends/shm.o: ALL_CFLAGS += -O3

$(B)/bin/shm_%: $(B)/obj/perf/tools/%.o $(B)/obj/perf/backends/shm.o $(perf_obj)
	$(link) $^ -lm -ldl -lrt

# Each rival's own compiler knows where its header and library are.
$(B)/obj/perf/backends/mpi-%.o: perf/backends/mpi.c config.mk
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 -D_GNU_SOURCE -Iperf $(filter-out -Wpedantic,$(WARNINGS)) $(CFLAGS) \
		-MMD -MP -c -o $@ $<

define perf_rival
$(B)/bin/$(1)_%: $(B)/obj/perf/tools/%.o $(B)/obj/perf/backends/mpi-$(1).o $(perf_obj)
	$$(call quiet,link) mpicc.$(1) $(CFLAGS) -o $$@ $$^ -lm -ldl
endef
$(foreach rival,$(perf_rivals),$(eval $(call perf_rival,$(rival))))

# What memory costs, by MPI alone.
perf_memory_bin = $(perf_rivals:%=$(B)/bin/%_memory_cost)
$(B)/bin/%_memory_cost: perf/memory/memory_cost.c config.mk
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 -D_GNU_SOURCE $(filter-out -Wpedantic,$(WARNINGS)) $(CFLAGS) -o $@ $<

# All kinds of MPI's one-sided calls (perf/survey/run).
perf_survey_bin = $(perf_rivals:%=$(B)/perf/survey-%)
$(B)/perf/survey-%: perf/survey/survey.c perf/survey/shapes.c perf/bench/stats.c perf/survey/shapes.h perf/bench/stats.h config.mk
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 -D_GNU_SOURCE -Iperf $(filter-out -Wpedantic,$(WARNINGS)) $(CFLAGS) -pthread -o $@ $(filter %.c,$^) -lm

# What recording a profile costs. With the library as a library, since the profile stands in front of it.
$(B)/perf/see-cost: $(call objects,perf/see/calls.c) $(B)/lib/liboriel.so
	$(link) $^ -Wl,-rpath,$(abspath $(B)/lib)

# Measuring.

.PHONY: perf perf-rxe perf-start perf-soft perf-survey perf-readme perf-programs
perf-programs: all mpi soft-tests $(B)/perf/see-cost $(perf_shm_bin) $(perf_mpi_bin) $(perf_memory_bin) $(perf_survey_bin)

perf:
	@tests/deps perf && $(MAKE) --no-print-directory perf-programs
	@[ ! -x perf/scale ] || perf/scale
	@perf/see/run
	@perf/compare
perf-rxe:
	@tests/deps perf && $(MAKE) --no-print-directory perf-programs
	@tests/vm/run --timeout 1800 --setup perf/compare.d/guest -- perf/compare --measure --out build/perf/rxe
	@perf/compare --tell --out build/perf/rxe

perf-start:
	@tests/deps test && $(MAKE) --no-print-directory all starters-tests launcher-tests
	@mkdir -p build/perf && tests/starters/figures | tee build/perf/start.new && mv build/perf/start.new build/perf/start.md

perf-soft:
	@tests/deps perf && $(MAKE) --no-print-directory soft soft-tests
	@perf/soft

perf-survey:
	@tests/deps apps && $(MAKE) --no-print-directory mpi $(perf_survey_bin)
	@perf/survey/run --table
	@perf/survey/run

perf-readme: ; @perf/readme
