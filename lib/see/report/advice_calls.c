// SPDX-License-Identifier: BSD-2-Clause
/*
 * See advice.h. Rules on the calls that ranks make:
 *
 *   flush_each       a flush for each put
 *   lock_each        a lock for each operation, which no rank waits for
 *   lock_element     a lock around a get and a put of one element
 *   operations_in_row  small operations, each of which goes on where the last one ended
 *   windows_in_loop  windows made again and again
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "see/report/advice.h"
#include "see/report/program.h"

#define ELEMENT_CLASS 4 /* of sizes: 8 to 15 bytes */
#define ELEMENT_BYTES 8
#define SMALL_BYTES 1024

/* The calls of a rank with a window. */
struct usage {
	uint64_t count[KIND_OTHER + 1];
	uint64_t ns[KIND_OTHER + 1];
	uint64_t waits_ns[KIND_OTHER + 1];
	uint64_t bytes;                /* of operations */
	bool is_large;                 /* one of them has more than an element */
	uint32_t site[KIND_OTHER + 1]; /* with most of the time */
};

struct judging {
	struct advice_list *advice;
	struct losses *losses;
	const struct profile *profile;
	int window;
	struct usage *usage; /* by rank */
	uint64_t *late_ns;   /* by site */
};

/* Returns whether counts are about equal. */
static bool is_about(uint64_t a, uint64_t b)
{
	return a * 10 >= b * 9 && a * 9 <= b * 10;
}

static uint64_t operations_of(const struct usage *usage)
{
	return usage->count[KIND_PUT] + usage->count[KIND_GET] + usage->count[KIND_ACCUMULATE] + usage->count[KIND_FETCH];
}

static bool is_operation(enum call_kind kind)
{
	return kind <= KIND_FETCH;
}

static void add_usage(struct judging *judging, uint32_t index)
{
	const struct profile_site *site = &judging->profile->sites[index];
	struct usage *usage = &judging->usage[site->rank];
	enum call_kind kind = call_kind(site->call);

	if (usage->count[kind] == 0 || site->ns > judging->profile->sites[usage->site[kind]].ns)
		usage->site[kind] = index;
	usage->count[kind] += site->count;
	usage->ns[kind] += site->ns;
	usage->waits_ns[kind] += site->waits_ns;
	if (!is_operation(kind))
		return;
	usage->bytes += site->bytes;
	for (int i = ELEMENT_CLASS + 1; i < PART_SIZES; i++)
		usage->is_large |= site->sizes[i] > 0;
}

static void find_usage(struct judging *judging)
{
	memset(judging->usage, 0, (size_t)judging->profile->size * sizeof(*judging->usage));
	for (uint32_t i = 0; i < judging->profile->site_count; i++) {
		const struct profile_site *site = &judging->profile->sites[i];

		if (site->window == judging->window && site->rank >= 0 && site->rank < judging->profile->size)
			add_usage(judging, i);
	}
}

/* Returns the call that a rule is about, of the rank that loses most. */
static const struct profile_site *site_of(const struct judging *judging, enum call_kind kind)
{
	return &judging->profile->sites[judging->usage[judging->losses->rank].site[kind]];
}

static uint64_t lock_ns(const struct usage *usage)
{
	return usage->ns[KIND_LOCK] + usage->ns[KIND_UNLOCK];
}

/* Adds up what ranks lose by their calls of a kind; for a lock, its unlock counts, too. */
static void add_losses(struct judging *judging, bool (*loses)(const struct usage *usage), enum call_kind kind)
{
	losses_begin(judging->losses);
	for (int rank = 0; rank < judging->profile->size; rank++) {
		const struct usage *usage = &judging->usage[rank];
		uint64_t ns = kind == KIND_LOCK ? lock_ns(usage) : usage->ns[kind];

		if (loses(usage))
			losses_add(judging->losses, rank, usage->site[kind], ns, usage->count[kind]);
	}
}

/* ---- a flush for each put ---- */

/* A program wants at once what a get or a fetch brings: its flush is needed. */
static bool flushes_each(const struct usage *usage)
{
	uint64_t sent = usage->count[KIND_PUT] + usage->count[KIND_ACCUMULATE], all = operations_of(usage);

	return usage->count[KIND_FLUSH] > 0 && sent * 10 >= all * 9 && all > 0 && all * 9 <= usage->count[KIND_FLUSH] * 10;
}

