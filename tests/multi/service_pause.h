// SPDX-License-Identifier: BSD-2-Clause
/* service_pause.h - stops this rank's service thread for a while */
#ifndef ORIEL_TESTS_SERVICE_PAUSE_H
#define ORIEL_TESTS_SERVICE_PAUSE_H

#include <semaphore.h>

#include "job/job.h"
#include "job/service_queue.h"
#include "multi.h"

/*
 * Work for the service thread: to wait. It outlives the case, at whose end the thread may be about
 * to leave it.
 */
struct service_pause {
	struct task task;
	sem_t begun, over;
};

static void service_pause_wait(void *arg)
{
	struct service_pause *pause = arg;

	sem_post(&pause->begun);
	sem_wait(&pause->over);
}

/* On return the thread does nothing, until service_pause_end. */
static void service_pause_begin(struct multi *m, struct service_pause *pause)
{
	sem_init(&pause->begun, 0, 0);
	sem_init(&pause->over, 0, 0);
	pause->task = (struct task){ .run = service_pause_wait, .arg = pause };
	service_queue_add(m->job, &pause->task);
	sem_wait(&pause->begun);
}

static void service_pause_end(struct service_pause *pause)
{
	sem_post(&pause->over);
}

#endif
