// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_conn.c - conn.c: both sides at once, half-open connections, bad proofs, peers that are
 * late or never come
 *
 * Where the order of things matters, one rank is played by the test itself with bare rdma_cm calls.
 */
#include <CUnit/CUnit.h>
#include <poll.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/handshake.h"
#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/peer.h"
#include "base/order.h"
#include "suites_fake.h"
#include "base/util.h"

static void begin(const char *what)
{
	fake_reset();
	ranks_limit(30, "%s", what);
}

/*
 * The next event of the stranger's channel within five seconds; -1 if none. *first: first byte of
 * its private data.
 */
static int next_event(struct rdma_event_channel *channel, struct rdma_cm_id *id, uint8_t *first)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int type = -1;

	while (type < 0 && poll(&fd, 1, 5000) == 1) {
		if (rdma_get_cm_event(channel, &event))
			continue;
		if (event->id == id) {
			type = (int)event->event;
			*first = event->param.conn.private_data_len ? *(const uint8_t *)event->param.conn.private_data : 0;
		}
		rdma_ack_cm_event(event);
	}
	return type;
}

/* Send a request with these private data to the address that a rank has put. */
static struct rdma_cm_id *request(struct rdma_event_channel *channel, const char *addr_text, const void *data,
                                  uint8_t size)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct rdma_conn_param param = { .private_data = data, .private_data_len = size };
	struct rdma_cm_id *id;
	uint8_t unused;

	addr.sin_port = htons((uint16_t)atoi(strchr(addr_text, ' ') + 1));
	rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000);
	CU_ASSERT_EQUAL(next_event(channel, id, &unused), RDMA_CM_EVENT_ADDR_RESOLVED);
	rdma_resolve_route(id, 1000);
	CU_ASSERT_EQUAL(next_event(channel, id, &unused), RDMA_CM_EVENT_ROUTE_RESOLVED);
	rdma_connect(id, &param);
	return id;
}

/*
 * Makes a request like rank 1's to rank 0, except for what the caller has changed in `data` and
 * key.
 */
static struct rdma_cm_id *proper_request(struct rdma_event_channel *channel, const struct oriel_job *to, uint32_t rank,
                                         uint32_t attempt)
{
	struct handshake data = { .rank = rank, .attempt = attempt };
	uint8_t bytes[HANDSHAKE_BYTES];

	handshake_encode(bytes, &data, HANDSHAKE_REQUEST, (uint32_t)to->rank, to->endpoint.key);
	return request(channel, to->devices.list[0].addr_text, bytes, sizeof(bytes));
}

