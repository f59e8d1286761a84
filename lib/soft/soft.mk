# SPDX-License-Identifier: BSD-2-Clause
# softverbs: a verbs device made of shared memory. Works alone (make -f lib/soft/soft.mk) and when included.
# Compiled and tested with the headers of rdma-core 44.0 and 56.1; lib/soft/verbs/layout_check.c stops the build where others
# differ in what is relied on. With headers that are not installed: CFLAGS="-O2 -g -isystem DIRECTORY".
include config.mk
SOFT_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Ilib -Wall -Wextra -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-fPIC -fvisibility=hidden -fno-semantic-interposition -pthread -MMD -MP
# The engine thread stays, and so has its code.
soft_link = $(call quiet,link) $(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -Wl,-z,defs -Wl,-z,nodelete -o $@
soft_libs = $(B)/lib/soft/libibverbs.so.1 $(B)/lib/soft/librdmacm.so.1 $(B)/lib/soft/libsoftnodes.so
soft_tree = $(B)/lib/soft/nodes
# What stands for the device nodes and files that the kernel would show: a library to be preloaded, and its files.
SOFT_NODES_OBJS = $(patsubst %,$(B)/obj/soft/nodes/%.o, look open paths) $(B)/obj/soft/base/gid.o

# The device, each folder above those that it uses.
soft_folders = base state peer mem queue rma request engine post verbs
SOFT_VERBS_OBJS = $(patsubst lib/%.c,$(B)/obj/%.o,$(wildcard $(soft_folders:%=lib/soft/%/*.c)))
# How processes find each other, and whom they let in: with libibverbs.
SOFT_MEET_OBJS = $(patsubst %,$(B)/obj/soft/meet/%.o, directory user)
SOFT_CM_OBJS = $(patsubst %,$(B)/obj/soft/cm/%.o, addr compat conn event id msg qp)

# What the library has of it: all but what only a process's own libibverbs and librdmacm have to offer.
soft_built_in = $(B)/obj/soft/built_in.o
SOFT_BUILT_IN_OBJS = $(filter-out %/compat.o, $(SOFT_VERBS_OBJS) $(SOFT_MEET_OBJS) $(SOFT_CM_OBJS)) \
	$(B)/obj/soft/functions.o

.PHONY: soft
soft: $(soft_libs) $(soft_tree) $(B)/bin/oriel-soft

$(B)/obj/soft/%.o: lib/soft/%.c lib/soft/soft.mk config.mk | $(needs)
	$(call quiet,cc) $(CC) $(SOFT_CFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/lib/soft/libibverbs.so.1: $(SOFT_VERBS_OBJS) $(SOFT_MEET_OBJS) lib/soft/verbs.map
	$(soft_link) -Wl,-soname,libibverbs.so.1 -Wl,--no-undefined-version -Wl,--version-script=lib/soft/verbs.map $(SOFT_VERBS_OBJS) $(SOFT_MEET_OBJS)

$(B)/lib/soft/librdmacm.so.1: $(SOFT_CM_OBJS) $(B)/lib/soft/libibverbs.so.1 lib/soft/rdmacm.map
	$(soft_link) -Wl,-soname,librdmacm.so.1 -Wl,--no-undefined-version -Wl,--version-script=lib/soft/rdmacm.map $(SOFT_CM_OBJS) $(B)/lib/soft/libibverbs.so.1

$(B)/lib/soft/libsoftnodes.so: $(SOFT_NODES_OBJS)
	$(soft_link) $^ -ldl

$(soft_tree): lib/soft/nodes/tree.sh
	$(call quiet,files) sh $< $@

# One object in which only the table is to be seen; linkers join machine code only.
$(SOFT_BUILT_IN_OBJS): CFLAGS += -fno-lto

$(soft_built_in): $(SOFT_BUILT_IN_OBJS)
	$(call quiet,ld) $(LD) -r -o $@ $^ && $(OBJCOPY) --keep-global-symbol=verbs_softverbs $@

$(B)/bin/oriel-soft: lib/soft/oriel-soft.sh config.mk
	$(call quiet,install) sed 's/@VERSION@/$(VERSION)/' $< >$@ && chmod 755 $@

-include $(SOFT_VERBS_OBJS:.o=.d) $(SOFT_MEET_OBJS:.o=.d) $(SOFT_CM_OBJS:.o=.d) $(SOFT_NODES_OBJS:.o=.d) $(B)/obj/soft/functions.d

include tests/soft/soft-tests.mk
