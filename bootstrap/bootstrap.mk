# SPDX-License-Identifier: BSD-2-Clause
# How ranks find each other: clients for the library, the launcher, what both say to each other, and oriel-info.
boot_wire_src = $(wildcard bootstrap/wire/*.c)
boot_pmix_src = $(if $(WITH_PMIX),$(wildcard bootstrap/client/pmix/*.c),bootstrap/client/no_pmix.c)
boot_client_src = $(filter-out bootstrap/client/no_pmix.c,$(wildcard bootstrap/client/*.c)) $(boot_pmix_src)
boot_src = bootstrap/boot.c bootstrap/boot_check.c bootstrap/variables.c $(boot_client_src) $(boot_wire_src)
launcher_src = $(wildcard bootstrap/launcher/*.c) $(boot_wire_src) bootstrap/variables.c lib/base/process_limit.c

$(B)/bin/oriel-run: $(call objects,$(launcher_src))
	$(link) $^ -lev -lsodium

$(B)/bin/oriel-info: $(call objects,$(wildcard bootstrap/info*.c)) $(lib_all)
	$(link) $^ $(LIBS)

# What is built and what not, for oriel-info and for the end of `make all`.
built = $(B)/obj/bootstrap/built.h
$(built): always
	@VERSION=$(VERSION) sh bootstrap/built.sh $(@D) "$(WITH_PMIX)" "$(WITH_DW)" "$(perf_rivals)"
$(B)/obj/bootstrap/info_facts.o: ALL_CFLAGS += -I$(B)/obj/bootstrap
$(B)/obj/bootstrap/info_facts.o: $(built)

boot_pmix_cflags = $(if $(WITH_PMIX),-DWITH_PMIX $(patsubst -I%,-isystem %,$(shell pkg-config --cflags pmix)))
$(B)/obj/bootstrap/client/pmix/%.o: ALL_CFLAGS += $(boot_pmix_cflags)
