# SPDX-License-Identifier: BSD-2-Clause
# Manual pages: those of section 3 from the header, those of sections 1 and 7 from include/man.

man_7 = $(patsubst include/man/%.7.md,$(B)/man/man7/%.7,$(wildcard include/man/*.7.md))
man_1 = $(patsubst include/man/%.1.md,$(B)/man/man1/%.1,$(wildcard include/man/*.1.md))

.PHONY: man
man: $(B)/man/made $(man_7) $(man_1)

$(B)/man/made: include/oriel.h include/man.awk include/man/oriel.7.md config.mk
	$(call quiet,man) mkdir -p $(B)/man/man3; \
	awk -v dir=$(B)/man/man3 -v version=$(VERSION) -f include/man.awk include/man/oriel.7.md include/oriel.h && touch $@

$(B)/man/man7/%.7: include/man/%.7.md include/man7.awk config.mk
	$(call quiet,man) awk -v version=$(VERSION) -f include/man7.awk $< > $@

$(B)/man/man1/%.1: include/man/%.1.md include/man7.awk config.mk
	$(call quiet,man) awk -v version=$(VERSION) -f include/man7.awk $< > $@
