// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_wire.c - wire.c: two wires joined over the fake device, without a job around them
 *
 * The requests of one end are looked at before and after they are posted: what is batched, when the
 * doorbell rings, how the ring and the send queue are used, what a broken queue pair does.
 */
#include <CUnit/CUnit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/util.h"
#include "verbs/wire.h"
#include "verbs/direct_access.h"

#include "fake_verbs.h"
#include "suites_fake.h"

#define MEMORY_BYTES (256u << 10)

/* One of the two ends. */
struct end {
	struct devices devices;
	struct slabs slabs;
	struct rdma_cm_id *id;
	struct wire_pair pair;
	struct wire wire;
	struct piece sink;
	struct ibv_mr *mr;
	uint8_t *memory;
	int broken;
	char why[128];
};

static struct end a, b;

static void broke(void *arg, const char *text)
{
	struct end *end = arg;

	end->broken++;
	snprintf(end->why, sizeof(end->why), "%s", text);
}

static struct rdma_cm_event *wait_event(struct end *end)
{
	struct pollfd fd = { .fd = end->devices.list[0].channel->fd, .events = POLLIN };
	struct rdma_cm_event *event = NULL;

	while (!event && poll(&fd, 1, 2000) == 1)
		rdma_get_cm_event(end->devices.list[0].channel, &event);
	return event;
}

static struct rdma_cm_id *take_event(struct end *end)
{
	struct rdma_cm_event *event = wait_event(end);
	struct rdma_cm_id *id = event ? event->id : NULL;

	if (event)
		rdma_ack_cm_event(event);
	return id;
}

static void end_open(struct end *end)
{
	unsigned all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

	memset(end, 0, sizeof(*end));
	CU_ASSERT_EQUAL_FATAL(device_open(&end->devices.list[0], &verbs_system, NULL, NULL, 0), 0);
	end->devices.count = 1;
	CU_ASSERT_EQUAL_FATAL(devices_open_wakeups(&end->devices), 0);
	slabs_init(&end->slabs, &end->devices);
	CU_ASSERT_EQUAL_FATAL(slab_alloc(&end->slabs, 64, &end->sink), 0);
	end->memory = calloc(1, MEMORY_BYTES);
	end->mr = device_register(&end->devices.list[0], end->memory, MEMORY_BYTES, all);
	wire_init(&end->wire, &end->slabs);
	end->wire.broken = broke;
	end->wire.broken_arg = end;
}

static void attach(struct end *end, const struct end *other)
{
	struct remote anchor = { (uint64_t)(uintptr_t)other->memory, other->mr->rkey };

	wire_attach(&end->wire, &end->devices.list[0], &end->pair, anchor,
	            wire_sge(end->sink.addr, sizeof(uint64_t), end->sink.keys[0].lkey));
}

static void join(void)
{
	struct rdma_conn_param param = { .private_data = NULL };
	struct sockaddr_in addr = { .sin_family = AF_INET };

	end_open(&a);
	end_open(&b);
	addr.sin_port = rdma_get_src_port(b.devices.list[0].listener);
	rdma_create_id(a.devices.list[0].channel, &a.id, NULL, RDMA_PS_TCP);
	rdma_resolve_addr(a.id, NULL, (struct sockaddr *)&addr, 1000);
	take_event(&a);
	rdma_resolve_route(a.id, 1000);
	take_event(&a);
	CU_ASSERT_EQUAL_FATAL(wire_make_pair(&a.devices.list[0], a.id, 1, &a.pair), 0);
	rdma_connect(a.id, &param);
	b.id = take_event(&b);
	CU_ASSERT_EQUAL_FATAL(wire_make_pair(&b.devices.list[0], b.id, 2, &b.pair), 0);
	rdma_accept(b.id, &param);
	take_event(&a);
	take_event(&b);
	attach(&a, &b);
	attach(&b, &a);
}

static void end_close(struct end *end)
{
	wire_destroy(&end->wire);
	wire_drop_pair(&end->devices.list[0], end->id, &end->pair);
	rdma_destroy_id(end->id);
	ibv_dereg_mr(end->mr);
	slabs_close(&end->slabs);
	devices_close(&end->devices);
	free(end->memory);
}

static void part(void)
{
	end_close(&a);
	end_close(&b);
	CU_ASSERT_EQUAL(fake_alive(), 0);
	CU_ASSERT_EQUAL(fake_misuses(), 0);
	fake_reset();
}

static struct remote at(const struct end *end, size_t offset)
{
	return (struct remote){ (uint64_t)(uintptr_t)end->memory + offset, end->mr->rkey };
}

static void finish(struct end *end)
{
	uint64_t number = wire_signal(&end->wire);

	uint64_t begin = now_ns();

	while (!wire_done(&end->wire, number) && end->wire.state == WIRE_UP && now_ns() - begin < 10 * NS_PER_SECOND) {
		wire_poll(&end->wire);
		sched_yield();
	}
	CU_ASSERT_TRUE(wire_done(&end->wire, number));
}

