// SPDX-License-Identifier: BSD-2-Clause
/* process.h - whether another process lives, by its number and since when it is known */
#ifndef ORIEL_PROCESS_H
#define ORIEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the time by which processes are known; the clock runs on while the machine sleeps. */
uint64_t process_clock_ns(void);

/*
 * Returns whether a process has ended that lived at known_ns (process_clock_ns; 0: unknown). Its
 * number may belong to another one since, which was started later.
 */
bool process_ended(pid_t pid, uint64_t known_ns);

/* Returns the state letter that /proc has for the number, as ps prints it; '?': it has none. */
char process_state(pid_t pid);

#endif
