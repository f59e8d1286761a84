// SPDX-License-Identifier: BSD-2-Clause
/*
 * inbox.h - what libpmix's thread tells, kept until it is asked for
 *
 * A letter is what libpmix gets of us when something is asked (it copies nothing, so all of it must
 * live until the answer), and what holds the answer afterwards. Letters may come back after the
 * client has gone: the inbox lives as long as any is out.
 */
#ifndef ORIEL_CLIENT_PMIX_INBOX_H
#define ORIEL_CLIENT_PMIX_INBOX_H

#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>

#include "boot.h"
#include "client/later.h"

#define LETTER_KEY_BYTES (BOOT_KEY_MAX_BYTES + 16)

enum letter_kind {
	LETTER_FENCE, /* the exchange is over */
	LETTER_GET,   /* an answer */
	LETTER_EVENT, /* news that nobody asked for */
};

struct letter {
	struct letter *next;
	struct inbox *inbox;
	enum letter_kind kind;
	pmix_status_t status;
	pmix_proc_t proc; /* who is asked, or whom the news are about */
	char key[LETTER_KEY_BYTES];
	struct later_get *get; /* LETTER_GET */
	size_t size_bytes;     /* of the value; an answer that is no value of ours has status PMIX_ERR_NOT_FOUND */
	uint8_t value[BOOT_VALUE_MAX_BYTES];
};

struct inbox {
	pthread_mutex_t lock; /* guards the rest */
	struct letter *first; /* oldest first */
	struct letter **end;  /* where the next one goes */
	int alarm_fd;         /* rings when something has come */
	int out;              /* letters that libpmix has */
	bool closed;          /* nobody will look any more */
};

/* ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int inbox_open(struct inbox **inbox);

/* A letter that is about to be given to libpmix; NULL: no memory. */
struct letter *letter_new(struct inbox *inbox, enum letter_kind kind);

/* Any thread: it has come back, and is the inbox's from here on. */
void letter_back(struct letter *letter);

/* Take out all that have come back, oldest first; they are the caller's to free, by letter_free. */
struct letter *inbox_take(struct inbox *inbox);

void letter_free(struct letter *letter);

/* All that was taken has been looked at: ring for the next one, or at that time. */
void inbox_set_alarm(struct inbox *inbox, uint64_t when_ns);

/* Nobody will look any more. */
void inbox_close(struct inbox *inbox);

#endif
