// SPDX-License-Identifier: BSD-2-Clause
/* multi_rma.c - put and get: rules D1 to D8. */
#include "multi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "job/job.h"
#include "base/util.h"

enum { ISSUED, POSTED, DONE };

#define NONE_LEFT 0xa5

/*
 * D1: sizes that go every way there is, from and to places without alignment; the bytes beside them
 * are untouched.
 */
static void put_and_get_copy(struct multi *m)
{
	static const size_t sizes[] = { 0,   1,   2,    7,    8,    63,   64,   65,    127,   219,
		                            220, 221, 1000, 4096, 8191, 8192, 8193, 65536, 300001 };
	const size_t largest = 300001;
	struct multi_window w;
	uint8_t *data = multi_alloc(largest + 16), *back = multi_alloc(largest + 16);
	int other = 1 - m->rank;

	multi_window_open(m, &w, largest + 64);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i], disp = i % 5, shift = i % 3;

		memset(w.base, NONE_LEFT, w.size_bytes);
		memset(back, NONE_LEFT, largest + 16);
		multi_fill(data + shift, size, i + (uint64_t)m->rank * 100);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_put(w.win, data + shift, size, other, disp));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, multi_holds(w.base + disp, size, i + (uint64_t)other * 100));
		CHECK(m, multi_all(w.base, disp, NONE_LEFT));
		CHECK(m, multi_all(w.base + disp + size, w.size_bytes - disp - size, NONE_LEFT));
		CHECK_OK(m, oriel_get(w.win, back + shift, size, other, disp));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, multi_holds(back + shift, size, i + (uint64_t)m->rank * 100));
		CHECK(m, multi_all(back, shift, NONE_LEFT) && multi_all(back + shift + size, 8, NONE_LEFT));
	}
	multi_window_close(m, &w);
	free(data);
	free(back);
}

#define PIECES 12
#define VECTOR_BYTES 60000

/* Cut `bytes` into PIECES pieces of any size, zero too. */
static void cut(uint64_t *seed, size_t bytes, size_t pieces[PIECES])
{
	for (int i = 0; i < PIECES - 1; i++) {
		pieces[i] = multi_random(seed) % (bytes / 2 + 1);
		bytes -= pieces[i];
	}
	pieces[PIECES - 1] = bytes;
}

/* Lay pieces out one after the other with gaps of up to 9 bytes; gives where they end. */
static size_t lay(uint64_t *seed, const size_t pieces[PIECES], size_t offsets[PIECES])
{
	size_t at = 0;

	for (int i = 0; i < PIECES; i++) {
		at += multi_random(seed) % 10;
		offsets[i] = at;
		at += pieces[i];
	}
	return at;
}

struct vector {
	size_t origin_sizes[PIECES], origin_at[PIECES];
	size_t target_sizes[PIECES], target_at[PIECES];
	struct oriel_origin_piece origin[PIECES];
	struct oriel_target_piece target[PIECES];
};

static void make_vector(struct vector *v, uint64_t *seed, size_t bytes, uint8_t *memory)
{
	cut(seed, bytes, v->origin_sizes);
	cut(seed, bytes, v->target_sizes);
	lay(seed, v->origin_sizes, v->origin_at);
	lay(seed, v->target_sizes, v->target_at);
	for (int i = 0; i < PIECES; i++) {
		v->origin[i] = (struct oriel_origin_piece){ memory + v->origin_at[i], v->origin_sizes[i] };
		v->target[i] = (struct oriel_target_piece){ v->target_at[i], v->target_sizes[i] };
	}
}

/* Copy pieces of one memory to pieces of another, byte by byte: the model. */
static void model(uint8_t *to, const size_t to_at[], const size_t to_sizes[], const uint8_t *from,
                  const size_t from_at[], const size_t from_sizes[])
{
	int f = 0;
	size_t done = 0;

	for (int t = 0; t < PIECES; t++) {
		for (size_t i = 0; i < to_sizes[t]; i++) {
			while (done == from_sizes[f]) {
				f++;
				done = 0;
			}
			to[to_at[t] + i] = from[from_at[f] + done++];
		}
	}
}

