// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_advice.c - lib/see/report/advice*.c: each sentence by a profile that calls for it, and its
 * absence by one just beside that
 */
#include "see/report/advice.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#define RANKS 4
#define MS 1000000ULL
#define SITES 64
#define WAITS 128

static struct profile_rank ranks[RANKS];
static struct profile_window windows[2];
static struct profile_site sites[SITES];
static struct profile_wait waits[WAITS];
static struct profile profile;
static struct advice_list advice;

/* A job of four ranks and a second, with the windows "halo" and 1. */
static void begin(void)
{
	memset(ranks, 0, sizeof(ranks));
	memset(windows, 0, sizeof(windows));
	memset(sites, 0, sizeof(sites));
	memset(waits, 0, sizeof(waits));
	for (int i = 0; i < RANKS; i++)
		ranks[i] = (struct profile_rank){ 1000 * MS, 500 * MS };
	snprintf(windows[0].name, sizeof(windows[0].name), "halo");
	snprintf(windows[0].kind, sizeof(windows[0].kind), "allocated");
	snprintf(windows[1].kind, sizeof(windows[1].kind), "created");
	windows[1].number = 7;
	profile = (struct profile){ .size = RANKS,
		                        .seconds = 1,
		                        .busiest_ranks = RANKS,
		                        .busiest_processors = RANKS,
		                        .ranks = ranks,
		                        .windows = windows,
		                        .window_count = 2,
		                        .sites = sites,
		                        .waits = waits };
}

/* A rank calls so often with window 0, for so long, from a place of its name. */
static struct profile_site *add_site(int rank, const char *call, uint64_t count, uint64_t ms)
{
	struct profile_site *site = &sites[profile.site_count++];

	site->rank = rank;
	snprintf(site->call, sizeof(site->call), "%s", call);
	site->object = "/bin/halo";
	for (const char *c = call; *c; c++)
		site->offset = site->offset * 31 + (unsigned char)*c;
	snprintf(site->place.file, sizeof(site->place.file), "halo.c");
	snprintf(site->place.function, sizeof(site->place.function), "step");
	site->place.line = (int)strlen(call);
	site->count = count;
	site->ns = ms * MS;
	return site;
}

static struct profile_site *add_operation(int rank, const char *call, uint64_t count, uint64_t each, uint64_t ms)
{
	struct profile_site *site = add_site(rank, call, count, ms);
	int class = each ? 64 - __builtin_clzll(each) : 0;

	site->bytes = count * each;
	site->sizes[class] = count;
	return site;
}

static struct profile_wait *add_wait(const struct profile_site *site, enum wait_cause cause, int culprit,
                                     uint64_t count, uint64_t ms)
{
	struct profile_wait *wait = &waits[profile.wait_count++];

	*wait = (struct profile_wait){ .site = (uint32_t)(site - sites),
		                           .cause = cause,
		                           .culprit = culprit,
		                           .count = count,
		                           .ns = ms * MS,
		                           .max_ns = ms * MS };
	sites[wait->site].waits_ns += ms * MS;
	return wait;
}

/* All ranks but one wait so often for it, each for so long. */
static void all_wait(const char *call, enum wait_cause cause, int culprit, uint64_t count, uint64_t ms)
{
	for (int rank = 0; rank < RANKS; rank++) {
		if (rank != culprit)
			add_wait(add_site(rank, call, count, ms), cause, culprit, count, ms);
	}
}

/* Returns the sentence of a rule, or NULL. */
static const struct advice *find(const char *rule)
{
	advise(&advice, &profile);
	for (uint32_t i = 0; i < advice.count; i++) {
		if (strcmp(advice.list[i].rule, rule) == 0)
			return &advice.list[i];
	}
	return NULL;
}

static void has(const char *rule, int rank, uint64_t saves_ms, const char *words)
{
	const struct advice *found = find(rule);

	CU_ASSERT_PTR_NOT_NULL(found);
	if (!found)
		return;
	CU_ASSERT_EQUAL(found->rank, rank);
	CU_ASSERT_EQUAL(found->saves_ns, saves_ms * MS);
	CU_ASSERT_PTR_NOT_NULL(strstr(found->text, words));
	if (!strstr(found->text, words))
		printf("%s\n", found->text);
}

static void has_no(const char *rule)
{
	const struct advice *found = find(rule);

	CU_ASSERT_PTR_NULL(found);
	if (found)
		printf("%s\n", found->text);
}

/* ---- late ranks ---- */

