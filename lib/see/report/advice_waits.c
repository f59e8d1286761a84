// SPDX-License-Identifier: BSD-2-Clause
/*
 * See advice.h. Rules on what ranks wait for:
 *
 *   late_rank       one rank is late for most of the waits with a window
 *   fence_partners  late ranks change, and ranks that exchange nothing with them wait in fences
 *   lock_held       one rank holds a window's locks for most of the time that others wait for them
 *   oversubscribed  ranks share processors, and notice late what they waited for
 *   progress        targets apply operations late, since they are outside of Oriel
 *   room            operations come faster than their targets apply them
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "see/report/advice.h"
#include "see/report/program.h"

#define OVERSUBSCRIBED_PERCENT 10
#define OTHERS_PERCENT 110 /* a rank computes for longer than the others from here on */

struct judging {
	struct advice_list *advice;
	struct losses *losses;
	const struct profile *profile;
	int window;
	uint64_t *by_culprit; /* ns, by rank */
	uint64_t *partners;   /* targets, by rank */
	int culprit;
	double percent; /* of the waits, for it */
};

static bool is_late(enum wait_cause cause)
{
	return cause == WAIT_LATE_POST || cause == WAIT_LATE_COMPLETE || cause == WAIT_LATE_FENCE ||
	       cause == WAIT_LATE_COLLECTIVE || cause == WAIT_SIGNAL;
}

static bool is_lock(enum wait_cause cause)
{
	return cause == WAIT_LOCK;
}

static const struct profile_site *site_of(const struct judging *judging, const struct profile_wait *wait)
{
	return &judging->profile->sites[wait->site];
}

static bool is_of(const struct judging *judging, const struct profile_wait *wait, bool (*is_meant)(enum wait_cause))
{
	return is_meant(wait->cause) && site_of(judging, wait)->window == judging->window;
}

/* ---- one rank that most waits are for ---- */

static void blame(struct judging *judging, int rank, uint64_t ns)
{
	if (rank >= 0 && rank < judging->profile->size)
		judging->by_culprit[rank] += ns;
}

/* Blames the ranks at which the wait began. */
static void blame_for(struct judging *judging, const struct profile_wait *wait)
{
	if (!wait->roots[0].ns)
		blame(judging, wait->culprit, wait->ns);
	for (int i = 0; i < PART_ROOTS && wait->roots[i].ns; i++)
		blame(judging, wait->roots[i].rank, wait->roots[i].ns);
}

/* Finds the culprit of most of the time. Returns whether it stands out. */
static bool find_culprit(struct judging *judging, bool (*is_meant)(enum wait_cause))
{
	const struct profile *profile = judging->profile;
	uint64_t all_ns = 0;
	int most = 0;

	memset(judging->by_culprit, 0, (size_t)profile->size * sizeof(*judging->by_culprit));
	for (uint32_t i = 0; i < profile->wait_count; i++) {
		if (!is_of(judging, &profile->waits[i], is_meant))
			continue;
		all_ns += profile->waits[i].ns;
		blame_for(judging, &profile->waits[i]);
	}
	for (int rank = 1; rank < profile->size; rank++) {
		if (judging->by_culprit[rank] > judging->by_culprit[most])
			most = rank;
	}
	judging->culprit = most;
	judging->percent = all_ns ? 100.0 * (double)judging->by_culprit[most] / (double)all_ns : 0;
	return judging->percent >= advice_stands_out(profile->size);
}

/* Returns how much of a wait began at the rank. */
static uint64_t share_of(const struct profile_wait *wait, int rank)
{
	uint64_t ns = 0;

	if (!wait->roots[0].ns)
		return wait->culprit == rank ? wait->ns : 0;
	for (int i = 0; i < PART_ROOTS && wait->roots[i].ns; i++)
		ns += wait->roots[i].rank == rank ? wait->roots[i].ns : 0;
	return ns;
}

/*
 * Adds up what ranks lose by the culprit. Returns how much of that they waited for other ranks,
 * which waited for it themselves.
 */
static uint64_t add_losses(struct judging *judging, bool (*is_meant)(enum wait_cause),
                           const struct profile_wait **longest)
{
	uint64_t through_others = 0, most = 0;

	losses_begin(judging->losses);
	for (uint32_t i = 0; i < judging->profile->wait_count; i++) {
		const struct profile_wait *wait = &judging->profile->waits[i];
		uint64_t ns = is_of(judging, wait, is_meant) ? share_of(wait, judging->culprit) : 0;

		if (!ns)
			continue;
		losses_add(judging->losses, site_of(judging, wait)->rank, wait->site, ns, ns >= wait->ns / 2 ? wait->count : 0);
		through_others += wait->culprit == judging->culprit ? 0 : ns;
		if (ns > most) {
			most = ns;
			*longest = wait;
		}
	}
	return through_others;
}

