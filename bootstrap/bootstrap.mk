# SPDX-License-Identifier: BSD-2-Clause
# How ranks find each other: clients for the library, the launcher, what both say to each other, and oriel-info.
boot_wire_src = $(wildcard bootstrap/wire/*.c)
boot_pmix_src = $(if $(WITH_PMIX),$(wildcard bootstrap/client/pmix/*.c),bootstrap/client/no_pmix.c)
boot_client_src = $(filter-out bootstrap/client/no_pmix.c,$(wildcard bootstrap/client/*.c)) $(boot_pmix_src)
boot_src = bootstrap/boot.c bootstrap/boot_check.c $(boot_client_src) $(boot_wire_src)
launcher_src = $(wildcard bootstrap/launcher/*.c) $(boot_wire_src)

$(B)/bin/oriel-run: $(call objects,$(launcher_src))
	$(link) $^ -lev -lsodium

$(B)/bin/oriel-info: $(call objects,bootstrap/info.c bootstrap/info_ranks.c) $(lib_all)
	$(link) $^ $(LIBS)

boot_pmix_cflags = $(if $(WITH_PMIX),-DWITH_PMIX $(patsubst -I%,-isystem %,$(shell pkg-config --cflags pmix)))
$(B)/obj/bootstrap/client/pmix/%.o: ALL_CFLAGS += $(boot_pmix_cflags)
