// SPDX-License-Identifier: BSD-2-Clause
/* See signals.h. */
#include "win/signals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "pages/memory_file.h"
#include "base/order.h"
#include "job/job.h"
#include "win/link.h"
#include "win/win.h"

/* This rank's signals. */

static const unsigned all_access =
	IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/* Peers identify the table by the size: it is registered without the rest of its pages. */
static int open_table(struct oriel_win *win, size_t bytes)
{
	struct signals *signals = &win->signals;
	struct memory_access table = { .size_bytes = bytes, .access = all_access };
	int rc;

	signals->mapped_bytes = round_up(bytes, (size_t)sysconf(_SC_PAGESIZE));
	rc = map_memory_file("oriel-signals", signals->mapped_bytes, &table.base, &signals->fd);
	if (rc)
		return rc;
	signals->table = table.base;
	return devices_register(&win->job->devices, devices_all(&win->job->devices), &table, &signals->registration);
}

int signals_open(struct oriel_win *win)
{
	uint32_t count = win->info.signal_count;

	if (count == 0)
		return 0;
	win->signals.taken = calloc(count, sizeof(*win->signals.taken));
	if (!win->signals.taken)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for %u signals", count);
	return open_table(win, signals_bytes(count));
}

void signals_close(struct oriel_win *win)
{
	struct signals *signals = &win->signals;

	free(signals->taken);
	if (is_registered(&signals->registration))
		devices_deregister(&win->job->devices, &signals->registration);
	if (!signals->table)
		return;
	unmap_memory_file(signals->table, signals->mapped_bytes, signals->fd);
}

void signals_describe(const struct oriel_win *win, uint32_t device, struct dir_entry *entry)
{
	const struct ibv_mr *mr = win->signals.registration.mr[device];

	if (!mr)
		return;
	entry->signals_addr = (uint64_t)(uintptr_t)win->signals.table;
	entry->signals_rkey = mr->rkey;
	entry->signal_count = win->info.signal_count;
	if (win->job->devices.list[device].atomics != ATOMICS_GLOB)
		entry->flags |= DIR_ADDED_APART;
}

/* A member's signals. */

void signals_learn(struct link_signals *signals, const struct dir_entry *entry)
{
	signals->addr = entry->signals_addr;
	signals->rkey = entry->signals_rkey;
	signals->count = entry->signal_count;
	signals->apart = entry->flags & DIR_ADDED_APART;
	signals->second_device = entry->flags & DIR_SECOND_DEVICE;
}

void signals_map(struct link *link)
{
	struct link_signals *signals = &link->ext->signals;
	void *here;

	if (signals->map_asked)
		return;
	signals->map_asked = true;
	if (!direct_map(&link->peer->direct, (struct remote){ signals->addr, signals->rkey }, signals_bytes(signals->count),
	                &here))
		return;
	signals->addr = (uintptr_t)here;
	signals->mapped = true;
}

void signals_unmap(struct link *link)
{
	struct link_signals *signals = link->ext ? &link->ext->signals : NULL;

	if (!signals || !signals->mapped)
		return;
	direct_unmap(&link->peer->direct, (void *)(uintptr_t)signals->addr, signals_bytes(signals->count));
	signals->mapped = false;
}

/* Reading and taking. */

/*
 * Each flag_load pairs with signal_store or the request of oriel_signal at the origin
 * (op/signal.c).
 */
bool signal_reading(const struct oriel_win *win, uint32_t signal, struct signal_reading *reading)
{
	const struct signal *table = win->signals.table;
	uint32_t count = win->info.signal_count;
	const uint64_t *apart = (const uint64_t *)(const void *)(table + count);

	reading->added = flag_load(&apart[signal]) + flag_load(&apart[count + signal]) + flag_load(&table[signal].added);
	reading->value = flag_load(&table[signal].value);
	reading->stamp = flag_load(&table[signal].stamp);
	reading->check = flag_load(&table[signal].check);
	return reading->check == signal_check(reading->value, reading->stamp);
}

static bool same_set(const struct signal_reading *a, const struct signal_reading *b)
{
	return a->value == b->value && a->stamp == b->stamp && a->check == b->check;
}

static bool is_settled(struct signal_taken *taken, const struct signal_reading *reading)
{
	uint64_t now = now_ns();

	if (taken->odd_ns && same_set(&taken->odd, reading))
		return now - taken->odd_ns > SETTLE_NS;
	taken->odd = *reading;
	taken->odd_ns = now;
	return false;
}

bool signal_settled(struct oriel_win *win, uint32_t signal, struct signal_reading *reading)
{
	struct signal_taken *taken = &win->signals.taken[signal];

	return signal_reading(win, signal, reading) || same_set(reading, &taken->last) || is_settled(taken, reading);
}

static bool take(struct oriel_win *win, uint32_t signal, uint64_t *value)
{
	struct signal_taken *taken = &win->signals.taken[signal];
	struct signal_reading now;

	if (!signal_settled(win, signal, &now))
		return false;
	if (same_set(&now, &taken->last) && now.added == taken->last.added)
		return false;
	taken->last = now;
	taken->odd_ns = 0;
	*value = signal_value(&now);
	return true;
}

bool signals_take(struct oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value)
{
	uint32_t begin = win->signals.next - first < count ? win->signals.next - first : 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = begin + i < count ? begin + i : begin + i - count;

		if (!take(win, first + at, value))
			continue;
		*signal = first + at;
		win->signals.next = first + at + 1; /* a busy signal does not hide the others */
		return true;
	}
	return false;
}
