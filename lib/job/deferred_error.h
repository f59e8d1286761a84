// SPDX-License-Identifier: BSD-2-Clause
/*
 * deferred_error.h - operations of a window that failed after their call had returned
 *
 * DESIGN NOTES
 *
 * No call can report the error of an operation that its target refuses, or that cannot be issued
 * when its time has come. The error is deferred: the window keeps the code and the text of the
 * first, and the number of those that follow. The next call that completes operations of the window
 * reports it, once.
 *
 * Any thread records, one reports, without a lock: `state` goes from NONE to WRITING by a
 * compare-and-swap, whose winner writes code and text, then to THERE, and back to NONE by the
 * reporting thread, which holds win->lock. Errors meanwhile are counted.
 */
#ifndef ORIEL_DEFERRED_ERROR_H
#define ORIEL_DEFERRED_ERROR_H

#include <stdbool.h>
#include <stdint.h>

struct deferred_errors {
	uint64_t *news; /* counter set to UINT64_MAX when there is an error to report; counter_store */
	char *text;     /* of the first; NULL: memory was short */
	uint64_t more;  /* atomic */
	uint32_t state;
	int code;
};

/* Records an error, with the thread's last error text. */
void deferred_error_note(struct deferred_errors *deferred_errors, int code);

/* Returns whether there is an error to report, or will be in a moment. */
bool deferred_error_is_noted(const struct deferred_errors *deferred_errors);

/* Returns and clears the error, with its text, or returns 0. One thread at a time. */
int deferred_error_report(struct deferred_errors *deferred_errors);

void deferred_errors_free(struct deferred_errors *deferred_errors);

#endif
