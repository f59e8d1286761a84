// SPDX-License-Identifier: BSD-2-Clause
/*
 * deferred_error.h - operations of a window that failed after their call had returned
 *
 * DESIGN NOTES
 *
 * An operation that its target refuses, or that cannot go out any more when its time has come, has
 * no call that could report it at that moment. The error is deferred: it is noted with its window,
 * by the code and the text of the first, and how many have followed. The next call that completes
 * operations of the window reports it, once.
 *
 * Any thread notes, one reports, and there is no lock: `state` goes from NONE to WRITING by a
 * compare-and-swap, whose winner writes code and text, then to THERE, and back to NONE by the
 * thread that reports, which has win->lock. What comes meanwhile is counted.
 */
#ifndef ORIEL_DEFERRED_ERROR_H
#define ORIEL_DEFERRED_ERROR_H

#include <stdbool.h>
#include <stdint.h>

struct deferred_errors {
	uint64_t *news; /* counter that is made UINT64_MAX when there is something to be told; counter_store */
	char *text;     /* of the first; NULL: there was no memory */
	uint64_t more;  /* atomic */
	uint32_t state;
	int code;
};

/* Note an error, with the thread's last error text. */
void deferred_error_note(struct deferred_errors *deferred_errors, int code);

/* Whether there is something to be told, or will be in a moment. */
bool deferred_error_is_noted(const struct deferred_errors *deferred_errors);

/* Reports and forgets it: its code, with text, or 0. One thread at a time. */
int deferred_error_report(struct deferred_errors *deferred_errors);

void deferred_errors_free(struct deferred_errors *deferred_errors);

#endif