static void late_rank__names_rank_calls_number_and_worth(void)
{
	begin();
	add_site(1, "oriel_win_post", 100, 1);
	all_wait("oriel_win_complete", WAIT_LATE_POST, 1, 40, 100);
	has("late_rank", 1, 100,
	    "rank 1 is late for oriel_win_post (step halo.c:14) of \"halo\": others wait 0.300 s for it, 120 times, 100 % of such waits, "
	    "most in oriel_win_complete (step halo.c:18); ");
	CU_ASSERT_PTR_NOT_NULL(strstr(advice.list[0].text, "saves up to 0.100 s of 1.00"));
	CU_ASSERT_EQUAL(advice.list[0].window, 0);
	CU_ASSERT_EQUAL(sites[advice.list[0].site].rank, 0);
}

static void late_rank__is_silent_below_two_percent(void)
{
	begin();
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 1, 40, 20);
	has("late_rank", 1, 20, "rank 1 is late");
	begin();
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 1, 40, 19);
	has_no("late_rank");
}

static void late_rank__is_silent_below_a_hundred_waits(void)
{
	begin();
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 1, 33, 100);
	has_no("late_rank");
}

static void late_rank__is_silent_when_ranks_are_late_in_turn(void)
{
	begin();
	for (int rank = 0; rank < RANKS; rank++)
		all_wait("MPI_Win_fence", WAIT_LATE_FENCE, rank, 100, 50);
	has_no("late_rank");
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 2, 100, 200);
	has_no("late_rank"); /* 62 % of the waits; 65 stand out among four ranks */
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 2, 100, 50);
	has("late_rank", 2, 300, "67 % of such waits");
}

static void late_rank__is_where_the_lateness_begins(void)
{
	struct profile_wait *wait;

	begin();
	wait = add_wait(add_site(0, "oriel_win_complete", 200, 100), WAIT_LATE_POST, 1, 200, 100);
	wait->roots[0] = (struct part_root){ .rank = 3, .ns = 80 * MS };
	wait->roots[1] = (struct part_root){ .rank = 1, .ns = 20 * MS };
	has("late_rank", 3, 80, ", 100 % of that through ranks that wait for it themselves; ");
	wait->culprit = 3;
	has("late_rank", 3, 80, "(step halo.c:18); ");
}

static void late_rank__tells_more_work_from_a_late_call(void)
{
	begin();
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 1, 100, 100);
	has("late_rank", 1, 100, "it spends no more time outside of Oriel than the others: an earlier call saves");
	ranks[1].in_calls_ns = 300 * MS;
	has("late_rank", 1, 100, "it spends 0.700 s outside of Oriel, the others 0.500 s: less work for it");
}

static void late_rank__judges_windows_by_themselves(void)
{
	begin();
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 1, 100, 50);
	for (uint32_t i = 0; i < profile.site_count; i++)
		sites[i].window = 1;
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 2, 100, 40);
	has("late_rank", 1, 50, "of window 7 (created)");
	CU_ASSERT_EQUAL(advice.count, 2);
	CU_ASSERT_EQUAL(advice.list[1].rank, 2);
}

static void late_rank__does_not_blame_for_other_causes(void)
{
	begin();
	all_wait("MPI_Put", WAIT_SETUP, 1, 100, 100);
	all_wait("MPI_Put", WAIT_ROOM, 1, 100, 100);
	all_wait("MPI_Put", WAIT_DATA, 1, 100, 100);
	has_no("late_rank");
}

static void late_rank__does_not_trust_ranks(void)
{
	begin();
	all_wait("MPI_Win_fence", WAIT_LATE_FENCE, 1 << 30, 100, 100);
	waits[0].roots[0] = (struct part_root){ .rank = -5, .ns = 100 * MS };
	waits[1].roots[0] = (struct part_root){ .rank = RANKS, .ns = 100 * MS };
	sites[2].rank = -1;
	has_no("late_rank");
}

/* ---- targets that apply operations ---- */

static void progress__names_the_target_calls_number_and_worth(void)
{
	begin();
	all_wait("MPI_Win_flush", WAIT_PROGRESS, 2, 40, 100);
	has("progress", 2, 100,
	    "rank 2 is outside of Oriel while others wait for it to apply operations of \"halo\": 0.300 s, 120 times, 100 % of it "
	    "for this rank, most in MPI_Win_flush (step halo.c:13); ");
	CU_ASSERT_PTR_NOT_NULL(strstr(advice.list[0].text, "saves up to 0.100 s of 1.00"));
	CU_ASSERT_EQUAL(advice.list[0].window, 0);
}

