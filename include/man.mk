# SPDX-License-Identifier: BSD-2-Clause
# Manual pages, from the header.

.PHONY: man
man: $(B)/man/made

$(B)/man/made: include/oriel.h include/man.awk config.mk
	$(call quiet,man) mkdir -p $(B)/man/man3; \
	awk -v dir=$(B)/man/man3 -v version=$(VERSION) -f include/man.awk include/oriel.h && touch $@
