// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_words.c - taking and releasing the lock of one member
 *
 * DESIGN NOTES
 *
 * The words lie at the target (layout.h): `serving`, the ticket whose turn it is; `next`, the
 * ticket to be drawn; and for each neighbour a member word {state, ticket} that it alone writes.
 * The target makes no call.
 *
 *   shared     WRITE state = ASK; READ the header. next == serving: held. Otherwise the writer
 *              s = serving is in, or drains: WRITE ticket = s, state = WAIT, and read serving until
 *              it is past s.
 *   exclusive  WRITE state = INTENT; fetch-and-add next: my ticket t; READ header and members. Held
 *              once serving == t and every other member is ABSENT, GONE, INTENT, TICKET, or WAITs
 *              for t. If not at once: WRITE ticket = t, state = TICKET, and read repeatedly.
 *   release    shared: WRITE state = ABSENT. exclusive: WRITE serving = t + 1, then state = ABSENT.
 *
 * Exclusion. Tickets are unique, and only its owner advances serving, by one: writers exclude each
 * other. A reader places ASK before it reads next; a writer changes next before it reads the
 * members: one of them sees the other. A reader waits only for the writer s that it sees; the
 * writer s + 1 counts it as a holder. One queue pair orders WRITE before READ and fetch-and-add
 * before READ. A full fence orders stores to mapped words before the loads.
 * tests/models/lock_model.py tries all orders.
 *
 * Deadlock. Ranks with several locks could wait in a circle: A holds A's lock and waits at B behind
 * a writer that waits for B, and B likewise at A. So a reader with other locks sets LOCK_PRESSED
 * beside WAIT. A writer that has waited for holders for LOCK_DRAIN_NS while such a reader waits for
 * it passes its turn on and draws another ticket. It doubles its limit each time, so that long
 * holds do not starve it.
 *
 * Torn readings. serving has its complement. A torn `next` is too low only after a carry into a
 * byte that was read too early; its lowest byte is small then. Such a value (LOCK_LOW_TICKETS)
 * counts when a second reading agrees. Of a state only the lowest byte counts. The table of members
 * can grow: each segment says whether there is another, and a member writes its word only after its
 * segment is linked. The count of orphans can be older than the members: one more GONE, which dead
 * readers leave, makes the writer read the header again.
 *
 * Words placed twice (places_twice). A second placement of serving after the next hand-over would
 * set it back for good. On such a device the next rank enters, and the target passes a dead rank's
 * ticket on, only after the earlier holder has placed ABSENT behind serving. That holder is at
 * TICKET with an earlier ticket; one that holds the lock at INTENT sets LOCK_LEAVES before it
 * places serving. The target's repair clears the mark of a dead rank.
 *
 * Polling. A waiting rank reads after half the time that the holders before it need, estimated from
 * recent holds and the present one; the first in the queue reads without pause. So each reads a few
 * times, however many wait. After the whole time, the polls would set the pace of the hand-over.
 */
#include "win/lock_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "conn/atomics_peer.h"
#include "conn/directory.h"
#include "job/job.h"
#include "sync/wait.h"
#include "win/epoch.h"
#include "win/lock_mapped.h"

#define LOCK_LOW_TICKETS 16          /* lowest bytes of next that are read twice */
#define PAUSE_MAX_NS (2 * NS_PER_MS) /* between readings */
#define DRAIN_MOST_NS (60 * NS_PER_SECOND)

bool lock_is_mapped(const struct oriel_win *win, const struct link *link)
{
	const struct lock *lock = lock_of(win, link);

	return lock && lock->header;
}

bool lock_is_orphaned(const struct oriel_win *win, const struct link *link)
{
	const struct lock *lock = lock_of(win, link);

	return lock && !(link->marks & LINK_NOCHECK) && lock->orphaned != lock->image.header.repaired;
}

static int make_message(struct oriel_win *win, struct link *link, struct lock **lock)
{
	if (!link_make_ext(link) ||
	    !grow_array(&win->locks.list, &win->locks.capacity, win->locks.count + 1, sizeof(*win->locks.list)))
		return ORIEL_ERR_MEMORY;
	*lock = calloc(1, sizeof(**lock));
	if (!*lock)
		return ORIEL_ERR_MEMORY;
	win->locks.list[win->locks.count++] = *lock;
	link->ext->lock = win->locks.count;
	return 0;
}

static void lock_entry_free(struct lock *lock)
{
	for (uint32_t i = 0; i < lock->part_count; i++)
		free(lock->part[i].read);
	free(lock);
}

