// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_boot_pmi.c - bootstrap/client/pmi.c, against a launcher that is played by the test
 *
 * The other end of PMI_FD is in the same process. What the launcher will say while the client joins
 * is written beforehand; what the client has said is read afterwards.
 */
#include "client/clients.h"
#include "boot_events.h"
#include "oriel.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INIT "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
#define MAXES "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
#define STORE "cmd=my_kvsname kvsname=kvs_1\n"
#define MAPPING "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n"
#define JOINED INIT MAXES STORE MAPPING

/* The test's end of the connection, and the client. */
struct pmi {
	int launcher_fd;
	int rank_fd;
	struct boot *boot;
};

static void set_number(const char *variable, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(variable, text, 1);
}

static struct pmi connect_pair(void)
{
	struct pmi pmi = { .boot = NULL };
	int ends[2];

	boot_events_clear_environment();
	boot_events_log[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pmi.launcher_fd = ends[0];
	pmi.rank_fd = ends[1];
	fcntl(pmi.launcher_fd, F_SETFD, FD_CLOEXEC);
	set_number("PMI_FD", pmi.rank_fd);
	set_number("PMI_RANK", 1);
	set_number("PMI_SIZE", 4);
	return pmi;
}

static void say(const struct pmi *pmi, const char *text)
{
	CU_ASSERT_EQUAL(write(pmi->launcher_fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Checks what the client has sent since the last check. */
static void expect_said(const struct pmi *pmi, const char *expected)
{
	char text[4096];
	ssize_t size = recv(pmi->launcher_fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[size > 0 ? size : 0] = '\0';
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("\"%s\" instead of \"%s\"\n", text, expected);
}

static void disconnect(struct pmi *pmi)
{
	close(pmi->launcher_fd);
	if (pmi->boot)
		pmi->boot->ops->close(pmi->boot);
	close(pmi->rank_fd);
	boot_events_clear_environment();
}

static struct pmi open_joined(void)
{
	struct pmi pmi = connect_pair();

	say(&pmi, JOINED);
	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &pmi.boot), 0);
	expect_said(&pmi, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_my_kvsname\n"
	                  "cmd=get kvsname=kvs_1 key=PMI_process_mapping\n");
	return pmi;
}

/* Returns a client after the barrier. */
static struct pmi open_exchanged(void)
{
	struct pmi pmi = open_joined();

	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", "AB", 2), 0);
	say(&pmi, "cmd=put_result rc=0 msg=success\n");
	pmi.boot->ops->dispatch(pmi.boot);
	say(&pmi, "cmd=barrier_out\n");
	pmi.boot->ops->dispatch(pmi.boot);
	expect_said(&pmi, "cmd=put kvsname=kvs_1 key=oriel-k-1 value=4142\ncmd=barrier_in\n");
	boot_events_expect("");
	return pmi;
}

static void expect_refused(struct pmi *pmi, const char *reason)
{
	CU_ASSERT_EQUAL(boot_open(NULL, &boot_events, boot_events_log, &pmi->boot), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), reason));
	if (!strstr(oriel_last_error(), reason))
		printf("\"%s\" lacks \"%s\"\n", oriel_last_error(), reason);
}

static void open__fills_in(void)
{
	struct pmi pmi = open_joined();

	CU_ASSERT_STRING_EQUAL(pmi.boot->ops->name, "pmi");
	CU_ASSERT_EQUAL(pmi.boot->rank, 1);
	CU_ASSERT_EQUAL(pmi.boot->size, 4);
	CU_ASSERT_EQUAL(pmi.boot->local_size, 2);
	CU_ASSERT_EQUAL(pmi.boot->ops->fd(pmi.boot), pmi.rank_fd);
	CU_ASSERT_TRUE(fcntl(pmi.rank_fd, F_GETFD) & FD_CLOEXEC);
	disconnect(&pmi);
}

static void open__fields_in_any_order(void)
{
	struct pmi pmi = connect_pair();

	say(&pmi, "rc=0 cmd=response_to_init\nvallen_max=512 cmd=maxes\nkvsname=kvs_1 cmd=my_kvsname rc=0\n"
	          "value=(vector,(0,1,4)) cmd=get_result\n");
	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &pmi.boot), 0);
	CU_ASSERT_EQUAL(pmi.boot->local_size, 4);
	disconnect(&pmi);
}

static void open__without_a_mapping(void)
{
	struct pmi pmi = connect_pair();

	say(&pmi, INIT MAXES STORE "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &pmi.boot), 0);
	CU_ASSERT_EQUAL(pmi.boot->local_size, 1);
	disconnect(&pmi);
}

static void open__refuses_strange_answers(void)
{
	static const char *const answers[] = {
		"cmd=response_to_init rc=-1\n",
		"hello\n",
		INIT "cmd=maxes\n",
		INIT MAXES "cmd=my_kvsname\n",
		INIT MAXES "cmd=my_kvsname kvsname=k rc=1\n",
	};
	static const char *const reasons[] = { "PMI-1", "hello", "how long a value", "name of its store", "PMI-1" };

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct pmi pmi = connect_pair();

		say(&pmi, answers[i]);
		expect_refused(&pmi, reasons[i]);
		disconnect(&pmi);
	}
}

