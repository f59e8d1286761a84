# SPDX-License-Identifier: BSD-2-Clause
# Makefile - everything is built below build/; what may be changed is in config.mk
include config.mk

B = build
BUILD = $(B)
INCLUDES = -Iinclude -Ilib -Ibootstrap -Itests -isystem /usr/include/libev
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(INCLUDES) $(WARNINGS) $(CFLAGS) -fPIC -fvisibility=hidden -pthread
LIBS = -libverbs -lrdmacm -lev -lsodium -lpthread

wire_src = bootstrap/proto.c bootstrap/proof.c bootstrap/byteq.c
lib_src = $(wildcard lib/base/*.c lib/verbs/*.c lib/job/*.c lib/win/*.c lib/op/*.c lib/epoch/*.c bootstrap/boot*.c) $(wire_src)
run_src = $(wildcard bootstrap/run_*.c) $(wire_src)
demo_src = $(wildcard tests/demo/*.c)
multi_src = $(filter-out tests/multi/multi.c,$(wildcard tests/multi/*.c))
epochs_src = $(wildcard tests/epochs/*.c)

fake_src = $(wildcard tests/unit/fake_*.c tests/unit/test_fake_*.c) tests/unit/main_fake.c
unit_src = $(filter-out $(fake_src),$(wildcard tests/unit/*.c))
unit_src += $(addprefix bootstrap/,run_kvs.c run_rdv.c run_lines.c run_options.c)

objects = $(patsubst %.c,$(B)/obj/%.o,$(1))
lib_obj = $(call objects,$(lib_src))
demo_bin = $(demo_src:tests/demo/%.c=$(B)/bin/%)
multi_bin = $(multi_src:tests/multi/%.c=$(B)/bin/%)
perf_scale_src = $(filter-out perf/scale_util.c,$(wildcard perf/scale_*.c))
perf_scale_bin = $(perf_scale_src:perf/%.c=$(B)/bin/oriel_%)
perf_tools = put_lat put_bw get_lat get_bw put_bibw rate pscw_lat fence_lat
perf_src = $(addprefix perf/,driver.c json.c memory.c options.c progress.c report.c stats.c ticks.c)
perf_obj = $(call objects,$(perf_src))
perf_solo = connect mem
perf_installed = $(perf_tools:%=$(B)/bin/oriel_%) $(perf_solo:%=$(B)/bin/oriel_%)
perf_bin = $(perf_installed) $(perf_tools:%=$(B)/bin/raw_%)
programs = $(B)/bin/oriel-run $(B)/bin/oriel-info $(B)/bin/oriel-soft

# What there is to make.

all: lib soft $(programs) $(demo_bin) $(perf_bin) $(perf_scale_bin) man
lib: $(B)/lib/liboriel.a $(B)/lib/liboriel.so $(B)/lib/oriel.pc
tests: all unit launcher-tests soft-tests $(B)/tests/soft/job $(multi_bin) $(B)/bin/epochs $(B)/tests/budget-epochs

demo: ; @tests/deps demo && $(MAKE) --no-print-directory all && tests/demo/run
test: ; @tests/deps test && tests/all
soak: ; @tests/deps test && $(MAKE) --no-print-directory tests && tests/vm/run --timeout 86400 -- tests/epochs/run 1 $(SEEDS)
soak-adversary: ; @tests/deps test && tests/epochs/adversary $(SEEDS)
scale: tests ; tests/scale/run 1000 && perf/scale
fuzz: ; @tests/deps test && tests/fuzz/run $(FUZZ_SECONDS)

clean:
	rm -rf $(B)/bin $(B)/lib $(B)/obj $(B)/man

distclean:
	rm -rf $(B)

# Objects, libraries, programs.

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/lib/liboriel.a: $(lib_obj)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/lib/liboriel.so.$(VERSION): $(lib_obj) lib/oriel.map
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-soname,liboriel.so.$(SOVERSION) -Wl,--version-script=lib/oriel.map \
		-o $@ $(lib_obj) $(LIBS)

$(B)/lib/liboriel.so: $(B)/lib/liboriel.so.$(VERSION)
	ln -sf $(<F) $(B)/lib/liboriel.so.$(SOVERSION)
	ln -sf $(<F) $@

$(B)/lib/oriel.pc: lib/oriel.pc.in config.mk
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' $< > $@

soft_libs = $(B)/lib/soft/libibverbs.so.1 $(B)/lib/soft/librdmacm.so.1

link = @mkdir -p $(@D); echo "link $@"; $(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@

$(B)/bin/oriel-run: $(call objects,$(run_src))
	$(link) $^ -lev -lsodium

$(B)/bin/oriel-info: $(B)/obj/bootstrap/info_main.o $(B)/lib/liboriel.a
	$(link) $^ $(LIBS)

$(demo_bin): $(B)/bin/%: $(B)/obj/tests/demo/%.o $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

$(multi_bin): $(B)/bin/%: $(B)/obj/tests/multi/%.o $(B)/obj/tests/multi/multi.o $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

$(B)/bin/epochs: $(call objects,$(epochs_src)) $(B)/lib/liboriel.a
	$(link) $^ $(LIBS)

# A benchmark: one tool, one backend.

$(perf_tools:%=$(B)/bin/oriel_%): $(B)/bin/oriel_%: $(B)/obj/perf/%.o $(B)/obj/perf/backend_oriel.o $(perf_obj) $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

$(perf_tools:%=$(B)/bin/raw_%): $(B)/bin/raw_%: $(B)/obj/perf/%.o $(call objects,perf/backend_raw.c perf/raw_connect.c) $(perf_obj)
	$(link) $^ -libverbs -lrdmacm -lm

$(perf_scale_bin): $(B)/bin/oriel_%: $(B)/obj/perf/%.o $(B)/obj/perf/scale_util.o $(B)/lib/liboriel.a
	$(link) $^ $(LIBS)

$(perf_solo:%=$(B)/bin/oriel_%): $(B)/bin/oriel_%: $(B)/obj/perf/%.o $(call objects,perf/solo.c) $(call objects,\
		perf/json.c perf/options.c perf/stats.c perf/ticks.c) $(B)/lib/liboriel.a
	$(link) $^ $(LIBS) -lm

# Unit tests include sources under test, or link fakes in place of librdmacm and libibverbs.

unit: $(B)/bin/unit $(B)/bin/unit_fake

$(B)/bin/unit: $(call objects,$(unit_src)) $(B)/lib/liboriel.a
	$(link) $^ -lcunit $(LIBS) -lm

$(B)/bin/unit_fake: $(call objects,$(fake_src)) $(B)/lib/liboriel.a
	$(link) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc $^ -lcunit -lev -lsodium -lpthread

launcher-tests: $(B)/tests/launcher-client $(B)/tests/launcher-attack

$(B)/tests/launcher-%: $(B)/obj/tests/launcher/%.o $(B)/lib/liboriel.a
	$(link) $^ -lsodium

$(B)/tests/budget-epochs: $(B)/obj/tests/budget/epochs.o $(B)/lib/liboriel.a
	$(link) $^ $(LIBS)

# Manual pages, from the header.

man: $(B)/man/made

$(B)/man/made: include/oriel.h include/man.awk config.mk
	@mkdir -p $(B)/man/man3
	awk -v dir=$(B)/man/man3 -v version=$(VERSION) -f include/man.awk include/oriel.h
	@touch $@

# Installing.

install: lib soft $(programs) $(perf_installed) man
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR) $(DESTDIR)$(INCLUDEDIR) $(DESTDIR)$(PKGCONFIGDIR) $(DESTDIR)$(MANDIR)/man3
	install -m 755 $(programs) $(perf_installed) $(DESTDIR)$(BINDIR)
	install -m 644 include/oriel.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(B)/lib/liboriel.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(B)/lib/liboriel.so.$(VERSION) $(DESTDIR)$(LIBDIR)
	ln -sf liboriel.so.$(VERSION) $(DESTDIR)$(LIBDIR)/liboriel.so.$(SOVERSION)
	ln -sf liboriel.so.$(VERSION) $(DESTDIR)$(LIBDIR)/liboriel.so
	install -d $(DESTDIR)$(LIBDIR)/oriel/soft
	install -m 755 $(soft_libs) $(DESTDIR)$(LIBDIR)/oriel/soft
	install -m 644 $(B)/lib/oriel.pc $(DESTDIR)$(PKGCONFIGDIR)
	install -m 644 $(B)/man/man3/*.3 $(DESTDIR)$(MANDIR)/man3

uninstall:
	rm -f $(patsubst $(B)/bin/%,$(DESTDIR)$(BINDIR)/%,$(programs) $(perf_installed)) $(DESTDIR)$(INCLUDEDIR)/oriel.h
	rm -rf $(DESTDIR)$(LIBDIR)/oriel
	rm -f $(DESTDIR)$(LIBDIR)/liboriel.a $(DESTDIR)$(LIBDIR)/liboriel.so $(DESTDIR)$(LIBDIR)/liboriel.so.$(SOVERSION)
	rm -f $(DESTDIR)$(LIBDIR)/liboriel.so.$(VERSION) $(DESTDIR)$(PKGCONFIGDIR)/oriel.pc
	rm -f $(patsubst $(B)/man/man3/%,$(DESTDIR)$(MANDIR)/man3/%,$(wildcard $(B)/man/man3/*.3))

.PHONY: all lib tests unit launcher-tests demo test soak soak-adversary scale fuzz clean distclean man install uninstall
.SECONDARY:
include lib/soft/soft.mk
include perf/compare.mk
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