void locks_free(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->locks.count; i++)
		lock_entry_free(win->locks.list[i]);
	free(win->locks.list);
	win->locks.list = NULL;
	win->locks.count = win->locks.capacity = 0;
}

/* First contact: where the words lie. */

static void learned(const struct lookup_customer *customer, const struct dir_entry *entry, uint32_t slot)
{
	struct lock *lock = customer->link;

	(void)slot;
	if (!entry)
		return;
	lock->control = (struct remote){ entry->control_addr, entry->control_rkey };
	lock->flags = entry->flags;
	lock->atomic_rkey = entry->control_atomic_rkey;
	state_store(&lock->known, 1); /* pairs with the state_load of learning_step */
}

static int learn(struct oriel_win *win, struct link *link, struct lock *lock)
{
	struct lookup_customer customer = { .done = learned, .window = win, .link = lock, .pending = &win->lookups };

	lock->phase = PHASE_LEARNING;
	if (lookup_again(link->peer, win->id, link->slot, &customer) == 0)
		return 0;
	lock->phase = PHASE_NEW;
	return ORIEL_ERR_MEMORY;
}

/* Evaluating a reading. */

static bool is_whole(const struct lock_header *header)
{
	return header->serving == ~header->serving_complement;
}

static void note_serving(struct lock *lock, uint64_t now)
{
	uint64_t serving = lock->image.header.serving;

	if (serving == lock->serving_seen)
		return;
	if (lock->serving_ns && serving > lock->serving_seen)
		lock->hold_ns = (lock->hold_ns + (now - lock->serving_ns) / (serving - lock->serving_seen)) / 2;
	lock->serving_seen = serving;
	lock->serving_ns = now;
}

/*
 * Sets the time of the next reading, `halves` half holds before this rank's turn. A hold longer
 * than the recent ones counts as half over.
 */
static void plan_reading(struct lock *lock, uint64_t halves)
{
	uint64_t now = now_ns(), half_ns, pause;

	note_serving(lock, now);
	half_ns = (lock->hold_ns > now - lock->serving_ns ? lock->hold_ns : now - lock->serving_ns) / 2;
	pause = halves > PAUSE_MAX_NS || half_ns > PAUSE_MAX_NS ? PAUSE_MAX_NS : halves * half_ns;
	lock->read_ns = halves ? now + (pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS) : 0;
}

static bool reading_due(const struct lock *lock)
{
	return lock->number || lock->read_ns == 0 || now_ns() >= lock->read_ns;
}

/* Tests another member's word against our ticket, which is served. */
typedef bool member_test(const struct lock *lock, uint64_t state, uint64_t ticket);

static bool may_still_write(const struct lock *lock, uint64_t state, uint64_t ticket)
{
	return lock->placed_twice && lock_may_still_write(state, ticket, lock->ticket);
}

static bool stands_in_the_way(const struct lock *lock, uint64_t state, uint64_t ticket)
{
	enum lock_state low = state & 0xff;

	return low == LOCK_ASK || (low == LOCK_WAIT && ticket != lock->ticket) || may_still_write(lock, state, ticket);
}

static bool is_pressed(const struct lock *lock, uint64_t state, uint64_t ticket)
{
	return (state & LOCK_PRESSED) && ticket == lock->ticket;
}

/* Returns whether the test holds for any other member; *gone counts the GONE words before it. */
static bool any_other(const struct lock *lock, member_test *test, uint32_t *gone)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < lock->part_count; i++) {
		const struct lock_member *members = lock_part_members(lock, i);

		for (uint32_t k = 0; k < lock_segment_members(i); k++, place++) {
			uint64_t state =
				flag_load(&members[k].state); /* pairs with lock_store_state; the ticket was placed before */

			if ((state & 0xff) && place != lock->place && test(lock, state, flag_load(&members[k].ticket)))
				return true;
			*gone += (state & 0xff) == LOCK_GONE;
		}
	}
	return false;
}

/*
 * Returns whether all others are out: 1, 0, or ORIEL_ERR_MEMORY. The header is older than the
 * members: a new GONE makes the next step read it again.
 */
static int others_are_out(struct link *link, struct lock *lock)
{
	int more = lock_find_part(link, lock);
	uint32_t gone = 0;

	if (more)
		return more < 0 ? more : 0; /* a segment to read */
	if (any_other(lock, stands_in_the_way, &gone))
		return 0;
	if (gone <= lock->gone)
		return 1;
	lock->gone = gone;
	return 0;
}

