// SPDX-License-Identifier: BSD-2-Clause
/* See share_in_place.h. */
#include "pages/share_in_place.h"

#include <stddef.h>

#include "base/util.h"

struct memo {
	struct page_range pages;
	uint32_t skips; /* after the next stay that is too short */
	uint32_t left;  /* skips due now */
};

static struct memo memos[MOVE_MEMOS];
static uint32_t next; /* the memo to overwrite */

static struct memo *memo_of(const struct page_range *pages)
{
	for (uint32_t i = 0; i < MOVE_MEMOS; i++) {
		if (memos[i].pages.first == pages->first && memos[i].pages.size_bytes == pages->size_bytes)
			return &memos[i];
	}
	return NULL;
}

bool move_is_worth(const struct page_range *pages)
{
	struct memo *memo = memo_of(pages);

	if (!memo || memo->left == 0)
		return true;
	memo->left--;
	return false;
}

void move_took(const struct page_range *pages, uint64_t cost_ns, uint64_t stay_ns)
{
	struct memo *memo = memo_of(pages);

	if (!memo) {
		memo = &memos[next++ % MOVE_MEMOS];
		*memo = (struct memo){ .pages = *pages, .skips = 1 };
	}
	if (stay_ns / MOVE_PAYS >= cost_ns) {
		memo->skips = 1;
		return;
	}
	memo->left = memo->skips;
	memo->skips = min_u32(2 * memo->skips, MOVE_SKIPS_MAX);
}
