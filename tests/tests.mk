# SPDX-License-Identifier: BSD-2-Clause
# Programs that tests run; what runs them is tests/all. Those of softverbs are in tests/soft/soft-tests.mk.
demo_bin = $(patsubst tests/examples/%.c,$(B)/bin/%,$(filter-out tests/examples/with_mpi.c,$(wildcard tests/examples/*.c)))
examples = $(addprefix tests/examples/,README.md Makefile) $(wildcard $(addprefix tests/examples/*.,c h cpp f90)) tests/examples/work_queue.py
multi_bin = $(patsubst tests/multi/%.c,$(B)/bin/%,$(filter-out tests/multi/multi.c,$(wildcard tests/multi/*.c)))
environments_bin = $(patsubst tests/environments/%.c,$(B)/tests/environments-%,$(filter-out %/mpi.c,$(wildcard tests/environments/*.c)))
epochs_src = $(wildcard tests/epochs/*.c)

fake_src = $(wildcard tests/unit/fake_*.c tests/unit/test_fake_*.c) tests/unit/main_fake.c
unit_report = tests/unit/report.c
unit_src = $(filter-out $(fake_src),$(wildcard tests/unit/*.c))
unit_src += $(addprefix bootstrap/launcher/,kvs.c rdv.c lines.c nodes.c options.c)
unit_src += $(addprefix lib/see/,top/lines.c top/rows.c front/part_file.c) $(filter-out %/main.c,$(wildcard lib/see/report/*.c))
unit_src += $(addprefix lib/mpi/starter/,cache.c image.c libraries.c) lib/check/compiled/jump.c

# What the quick set of tests/plan runs, and the rest.
.PHONY: tests see-mpi-tests quick-tests unit multi launcher-tests starters-tests see-tests check-tests environments-tests containers-tests unkind-tests
quick-tests: lib soft mpi man $(programs) $(demo_bin) $(perf_bin) multi launcher-tests starters-tests see-tests check-tests environments-tests containers-tests unkind-tests soft-tests mpi-tests $(B)/bin/epochs \
	$(B)/tests/soft/job $(B)/tests/soft/inside $(B)/tests/budget-epochs $(B)/tests/budget-turns $(B)/tests/budget-calls $(B)/bin/oriel_scale_contacts
tests: all quick-tests unit apps
unit: $(B)/bin/unit $(B)/bin/unit_fake
multi: lib soft $(B)/bin/oriel-run $(multi_bin)
launcher-tests: $(B)/tests/launcher-client $(B)/tests/launcher-attack
starters-tests: $(B)/tests/starters-rank
# Programs of MPI whose results are to be the same with a profile.
see_layer = $(foreach mpi,$(perf_rivals),$(patsubst %,$(B)/tests/mpi/%-$(mpi),random/random layer/windows layer/requests layer/accumulates layer/epochs layer/threads))
see-tests: mpi $(B)/tests/check-budget $(B)/bin/oriel-top $(B)/tests/see-hang $(perf_rivals:%=$(B)/tests/see-mpi-hang-%) $(B)/tests/see-waits $(B)/tests/see-counts $(B)/tests/see-tally.so $(B)/tests/see-module.so $(B)/tests/see-parts $(B)/tests/see-calls $(B)/tests/see-patterns $(perf_rivals:%=$(B)/tests/see-mpi-waits-%) $(perf_rivals:%=$(B)/tests/see-mpi-row-%)
# What of it is for MPI, and no more.
see-mpi-tests: $(mpi_libs) $(perf_rivals:%=$(B)/lib/mpi/liboriel-see-%.so) $(perf_rivals:%=$(B)/tests/see-mpi-waits-%) $(see_layer)
unkind-tests: mpi $(B)/bin/oriel-run $(B)/tests/unkind-bugs $(perf_rivals:%=$(B)/tests/unkind-mpi-bugs-%)
# Programs of the layer's tests, compiled with -fsanitize=thread: none has a race.
has_clang := $(shell command -v clang)
# Whether clang takes the options that are internal to it, for this processor.
has_inline := $(if $(has_clang),$(shell test $$(uname -m) = x86_64 && clang -include lib/check/compiled/inline.h $(inline_flags) -S -o /dev/null -x c /dev/null 2>/dev/null && echo yes))
loads_layer = accumulates datatypes epochs memory requests types windows
check-tests: mpi $(B)/tests/see-counts $(B)/bin/oriel-run $(B)/bin/oriel-info $(B)/bin/oriel-check $(addprefix $(B)/tests/check-,pairs random matrix epochs budget deadlocks live jobs pages) $(foreach what,pairs collectives messages misuse deadlocks callbacks live loads threads random-loads random-threads touches uses uses-loads,$(perf_rivals:%=$(B)/tests/check-mpi-$(what)-%)) $(if $(has_inline),$(addprefix $(B)/tests/check-inline-,random widths) $(foreach what,loads threads,$(perf_rivals:%=$(B)/tests/check-inline-$(what)-%))) $(if $(has_clang),$(B)/tests/check-clang-random $(foreach what,loads threads,$(perf_rivals:%=$(B)/tests/check-clang-$(what)-%))) $(B)/tests/check-loads $(B)/tests/check-touches $(foreach mpi,$(perf_rivals),$(loads_layer:%=$(B)/tests/check-layer/%-$(mpi))) $(foreach what,random/random layer/errors layer/datatypes layer/bottom,$(perf_rivals:%=$(B)/tests/mpi/$(what)-%))
environments-tests: mpi $(environments_bin) $(perf_rivals:%=$(B)/tests/mpi/environments-%)
# The programs in containers are the demo's and those of environments.
containers-tests: environments-tests $(programs) $(demo_bin) $(B)/tests/containers-profile

# Unit tests are compiled like the library, whose sources they include.
$(call objects,$(wildcard tests/multi/*.c tests/epochs/*.c)): ALL_CFLAGS += $(TEST_CFLAGS)

$(demo_bin): $(B)/bin/%: $(B)/obj/tests/examples/%.o $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

$(multi_bin): $(B)/bin/%: $(B)/obj/tests/multi/%.o $(B)/obj/tests/multi/multi.o $(lib_all)
	$(link_test) $^ $(LIBS) -lm

$(B)/bin/epochs: $(call objects,$(epochs_src)) $(B)/lib/liboriel.a
	$(link_test) $^ $(LIBS)

$(B)/tests/budget-%: $(B)/obj/tests/budget/%.o $(B)/obj/perf/bench/steps.o $(B)/lib/liboriel.a
	$(link_test) $^ $(LIBS)

$(B)/tests/starters-rank: $(B)/obj/tests/starters/rank.o $(B)/lib/liboriel.a
	$(link_test) $^ $(LIBS)

$(B)/tests/see-%: $(B)/obj/tests/see/%.o $(B)/lib/liboriel.a
	$(link_test) $^ $(LIBS)

$(B)/tests/see-mpi-hang-%: tests/see/mpi_hang.c tests/see/pid_file.h
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 -D_GNU_SOURCE -Itests $(filter-out -Wpedantic -Wconversion,$(WARNINGS)) $(CFLAGS) -o $@ $<

# With the library as a library, since the profile stands in front of it.
waits_src = $(addprefix tests/see/waits/,waits.c notes.c meet.c)
$(B)/tests/see-waits: $(call objects,$(waits_src) tests/see/waits/form_oriel.c) $(B)/lib/liboriel.so
	$(link) $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/see-counts: $(call objects,tests/see/waits/counts.c) $(B)/lib/liboriel.so
	$(link) $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/see-parts: $(call objects,tests/see/waits/parts.c)
	$(link_test) $^

$(B)/tests/see-%.so: tests/see/waits/%.c
	$(link) -Iinclude -g1 -fPIC -shared $< -ldl

$(B)/tests/see-calls: $(call objects,tests/see/trace/calls.c) $(B)/lib/liboriel.so
	$(link) $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/see-patterns: $(call objects,tests/see/advice/patterns.c) $(B)/lib/liboriel.so
	$(link) $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/see-mpi-row-%: tests/see/advice/mpi_row.c
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 $(filter-out -Wpedantic -Wconversion,$(WARNINGS)) $(CFLAGS) -g1 -o $@ $<

$(B)/tests/see-mpi-waits-%: $(waits_src) tests/see/waits/form_mpi.c $(wildcard tests/see/waits/*.h)
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 -D_GNU_SOURCE $(filter-out -Wpedantic -Wconversion,$(WARNINGS)) $(CFLAGS) -o $@ $(filter %.c,$^) -lpthread

$(B)/tests/unkind-bugs: $(call objects,tests/unkind/bugs.c tests/unkind/form_oriel.c) $(B)/lib/liboriel.a
	$(link_test) $^ $(LIBS)

$(B)/tests/unkind-mpi-bugs-%: tests/unkind/bugs.c tests/unkind/form_mpi.c tests/unkind/bugs.h
	$(call quiet,mpicc.$*) mpicc.$* -std=c11 -D_GNU_SOURCE -Itests $(filter-out -Wpedantic -Wconversion,$(WARNINGS)) $(CFLAGS) -o $@ $(filter %.c,$^)
# As a library, too: the checker stands in front of it.
$(B)/tests/check-epochs: $(call objects,$(epochs_src)) $(B)/lib/liboriel.so
	$(link_test) $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/check-budget: $(call objects,tests/check/budget.c perf/bench/steps.c) $(B)/lib/liboriel.so
	$(link_test) $^ -Wl,-rpath,$(abspath $(B)/lib)

check_of_mpi = $(call quiet,mpicc.$*) $(check_compiler) mpicc.$* -std=c11 -D_GNU_SOURCE -Itests $(filter-out -Wpedantic -Wconversion,$(WARNINGS)) $(CFLAGS) -pthread -o $@ $<
$(B)/tests/check-mpi-pairs-%: tests/check/mpi_pairs.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h) ; $(check_of_mpi)
$(B)/tests/check-mpi-collectives-%: tests/check/mpi_collectives.c ; $(check_of_mpi)
$(B)/tests/check-mpi-messages-%: tests/check/mpi_messages.c ; $(check_of_mpi)
$(B)/tests/check-mpi-misuse-%: tests/check/mpi_misuse.c $(addprefix tests/check/,mpi_cases.h cases.h mpi_group.h) ; $(check_of_mpi)
$(B)/tests/check-mpi-deadlocks-%: tests/check/mpi_deadlocks.c tests/check/cases.h tests/check/mpi_group.h ; $(check_of_mpi)
$(B)/tests/check-mpi-callbacks-%: tests/check/mpi_callbacks.c tests/check/cases.h tests/check/live.h ; $(check_of_mpi)
$(B)/tests/check-mpi-live-%: tests/check/mpi_live.c tests/check/live.h ; $(check_of_mpi)

# Objects whose loads and stores are checked.
loads_flags = -g -fsanitize=thread
$(B)/tests/check-mpi-random-loads-%: tests/mpi/random/random.c
	$(check_of_mpi) -O1 $(loads_flags)
$(B)/tests/check-mpi-loads-%: tests/check/mpi_loads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h)
	$(check_of_mpi) -O1 $(loads_flags)
$(B)/tests/check-mpi-threads-%: tests/check/mpi_threads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h)
	$(check_of_mpi) -O1 $(loads_flags) -fopenmp -Wno-tsan
$(B)/tests/check-mpi-random-threads-%: tests/check/mpi_random_threads.c
	$(check_of_mpi) -O1 $(loads_flags) -fopenmp -Wno-tsan
# The same by clang, which links its own runtime into the program.
$(B)/tests/check-clang-%: check_compiler = MPICH_CC=clang OMPI_CC=clang
$(B)/tests/check-clang-loads-%: tests/check/mpi_loads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h)
	$(check_of_mpi) -Wno-unknown-warning-option -O1 $(loads_flags)
$(B)/tests/check-clang-threads-%: tests/check/mpi_threads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h)
	$(check_of_mpi) -Wno-unknown-warning-option -O1 $(loads_flags)
# The same by clang, with checks in the program itself.
$(B)/tests/check-inline-%: check_compiler = MPICH_CC=clang OMPI_CC=clang
inline_libs = $(inline_lib) -Wl,-rpath,$(abspath $(B)/lib/see)
$(B)/tests/check-inline-loads-%: tests/check/mpi_loads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h) $(inline_lib)
	$(check_of_mpi) -Wno-unknown-warning-option -O1 -g -include $(B)/lib/see/oriel-inline.h $(inline_flags) $(inline_libs)
$(B)/tests/check-inline-threads-%: tests/check/mpi_threads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h) $(inline_lib)
	$(check_of_mpi) -Wno-unknown-warning-option -O1 -g -include $(B)/lib/see/oriel-inline.h $(inline_flags) $(inline_libs)
# The same, with pages in place of that; and a program whose functions MPI calls.
$(B)/tests/check-mpi-touches-%: tests/check/mpi_loads.c $(addprefix tests/check/,mpi_pair.h mpi_cases.h cases.h)
	$(check_of_mpi) -O1 -g
$(B)/tests/check-mpi-uses-%: tests/check/mpi_uses.c
	$(check_of_mpi) -O1 -g
$(B)/tests/check-mpi-uses-loads-%: tests/check/mpi_uses.c
	$(check_of_mpi) -O1 $(loads_flags)
define loads_of_layer
$(B)/tests/check-layer/%-$(1): tests/mpi/layer/%.c tests/mpi/layer/layer.c tests/mpi/layer/layer.h
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE $$(layer_cflags) -O1 $(loads_flags) -pthread -o $$@ $$(filter %.c,$$^) -lm
endef
$(foreach mpi,$(perf_rivals),$(eval $(call loads_of_layer,$(mpi))))
$(B)/tests/check-mpi-loads-fortran-%: tests/check/mpi_loads_fortran.f90
	$(call quiet,mpif90.$*) mpif90.$* -O1 $(loads_flags) -J$(@D) -w -fallow-argument-mismatch -o $@ $<
$(B)/tests/check-loads: tests/check/random.c $(B)/lib/liboriel.so
	$(call quiet,cc) $(CC) -std=c11 -D_GNU_SOURCE -Iinclude $(WARNINGS) -O1 $(loads_flags) -DLOADS -o $@ $^ -Wl,-rpath,$(abspath $(B)/lib)
$(B)/tests/check-inline-random: tests/check/random.c
$(B)/tests/check-inline-widths: tests/check/widths.c
$(addprefix $(B)/tests/check-inline-,random widths): $(B)/lib/liboriel.so $(inline_lib)
	$(call quiet,clang) clang -std=c11 -D_GNU_SOURCE -Iinclude $(WARNINGS) -Wno-unknown-warning-option -O2 -g -include $(B)/lib/see/oriel-inline.h $(inline_flags) -DLOADS -o $@ $(filter %.c %.so,$^) \
		-Wl,-rpath,$(abspath $(B)/lib):$(abspath $(B)/lib/see)

$(B)/tests/check-clang-random: tests/check/random.c $(B)/lib/liboriel.so
	$(call quiet,clang) clang -std=c11 -D_GNU_SOURCE -Iinclude $(WARNINGS) -Wno-unknown-warning-option -O1 $(loads_flags) -DLOADS -o $@ $^ -Wl,-rpath,$(abspath $(B)/lib)
$(B)/tests/check-touches: tests/check/random.c $(B)/lib/liboriel.so
	$(call quiet,cc) $(CC) -std=c11 -D_GNU_SOURCE -Iinclude $(WARNINGS) -O1 -g -DLOADS -o $@ $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/check-%: $(B)/obj/tests/check/%.o $(B)/lib/liboriel.so
	$(link) $^ -Wl,-rpath,$(abspath $(B)/lib)

$(B)/tests/environments-%: $(B)/obj/tests/environments/%.o $(B)/lib/liboriel.a
	$(link_test) $^ $(LIBS)

$(B)/tests/containers-%: $(B)/obj/tests/containers/%.o
	$(link_test) $^

$(B)/tests/launcher-%: $(B)/obj/tests/launcher/%.o $(lib_all)
	$(link_test) $^ -lsodium

# Unit tests and those of several ranks look inside, so they link the archive with all names. Unit tests include
# sources under test, or link fakes in place of librdmacm and libibverbs.

$(B)/obj/tests/unit/test_boot_pmix.o: ALL_CFLAGS += $(boot_pmix_cflags)
$(B)/obj/tests/unit/test_boot_pmix.o: $(lib_list)

$(B)/bin/unit: $(call objects,$(unit_src)) $(lib_all)
	$(link_test) $^ -lcunit $(LIBS) -lm

$(B)/bin/unit_fake: $(call objects,$(fake_src) $(unit_report)) $(lib_all)
	$(link_test) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc $^ -lcunit -lsodium -lpthread