static void judge_flushes(struct judging *judging)
{
	struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES];
	struct advice *advice;

	add_losses(judging, flushes_each, KIND_FLUSH);
	advice = losses_matter(losses, 2) ? advice_add(judging->advice, "flush_each", losses) : NULL;
	if (!advice)
		return;
	snprintf(advice->text, sizeof(advice->text),
	         "%s%s follows each operation: %" PRIu64
	         " calls, %.3f s, rank %d most; one flush behind many operations, where none "
	         "depends on another, saves up to %.3f s of %.2f",
	         advice_call(site_of(judging, KIND_FLUSH), call), advice_window(judging->profile, judging->window, window),
	         losses->count, advice_seconds(losses->all_ns), losses->rank, advice_seconds(losses->most_ns),
	         judging->profile->seconds);
}

/* ---- a lock for each operation ---- */

/*
 * Ranks that wait for the lock need it. An exclusive one may protect what operations of two kinds
 * do.
 */
static bool locks_each(const struct usage *usage)
{
	uint64_t all = operations_of(usage);
	bool one_kind = usage->count[KIND_PUT] == all || usage->count[KIND_GET] == all ||
	                usage->count[KIND_ACCUMULATE] == all || usage->count[KIND_FETCH] == all;

	return all > 0 && one_kind && is_about(all, usage->count[KIND_LOCK]) &&
	       usage->waits_ns[KIND_LOCK] * 2 < lock_ns(usage);
}

static void judge_locks(struct judging *judging)
{
	struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES], all[CALL_NAME_BYTES];
	const struct profile_site *site;
	struct advice *advice;

	add_losses(judging, locks_each, KIND_LOCK);
	advice = losses_matter(losses, 2) ? advice_add(judging->advice, "lock_each", losses) : NULL;
	if (!advice)
		return;
	site = site_of(judging, KIND_LOCK);
	snprintf(
		advice->text, sizeof(advice->text),
		"%s%s is for one operation each time: %" PRIu64
		" locks, %.3f s, rank %d most; where ranks do not change the same bytes, %s once and flushes save up to %.3f s of %.2f",
		advice_call(site, call), advice_window(judging->profile, judging->window, window), losses->count,
		advice_seconds(losses->all_ns), losses->rank, call_of_same(site->call, "win_lock_all", all),
		advice_seconds(losses->most_ns), judging->profile->seconds);
}

/* ---- a lock around an element ---- */

static bool locks_element(const struct usage *usage)
{
	uint64_t locks = usage->count[KIND_LOCK];

	return locks > 0 && !usage->is_large && usage->bytes <= ELEMENT_BYTES * operations_of(usage) &&
	       is_about(usage->count[KIND_GET], locks) && is_about(usage->count[KIND_PUT], locks) &&
	       usage->count[KIND_ACCUMULATE] + usage->count[KIND_FETCH] == 0;
}

static void judge_elements(struct judging *judging)
{
	struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES], fetch[CALL_NAME_BYTES], swap[CALL_NAME_BYTES];
	const struct profile_site *site;
	struct advice *advice;

	add_losses(judging, locks_element, KIND_LOCK);
	advice = losses_matter(losses, 2) ? advice_add(judging->advice, "lock_element", losses) : NULL;
	if (!advice)
		return;
	site = site_of(judging, KIND_LOCK);
	snprintf(advice->text, sizeof(advice->text),
	         "%s%s is for a get and a put of at most %d bytes: %" PRIu64
	         " locks, %.3f s, rank %d most; %s or %s without a lock saves up to %.3f s of %.2f",
	         advice_call(site, call), advice_window(judging->profile, judging->window, window), ELEMENT_BYTES,
	         losses->count, advice_seconds(losses->all_ns), losses->rank,
	         call_of_same(site->call, "fetch_and_op", fetch), call_of_same(site->call, "compare_and_swap", swap),
	         advice_seconds(losses->most_ns), judging->profile->seconds);
}

/* ---- the same place, on all ranks ---- */

static bool is_same_place(const struct profile_site *a, const struct profile_site *b)
{
	return a->offset == b->offset && strcmp(a->object, b->object) == 0 && strcmp(a->call, b->call) == 0;
}

typedef bool site_relation(const struct profile_site *a, const struct profile_site *b);

static bool is_first(const struct profile *profile, uint32_t index, site_relation *is_same)
{
	uint32_t i = 0;

	while (i < index && !is_same(&profile->sites[i], &profile->sites[index]))
		i++;
	return i == index;
}

/* ---- small operations in a row ---- */

static bool is_in_row(const struct profile_site *site)
{
	enum call_kind kind = call_kind(site->call);

	return (kind == KIND_PUT || kind == KIND_GET || kind == KIND_ACCUMULATE) && site->count > 0 && site->bytes > 0 &&
	       site->bytes <= SMALL_BYTES * site->count && site->followed * 2 >= site->count &&
	       site->followed < site->count;
}

