// SPDX-License-Identifier: BSD-2-Clause
/*
 * signals.h - a window's signals: ours, which members change and we read; and where a member's are
 *
 * DESIGN NOTES
 *
 * What lies in the table is in layout.h. It is memory of its own, mapped from a memory file and
 * registered for the life of the window, so that peers which share memory reach it by stores.
 *
 * Taking. What has been taken is kept here, not in the table: a signal is there to be taken when
 * its words differ from those taken last. Nothing is reset, so nothing that comes meanwhile is lost
 * (N6). A reading whose check does not fit is torn: the rest is on its way, and it counts as not
 * there yet. Two members that SET the same signal at once can leave words of both behind for good;
 * each word is whole then, and either value may stand (N5). So words that do not fit are taken all
 * the same when they have not changed for SETTLE_NS: far longer than a device, or a process that
 * has lost its processor, is at one request.
 *
 * The order of reading: `added` first, so that a SET of the same origin before an ADD that was seen
 * is seen too.
 */
#ifndef ORIEL_SIGNALS_H
#define ORIEL_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"
#include "verbs/devices.h"
#include "verbs/layout.h"

struct oriel_win;
struct link;

#define SETTLE_NS NS_PER_SECOND

/* The words of a signal at one moment. */
struct signal_reading {
	uint64_t value;
	uint64_t stamp;
	uint64_t check;
	uint64_t added; /* by all */
};

/* What we know of one of our signals. */
struct signal_taken {
	struct signal_reading last; /* as it was last taken */
	struct signal_reading odd;  /* words that do not fit, */
	uint64_t odd_ns;            /* and since when; 0: none */
};

/* Ours; guarded by win->lock. */
struct signals {
	struct signal *table; /* NULL: none */
	struct signal_taken *taken;
	struct registration registration;
	size_t mapped_bytes;
	int fd;
	uint32_t next;        /* where the next look for one to take begins */
	uint64_t deaths_told; /* of the job's deaths, how many have been looked through for members */
	uint64_t probe_ns;    /* oriel_signal_test: when peers were last probed */
};

/* A member's, as its directory entry tells; the rest is guarded by win->lock. */
struct link_signals {
	uint64_t addr; /* there; here if they are mapped */
	uint64_t sets; /* how many this rank has sent */
	uint32_t rkey;
	uint32_t count;
	bool apart; /* DIR_ADDED_APART */
	bool second_device;
	bool map_asked;
	bool mapped;
};

/* Make the window's, as many as its hint says. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int signals_open(struct oriel_win *win);
void signals_close(struct oriel_win *win);

/* Fill in what peers of that device are to know. */
void signals_describe(const struct oriel_win *win, uint32_t device, struct dir_entry *entry);

/* What a member's entry tells. */
void signals_learn(struct link_signals *signals, const struct dir_entry *entry);

/* Ask whether the member's signals can be mapped here, once; and give them back. */
void signals_map(struct link *link);
void signals_unmap(struct link *link);

/* Take a signal of [first, first + count) that has changed, if there is one. Holds win->lock. */
bool signals_take(struct oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value);

/* The words of a signal; whether they fit. */
bool signal_reading(const struct oriel_win *win, uint32_t signal, struct signal_reading *reading);

/* The same; whether they are to be taken for a value. Holds win->lock. */
bool signal_settled(struct oriel_win *win, uint32_t signal, struct signal_reading *reading);

static inline uint64_t signal_value(const struct signal_reading *reading)
{
	return reading->value + reading->added;
}

#endif
