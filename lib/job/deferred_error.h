// SPDX-License-Identifier: BSD-2-Clause
/*
 * deferred_error.h - operations of a window that failed after their call had returned
 *
 * DESIGN NOTES
 *
 * A target may refuse an operation whose call has returned, or the operation cannot be issued when
 * its time has come. The window keeps code and text of the first such error, and the number of
 * later ones. The next call that completes operations of the window reports it, once.
 *
 * Any thread records, without a lock: it moves `state` from NONE to WRITING by compare-and-swap,
 * writes code and text, and sets THERE. The reporting thread, which holds win->lock, sets NONE
 * again.
 */
#ifndef ORIEL_DEFERRED_ERROR_H
#define ORIEL_DEFERRED_ERROR_H

#include <stdbool.h>
#include <stdint.h>

struct deferred_errors {
	uint64_t *news; /* counter set to UINT64_MAX by an error; counter_store */
	char *text;     /* NULL: memory was short */
	uint64_t more;  /* atomic */
	uint32_t state;
	int code;
};

/* Records an error, with the thread's last text. */
void deferred_error_note(struct deferred_errors *deferred_errors, int code);

bool deferred_error_is_noted(const struct deferred_errors *deferred_errors);

/* Returns and clears the error, with its text; 0: none. One thread at a time. */
int deferred_error_report(struct deferred_errors *deferred_errors);

void deferred_errors_free(struct deferred_errors *deferred_errors);

#endif