static void barrier_and_leave(struct rank *rank)
{
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void join_barrier_leave(struct rank *rank)
{
	if (rank_note(rank, "job_open", rank_join(rank, NULL)) == 0)
		barrier_and_leave(rank);
}

/* Glare: both requests are under way before either has arrived. */

static void *release_two(void *arg)
{
	(void)arg;
	while (fake_held_requests() < 2)
		usleep(500);
	fake_release_requests();
	return NULL;
}

static void join_glare(struct rank *rank)
{
	pthread_t thread;

	if (rank->rank == 0)
		pthread_create(&thread, NULL, release_two, NULL);
	if (rank_note(rank, "job_open", rank_join(rank, NULL)) == 0) {
		rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
		rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
		if (fake_queue_pairs() != 2)
			rank->wrong++;
		rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
		rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
	}
	if (rank->rank == 0)
		pthread_join(thread, NULL);
}

static void conn__both_at_once_leaves_one_connection(void)
{
	struct rank ranks[2];

	for (int round = 0; round < 20; round++) {
		begin("both sides connect at once");
		fake_config.hold_requests = true;
		ranks_run(2, join_glare, NULL, ranks);
		ranks_check(ranks, 2);
	}
}

/*
 * A lost answer leaves the other side half-open; the next attempt, with a higher number, takes its
 * place.
 */
static void conn__newer_attempt_replaces_a_half_open_one(void)
{
	static const char *const events[] = { "CONNECT_REQUEST", "CONNECT_RESPONSE", "ESTABLISHED" };
	struct rank ranks[2];

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		begin(events[i]);
		fake_drop_first(events[i]);
		ranks_run(2, join_barrier_leave, NULL, ranks);
		CU_ASSERT_PTR_NOT_NULL(fake_hit());
		CU_ASSERT_EQUAL(ranks[0].errors + ranks[1].errors, 0);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

/* Tell the others to go on. */
static void go(struct rank *rank)
{
	__atomic_store_n(&rank->arg, rank, __ATOMIC_RELEASE);
}

static void wait_for_rank_0(const struct rank *rank)
{
	while (!__atomic_load_n(&rank[-rank->rank].arg, __ATOMIC_ACQUIRE))
		usleep(500);
}

/* A request while there is a connection: nothing that works is given up for it. */
static void meet_third(struct rank *rank, struct rdma_event_channel *channel)
{
	struct rdma_cm_id *third = proper_request(channel, rank->job, 1, 3);
	uint8_t byte = 0;

	CU_ASSERT_EQUAL(next_event(channel, third, &byte), RDMA_CM_EVENT_REJECTED);
	CU_ASSERT_EQUAL(fake_queue_pairs(), 1);
	rdma_destroy_id(third);
}

/* Rank 1 is played by rank 0's own thread, which defers the establishment. */
static void meet_attempts(struct rank *rank)
{
	struct rdma_event_channel *channel, *unread;
	struct rdma_cm_id *first, *second;
	uint8_t byte = 0;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	channel = rdma_create_event_channel();
	unread = rdma_create_event_channel();
	first = proper_request(unread, rank->job, 1, 1);
	while (fake_queue_pairs() == 0) /* the request is taken; its answer stays unread */
		usleep(500);
	second = proper_request(channel, rank->job, 1, 2);
	CU_ASSERT_EQUAL(next_event(channel, second, &byte), RDMA_CM_EVENT_ESTABLISHED);
	CU_ASSERT_EQUAL(next_event(unread, first, &byte), RDMA_CM_EVENT_ESTABLISHED); /* the answer on its way */
	CU_ASSERT_EQUAL(next_event(unread, first, &byte), RDMA_CM_EVENT_REJECTED);
	CU_ASSERT_EQUAL(fake_queue_pairs(), 1);
	rdma_destroy_id(first);
	meet_third(rank, channel);
	rdma_destroy_id(second); /* rank 1 goes without a word */
	CU_ASSERT_EQUAL(oriel_barrier(rank->job), ORIEL_ERR_PEER);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "rank 1"));
	go(rank);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(unread);
}

/* Rank 1 does nothing itself, yet must not count as ended before its part has been played. */
static void play_two(struct rank *rank)
{
	if (rank->rank == 0)
		meet_attempts(rank);
	else
		wait_for_rank_0(rank);
}