static int add(uint64_t value, struct remote target, uint64_t *old, uint64_t *number)
{
	const struct atomic atomic = atomic_add(value, target);

	return wire_atomic(&a.wire, &atomic, old, number);
}

static int swap(uint64_t compare, uint64_t value, struct remote target, uint64_t *old, uint64_t *number)
{
	const struct atomic atomic = atomic_swap(compare, value, target);

	return wire_atomic(&a.wire, &atomic, old, number);
}

/* A put in the way that its memory asks for; lkey 0: the wire copies. */
static int put_to(struct wire *wire, const void *from, uint32_t lkey, size_t size, struct remote to, bool *copied,
                  uint64_t *number)
{
	*copied = !lkey || size <= wire->inline_max;
	return wire_put(wire, wire_sge(from, size, *copied ? 0 : lkey), to, number);
}

static int get_from(struct wire *wire, void *to, uint32_t lkey, size_t size, struct remote from, uint64_t *number)
{
	return wire_get(wire, wire_sge(to, size, lkey), from, number);
}

static int put(const void *from, uint32_t lkey, size_t size, size_t offset)
{
	uint64_t number;
	bool copied;

	return put_to(&a.wire, from, lkey, size, at(&b, offset), &copied, &number);
}

static void wire_put__small_ones_leave_with_the_flag(void)
{
	uint64_t posts, number, one = 1;
	char text[8] = "put no ";

	join();
	posts = fake_posts();
	for (size_t i = 0; i < 10; i++) {
		text[7] = (char)('0' + i);
		CU_ASSERT_EQUAL(put(text, 0, 8, i * 16), 0);
	}
	CU_ASSERT_EQUAL(fake_posts(), posts);
	CU_ASSERT_EQUAL(wire_flag(&a.wire, 0, one, at(&b, 1024), &number), 0);
	CU_ASSERT_EQUAL(fake_posts(), posts + 1); /* one doorbell for eleven requests */
	CU_ASSERT_EQUAL(number, 11);
	CU_ASSERT_EQUAL(memcmp(b.memory, "put no 0", 8), 0);
	CU_ASSERT_EQUAL(memcmp(b.memory + 9 * 16, "put no 9", 8), 0);
	CU_ASSERT_EQUAL(b.memory[1024], 1);
	part();
}

/*
 * So many puts of a size, one behind the other there; those of memory with a key are so here, too.
 * How many requests they became.
 */
static uint64_t put_in_a_row(size_t count, size_t size, size_t offset, bool registered)
{
	uint64_t before = a.wire.posted;

	for (size_t i = 0; i < count; i++) {
		uint8_t *from = a.memory + (registered ? i * size : 0);

		memset(from, (int)i + 1, size);
		CU_ASSERT_EQUAL(put(from, registered ? a.mr->lkey : 0, size, offset + i * size), 0);
	}
	finish(&a);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(b.memory[offset + i * size], i + 1);
		CU_ASSERT_EQUAL(b.memory[offset + (i + 1) * size - 1], i + 1);
	}
	return a.wire.posted - before;
}

/* Inline as far as the device takes, in the ring and the program's memory up to what leaves by itself. */
static void wire_put__continues_the_request_before(void)
{
	fake_config.engine = true;
	join();
	CU_ASSERT_EQUAL(a.wire.inline_max, WIRE_INLINE_WANTED);
	CU_ASSERT_EQUAL(put_in_a_row(WIRE_INLINE_WANTED / 8, 8, 0, false), 1);
	CU_ASSERT_EQUAL(put_in_a_row(WIRE_INLINE_WANTED / 8 + 1, 8, 0, false), 2);
	CU_ASSERT_EQUAL(put_in_a_row(3, 7, 0, false), 3); /* inline data begins at whole words */
	CU_ASSERT_EQUAL(put_in_a_row(8, WIRE_MERGED_MAX / 4, 0, false), 2);
	CU_ASSERT_EQUAL(put_in_a_row(8, WIRE_MERGED_MAX / 4, 0, true), 2);
	CU_ASSERT_EQUAL(put_in_a_row(8, WIRE_MERGED_MAX / 8 + 8, 0, true), 2); /* seven and one */
	part();
}

/* In the ring nothing continues what ends where the ring does. */
static void wire_put__continues_nothing_at_the_rings_end(void)
{
	const size_t size = WIRE_MERGED_MAX / 4;

	fake_config.engine = true;
	join();
	CU_ASSERT_EQUAL(put_in_a_row(1, 2 * size, 0, false), 1);
	CU_ASSERT_EQUAL(put_in_a_row(COPY_RING_BYTES / size, size, 0, false), COPY_RING_BYTES / WIRE_MERGED_MAX + 1);
	for (int i = 0; i < 3; i++) /* and what has no room there */
		CU_ASSERT_TRUE(put_in_a_row(15, 3000, 0, false) <= 5);
	part();
}

