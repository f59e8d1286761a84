// SPDX-License-Identifier: BSD-2-Clause
/* test_pipe.c - chunks of requests that are unanswered: lib/soft/peer/pipe.h */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "soft/peer/pipe.h"
#include "suites.h"

enum { STEPS = 1000000 };

/* Requests and answers in any order that a pipe allows; now few are under way, now many. */
static void pipe__no_two_unanswered_share_a_chunk(void)
{
	struct soft_out out = { .req_head = 0 };
	uint32_t chunk_of[SHM_RING], twice = 0, beyond = 0;
	bool taken[SHM_CHUNKS] = { false };
	uint64_t answered = 0, random = 88172645463325252ULL;

	printf("pipe: seed %llu\n", (unsigned long long)random);
	for (int i = 0; i < STEPS; i++) {
		bool fills = (random >> 20) % 8 < (i / 1000 % 2 ? 5u : 3u);

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		if (fills && soft_out_has_room(&out)) {
			uint32_t chunk = soft_out_chunk(&out);

			beyond += chunk >= SHM_CHUNKS;
			twice += taken[chunk % SHM_CHUNKS];
			taken[chunk % SHM_CHUNKS] = true;
			chunk_of[out.req_head++ % SHM_RING] = chunk % SHM_CHUNKS;
		} else if (answered < out.req_head) {
			taken[chunk_of[answered % SHM_RING]] = false;
			soft_out_took(&out, ++answered);
		}
	}
	CU_ASSERT_EQUAL(beyond, 0);
	CU_ASSERT_EQUAL(twice, 0);
	CU_ASSERT(answered > STEPS / 4);
}

/* A requester with few requests in flight touches few chunks. */
static void pipe__few_requests_have_few_chunks(void)
{
	struct soft_out out = { .req_head = 0 };
	bool used[SHM_CHUNKS] = { false };
	int count = 0;

	for (int i = 0; i < 4 * SHM_RING; i++) {
		used[soft_out_chunk(&out)] = true;
		out.req_head++;
		if (out.req_head >= SHM_FEW)
			soft_out_took(&out, out.req_head - SHM_FEW + 1);
	}
	for (int i = 0; i < SHM_CHUNKS; i++)
		count += used[i];
	CU_ASSERT_EQUAL(count, SHM_FEW);
}

void suite_pipe(void)
{
	CU_pSuite suite = CU_add_suite("softverbs: chunks of a pipe", NULL, NULL);

	CU_ADD_TEST(suite, pipe__no_two_unanswered_share_a_chunk);
	CU_ADD_TEST(suite, pipe__few_requests_have_few_chunks);
}
