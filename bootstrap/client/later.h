// SPDX-License-Identifier: BSD-2-Clause
/*
 * later.h - gets that wait for their turn
 *
 * Launchers answer nothing before every rank has put its value, and some only one question at a
 * time. What has been asked meanwhile waits here, oldest first. What has been asked for in vain is
 * asked again after a pause, which grows. All zero is an empty list.
 */
#ifndef ORIEL_CLIENT_LATER_H
#define ORIEL_CLIENT_LATER_H

#include "boot.h"

#define LATER_PAUSE_FIRST_MS 20 /* each further one is twice as long, up to the longest */
#define LATER_PAUSE_MAX_MS 1000
#define LATER_MAX (1 << 20) /* gets that wait: one for each rank that a rank can be connected to */

struct later_get {
	struct later_get *next;
	int rank;
	uint64_t due_ns;   /* not to be asked before */
	uint32_t pause_ms; /* before it was asked again; 0: it has not been */
	char key[BOOT_KEY_MAX_BYTES + 1];
};

struct later {
	struct later_get *first;
	struct later_get **end; /* where the next one goes; NULL while the list has never been used */
	int count;
};

/*
 * Add a get; key is one that boot_check_key has let through. ERRORS: ORIEL_ERR_LIMIT,
 * ORIEL_ERR_MEMORY.
 */
int later_add(struct later *later, int rank, const char *key);

/* Take the oldest out, which is the caller's to free; NULL if there is none. */
struct later_get *later_take(struct later *later);

/* The same, but none before its time; now_ns is the time. */
struct later_get *later_take_due(struct later *later, uint64_t now_ns);

/* Put one back that has been taken and asked for in vain: it is due again after a pause. */
void later_again(struct later *later, struct later_get *get, uint64_t now_ns);

/* When the first of them is due; UINT64_MAX if there is none. */
uint64_t later_due_ns(const struct later *later);

/* Forget all. */
void later_clear(struct later *later);

#endif
