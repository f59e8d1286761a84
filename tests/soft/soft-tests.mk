# Tests of softverbs. `make soft-test` is correctness, `make soft-speed` needs two idle cores.
SOFT_TESTS = speed

.PHONY: soft-tests soft-speed
soft-tests: $(patsubst %,$(BUILD)/tests/soft/%,$(SOFT_TESTS))

# Linked against the system's libraries, so that the same binaries run on a real device.
$(BUILD)/tests/soft/%: tests/soft/%.c tests/soft/soft-tests.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wconversion -Wstrict-prototypes -Wmissing-prototypes -pthread \
		-MMD -MP $(CFLAGS) -o $@ $< -lrdmacm -libverbs

soft-speed: $(BUILD)/tests/soft/speed soft
	LD_LIBRARY_PATH=$(BUILD)/lib/soft timeout 120 $<

-include $(patsubst %,$(BUILD)/tests/soft/%.d,$(SOFT_TESTS))
