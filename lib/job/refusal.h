// SPDX-License-Identifier: BSD-2-Clause
/*
 * refusal.h - operations of a window that failed after their call had returned
 *
 * DESIGN NOTES
 *
 * An operation that its target refuses, or that cannot go out any more when its time has come, has
 * nobody to be told at that moment. It is noted with its window: the code and the text of the first,
 * and how many have followed. The next call that completes operations of the window tells it, once.
 *
 * Any thread notes, one tells, and there is no lock: `state` goes from NONE to WRITING by a
 * compare-and-swap, whose winner writes code and text, then to THERE, and back to NONE by who tells,
 * who has win->lock. What comes meanwhile is counted.
 */
#ifndef ORIEL_REFUSAL_H
#define ORIEL_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

struct refusals {
	uint64_t *news; /* counter that is made UINT64_MAX when there is something to be told; counter_store */
	char *text;     /* of the first; NULL: there was no memory */
	uint64_t more;  /* atomic */
	uint32_t state;
	int code;
};

/* Note an error, with the thread's last error text. */
void refusal_note(struct refusals *refusals, int code);

/* Whether there is something to be told, or will be in a moment. */
bool refusal_is_noted(const struct refusals *refusals);

/* Tell and forget it: its code, with text, or 0. One thread at a time. */
int refusal_tell(struct refusals *refusals);

void refusals_free(struct refusals *refusals);

#endif
