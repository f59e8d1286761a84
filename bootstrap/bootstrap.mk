# SPDX-License-Identifier: BSD-2-Clause
# How ranks find each other: clients for the library, the launcher, and oriel-info.
boot_wire_src = bootstrap/address.c bootstrap/proto.c bootstrap/proof.c bootstrap/byteq.c
boot_src = $(wildcard bootstrap/boot*.c) $(boot_wire_src)
launcher_src = $(wildcard bootstrap/run_*.c) bootstrap/soft_path.c $(boot_wire_src)

$(B)/bin/oriel-run: $(call objects,$(launcher_src))
	$(link) $^ -lev -lsodium

$(B)/bin/oriel-info: $(call objects,bootstrap/info_main.c bootstrap/soft_path.c) $(lib_all)
	$(link) $^ $(LIBS)