static int granted(struct lock *lock)
{
	lock_grant(lock);
	return 1;
}

/* Steps. Each returns 1: held, 0: not yet, or an error. */

static int behind_step(struct link *link, struct lock *lock)
{
	uint64_t past;

	if (!reading_due(lock))
		return 0;
	if (lock->number == 0 && lock_start_reading(link, lock, false))
		return ORIEL_ERR_PEER;
	if (!lock_reading_done(link, lock))
		return 0;
	past = lock->image.header.serving - lock->ticket;
	if (is_whole(&lock->image.header) && past > 0 && past < UINT64_MAX / 2)
		return granted(lock);
	plan_reading(lock, 1);
	return 0;
}

static int stay_behind(struct link *link, struct lock *lock)
{
	lock->ticket = lock->image.header.serving;
	lock->phase = PHASE_BEHIND;
	plan_reading(lock, 0);
	if (lock_write_ticket(link, lock, LOCK_WAIT))
		return ORIEL_ERR_PEER;
	return behind_step(link, lock);
}

/* Starts another reading. Mapped words need none: the next step loads them. */
static int ask_again(struct link *link, struct lock *lock)
{
	return lock_start_reading(link, lock, false) ? ORIEL_ERR_PEER : 0;
}

static int asked_step(struct link *link, struct lock *lock)
{
	const struct lock_header *header = &lock->image.header;

	if (!lock_reading_done(link, lock))
		return 0;
	if (!is_whole(header) || header->next < header->serving)
		return ask_again(link, lock);
	if (header->next > header->serving)
		return stay_behind(link, lock);
	if (lock->header || (header->next & 0xff) >= LOCK_LOW_TICKETS || lock->confirm == header->next)
		return granted(lock);
	lock->confirm = header->next;
	return ask_again(link, lock);
}

static int ask(struct link *link, struct lock *lock)
{
	lock->phase = PHASE_ASKED;
	if (lock_write_state(link, lock, LOCK_ASK))
		return ORIEL_ERR_PEER;
	if (lock->header && lock_ask_mapped(lock))
		return 1;
	return lock_start_reading(link, lock, false) ? ORIEL_ERR_PEER : asked_step(link, lock);
}

static int send_serving(struct link *link, struct lock *lock)
{
	uint64_t words[2] = { lock->ticket + 1, ~(lock->ticket + 1) };

	if (!lock->header)
		return lock_write_there(link, words, sizeof(words), lock->control);
	lock_pass_on(lock);
	return 0;
}

static int draw(struct link *link, struct lock *lock);

/* Passes the turn on without having held the lock, and draws another ticket. */
static int give_turn_away(struct link *link, struct lock *lock)
{
	if (send_serving(link, lock) || (!lock->header && lock_keep_order(link)) ||
	    lock_write_state(link, lock, LOCK_ABSENT) || (!lock->header && lock_keep_order(link)))
		return ORIEL_ERR_PEER;
	lock->drain_ns = 0;
	if (lock->drain_limit_ns < DRAIN_MOST_NS)
		lock->drain_limit_ns *= 2;
	return draw(link, lock);
}

/* Waits for the holders: our ticket is served. */
static int drain_step(struct link *link, struct lock *lock)
{
	uint64_t now = now_ns();
	uint32_t unused = 0;

	if (lock->drain_ns == 0)
		lock->drain_ns = now;
	if (now - lock->drain_ns < lock->drain_limit_ns || !any_other(lock, is_pressed, &unused) ||
	    any_other(lock, may_still_write, &unused))
		return 0;
	return give_turn_away(link, lock);
}

/* Evaluates a reading. */
static int turn_step(struct link *link, struct lock *lock)
{
	const struct lock_header *header = &lock->image.header;
	int rc;

	if (!is_whole(header))
		return 0;
	if (header->serving != lock->ticket) {
		plan_reading(lock, lock->ticket - header->serving - 1);
		return 0;
	}
	if (lock->serving_ns)
		note_serving(lock, now_ns()); /* a late poll must not raise the estimate */
	lock->read_ns = 0;
	rc = others_are_out(link, lock);
	if (rc)
		return rc > 0 ? granted(lock) : rc;
	return lock->phase == PHASE_QUEUED ? drain_step(link, lock) : 0;
}

static int queued_step(struct link *link, struct lock *lock)
{
	if (!reading_due(lock))
		return 0;
	if (lock->number == 0 && lock_start_reading(link, lock, true))
		return ORIEL_ERR_PEER;
	return lock_reading_done(link, lock) ? turn_step(link, lock) : 0;
}

