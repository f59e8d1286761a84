// SPDX-License-Identifier: BSD-2-Clause
/* inbox.c - see inbox.h. */
#include "client/pmix/inbox.h"

#include "base/err.h"
#include "client/alarm.h"

#include <stdlib.h>
#include <unistd.h>

int inbox_open(struct inbox **out)
{
	struct inbox *inbox = calloc(1, sizeof(*inbox));
	int rc;

	if (!inbox)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	rc = alarm_open(&inbox->alarm_fd);
	if (rc) {
		free(inbox);
		return rc;
	}
	pthread_mutex_init(&inbox->lock, NULL);
	inbox->end = &inbox->first;
	*out = inbox;
	return 0;
}

static void destroy(struct inbox *inbox)
{
	pthread_mutex_destroy(&inbox->lock);
	free(inbox);
}

struct letter *letter_new(struct inbox *inbox, enum letter_kind kind)
{
	struct letter *letter = calloc(1, sizeof(*letter));

	if (!letter)
		return NULL;
	letter->inbox = inbox;
	letter->kind = kind;
	pthread_mutex_lock(&inbox->lock);
	inbox->out++;
	pthread_mutex_unlock(&inbox->lock);
	return letter;
}

void letter_free(struct letter *letter)
{
	free(letter->get);
	free(letter);
}

/* The caller holds the lock. */
static void append(struct inbox *inbox, struct letter *letter)
{
	letter->next = NULL;
	*inbox->end = letter;
	inbox->end = &letter->next;
	alarm_set(inbox->alarm_fd, ALARM_NOW);
}

void letter_back(struct letter *letter)
{
	struct inbox *inbox = letter->inbox;
	bool closed, last;

	pthread_mutex_lock(&inbox->lock);
	closed = inbox->closed;
	last = --inbox->out == 0;
	if (!closed)
		append(inbox, letter);
	pthread_mutex_unlock(&inbox->lock);
	if (closed)
		letter_free(letter);
	if (closed && last)
		destroy(inbox);
}

struct letter *inbox_take(struct inbox *inbox)
{
	struct letter *first;

	pthread_mutex_lock(&inbox->lock);
	first = inbox->first;
	inbox->first = NULL;
	inbox->end = &inbox->first;
	pthread_mutex_unlock(&inbox->lock);
	return first;
}

void inbox_set_alarm(struct inbox *inbox, uint64_t when_ns)
{
	pthread_mutex_lock(&inbox->lock);
	alarm_set(inbox->alarm_fd, inbox->first ? ALARM_NOW : when_ns);
	pthread_mutex_unlock(&inbox->lock);
}

void inbox_close(struct inbox *inbox)
{
	struct letter *letter, *next;
	bool last;

	pthread_mutex_lock(&inbox->lock);
	inbox->closed = true;
	letter = inbox->first;
	last = inbox->out == 0;
	close(inbox->alarm_fd);
	pthread_mutex_unlock(&inbox->lock);
	for (; letter; letter = next) {
		next = letter->next;
		letter_free(letter);
	}
	if (last)
		destroy(inbox);
}
