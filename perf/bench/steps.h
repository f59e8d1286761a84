// SPDX-License-Identifier: BSD-2-Clause
/*
 * steps.h - how many instructions a thread carries out, and system calls, one step at a time
 *
 * DESIGN NOTES
 *
 * The processor's trap flag has the kernel send SIGTRAP behind each instruction of the thread that set it. The
 * handler counts. So locks, atomics and membarriers take what they take outside of any tool, which valgrind's count does
 * not say: under it Oriel's locks are mutexes. A string instruction counts once however often it repeats. The
 * kernel's own instructions are not counted, nor those between steps_pause and steps_resume: the device's.
 *
 * One thread at a time. On x86-64 only; elsewhere nothing is counted.
 */
#ifndef ORIEL_PERF_STEPS_H
#define ORIEL_PERF_STEPS_H

#include <stdbool.h>

struct steps {
	long instructions;
	long system_calls;
};

/* Whether this processor can. */
bool steps_possible(void);

/* What the calling thread does from here on is counted, until steps_end. */
void steps_begin(void);
struct steps steps_end(void);

/* By the thread that is counted: nothing is until steps_resume with what this returned. Other threads may call both. */
bool steps_pause(void);
void steps_resume(bool counting);

#endif
