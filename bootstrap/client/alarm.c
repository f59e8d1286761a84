// SPDX-License-Identifier: BSD-2-Clause
/* alarm.c - see alarm.h; the descriptor is a timer's. */
#include "client/alarm.h"

#include "base/err.h"
#include "pages/shortage.h"
#include "base/util.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

int alarm_open(int *fd)
{
	char text[SHORTAGE_TEXT_BYTES];
	int error;

	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (*fd >= 0)
		return 0;
	error = errno;
	shortage_text(error, false, text, sizeof(text));
	return err_set(shortage_code(error), "no descriptor for the bootstrap client: %s", text);
}

/* A past time makes the descriptor readable at once; 0 would disarm it. */
void alarm_set(int fd, uint64_t when_ns)
{
	struct itimerspec when = { .it_value = { .tv_nsec = 1 } };

	if (when_ns == ALARM_NEVER)
		when.it_value.tv_nsec = 0;
	else if (when_ns != ALARM_NOW)
		when.it_value = (struct timespec){ (time_t)(when_ns / NS_PER_SECOND), (long)(when_ns % NS_PER_SECOND) };
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}
