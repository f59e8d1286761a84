# SPDX-License-Identifier: BSD-2-Clause
# Tests of softverbs. `make soft-test` is correctness; `make soft-speed` needs two idle cores.
SOFT_TESTS = speed many kill death disorder apart threads conform_verbs conform_errors conform_ext conform_cm
SOFT_TEST_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-pthread -MMD -MP

.PHONY: soft-tests soft-test soft-speed
soft-tests: $(patsubst %,$(BUILD)/tests/soft/%,$(SOFT_TESTS))

$(BUILD)/tests/soft/%.o: tests/soft/%.c tests/soft/soft-tests.mk
	@mkdir -p $(@D)
	$(CC) $(SOFT_TEST_CFLAGS) $(CFLAGS) -c -o $@ $<

# Linked against the system's libraries, so that the same binaries run on a real device.
$(BUILD)/tests/soft/%: $(BUILD)/tests/soft/%.o $(BUILD)/tests/soft/lab.o
	$(CC) $(CFLAGS) -pthread -o $@ $^ -lrdmacm -libverbs

# Jobs of Oriel, for what happens to them when the device misbehaves. They need the library, so only the Makefile makes them.
$(BUILD)/tests/soft/job: tests/soft/job.c $(BUILD)/lib/liboriel.a
	@mkdir -p $(@D)
	$(CC) $(SOFT_TEST_CFLAGS) -Iinclude $(CFLAGS) -o $@ $^ $(LIBS)

soft-test: soft soft-tests
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 300 $(BUILD)/tests/soft/conform_verbs
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 300 $(BUILD)/tests/soft/conform_errors
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 300 $(BUILD)/tests/soft/conform_cm
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 120 $(BUILD)/tests/soft/many
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 120 $(BUILD)/tests/soft/kill 200
	timeout 600 tests/soft/stock.sh $(abspath $(BUILD))/lib/soft

soft-speed: soft soft-tests
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 120 $(BUILD)/tests/soft/speed

.SECONDARY:
-include $(wildcard $(BUILD)/tests/soft/*.d)
