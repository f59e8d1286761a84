// SPDX-License-Identifier: BSD-2-Clause
/* boot_events.h - records what a bootstrap client tells, for the tests of bootstrap/boot*.c. */
#ifndef ORIEL_TESTS_BOOT_EVENTS_H
#define ORIEL_TESTS_BOOT_EVENTS_H

#include "boot.h"

/* "R.k=v;" answer ("-" for never), "R died TEXT;", "lost;" */
extern char boot_events_log[8192];
extern const struct boot_events boot_events;

/* Compare with the log, and empty it. */
void boot_events_expect(const char *expected);

/* Forget every variable that a launcher may have set. */
void boot_events_clear_environment(void);

#endif