/* Behind another place, with another key, behind a read or a fence it is a request of its own. */
static void wire_put__continues_nothing_else(void)
{
	struct remote other;
	uint64_t number, first;
	bool copied;

	join();
	put("01234567", 0, 8, 0);
	first = a.wire.posted;
	put("01234567", 0, 8, 16);
	CU_ASSERT_EQUAL(a.wire.posted, first + 1);
	other = at(&b, 24);
	other.rkey++;
	put_to(&a.wire, "x", 0, 1, other, &copied, &number);
	CU_ASSERT_EQUAL(a.wire.posted, first + 2);
	wire_break(&a.wire);
	part();
	join();
	put("01234567", 0, 8, 0);
	get_from(&a.wire, a.memory, a.mr->lkey, 8, at(&b, 0), &number);
	put("01234567", 0, 8, 8);
	CU_ASSERT_EQUAL(a.wire.posted, 3);
	wire_fence(&a.wire);
	put("01234567", 0, 8, 16);
	CU_ASSERT_EQUAL(a.wire.posted, 4);
	finish(&a);
	part();
}

static void wire_put__a_full_batch_leaves_by_itself(void)
{
	uint64_t posts;

	join();
	posts = fake_posts();
	for (size_t i = 0; i < WIRE_BATCH + 1; i++)
		put("x", 0, 1, i);
	CU_ASSERT_EQUAL(fake_posts(), posts + 1);
	CU_ASSERT_EQUAL(a.wire.batched, 1);
	wire_ring(&a.wire);
	CU_ASSERT_EQUAL(fake_posts(), posts + 2);
	wire_ring(&a.wire);
	CU_ASSERT_EQUAL(fake_posts(), posts + 2); /* nothing waits: no doorbell */
	part();
}

/* A batch takes as many bytes as it has room for, and no put more. */
static void wire_put__a_batch_is_bounded_in_bytes(void)
{
	static const char big[WIRE_INLINE_WANTED] = "big";
	size_t room = WIRE_BATCH_BYTES / ((sizeof(big) + 7) / 8 * 8);
	uint64_t posts;

	join();
	CU_ASSERT_TRUE(room < WIRE_BATCH);
	posts = fake_posts();
	for (size_t i = 0; i < room; i++)
		put(big, 0, sizeof(big), i * sizeof(big));
	CU_ASSERT_EQUAL(fake_posts(), posts);
	put(big, 0, sizeof(big), room * sizeof(big));
	CU_ASSERT_EQUAL(fake_posts(), posts + 1);
	CU_ASSERT_EQUAL(a.wire.batched, 1);
	finish(&a);
	for (size_t i = 0; i <= room; i++)
		CU_ASSERT_EQUAL(memcmp(b.memory + i * sizeof(big), big, sizeof(big)), 0);
	part();
}

/*
 * A wait for the last request posts no other: its completion is requested while it is in the batch,
 * or it was large.
 */
static void wire_signal__posts_nothing_more(void)
{
	static const size_t sizes[] = { 8, WIRE_INLINE_WANTED, 1000, WIRE_BATCH_MAX, WIRE_BATCH_MAX + 1, 60000 };

	fake_config.engine = true;
	join();
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i / 2];
		uint64_t posts = fake_posts(), number;

		if (i % 2) {
			CU_ASSERT_EQUAL(get_from(&a.wire, a.memory, a.mr->lkey, size, at(&b, 0), &number), 0);
		} else {
			CU_ASSERT_EQUAL(put(a.memory, a.mr->lkey, size, 0), 0);
		}
		CU_ASSERT_EQUAL(fake_posts() - posts, size > WIRE_BATCH_MAX);
		finish(&a);
		CU_ASSERT_EQUAL(fake_posts() - posts, 1);
	}
	part();
}

/* A request that is signalled because its turn has come waits in the batch all the same. */
static void wire_drive__posts_what_is_signalled_already(void)
{
	uint64_t number = 0;
	bool copied;

	fake_config.engine = true;
	join();
	while (a.wire.batched == 0 || a.wire.signalled != a.wire.posted)
		put_to(&a.wire, "x", 0, 1, at(&b, 0), &copied, &number);
	for (uint64_t begin = now_ns(); !wire_drive(&a.wire, number) && now_ns() - begin < 10 * NS_PER_SECOND;)
		sched_yield();
	CU_ASSERT_TRUE(wire_done(&a.wire, number));
	part();
}

/* The origin may change as soon as `copied` says so. */
static void wire_put__says_whether_the_origin_is_free(void)
{
	static const size_t sizes[] = {
		1, WIRE_INLINE_WANTED, WIRE_INLINE_WANTED + 1, WIRE_BATCH_MAX, WIRE_BATCH_MAX + 1, WIRE_COPY_MAX,
	};
	uint64_t number;
	bool copied;

	fake_config.engine = true;
	join();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(a.memory, (int)i + 1, sizes[i]);
		put_to(&a.wire, a.memory, 0, sizes[i], at(&b, i * 10000), &copied, &number);
		CU_ASSERT_TRUE(copied);
		memset(a.memory, 0xff, sizes[i]);
	}
	put_to(&a.wire, a.memory, a.mr->lkey, 100, at(&b, 70000), &copied, &number);
	CU_ASSERT_TRUE(copied); /* inline all the same */
	put_to(&a.wire, a.memory, a.mr->lkey, 5000, at(&b, 70000), &copied, &number);
	CU_ASSERT_FALSE(copied);
	finish(&a);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CU_ASSERT_EQUAL(b.memory[i * 10000], i + 1);
		CU_ASSERT_EQUAL(b.memory[i * 10000 + sizes[i] - 1], i + 1);
		CU_ASSERT_EQUAL(b.memory[i * 10000 + sizes[i]], 0);
	}
	part();
}