/* Returns the rank's calls of that name with the window, the most frequent, or NULL. */
static const struct profile_site *find_calls(const struct judging *judging, const char *name)
{
	const struct profile_site *found = NULL;

	for (uint32_t i = 0; i < judging->profile->site_count; i++) {
		const struct profile_site *site = &judging->profile->sites[i];

		if (site->rank == judging->culprit && site->window == judging->window && call_is(site->call, name) &&
		    (!found || site->count > found->count))
			found = site;
	}
	return found;
}

/* ---- a rank that is late ---- */

/* Returns the calls by which the rank is late for a wait, or NULL. */
static const struct profile_site *find_late_calls(const struct judging *judging, const struct profile_wait *wait)
{
	const char *call = site_of(judging, wait)->call, *base = strchr(call, '_');

	switch (wait->cause) {
	case WAIT_LATE_POST:
		return find_calls(judging, "win_post");
	case WAIT_LATE_COMPLETE:
		return find_calls(judging, "win_complete");
	case WAIT_LATE_FENCE:
		return find_calls(judging, "win_fence");
	case WAIT_SIGNAL:
		return find_calls(judging, "signal");
	default:
		return base ? find_calls(judging, base + 1) : NULL;
	}
}

static uint64_t outside_of(const struct profile_rank *rank)
{
	return rank->all_ns > rank->in_calls_ns ? rank->all_ns - rank->in_calls_ns : 0;
}

/* Returns the time that the other ranks are outside of Oriel, each. */
static uint64_t outside_of_others(const struct judging *judging)
{
	uint64_t ns = 0, count = 0;

	for (int rank = 0; rank < judging->profile->size; rank++) {
		const struct profile_rank *other = &judging->profile->ranks[rank];

		if (rank == judging->culprit || !other->all_ns)
			continue;
		ns += outside_of(other);
		count++;
	}
	return count ? ns / count : 0;
}

static void write_what_to_do(const struct judging *judging, char *text, size_t bytes)
{
	uint64_t own = outside_of(&judging->profile->ranks[judging->culprit]), others = outside_of_others(judging);

	if (own > others / 100 * OTHERS_PERCENT)
		snprintf(text, bytes,
		         "it spends %.3f s outside of Oriel, the others %.3f s: less work for it, or a faster processor",
		         advice_seconds(own), advice_seconds(others));
	else
		snprintf(text, bytes, "it spends no more time outside of Oriel than the others: an earlier call");
}

static void say_late_rank(struct judging *judging, const struct profile_wait *wait, uint64_t through_others)
{
	const struct losses *losses = judging->losses;
	const struct profile_site *late = find_late_calls(judging, wait);
	struct advice *advice = advice_add(judging->advice, "late_rank", losses);
	char call[CALL_BYTES], most[CALL_BYTES + 16] = "", at[CALL_BYTES] = "", window[WINDOW_BYTES], what[160],
											 chain[80] = "";

	if (!advice)
		return;
	if (late)
		advice_call(late, at);
	if (strcmp(advice_call(site_of(judging, wait), call), at) != 0)
		snprintf(most, sizeof(most), ", most in %s", call);
	if (through_others * 10 > losses->all_ns)
		snprintf(chain, sizeof(chain), ", %.0f %% of that through ranks that wait for it themselves",
		         100.0 * (double)through_others / (double)losses->all_ns);
	write_what_to_do(judging, what, sizeof(what));
	advice->rank = judging->culprit;
	snprintf(advice->text, sizeof(advice->text),
	         "rank %d is late%s%s%s: others wait %.3f s for it, %" PRIu64
	         " times, %.0f %% of such waits%s%s; %s saves up to %.3f s of %.2f",
	         judging->culprit, late ? " for " : "", at, advice_window(judging->profile, judging->window, window),
	         advice_seconds(losses->all_ns), losses->count, judging->percent, most, chain, what,
	         advice_seconds(losses->most_ns), judging->profile->seconds);
}

/* Returns whether the culprit is late since it notices late what it has waited for itself. */
static bool notices_late(const struct judging *judging)
{
	uint64_t handover = 0;

	for (uint32_t i = 0; i < judging->profile->wait_count; i++) {
		const struct profile_wait *wait = &judging->profile->waits[i];

		if (wait->cause == WAIT_HANDOVER && site_of(judging, wait)->rank == judging->culprit)
			handover += wait->ns;
	}
	return handover > judging->losses->all_ns / 2 &&
	       outside_of(&judging->profile->ranks[judging->culprit]) <= outside_of_others(judging);
}

