# SPDX-License-Identifier: BSD-2-Clause
# Programs that use MPI alone, for each MPI that is installed.
layer_f90 = $(patsubst tests/mpi/layer/%.f90,%,$(wildcard tests/mpi/layer/*.f90))
has_fortran = $(foreach mpi,$(perf_rivals),$(shell mpif90.$(mpi) --version >/dev/null 2>&1 && echo $(mpi)))
check-tests: $(has_fortran:%=$(B)/tests/check-mpi-loads-fortran-%)
# ARMCI of Debian has an archive for each MPI.
has_armci = $(wildcard /usr/include/armci.h)
layer_c = $(patsubst tests/mpi/layer/%.c,%,$(filter-out %/layer.c $(if $(has_armci),,%/armci.c),$(wildcard tests/mpi/layer/*.c)))

.PHONY: layer-tests
layer-tests: mpi $(B)/tests/mpi/layer/static $(perf_rivals:%=$(B)/tests/mpi/random/random-%) $(perf_rivals:%=$(B)/tests/mpi/budget/puts-%) $(foreach mpi,$(perf_rivals),$(layer_c:%=$(B)/tests/mpi/layer/%-$(mpi))) \
	$(foreach mpi,$(has_fortran),$(layer_f90:%=$(B)/tests/mpi/layer/%-$(mpi))) $(perf_rivals:%=$(B)/tests/mpi/layer/refused-%.so)

$(B)/tests/mpi/layer/static:
	$(call quiet,link) echo 'int main(void) { return 0; }' | $(CC) -static -o $@ -x c -

layer_cflags = $(filter-out -Wpedantic -Wconversion,$(WARNINGS)) $(CFLAGS) $(TEST_CFLAGS)
layer_cc = $(call quiet,mpicc.$(lastword $(subst -, ,$@))) mpicc.$(lastword $(subst -, ,$@)) -std=c11 -D_GNU_SOURCE \
	$(layer_cflags) $(TEST_LDFLAGS) -o $@ $<

define layer_programs
$(B)/obj/tests/mpi/layer/layer-$(1).o: tests/mpi/layer/layer.c tests/mpi/layer/layer.h
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE $$(layer_cflags) -c -o $$@ $$<

$(B)/tests/mpi/layer/%-$(1): tests/mpi/layer/%.c tests/mpi/layer/layer.h $(B)/obj/tests/mpi/layer/layer-$(1).o
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE $$(layer_cflags) $$(TEST_LDFLAGS) \
		-pthread -o $$@ $$< $$(if $$(filter armci,$$*),-w -larmci-$(1),$(B)/obj/tests/mpi/layer/layer-$(1).o) \
		$$(if $$(filter waiting,$$*),-rdynamic) $$(if $$(filter tool,$$*),-L$$(@D) -ltool-$(1) -Xlinker -rpath='$$$$ORIGIN') -lm

$(B)/tests/mpi/layer/tool-$(1): $(B)/tests/mpi/layer/libtool-$(1).so
$(B)/tests/mpi/layer/libtool-$(1).so: tests/mpi/layer/tool.c tests/mpi/layer/layer.h
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -DTOOL_LIBRARY $$(layer_cflags) $$(TEST_LDFLAGS) \
		-shared -fPIC -o $$@ $$<

$(B)/tests/mpi/layer/refused-$(1).so: tests/mpi/layer/refused.c tests/mpi/layer/layer.h
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE -DREFUSED_PRELOAD $$(layer_cflags) $$(TEST_LDFLAGS) \
		-shared -fPIC -o $$@ $$<

$(B)/tests/mpi/random/%-$(1): tests/mpi/random/%.c
	$$(layer_cc)

$(B)/tests/mpi/budget/%-$(1): tests/mpi/budget/%.c
	$$(layer_cc)

$(B)/tests/mpi/environments-$(1): tests/environments/mpi.c
	$$(layer_cc)

$(B)/tests/mpi/layer/%-$(1): tests/mpi/layer/%.f90 $$(wildcard tests/mpi/layer/*.inc)
	$$(call quiet,mpif90.$(1)) mkdir -p $$@.d && mpif90.$(1) -fallow-argument-mismatch -w -J $$@.d -o $$@ $$<
endef
$(foreach mpi,$(perf_rivals),$(eval $(call layer_programs,$(mpi))))
