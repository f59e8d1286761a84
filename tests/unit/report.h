/* SPDX-License-Identifier: BSD-2-Clause */
/* report.h - runs CUnit's suites, and prints what tests/all counts */
#ifndef ORIEL_TESTS_UNIT_REPORT_H
#define ORIEL_TESTS_UNIT_REPORT_H

/* Runs the suite of that name, or all registered ones for NULL, as `program`, and returns its exit status. */
int report_suites(const char *program, const char *suite);

#endif