static void conn__half_open_gives_way_established_does_not(void)
{
	struct rank ranks[2];

	begin("three requests of one rank");
	ranks_run(2, play_two, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

static void refused(struct rank *rank, struct rdma_event_channel *channel, const void *data, uint8_t size)
{
	struct rdma_cm_id *id = request(channel, rank->job->devices.list[0].addr_text, data, size);
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };
	uint8_t byte = 9;

	CU_ASSERT_EQUAL(next_event(channel, id, &byte), RDMA_CM_EVENT_REJECTED);
	CU_ASSERT_EQUAL(byte, 0);
	rdma_destroy_id(id);
	CU_ASSERT_EQUAL(oriel_usage(rank->job, &usage), 0);
	CU_ASSERT_EQUAL(usage.peers, 0);
	CU_ASSERT_EQUAL(fake_queue_pairs(), 0);
}

static void meet_bad_proofs(struct rank *rank, struct rdma_event_channel *channel)
{
	struct handshake data = { .rank = 1, .attempt = 1 };
	const uint8_t *key = rank->job->endpoint.key;
	uint8_t bytes[HANDSHAKE_BYTES], other[HANDSHAKE_KEY_BYTES] = { 0 }, noise[56];

	memset(noise, 0xa5, sizeof(noise));
	refused(rank, channel, NULL, 0);
	refused(rank, channel, noise, sizeof(noise));
	handshake_encode(bytes, &data, HANDSHAKE_REQUEST, 0, other);
	refused(rank, channel, bytes, sizeof(bytes));
	handshake_encode(bytes, &data, HANDSHAKE_REQUEST, 1, key); /* made for rank 1 */
	refused(rank, channel, bytes, sizeof(bytes));
	handshake_encode(bytes, &data, HANDSHAKE_ANSWER, 0, key); /* an answer is no request */
	refused(rank, channel, bytes, sizeof(bytes));
	data.rank = 0; /* its own rank */
	handshake_encode(bytes, &data, HANDSHAKE_REQUEST, 0, key);
	refused(rank, channel, bytes, sizeof(bytes));
	data.rank = 3; /* no rank of the job */
	handshake_encode(bytes, &data, HANDSHAKE_REQUEST, 0, key);
	refused(rank, channel, bytes, sizeof(bytes));
	data.rank = UINT32_MAX;
	handshake_encode(bytes, &data, HANDSHAKE_REQUEST, 0, key);
	refused(rank, channel, bytes, sizeof(bytes));
}

static void be_attacked(struct rank *rank)
{
	struct rdma_event_channel *channel;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	if (rank->rank == 0) {
		channel = rdma_create_event_channel();
		meet_bad_proofs(rank, channel);
		rdma_destroy_event_channel(channel);
		go(rank);
	}
	wait_for_rank_0(rank);
	barrier_and_leave(rank);
}

/* Whatever strangers send changes nothing: the job runs on. */
static void conn__requests_without_a_proof_are_dropped(void)
{
	struct rank ranks[3];

	begin("requests without a proof");
	ranks_run(3, be_attacked, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].errors + ranks[1].errors + ranks[2].errors, 0);
	CU_ASSERT_TRUE(ranks_clean());
}

static void conn__other_key_is_out_of_reach(void)
{
	struct rank ranks[2];

	begin("another key");
	setenv("ORIEL_CONNECT_TIMEOUT", "3", 1);
	fake_world_false_keys(true);
	ranks_run(2, join_barrier_leave, NULL, ranks);
	fake_world_false_keys(false);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(ranks[i].first_error, ORIEL_ERR_ROUTE);
		CU_ASSERT_PTR_NOT_NULL(strstr(ranks[i].first_text, "it refuses connections at 10.9.0.1"));
	}
	CU_ASSERT_TRUE(ranks_clean());
}

static void join_but_last(struct rank *rank)
{
	if (rank->rank != rank->size - 1)
		join_barrier_leave(rank);
}

static void conn__peer_that_ended_before_it_joined(void)
{
	struct rank ranks[3];

	begin("a peer that ended early");
	ranks_run(3, join_but_last, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].first_error, ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(ranks[1].first_error, ORIEL_ERR_PEER);
	CU_ASSERT_PTR_NOT_NULL(strstr(ranks[0].first_text, "rank 2"));
	CU_ASSERT_TRUE(ranks_clean());
}

static void join_late(struct rank *rank)
{
	if (rank->rank == 1)
		usleep(*(const useconds_t *)rank->arg);
	join_barrier_leave(rank);
}

/*
 * The deadline of a connection begins when the peer is there, not when it is first asked for. A
 * rank that gets no processor may miss a short one: it is tried with longer ones then.
 */
