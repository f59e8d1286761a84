// SPDX-License-Identifier: BSD-2-Clause
/*
 * meetings.c - calls from which no member returns before all have begun them; see call.h
 *
 * They compare the clocks of machines (report/clocks.c) without a message. The first ones of a
 * process and the last ones are kept.
 */
#include <pthread.h>

#include "see/front/call.h"
#include "see/front/clock.h"

static _Thread_local struct part_meeting meeting __attribute__((tls_model("initial-exec")));
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

void meeting_begin(uint64_t key, uint64_t number, uint64_t begun_ns)
{
	meeting = (struct part_meeting){ key, number, begun_ns, 0 };
	if (number)
		call_thread.duties |= DUTY_MEETING;
	else
		call_thread.duties &= ~(uint32_t)DUTY_MEETING;
}

void meeting_cancel(void)
{
	call_thread.duties &= ~(uint32_t)DUTY_MEETING;
}

void meeting_end(struct part *part, uint64_t ended_ticks)
{
	uint32_t at;

	call_thread.duties &= ~(uint32_t)DUTY_MEETING;
	meeting.ended_ns = clock_ns(ended_ticks);
	pthread_mutex_lock(&adding);
	at = part->header.meeting_count;
	if (at >= 2 * PART_MEETINGS)
		at = PART_MEETINGS + at % PART_MEETINGS;
	part->meetings[at] = meeting;
	__atomic_store_n(&part->header.meeting_count, part->header.meeting_count + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&adding);
}