/* Much more than the ring holds, in sizes that wrap at every place; the counters pass 2^32 on the way. */
static void wire_put__through_the_ring(void)
{
	uint8_t chunk[WIRE_COPY_MAX];
	uint32_t state = 1;

	fake_config.engine = true;
	fake_config.late_polls = 1;
	join();
	a.wire.copies.head = a.wire.copies.tail = a.wire.copies.signalled = 0u - 4 * COPY_RING_BYTES;
	for (int i = 0; i < 300; i++) {
		size_t size, offset = (size_t)(i % 20) * 9000;

		state = state * 1664525u + 1013904223u;
		size = 221 + (state >> 8) % (WIRE_COPY_MAX - 220);
		memset(chunk, i, size);
		CU_ASSERT_EQUAL(put(chunk, 0, size, offset), 0);
		if (i % 20 != 19)
			continue;
		finish(&a);
		for (int k = 0; k < 20; k++)
			CU_ASSERT_EQUAL(b.memory[(size_t)k * 9000 + 220], (uint8_t)(i - 19 + k));
	}
	CU_ASSERT(a.wire.copies.head < 0u - 4 * COPY_RING_BYTES); /* it has wrapped */
	CU_ASSERT_EQUAL(a.wire.copies.head, a.wire.copies.tail);
	part();
}