static void conn__peer_that_is_late(void)
{
	static const char *const limits[] = { "0.4", "2", "10" };
	static const useconds_t late_us[] = { 700000, 2500000, 12000000 };
	struct rank ranks[2];
	int errors = 1;

	for (int i = 0; i < 3 && errors; i++) {
		begin("a late peer");
		setenv("ORIEL_CONNECT_TIMEOUT", limits[i], 1);
		ranks_run(2, join_late, (void *)(uintptr_t)&late_us[i], ranks);
		errors = ranks[0].errors + ranks[1].errors;
		CU_ASSERT_TRUE(ranks_clean());
	}
	CU_ASSERT_EQUAL(errors, 0);
}

/*
 * A rank that has accepted a request does not give it up while the answer is unread: the two sides
 * would have different connections.
 */
static void conn__answer_that_is_fetched_late(void)
{
	struct rank ranks[2];

	begin("an answer that is fetched late");
	fake_config.late_answer_ms = 2500;
	ranks_run(2, join_barrier_leave, NULL, ranks);
	ranks_check(ranks, 2);
}

/* Wait for the other of two ranks, without the library. */
static void meet(void)
{
	static int arrived; /* by both together: even when all have come */
	int round = __atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL) / 2;

	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < (round + 1) * 2)
		usleep(500);
}

/* 0 is no limit, not no time. */
static void conn__without_a_limit_of_time(void)
{
	struct rank ranks[2];

	begin("no limit of time for connecting");
	setenv("ORIEL_CONNECT_TIMEOUT", "0", 1);
	ranks_run(2, join_barrier_leave, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].errors + ranks[1].errors, 0);
	CU_ASSERT_TRUE(ranks_clean());
}

/* Both sides are short; the ranks have met before they are, and meet again before they are not. */
static void join_short(struct rank *rank)
{
	int wanted = *(const int *)rank->arg == EMFILE ? ORIEL_ERR_LIMIT : ORIEL_ERR_MEMORY;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	meet();
	fake_config.shortage = *(const int *)rank->arg;
	CU_ASSERT_EQUAL(oriel_barrier(rank->job), wanted);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), rank->rank ? "rank 0" : "rank 1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "ulimit"));
	CU_ASSERT_EQUAL(rank->job->deaths.count, 0);
	meet();
	fake_config.shortage = 0;
	barrier_and_leave(rank);
}

/* Out of descriptors is the rank's own trouble, not the peer's death; it passes. */
static void conn__out_of_descriptors(void)
{
	static const int errors[] = { EMFILE, ENOMEM };
	struct rank ranks[2];

	for (size_t i = 0; i < 2; i++) {
		begin("out of descriptors");
		ranks_run(2, join_short, (void *)(uintptr_t)&errors[i], ranks);
		CU_ASSERT_EQUAL(ranks[0].errors + ranks[1].errors, 0);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

/*
 * Put something else in place of every descriptor that is polled with, as a program does that
 * closes all it finds.
 */
static void take_polls_away(void)
{
	int null = open("/dev/null", O_RDONLY);
	char path[64], target[64];

	for (int fd = 3; fd < 256; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		if (length > 0 && memmem(target, (size_t)length, "eventpoll", 9))
			dup2(null, fd);
	}
	close(null);
}

static void join_and_go_deaf(struct rank *rank)
{
	int rc;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	meet();
	if (rank->rank == 0)
		take_polls_away();
	meet();
	while ((rc = oriel_barrier(rank->job)) == 0)
		;
	CU_ASSERT_EQUAL(rc, ORIEL_ERR_PEER);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "rank"));
	meet();
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
}

/* A poll that fails ends neither the process nor in a hang: everybody is out of reach. */
static void service__poll_fails(void)
{
	struct rank ranks[2];

	begin("a poll that fails");
	ranks_run(2, join_and_go_deaf, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].errors + ranks[1].errors, 0);
	CU_ASSERT_TRUE(ranks_clean());
}

static void join_in_vain(struct rank *rank)
{
	const char *const *setting = rank->arg;

	CU_ASSERT_EQUAL(rank_join(rank, NULL), ORIEL_ERR_ARG);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), setting[0]));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), setting[1]));
}