/* D1: vectors against a model: pieces that match on no side, the bytes between them untouched. */
static void vectors(struct multi *m)
{
	struct multi_window w;
	uint8_t *memory = multi_alloc(VECTOR_BYTES), *expected = multi_alloc(VECTOR_BYTES);
	uint8_t *theirs = multi_alloc(VECTOR_BYTES);
	uint64_t seed = multi_seed(m);
	struct vector v, mine;

	multi_window_open(m, &w, VECTOR_BYTES);
	for (int round = 0; round < 30; round++) {
		size_t bytes = round % 3 ? multi_random(&seed) % 500 : multi_random(&seed) % 40000;
		int other = 1 - m->rank;

		memset(w.base, NONE_LEFT, VECTOR_BYTES);
		memset(expected, NONE_LEFT, VECTOR_BYTES);
		for (int rank = 0; rank < 2; rank++) { /* both ranks know both vectors */
			multi_fill(rank == m->rank ? memory : theirs, VECTOR_BYTES, (uint64_t)(round * 2 + rank));
			make_vector(rank == m->rank ? &mine : &v, &seed, bytes, memory);
		}
		model(expected, v.target_at, v.target_sizes, theirs, v.origin_at, v.origin_sizes);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_putv(w.win, mine.origin, PIECES, other, mine.target, PIECES));
		memset(&mine.target, 0, sizeof(mine.target)); /* the lists may change at once */
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, memcmp(w.base, expected, VECTOR_BYTES) == 0);
		multi_fill(w.base, VECTOR_BYTES, (uint64_t)(1000 + round * 2 + m->rank));
		multi_fill(theirs, VECTOR_BYTES, (uint64_t)(1000 + round * 2 + other));
		memset(memory, NONE_LEFT, VECTOR_BYTES);
		memset(expected, NONE_LEFT, VECTOR_BYTES);
		for (int i = 0; i < PIECES; i++)
			mine.target[i] = (struct oriel_target_piece){ mine.target_at[i], mine.target_sizes[i] };
		model(expected, mine.origin_at, mine.origin_sizes, theirs, mine.target_at, mine.target_sizes);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_getv(w.win, mine.origin, PIECES, other, mine.target, PIECES));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, memcmp(memory, expected, VECTOR_BYTES) == 0);
	}
	multi_window_close(m, &w);
	free(memory);
	free(expected);
	free(theirs);
}

/*
 * D2: puts and gets of all sizes return although the target has not posted; flush_local then gives
 * the buffers back.
 */