static void judge_late_rank(struct judging *judging)
{
	const struct profile_wait *longest = NULL;
	uint64_t through_others = add_losses(judging, is_late, &longest);

	if (longest && losses_matter(judging->losses, 2) && !notices_late(judging))
		say_late_rank(judging, longest, through_others);
}

/* ---- fences of ranks that exchange nothing ---- */

static void find_partners(struct judging *judging)
{
	memset(judging->partners, 0, (size_t)judging->profile->size * sizeof(*judging->partners));
	for (uint32_t i = 0; i < judging->profile->site_count; i++) {
		const struct profile_site *site = &judging->profile->sites[i];

		if (site->window == judging->window && site->rank >= 0 && site->rank < judging->profile->size)
			judging->partners[site->rank] |= site->targets;
	}
}

/* Ranks beyond 64 share bits: two ranks may seem to be partners that are none. */
static bool are_partners(const struct judging *judging, int a, int b)
{
	return (judging->partners[a] >> b % 64 & 1) || (judging->partners[b] >> a % 64 & 1);
}

/* Returns the most targets that a rank has, and in *sets how many ranks have any. */
static int most_partners(const struct judging *judging, int *ranks)
{
	int most = 0;

	*ranks = 0;
	for (int rank = 0; rank < judging->profile->size; rank++) {
		int count = __builtin_popcountll(judging->partners[rank]);

		*ranks += count > 0;
		most = count > most ? count : most;
	}
	return most;
}

static void add_waits_for_strangers(struct judging *judging)
{
	losses_begin(judging->losses);
	for (uint32_t i = 0; i < judging->profile->wait_count; i++) {
		const struct profile_wait *wait = &judging->profile->waits[i];
		int rank = site_of(judging, wait)->rank, other = wait->culprit;

		if (wait->cause == WAIT_LATE_FENCE && site_of(judging, wait)->window == judging->window && rank >= 0 &&
		    other >= 0 && rank < judging->profile->size && other < judging->profile->size &&
		    !are_partners(judging, rank, other))
			losses_add(judging->losses, rank, wait->site, wait->ns, wait->count);
	}
}

/* Members of a shared window may exchange data without a call. */
static void judge_fences(struct judging *judging)
{
	const struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES];
	struct advice *advice;
	int most, ranks;

	if (judging->window < 0 || strcmp(judging->profile->windows[judging->window].kind, "shared") == 0)
		return;
	find_partners(judging);
	most = most_partners(judging, &ranks);
	if (most == 0 || 2 * most >= ranks)
		return;
	add_waits_for_strangers(judging);
	advice = losses_matter(losses, 2) ? advice_add(judging->advice, "fence_partners", losses) : NULL;
	if (!advice)
		return;
	snprintf(
		advice->text, sizeof(advice->text),
		"%s%s waits %.3f s, %" PRIu64
		" times, for ranks with which the waiting rank exchanges nothing, rank %d most; no rank has more than %d target%s: "
		"post, start, complete and wait, which synchronize partners alone, save up to %.3f s of %.2f",
		advice_call(&judging->profile->sites[losses->site], call),
		advice_window(judging->profile, judging->window, window), advice_seconds(losses->all_ns), losses->count,
		losses->rank, most, most == 1 ? "" : "s", advice_seconds(losses->most_ns), judging->profile->seconds);
}

/* ---- locks ---- */

static void judge_locks(struct judging *judging)
{
	const struct profile_wait *longest = NULL;
	const struct losses *losses = judging->losses;
	const struct profile_site *unlock = find_calls(judging, "win_unlock");
	char call[CALL_BYTES], at[CALL_BYTES] = "", window[WINDOW_BYTES];
	struct advice *advice;

	add_losses(judging, is_lock, &longest);
	if (!longest || !losses_matter(losses, 2))
		return;
	advice = advice_add(judging->advice, "lock_held", losses);
	if (!advice)
		return;
	if (unlock)
		advice_call(unlock, at);
	advice->rank = judging->culprit;
	snprintf(
		advice->text, sizeof(advice->text),
		"rank %d holds a lock%s while others wait %.3f s for it, %" PRIu64
		" times, %.0f %% of such waits, most in %s%s%s; only what needs the lock between lock and unlock saves up to %.3f s of "
		"%.2f",
		judging->culprit, advice_window(judging->profile, judging->window, window), advice_seconds(losses->all_ns),
		losses->count, judging->percent, advice_call(site_of(judging, longest), call), unlock ? ", until " : "", at,
		advice_seconds(losses->most_ns), judging->profile->seconds);
}

/* ---- targets that apply operations ---- */

static bool is_progress(enum wait_cause cause)
{
	return cause == WAIT_PROGRESS;
}

