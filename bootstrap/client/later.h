// SPDX-License-Identifier: BSD-2-Clause
/*
 * later.h - a queue of deferred gets
 *
 * Launchers answer nothing before every rank has put, and some take one request at a time. Further
 * gets wait here, oldest first. A get without success is repeated after a growing pause. All zero
 * is an empty queue.
 */
#ifndef ORIEL_CLIENT_LATER_H
#define ORIEL_CLIENT_LATER_H

#include "boot.h"

#define LATER_PAUSE_FIRST_MS 20 /* doubles with each repetition */
#define LATER_PAUSE_MAX_MS 1000
#define LATER_MAX (1 << 20) /* queued gets: one for each rank that can be connected */

struct later_get {
	struct later_get *next;
	int rank;
	uint64_t due_ns;   /* not to be sent before */
	uint32_t pause_ms; /* the last; 0: none yet */
	char key[BOOT_KEY_MAX_BYTES + 1];
};

struct later {
	struct later_get *first;
	struct later_get **end; /* where the next one goes; NULL before the first use */
	int count;
};

/* Adds a get; boot_check_key has accepted key. ERRORS: ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY. */
int later_add(struct later *later, int rank, const char *key);

/* Takes out the oldest get, or returns NULL. The caller frees it. */
struct later_get *later_take(struct later *later);

/* Like later_take, but takes only a due get. */
struct later_get *later_take_due(struct later *later, uint64_t now_ns);

/* Puts back a get, due after a pause. */
void later_again(struct later *later, struct later_get *get, uint64_t now_ns);

/* Returns the earliest due time; UINT64_MAX if the queue is empty. */
uint64_t later_due_ns(const struct later *later);

void later_clear(struct later *later);

#endif
