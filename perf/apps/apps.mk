# SPDX-License-Identifier: BSD-2-Clause
# Real programs, alone and under oriel-mpi (perf/apps/run): those that are here, for each MPI that
# is installed. Debian's own need nothing.
apps_c = $(filter-out apps share $(if $(has_armci),,armci),$(patsubst perf/apps/%.c,%,$(wildcard perf/apps/*.c)))
apps_bin = $(foreach mpi,$(perf_rivals),$(apps_c:%=$(B)/perf/apps/%-$(mpi)) $(B)/perf/apps/libshare-$(mpi).so)

.PHONY: apps perf-apps
apps: mpi $(apps_bin)

perf-apps:
	@tests/deps apps && $(MAKE) --no-print-directory apps
	@perf/apps/run

define apps_programs
$(B)/perf/apps/%-$(1): perf/apps/%.c perf/apps/apps.c perf/apps/apps.h config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE -Iperf $$(filter-out -Wpedantic,$$(WARNINGS)) $$(CFLAGS) -O3 \
		-o $$@ $$< perf/apps/apps.c $$(if $$(filter armci,$$*),-w -larmci-$(1)) -lm

$(B)/perf/apps/share_calls-$(1).c: perf/apps/share.awk perf/apps/share.calls
	@mkdir -p $$(@D); awk -f $$^ >$$@

$(B)/perf/apps/libshare-$(1).so: perf/apps/share.c $(B)/perf/apps/share_calls-$(1).c perf/apps/share.h config.mk
	$$(call quiet,mpicc.$(1)) mpicc.$(1) -std=c11 -D_GNU_SOURCE -Iperf $$(filter-out -Wpedantic,$$(WARNINGS)) $$(CFLAGS) \
		-shared -fPIC -o $$@ $$(filter %.c,$$^)
endef
$(foreach mpi,$(perf_rivals),$(eval $(call apps_programs,$(mpi))))