static void both_are_nonblocking(struct multi *m)
{
	static const size_t sizes[] = { 1, 100, 1000, 9000, 200000 };
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t *put[5], *got[5];

	multi_window_open(m, &w, 1000000);
	multi_fill(w.base + 500000, 500000, 8);
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		for (size_t i = 0; i < 5; i++) {
			put[i] = multi_alloc(sizes[i]);
			got[i] = multi_alloc(sizes[i]);
			multi_fill(put[i], sizes[i], i);
			CHECK_OK(m, oriel_put(w.win, put[i], sizes[i], 1, i * 10000));
			CHECK_OK(m, oriel_get(w.win, got[i], sizes[i], 1, 500000));
		}
		multi_raise(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_flush_local(w.win, 1));
		for (size_t i = 0; i < 5; i++) {
			CHECK(m, multi_holds(got[i], sizes[i], 8));
			memset(put[i], 0xee, sizes[i]);
			free(put[i]);
			free(got[i]);
		}
		CHECK_OK(m, oriel_win_complete(w.win));
	} else {
		multi_await(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		for (size_t i = 0; i < 5; i++)
			CHECK(m, multi_holds(w.base + i * 10000, sizes[i], i));
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/* All data calls and flushes are refused towards the target, and nothing is sent. */
static void refused(struct multi *m, oriel_win *win, int target)
{
	uint8_t byte = 1;
	struct oriel_origin_piece origin = { &byte, 1 };
	struct oriel_target_piece piece = { 0, 1 };

	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(win, &byte, 1, target, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_get(win, &byte, 1, target, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_putv(win, &origin, 1, target, &piece, 1));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_getv(win, &origin, 1, target, &piece, 1));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(win, &byte, 0, target, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_flush(win, target));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_flush_local(win, target));
}

/*
 * D3: before any epoch, in one that names another rank, in an exposure epoch, after complete, after
 * the last fence.
 */
static void outside_epochs_refused(struct multi *m)
{
	struct multi_window w;
	int next = (m->rank + 1) % 3, before = (m->rank + 2) % 3;
	oriel_group *to = multi_group_one(m, next), *from = multi_group_one(m, before);

	multi_window_open(m, &w, 64);
	refused(m, w.win, next);
	CHECK_OK(m, oriel_win_post(w.win, from, 0));
	refused(m, w.win, before);
	CHECK_OK(m, oriel_win_start(w.win, to, 0));
	refused(m, w.win, before);
	refused(m, w.win, m->rank);
	CHECK_OK(m, oriel_win_complete(w.win));
	refused(m, w.win, next);
	CHECK_OK(m, oriel_win_wait(w.win));
	refused(m, w.win, next);
	CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
	refused(m, w.win, next);
	multi_drain(m);
	multi_sync(m);
	CHECK(m, multi_all(w.base, w.size_bytes, 0));
	multi_window_close(m, &w);
	multi_group_drop(m, to);
	multi_group_drop(m, from);
}

/*
 * D4: places outside, also where size and displacement overflow; the unit is 24, so are products
 * that wrap to something small.
 */
static void overflowing_displacement(struct multi *m)
{
	const size_t unit = 24, size = 240, wrap = SIZE_MAX / 24 + 1;
	const struct {
		size_t disp, size_bytes;
	} bad[] = { { 0, 241 },
		        { 9, 25 },
		        { 10, 1 },
		        { 11, 1 },
		        { SIZE_MAX, 1 },
		        { SIZE_MAX / 24, 24 },
		        { wrap, 1 },
		        { wrap, 24 },
		        { wrap + 1, 8 },
		        { SIZE_MAX / 2, 2 },
		        { SIZE_MAX - 9, 10 },
		        { (size_t)1 << 63, 1 },
		        { (size_t)1 << 61, 8 },
		        { 1, SIZE_MAX },
		        { 1, SIZE_MAX - 23 },
		        { 0, SIZE_MAX },
		        { 9, SIZE_MAX - 215 },
		        { (size_t)1 << 32, 1 },
		        { 3, ((size_t)1 << 32) + 8 } };
	uint8_t *memory = multi_alloc(size + 128), byte[48] = { 1 };
	int other = 1 - m->rank;
	oriel_win *win;
	struct peer *peer;
	uint64_t sent;

	CHECK_OK(m, oriel_win_create(memory + 64, size, unit, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, byte, 24, other, 9)); /* the last that fits; and now all is known of the target */
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory[64 + 9 * 24] == 1);
	memory[64 + 9 * 24] = 0;
	multi_drain(m);
	multi_sync(m);
	peer = peer_find(m->job, other);
	sent = peer->wire.posted;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct oriel_origin_piece origin[2] = { { byte, 8 }, { byte, bad[i].size_bytes } };
		struct oriel_target_piece target[2] = { { 0, 8 }, { bad[i].disp, bad[i].size_bytes } };
		int vector = bad[i].size_bytes > SIZE_MAX - 8 ? ORIEL_ERR_ARG : ORIEL_ERR_RANGE;

		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, byte, bad[i].size_bytes, other, bad[i].disp));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, byte, bad[i].size_bytes, other, bad[i].disp));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, byte, bad[i].size_bytes, m->rank, bad[i].disp));
		CHECK_RC(m, vector, oriel_putv(win, origin, 2, other, target, 2));
		CHECK_RC(m, vector, oriel_getv(win, origin, 2, other, target, 2));
	}
	CHECK(m, peer->wire.posted == sent);
	CHECK_OK(m, oriel_win_free(&win)); /* refused operations do not count */
	CHECK(m, multi_all(memory, size + 128, 0));
	free(memory);
}

