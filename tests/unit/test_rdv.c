// SPDX-License-Identifier: BSD-2-Clause
/* test_rdv.c - bootstrap/launcher/rdv.c */
#include "launcher/rdv.h"
#include "launcher/kvs.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#define SIZE 3

/*
 * The rendezvous' actions so far: "R+;" admitted, "R:D text;" reported D's death, "R.k=v;"
 * answered, "R abort;"
 */
static char log_text[4096];
static struct rdv *rdv;

static void note(const char *text)
{
	strncat(log_text, text, sizeof(log_text) - strlen(log_text) - 1);
}

static void on_send(void *arg, int rank, const struct proto_msg *msg)
{
	char text[600] = "?";

	(void)arg;
	if (msg->type == PROTO_DIED)
		snprintf(text, sizeof(text), "%d:%u %s;", rank, msg->rank, msg->text);
	else if (msg->type == PROTO_VALUE)
		snprintf(text, sizeof(text), "%d.%s=%.*s;", rank, msg->key, msg->found ? msg->value_size : 1,
		         msg->found ? (const char *)msg->value : "-");
	note(text);
}

static void on_admit(void *arg, int rank)
{
	char text[16];

	(void)arg;
	snprintf(text, sizeof(text), "%d+;", rank);
	note(text);
}

static void on_abort(void *arg, int rank, int status, const char *reason)
{
	char text[64];

	(void)arg;
	snprintf(text, sizeof(text), "%d abort %d %s;", rank, status, reason);
	note(text);
}

static const struct rdv_events events = { on_send, on_admit, on_abort };

static void create(void)
{
	log_text[0] = '\0';
	rdv = rdv_create(SIZE, &events, NULL);
}

static void destroy(void)
{
	rdv_destroy(rdv);
}

static void expect_log(const char *expected)
{
	CU_ASSERT_STRING_EQUAL(log_text, expected);
	if (strcmp(log_text, expected) != 0)
		printf("\"%s\" instead of \"%s\"\n", log_text, expected);
	log_text[0] = '\0';
}

static enum rdv_answer join(int rank)
{
	const char *why = NULL;
	enum rdv_answer answer = rdv_join(rdv, rank, &why);

	CU_ASSERT_EQUAL(why != NULL, answer == RDV_REFUSED);
	return answer;
}

static void join_all(void)
{
	int rank;

	for (rank = 0; rank < SIZE; rank++)
		CU_ASSERT_EQUAL(join(rank), RDV_ADMITTED);
	expect_log("0+;1+;2+;");
}

static enum rdv_result send_type(int rank, enum proto_type type)
{
	const struct proto_msg msg = { .type = type };

	return rdv_message(rdv, rank, &msg);
}

static void leave(int rank)
{
	CU_ASSERT_EQUAL(send_type(rank, PROTO_LEAVE), 0);
}

static void put(int rank, const char *value)
{
	struct proto_msg msg = { .type = PROTO_PUT, .key = "k", .value_size = (uint8_t)strlen(value) };

	memcpy(msg.value, value, strlen(value));
	CU_ASSERT_EQUAL(rdv_message(rdv, rank, &msg), 0);
}

static enum rdv_result get(int asker, unsigned rank)
{
	const struct proto_msg msg = { .type = PROTO_GET, .rank = rank, .key = "k" };

	return rdv_message(rdv, asker, &msg);
}

static void join__twice_is_refused(void)
{
	create();
	CU_ASSERT_EQUAL(join(0), RDV_ADMITTED);
	CU_ASSERT_EQUAL(join(0), RDV_REFUSED);
	expect_log("0+;");
	destroy();
}

static void join__after_the_process_ended_is_refused(void)
{
	create();
	rdv_ended(rdv, 0, false, "");
	CU_ASSERT_EQUAL(join(0), RDV_REFUSED);
	rdv_ended(rdv, 1, true, "x");
	CU_ASSERT_EQUAL(join(1), RDV_REFUSED);
	destroy();
}

static void join__hears_of_earlier_deaths(void)
{
	create();
	rdv_ended(rdv, 1, true, "fell");
	CU_ASSERT_EQUAL(join(0), RDV_ADMITTED);
	expect_log("0+;0:1 fell;");
	destroy();
}

static void join__again_waits_for_the_next_round(void)
{
	create();
	join_all();
	put(1, "old");
	leave(0);
	CU_ASSERT_EQUAL(join(0), RDV_HELD);
	CU_ASSERT_EQUAL(join(0), RDV_REFUSED);
	leave(1);
	expect_log("");
	leave(2);
	expect_log("0+;");
	CU_ASSERT_EQUAL(get(0, 1), 0);
	expect_log("");
	CU_ASSERT_EQUAL(join(1), RDV_ADMITTED);
	put(1, "new");
	expect_log("1+;0.k=new;");
	destroy();
}

static void join__again_when_all_have_left_begins_a_round(void)
{
	create();
	join_all();
	leave(0);
	leave(1);
	rdv_ended(rdv, 1, false, "");
	leave(2);
	CU_ASSERT_EQUAL(join(2), RDV_ADMITTED);
	CU_ASSERT_EQUAL(join(0), RDV_ADMITTED);
	CU_ASSERT_EQUAL(get(0, 1), 0);
	expect_log("2+;0+;0.k=-;");
	destroy();
}