/* A setting that cannot be read is an error, not ignored; nothing is left of the job. */
static void job_open__settings_that_cannot_be_read(void)
{
	static const char *const settings[][2] = {
		{ "ORIEL_TIMEOUT", "10s" },       { "ORIEL_TIMEOUT", "nan" }, { "ORIEL_WATCHDOG", "-1" },
		{ "ORIEL_CONNECT_TIMEOUT", "x" }, { "ORIEL_FLAGS", "bogus" }, { "ORIEL_ATOMICS", "gpu" },
		{ "ORIEL_MAX_MESSAGE", "abc" },   { "ORIEL_SHARE", "yes" },   { "ORIEL_KEEP_REGISTERED", "2" },
	};
	struct rank ranks[1];

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		begin(settings[i][0]);
		setenv(settings[i][0], settings[i][1], 1);
		ranks_run(1, join_in_vain, (void *)(uintptr_t)settings[i], ranks);
		unsetenv(settings[i][0]);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

static void conn__address_that_leads_nowhere(void)
{
	static const char *const texts[] = {
		"",
		"10.9.0.1",
		"10.9.0.1 1",
		"nonsense 77",
		"1.2.3.4.5 6",
		":: 9",
		"10.9.0.1 99999999999999999999",
		"a-host-name-that-is-much-longer-than-any-numeric-address-can-ever-be-and-than-the-buffer-for-it 1",
	};
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	struct endpoint endpoint;
	struct rank ranks[2];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		begin(texts[i]);
		setenv("ORIEL_CONNECT_TIMEOUT", "0.15", 1);
		endpoint_make(&endpoint, texts[i], "", ATOMICS_AS_REPORTED);
		fake_world_false_value(bytes, endpoint_encode(&endpoint, bytes));
		ranks_run(2, join_barrier_leave, NULL, ranks);
		fake_world_false_value(NULL, 0);
		for (int n = 0; n < 2; n++) /* no process answers, or the address makes no sense */
			CU_ASSERT(ranks[n].first_error == ORIEL_ERR_PEER || ranks[n].first_error == ORIEL_ERR_ROUTE);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

/* A peer of another build is refused at once, and by name. */
static void conn__endpoint_of_another_version(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	struct endpoint endpoint;
	struct rank ranks[2];

	begin("an endpoint of another version");
	endpoint_make(&endpoint, "10.9.0.1 1", "", ATOMICS_AS_REPORTED);
	fake_world_false_value(bytes, endpoint_encode(&endpoint, bytes));
	bytes[3]++;
	ranks_run(2, join_barrier_leave, NULL, ranks);
	fake_world_false_value(NULL, 0);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(ranks[i].first_error, ORIEL_ERR_ROUTE);
		CU_ASSERT_PTR_NOT_NULL(strstr(ranks[i].first_text, "built with another liboriel"));
	}
	CU_ASSERT_TRUE(ranks_clean());
}

/* Asynchronous events of the device, reported while all ranks wait. */

struct misfortune {
	enum ibv_event_type type;
	int wanted;
};

/* The service thread has taken the event; for one that means nothing, there is nothing to see. */
static void wait_for_death(struct rank *rank, const struct misfortune *misfortune)
{
	uint64_t begin_ns = now_ns();

	while (misfortune->wanted && counter_load(&rank->job->deaths.count) == 0 &&
	       now_ns() - begin_ns < 10 * NS_PER_SECOND)
		usleep(500);
}

static void join_and_suffer(struct rank *rank)
{
	const struct misfortune *misfortune = rank->arg;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	if (rank->rank == 0) {
		usleep(20000); /* rank 1 waits in its second barrier */
		fake_async(misfortune->type);
		wait_for_death(rank, misfortune);
	}
	barrier_and_leave(rank);
}

static void check_async(enum ibv_event_type type, int wanted)
{
	struct misfortune misfortune = { type, wanted };
	struct rank ranks[2];

	begin("an event of the device");
	ranks_run(2, join_and_suffer, &misfortune, ranks);
	CU_ASSERT_EQUAL(ranks[0].first_error, wanted);
	CU_ASSERT_EQUAL(ranks[1].first_error, wanted);
	CU_ASSERT_TRUE(ranks_clean());
}

static void service__device_events(void)
{
	check_async(IBV_EVENT_QP_FATAL, ORIEL_ERR_PEER);
	check_async(IBV_EVENT_QP_ACCESS_ERR, ORIEL_ERR_PEER);
	check_async(IBV_EVENT_DEVICE_FATAL, ORIEL_ERR_PEER);
	check_async(IBV_EVENT_CQ_ERR, ORIEL_ERR_PEER);
	check_async(IBV_EVENT_PORT_ACTIVE, 0);
	check_async(IBV_EVENT_GID_CHANGE, 0);
}

/* The launcher. */

static void lose_launcher(struct rank *rank)
{
	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	if (rank->rank == 0)
		fake_world_lost(rank->world);
	usleep(20000);
	barrier_and_leave(rank);
}

/* Ranks that are connected go on without the launcher, and leave in order. */
static void service__lost_launcher(void)
{
	struct rank ranks[2];

	begin("the launcher is lost");
	ranks_run(2, lose_launcher, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].errors + ranks[1].errors, 0);
	CU_ASSERT_TRUE(ranks_clean());
}