static void progress__counts_targets_in_turn(void)
{
	begin();
	for (int rank = 0; rank < RANKS; rank++)
		all_wait("MPI_Win_flush", WAIT_PROGRESS, rank, 10, 10);
	all_wait("MPI_Win_flush", WAIT_PROGRESS, 3, 10, 10);
	has("progress", 3, 40, "40 % of it for this rank");
}

static void progress__is_silent_below_its_bounds(void)
{
	begin();
	all_wait("MPI_Win_flush", WAIT_PROGRESS, 2, 40, 19);
	has_no("progress");
	begin();
	all_wait("MPI_Win_flush", WAIT_PROGRESS, 2, 33, 100);
	has_no("progress");
	begin();
	all_wait("MPI_Win_flush", WAIT_PROGRESS, -1, 40, 100);
	has_no("progress");
}

/* Data under way is no matter of the target. */
static void progress__is_silent_on_data_and_room(void)
{
	begin();
	all_wait("MPI_Win_flush", WAIT_DATA, 2, 100, 100);
	all_wait("MPI_Accumulate", WAIT_ROOM, 2, 100, 100);
	has_no("progress");
}

static void room__names_the_target_calls_number_and_worth(void)
{
	begin();
	all_wait("MPI_Accumulate", WAIT_ROOM, 2, 40, 100);
	has("room", 2, 100,
	    "MPI_Accumulate (step halo.c:14) of \"halo\" waits 0.300 s, 120 times, until a target has applied operations and has "
	    "room for more, 100 % of it for rank 2; ");
	CU_ASSERT_PTR_NOT_NULL(strstr(advice.list[0].text, "save up to 0.100 s of 1.00"));
}

static void room__is_silent_below_its_bounds(void)
{
	begin();
	all_wait("MPI_Accumulate", WAIT_ROOM, 2, 40, 19);
	has_no("room");
	begin();
	all_wait("MPI_Accumulate", WAIT_ROOM, 2, 33, 100);
	has_no("room");
	begin();
	all_wait("MPI_Win_flush", WAIT_PROGRESS, 2, 100, 100);
	has_no("room");
}

/* ---- fences ---- */

/* A ring: each rank puts to the next. Ranks are late in turn. */
static void ring_with_fences(void)
{
	for (int rank = 0; rank < RANKS; rank++)
		add_operation(rank, "MPI_Put", 100, 8, 0)->targets = 1ULL << (rank + 1) % RANKS;
	for (int rank = 0; rank < RANKS; rank++)
		add_wait(add_site(rank, "MPI_Win_fence", 100, 40), WAIT_LATE_FENCE, rank ^ 2, 100, 40);
}

static void fence_partners__counts_waits_for_strangers(void)
{
	begin();
	ring_with_fences();
	has("fence_partners", 0, 40,
	    "MPI_Win_fence (step halo.c:13) of \"halo\" waits 0.160 s, 400 times, for ranks with which");
	CU_ASSERT_PTR_NOT_NULL(strstr(advice.list[0].text, "no rank has more than 1 target: post,"));
}

static void fence_partners__is_silent_about_partners(void)
{
	begin();
	ring_with_fences();
	for (uint32_t i = 0; i < profile.wait_count; i++)
		waits[i].culprit = (int)(i + 1) % RANKS;
	has_no("fence_partners");
	for (uint32_t i = 0; i < profile.wait_count; i++)
		waits[i].culprit = (int)(i + RANKS - 1) % RANKS;
	has_no("fence_partners");
}

static void fence_partners__is_silent_when_ranks_have_many(void)
{
	begin();
	ring_with_fences();
	for (int rank = 0; rank < RANKS; rank++)
		sites[rank].targets |= 1ULL << rank;
	has_no("fence_partners");
}

static void fence_partners__is_silent_about_barriers_and_shared_memory(void)
{
	begin();
	ring_with_fences();
	snprintf(windows[0].kind, sizeof(windows[0].kind), "shared");
	has_no("fence_partners");
	begin();
	ring_with_fences();
	for (int rank = 0; rank < RANKS; rank++)
		sites[rank].targets = 0;
	has_no("fence_partners");
}

static void fence_partners__leaves_one_late_rank_to_its_own_rule(void)
{
	begin();
	ring_with_fences();
	for (uint32_t i = 0; i < profile.wait_count; i++)
		waits[i].culprit = 3;
	has_no("fence_partners");
	has("late_rank", 3, 40, "rank 3 is late");
}