static bool is_same_row(const struct profile_site *a, const struct profile_site *b)
{
	return a->window == b->window && is_same_place(a, b) && is_in_row(a) && is_in_row(b);
}

static void judge_rows(struct judging *judging, uint32_t first)
{
	const struct profile *profile = judging->profile;
	const struct profile_site *place = &profile->sites[first];
	uint64_t followed = 0, bytes = 0;
	struct losses *losses = judging->losses;
	char call[CALL_BYTES], window[WINDOW_BYTES];
	struct advice *advice;

	losses_begin(losses);
	for (uint32_t i = first; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		if (!is_same_row(site, place))
			continue;
		losses_add(losses, site->rank, i, (uint64_t)((double)site->ns * (double)site->followed / (double)site->count),
		           site->count);
		followed += site->followed;
		bytes += site->bytes;
	}
	advice = losses_matter(losses, 2) ? advice_add(judging->advice, "operations_in_row", losses) : NULL;
	if (!advice)
		return;
	snprintf(advice->text, sizeof(advice->text),
	         "%s%s goes on where the last call ended %" PRIu64 " times of %" PRIu64 ", with %" PRIu64
	         " bytes each, rank %d most; one call for %" PRIu64 " in a row saves up to %.3f s of %.2f",
	         advice_call(place, call), advice_window(profile, place->window, window), followed, losses->count,
	         bytes / losses->count, losses->rank, losses->count / (losses->count - followed),
	         advice_seconds(losses->most_ns), profile->seconds);
}

/* ---- windows in a loop ---- */

/* Finds how long each site's calls waited for late members of a collective call. */
static void find_late(struct judging *judging)
{
	for (uint32_t i = 0; i < judging->profile->wait_count; i++) {
		const struct profile_wait *wait = &judging->profile->waits[i];

		if (wait->cause == WAIT_LATE_COLLECTIVE)
			judging->late_ns[wait->site] += wait->ns;
	}
}

/* Returns the time of a creation without that in which it waited for late members. */
static uint64_t creation_ns(const struct judging *judging, uint32_t site)
{
	uint64_t ns = judging->profile->sites[site].ns, late = judging->late_ns[site];

	return ns > late ? ns - late : 0;
}

static void judge_creations(struct judging *judging, uint32_t first)
{
	const struct profile *profile = judging->profile;
	const struct profile_site *place = &profile->sites[first];
	struct losses *losses = judging->losses;
	uint64_t of_a_rank = 0;
	struct advice *advice;
	char call[CALL_BYTES];

	losses_begin(losses);
	for (uint32_t i = first; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		if (!is_same_place(site, place))
			continue;
		losses_add(losses, site->rank, i, creation_ns(judging, i), site->count);
		of_a_rank += site->rank == place->rank ? site->count : 0;
	}
	/* These are rarer than other calls. */
	losses->count = of_a_rank * (ADVICE_OCCURRENCES / ADVICE_CREATIONS);
	advice = losses_matter(losses, 2) ? advice_add(judging->advice, "windows_in_loop", losses) : NULL;
	if (!advice)
		return;
	advice->window = -1;
	snprintf(advice->text, sizeof(advice->text),
	         "%s makes %" PRIu64
	         " windows on rank %d, %.3f s on all ranks, rank %d most; one window before the loop saves up to "
	         "%.3f s of %.2f",
	         advice_call(place, call), of_a_rank, place->rank, advice_seconds(losses->all_ns), losses->rank,
	         advice_seconds(losses->most_ns), profile->seconds);
}

/* ---- all of them ---- */

static void judge_places(struct judging *judging)
{
	const struct profile *profile = judging->profile;

	for (uint32_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		if (is_in_row(site) && is_first(profile, i, is_same_row))
			judge_rows(judging, i);
		if (call_kind(site->call) == KIND_CREATE && is_first(profile, i, is_same_place))
			judge_creations(judging, i);
	}
}

void advise_on_calls(struct advice_list *advice, struct losses *losses)
{
	const struct profile *profile = losses->profile;
	struct judging judging = { .advice = advice, .losses = losses, .profile = profile };

	judging.usage = calloc((size_t)profile->size, sizeof(*judging.usage));
	judging.late_ns = calloc((size_t)profile->site_count + 1, sizeof(*judging.late_ns));
	if (!judging.usage || !judging.late_ns)
		program_fail("out of memory");
	for (judging.window = 0; judging.window < (int)profile->window_count; judging.window++) {
		find_usage(&judging);
		judge_flushes(&judging);
		judge_locks(&judging);
		judge_elements(&judging);
	}
	find_late(&judging);
	judge_places(&judging);
	free(judging.late_ns);
	free(judging.usage);
}