static void wire_get__registered_and_through_the_ring(void)
{
	uint8_t chunks[40][1000];
	uint64_t number;

	fake_config.engine = true;
	fake_config.late_polls = 2;
	join();
	for (size_t i = 0; i < MEMORY_BYTES; i++)
		b.memory[i] = (uint8_t)(i * 5 + i / 999);
	for (size_t i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(get_from(&a.wire, chunks[i], 0, 1000, at(&b, i * 1000), &number), 0);
	get_from(&a.wire, a.memory, a.mr->lkey, 100000, at(&b, 77), &number);
	finish(&a);
	CU_ASSERT_EQUAL(memcmp(chunks, b.memory, sizeof(chunks)), 0);
	CU_ASSERT_EQUAL(memcmp(a.memory, b.memory + 77, 100000), 0);
	part();
}

/* The old values come back to the callers that want them; one doorbell. */
static void wire_fetch_and_add__and_compare_and_swap(void)
{
	uint64_t old[3] = { 1, 1, 1 }, number, posts, word;

	fake_config.late_polls = 1;
	join();
	word = 40;
	memcpy(b.memory + 16, &word, sizeof(word));
	posts = fake_posts();
	CU_ASSERT_EQUAL(add(2, at(&b, 16), &old[0], &number), 0);
	CU_ASSERT_EQUAL(swap(42, 50, at(&b, 16), &old[1], &number), 0);
	CU_ASSERT_EQUAL(swap(42, 60, at(&b, 16), &old[2], &number), 0);
	CU_ASSERT_EQUAL(add((uint64_t)-1, at(&b, 16), NULL, &number), 0);
	CU_ASSERT_EQUAL(number, 4);
	CU_ASSERT_EQUAL(fake_posts(), posts);
	CU_ASSERT_EQUAL(old[0], 1); /* not before its completion */
	finish(&a);
	CU_ASSERT_EQUAL(fake_posts(), posts + 1);
	CU_ASSERT_EQUAL(old[0], 40);
	CU_ASSERT_EQUAL(old[1], 42);
	CU_ASSERT_EQUAL(old[2], 50); /* it was not 42 any more */
	memcpy(&word, b.memory + 16, sizeof(word));
	CU_ASSERT_EQUAL(word, 49);
	CU_ASSERT_EQUAL(fake_requests_of(IBV_WR_ATOMIC_FETCH_AND_ADD), 2);
	CU_ASSERT_EQUAL(fake_requests_of(IBV_WR_ATOMIC_CMP_AND_SWP), 2);
	part();
}

/*
 * Between puts of every size through the ring, and in queues of every depth: each comes back to its
 * own place.
 */
static void wire_fetch_and_add__through_the_ring(void)
{
	for (uint32_t depth = 1; depth <= 40; depth += 3) {
		uint64_t old[300], number;
		uint8_t chunk[501];

		fake_config.max_qp_wr = depth;
		fake_config.engine = true;
		join();
		memset(old, 0xff, sizeof(old));
		memset(chunk, 5, sizeof(chunk));
		for (size_t i = 0; i < 300; i++) {
			CU_ASSERT_EQUAL(put(chunk, 0, 1 + i, 4096), 0);
			CU_ASSERT_EQUAL(add(3, at(&b, 0), &old[i], &number), 0);
		}
		finish(&a);
		for (size_t i = 0; i < 300; i++)
			CU_ASSERT_EQUAL(old[i], 3 * i);
		part();
	}
}

/* Every level of the device does them. */
static void wire_compare_and_swap__every_level(void)
{
	static const enum ibv_atomic_cap levels[] = { IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		uint64_t old = 77, number;

		fake_config.atomics = levels[i];
		join();
		CU_ASSERT_EQUAL(a.devices.list[0].atomics, levels[i] == IBV_ATOMIC_HCA ? ATOMICS_HCA : ATOMICS_GLOB);
		swap(0, 5, at(&b, 8), &old, &number);
		finish(&a);
		CU_ASSERT_EQUAL(old, 0);
		swap(0, 6, at(&b, 8), &old, &number);
		finish(&a);
		CU_ASSERT_EQUAL(old, 5);
		CU_ASSERT_EQUAL(b.memory[8], 5);
		part();
	}
}

/*
 * The next request waits for the reads and atomics that are outstanding, once; without any there is
 * nothing to wait for.
 */
static void wire_fence__behind_reads_and_atomics_only(void)
{
	uint64_t number;

	fake_config.late_polls = 1;
	join();
	put("x", 0, 1, 0);
	wire_fence(&a.wire);
	put("y", 0, 1, 0);
	finish(&a);
	CU_ASSERT_EQUAL(fake_fences(), 0);
	get_from(&a.wire, a.memory, a.mr->lkey, 8, at(&b, 0), &number);
	wire_fence(&a.wire);
	put("z", 0, 1, 0);
	put("z", 0, 1, 1);
	finish(&a);
	CU_ASSERT_EQUAL(fake_fences(), 1);
	add(1, at(&b, 8), NULL, &number);
	wire_ring(&a.wire);
	wire_fence(&a.wire);
	wire_flag_signalled(&a.wire, 0, 1, at(&b, 16), &number);
	CU_ASSERT_EQUAL(fake_fences(), 2);
	finish(&a);
	wire_fence(&a.wire);
	put("w", 0, 1, 0);
	finish(&a);
	CU_ASSERT_EQUAL(fake_fences(), 2);
	part();
}

/* A put behind atomics must not overtake them, whether their old values are wanted or not. */
static void wire_put_behind__atomics(void)
{
	uint64_t number;

	fake_config.late_polls = 1;
	join();
	a.wire.flag_mode = FLAG_WRITE;
	put("x", 0, 1, 0);
	wire_put_behind(&a.wire, wire_sge("y", 1, 0), at(&b, 1), false, &number);
	finish(&a);
	CU_ASSERT_EQUAL(fake_fences(), 0);
	add(1, at(&b, 8), NULL, &number);
	wire_put_behind(&a.wire, wire_sge("z", 1, 0), at(&b, 1), false, &number);
	finish(&a);
	CU_ASSERT_EQUAL(fake_fences(), 1);
	part();
}

static void fail__a_lost_atomic_is_not_copied(void)
{
	uint64_t old = 77, number;

	join();
	fake_fail_request(1);
	add(1, at(&b, 0), &old, &number);
	wire_signal(&a.wire);
	wire_poll(&a.wire);
	CU_ASSERT_EQUAL(a.broken, 1);
	CU_ASSERT_EQUAL(old, 77);
	CU_ASSERT_EQUAL(add(1, at(&b, 0), &old, &number), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(swap(1, 2, at(&b, 0), NULL, &number), ORIEL_ERR_PEER);
	part();
}

/* ORIEL_ATOMICS beside what the device tells; a device without atomics registers memory without them. */
static void device_open__atomics(void)
{
	static const struct {
		enum ibv_atomic_cap told;
		const char *setting;
		int rc;
		enum atomic_level level;
	} cases[] = {
		{ IBV_ATOMIC_NONE, NULL, 0, ATOMICS_NONE },      { IBV_ATOMIC_HCA, NULL, 0, ATOMICS_HCA },
		{ IBV_ATOMIC_GLOB, NULL, 0, ATOMICS_GLOB },      { IBV_ATOMIC_NONE, "cpu", 0, ATOMICS_NONE },
		{ IBV_ATOMIC_HCA, "cpu", 0, ATOMICS_NONE },      { IBV_ATOMIC_GLOB, "cpu", 0, ATOMICS_GLOB },
		{ IBV_ATOMIC_HCA, "device", 0, ATOMICS_HCA },    { IBV_ATOMIC_GLOB, "device", 0, ATOMICS_HCA },
		{ IBV_ATOMIC_GLOB, "nobody", ORIEL_ERR_ARG, 0 }, { IBV_ATOMIC_NONE, "device", ORIEL_ERR_DEVICE, 0 },
	};
	uint8_t memory[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct device device;
		struct ibv_mr *mr;

		fake_config.atomics = cases[i].told;
		if (cases[i].setting)
			setenv("ORIEL_ATOMICS", cases[i].setting, 1);
		else
			unsetenv("ORIEL_ATOMICS");
		CU_ASSERT_EQUAL(device_open(&device, &verbs_system, NULL, NULL, 0), cases[i].rc);
		if (cases[i].rc)
			continue;
		CU_ASSERT_EQUAL(device.atomics, cases[i].level);
		mr = device_register(&device, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
		CU_ASSERT_PTR_NOT_NULL_FATAL(mr);
		device_deregister(&device, mr);
		device_close(&device);
	}
	unsetenv("ORIEL_ATOMICS");
	CU_ASSERT_EQUAL(fake_alive(), 0);
	fake_reset();
}

static void reserve__waits_for_room_in_the_queue(void)
{
	for (uint32_t depth = 1; depth <= 9; depth++) {
		fake_config.max_qp_wr = depth;
		fake_config.engine = true;
		join();
		for (size_t i = 0; i < 500; i++) {
			uint8_t byte = (uint8_t)(i + depth);

			CU_ASSERT_EQUAL(put(&byte, 0, 1, i), 0);
		}
		finish(&a);
		for (size_t i = 0; i < 500; i++)
			CU_ASSERT_EQUAL(b.memory[i], (uint8_t)(i + depth));
		part();
	}
}

static void wire_flag__every_mode(void)
{
	uint64_t number, value;

	for (int mode = FLAG_WRITE; mode <= FLAG_WAIT; mode++) {
		for (uint32_t max_inline = 0; max_inline <= 64; max_inline += 64) {
			fake_config.max_inline = max_inline;
			join();
			a.wire.flag_mode = (enum flag_mode)mode;
			for (value = 0; value < 100; value++) {
				put("data", 0, 4, 64);
				CU_ASSERT_EQUAL(wire_flag(&a.wire, value, value + 1, at(&b, 8), &number), 0);
			}
			finish(&a);
			memcpy(&value, b.memory + 8, sizeof(value));
			CU_ASSERT_EQUAL(value, 100);
			part();
		}
	}
}

/* wr_id is the number: one completion retires all before it, and nothing behind it. */
static void retire__by_number(void)
{
	uint64_t first, second;

	fake_config.late_polls = 3;
	join();
	put("x", 0, 1, 0);
	first = wire_signal(&a.wire);
	put("y", 0, 1, 1);
	second = a.wire.posted;
	CU_ASSERT_FALSE(wire_done(&a.wire, first));
	for (int i = 0; i < 4; i++)
		wire_poll(&a.wire);
	CU_ASSERT_TRUE(wire_done(&a.wire, first));
	CU_ASSERT_FALSE(wire_done(&a.wire, second));
	wire_signal(&a.wire);
	wire_signal(&a.wire); /* asked for already */
	for (int i = 0; i < 4; i++)
		wire_poll(&a.wire);
	CU_ASSERT_TRUE(wire_done(&a.wire, second));
	CU_ASSERT_EQUAL(a.wire.posted, second);
	part();
}

static void wire_ping__one_at_a_time(void)
{
	uint64_t requests;

	fake_config.late_polls = 5;
	join();
	requests = fake_requests();
	wire_ping(&a.wire);
	wire_ping(&a.wire);
	CU_ASSERT_EQUAL(fake_requests(), requests + 1);
	finish(&a);
	wire_ping(&a.wire);
	CU_ASSERT_EQUAL(fake_requests(), requests + 2);
	finish(&a);
	part();
}

static void fail__is_told_once_and_everything_after_refused(void)
{
	uint64_t number;
	bool copied;

	join();
	fake_fail_request(2);
	put("x", 0, 1, 0);
	wire_signal(&a.wire);
	put("y", 0, 1, 1);
	number = wire_signal(&a.wire);
	for (int i = 0; i < 4; i++)
		wire_poll(&a.wire);
	CU_ASSERT_EQUAL(a.broken, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(a.why, "retry counter"));
	CU_ASSERT_EQUAL(a.wire.state, WIRE_BROKEN);
	CU_ASSERT_TRUE(wire_done(&a.wire, number - 1));
	CU_ASSERT_FALSE(wire_done(&a.wire, number));
	CU_ASSERT_EQUAL(put("z", 0, 1, 2), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(put_to(&a.wire, a.memory, a.mr->lkey, 9000, at(&b, 0), &copied, &number), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(get_from(&a.wire, a.memory, 0, 9, at(&b, 0), &number), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(wire_flag_signalled(&a.wire, 0, 1, at(&b, 0), &number), ORIEL_ERR_PEER);
	wire_ping(&a.wire);
	wire_ring(&a.wire);
	CU_ASSERT_EQUAL(a.broken, 1);
	part();
}

/*
 * Without memory for its ring a wire says what it lacks and what helps, keeps nothing, and does it
 * at the next call.
 */
static void wire_get__without_memory_for_the_ring(void)
{
	size_t used_bytes;
	uint64_t number;
	uint8_t got = 7;

	join();
	b.memory[0] = 1;
	used_bytes = a.slabs.list[0].used_bytes;
	for (int i = 0; i < 2; i++) {
		err_set(ORIEL_ERR_MEMORY, "an older text");
		fake_fail_allocation(1);
		CU_ASSERT_EQUAL(get_from(&a.wire, &got, 0, 1, at(&b, 0), &number), ORIEL_ERR_MEMORY);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "oriel_mem_register"));
		CU_ASSERT_EQUAL(a.slabs.list[0].used_bytes, used_bytes);
	}
	CU_ASSERT_EQUAL(get_from(&a.wire, &got, 0, 1, at(&b, 0), &number), 0);
	finish(&a);
	CU_ASSERT_EQUAL(got, 1);
	part();
}

/* A get that is lost must not be copied out to the user. */
static void fail__a_lost_get_is_not_copied(void)
{
	uint8_t got[100];
	uint64_t number;

	join();
	memset(got, 7, sizeof(got));
	memset(b.memory, 1, 100);
	fake_fail_request(1);
	get_from(&a.wire, got, 0, sizeof(got), at(&b, 0), &number);
	wire_signal(&a.wire);
	wire_poll(&a.wire);
	CU_ASSERT_EQUAL(a.broken, 1);
	CU_ASSERT_EQUAL(got[0], 7);
	CU_ASSERT_EQUAL(got[99], 7);
	part();
}

static void wire_break__lets_go(void)
{
	join();
	put("x", 0, 1, 0);
	wire_break(&a.wire);
	CU_ASSERT_EQUAL(a.broken, 0); /* the side that breaks it knows */
	CU_ASSERT_EQUAL(a.id->qp->state, IBV_QPS_ERR);
	CU_ASSERT_EQUAL(b.memory[0], 0);
	CU_ASSERT_EQUAL(put("y", 0, 1, 0), ORIEL_ERR_PEER);
	wire_break(&a.wire);
	part();
}

#define PAIRS 200

/* One more queue pair of b's device. Whether there was room for its receive. */
static bool one_more(struct rdma_cm_id **id, struct wire_pair *pair)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	const struct device *device = &b.devices.list[0];

	addr.sin_port = rdma_get_src_port(device->listener);
	rdma_create_id(device->channel, id, NULL, RDMA_PS_TCP);
	rdma_resolve_addr(*id, NULL, (struct sockaddr *)&addr, 1000);
	take_event(&b);
	if (wire_make_pair(device, *id, 3, pair) == 0)
		return true;
	rdma_destroy_id(*id);
	return false;
}

static void drop_more(struct rdma_cm_id *id[], struct wire_pair pair[], int count)
{
	for (int i = 0; i < count; i++) {
		wire_drop_pair(&b.devices.list[0], id[i], &pair[i]);
		rdma_destroy_id(id[i]);
	}
}

/*
 * Small at first, whatever the job; it grows before there are too many, keeps what it holds, and is
 * used again.
 */
static void wakeup__grows_with_the_queue_pairs(void)
{
	struct rdma_cm_id *id[PAIRS];
	struct wire_pair pair[PAIRS];
	uint64_t number, ids[WAKEUP_BATCH];
	struct wakeup *wakeup;
	int most;

	join();
	wakeup = b.devices.list[0].wakeup;
	CU_ASSERT_TRUE(wakeup->cq->cqe <= 256);
	CU_ASSERT_EQUAL(wire_wake(&a.wire, &number), 0);
	for (int i = 0; i < PAIRS; i++) {
		CU_ASSERT_TRUE_FATAL(one_more(&id[i], &pair[i]));
		CU_ASSERT_TRUE(wakeup->cq->cqe >= 2 * (i + 2)); /* that of join is one */
	}
	most = wakeup->cq->cqe;
	CU_ASSERT_TRUE(most <= 8 * PAIRS);
	CU_ASSERT_EQUAL(wakeup_take(wakeup, ids), 1);
	CU_ASSERT_EQUAL(ids[0], 2);
	for (int round = 0; round < 3; round++) {
		drop_more(id, pair, PAIRS);
		for (int i = 0; i < PAIRS; i++)
			CU_ASSERT_TRUE_FATAL(one_more(&id[i], &pair[i]));
	}
	CU_ASSERT_EQUAL(wakeup->cq->cqe, most);
	drop_more(id, pair, PAIRS);
	part();
}

/* The queue pair that there is no room for is not made, and says why; the others stay. */
static void wakeup__a_device_that_refuses_to_grow(void)
{
	struct rdma_cm_id *id[PAIRS];
	struct wire_pair pair[PAIRS];
	uint64_t number, ids[WAKEUP_BATCH];
	int count = 0;

	join();
	fake_config.max_cqe = b.devices.list[0].wakeup->cq->cqe;
	errno = 0;
	while (count < PAIRS && one_more(&id[count], &pair[count]))
		count++;
	CU_ASSERT_TRUE(count > 30 && count < PAIRS);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "ibv_resize_cq"));
	CU_ASSERT_EQUAL(wire_wake(&a.wire, &number), 0);
	CU_ASSERT_EQUAL(wakeup_take(b.devices.list[0].wakeup, ids), 1);
	drop_more(id, pair, count);
	part();
}

static void reach__self_needs_no_queue_pair(void)
{
	struct device device = { 0 };
	struct wire wire = { 0 };
	struct direct_access self;
	uint8_t memory[9000];
	_Alignas(8) uint64_t word = 0;
	uint64_t number = 0;
	void *here;

	wire_init(&wire, NULL);
	direct_init(&self, &wire, &device, true);
	CU_ASSERT_TRUE(direct_map(&self, (struct remote){ (uintptr_t)memory, 0 }, sizeof(memory), &here));
	CU_ASSERT_PTR_EQUAL(here, memory);
	CU_ASSERT_TRUE(direct_map(&self, (struct remote){ 0, 0 }, 0, &here)); /* a window of nothing */
	direct_unmap(&self, memory, sizeof(memory));
	CU_ASSERT_EQUAL(direct_flag(&self, 0, 7, (struct remote){ (uintptr_t)&word, 0 }, &number), 0);
	CU_ASSERT_EQUAL(word, 7);
	CU_ASSERT_TRUE(wire_done(&wire, wire_signal(&wire)));
	wire_ping(&wire);
	direct_close(&self);
	wire_destroy(&wire);
}

static bool lends;
static uint64_t mapped_word;

static int map_a_word(struct ibv_qp *qp, uint32_t rkey, unsigned int access, struct softverbs_mapping *mapping)
{
	(void)qp;
	(void)rkey;
	(void)access;
	*mapping = (struct softverbs_mapping){ 0, sizeof(mapped_word), &mapped_word };
	return lends ? 0 : EOPNOTSUPP;
}

static void unmap_word(const struct softverbs_mapping *mapping)
{
	(void)mapping;
}

/* A device that waits for its peer lends nothing yet. The answer for a flag is kept for ever. */
static void reach__no_to_a_reader_is_not_kept(void)
{
	struct device device = { .direct = { .map = map_a_word, .unmap = unmap_word } };
	struct remote read_first = { 0, 1 }, flag_first = { 0, 2 };
	struct direct_access direct;

	join();
	direct_init(&direct, &a.wire, &device, false);
	lends = false;
	CU_ASSERT_PTR_NULL(direct_words(&direct, read_first, sizeof(mapped_word)));
	CU_ASSERT_PTR_NULL(direct_word(&direct, flag_first));
	lends = true;
	CU_ASSERT_PTR_EQUAL(direct_word(&direct, read_first), &mapped_word);
	CU_ASSERT_PTR_NULL(direct_words(&direct, flag_first, sizeof(mapped_word)));
	CU_ASSERT_PTR_NULL(direct_word(&direct, flag_first));
	direct_close(&direct);
	part();
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_wire(void)
{
	CU_pSuite suite = CU_add_suite("wire", init, NULL);

	CU_ADD_TEST(suite, wire_put__small_ones_leave_with_the_flag);
	CU_ADD_TEST(suite, wire_put__continues_the_request_before);
	CU_ADD_TEST(suite, wire_put__continues_nothing_at_the_rings_end);
	CU_ADD_TEST(suite, wire_put__continues_nothing_else);
	CU_ADD_TEST(suite, wire_put__a_full_batch_leaves_by_itself);
	CU_ADD_TEST(suite, wire_put__a_batch_is_bounded_in_bytes);
	CU_ADD_TEST(suite, wire_signal__posts_nothing_more);
	CU_ADD_TEST(suite, wire_drive__posts_what_is_signalled_already);
	CU_ADD_TEST(suite, wire_put__says_whether_the_origin_is_free);
	CU_ADD_TEST(suite, wire_put__through_the_ring);
	CU_ADD_TEST(suite, wire_get__registered_and_through_the_ring);
	CU_ADD_TEST(suite, wire_fetch_and_add__and_compare_and_swap);
	CU_ADD_TEST(suite, wire_fetch_and_add__through_the_ring);
	CU_ADD_TEST(suite, wire_compare_and_swap__every_level);
	CU_ADD_TEST(suite, wire_fence__behind_reads_and_atomics_only);
	CU_ADD_TEST(suite, wire_put_behind__atomics);
	CU_ADD_TEST(suite, reserve__waits_for_room_in_the_queue);
	CU_ADD_TEST(suite, wire_flag__every_mode);
	CU_ADD_TEST(suite, retire__by_number);
	CU_ADD_TEST(suite, wire_ping__one_at_a_time);
	CU_ADD_TEST(suite, fail__is_told_once_and_everything_after_refused);
	CU_ADD_TEST(suite, wire_get__without_memory_for_the_ring);
	CU_ADD_TEST(suite, fail__a_lost_get_is_not_copied);
	CU_ADD_TEST(suite, fail__a_lost_atomic_is_not_copied);
	CU_ADD_TEST(suite, device_open__atomics);
	CU_ADD_TEST(suite, wire_break__lets_go);
	CU_ADD_TEST(suite, wakeup__grows_with_the_queue_pairs);
	CU_ADD_TEST(suite, wakeup__a_device_that_refuses_to_grow);
	CU_ADD_TEST(suite, reach__self_needs_no_queue_pair);
	CU_ADD_TEST(suite, reach__no_to_a_reader_is_not_kept);
}