/* D4: the first operation to a peer needs the peer's service thread, but no call of the peer. */
static void first_operation_needs_no_call(struct multi *m)
{
	int far = (m->rank + m->size / 2) % m->size; /* not yet a neighbour where the job is large enough */
	oriel_group *to = multi_group_one(m, far);
	struct multi_window w;
	uint8_t value = (uint8_t)(m->rank + 1);

	multi_window_open(m, &w, 64);
	if (m->rank >= m->size / 2) {
		CHECK_OK(m, oriel_win_post(w.win, to, 0));
		multi_await(m, DONE, 1);
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, w.base[0] == far + 1);
	} else {
		CHECK_OK(m, oriel_win_start(w.win, to, 0));
		CHECK_OK(m, oriel_put(w.win, &value, 1, far, 0));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(w.win, &value, 1, far, 64));
		CHECK_OK(m, oriel_win_complete(w.win));
		if (m->rank == 0)
			multi_raise(m, DONE, 1);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, to);
}

/*
 * D5: operations of more than one message: sizes around multiples of the largest one, whatever it
 * has been set to.
 */
static void more_than_the_largest_message(struct multi *m)
{
	const char *set = getenv("ORIEL_MAX_MESSAGE");
	size_t largest = set ? strtoull(set, NULL, 10) : 65536;
	const size_t sizes[] = {
		largest - 1, largest, largest + 1, 2 * largest, 3 * largest - 1, 20 * largest + 17, 1500001
	};
	const size_t most = 1500001 > 20 * largest + 17 ? 1500001 : 20 * largest + 17;
	struct multi_window w;
	uint8_t *data = multi_alloc(most), *back = multi_alloc(most);
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	struct peer *peer;
	int other = 1 - m->rank;

	multi_window_open(m, &w, most + 1);
	multi_warm(m, w.win);
	CHECK_OK(m, oriel_win_query(w.win, &info));
	if (info.share)
		set = NULL; /* moved to where it is stored to, without messages */
	peer = peer_find(m->job, other);
	CHECK(m, !set || peer->wire.max_message_bytes == largest);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t sent = peer->wire.posted;

		memset(w.base, 0, most + 1);
		multi_fill(data, sizes[i], i);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_put(w.win, data, sizes[i], other, 1));
		/* softverbs copies large puts in the call, and those that are alone (op/issue.c) */
		CHECK(m, !set || (direct_has_copy_sync(&peer->direct) && sizes[i] >= 2048) ||
		             peer->wire.posted - sent >= (sizes[i] + largest - 1) / largest);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, w.base[0] == 0 && multi_holds(w.base + 1, sizes[i], i));
		CHECK(m, multi_all(w.base + 1 + sizes[i], most - sizes[i], 0));
		memset(back, 0, most);
		CHECK_OK(m, oriel_get(w.win, back, sizes[i], other, 1));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, multi_holds(back, sizes[i], i) && multi_all(back + sizes[i], most - sizes[i], 0));
	}
	multi_window_close(m, &w);
	free(data);
	free(back);
}

static size_t available_bytes(void)
{
	char line[128];
	unsigned long long kilobytes = 0;
	FILE *file = fopen("/proc/meminfo", "r");

	while (file && kilobytes == 0 && fgets(line, sizeof(line), file))
		sscanf(line, "MemAvailable: %llu", &kilobytes);
	if (file)
		fclose(file);
	return (size_t)kilobytes << 10;
}

#define HUGE_BYTES (((size_t)4 << 30) + 12345)
#define HUGE_BLOCK ((size_t)16 << 20)
#define HUGE_SECONDS_MAX 40

