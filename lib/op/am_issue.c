// SPDX-License-Identifier: BSD-2-Clause
/* am_issue.c - the origin's side of messages; see am_issue.h. */
#include "op/am_issue.h"

#include <stdlib.h>

#include "base/err.h"
#include "op/issue.h"
#include "op/am_codec.h"
#include "win/link.h"
#include "win/win.h"

static const char *call_of(const struct acc *acc)
{
	if (acc->blocks > 0)
		return acc->row.call;
	if (acc->compare)
		return "oriel_compare_and_swap";
	if (!acc->result)
		return "oriel_accumulate";
	return acc->copied ? "oriel_fetch_and_op" : "oriel_get_accumulate";
}

/* Returns what the target's refusal of the message names. */
static struct am_subject subject_of(struct oriel_win *win, const struct link *link, const char *call,
                                    struct acc_span span)
{
	return (struct am_subject){ .deferred_errors = &win->deferred_errors,
		                        .window = win->label,
		                        .call = call,
		                        .disp_bytes = span.from - link->base,
		                        .limit_bytes = link->size_bytes,
		                        .rank = link->rank,
		                        .size_bytes = (uint32_t)span.bytes };
}

/* Returns whether completions say that nothing of this window is in flight to the member. */
static bool is_placed(const struct link *link)
{
	const struct wire *wire = &link->peer->wire;

	return wire_done(wire, link->last_number) && (!link->peer->device->read_behind || wire->flag_mode == FLAG_WRITE);
}

static bool uses_memory(const struct am_message *message)
{
	return message->result_bytes > 0 || message->am.call == AM_PULL;
}

/* Sends a message for this window. Returns 1: sent; 0: no room; or an error. */
static int send_message(struct oriel_win *win, struct link *link, struct am_message *message)
{
	struct am_sent sent;
	bool alone;
	int rc;

	if (!link_make_ext(link))
		return err_set(ORIEL_ERR_MEMORY, "%s: out of memory for rank %d", win->label, link->rank);
	message->am.window_check = window_check(win->id);
	message->am.window_slot = link->slot;
	alone = link_has_only_ams(link) || is_placed(link);
	rc = am_send(link->peer, message, &sent);
	if (rc != 1)
		return rc;
	link->ext->am_number = sent.number;
	link->last_number = sent.request;
	link->ext->am_request = alone ? sent.request : 0;
	link->marks |= uses_memory(message) ? LINK_AM | LINK_TOUCHED | LINK_GOT : LINK_AM | LINK_TOUCHED;
	return 1;
}

bool am_pulls(const struct link *link, const struct acc *acc)
{
	return acc->blocks == 0 && !acc->result && element_span(acc->type, acc->count) > AM_LARGEST_BYTES &&
	       am_is_pulled(link->peer);
}

/* Sends one more message of an operation; returns what send_message does. */
static int send_some(struct oriel_win *win, struct link *link, struct acc *acc)
{
	uint8_t swap_operands[2 * ELEMENT_BYTES_MAX];
	struct am_message message;
	struct am_pull pull;
	uint32_t count =
		am_pulls(link, acc) ? am_encode_pull(acc, &message, &pull) : am_encode(acc, &message, swap_operands);
	int rc;

	message.am.disp_bytes = acc->remote_addr - link->base;
	message.subject =
		subject_of(win, link, call_of(acc), (struct acc_span){ acc->remote_addr, element_span(acc->type, count) });
	rc = send_message(win, link, &message);
	if (rc == 1)
		acc_advance(acc, count);
	return rc;
}

static int send_blocks(struct oriel_win *win, struct link *link, struct acc *acc)
{
	uint8_t data[AM_LARGEST_BYTES];
	struct am_message message;
	struct acc sent = *acc;
	int rc;

	sent.blocks = am_encode_row(acc, data, &message);
	message.am.disp_bytes = acc->remote_addr - link->base;
	message.subject = subject_of(win, link, call_of(acc), acc_span(&sent));
	rc = send_message(win, link, &message);
	if (rc == 1)
		acc_advance_row(acc, sent.blocks);
	return rc;
}

/* Returns the result of a call whose last message has returned rc. */
static int sent_all(const struct oriel_win *win, const struct link *link, int rc)
{
	if (rc == 0)
		return ISSUE_LATER;
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc < 0 ? rc : 0;
}

int am_issue(struct oriel_win *win, struct link *link, struct acc *acc)
{
	int rc = 1;

	while (rc == 1 && acc->count > 0)
		rc = acc->blocks > 0 ? send_blocks(win, link, acc) : send_some(win, link, acc);
	return sent_all(win, link, rc);
}

bool am_issue_pays(struct link *link, size_t bytes)
{
	return am_is_polled(link->peer) || (!(link->marks & LINK_ACCESS) && am_has_room(link->peer, bytes));
}

int am_issue_list(struct oriel_win *win, struct link *link, struct am_message *message, struct acc_span span,
                  const char *call)
{
	int rc;

	message->am.disp_bytes = span.from - link->base;
	message->subject = subject_of(win, link, call, span);
	rc = send_message(win, link, message);
	if (rc != 1)
		free(message->scatter);
	return sent_all(win, link, rc);
}

int am_issue_add(struct oriel_win *win, struct link *link, uint32_t signal, uint64_t value)
{
	struct am_message message;

	am_encode_add(signal, &value, &message);
	message.behind_gets = link->marks & LINK_GOT;
	message.subject = (struct am_subject){ .deferred_errors = &win->deferred_errors,
		                                   .window = win->label,
		                                   .call = "oriel_signal",
		                                   .disp_bytes = signal,
		                                   .rank = link->rank };
	return sent_all(win, link, send_message(win, link, &message));
}
