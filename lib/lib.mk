# SPDX-License-Identifier: BSD-2-Clause
# The library, with the bootstrap's clients in it.
lib_folders = base pages see verbs job mem am sync conn win op epoch
lib_src = $(filter-out lib/see/$(if $(WITH_DW),no_)source.c,$(wildcard $(lib_folders:%=lib/%/*.c))) $(boot_src)
lib_obj = $(call objects,$(lib_src))
lib_so = $(B)/lib/liboriel.so.$(VERSION)

# Written anew where sources came or went, as they do with a package that config.mk looks for: no object is newer then.
lib_list = $(B)/obj/liboriel.list

.PHONY: lib always
$(lib_list): always
	@mkdir -p $(@D); echo $(lib_obj) | cmp -s - $@ || echo $(lib_obj) >$@

lib: $(B)/lib/liboriel.a $(B)/lib/liboriel.so

# One object, in which only what is called oriel_* is to be seen: an archive of all objects would show a program every function
# that two of our files share, and one of the program's own by that name would clash with it. Linkers join machine code only.
# The code has a section of its own, by which lib/see/caller.c knows it from the program's.
$(lib_obj): ALL_CFLAGS += -fno-lto

# Loops over elements are vectorised from -O3 on: twice as fast where the vectors lie in a cache.
$(B)/obj/lib/op/element_plain.o: ALL_CFLAGS += -O3

$(B)/obj/liboriel.o: $(lib_obj) $(soft_built_in) $(lib_list)
	$(call quiet,ld) $(LD) -r -o $@ $(lib_obj) $(soft_built_in) && $(OBJCOPY) --wildcard --keep-global-symbol='oriel_*' \
		--rename-section .text=oriel_text --rename-section .text.unlikely=oriel_text $@

$(B)/lib/liboriel.a: $(B)/obj/liboriel.o
	$(call quiet,ar) rm -f $@ && $(AR) rcs $@ $^

$(lib_all): $(lib_obj) $(soft_built_in) $(lib_list)
	$(call quiet,ar) rm -f $@ && $(AR) rcs $@ $(lib_obj) $(soft_built_in)

# nodelete: a thread of ours may be running when a program that has opened the library with dlopen closes it (that of softverbs
# stays), and libev may know functions of ours.
$(lib_so): $(lib_obj) $(soft_built_in) lib/oriel.map $(lib_list)
	$(link) -shared -static-libgcc -Wl,-z,nodelete -Wl,-soname,liboriel.so.$(SOVERSION) -Wl,--version-script=lib/oriel.map -Wl,-z,defs \
		$(lib_obj) $(soft_built_in) $(LIBS)

$(B)/lib/liboriel.so: $(lib_so)
	$(call quiet,link) ln -sf $(<F) $(B)/lib/liboriel.so.$(SOVERSION) && ln -sf $(<F) $@

# What other builds find the library by. All paths in it are relative, so that what is installed may be moved. Written at each
# install, since PREFIX and its like may be given to that alone.
from = $(shell realpath -ms --relative-to='$(1)' '$(2)')
found_by = $(B)/lib/oriel.pc $(B)/lib/OrielConfig.cmake $(B)/lib/OrielConfigVersion.cmake
$(found_by): $(B)/lib/%: lib/%.in always
	$(call quiet,sed) sed -e 's|@PREFIX_FROM_PC@|$(call from,$(PKGCONFIGDIR),$(PREFIX))|' \
		-e 's|@LIBDIR_FROM_PREFIX@|$(call from,$(PREFIX),$(LIBDIR))|' \
		-e 's|@INCLUDEDIR_FROM_PREFIX@|$(call from,$(PREFIX),$(INCLUDEDIR))|' \
		-e 's|@DOCDIR_FROM_PREFIX@|$(call from,$(PREFIX),$(DOCDIR))|' \
		-e 's|@LIBDIR_FROM_CMAKE@|$(call from,$(CMAKEDIR),$(LIBDIR))|' \
		-e 's|@INCLUDEDIR_FROM_LIBDIR@|$(call from,$(LIBDIR),$(INCLUDEDIR))|' \
		-e 's|@VERSION@|$(VERSION)|; s|@SOVERSION@|$(SOVERSION)|' $< >$@

# Who waits for whom; it reads what processes of other builds of this version publish.
$(B)/bin/oriel-top: $(call objects,$(wildcard lib/see/top/*.c) lib/see/report/program.c) $(lib_all)
	$(link) $^ $(LIBS)

# The profile: what goes in front of liboriel.so, and the program that puts it there and writes the report.
front_obj = $(call objects,$(filter-out %_calls.c,$(wildcard lib/see/front/*.c)) lib/see/board.c)
$(B)/lib/see/liboriel-see.so: $(front_obj) $(B)/obj/lib/see/front/oriel_calls.o lib/see/front/front.map $(B)/lib/liboriel.so
	$(link) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,--version-script=lib/see/front/front.map -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..' \
		$(filter %.o,$^) -L$(B)/lib -loriel -ldl

$(B)/bin/oriel-see: $(call objects,$(wildcard lib/see/report/*.c) lib/see/front/part_file.c) $(lib_all) $(B)/lib/see/liboriel-see.so
	$(link) $(filter-out %.so,$^) $(LIBS)
$(B)/obj/lib/see/report/program.o: ALL_CFLAGS += -DINSTALLED_LIBDIR='"$(libdir_from_home)"'
$(B)/obj/lib/see/report/program.o: $(installed_libdir)

# The checker: what goes in front of liboriel.so, and the program that puts it there and judges.
check_front_obj = $(call objects,$(addprefix lib/check/,pack.c waits.c deadlock.c) $(addprefix lib/check/front/,write.c loads.c watch.c windows.c memory.c) lib/base/process.c lib/see/caller.c $(addprefix lib/see/front/,objects.c spawn.c part_file.c))
$(B)/lib/see/liboriel-check.so: $(check_front_obj) $(call objects,$(wildcard lib/check/front/oriel_*calls.c)) lib/check/front/front.map $(B)/lib/liboriel.so
	$(link) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,--version-script=lib/check/front/front.map -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..' \
		$(filter %.o,$^) -L$(B)/lib -loriel -ldl

# What stands in for libtsan, in the versions of gcc 10 and 12: each has that library's soname. It
# has functions of the C library, which the compiler shall not replace by calls of themselves.
compiled_libs = $(B)/lib/see/liboriel-tsan.so.0 $(B)/lib/see/liboriel-tsan.so.2
loads_obj = $(call objects,$(addprefix lib/check/,code.c symbols.c short_lock.c))
compiled_obj = $(call objects,$(filter-out %/inline.c,$(wildcard lib/check/compiled/*.c))) $(loads_obj)
inline_obj = $(call objects,lib/check/compiled/inline.c)
$(compiled_obj) $(inline_obj): ALL_CFLAGS += -fno-builtin
$(compiled_libs): $(B)/lib/see/liboriel-tsan.so.%: $(compiled_obj) lib/check/compiled/compiled.map
	$(link) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,-soname,libtsan.so.$* -Wl,--version-script=lib/check/compiled/compiled.map \
		$(filter %.o,$^) -ldl

# The same, for code of clang that looks by itself whether memory is watched, and the options by which clang makes such code. They are
# internal to LLVM: threads' atomics become calls, and other loads and stores looks at a byte. It leaves out none, and widens none.
inline_lib = $(B)/lib/see/liboriel-inline.so
$(inline_lib): $(compiled_obj) $(inline_obj) lib/check/compiled/compiled.map | $(B)/lib/see/oriel-inline.h
	$(link) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,-soname,$(notdir $@) -Wl,--version-script=lib/check/compiled/compiled.map \
		$(filter %.o,$^) -ldl
$(inline_obj) $(call objects,$(addprefix lib/check/,compiled/watch.c compiled/run.c short_lock.c)): ALL_CFLAGS += -mgeneral-regs-only
$(B)/lib/see/oriel-inline.h: lib/check/compiled/inline.h
	$(call quiet,copy) cp $< $@
inline_flags = -fno-plt -Xclang -fsanitize=thread,kernel-address -Xclang -fsanitize-recover=kernel-address $(addprefix -mllvm -,$(inline_options))
inline_options = tsan-instrument-memory-accesses=0 tsan-instrument-func-entry-exit=0 asan-mapping-offset=0x7fff8000 asan-stack=0 \
	asan-globals=0 asan-opt=0 asan-instrumentation-with-call-threshold=-1 enable-interleaved-mem-accesses=0 disable-lsr
$(B)/obj/lib/check/judge/main.o: ALL_CFLAGS += -DINLINE_FLAGS='"$(inline_flags)"'

# What maps windows a second time, for loads and stores of code that was not recompiled.
pages_lib = $(B)/lib/see/liboriel-pages.so
$(pages_lib): $(call objects,$(wildcard lib/check/pages/*.c)) $(loads_obj) lib/check/pages/pages.map $(B)/lib/liboriel.so
	$(link) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,--version-script=lib/check/pages/pages.map -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..' \
		$(filter %.o,$^) -L$(B)/lib -loriel -ldl

$(B)/bin/oriel-check: $(call objects,$(addprefix lib/check/,pack.c waits.c deadlock.c recompiled.c) $(wildcard lib/check/judge/*.c) $(addprefix lib/mpi/starter/,libraries.c image.c cache.c) lib/see/report/program.c lib/see/front/part_file.c) $(lib_all) $(B)/lib/see/liboriel-check.so $(compiled_libs) $(inline_lib) $(pages_lib)
	$(link) $(filter-out %.so $(compiled_libs),$^) $(LIBS)