static void open__launcher_that_is_gone(void)
{
	struct pmi pmi = connect_pair();

	shutdown(pmi.launcher_fd, SHUT_RDWR);
	expect_refused(&pmi, "broken");
	disconnect(&pmi);
}

static void open__refuses_other_descriptors(void)
{
	struct pmi pmi = connect_pair();

	set_number("PMI_FD", 1 << 19);
	expect_refused(&pmi, "ORIEL_BOOT=single");
	setenv("PMI_FD", "x", 1);
	expect_refused(&pmi, "PMI_FD is \"x\"");
	disconnect(&pmi);
}

static void open__refuses_half_an_environment(void)
{
	struct pmi pmi = connect_pair();

	setenv("PMI_RANK", "4", 1);
	expect_refused(&pmi, "PMI_RANK is \"4\"; it must be a number from 0 to 3");
	unsetenv("PMI_RANK");
	expect_refused(&pmi, "PMI_FD is set but PMI_RANK is not");
	disconnect(&pmi);
}

static void open__only_once(void)
{
	struct pmi pmi = open_joined();
	struct boot *second = NULL;

	CU_ASSERT_EQUAL(boot_open(NULL, &boot_events, boot_events_log, &second), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "before"));
	disconnect(&pmi);
}

static void open__names_the_launcher(void)
{
	struct pmi pmi = connect_pair();

	shutdown(pmi.launcher_fd, SHUT_RDWR);
	setenv("HYDI_CONTROL_FD", "7", 1);
	expect_refused(&pmi, "hydra");
	unsetenv("HYDI_CONTROL_FD");
	setenv("SLURM_PROCID", "0", 1);
	expect_refused(&pmi, "srun --mpi=pmi2");
	disconnect(&pmi);
}

static void put__only_once(void)
{
	struct pmi pmi = open_exchanged();

	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", "C", 1), ORIEL_ERR_SYNC);
	disconnect(&pmi);
}

static void put__refuses_values_the_launcher_cannot_take(void)
{
	struct pmi pmi = connect_pair();
	char value[BOOT_VALUE_MAX_BYTES] = { 0 };

	say(&pmi, INIT "cmd=maxes vallen_max=200\n" STORE MAPPING);
	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &pmi.boot), 0);
	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", value, 100), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", value, 256), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", value, 99), 0);
	disconnect(&pmi);
}

/* Nothing is asked before the barrier is over, and then one thing at a time. */
static void get__waits_for_the_barrier_and_its_turn(void)
{
	struct pmi pmi = open_joined();

	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 3, "k"), 0);
	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", "AB", 2), 0);
	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), 0);
	expect_said(&pmi, "cmd=put kvsname=kvs_1 key=oriel-k-1 value=4142\n");
	say(&pmi, "cmd=put_result rc=0 msg=success\n");
	pmi.boot->ops->dispatch(pmi.boot);
	expect_said(&pmi, "cmd=barrier_in\n");
	pmi.boot->ops->dispatch(pmi.boot);
	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 2, "k"), 0);
	expect_said(&pmi, "");
	CU_ASSERT_EQUAL(pmi.boot->gathering, 1);
	say(&pmi, "cmd=barrier_out rc=0\n");
	pmi.boot->ops->dispatch(pmi.boot);
	CU_ASSERT_EQUAL(pmi.boot->gathering, 0);
	expect_said(&pmi, "cmd=get kvsname=kvs_1 key=oriel-k-3\n");
	say(&pmi, "cmd=get_result rc=0 msg=success value=4344\n");
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("3.k=CD;");
	expect_said(&pmi, "cmd=get kvsname=kvs_1 key=oriel-k-0\n");
	say(&pmi, "msg=success value= cmd=get_result rc=0\n");
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("0.k=;");
	expect_said(&pmi, "cmd=get kvsname=kvs_1 key=oriel-k-2\n");
	disconnect(&pmi);
}

static void get__never(void)
{
	struct pmi pmi = open_exchanged();

	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), 0);
	say(&pmi, "cmd=get_result rc=-1 msg=key_k_not_found value=unknown\n");
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("0.k=-;");
	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), 0);
	say(&pmi, "cmd=get_result rc=0 value=4x\n");
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("0.k=-;");
	disconnect(&pmi);
}

static void get__checks_its_arguments(void)
{
	struct pmi pmi = open_exchanged();

	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 4, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, -1, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, ""), ORIEL_ERR_ARG);
	expect_said(&pmi, "");
	disconnect(&pmi);
}

