// SPDX-License-Identifier: BSD-2-Clause
/*
 * signals.h - a window's signals: ours, which members change and we read; and where a member's are
 *
 * DESIGN NOTES
 *
 * layout.h has the table. It is a memory file, registered for the life of the window, so that peers
 * that share memory reach it by stores.
 *
 * Taking. What was taken last is kept here, not in the table: a signal can be taken when its words
 * differ from that. Nothing is reset, so no concurrent change is lost (N6). A reading whose check
 * does not match is torn, and counts as not arrived. Two members that SET the same signal at once
 * can leave words of both for good; each word is whole, and either value may stand (N5). So
 * mismatched words are taken when they have not changed for SETTLE_NS, far longer than a request
 * takes a device, or a process without a processor.
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

/* The words of a signal at one moment. */
struct signal_reading {
	uint64_t value;
	uint64_t stamp;
	uint64_t check;
	uint64_t added; /* by all */
};

/* The state of one of our signals. */
struct signal_taken {
	struct signal_reading last; /* as it was last taken */
	struct signal_reading odd;  /* words that do not match */
	uint64_t odd_ns;            /* since when; 0: none */
};

/* This rank's; guarded by win->lock. */
struct signals {
	struct signal *table; /* NULL: none */
	struct signal_taken *taken;
	struct registration registration;
	size_t mapped_bytes;
	int fd;
	uint32_t next;        /* where the next search begins */
	uint64_t deaths_told; /* how many of the job's deaths have been searched for members */
	uint64_t probe_ns;    /* oriel_signal_test: when peers were last probed */
};

/* A member's, as its directory entry says; the rest is guarded by win->lock. */
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

/*
 * Makes the window's signals, as many as its hint says. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int signals_open(struct oriel_win *win);
void signals_close(struct oriel_win *win);

/* Fills in what peers of that device need. */
void signals_describe(const struct oriel_win *win, uint32_t device, struct dir_entry *entry);

/* Takes a member's signals from its entry. */
void signals_learn(struct link_signals *signals, const struct dir_entry *entry);

/* Tries once to map the member's signals here; and unmaps them. */
void signals_map(struct link *link);
void signals_unmap(struct link *link);

/* Takes a changed signal of [first, first + count), if there is one. The caller holds win->lock. */
bool signals_take(struct oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value);

/* Reads the words of a signal; returns whether they match. */
bool signal_reading(const struct oriel_win *win, uint32_t signal, struct signal_reading *reading);

/* Reads the words, and returns whether they count as a value. The caller holds win->lock. */
bool signal_settled(struct oriel_win *win, uint32_t signal, struct signal_reading *reading);

static inline uint64_t signal_value(const struct signal_reading *reading)
{
	return reading->value + reading->added;
}

#endif
