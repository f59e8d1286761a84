/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * variables.h - names of environment variables that are nearly Oriel's
 *
 * A misspelt name is silent otherwise: the variable that was meant keeps its default. Only names
 * that begin with ORIEL_ and are one or two letters away from a known one count, so that variables
 * of the site (ORIEL_ROOT, ORIEL_HOME) stay the site's. Programs use this file without the library.
 */
#ifndef ORIEL_VARIABLES_H
#define ORIEL_VARIABLES_H

#define VARIABLES_TEXT_BYTES 128

/*
 * Returns the known name that the variable of "NAME=VALUE" nearly has. Returns NULL if the name is
 * known, begins with ORIEL_TEST_, or is like none.
 */
const char *variables_meant(const char *assignment);

/*
 * Calls report with a text for the user, once for each variable of the list whose name is nearly
 * known. The list ends with NULL, as environ does.
 */
void variables_check(char *const assignments[], void (*report)(void *arg, const char *text), void *arg);

#endif