static void ask_for_abort(struct rank *rank)
{
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	CU_ASSERT_EQUAL(oriel_abort(rank->job, 42, "enough"), 0);
	CU_ASSERT_EQUAL(fake_world_aborted(rank->world), 42);
	CU_ASSERT_EQUAL(oriel_abort(rank->job, 1000, NULL), 0);
	CU_ASSERT_EQUAL(fake_world_aborted(rank->world), 1);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), 0);
}

static void service__abort_is_passed_on(void)
{
	struct rank ranks[1];

	begin("abort");
	ranks_run(1, ask_for_abort, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

/* Rank 1 tells of a layout that is not rank 0's; it stays until rank 0 has seen it. */
static void meet_another_build(struct rank *rank)
{
	oriel_group *world;
	oriel_win *win;
	struct peer *other;
	uint64_t word = 0;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	CU_ASSERT_EQUAL(peer_get(rank->job, 1 - rank->rank, &other), 0);
	if (rank->rank == 1)
		other->area->head.layout_version++;
	CU_ASSERT_EQUAL(oriel_group_world(rank->job, &world), 0);
	CU_ASSERT_EQUAL_FATAL(oriel_win_create(&word, sizeof(word), 1, NULL, world, &win), 0);
	if (rank->rank == 1) {
		go(rank);
		CU_ASSERT_EQUAL(oriel_win_free(&win), ORIEL_ERR_PEER);
	} else {
		while (!__atomic_load_n(&rank[1].arg, __ATOMIC_ACQUIRE))
			usleep(500);
		CU_ASSERT_EQUAL(oriel_win_start(win, world, 0), 0);
		CU_ASSERT_EQUAL(oriel_put(win, "x", 1, 1, 0), ORIEL_ERR_PEER);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "built with another liboriel: memory layout"));
		CU_ASSERT_EQUAL(oriel_win_free(&win), ORIEL_ERR_PEER);
	}
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
}

