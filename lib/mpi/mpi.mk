# SPDX-License-Identifier: BSD-2-Clause
# The layer for MPI programs: one source, compiled by the compiler of each MPI that is installed.
mpi_src = $(wildcard lib/mpi/job/*.c lib/mpi/type/*.c lib/mpi/win/*.c)
mpi_libs = $(perf_rivals:%=$(B)/lib/mpi/liboriel-mpi-%.so)
mpi_fronts = $(foreach front,see check,$(perf_rivals:%=$(B)/lib/mpi/liboriel-$(front)-%.so))
check_mpi_src = $(wildcard lib/check/mpi/*.c) $(addprefix lib/mpi/type/,element.c flatten.c layout.c)

.PHONY: mpi
mpi: $(mpi_libs) $(mpi_fronts) $(B)/bin/oriel-mpi $(B)/bin/oriel-see $(B)/bin/oriel-check

# What puts the layer into a program. Each rank starts it: without shared libraries that takes half as long and half the page
# faults. Not all systems have a static libc, and sanitizers refuse it.
starter_static = $(shell echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) $(LDFLAGS) -static-pie -x c -o $(B)/obj/static - 2>/dev/null && echo -static-pie)
$(B)/bin/oriel-mpi: $(call objects,$(wildcard lib/mpi/starter/*.c) lib/check/recompiled.c bootstrap/variables.c)
	$(link) $(starter_static) $^

# `make install LIBDIR=...` compiles this one file again.
installed_libdir = $(B)/obj/installed-libdir
$(installed_libdir): always
	@mkdir -p $(@D); echo '$(libdir_from_home)' | cmp -s - $@ || echo '$(libdir_from_home)' >$@
$(B)/obj/lib/mpi/starter/main.o: ALL_CFLAGS += -DINSTALLED_LIBDIR='"$(libdir_from_home)"'
$(B)/obj/lib/mpi/starter/main.o: $(installed_libdir)

define mpi_library
$(B)/obj/lib/mpi/%-$(1).o: lib/mpi/%.c config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE -Iinclude -Ilib $$(filter-out -Wpedantic,$$(WARNINGS)) $$(CFLAGS) \
		-fPIC -pthread -MMD -MP -c -o $$@ $$<

# It finds liboriel.so beside its folder, in a build tree and installed.
$(B)/lib/mpi/liboriel-mpi-$(1).so: $(mpi_src:lib/%.c=$(B)/obj/lib/%-$(1).o) lib/mpi/mpi.map $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(LDFLAGS) -shared -pthread -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,--version-script=lib/mpi/mpi.map -Wl,-rpath,'$$$$ORIGIN/..:$$$$ORIGIN/../..' -o $$@ $$(filter %.o,$$^) -L$(B)/lib -loriel -ldl

# The profile, in front of the layer.
$(B)/obj/lib/see/%-$(1).o: lib/see/%.c config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE -Iinclude -Ilib $$(filter-out -Wpedantic,$$(WARNINGS)) $$(CFLAGS) \
		-fPIC -pthread -MMD -MP -c -o $$@ $$<
$(B)/lib/mpi/liboriel-see-$(1).so: $$(front_obj) $(B)/obj/lib/see/front/mpi_calls-$(1).o $(B)/obj/lib/see/front/mpi_other_calls-$(1).o lib/see/front/front.map $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(LDFLAGS) -shared -pthread -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,--version-script=lib/see/front/front.map -Wl,-rpath,'$$$$ORIGIN/..:$$$$ORIGIN/../..' -o $$@ $$(filter %.o,$$^) -L$(B)/lib -loriel -ldl

# The checker, in front of the layer.
$(B)/obj/lib/check/%-$(1).o: lib/check/%.c config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE -Iinclude -Ilib $$(filter-out -Wpedantic,$$(WARNINGS)) $$(CFLAGS) \
		-fPIC -pthread -MMD -MP -c -o $$@ $$<
$(B)/lib/mpi/liboriel-check-$(1).so: $$(check_front_obj) $(check_mpi_src:lib/%.c=$(B)/obj/lib/%-$(1).o) lib/check/front/front.map $(B)/lib/liboriel.so
	$$(call quiet,link) mpicc.$(1) $$(CFLAGS) $$(LDFLAGS) -shared -pthread -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,--version-script=lib/check/front/front.map -Wl,-rpath,'$$$$ORIGIN/..:$$$$ORIGIN/../..' -o $$@ $$(filter %.o,$$^) -L$(B)/lib -loriel -ldl
endef
$(foreach mpi,$(perf_rivals),$(eval $(call mpi_library,$(mpi))))