static void join__again_keeps_the_dead_dead(void)
{
	create();
	join_all();
	rdv_lost(rdv, 1, "fell");
	leave(0);
	leave(2);
	expect_log("0:1 fell;2:1 fell;");
	CU_ASSERT_EQUAL(join(0), RDV_ADMITTED);
	expect_log("0+;0:1 fell;");
	CU_ASSERT_EQUAL(join(1), RDV_REFUSED);
	CU_ASSERT_EQUAL(get(0, 1), 0);
	expect_log("0.k=-;");
	destroy();
}

static void unhold__frees_the_place(void)
{
	create();
	join_all();
	leave(0);
	CU_ASSERT_EQUAL(join(0), RDV_HELD);
	rdv_unhold(rdv, 0);
	CU_ASSERT_EQUAL(join(0), RDV_HELD);
	rdv_ended(rdv, 0, false, "");
	leave(1);
	leave(2);
	expect_log("");
	destroy();
}

static void leave__answers_those_who_wait(void)
{
	create();
	join_all();
	CU_ASSERT_EQUAL(get(0, 1), 0);
	expect_log("");
	leave(1);
	expect_log("0.k=-;");
	destroy();
}

static void leave__makes_further_messages_nonsense(void)
{
	create();
	join_all();
	leave(1);
	CU_ASSERT_EQUAL(send_type(1, PROTO_LEAVE), RDV_NONSENSE);
	CU_ASSERT_EQUAL(get(1, 0), RDV_NONSENSE);
	destroy();
}

static void lost__is_told_once(void)
{
	create();
	join_all();
	rdv_lost(rdv, 1, "cut");
	rdv_lost(rdv, 1, "cut again");
	rdv_ended(rdv, 1, true, "exited");
	expect_log("0:1 cut;2:1 cut;");
	CU_ASSERT_FALSE(rdv_may_end(rdv, 1));
	destroy();
}

static void ended__in_order_is_no_news(void)
{
	create();
	join_all();
	leave(1);
	rdv_ended(rdv, 1, true, "exited with status 1");
	expect_log("");
	destroy();
}

static void ended__without_joining_is_news_if_it_failed(void)
{
	create();
	CU_ASSERT_EQUAL(join(0), RDV_ADMITTED);
	rdv_ended(rdv, 1, false, "fine");
	rdv_ended(rdv, 2, true, "fell");
	expect_log("0+;0:2 fell;");
	destroy();
}

static void may_end__unless_inside_or_dead(void)
{
	create();
	CU_ASSERT_TRUE(rdv_may_end(rdv, 0));
	join_all();
	CU_ASSERT_FALSE(rdv_may_end(rdv, 0));
	leave(0);
	CU_ASSERT_TRUE(rdv_may_end(rdv, 0));
	destroy();
}

static void message__abort_is_passed_on(void)
{
	struct proto_msg msg = { .type = PROTO_ABORT, .status = 7, .text = "why" };

	create();
	join_all();
	CU_ASSERT_EQUAL(rdv_message(rdv, 2, &msg), 0);
	expect_log("2 abort 7 why;");
	destroy();
}

static void message__of_the_launcher_is_nonsense(void)
{
	int type;

	create();
	join_all();
	for (type = PROTO_CHALLENGE; type < PROTO_TYPES; type++)
		if (type < PROTO_PUT || type == PROTO_VALUE || type == PROTO_DIED)
			CU_ASSERT_EQUAL(send_type(0, (enum proto_type)type), RDV_NONSENSE);
	CU_ASSERT_EQUAL(get(0, SIZE), RDV_NONSENSE);
	expect_log("");
	destroy();
}

static void message__beyond_a_bound_of_the_store(void)
{
	struct proto_msg msg = { .type = PROTO_GET, .rank = 1 };

	create();
	join_all();
	for (int i = 0; i < KVS_KEYS_PER_RANK_MAX; i++) {
		snprintf(msg.key, sizeof(msg.key), "k%d", i);
		CU_ASSERT_EQUAL(rdv_message(rdv, 0, &msg), RDV_HANDLED);
	}
	snprintf(msg.key, sizeof(msg.key), "more");
	CU_ASSERT_EQUAL(rdv_message(rdv, 0, &msg), RDV_FULL);
	destroy();
}

void suite_rdv(void)
{
	CU_pSuite suite = CU_add_suite("rdv", NULL, NULL);

	CU_ADD_TEST(suite, join__twice_is_refused);
	CU_ADD_TEST(suite, join__after_the_process_ended_is_refused);
	CU_ADD_TEST(suite, join__hears_of_earlier_deaths);
	CU_ADD_TEST(suite, join__again_waits_for_the_next_round);
	CU_ADD_TEST(suite, join__again_when_all_have_left_begins_a_round);
	CU_ADD_TEST(suite, join__again_keeps_the_dead_dead);
	CU_ADD_TEST(suite, unhold__frees_the_place);
	CU_ADD_TEST(suite, leave__answers_those_who_wait);
	CU_ADD_TEST(suite, leave__makes_further_messages_nonsense);
	CU_ADD_TEST(suite, lost__is_told_once);
	CU_ADD_TEST(suite, ended__in_order_is_no_news);
	CU_ADD_TEST(suite, ended__without_joining_is_news_if_it_failed);
	CU_ADD_TEST(suite, may_end__unless_inside_or_dead);
	CU_ADD_TEST(suite, message__abort_is_passed_on);
	CU_ADD_TEST(suite, message__of_the_launcher_is_nonsense);
	CU_ADD_TEST(suite, message__beyond_a_bound_of_the_store);
}