/* ---- locks that ranks wait for ---- */

static void lock_held__names_the_holder_and_its_unlock(void)
{
	begin();
	add_site(1, "MPI_Win_unlock", 100, 1);
	all_wait("MPI_Win_lock", WAIT_LOCK, 1, 40, 100);
	has("lock_held", 1, 100,
	    "rank 1 holds a lock of \"halo\" while others wait 0.300 s for it, 120 times, 100 % of such waits, most in MPI_Win_lock (step "
	    "halo.c:12), until MPI_Win_unlock (step halo.c:14); ");
}

static void lock_held__is_silent_when_ranks_hold_in_turn(void)
{
	begin();
	for (int rank = 0; rank < RANKS; rank++)
		all_wait("MPI_Win_lock", WAIT_LOCK, rank, 100, 50);
	has_no("lock_held");
	all_wait("MPI_Win_lock", WAIT_LOCK, -1, 100, 500); /* the holder is not known */
	has_no("lock_held");
}

/* ---- processors ---- */

static void oversubscribed__takes_more_ranks_than_processors(void)
{
	begin();
	all_wait("MPI_Win_fence", WAIT_HANDOVER, 1, 100, 100);
	has_no("oversubscribed");
	profile.busiest_processors = RANKS - 1;
	has("oversubscribed", 0, 100, "4 ranks share 3 processors: ");
}

static void oversubscribed__is_silent_below_ten_percent(void)
{
	begin();
	profile.busiest_processors = 1;
	all_wait("MPI_Win_fence", WAIT_HANDOVER, 1, 100, 99);
	has_no("oversubscribed");
}

/* ---- flushes ---- */

static void flush_each__takes_a_flush_for_each_put(void)
{
	begin();
	add_operation(2, "oriel_put", 1000, 8, 10);
	add_site(2, "oriel_win_flush", 1000, 50);
	has("flush_each", 2, 50,
	    "oriel_win_flush (step halo.c:15) of \"halo\" follows each operation: 1000 calls, 0.050 s, rank 2 most; ");
}

static void flush_each__is_silent_about_gets_and_fetches(void)
{
	begin();
	add_operation(2, "oriel_get", 1000, 8, 10);
	add_site(2, "oriel_win_flush", 1000, 50);
	has_no("flush_each");
	begin();
	add_operation(2, "MPI_Put", 500, 8, 10);
	add_operation(2, "MPI_Fetch_and_op", 500, 8, 10);
	add_site(2, "MPI_Win_flush", 1000, 50);
	has_no("flush_each");
}

static void flush_each__is_silent_when_several_puts_share_one(void)
{
	begin();
	add_operation(2, "oriel_put", 1300, 8, 10);
	add_site(2, "oriel_win_flush", 1000, 50);
	has_no("flush_each");
}

static void flush_each__is_silent_when_flushes_cost_little(void)
{
	begin();
	add_operation(2, "oriel_put", 1000, 8, 100);
	add_site(2, "oriel_win_flush", 1000, 19);
	has_no("flush_each");
}

/* ---- locks for one operation ---- */

static void lock_each__takes_a_lock_for_each_put(void)
{
	begin();
	add_operation(2, "MPI_Put", 1000, 8, 10);
	add_site(2, "MPI_Win_lock", 1000, 30);
	add_site(2, "MPI_Win_unlock", 1000, 20);
	has("lock_each", 2, 50,
	    "MPI_Win_lock (step halo.c:12) of \"halo\" is for one operation each time: 1000 locks, 0.050 s, rank 2 most");
	CU_ASSERT_PTR_NOT_NULL(strstr(advice.list[0].text, "MPI_Win_lock_all once"));
}

static void lock_each__is_silent_about_locks_that_ranks_wait_for(void)
{
	begin();
	add_operation(2, "MPI_Put", 1000, 8, 10);
	add_wait(add_site(2, "MPI_Win_lock", 1000, 30), WAIT_LOCK, 1, 1000, 26);
	add_site(2, "MPI_Win_unlock", 1000, 20);
	has_no("lock_each");
}

static void lock_each__is_silent_about_several_operations(void)
{
	begin();
	add_operation(2, "MPI_Put", 2000, 8, 10);
	add_site(2, "MPI_Win_lock", 1000, 50);
	has_no("lock_each");
	begin();
	add_operation(2, "MPI_Put", 500, 8, 10);
	add_operation(2, "MPI_Get", 500, 8, 10);
	add_site(2, "MPI_Win_lock", 1000, 50);
	has_no("lock_each");
}