static void dispatch__lines_in_pieces(void)
{
	struct pmi pmi = open_exchanged();
	static const char answer[] = "cmd=get_result rc=0 value=4344\n";

	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), 0);
	for (size_t i = 0; i < sizeof(answer) - 1; i++) {
		boot_events_expect("");
		CU_ASSERT_EQUAL(write(pmi.launcher_fd, answer + i, 1), 1);
		pmi.boot->ops->dispatch(pmi.boot);
	}
	boot_events_expect("0.k=CD;");
	disconnect(&pmi);
}

/* Whatever ends the protocol is reported once, and nothing is asked or answered afterwards. */
static void expect_lost(const char *said)
{
	struct pmi pmi = open_exchanged();

	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), 0);
	if (said)
		say(&pmi, said);
	else
		shutdown(pmi.launcher_fd, SHUT_RDWR);
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("lost;");
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("");
	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_EQUAL(pmi.boot->ops->abort(pmi.boot, 1, NULL), ORIEL_ERR_BOOTSTRAP);
	disconnect(&pmi);
}

static void dispatch__lost(void)
{
	char endless[3000];

	memset(endless, 'x', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	expect_lost(NULL);
	expect_lost("cmd=barrier_out\n");
	expect_lost("nonsense\n");
	expect_lost(endless);
}

static void dispatch__put_that_is_refused(void)
{
	struct pmi pmi = open_joined();

	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", "AB", 2), 0);
	say(&pmi, "cmd=put_result rc=-1 msg=no_room\n");
	pmi.boot->ops->dispatch(pmi.boot);
	boot_events_expect("lost;");
	disconnect(&pmi);
}

static void abort__at_any_time(void)
{
	struct pmi pmi = open_joined();

	CU_ASSERT_EQUAL(pmi.boot->ops->abort(pmi.boot, 42, NULL), 0);
	expect_said(&pmi, "cmd=abort exitcode=42\n");
	disconnect(&pmi);
}

/* An answer that was still on its way does not stand in for the last one. */
static void close__says_so_and_waits(void)
{
	struct pmi pmi = open_exchanged();

	CU_ASSERT_EQUAL(pmi.boot->ops->get(pmi.boot, 0, "k"), 0);
	say(&pmi, "cmd=get_result rc=0 value=4344\ncmd=finalize_ack\n");
	CU_ASSERT_EQUAL(pmi.boot->ops->leave(pmi.boot), 0);
	pmi.boot->ops->close(pmi.boot);
	pmi.boot = NULL;
	boot_events_expect("");
	expect_said(&pmi, "cmd=get kvsname=kvs_1 key=oriel-k-0\ncmd=finalize\n");
	disconnect(&pmi);
}

/* No rank leaves in the middle of the launcher's barrier. */
static void close__waits_for_the_exchange(void)
{
	struct pmi pmi = open_joined();

	CU_ASSERT_EQUAL(pmi.boot->ops->put(pmi.boot, "k", "AB", 2), 0);
	say(&pmi, "cmd=put_result rc=0 msg=success\ncmd=barrier_out\ncmd=finalize_ack\n");
	pmi.boot->ops->close(pmi.boot);
	pmi.boot = NULL;
	boot_events_expect("");
	expect_said(&pmi, "cmd=put kvsname=kvs_1 key=oriel-k-1 value=4142\ncmd=barrier_in\ncmd=finalize\n");
	disconnect(&pmi);
}

void suite_boot_pmi(void)
{
	CU_pSuite suite = CU_add_suite("boot_pmi", NULL, NULL);

	CU_ADD_TEST(suite, open__fills_in);
	CU_ADD_TEST(suite, open__fields_in_any_order);
	CU_ADD_TEST(suite, open__without_a_mapping);
	CU_ADD_TEST(suite, open__refuses_strange_answers);
	CU_ADD_TEST(suite, open__launcher_that_is_gone);
	CU_ADD_TEST(suite, open__refuses_other_descriptors);
	CU_ADD_TEST(suite, open__refuses_half_an_environment);
	CU_ADD_TEST(suite, open__only_once);
	CU_ADD_TEST(suite, open__names_the_launcher);
	CU_ADD_TEST(suite, put__only_once);
	CU_ADD_TEST(suite, put__refuses_values_the_launcher_cannot_take);
	CU_ADD_TEST(suite, get__waits_for_the_barrier_and_its_turn);
	CU_ADD_TEST(suite, get__never);
	CU_ADD_TEST(suite, get__checks_its_arguments);
	CU_ADD_TEST(suite, dispatch__lines_in_pieces);
	CU_ADD_TEST(suite, dispatch__lost);
	CU_ADD_TEST(suite, dispatch__put_that_is_refused);
	CU_ADD_TEST(suite, abort__at_any_time);
	CU_ADD_TEST(suite, close__says_so_and_waits);
	CU_ADD_TEST(suite, close__waits_for_the_exchange);
}
