/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - the parts of a job (front/part.h), put together
 *
 * DESIGN NOTES
 *
 * `oriel-see` reads the parts, which other processes have written: read.c copies and checks each.
 * gather.c makes one list of windows, sites and waits, in the order of ranks, with remote.c. text.c
 * and json.c print that, with the sentences of advice.c. timeline.c prints single calls, and
 * picture.c draws.
 */
#ifndef ORIEL_SEE_PROFILE_H
#define ORIEL_SEE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "see/front/part.h"
#include "see/source.h"

#define NAME_BYTES 64

/* How a machine's clock differs from the first machine's (clocks.c). */
struct clock_shift {
	double at_ns;
	double ahead_ns; /* at that time, */
	double drift;    /* and by so much more in each ns */
	double error_ns;
};

/* A part that has been checked. All texts in it end, and are printable ASCII. */
struct read_part {
	struct part *part; /* a copy */
	char *path;
	double ns_per_tick;
	struct clock_shift shift; /* the header's times are shifted already */
};

struct read_parts {
	struct read_part *list; /* in the order of ranks */
	uint32_t count;
	uint32_t capacity;
	char job[PART_JOB_BYTES];
	int size; /* of the job, as its parts have it */
	int hosts;
	int unaligned;         /* hosts whose clocks cannot be compared */
	double clock_error_ns; /* of the others, at most */
};

struct profile_window {
	uint64_t key;
	uint64_t number; /* in messages; 0: none, the window is left to the MPI */
	char name[NAME_BYTES];
	char kind[16];
	uint64_t in_calls_ns;
	uint64_t waits_ns;
};

/* The calls of one function by one rank, from one place, with one window. */
struct profile_site {
	int rank;
	int window; /* -1: none */
	char call[32];
	const char *object; /* path */
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	uint64_t offset;
	struct source_place place;
	uint64_t count;
	uint64_t bytes;
	uint64_t ns;
	uint64_t waits_ns;
	uint64_t sizes[PART_SIZES];
	uint64_t targets; /* as in the part */
	uint64_t followed;
};

/* A rank, recorded or not. */
struct profile_rank {
	uint64_t all_ns; /* 0: not recorded */
	uint64_t in_calls_ns;
};

struct profile_wait {
	uint32_t site; /* which has its rank and window */
	enum wait_cause cause;
	int culprit; /* -1: not known */
	uint64_t count;
	uint64_t ns;
	uint64_t max_ns;
	uint64_t served;                    /* as in the part */
	struct part_root roots[PART_ROOTS]; /* ns 0: none further */
};

#define CLOCK_ERROR_UNKNOWN UINT64_C(1000000000000000000)

struct profile {
	int size;
	double seconds;       /* from the first begin to the last end */
	uint64_t all_ns;      /* of all ranks */
	uint64_t in_calls_ns; /* of all ranks, */
	uint64_t at_ends_ns;  /* of that in init and finalize, without waits */
	uint64_t waits_ns;
	uint64_t calls;
	uint64_t lost;
	uint64_t clock_error_ns; /* CLOCK_ERROR_UNKNOWN: clocks cannot be compared */
	int busiest_ranks;       /* of the machine that has the most for each processor, */
	int busiest_processors;
	struct profile_rank *ranks; /* as many as `size` */
	struct profile_window *windows;
	struct profile_site *sites;
	struct profile_wait *waits;
	uint32_t window_count, window_capacity;
	uint32_t site_count, site_capacity;
	uint32_t wait_count, wait_capacity;
	uint32_t first_wait; /* of the part that is gathered */
};

struct advice_list; /* advice.h */

extern const char *const cause_names[WAIT_CAUSES]; /* as in the JSON */

/* read.c */

/*
 * Reads the parts of a job from the user's folder, as soon as its processes have ended or finished
 * recording, in LIMIT_NS at most. An empty name: those of the job whose part is newest.
 */
void read_job(struct read_parts *parts, const char *job);

/* Reads files. Ends the program if one is no part. */
void read_files(struct read_parts *parts, char **paths);

/* Returns how a rank that did not finalize has ended, as far as other ranks know. */
const char *read_death(const struct read_parts *parts, int rank);

/* Removes the files. */
void remove_parts(const struct read_parts *parts);

/* clocks.c */

/* Makes the times of all parts those of the first part's machine. */
void clocks_align(struct read_parts *parts);

/* Returns a time of the part's clock as one of the first machine's. */
uint64_t clocks_shifted(const struct clock_shift *shift, uint64_t ns);

/* gather.c */
void gather(struct profile *profile, const struct read_parts *parts);

/* Returns the waits of the part's site for a rank, for one cause: new ones if there are none. */
struct profile_wait *gather_waits_of(struct profile *profile, uint32_t site, enum wait_cause cause, int culprit);

/* remote.c: waits for ranks of other machines */

struct remote;

/* Returns what ranks of several machines began; NULL: there is one, or clocks are not compared. */
struct remote *remote_open(const struct read_parts *parts);
void remote_close(struct remote *remote);

/*
 * Divides the waits that calls of other machines' ranks ended. `sites` and `waits` have, for each
 * of the part, its index in the profile.
 */
void remote_divide(const struct remote *remote, struct profile *profile, const struct read_part *from,
                   const uint32_t sites[], const uint32_t waits[]);

/* Finds roots, when the waits of all parts have been divided. */
void remote_find_roots(const struct remote *remote, struct profile *profile);

/* roots.c: the ranks at which lateness began, if they are on other machines */

/* A time, by the first machine's clock, in which a rank was late for another one. */
struct lateness {
	uint64_t begun_ns;
	uint64_t ended_ns;
	int rank;       /* that was late */
	uint32_t wait;  /* it counts for these waits of the profile; PART_NONE: for none */
	bool by_report; /* remote.c has found it: no roots have been counted for it */
};

/* Counts a time for a rank at which a wait's lateness began. */
void roots_count(struct profile_wait *wait, int rank, uint64_t ns);

struct roots;

struct roots *roots_open(int size);
void roots_close(struct roots *roots);

/* A rank waited for a late one. */
void roots_add(struct roots *roots, int rank, const struct lateness *lateness);

/* Divides what has been added. */
void roots_divide(const struct roots *roots, struct profile *profile);

/* text.c: at most 60 lines of 120 columns */
void text_print(FILE *out, const struct profile *profile, const struct advice_list *advice,
                const struct read_parts *parts);

#define PLACE_BYTES 48

/* Returns the calls that made a window, or NULL. */
const struct profile_site *window_creation(const struct profile *profile, int window);

/* Writes "exchange halo.c:88", or what is known of it. Returns text. */
const char *place_text(const struct profile_site *site, char text[PLACE_BYTES]);

/* json.c: oriel-profile/1 (oriel_profile(7)) */

/* Entries for which there was no room, and their time. */
struct json_left_out {
	uint32_t windows, sites, waits;
	uint64_t windows_ns, sites_ns, waits_ns;
};

/* Prints as much as most_bytes allow. Sentences of advice are always there. */
struct json_left_out json_print(FILE *out, const struct profile *profile, const struct advice_list *advice,
                                uint64_t most_bytes);

#endif
