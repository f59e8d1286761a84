// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_words.c - taking and giving back the lock of one member
 *
 * DESIGN NOTES
 *
 * The words lie at the target (layout.h): `serving`, the ticket whose turn it is; `next`, the
 * ticket to be drawn; and for each neighbour a member word {state, ticket} that it alone writes.
 * The target calls nothing.
 *
 *   shared     WRITE state = ASK; READ the header. next == serving: held. Otherwise the writer s = serving
 *              is in, or drains: WRITE ticket = s, state = WAIT, and read serving until it is past s.
 *   exclusive  WRITE state = INTENT; fetch-and-add next: my ticket t; READ header and members. Held once
 *              serving == t and every other member is ABSENT, GONE, INTENT, TICKET, or WAITs for t. If that is
 *              not so at once: WRITE ticket = t, state = TICKET, and read again and again.
 *   release    shared: WRITE state = ABSENT. exclusive: WRITE serving = t + 1, then state = ABSENT.
 *
 * Why it excludes: tickets are unique and serving goes up by one, by the hand of its owner, so
 * writers are apart. A reader places ASK before it reads next, a writer changes next before it
 * reads the members: one of them sees the other. A reader that sees the writer s waits for s only,
 * and the writer s + 1 counts it as a holder. Over work requests the order is that of one queue
 * pair, WRITE before READ and fetch-and-add before READ; where the words are mapped it is that of a
 * full fence between the store and the loads, also for a rank's own window.
 * tests/models/lock_model.py tries all orders.
 *
 * Ranks with several locks of a window (lock_all) could wait in a circle: A holds the lock of A and
 * waits at B behind a writer that waits for B to leave, while B waits at A in the same way. So a
 * reader that has other locks says so beside its WAIT (LOCK_PRESSED), and a writer that has waited
 * for holders for LOCK_DRAIN_NS while such a reader waits for it gives its turn away, as if it had
 * held the lock, and draws another ticket; it then waits for twice as long, so that holds that are
 * merely long keep it out for a while only.
 *
 * What a reading may be wrong in. serving has its complement. A `next` whose bytes are of different
 * times can be too low only where a carry came between, and then its lowest byte is small: such a
 * value (LOCK_LOW_TICKETS) counts when a second reading says the same. Of a state only the lowest
 * byte counts. The table of members can grow: each segment that is read says whether there is
 * another, and a member has written its word only after its segment was linked. The count of
 * orphans can be older than the members: those who died as readers leave GONE, and when there is
 * one more the header is read again.
 *
 * A device may place a word twice (places_twice). If the one who was served has passed the lock on
 * in between, serving goes back for ever. So there the next one waits, before it is in, and the
 * target before it passes a dead rank's ticket on, until who was in before has placed ABSENT behind
 * it. That is a rank at TICKET with an earlier ticket; one that holds the lock at INTENT says that
 * it leaves (LOCK_LEAVES) before it places serving. A dead rank's word that has been examined says
 * it no more, and nothing comes any more.
 *
 * Who waits reads at intervals: the next after half of what the holders before it are going to
 * take, going by what one took lately, and by how long the one that is in has taken; the first in
 * the queue without pause. So each reads a few times, however many wait. It must not be all of that
 * time: then the lock would be passed on when somebody looks, and the pace of looking be taken for
 * that of the holds.
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
#define PAUSE_MAX_NS (2 * NS_PER_MS) /* between two readings */
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

/* Judging a reading. */

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
 * When to read next, with so many halves of a hold before this rank's turn. A hold that takes
 * longer than the last ones is taken for one that has its half behind it.
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

/* Tests of another member's word against our ticket, which is served. */
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

/* A reader that has other locks waits for our ticket. */
static bool is_pressed(const struct lock *lock, uint64_t state, uint64_t ticket)
{
	return (state & LOCK_PRESSED) && ticket == lock->ticket;
}

/* Whether the test holds for any other member; and how many have gone, of those before it. */
static bool any_other(const struct lock *lock, member_test *test, uint32_t *gone)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < lock->part_count; i++) {
		const struct lock_member *members = lock_part_members(lock, i);

		for (uint32_t k = 0; k < lock_segment_members(i); k++, place++) {
			uint64_t state =
				flag_load(&members[k].state); /* pairs with lock_store_state; the ticket was placed before it */

			if ((state & 0xff) && place != lock->place && test(lock, state, flag_load(&members[k].ticket)))
				return true;
			*gone += (state & 0xff) == LOCK_GONE;
		}
	}
	return false;
}

