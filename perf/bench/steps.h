// SPDX-License-Identifier: BSD-2-Clause
/*
 * steps.h - counts a thread's instructions and system calls by single steps
 *
 * DESIGN NOTES
 *
 * With the processor's trap flag the kernel sends SIGTRAP after each instruction of the thread, and
 * the handler counts. So locks, atomics and membarriers count as outside of any tool; under
 * valgrind Oriel's locks are mutexes. A string instruction counts once, however often it repeats.
 * The kernel's instructions do not count, nor the device's, between steps_pause and steps_resume.
 *
 * One thread at a time, on x86-64 only; elsewhere nothing is counted.
 */
#ifndef ORIEL_PERF_STEPS_H
#define ORIEL_PERF_STEPS_H

#include <stdbool.h>

struct steps {
	long instructions;
	long system_calls;
};

/* Returns true if this processor supports it. */
bool steps_possible(void);

/* Counts the calling thread's steps until steps_end, which returns them. */
void steps_begin(void);
struct steps steps_end(void);

/* Stops counting until steps_resume gets the result. Threads that are not counted may call both. */
bool steps_pause(void);
void steps_resume(bool counting);

#endif
