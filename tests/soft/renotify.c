// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer polled, so that no requester wakes it, and has stopped: the requester that waits for its
 * answer wakes it then (lib/soft/peer/pipe.c). The peer's engine looks rarely while polls go on.
 *
 * The engine's waits are seen here, and can be made endless: then it looks no more unless it is woken.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "two.h"

enum {
	LENGTH = 64,
	RARE_NS = 7000000, /* a wait of the engine that is longer is one of the longest */
};

static _Atomic bool blind; /* waits with an end have none */
static _Atomic bool is_blind;
static _Atomic long wait_ns; /* the last one with an end */

/* The engine waits by number, which comes here, as all calls of that kind. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	const struct timespec *timeout;
	long argument[6];
	va_list args;

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(args, long);
	va_end(args);
	timeout = (const struct timespec *)argument[3];
	if (number == SYS_epoll_pwait2 && timeout) {
		atomic_store(&wait_ns, timeout->tv_nsec);
		if (atomic_load(&blind)) {
			atomic_store(&is_blind, true);
			argument[3] = 0;
		}
	}
	return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

static bool polls(struct two *two)
{
	struct ibv_wc wc;

	return ibv_poll_cq(two->lab.a.send_cq, 1, &wc) == 0;
}

static bool meets(struct two *two)
{
	lab_setup(&two->lab, NULL);
	return meet(two, two->lab.a.mr) && lab_recv(&two->lab.a, 1, 0, LENGTH) == 0;
}

/* With no look of the engine's to come. */
static int polls_and_stops(struct two *two, int unused)
{
	(void)unused;
	if (!meets(two))
		return 1;
	atomic_store(&blind, true);
	while (!atomic_load(&is_blind))
		if (!polls(two))
			return 1;
	return tell(two) && hear(two) ? 0 : 1;
}

/* Until the engine looks rarely. */
static int polls_long_and_stops(struct two *two, int unused)
{
	(void)unused;
	if (!meets(two))
		return 1;
	while (atomic_load(&wait_ns) < RARE_NS)
		if (!polls(two))
			return 1;
	return tell(two) && hear(two) ? 0 : 1;
}

static enum lab_verdict send_to(int (*owner)(struct two *two, int argument))
{
	struct two two;

	CHECK(start_two(&two, owner, 0) == LAB_PASSED);
	CHECK(hear(&two));
	CHECK(post(&two, IBV_WR_SEND, LENGTH) == 0);
	CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	return finish(&two);
}

static enum lab_verdict renotify__who_has_stopped_polling_is_woken(void)
{
	return send_to(polls_and_stops);
}

static enum lab_verdict renotify__the_engine_looks_rarely_while_polls_go_on(void)
{
	return send_to(polls_long_and_stops);
}

static const struct lab_case cases[] = {
	{ "renotify: who has stopped polling is woken", renotify__who_has_stopped_polling_is_woken, "engine.c, pipe.c" },
	{ "renotify: the engine looks rarely while polls go on", renotify__the_engine_looks_rarely_while_polls_go_on,
	  "engine.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
