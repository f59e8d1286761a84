# SPDX-License-Identifier: BSD-2-Clause
# How ranks find each other: clients for the library, the launcher, what both say to each other, and oriel-info.
boot_wire_src = $(wildcard bootstrap/wire/*.c)
boot_src = bootstrap/boot.c bootstrap/boot_check.c $(wildcard bootstrap/client/*.c) $(boot_wire_src)
launcher_src = $(wildcard bootstrap/launcher/*.c) $(boot_wire_src)

$(B)/bin/oriel-run: $(call objects,$(launcher_src))
	$(link) $^ -lev -lsodium

$(B)/bin/oriel-info: $(call objects,bootstrap/info.c) $(lib_all)
	$(link) $^ $(LIBS)