/* Memory of HUGE_BYTES that shows the same block again and again: much to send, little to hold. */
static uint8_t *repeated_block(uint64_t seed)
{
	int fd = memfd_create("oriel-multi", MFD_CLOEXEC);
	size_t bytes = HUGE_BYTES / HUGE_BLOCK * HUGE_BLOCK + HUGE_BLOCK;
	uint8_t *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (fd < 0 || memory == MAP_FAILED || ftruncate(fd, (off_t)HUGE_BLOCK))
		return NULL;
	for (size_t at = 0; at < bytes; at += HUGE_BLOCK) {
		if (mmap(memory + at, HUGE_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return NULL;
	}
	close(fd);
	multi_fill(memory, HUGE_BLOCK, seed);
	return memory;
}

/* How long a transfer of HUGE_BYTES would take, from one of a block. */
static double huge_seconds(struct multi *m)
{
	struct multi_window w;
	uint8_t *block = multi_alloc(HUGE_BLOCK);
	uint64_t start;
	double seconds;

	multi_window_open(m, &w, HUGE_BLOCK);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	start = now_ns();
	if (m->rank == 0)
		CHECK_OK(m, oriel_put(w.win, block, HUGE_BLOCK, 1, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	seconds = (double)(now_ns() - start) / 1e9 * (double)HUGE_BYTES / (double)HUGE_BLOCK;
	multi_window_close(m, &w);
	free(block);
	return seconds;
}

static void check_huge(struct multi *m, const uint8_t *memory)
{
	size_t at = 0;

	for (; at + HUGE_BLOCK <= HUGE_BYTES; at += HUGE_BLOCK)
		CHECK(m, multi_holds(memory + at, HUGE_BLOCK, 77));
	CHECK(m, multi_holds(memory + at, HUGE_BYTES - at, 77));
}

/*
 * Returns zeroed memory for the put, in large pages if the machine has them. To touch a million
 * small pages takes half a minute.
 */
static uint8_t *huge_memory(void)
{
	uint8_t *memory = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, HUGE_BYTES, MADV_HUGEPAGE);
	return memory;
}

/* D5: one put of more than 4 GiB. */
static void beyond_4_gib(struct multi *m)
{
	size_t need = HUGE_BYTES + ((size_t)512 << 20);
	uint8_t *memory = NULL;
	oriel_win *win;
	double seconds;

	if (m->rank == 0)
		multi_raise(m, ISSUED, available_bytes() < need ? 2 : 1);
	multi_await(m, ISSUED, 1);
	if (multi_word(m, ISSUED) == 2) {
		multi_skip(m, "needs %zu MB of free memory, there are %zu MB", need >> 20, available_bytes() >> 20);
		return;
	}
	seconds = huge_seconds(m);
	if (m->rank == 0)
		multi_raise(m, POSTED, seconds > HUGE_SECONDS_MAX ? 2 : 1);
	multi_await(m, POSTED, 1);
	if (multi_word(m, POSTED) == 2) {
		multi_skip(m, "would take %.0f s on this device, more than %d s", seconds, HUGE_SECONDS_MAX);
		return;
	}
	if (m->rank == 1)
		memory = huge_memory();
	CHECK_OK(m, oriel_win_create(memory, memory ? HUGE_BYTES : 0, 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	if (m->rank == 0) {
		uint8_t *data = repeated_block(77);

		if (CHECK(m, data))
			CHECK_OK(m, oriel_put(win, data, HUGE_BYTES, 1, 0));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	if (m->rank == 1)
		check_huge(m, memory);
	CHECK_OK(m, oriel_win_free(&win));
	if (memory)
		munmap(memory, HUGE_BYTES);
}

/* D6: a rank is its own target between fences, in post and start epochs with others, and alone. */
static void self_is_a_target(struct multi *m)
{
	static const size_t sizes[] = { 1, 64, 300, 9000, 100000 };
	struct multi_window w;
	oriel_group *self = multi_group_one(m, m->rank);
	uint8_t *data = multi_alloc(100000), *back = multi_alloc(100000);

	multi_window_open(m, &w, 100000);
	for (size_t i = 0; i < 15; i++) {
		oriel_group *group = i % 3 == 0 ? self : m->group;
		size_t size = sizes[i / 3];

		multi_fill(data, size, i);
		memset(w.base, 0, w.size_bytes);
		memset(back, 0, size);
		if (i % 3 == 2) {
			CHECK_OK(m, oriel_win_fence(w.win, 0));
			CHECK_OK(m, oriel_put(w.win, data, size, m->rank, 0));
			CHECK_OK(m, oriel_win_flush(w.win, m->rank));
			CHECK_OK(m, oriel_get(w.win, back, size, m->rank, 0));
			CHECK_OK(m, oriel_win_fence(w.win, 0));
		} else {
			CHECK_OK(m, oriel_win_start(w.win, group, 0));
			CHECK_OK(m, oriel_put(w.win, data, size, m->rank, 0)); /* deferred: it has not posted to itself yet */
			CHECK(m, w.base[0] == 0);
			CHECK_OK(m, oriel_win_post(w.win, group, 0));
			CHECK_OK(m, oriel_win_flush(w.win, m->rank));
			CHECK_OK(m, oriel_get(w.win, back, size, m->rank, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
			CHECK_OK(m, oriel_win_wait(w.win));
		}
		CHECK(m, multi_holds(w.base, size, i) && multi_holds(back, size, i));
	}
	multi_window_close(m, &w);
	multi_group_drop(m, self);
	free(data);
	free(back);
}

/* D7: puts from memory that may only be read, of every way to send; from constants too. */
static void read_only_origin(struct multi *m)
{
	static const char constant[] = "this text lies in memory that may only be read";
	static const size_t sizes[] = { 8, 100, 1000, 8192, 8193, 100000 };
	const size_t bytes = 131072;
	struct multi_window w;
	uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int other = 1 - m->rank;

	multi_fill(memory, bytes, 5);
	mprotect(memory, bytes, PROT_READ);
	multi_window_open(m, &w, bytes);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(w.base, 0, bytes);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_put(w.win, memory, sizes[i], other, 0));
		CHECK_OK(m, oriel_put(w.win, constant, sizeof(constant), other, 120000));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, multi_holds(w.base, sizes[i], 5) && memcmp(w.base + 120000, constant, sizeof(constant)) == 0);
	}
	multi_window_close(m, &w);
	munmap(memory, bytes);
}

/* Puts of every size, and again once the target is known. */
static void put_is_refused(struct multi *m, oriel_win *win, const uint8_t *from, size_t largest_bytes, int to)
{
	for (int i = 0; i < 3; i++) {
		for (size_t size_bytes = 4; size_bytes <= largest_bytes; size_bytes *= 2)
			CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_put(win, from, size_bytes, to, 0));
	}
}

/*
 * D7: a window of read-only memory: it can be got from and be the origin of puts to others, and is
 * not written.
 */
static void read_only_window(struct multi *m)
{
	const size_t bytes = 65536;
	uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *back = multi_alloc(bytes);
	struct oriel_origin_piece origin = { back, 4 };
	struct oriel_target_piece target = { 0, 4 };
	int other = 1 - m->rank;
	oriel_win *win;

	multi_fill(memory, bytes, 9);
	if (m->rank == 1)
		mprotect(memory, bytes, PROT_READ);
	CHECK_OK(m, oriel_win_create(memory, bytes, 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	if (m->rank == 0) {
		put_is_refused(m, win, back, bytes, other);
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_putv(win, &origin, 1, other, &target, 1));
		CHECK_OK(m, oriel_put(win, NULL, 0, other, 0));
		CHECK_OK(m, oriel_get(win, back, 8, other, 0));
		CHECK_OK(m, oriel_get(win, back + 8, bytes - 8, other, 8));
		put_is_refused(m, win, back, bytes, other);
	} else {
		CHECK_OK(m, oriel_put(win, memory + 1, 30000, other, 1));
		put_is_refused(m, win, back, bytes, m->rank);
		CHECK_OK(m, oriel_get(win, back, bytes, m->rank, 0));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, multi_holds(back, bytes, 9));
	CHECK(m, multi_holds(memory, bytes, 9));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, bytes);
	free(back);
}

/*
 * D7: registered memory, window memory and neither, also where they overlap; never necessary,
 * always right.
 */
static void registered_origin(struct multi *m)
{
	const size_t bytes = 200000;
	struct multi_window w;
	uint8_t *memory = multi_alloc(2 * bytes), *back = multi_alloc(bytes);
	oriel_mem *whole, *part;
	int other = 1 - m->rank;

	multi_window_open(m, &w, bytes);
	multi_fill(memory, 2 * bytes, 2);
	CHECK_OK(m, oriel_mem_register(m->job, memory, bytes, &whole));
	CHECK_OK(m, oriel_mem_register(m->job, memory + 1000, 5000, &part));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, memory, 100000, other, 0));
	CHECK_OK(m, oriel_put(w.win, memory + 100000, 100000, other, 100000)); /* to the last registered byte */
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, multi_holds(w.base, bytes, 2));
	CHECK_OK(m, oriel_win_fence(w.win, 0)); /* the other rank looks at its window too before it changes again */
	CHECK_OK(m, oriel_put(w.win, memory, 1000, other, 0));
	CHECK_OK(m, oriel_put(w.win, memory + bytes - 10000, 20000, other, 1000)); /* half of it is registered */
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, memcmp(w.base + 1000, memory + bytes - 10000, 20000) == 0);
	CHECK_OK(m, oriel_mem_deregister(&part));
	CHECK_OK(m, oriel_get(w.win, memory + 50000, 50000, other, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, memcmp(memory + 50000, w.base, 50000) == 0);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_mem_deregister(&whole));
	CHECK(m, whole == NULL && part == NULL);
	CHECK_OK(m, oriel_put(w.win, memory, bytes, other, 0));
	CHECK_OK(m, oriel_get(w.win, back, 100, m->rank, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, memcmp(w.base, memory, bytes) == 0);
	multi_window_close(m, &w);
	free(memory);
	free(back);
}

/* D8: zero bytes need an epoch and a rank, and nothing else. */
static void zero_bytes(struct multi *m)
{
	struct multi_window w;
	const struct oriel_origin_piece origin[2] = { { NULL, 0 }, { NULL, 0 } };
	const struct oriel_target_piece target[2] = { { SIZE_MAX, 0 }, { 3, 0 } };
	int other = 1 - m->rank;

	multi_window_open(m, &w, 16);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, NULL, 0, other, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, NULL, 0, other, 0));
	CHECK_OK(m, oriel_put(w.win, NULL, 0, other, SIZE_MAX));
	CHECK_OK(m, oriel_get(w.win, NULL, 0, other, 1000));
	CHECK_OK(m, oriel_putv(w.win, NULL, 0, other, NULL, 0));
	CHECK_OK(m, oriel_putv(w.win, origin, 2, other, target, 2));
	CHECK_OK(m, oriel_getv(w.win, origin, 2, other, target, 1));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(w.win, NULL, 0, 2, 0));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_get(w.win, NULL, 0, -1, 0));
	multi_window_close(m, &w); /* they are no operations: the fence epoch is quiet */
}

