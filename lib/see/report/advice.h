/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * advice.h - what would make the job faster, as sentences, by facts of its profile
 *
 * DESIGN NOTES
 *
 * A rule looks for a pattern, adds up what each rank loses by it, and says what to do. The loss of
 * the rank that loses most is an upper bound of what the job may save. A rule is silent if that is
 * below 2 % of the job's time, or if the pattern occurred less than 100 times.
 */
#ifndef ORIEL_SEE_ADVICE_H
#define ORIEL_SEE_ADVICE_H

#include "see/report/profile.h"

#define ADVICE_MOST 12
#define ADVICE_TEXT_BYTES 640
#define ADVICE_OCCURRENCES 100
#define ADVICE_CREATIONS 20 /* of windows from one place, by a rank */

struct advice {
	const char *rule;
	char text[ADVICE_TEXT_BYTES];
	int rank;   /* that is late, or loses most */
	int window; /* -1: none */
	int site;   /* where the time is lost */
	uint64_t saves_ns;
};

/* In the order of what they save. */
struct advice_list {
	struct advice list[ADVICE_MOST];
	uint32_t count;
};

/* Finds what can be said of a profile. */
void advise(struct advice_list *advice, const struct profile *profile);

/* ---- for the rules ---- */

/* The time that ranks lose by a pattern. */
struct losses {
	const struct profile *profile;
	uint64_t *ns; /* by rank */
	uint64_t all_ns;
	uint64_t count; /* how often it occurred */
	int rank;       /* that loses most, */
	uint64_t most_ns;
	uint32_t site; /* where a rank loses most, */
	uint64_t site_ns;
};

/* Begins without losses. */
void losses_begin(struct losses *losses);

/* A rank of the job loses time at a site. Numbers that are no rank's are left out. */
void losses_add(struct losses *losses, int rank, uint32_t site, uint64_t ns, uint64_t count);

/* Returns whether a rule is to speak, from `percent` of the job's time on. */
bool losses_matter(const struct losses *losses, int percent);

/* Returns the place for a sentence of what these ranks lose; NULL: a dozen others save more. */
struct advice *advice_add(struct advice_list *advice, const char *rule, const struct losses *losses);

/* Writes ` of "halo"`, ` of window 3 (created main halo.c:31)`, or nothing. Returns text. */
#define WINDOW_BYTES (PLACE_BYTES + 64)
const char *advice_window(const struct profile *profile, int window, char text[WINDOW_BYTES]);

/* Writes "oriel_put (main halo.c:88)". Returns text. */
#define CALL_BYTES (PLACE_BYTES + 40)
const char *advice_call(const struct profile_site *site, char text[CALL_BYTES]);

double advice_seconds(uint64_t ns);

/* Returns how many percent of the sum one rank of `size` must have to stand out. */
double advice_stands_out(int size);

/* The rules. `losses` has room for all ranks. */
void advise_on_waits(struct advice_list *advice, struct losses *losses);
void advise_on_calls(struct advice_list *advice, struct losses *losses);

/* A call's work, by its name in either interface. */
enum call_kind {
	KIND_PUT,
	KIND_GET,
	KIND_ACCUMULATE,
	KIND_FETCH,
	KIND_FLUSH,
	KIND_LOCK,
	KIND_UNLOCK,
	KIND_CREATE,
	KIND_OTHER
};

/* call_kind.c */
enum call_kind call_kind(const char *call);

/* Returns whether a call of either interface has this name, "win_post", behind its prefix. */
bool call_is(const char *call, const char *name);

/* Writes a name as a call of the other call's interface: MPI_Win_flush. Returns text. */
#define CALL_NAME_BYTES 40
const char *call_of_same(const char *call, const char *name, char text[CALL_NAME_BYTES]);

#endif
