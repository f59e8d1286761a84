// SPDX-License-Identifier: BSD-2-Clause
/* See am_send.h. */
#include "am/am_send.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/copy_blocks.h"
#include "base/err.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"
#include "job/deferred_error.h"
#include "verbs/wire.h"

#define LOOKS 32 /* before a poll */

static void sender_free(struct am_sender *out)
{
	if (!out)
		return;
	for (uint64_t number = out->applied; number < out->sent; number++)
		free(out->places[number % AM_SLOTS].scatter);
	owned_lock_destroy(&out->lock);
	free(out);
}

/* NULL: out of memory. */
static struct am_sender *out_of(struct peer *peer)
{
	struct am_sender *out = __atomic_load_n(&peer->am_sender, __ATOMIC_ACQUIRE), *made; /* pairs with the store below */

	if (out)
		return out;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	owned_lock_init(&made->lock);
	if (__atomic_compare_exchange_n(&peer->am_sender, &out, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	sender_free(made); /* another thread was faster */
	return out;
}

/* Returns whether the peer has written the place of our ring. */
static bool ring_of(const struct peer *peer, struct segment_ref *ring)
{
	const uint64_t *words = (const uint64_t *)(const void *)&peer->area->am_ring;
	uint64_t copy[2] = { flag_load(&words[0]), flag_load(&words[1]) }; /* pairs with am_receiver_open at the peer */

	static_assert(sizeof(copy) == sizeof(*ring), "the place of a ring is two words");
	memcpy(ring, copy, sizeof(copy));
	return segment_ready(ring);
}

/* Returns whether the peer's last answer is not that with check `seen`, and not torn. */
static bool read_ack(const struct peer *peer, uint64_t seen, struct am_ack *ack)
{
	const struct am_ack *there = &peer->area->am_ack;

	ack->check = flag_load(&there->check); /* these pair with tell at the peer */
	if (ack->check == seen)
		return false;
	ack->applied = flag_load(&there->applied);
	ack->refused[0] = flag_load(&there->refused[0]);
	ack->refused[1] = flag_load(&there->refused[1]);
	ack->rested = flag_load(&there->rested);
	ack->result[0] = flag_load(&there->result[0]);
	ack->result[1] = flag_load(&there->result[1]);
	return ack->check == am_ack_check(ack);
}

static uint32_t result_offset(uint64_t number, uint32_t at)
{
	if (at == AM_INLINE)
		return (uint32_t)((number - 1) % AM_SLOTS) * AM_INLINE_BYTES;
	return AM_SLOTS * AM_INLINE_BYTES + at;
}

static int refused_error(const struct am_subject *about, enum am_verdict verdict)
{
	if (about->size_bytes == 0)
		return err_set(ORIEL_ERR_PEER,
		               "%s: %s: rank %d has refused to add to signal %llu: it does not have the window (any more)",
		               about->call, about->window, about->rank, (unsigned long long)about->disp_bytes);
	if (verdict == AM_UNKNOWN)
		return err_set(ORIEL_ERR_PEER,
		               "%s: %s: rank %d has refused %u bytes at byte %llu: it does not have the window (any more), or "
		               "cannot read the operands",
		               about->call, about->window, about->rank, about->size_bytes,
		               (unsigned long long)about->disp_bytes);
	if (verdict == AM_READ_ONLY)
		return err_set(ORIEL_ERR_ACCESS,
		               "%s: %s: rank %d has refused %u bytes at byte %llu: its memory may only be read", about->call,
		               about->window, about->rank, about->size_bytes, (unsigned long long)about->disp_bytes);
	return err_set(ORIEL_ERR_RANGE,
	               "%s: %s: rank %d has refused %u bytes at byte %llu: they are not in its memory, of %llu bytes "
	               "as far as this rank knows",
	               about->call, about->window, about->rank, about->size_bytes, (unsigned long long)about->disp_bytes,
	               (unsigned long long)about->limit_bytes);
}

static void refused(const struct am_subject *about, enum am_verdict verdict)
{
	if (about->deferred_errors)
		deferred_error_note(about->deferred_errors, refused_error(about, verdict));
}

static void scatter(const struct am_scatter *scatter, const uint8_t *from)
{
	for (uint32_t i = 0; i < scatter->count; i++) {
		copy_short(scatter->parts[i].to, from, scatter->parts[i].size_bytes);
		from += scatter->parts[i].size_bytes;
	}
}

static void take_blocks(const struct am_outstanding *place, const uint8_t *from)
{
	const uint32_t size_bytes = place->blocks.size_bytes;

	copy_blocks((struct blocks){ place->result, place->blocks.distance },
	            (struct blocks){ (uint8_t *)(uintptr_t)from, (ptrdiff_t)size_bytes }, size_bytes,
	            place->result_bytes / size_bytes);
}

static const uint8_t *find_result(const struct am_sender *out, const struct am_outstanding *place, uint64_t number,
                                  const struct am_ack *ack)
{
	if (number == ack->applied && am_ack_has_result(place->at, place->result_bytes))
		return (const uint8_t *)ack->result;
	return (const uint8_t *)out->results.addr + result_offset(number, place->at);
}

static void take_result(const struct am_outstanding *place, const uint8_t *from)
{
	if (place->scatter)
		scatter(place->scatter, from);
	else if (place->blocks.size_bytes > 0)
		take_blocks(place, from);
	else if (place->copy)
		place->copy(place->type, place->result, from, place->result_bytes);
	else
		memcpy(place->result, from, place->result_bytes);
}

static void end_message(struct am_sender *out, uint64_t number, const struct am_ack *ack)
{
	struct am_outstanding *place = &out->places[(number - 1) % AM_SLOTS];
	const enum am_verdict verdict = am_verdict(ack->refused, number);

	if (verdict != AM_APPLIED)
		refused(&place->subject, verdict);
	else if (place->result_bytes > 0)
		take_result(place, find_result(out, place, number, ack));
	free(place->scatter);
	place->scatter = NULL;
	out->data_tail = place->data_end;
}

/* Takes the last answer, under out->lock. */
static void look(struct peer *peer, struct am_sender *out)
{
	struct am_ack ack;
	uint64_t number = out->applied;

	if (state_load(&peer->state) == PEER_DEAD || !read_ack(peer, out->seen, &ack)) /* pairs with rank_lost */
		return;
	out->seen = ack.check;
	if (ack.rested <= out->wakes)
		out->rested = ack.rested;
	if (ack.applied > out->sent)
		return; /* against the protocol */
	for (; number < ack.applied; number++)
		end_message(out, number + 1, &ack);
	counter_store(&out->applied, number); /* pairs with the counter_load in am_progress: results are in place */
}

/* Wakes the peer if it has answered the previous wakeup. */
static void wake(struct peer *peer, struct am_sender *out)
{
	uint64_t unused;

	if (out->wakes == out->rested && wire_wake(&peer->wire, &unused) == 0)
		out->wakes++;
}

/* Returns where size_bytes fit without wrapping. */
static uint32_t data_start(const struct am_sender *out, uint32_t size_bytes)
{
	uint32_t left = AM_DATA_BYTES - out->data_head % AM_DATA_BYTES;

	return left < size_bytes ? out->data_head + left : out->data_head;
}

static bool take_room(struct am_sender *out, const struct am_message *message, struct am_outstanding *place)
{
	uint32_t data = message->am.data_bytes;
	uint32_t most = data > message->result_bytes ? data : message->result_bytes;
	uint32_t bytes = (uint32_t)round_up(most, AM_ALIGN);
	uint32_t start = data_start(out, bytes);

	if (out->sent - out->applied == AM_SLOTS)
		return false;
	*place = (struct am_outstanding){
		.copy = message->copy,
		.type = message->am.type,
		.result = message->result,
		.scatter = message->scatter,
		.blocks = message->blocks,
		.result_bytes = message->result_bytes,
		.at = AM_INLINE,
		.data_end = out->data_head,
		.subject = message->subject,
	};
	if (bytes <= AM_INLINE_BYTES)
		return true;
	if (start + bytes - out->data_tail > AM_DATA_BYTES)
		return false;
	place->at = start % AM_DATA_BYTES;
	place->data_end = out->data_head = start + bytes;
	return true;
}

/* With FLAG_WRITE the stamp comes behind the writes anyway. */
static int placed(struct peer *peer)
{
	if (peer->wire.flag_mode == FLAG_WRITE)
		return 0;
	return wire_wait(&peer->wire, wire_signal(&peer->wire)) ? 0 : ORIEL_ERR_PEER;
}

/* Makes the memory for results, and writes its place to the peer. */
static int open_results(struct peer *peer, struct am_sender *out)
{
	struct segment_ref ref;
	int rc;

	if (out->results.addr)
		return 0;
	rc = slab_alloc(&peer->job->slabs, AM_RESULTS_BYTES, &out->results);
	if (rc)
		return rc;
	ref.addr = (uint64_t)(uintptr_t)out->results.addr;
	ref.rkey = out->results.keys[peer->device->index].rkey;
	ref.check = segment_check(&ref);
	rc = wire_write(&peer->wire, &ref, sizeof(ref),
	                (struct remote){ peer->remote_area.addr + offsetof(struct area, am_results),
	                                 peer->remote_area.rkey });
	return rc ? rc : placed(peer);
}

struct slot {
	struct remote there;
	struct am *here; /* NULL: not mapped */
};

static struct slot next_slot(struct peer *peer, struct am_sender *out)
{
	const uint64_t index = out->sent % AM_SLOTS;
	struct slot slot = { { out->ring.addr, out->ring.rkey }, NULL };

	if (!out->ring_here)
		out->ring_here = (void *)direct_words(&peer->direct, slot.there, AM_SLOTS * sizeof(struct am));
	slot.there.addr += index * sizeof(struct am);
	slot.here = out->ring_here ? &out->ring_here[index] : NULL;
	return slot;
}

/* Writes all of a slot but the stamp. */
static int write_slot(struct peer *peer, const struct am *am, size_t inline_bytes, struct slot slot)
{
	const size_t from = sizeof(am->stamp), line = offsetof(struct am, data) + AM_LINE_BYTES;
	const size_t bytes = offsetof(struct am, data) + inline_bytes;
	const uint8_t *message = (const uint8_t *)am;
	uint8_t *here = (uint8_t *)slot.here;

	slot.there.addr += from;
	if (!here)
		return wire_write(&peer->wire, message + from, bytes - from, slot.there);
	memcpy(here + from, message + from, line - from);
	if (bytes > line)
		memcpy(here + line, message + line, bytes - line);
	return 0;
}

/* Writes operands and slot, without the stamp. */
static int write_message(struct peer *peer, const struct am_sender *out, const struct am_message *message,
                         const struct am_outstanding *place, struct slot slot)
{
	struct remote data = { out->ring.addr + AM_SLOTS * sizeof(struct am) + place->at, out->ring.rkey };
	const size_t inline_bytes = place->at == AM_INLINE ? message->am.data_bytes : 0;
	struct am am;
	int rc = 0;

	memcpy(&am, &message->am, offsetof(struct am, data) + AM_LINE_BYTES);
	am.answered = (uint16_t)out->applied;
	am.data_at = (uint16_t)place->at;
	am.wants_result = message->result_bytes > 0;
	if (inline_bytes > 0)
		memcpy(am.data, message->data, inline_bytes);
	else if (am.data_bytes > 0)
		rc = direct_write(&peer->direct, message->data, am.data_bytes, data);
	return rc ? rc : write_slot(peer, &am, inline_bytes, slot);
}

/* Orders the message behind what was posted before it. */
static void order_message(struct peer *peer, const struct am_message *message)
{
	if (message->behind_gets)
		wire_fence(&peer->wire);
	else
		wire_fence_changes(&peer->wire); /* perhaps of these elements (A15) */
}

static int stamp_by_wire(struct peer *peer, struct am_sender *out, struct remote stamp, uint64_t *request)
{
	const bool waking = out->wakes == out->rested;
	int rc = placed(peer);

	/* Pairs with the flag_load in next_is_there. */
	rc = rc ? rc : wire_word(&peer->wire, out->sent + 1, stamp, waking, request);
	if (rc == 0)
		out->wakes += waking;
	return rc;
}

/* Sends by stores, if the slot is mapped and no request in flight. Returns 0 or an error. */
static int send_to_slot(struct peer *peer, struct am_sender *out, const struct am_message *message,
                        const struct am_outstanding *place, uint64_t *request)
{
	struct slot slot = next_slot(peer, out);
	const bool by_stores = slot.here && wire_is_idle(&peer->wire, request);
	int rc;

	if (!by_stores)
		order_message(peer, message);
	rc = write_message(peer, out, message, place, slot);
	if (rc || !by_stores)
		return rc ? rc : stamp_by_wire(peer, out, slot.there, request);
	flag_store(&slot.here->stamp, out->sent + 1); /* pairs with the flag_load in next_is_there */
	wake(peer, out);
	return 0;
}

/* Returns 1 if there is a ring; else wakes the peer, which makes one, and returns 0 or an error. */
static int find_ring(struct peer *peer, struct am_sender *out)
{
	struct segment_ref ring;
	bool answered;

	if (out->ring.addr != 0)
		return 1;
	answered = ring_of(peer, &ring);
	if (answered && ring.addr != 0) {
		out->ring = ring;
		out->ring.addr &= ~AM_RING_PULLS;
		return 1;
	}
	wake(peer, out);
	return answered ? err_set(ORIEL_ERR_MEMORY, "rank %d has no memory left for what it is to apply for this rank",
	                          peer->rank)
	                : 0;
}

static int send_locked(struct peer *peer, struct am_sender *out, const struct am_message *message, struct am_sent *sent)
{
	struct am_outstanding *place = &out->places[out->sent % AM_SLOTS];
	uint32_t head = out->data_head;
	int rc;

	look(peer, out);
	rc = find_ring(peer, out);
	if (rc != 1)
		return rc;
	rc = message->result_bytes > 0 ? open_results(peer, out) : 0;
	if (rc)
		return rc;
	if (!take_room(out, message, place)) {
		wake(peer, out);
		return 0;
	}
	rc = send_to_slot(peer, out, message, place, &sent->request);
	if (rc) {
		out->data_head = head;
		return rc;
	}
	sent->number = ++out->sent;
	return 1;
}

static bool is_ready(struct peer *peer)
{
	struct segment_ref ring;
	struct am_sender *out;

	if (ring_of(peer, &ring))
		return true;
	out = out_of(peer);
	if (out) {
		owned_lock_take(&out->lock);
		wake(peer, out);
		owned_lock_give(&out->lock);
	}
	return false;
}

bool am_is_polled(struct peer *peer)
{
	return direct_polls(&peer->direct) && is_ready(peer);
}

bool am_has_room(struct peer *peer, size_t bytes)
{
	struct am_sender *out = out_of(peer);
	bool room;

	if (!out || !is_ready(peer))
		return false;
	owned_lock_take(&out->lock);
	look(peer, out);
	room = out->sent - out->applied < AM_SLOTS / 2 && out->data_head - out->data_tail + bytes <= AM_DATA_BYTES / 2;
	owned_lock_give(&out->lock);
	return room;
}

bool am_is_pulled(const struct peer *peer)
{
	struct segment_ref ring;

	return ring_of(peer, &ring) && ring.addr & AM_RING_PULLS;
}

int am_send(struct peer *peer, const struct am_message *message, struct am_sent *sent)
{
	struct am_sender *out = out_of(peer);
	int rc;

	if (!out)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for what rank %d is to apply", peer->rank);
	owned_lock_take(&out->lock);
	rc = send_locked(peer, out, message, sent);
	owned_lock_give(&out->lock);
	return rc;
}

/* Returns whether requests fit the queue, and are placed in order. */
static bool takes_requests(struct peer *peer)
{
	uint64_t last = wire_signal(&peer->wire);

	wire_poll(&peer->wire);
	return peer->wire.flag_mode == FLAG_WRITE && wire_done(&peer->wire, last);
}

int am_send_at_once(struct peer *peer, const struct am_message *message, struct am_sent *sent)
{
	return takes_requests(peer) ? am_send(peer, message, sent) : 0;
}

bool am_is_applied(const struct peer *peer, uint64_t number)
{
	const struct am_sender *out = __atomic_load_n(&peer->am_sender, __ATOMIC_ACQUIRE); /* pairs with out_of */

	return !out || counter_load(&out->applied) >= number; /* pairs with the counter_store in look */
}

bool am_progress(struct peer *peer, uint64_t number)
{
	struct am_sender *out = __atomic_load_n(&peer->am_sender, __ATOMIC_ACQUIRE); /* pairs with out_of */

	if (am_is_applied(peer, number))
		return true;
	owned_lock_take(&out->lock);
	for (int i = 0; i < LOOKS && flag_load(&peer->area->am_ack.check) == out->seen; i++) /* pairs with tell */
		;
	look(peer, out);
	if (out->applied < number)
		wire_poll(&peer->wire);
	if (out->applied < out->sent)
		wake(peer, out);
	owned_lock_give(&out->lock);
	return counter_load(&out->applied) >= number;
}

static bool covers(const struct am_subject *about, const char *window, uint64_t from, uint64_t to)
{
	return about->window == window && about->size_bytes > 0 && about->disp_bytes < to &&
	       from < about->disp_bytes + about->size_bytes;
}

bool am_covers(struct peer *peer, const char *window, uint64_t from, uint64_t to)
{
	struct am_sender *out = __atomic_load_n(&peer->am_sender, __ATOMIC_ACQUIRE); /* pairs with out_of */
	bool found = false;

	if (!out)
		return false;
	owned_lock_take(&out->lock);
	look(peer, out);
	for (uint64_t number = out->applied; !found && number < out->sent; number++)
		found = covers(&out->places[number % AM_SLOTS].subject, window, from, to);
	owned_lock_give(&out->lock);
	return found;
}

void am_sender_cut(struct peer *peer)
{
	struct am_sender *out = __atomic_load_n(&peer->am_sender, __ATOMIC_ACQUIRE); /* pairs with out_of */

	if (!out)
		return;
	owned_lock_take(&out->lock); /* a thread in look() began before the death; later ones see it */
	owned_lock_give(&out->lock);
}

void am_senders_close(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		sender_free(peer->am_sender);
}
