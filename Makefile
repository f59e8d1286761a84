# Makefile - everything is built below build/; what may be changed is in config.mk
include config.mk

B = build
CPPFLAGS = -D_GNU_SOURCE -Iinclude -Ilib -Ibootstrap -Itests -isystem /usr/include/libev
ALL_CFLAGS = -std=c11 $(WARNINGS) $(CFLAGS) -fPIC -fvisibility=hidden -pthread
LIBS = -libverbs -lrdmacm -lev -lsodium -lpthread

shared_wire = bootstrap/proto.c bootstrap/proof.c bootstrap/byteq.c
lib_src = $(wildcard lib/*.c) $(wildcard bootstrap/boot*.c) $(shared_wire)
run_src = $(wildcard bootstrap/run_*.c) $(shared_wire)
info_src = $(wildcard bootstrap/info_*.c)
demo_src = $(wildcard tests/demo/*.c)

lib_obj = $(lib_src:%.c=$(B)/obj/%.o)
run_obj = $(run_src:%.c=$(B)/obj/%.o)
info_obj = $(info_src:%.c=$(B)/obj/%.o)

demo_bin = $(demo_src:tests/demo/%.c=$(B)/bin/%)

all: lib $(B)/bin/oriel-run $(B)/bin/oriel-info $(demo_bin)
lib: $(B)/lib/liboriel.a $(B)/lib/liboriel.so

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/lib/liboriel.a: $(lib_obj)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/lib/liboriel.so.$(VERSION): $(lib_obj) lib/oriel.map
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -Wl,-soname,liboriel.so.$(SOVERSION) -Wl,--version-script=lib/oriel.map -o $@ $(lib_obj) $(LIBS)

$(B)/lib/liboriel.so: $(B)/lib/liboriel.so.$(VERSION)
	ln -sf $(<F) $(B)/lib/liboriel.so.$(SOVERSION)
	ln -sf $(<F) $@

$(B)/bin/oriel-run: $(run_obj) $(B)/lib/liboriel.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $(run_obj) -lev -lsodium

$(demo_bin): $(B)/bin/%: $(B)/obj/tests/demo/%.o $(B)/lib/liboriel.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -lm

clean:
	rm -rf $(B)

.PHONY: all lib clean
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
