# SPDX-License-Identifier: BSD-2-Clause
# Makefile - everything is built below build/; what may be changed is in config.mk, and how a folder is built in its own .mk
all:
include config.mk
MAKEFLAGS += --no-builtin-rules

INCLUDES = -Iinclude -Ilib -Ibootstrap -Iperf -Itests -isystem /usr/include/libev
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(INCLUDES) $(WARNINGS) $(CFLAGS) -fPIC -fvisibility=hidden -pthread
# glibc before 2.34 has dlopen in libdl, and shm_open in librt; later ones keep both, empty.
LIBS = -libverbs -lrdmacm -lsodium -lpthread -ldl

# The library with all its names, for tests and programs of ours that look inside; the objects of sources; a link,
# and a link of a program that tests alone run.
lib_all = $(B)/obj/liboriel-all.a
objects = $(patsubst %.c,$(B)/obj/%.o,$(1))
link = $(call quiet,link) $(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@
link_test = $(link) $(TEST_LDFLAGS)

# A look, once, for what no source can be compiled without: whoever lacks it reads how to get it,
# and not the first of many errors.
needs = $(B)/obj/needs
$(needs):
	@mkdir -p $(@D); printf '#include <%s>\n' infiniband/verbs.h rdma/rdma_cma.h ev.h sodium.h | $(CC) -E - >/dev/null || \
		{ echo "something is missing that Oriel is compiled with: tests/deps build installs it (Debian, Ubuntu), or names it" >&2; exit 1; }
	@touch $@

$(B)/obj/%.o: %.c config.mk | $(needs)
	$(call quiet,cc) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Where libraries are installed, seen from the folder above the programs'.
libdir_from_home = $(call from,$(BINDIR)/..,$(LIBDIR))

programs = $(B)/bin/oriel-run $(B)/bin/oriel-info $(B)/bin/oriel-top $(B)/bin/oriel-see $(B)/bin/oriel-check $(B)/bin/oriel-soft $(B)/bin/oriel-mpi

include bootstrap/bootstrap.mk
include lib/soft/soft.mk
include lib/lib.mk
include include/man.mk
include perf/perf.mk
include lib/mpi/mpi.mk
include tests/tests.mk
include tests/mpi/mpi-tests.mk
include tests/mpi/layer/layer.mk
include perf/apps/apps.mk

# What there is to make.

all: lib soft mpi $(programs) $(demo_bin) $(perf_bin) $(perf_scale_bin) man
	@awk -F '|' 'BEGIN { print "what is built in $(B):" } { printf "  %-56s %s\n", $$1, $$2 != "" ? $$2 : "no: " $$3 }' \
		$(B)/obj/bootstrap/built.txt

# The site for a browser: build/docs.
docs: man ; @tests/deps docs && include/docs/build $(B)/docs $(B) $(VERSION)

demo: ; @tests/deps demo && $(MAKE) --no-print-directory all && tests/examples/demo
test: ; @tests/deps $(or $(filter quick,$(TESTS)),$(if $(filter systems,$(TESTS)),soak,test)) && exec tests/all $(TESTS)
check: ; @tests/deps test && exec tests/all --changed
test-nodes: ; @tests/deps test && $(MAKE) --no-print-directory tests && tests/nodes/run
soak: ; @tests/deps soak && tests/soak $(SEEDS)
soak-adversary: ; @tests/deps test && tests/epochs/adversary $(SEEDS)
scale: tests ; tests/scale/run 1000 && perf/scale
fuzz: ; @tests/deps test && tests/fuzz/run $(FUZZ_SECONDS)

# Debian packages: build/deb.
deb: ; @tests/deps deb && .packaging/deb

clean:
	rm -rf $(B)/bin $(B)/lib $(B)/obj $(B)/man

distclean:
	rm -rf $(B)

install: lib soft mpi $(programs) $(perf_installed) man $(found_by)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/oriel/soft $(DESTDIR)$(INCLUDEDIR)
	install -d $(DESTDIR)$(PKGCONFIGDIR) $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(MANDIR)/man7
	install -m 755 $(programs) $(perf_installed) $(DESTDIR)$(BINDIR)
	sed 's|^installed=.*|installed=$(libdir_from_home)|' lib/soft/oriel-soft.sh >$(DESTDIR)$(BINDIR)/oriel-soft
	install -m 644 include/oriel.h include/oriel.f90 $(DESTDIR)$(INCLUDEDIR)
	install -m 644 $(B)/lib/liboriel.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(B)/lib/liboriel.so.$(VERSION) $(DESTDIR)$(LIBDIR)
	ln -sf liboriel.so.$(VERSION) $(DESTDIR)$(LIBDIR)/liboriel.so.$(SOVERSION)
	ln -sf liboriel.so.$(VERSION) $(DESTDIR)$(LIBDIR)/liboriel.so
	install -m 755 $(soft_libs) $(DESTDIR)$(LIBDIR)/oriel/soft
	rm -rf $(DESTDIR)$(LIBDIR)/oriel/soft/nodes && cp -R $(soft_tree) $(DESTDIR)$(LIBDIR)/oriel/soft
	install -d $(DESTDIR)$(LIBDIR)/oriel/see && install -m 755 $(B)/lib/see/liboriel-see.so $(B)/lib/see/liboriel-check.so $(compiled_libs) $(inline_lib) $(pages_lib) $(DESTDIR)$(LIBDIR)/oriel/see && install -m 644 $(B)/lib/see/oriel-inline.h $(DESTDIR)$(LIBDIR)/oriel/see
	$(if $(mpi_libs),install -d $(DESTDIR)$(LIBDIR)/oriel/mpi && install -m 755 $(mpi_libs) $(mpi_fronts) $(DESTDIR)$(LIBDIR)/oriel/mpi)
	install -m 644 $(filter %.pc,$(found_by)) $(DESTDIR)$(PKGCONFIGDIR)
	install -m 644 $(filter %.cmake,$(found_by)) $(DESTDIR)$(CMAKEDIR)
	install -d $(DESTDIR)$(DOCDIR)/examples
	install -m 644 $(examples) $(DESTDIR)$(DOCDIR)/examples
	install -m 644 $(B)/man/man3/*.3 $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(man_7) $(DESTDIR)$(MANDIR)/man7
	install -m 644 $(man_1) $(perf_man) $(DESTDIR)$(MANDIR)/man1

uninstall:
	rm -f $(patsubst $(B)/bin/%,$(DESTDIR)$(BINDIR)/%,$(programs) $(perf_installed)) $(DESTDIR)$(INCLUDEDIR)/oriel.h $(DESTDIR)$(INCLUDEDIR)/oriel.f90
	rm -rf $(DESTDIR)$(LIBDIR)/oriel $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(DOCDIR)/examples
	rm -f $(DESTDIR)$(LIBDIR)/liboriel.a $(DESTDIR)$(LIBDIR)/liboriel.so $(DESTDIR)$(LIBDIR)/liboriel.so.$(SOVERSION)
	rm -f $(DESTDIR)$(LIBDIR)/liboriel.so.$(VERSION) $(DESTDIR)$(PKGCONFIGDIR)/oriel.pc
	rm -f $(patsubst $(B)/man/man3/%,$(DESTDIR)$(MANDIR)/man3/%,$(wildcard $(B)/man/man3/*.3))
	rm -f $(man_7:$(B)/man/man7/%=$(DESTDIR)$(MANDIR)/man7/%) $(patsubst $(B)/man/man1/%,$(DESTDIR)$(MANDIR)/man1/%,$(man_1) $(perf_man))

.PHONY: all docs demo test check deb test-nodes soak soak-adversary scale fuzz clean distclean install uninstall
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