/*
 * D8: three ranks write the same bytes at once; every byte there is one of theirs, and no other
 * byte is touched.
 */
static void overlap_harms_nothing_else(struct multi *m)
{
	const size_t bytes = 20000;
	struct multi_window w;
	uint8_t *data = multi_alloc(bytes);

	multi_window_open(m, &w, bytes + 200);
	memset(w.base, 0x55, w.size_bytes);
	memset(data, m->rank, bytes);
	for (int round = 0; round < 10; round++) {
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		if (m->rank > 0) {
			CHECK_OK(m, oriel_put(w.win, data, bytes, 0, 100));
			for (size_t i = 0; i < 200; i++)
				CHECK_OK(m, oriel_put(w.win, data, 3, 0, 100 + i));
		}
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		if (m->rank == 0) {
			CHECK(m, multi_all(w.base, 100, 0x55) && multi_all(w.base + 100 + bytes, 100, 0x55));
			for (size_t i = 100; i < 100 + bytes; i++) {
				if (w.base[i] < 1 || w.base[i] > 3) {
					CHECK(m, w.base[i] >= 1 && w.base[i] <= 3);
					break;
				}
			}
		}
	}
	multi_window_close(m, &w);
	free(data);
}

#define ANEW_BYTES 49152

/* New pages in the place of the old ones; of odd rounds, of another kind. */
static void map_anew(struct multi *m, uint8_t *memory, int round)
{
	int flags = MAP_ANONYMOUS | MAP_FIXED | (round % 2 ? MAP_SHARED : MAP_PRIVATE);

	CHECK(m, munmap(memory, ANEW_BYTES) == 0);
	CHECK(m, mmap(memory, ANEW_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) == memory);
}