static void lock_element__takes_a_get_and_a_put_of_an_element(void)
{
	begin();
	add_operation(3, "MPI_Get", 1000, 8, 1);
	add_operation(3, "MPI_Put", 1000, 8, 1);
	add_wait(add_site(3, "MPI_Win_lock", 1000, 30), WAIT_LOCK, 1, 1000, 26);
	add_site(3, "MPI_Win_unlock", 1000, 20);
	has("lock_element", 3, 50, "MPI_Fetch_and_op or MPI_Compare_and_swap without a lock saves up to 0.050 s of 1.00");
}

static void lock_element__is_silent_about_more(void)
{
	begin();
	add_operation(3, "MPI_Get", 1000, 16, 1);
	add_operation(3, "MPI_Put", 1000, 8, 1);
	add_site(3, "MPI_Win_lock", 1000, 50);
	has_no("lock_element");
	begin();
	add_operation(3, "MPI_Get", 1000, 8, 1);
	add_operation(3, "MPI_Put", 3000, 8, 1);
	add_site(3, "MPI_Win_lock", 1000, 50);
	has_no("lock_element");
}

/* ---- operations in a row ---- */

static void operations_in_row__takes_small_puts_that_go_on(void)
{
	begin();
	add_operation(0, "MPI_Put", 1000, 8, 40)->followed = 0;
	add_operation(2, "MPI_Put", 1000, 8, 100)->followed = 900;
	has("operations_in_row", 2, 90,
	    "MPI_Put (step halo.c:7) of \"halo\" goes on where the last call ended 900 times of 1000, with 8 bytes each, rank 2 most; one call "
	    "for 10 in a row saves up to 0.090 s of 1.00");
}

static void operations_in_row__is_silent_about_large_or_scattered_ones(void)
{
	begin();
	add_operation(2, "MPI_Put", 1000, 1025, 100)->followed = 900;
	has_no("operations_in_row");
	begin();
	add_operation(2, "MPI_Put", 1000, 8, 100)->followed = 499;
	has_no("operations_in_row");
	begin();
	add_operation(2, "MPI_Put", 1000, 8, 100)->followed = 1000; /* the first follows none */
	has_no("operations_in_row");
}

/* ---- windows ---- */

/* Each window is a site of its own. */
static void make_windows(uint64_t count)
{
	begin();
	profile.window_count = 1;
	for (uint64_t i = 0; i < count; i++)
		add_site(2, "MPI_Win_allocate", 1, 5);
}

static void windows_in_loop__takes_many_from_one_place(void)
{
	make_windows(20);
	has("windows_in_loop", 2, 100, "MPI_Win_allocate (step halo.c:16) makes 20 windows on rank 2, ");
	make_windows(19);
	has_no("windows_in_loop");
}

static void windows_in_loop__is_silent_about_late_members(void)
{
	make_windows(20);
	for (uint32_t i = 0; i < 20; i++)
		add_wait(&sites[i], WAIT_LATE_COLLECTIVE, 1, 1, 5);
	has_no("windows_in_loop");
}

/* ---- the list ---- */

static void advise__keeps_the_twelve_that_save_most(void)
{
	struct losses losses = { .profile = &profile };

	begin();
	add_site(0, "MPI_Put", 1, 1);
	advice.count = 0;
	for (uint64_t i = 0; i < 20; i++) {
		losses.most_ns = i * 7 % 20;
		advice_add(&advice, "made", &losses);
	}
	CU_ASSERT_EQUAL(advice.count, ADVICE_MOST);
	for (uint32_t i = 0; i < advice.count; i++)
		CU_ASSERT_EQUAL(advice.list[i].saves_ns, 19 - i);
}

static void advise__says_nothing_without_ranks_or_calls(void)
{
	begin();
	advise(&advice, &profile);
	CU_ASSERT_EQUAL(advice.count, 0);
	profile.size = 0;
	advise(&advice, &profile);
	CU_ASSERT_EQUAL(advice.count, 0);
}