static bool is_room(enum wait_cause cause)
{
	return cause == WAIT_ROOM;
}

/* Adds up what ranks lose by a cause. Returns whether a rule is to speak. The culprit has most. */
static bool add_all_losses(struct judging *judging, bool (*is_meant)(enum wait_cause))
{
	losses_begin(judging->losses);
	for (uint32_t i = 0; i < judging->profile->wait_count; i++) {
		const struct profile_wait *wait = &judging->profile->waits[i];

		if (is_of(judging, wait, is_meant))
			losses_add(judging->losses, site_of(judging, wait)->rank, wait->site, wait->ns, wait->count);
	}
	find_culprit(judging, is_meant);
	return losses_matter(judging->losses, 2) && judging->by_culprit[judging->culprit] > 0;
}

static void judge_progress(struct judging *judging)
{
	const struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES];
	struct advice *advice = NULL;

	if (add_all_losses(judging, is_progress))
		advice = advice_add(judging->advice, "progress", losses);
	if (!advice)
		return;
	advice->rank = judging->culprit;
	snprintf(advice->text, sizeof(advice->text),
	         "rank %d is outside of Oriel while others wait for it to apply operations%s: %.3f s, %" PRIu64
	         " times, %.0f %% of it for this rank, most in %s; a call of Oriel now and then, as oriel_progress, or a "
	         "processor for its service thread saves up to %.3f s of %.2f",
	         judging->culprit, advice_window(judging->profile, judging->window, window), advice_seconds(losses->all_ns),
	         losses->count, judging->percent, advice_call(&judging->profile->sites[losses->site], call),
	         advice_seconds(losses->most_ns), judging->profile->seconds);
}

static void judge_room(struct judging *judging)
{
	const struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES];
	struct advice *advice = NULL;

	if (add_all_losses(judging, is_room))
		advice = advice_add(judging->advice, "room", losses);
	if (!advice)
		return;
	advice->rank = judging->culprit;
	snprintf(advice->text, sizeof(advice->text),
	         "%s%s waits %.3f s, %" PRIu64
	         " times, until a target has applied operations and has room for more, %.0f %% of it for rank %d; larger "
	         "operations, fewer of them, or calls of Oriel by that rank in between save up to %.3f s of %.2f",
	         advice_call(&judging->profile->sites[losses->site], call),
	         advice_window(judging->profile, judging->window, window), advice_seconds(losses->all_ns), losses->count,
	         judging->percent, judging->culprit, advice_seconds(losses->most_ns), judging->profile->seconds);
}

/* ---- processors ---- */

static void judge_oversubscription(struct judging *judging)
{
	const struct profile *profile = judging->profile;
	const struct losses *losses = judging->losses;
	struct advice *advice;
	char call[CALL_BYTES];

	losses_begin(judging->losses);
	for (uint32_t i = 0; i < profile->wait_count; i++) {
		const struct profile_wait *wait = &profile->waits[i];

		if (wait->cause == WAIT_HANDOVER && site_of(judging, wait)->window >= 0)
			losses_add(judging->losses, site_of(judging, wait)->rank, wait->site, wait->ns, wait->count);
	}
	if (profile->busiest_ranks <= profile->busiest_processors || !losses_matter(losses, OVERSUBSCRIBED_PERCENT))
		return;
	advice = advice_add(judging->advice, "oversubscribed", losses);
	if (advice)
		snprintf(
			advice->text, sizeof(advice->text),
			"%d ranks share %d processor%s: what a rank waits for is there %.3f s before the rank goes on, %" PRIu64
			" times, rank %d most, most in %s; a processor for each rank saves up to %.3f s of %.2f",
			profile->busiest_ranks, profile->busiest_processors, profile->busiest_processors == 1 ? "" : "s",
			advice_seconds(losses->all_ns), losses->count, losses->rank,
			advice_call(&profile->sites[losses->site], call), advice_seconds(losses->most_ns), profile->seconds);
}

void advise_on_waits(struct advice_list *advice, struct losses *losses)
{
	const struct profile *profile = losses->profile;
	uint64_t *lists = calloc(2 * (size_t)profile->size, sizeof(*lists));
	struct judging judging = { .advice = advice, .losses = losses, .profile = profile, .by_culprit = lists };

	if (!lists)
		program_fail("out of memory");
	judging.partners = lists + profile->size;
	for (judging.window = -1; judging.window < (int)profile->window_count; judging.window++) {
		if (find_culprit(&judging, is_late))
			judge_late_rank(&judging);
		else
			judge_fences(&judging);
		if (find_culprit(&judging, is_lock))
			judge_locks(&judging);
		judge_progress(&judging);
		judge_room(&judging);
	}
	judge_oversubscription(&judging);
	free(lists);
}