/*
 * Whether all others are out: 1, 0, or ORIEL_ERR_MEMORY. Those that have died holding it were
 * counted before their words went, but the header is read before the members: it is read again.
 */
static int others_are_out(struct link *link, struct lock *lock)
{
	int more = lock_find_part(link, lock);
	uint32_t gone = 0;

	if (more)
		return more < 0 ? more : 0; /* one segment more to be read */
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

/* Steps. Each gives 1: held, 0: not yet, or an error. */

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

/* Read again; by loads that is done at once, so at another step. */
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

/* The next one's turn. */
static int send_serving(struct link *link, struct lock *lock)
{
	uint64_t words[2] = { lock->ticket + 1, ~(lock->ticket + 1) };

	if (!lock->header)
		return lock_write_there(link, words, sizeof(words), lock->control);
	lock_pass_on(lock);
	return 0;
}

static int draw(struct link *link, struct lock *lock);

/*
 * As if the lock had been held: whoever waits for our ticket comes in, and we go to the end of the
 * queue.
 */
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

/* Our ticket is served, and holders are still in. */
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

/* The turn has come, or not; and the others are out. A reading of all is here. */
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
		note_serving(lock, now_ns()); /* a look that was too late is no sign of long holds */
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

/* By a request to whoever draws tickets. */
static int draw_there(struct lock *lock, struct peer *by, uint32_t rkey)
{
	struct remote next = { lock->control.addr + offsetof(struct lock_header, next), rkey };

	return wire_fetch_and_add(&by->wire, 1, next, &lock->fetched, &lock->number) ? ORIEL_ERR_PEER : 0;
}

static int read_drawn(struct link *link, struct lock *lock)
{
	lock->phase = PHASE_DRAWN;
	return lock_start_reading(link, lock, true) ? ORIEL_ERR_PEER : drawn_step(link, lock);
}

/* By the connection that has the words anyway: fetch-and-add and reading leave in one list. */
static int draw_at_once(struct link *link, struct lock *lock)
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

/*
 * By another connection: what this one has posted must be in place before, and the ticket here
 * before the reading.
 */
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
	return lock->card && lock->card != link->peer ? draw_by_card(link, lock) : draw_at_once(link, lock);
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

/* Whether tickets can be drawn at once. */
static bool can_draw(const struct link *link, const struct lock *lock)
{
	if (lock->flags & DIR_NEXT_BY_DEVICE)
		return lock->card;
	return lock->header || link->peer->device->atomics_told != ATOMICS_NONE;
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

/* The chain of segments up to our word. */
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

int lock_step(struct oriel_win *win, struct link *link)
{
	struct lock *lock = lock_of(win, link);
	int rc = 0;

	if (!lock)
		rc = make_message(win, link, &lock);
	if (rc)
		return rc;
	lock->given_up_ns = 0; /* this call goes on with it */
	lock_note_pressed(win, lock);
	rc = lock_phase_step(win, link, lock);
	if (rc > 0 && (link->marks & LINK_EXCLUSIVE) && !lock->exclusive) {
		lock_release(win, link); /* it was asked for shared, by a call that timed out */
		rc = !lock->header && lock_keep_order(link) ? ORIEL_ERR_PEER : lock_phase_step(win, link, lock);
	}
	lock->error = rc < 0 && lock->phase == PHASE_CARD ? rc : 0;
	if (lock->error)
		lock->phase = PHASE_IDLE; /* nothing has been written there */
	if (rc > 0)
		link->marks |= LINK_GRANTED;
	return rc;
}

int lock_error(const struct oriel_win *win, const struct link *link)
{
	const struct lock *lock = lock_of(win, link);

	return lock && (link->marks & LINK_LOCK) ? lock->error : 0;
}

/* Giving back. */

/* As lock_store_repaired. */
static int send_repaired(struct link *link, struct lock *lock)
{
	struct remote to = { lock->control.addr + offsetof(struct lock_header, repaired), lock->control.rkey };
	int rc;

	if (lock->orphaned == lock->image.header.repaired)
		return 0;
	rc = lock_write_there(link, &lock->orphaned, sizeof(lock->orphaned), to);
	return rc ? rc : lock_keep_order(link);
}

/* Before serving is placed, which may come twice. */
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
	link->marks |= LINK_TOUCHED; /* the release is to be waited for */
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
	const unsigned none = LINK_NOCHECK | LINK_FLAGGED; /* nothing to give back, or given back */

	if (lock_is_mapped(win, link) && (link->marks & (LINK_GRANTED | none)) == LINK_GRANTED)
		lock_release(win, link);
}