static int drawn_step(struct link *link, struct lock *lock)
{
	int rc;

	if (!lock_reading_done(link, lock))
		return 0;
	lock->ticket = lock->fetched;
	rc = turn_step(link, lock);
	if (rc)
		return rc;
	lock->drain_ns = 0;
	lock->ticket_shown = true;
	lock->phase = PHASE_QUEUED;
	return lock_write_ticket(link, lock, LOCK_TICKET) ? ORIEL_ERR_PEER : 0;
}

/* Draws a ticket by fetch-and-add at the device that serialises tickets. */
static int draw_there(struct lock *lock, struct peer *by, uint32_t rkey)
{
	struct remote next = { lock->control.addr + offsetof(struct lock_header, next), rkey };
	const struct atomic draw = atomic_add(1, next);

	return wire_atomic(&by->wire, &draw, &lock->fetched, &lock->number) ? ORIEL_ERR_PEER : 0;
}

static int read_drawn(struct link *link, struct lock *lock)
{
	lock->phase = PHASE_DRAWN;
	return lock_start_reading(link, lock, true) ? ORIEL_ERR_PEER : drawn_step(link, lock);
}

/* Draws on the connection to the words, in one list with the reading. */
static int draw_on_link(struct link *link, struct lock *lock)
{
	if (lock->header)
		return lock_draw_mapped(lock) ? 1 : read_drawn(link, lock);
	if (draw_there(lock, link->peer, lock->control.rkey))
		return ORIEL_ERR_PEER;
	return read_drawn(link, lock);
}

static int drawing_step(struct link *link, struct lock *lock)
{
	if (state_load(&lock->card->state) == PEER_DEAD) /* pairs with rank_lost */
		return ORIEL_ERR_PEER;
	if (!wire_drive(&lock->card->wire, lock->number))
		return 0;
	lock->number = 0;
	return read_drawn(link, lock);
}

/* Draws on another connection: after requests on this one, and before the reading. */
static int draw_by_card(struct link *link, struct lock *lock)
{
	if (lock->header)
		full_fence();
	else if (!wire_wait(&link->peer->wire, wire_signal(&link->peer->wire)))
		return ORIEL_ERR_PEER;
	lock->phase = PHASE_DRAWING;
	if (draw_there(lock, lock->card, lock->atomic_rkey))
		return ORIEL_ERR_PEER;
	return drawing_step(link, lock);
}

static int draw(struct link *link, struct lock *lock)
{
	lock->ticket_shown = false;
	if (lock_write_state(link, lock, LOCK_INTENT))
		return ORIEL_ERR_PEER;
	return lock->card && lock->card != link->peer ? draw_by_card(link, lock) : draw_on_link(link, lock);
}

static int no_atomics(const struct link *link)
{
	return err_set(ORIEL_ERR_DEVICE,
	               "rank %d is reached by device %s, which has no atomic operations: it can be locked "
	               "ORIEL_LOCK_SHARED, or with ORIEL_MODE_NOCHECK",
	               link->rank, device_name(link->peer->device));
}

static int card_step(struct link *link, struct lock *lock)
{
	struct peer *via;
	int rc;

	if (!(lock->flags & DIR_NEXT_BY_DEVICE))
		return no_atomics(link);
	rc = peer_atomic_via(link->peer, &via);
	if (rc <= 0)
		return rc;
	lock->card = via;
	return draw(link, lock);
}

static bool can_draw(const struct link *link, const struct lock *lock)
{
	if (lock->flags & DIR_NEXT_BY_DEVICE)
		return lock->card;
	return lock->header || link->peer->device->atomics_reported != ATOMICS_NONE;
}

static int begin(struct link *link, struct lock *lock)
{
	lock_begin(lock, link->marks & LINK_EXCLUSIVE);
	if (!lock->exclusive)
		return ask(link, lock);
	if (can_draw(link, lock))
		return draw(link, lock);
	lock->phase = PHASE_CARD;
	return card_step(link, lock);
}

static int finding_step(struct link *link, struct lock *lock)
{
	if (lock_find_word(link, lock))
		return begin(link, lock);
	if (lock->number == 0 && lock_start_reading(link, lock, true))
		return ORIEL_ERR_PEER;
	return lock_reading_done(link, lock) && lock_find_part(link, lock) < 0 ? ORIEL_ERR_MEMORY : 0;
}

