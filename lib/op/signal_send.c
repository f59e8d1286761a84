// SPDX-License-Identifier: BSD-2-Clause
/*
 * signal_send.c - changing a signal of another member
 *
 * DESIGN NOTES
 *
 * A signal takes the way of the data it follows (N2). Behind stores to mapped memory it is a store,
 * or a fetch-and-add, with release semantics. Behind work requests it is one more in the same list:
 * a SET is an inline write, an ADD a fetch-and-add. At the device it waits, by a fence, for gets
 * under way, and for writes if the device does not keep their order (wire_put_behind).
 *
 * An ADD by a device without atomics is an active message (am_issue.h), which adds to the word to
 * which processors add. It is in order behind other active messages, and does not wait until they
 * are applied, as the other ways do.
 *
 * One origin's changes of a signal all take the route of its data. Changes of different origins
 * are kept apart by `added` (layout.h).
 */
#include "op/issue.h"

#include "base/order.h"
#include "op/am_issue.h"
#include "win/link.h"
#include "win/win.h"

static bool stores(const struct oriel_win *win, struct link *link)
{
	bool no_data = link->size_bytes == 0 && win->info.kind != ORIEL_WIN_DYNAMIC;
	bool all_stores = link_mapped(link) || no_data || link->peer->direct.self; /* all that the signal follows */

	if (all_stores)
		signals_map(link);
	return all_stores && link->ext->signals.mapped;
}

static struct signal next_set(const struct oriel_win *win, struct link *link, uint64_t value)
{
	uint64_t stamp = ++link->ext->signals.sets << STAMP_RANK_BITS | (uint64_t)win->group->my_rank;

	return (struct signal){ value, stamp, signal_check(value, stamp), 0 };
}

/* Changes the signal by stores, which pair with the flag_load in signal_reading at the target. */
static void signal_store(const struct oriel_win *win, struct link *link, const struct op *op)
{
	struct signal *there = (struct signal *)(uintptr_t)link->ext->signals.addr + op->signal, set;

	if (op->kind == OP_SIGNAL_ADD) {
		word_add(&there->added, op->value);
		return;
	}
	set = next_set(win, link, op->value);
	flag_store(&there->value, set.value);
	flag_store(&there->stamp, set.stamp);
	flag_store(&there->check, set.check);
}

static struct remote word_to_add(const struct link_signals *signals, uint32_t signal)
{
	uint64_t addr = signals->addr + signal * sizeof(struct signal) + offsetof(struct signal, added);

	if (signals->apart)
		addr = signals->addr + signal_apart_offset(signals->count, signal, signals->second_device);
	return (struct remote){ addr, signals->rkey };
}

static int signal_send(const struct oriel_win *win, struct link *link, const struct op *op)
{
	struct remote there = { link->ext->signals.addr + op->signal * sizeof(struct signal), link->ext->signals.rkey };
	bool gets = link->marks & LINK_GOT;
	struct signal set;

	if (op->kind == OP_SIGNAL_ADD)
		return wire_add_behind(&link->peer->wire, op->value, word_to_add(&link->ext->signals, op->signal), gets,
		                       &link->last_number);
	set = next_set(win, link, op->value);
	return wire_put_behind(&link->peer->wire, wire_sge(&set, SIGNAL_SET_BYTES, 0), there, gets, &link->last_number);
}

int signal_issue(struct oriel_win *win, struct link *link, const struct op *op)
{
	bool by_store = stores(win, link);

	if (!by_store && op->kind == OP_SIGNAL_ADD && link->peer->device->atomics == ATOMICS_NONE)
		return am_issue_add(win, link, op->signal, op->value);
	if (!link_applied(link, link_am_number(link)))
		return ISSUE_LATER; /* only applied active messages are in place */
	if (by_store) {
		signal_store(win, link, op);
		return 0;
	}
	link->marks |= LINK_TOUCHED;
	return signal_send(win, link, op) ? win_peer_error(win, link->rank) : 0;
}
