// SPDX-License-Identifier: BSD-2-Clause
/*
 * info_facts.h - for oriel-info: what Oriel is built with, which libraries are here, and what this
 * machine allows
 */
#ifndef ORIEL_INFO_FACTS_H
#define ORIEL_INFO_FACTS_H

#define FACTS_MAX 48
#define FACT_BYTES 192

/* Facts of one section follow one another. */
struct fact {
	const char *section;
	const char *name;
	char value[FACT_BYTES];
};

struct facts {
	int count;
	struct fact list[FACTS_MAX];
};

/* Takes some milliseconds, and starts child processes, one at a time. */
void facts_collect(struct facts *facts);

#endif
