// SPDX-License-Identifier: BSD-2-Clause
/*
 * inbox.h - answers and news from libpmix's thread, kept until they are read
 *
 * A letter holds a request's arguments, which must live until the answer, and then the answer.
 * Letters may come back after the client has gone: the inbox lives until none is out.
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
	LETTER_EVENT, /* unrequested news */
};

struct letter {
	struct letter *next;
	struct inbox *inbox;
	enum letter_kind kind;
	pmix_status_t status;
	pmix_proc_t proc; /* asked, or subject of the news */
	char key[LETTER_KEY_BYTES];
	struct later_get *get; /* for LETTER_GET */
	size_t size_bytes;     /* of the value; a foreign one is PMIX_ERR_NOT_FOUND */
	uint8_t value[BOOT_VALUE_MAX_BYTES];
};

struct inbox {
	pthread_mutex_t lock; /* guards the rest */
	struct letter *first; /* oldest first */
	struct letter **end;  /* where the next one goes */
	int alarm_fd;         /* readable once a letter has come back */
	int out;              /* letters out to libpmix */
	bool closed;          /* the client has gone */
};

/* ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int inbox_open(struct inbox **inbox);

/* Returns NULL if memory is short. */
struct letter *letter_new(struct inbox *inbox, enum letter_kind kind);

/* The inbox then owns the letter. Any thread may call this. */
void letter_back(struct letter *letter);

/* Takes out all letters that are back, oldest first. The caller frees them by letter_free. */
struct letter *inbox_take(struct inbox *inbox);

void letter_free(struct letter *letter);

/* Makes alarm_fd readable for the next letter, or at that time. */
void inbox_set_alarm(struct inbox *inbox, uint64_t when_ns);

/* Later letters are freed. */
void inbox_close(struct inbox *inbox);

#endif