/*
 * D7: origin memory that is unmapped and mapped anew at the same address between operations: what is
 * put is what lies there now, and what is got arrives there.
 */
static void origin_mapped_anew(struct multi *m)
{
	uint8_t *memory = mmap(NULL, ANEW_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *window = multi_alloc(ANEW_BYTES);
	int other = 1 - m->rank;
	oriel_win *win;

	CHECK(m, memory != MAP_FAILED);
	CHECK_OK(m, oriel_win_create(window, ANEW_BYTES, 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	for (int round = 0; round < 60; round++) {
		size_t size = round % 3 == 0 ? 1000 : round % 3 == 1 ? 8200 : ANEW_BYTES - 7;

		multi_fill(memory, size, (uint64_t)round);
		CHECK_OK(m, oriel_put(win, memory, size, other, 0));
		CHECK_OK(m, oriel_win_flush(win, other));
		map_anew(m, memory, round);
		CHECK_OK(m, oriel_get(win, memory + 3, size, other, 0));
		CHECK_OK(m, oriel_win_flush(win, other));
		CHECK(m, multi_holds(memory + 3, size, (uint64_t)round));
		map_anew(m, memory, round + 1);
	}
	CHECK_OK(m, oriel_win_unlock_all(win));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, ANEW_BYTES);
	free(window);
}

#define NODE_BYTES ((size_t)300001)

/* Put from the origin to the rank that many places on, and get it from there again. */
static void send_and_fetch(struct multi *m, struct multi_window *w, uint8_t *origin, int places)
{
	int to = (m->rank + places) % m->size, from = (m->rank + m->size - places) % m->size;

	multi_fill(origin, NODE_BYTES, (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	CHECK_OK(m, oriel_put(w->win, origin, NODE_BYTES, to, 0));
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	CHECK(m, multi_holds(w->base, NODE_BYTES, (uint64_t)from));
	memset(origin, NONE_LEFT, NODE_BYTES);
	CHECK_OK(m, oriel_get(w->win, origin, NODE_BYTES, to, 0));
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	CHECK(m, multi_holds(origin, NODE_BYTES, (uint64_t)m->rank));
}

/*
 * D7: memory of a window whose members share memory, and of oriel_alloc, is an origin of operations
 * to all ranks, though a card may not know it yet. The second window's memory is the first one's.
 */
static void origins_of_one_node(struct multi *m)
{
	uint8_t *allocated = oriel_alloc(m->job, NODE_BYTES);
	struct multi_window w;
	oriel_group *node;
	oriel_win *own;
	void *origin;

	CHECK(m, allocated);
	multi_window_open(m, &w, NODE_BYTES);
	CHECK_OK(m, oriel_group_shared(m->group, &node));
	for (int places = 1; places < m->size; places++) {
		CHECK_OK(m, oriel_win_allocate(NODE_BYTES, 1, NULL, node, &origin, &own));
		send_and_fetch(m, &w, origin, places);
		CHECK_OK(m, oriel_win_free(&own));
		send_and_fetch(m, &w, allocated, places);
	}
	CHECK_OK(m, oriel_group_free(&node));
	CHECK_OK(m, oriel_free(m->job, allocated));
	multi_window_close(m, &w);
}

static const struct multi_case cases[] = {
	{ "D1_put_and_get_copy", 2, put_and_get_copy },
	{ "D1_vectors", 2, vectors },
	{ "D2_both_are_nonblocking", 2, both_are_nonblocking },
	{ "D3_outside_epochs_refused", 3, outside_epochs_refused },
	{ "D4_overflowing_displacement", 2, overflowing_displacement },
	{ "D4_first_operation_needs_no_call", 4, first_operation_needs_no_call },
	{ "D5_more_than_the_largest_message", 2, more_than_the_largest_message },
	{ "D5_beyond_4_gib", 2, beyond_4_gib },
	{ "D6_self_is_a_target", 3, self_is_a_target },
	{ "D7_read_only_origin", 2, read_only_origin },
	{ "D7_read_only_window", 2, read_only_window },
	{ "D7_registered_origin", 2, registered_origin },
	{ "D7_origin_mapped_anew", 2, origin_mapped_anew },
	{ "D7_origins_of_one_node", 4, origins_of_one_node },
	{ "D8_zero_bytes", 2, zero_bytes },
	{ "D8_overlap_harms_nothing_else", 4, overlap_harms_nothing_else },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_rma",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
