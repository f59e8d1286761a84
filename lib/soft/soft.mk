# SPDX-License-Identifier: BSD-2-Clause
# softverbs: a verbs device made of shared memory. Works alone (make -f lib/soft/soft.mk) and when included.
# Compiled and tested with the headers of rdma-core 44.0 and 56.1; lib/soft/layout_check.c stops the build where others
# differ in what is relied on. With headers that are not installed: CFLAGS="-O2 -g -isystem DIRECTORY".
BUILD ?= build
CC ?= gcc
CFLAGS ?= -O2 -g
SOFT_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-fPIC -fvisibility=hidden -fno-semantic-interposition -pthread -MMD -MP

SOFT_VERBS_OBJS = $(patsubst %,$(BUILD)/obj/soft/%.o, core engine link key backing procmap mr mw cq cq_ex channel async srq qp \
	qp_state post wr requester bundle way direct lend responder copy adversary device gid text compat compat_1_0 compat_private layout_check)
SOFT_CM_OBJS = $(patsubst %,$(BUILD)/obj/soft/%.o, cm_id cm_event cm_wire cm_conn cm_addr cm_ep cm_qp cm_compat)

.PHONY: soft
soft: $(BUILD)/lib/soft/libibverbs.so.1 $(BUILD)/lib/soft/librdmacm.so.1 $(BUILD)/bin/oriel-soft

$(BUILD)/obj/soft/%.o: lib/soft/%.c lib/soft/soft.mk
	@mkdir -p $(@D)
	$(CC) $(SOFT_CFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/lib/soft/libibverbs.so.1: $(SOFT_VERBS_OBJS) lib/soft/verbs.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -Wl,-soname,libibverbs.so.1 -Wl,--version-script=lib/soft/verbs.map \
		-Wl,-z,defs -o $@ $(SOFT_VERBS_OBJS)

$(BUILD)/lib/soft/librdmacm.so.1: $(SOFT_CM_OBJS) $(BUILD)/lib/soft/libibverbs.so.1 lib/soft/rdmacm.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -Wl,-soname,librdmacm.so.1 -Wl,--version-script=lib/soft/rdmacm.map \
		-Wl,-z,defs -o $@ $(SOFT_CM_OBJS) $(BUILD)/lib/soft/libibverbs.so.1

$(BUILD)/bin/oriel-soft: lib/soft/oriel-soft.sh
	@mkdir -p $(@D)
	install -m 755 $< $@

-include $(SOFT_VERBS_OBJS:.o=.d) $(SOFT_CM_OBJS:.o=.d)

include tests/soft/soft-tests.mk
