# SPDX-License-Identifier: BSD-2-Clause
# Tests of softverbs, which tests/suite runs. `make soft-speed` needs two idle processors.
SOFT_TESTS = speed many kill death disorder apart threads files descriptors forks plugin starved stopped withdrawn renotify sync_req parts batch read_list last arrived large cancelled placed room liar nodes conform_verbs conform_errors conform_ext conform_cm conform_stock conform_cm_ud conform_ud conform_ud_errors conform_uc ud_threads ud_kill
SOFT_TEST_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-pthread -MMD -MP

.PHONY: soft-tests soft-speed
soft-tests: $(patsubst %,$(B)/tests/soft/%,$(SOFT_TESTS))

$(B)/tests/soft/%.o: tests/soft/%.c tests/soft/soft-tests.mk config.mk
	$(call quiet,cc) $(CC) $(SOFT_TEST_CFLAGS) $(CFLAGS) $(TEST_CFLAGS) -c -o $@ $<

# Linked against the system's libraries, so that the same binaries run on a real device.
$(B)/tests/soft/%: $(B)/tests/soft/%.o $(B)/tests/soft/lab.o
	$(call quiet,link) $(CC) $(CFLAGS) $(TEST_LDFLAGS) -pthread $(soft_test_link) -o $@ $^ -lrdmacm -libverbs

# Its own epoll_pwait2 is the one that the device calls.
$(B)/tests/soft/renotify: soft_test_link = -Wl,--export-dynamic-symbol=epoll_pwait2

# Its own process_vm_writev likewise.
$(B)/tests/soft/last: soft_test_link = -Wl,--export-dynamic-symbol=process_vm_writev

# It opens the library itself.
$(B)/tests/soft/inside: tests/soft/inside.c include/oriel.h
	$(call quiet,link) $(CC) $(SOFT_TEST_CFLAGS) -Iinclude $(CFLAGS) $(TEST_CFLAGS) $(TEST_LDFLAGS) -o $@ $< -libverbs

# So does this one.
$(B)/tests/soft/plugin: tests/soft/plugin.c
	$(call quiet,link) $(CC) $(SOFT_TEST_CFLAGS) $(CFLAGS) $(TEST_CFLAGS) $(TEST_LDFLAGS) -o $@ $<

# Jobs of Oriel, for what happens to them when the device misbehaves. They need the library, so only the Makefile makes them.
$(B)/tests/soft/job: tests/soft/job.c $(B)/lib/liboriel.a
	$(call quiet,link) $(CC) $(SOFT_TEST_CFLAGS) -Iinclude $(CFLAGS) $(TEST_CFLAGS) $(TEST_LDFLAGS) -o $@ $< $(B)/lib/liboriel.a $(LIBS)

soft-speed: soft soft-tests
	LD_LIBRARY_PATH=$(B)/lib/soft timeout 120 $(B)/tests/soft/speed

.SECONDARY:
-include $(wildcard $(B)/tests/soft/*.d)
