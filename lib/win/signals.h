// SPDX-License-Identifier: BSD-2-Clause
/*
 * signals.h - a window's signals here, which members change, and where a member's are
 *
 * DESIGN NOTES
 *
 * The table (layout.h) is a memory file, registered for the life of the window: peers that share
 * memory reach it by stores.
 *
 * The value that was taken last is kept outside the table. A signal can be taken when its words
 * differ from that value. Nothing is reset, so no concurrent change is lost (N6). A reading whose
 * check does not match is torn, and counts as not arrived. Two members that SET a signal at once
 * can leave words of both for good, and either value may stand (N5). So mismatched words are taken
 * after SETTLE_NS without a change, far longer than a request takes.
 *
 * `added` is read first, so that a SET of the same origin before a visible ADD is visible too.
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

struct signal_reading {
	uint64_t value;
	uint64_t stamp;
	uint64_t check;
	uint64_t added; /* by all members */
};

struct signal_taken {
	struct signal_reading last; /* when it was last taken */
	struct signal_reading odd;  /* words that do not match */
	uint64_t odd_ns;            /* since when; 0: none */
};

/* This rank's signals, guarded by win->lock. */
struct signals {
	struct signal *table; /* NULL: none */
	struct signal_taken *taken;
	struct registration registration;
	size_t mapped_bytes;
	int fd;
	uint32_t next;            /* where the next search begins */
	uint64_t deaths_searched; /* deaths of the job that have been searched for members */
	uint64_t probe_ns;        /* oriel_signal_test: when peers were last probed */
};

/* A member's signals, from its directory entry; the rest is guarded by win->lock. */
struct link_signals {
	uint64_t addr; /* at the member; here if they are mapped */
	uint64_t sets; /* sent by this rank */
	uint32_t rkey;
	uint32_t count;
	bool apart;
	bool second_device;
	bool map_asked;
	bool mapped;
};

/* Makes the signals that the hint wants. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int signals_open(struct oriel_win *win);
void signals_close(struct oriel_win *win);

/* Fills in the signals for peers of that device. */
void signals_describe(const struct oriel_win *win, uint32_t device, struct dir_entry *entry);

void signals_learn(struct link_signals *signals, const struct dir_entry *entry);

/* Tries once to map the member's signals. */
void signals_map(struct link *link);
void signals_unmap(struct link *link);

/* Takes a changed signal of [first, first + count), if there is one. Under win->lock. */
bool signals_take(struct oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value);

/* Reads the words of a signal; returns whether they match. */
bool signal_reading(const struct oriel_win *win, uint32_t signal, struct signal_reading *reading);

/* Reads the words; returns whether they count as a value. Under win->lock. */
bool signal_settled(struct oriel_win *win, uint32_t signal, struct signal_reading *reading);

static inline uint64_t signal_value(const struct signal_reading *reading)
{
	return reading->value + reading->added;
}

#endif
