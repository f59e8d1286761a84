// SPDX-License-Identifier: BSD-2-Clause
/*
 * later.h - gets that wait for their turn
 *
 * Launchers answer nothing before every rank has put its value, and some only one question at a
 * time. What has been asked meanwhile waits here, oldest first. All zero is an empty list.
 */
#ifndef ORIEL_CLIENT_LATER_H
#define ORIEL_CLIENT_LATER_H

#include "boot.h"

#define LATER_MAX (1 << 20) /* gets that wait: one for each rank that a rank can be connected to */

struct later_get {
	struct later_get *next;
	int rank;
	char key[BOOT_KEY_MAX_BYTES + 1];
};

struct later {
	struct later_get *first;
	struct later_get **end; /* where the next one goes; NULL while the list has never been used */
	int count;
};

/* Add a get; key is one that boot_check_key has let through. ERRORS: ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY. */
int later_add(struct later *later, int rank, const char *key);

/* Take the oldest out, which is the caller's to free; NULL if there is none. */
struct later_get *later_take(struct later *later);

/* Forget all. */
void later_clear(struct later *later);

#endif