static int learning_step(struct link *link, struct lock *lock)
{
	if (!state_load(&lock->known)) /* pairs with learned */
		return 0;
	if (lock_take_control(link, lock))
		return ORIEL_ERR_MEMORY;
	lock->phase = PHASE_FINDING;
	return finding_step(link, lock);
}

int lock_phase_step(struct oriel_win *win, struct link *link, struct lock *lock)
{
	int rc;

	switch (lock->phase) {
	case PHASE_NEW:
		rc = learn(win, link, lock);
		return rc ? rc : learning_step(link, lock);
	case PHASE_LEARNING:
		return learning_step(link, lock);
	case PHASE_FINDING:
		return finding_step(link, lock);
	case PHASE_IDLE:
		return begin(link, lock);
	case PHASE_ASKED:
		return asked_step(link, lock);
	case PHASE_BEHIND:
		return behind_step(link, lock);
	case PHASE_CARD:
		return card_step(link, lock);
	case PHASE_DRAWING:
		return drawing_step(link, lock);
	case PHASE_DRAWN:
		return drawn_step(link, lock);
	case PHASE_QUEUED:
		return queued_step(link, lock);
	case PHASE_HELD:
		break;
	}
	return 1;
}

static void note_pressed(const struct oriel_win *win, struct lock *lock)
{
	lock->pressed = (win->sync & SYNC_LOCK_ALL) || win->locks.open > 1;
}

int lock_step(struct oriel_win *win, struct link *link)
{
	struct lock *lock = lock_of(win, link);
	int rc = 0;

	if (!lock)
		rc = make_message(win, link, &lock);
	if (rc)
		return rc;
	lock->given_up_ns = 0; /* this call takes it over */
	note_pressed(win, lock);
	rc = lock_phase_step(win, link, lock);
	if (rc > 0 && (link->marks & LINK_EXCLUSIVE) && !lock->exclusive) {
		lock_release(win, link); /* a call that timed out had requested it shared */
		rc = !lock->header && lock_keep_order(link) ? ORIEL_ERR_PEER : lock_phase_step(win, link, lock);
	}
	lock->error = rc < 0 && lock->phase == PHASE_CARD ? rc : 0;
	if (lock->error)
		lock->phase = PHASE_IDLE; /* nothing has been written */
	if (rc > 0)
		link->marks |= LINK_GRANTED;
	return rc;
}

int lock_error(const struct oriel_win *win, const struct link *link)
{
	const struct lock *lock = lock_of(win, link);

	return lock && (link->marks & LINK_LOCK) ? lock->error : 0;
}

/* Releasing. */

/* Does lock_store_repaired by work requests. */
static int send_repaired(struct link *link, struct lock *lock)
{
	struct remote to = { lock->control.addr + offsetof(struct lock_header, repaired), lock->control.rkey };
	int rc;

	if (lock->orphaned == lock->image.header.repaired)
		return 0;
	rc = lock_write_there(link, &lock->orphaned, sizeof(lock->orphaned), to);
	return rc ? rc : lock_keep_order(link);
}

/* Announces the release where serving may be placed twice. */
static int say_leaving(struct link *link, struct lock *lock)
{
	if (!lock->placed_twice || lock->ticket_shown)
		return 0;
	return lock_write_state(link, lock, LOCK_LEAVES | LOCK_INTENT) ? ORIEL_ERR_PEER : lock_keep_order(link);
}

static int release_exclusive(struct link *link, struct lock *lock)
{
	int rc = send_repaired(link, lock);

	if (rc == 0)
		rc = say_leaving(link, lock);
	if (rc == 0)
		rc = send_serving(link, lock);
	return rc == 0 ? lock_keep_order(link) : rc;
}

static int release_by_requests(struct link *link, struct lock *lock)
{
	int rc = lock->exclusive ? release_exclusive(link, lock) : 0;

	if (rc == 0)
		rc = lock_write_state(link, lock, LOCK_ABSENT);
	lock->phase = PHASE_IDLE;
	link->marks |= LINK_TOUCHED; /* unlock waits for the release */
	return rc;
}

int lock_release(struct oriel_win *win, struct link *link)
{
	struct lock *lock = lock_of(win, link);

	if (!lock->header)
		return release_by_requests(link, lock);
	lock_release_mapped(lock);
	return 0;
}

void lock_release_lost(struct oriel_win *win, struct link *link)
{
	const unsigned none = LINK_NOCHECK | LINK_FLAGGED; /* nothing to release */

	if (lock_is_mapped(win, link) && (link->marks & (LINK_GRANTED | none)) == LINK_GRANTED)
		lock_release(win, link);
}