static void lookup__another_layout_is_refused(void)
{
	struct rank ranks[2];

	begin("a peer of another build");
	ranks_run(2, meet_another_build, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

/* Rank 1 has made the window; nothing is carried out between the two while rank 0 looks it up. */
static void look_up_in_vain(struct rank *rank)
{
	oriel_group *world;
	oriel_win *win;
	uint64_t word = 0;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	CU_ASSERT_EQUAL(oriel_group_world(rank->job, &world), 0);
	CU_ASSERT_EQUAL_FATAL(oriel_win_create(&word, sizeof(word), 1, NULL, world, &win), 0);
	if (rank->rank == 1) {
		go(rank);
	} else {
		while (!__atomic_load_n(&rank[1].arg, __ATOMIC_ACQUIRE))
			usleep(500);
		rank->job->limits.connect_timeout_ms = 100;
		fake_config.engine_rests = true;
		CU_ASSERT_EQUAL(oriel_win_start(win, world, 0), 0);
		CU_ASSERT_EQUAL(oriel_put(win, "x", 1, 1, 0), ORIEL_ERR_PEER);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "looked up in 100 ms (ORIEL_CONNECT_TIMEOUT)"));
		fake_config.engine_rests = false;
	}
	CU_ASSERT_EQUAL(oriel_win_free(&win), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
}

/* The limit is the one for connecting, which a user can raise, and the error names it. */
static void lookup__ends_with_the_limit_for_connecting(void)
{
	struct rank ranks[2];

	begin("a peer that does not answer a lookup");
	fake_config.engine = true;
	ranks_run(2, look_up_in_vain, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

static void finalize_twice(struct rank *rank)
{
	uint64_t begin_ns;
	int rc;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	CU_ASSERT_EQUAL(oriel_barrier(rank->job), 0);
	rank->job->limits.timeout_ms = 60;
	if (rank->rank == 1)
		wait_for_rank_0(rank);
	begin_ns = now_ns();
	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_TIMEOUT);
		CU_ASSERT(now_ns() - begin_ns >= 60 * NS_PER_MS);
		CU_ASSERT_PTR_NOT_NULL_FATAL(rank->job);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "rank 1"));
		CU_ASSERT_EQUAL(oriel_barrier(rank->job), ORIEL_ERR_SYNC);
		go(rank);
	}
	while ((rc = oriel_finalize(&rank->job)) == ORIEL_ERR_TIMEOUT)
		;
	CU_ASSERT_EQUAL(rc, 0);
	CU_ASSERT_PTR_NULL(rank->job);
}

/* E5: after a timeout the job lives on and the call can be made again. */
static void service__finalize_after_a_timeout(void)
{
	struct rank ranks[2];

	begin("finalize twice");
	ranks_run(2, finalize_twice, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

void suite_conn(void)
{
	CU_pSuite suite = CU_add_suite("conn", NULL, NULL);

	CU_ADD_TEST(suite, conn__both_at_once_leaves_one_connection);
	CU_ADD_TEST(suite, conn__newer_attempt_replaces_a_half_open_one);
	CU_ADD_TEST(suite, conn__half_open_gives_way_established_does_not);
	CU_ADD_TEST(suite, conn__requests_without_a_proof_are_dropped);
	CU_ADD_TEST(suite, conn__other_key_is_out_of_reach);
	CU_ADD_TEST(suite, conn__peer_that_ended_before_it_joined);
	CU_ADD_TEST(suite, conn__peer_that_is_late);
	CU_ADD_TEST(suite, conn__answer_that_is_fetched_late);
	CU_ADD_TEST(suite, conn__without_a_limit_of_time);
	CU_ADD_TEST(suite, conn__out_of_descriptors);
	CU_ADD_TEST(suite, service__poll_fails);
	CU_ADD_TEST(suite, job_open__settings_that_cannot_be_read);
	CU_ADD_TEST(suite, conn__address_that_leads_nowhere);
	CU_ADD_TEST(suite, conn__endpoint_of_another_version);
	CU_ADD_TEST(suite, lookup__another_layout_is_refused);
	CU_ADD_TEST(suite, lookup__ends_with_the_limit_for_connecting);
	CU_ADD_TEST(suite, service__device_events);
	CU_ADD_TEST(suite, service__lost_launcher);
	CU_ADD_TEST(suite, service__abort_is_passed_on);
	CU_ADD_TEST(suite, service__finalize_after_a_timeout);
}