static void call_kind__knows_both_interfaces(void)
{
	char text[CALL_NAME_BYTES];

	CU_ASSERT_EQUAL(call_kind("oriel_putv"), KIND_PUT);
	CU_ASSERT_EQUAL(call_kind("MPI_Rput_c"), KIND_PUT);
	CU_ASSERT_EQUAL(call_kind("MPI_Get"), KIND_GET);
	CU_ASSERT_EQUAL(call_kind("MPI_Get_accumulate_c"), KIND_FETCH);
	CU_ASSERT_EQUAL(call_kind("MPI_Win_lock_all"), KIND_OTHER);
	CU_ASSERT_EQUAL(call_kind("MPI_Win_flush_local_all"), KIND_FLUSH);
	CU_ASSERT_EQUAL(call_kind("put"), KIND_PUT);
	CU_ASSERT_EQUAL(call_kind(""), KIND_OTHER);
	CU_ASSERT_STRING_EQUAL(call_of_same("MPI_Put", "win_lock_all", text), "MPI_Win_lock_all");
	CU_ASSERT_STRING_EQUAL(call_of_same("oriel_put", "win_lock_all", text), "oriel_win_lock_all");
}

void suite_advice(void)
{
	CU_pSuite suite = CU_add_suite("advice", NULL, NULL);

	CU_ADD_TEST(suite, late_rank__names_rank_calls_number_and_worth);
	CU_ADD_TEST(suite, late_rank__is_silent_below_two_percent);
	CU_ADD_TEST(suite, late_rank__is_silent_below_a_hundred_waits);
	CU_ADD_TEST(suite, late_rank__is_silent_when_ranks_are_late_in_turn);
	CU_ADD_TEST(suite, late_rank__is_where_the_lateness_begins);
	CU_ADD_TEST(suite, late_rank__tells_more_work_from_a_late_call);
	CU_ADD_TEST(suite, late_rank__judges_windows_by_themselves);
	CU_ADD_TEST(suite, late_rank__does_not_blame_for_other_causes);
	CU_ADD_TEST(suite, late_rank__does_not_trust_ranks);
	CU_ADD_TEST(suite, progress__names_the_target_calls_number_and_worth);
	CU_ADD_TEST(suite, progress__counts_targets_in_turn);
	CU_ADD_TEST(suite, progress__is_silent_below_its_bounds);
	CU_ADD_TEST(suite, progress__is_silent_on_data_and_room);
	CU_ADD_TEST(suite, room__names_the_target_calls_number_and_worth);
	CU_ADD_TEST(suite, room__is_silent_below_its_bounds);
	CU_ADD_TEST(suite, fence_partners__counts_waits_for_strangers);
	CU_ADD_TEST(suite, fence_partners__is_silent_about_partners);
	CU_ADD_TEST(suite, fence_partners__is_silent_when_ranks_have_many);
	CU_ADD_TEST(suite, fence_partners__is_silent_about_barriers_and_shared_memory);
	CU_ADD_TEST(suite, fence_partners__leaves_one_late_rank_to_its_own_rule);
	CU_ADD_TEST(suite, lock_held__names_the_holder_and_its_unlock);
	CU_ADD_TEST(suite, lock_held__is_silent_when_ranks_hold_in_turn);
	CU_ADD_TEST(suite, oversubscribed__takes_more_ranks_than_processors);
	CU_ADD_TEST(suite, oversubscribed__is_silent_below_ten_percent);
	CU_ADD_TEST(suite, flush_each__takes_a_flush_for_each_put);
	CU_ADD_TEST(suite, flush_each__is_silent_about_gets_and_fetches);
	CU_ADD_TEST(suite, flush_each__is_silent_when_several_puts_share_one);
	CU_ADD_TEST(suite, flush_each__is_silent_when_flushes_cost_little);
	CU_ADD_TEST(suite, lock_each__takes_a_lock_for_each_put);
	CU_ADD_TEST(suite, lock_each__is_silent_about_locks_that_ranks_wait_for);
	CU_ADD_TEST(suite, lock_each__is_silent_about_several_operations);
	CU_ADD_TEST(suite, lock_element__takes_a_get_and_a_put_of_an_element);
	CU_ADD_TEST(suite, lock_element__is_silent_about_more);
	CU_ADD_TEST(suite, operations_in_row__takes_small_puts_that_go_on);
	CU_ADD_TEST(suite, operations_in_row__is_silent_about_large_or_scattered_ones);
	CU_ADD_TEST(suite, windows_in_loop__takes_many_from_one_place);
	CU_ADD_TEST(suite, windows_in_loop__is_silent_about_late_members);
	CU_ADD_TEST(suite, advise__keeps_the_twelve_that_save_most);
	CU_ADD_TEST(suite, advise__says_nothing_without_ranks_or_calls);
	CU_ADD_TEST(suite, call_kind__knows_both_interfaces);
}
