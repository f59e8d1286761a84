// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_boot_run.c - bootstrap/client/run.c against a launcher made of a thread
 *
 * The thread accepts connections and does what the test's script says: each step is a function. The
 * job is that of rank 2 of 5.
 */
#include "wire/address.h"
#include "boot_events.h"
#include "oriel.h"
#include "wire/proof.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define RANK 2
#define SIZE 5

static const uint8_t secret[BOOT_SECRET_BYTES] = "a secret for tests, 32 bytes lon";

struct launcher {
	pthread_t thread;
	void (*script)(struct launcher *launcher);
	int listener;
	int fd; /* the present connection */
	int secret_fd;
	struct proof_context context;
	bool saw_wrong; /* the rank did not send what the script expects */
	sem_t go;       /* the test lets the script go on */
};

/* ---- steps of scripts ---- */

static void accept_rank(struct launcher *launcher)
{
	launcher->fd = accept(launcher->listener, NULL, NULL);
}

static void hang_up(struct launcher *launcher)
{
	close(launcher->fd);
	launcher->fd = -1;
}

static void send_all(struct launcher *launcher, const void *bytes, size_t size)
{
	if (send(launcher->fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
		launcher->saw_wrong = true;
}

static void send_message(struct launcher *launcher, const struct proto_msg *msg)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int size = proto_encode(msg, bytes);

	send_all(launcher, bytes, (size_t)size);
}

static void receive(struct launcher *launcher, enum proto_type type, struct proto_msg *msg)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	size_t body;

	memset(msg, 0, sizeof(*msg));
	if (recv(launcher->fd, bytes, PROTO_HEADER_BYTES, MSG_WAITALL) != PROTO_HEADER_BYTES) {
		launcher->saw_wrong = true;
		return;
	}
	body = proto_body_size(bytes);
	if (body > 0 && recv(launcher->fd, bytes + PROTO_HEADER_BYTES, body, MSG_WAITALL) != (ssize_t)body)
		launcher->saw_wrong = true;
	if (proto_decode(bytes, PROTO_HEADER_BYTES + body, msg) <= 0 || msg->type != type)
		launcher->saw_wrong = true;
}

static void challenge(struct launcher *launcher)
{
	struct proto_msg msg = { .type = PROTO_CHALLENGE, .nonce = "launcher's nonce" };

	memcpy(launcher->context.launcher_nonce, msg.nonce, sizeof(msg.nonce));
	send_message(launcher, &msg);
}

static void check_proof(struct launcher *launcher)
{
	struct proto_msg msg;

	receive(launcher, PROTO_PROOF, &msg);
	launcher->context.rank = msg.rank;
	memcpy(launcher->context.rank_nonce, msg.nonce, sizeof(msg.nonce));
	if (msg.rank != RANK || !proof_holds(secret, PROOF_BY_RANK, &launcher->context, msg.proof))
		launcher->saw_wrong = true;
}

static void make_welcome(struct launcher *launcher, struct proto_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = PROTO_WELCOME;
	msg->size = SIZE;
	msg->local_size = SIZE;
	proof_make(secret, PROOF_BY_LAUNCHER, &launcher->context, msg->proof);
}

static void let_in(struct launcher *launcher)
{
	struct proto_msg msg;

	accept_rank(launcher);
	challenge(launcher);
	check_proof(launcher);
	make_welcome(launcher, &msg);
	send_message(launcher, &msg);
}

static void wait_for_end(struct launcher *launcher)
{
	char byte;

	if (recv(launcher->fd, &byte, 1, 0) > 0)
		launcher->saw_wrong = true;
	hang_up(launcher);
}

/* ---- the launcher's life ---- */

static int make_secret_fd(void)
{
	int fd = memfd_create("secret", MFD_ALLOW_SEALING);

	if (write(fd, secret, sizeof(secret)) != (ssize_t)sizeof(secret))
		return -1;
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
	return fd;
}

static void set_number(const char *variable, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	setenv(variable, text, 1);
}

static void set_environment(const struct launcher *launcher, const char *address)
{
	boot_events_clear_environment();
	setenv("ORIEL_BOOTSTRAP", address, 1);
	set_number("ORIEL_RANK", RANK);
	set_number("ORIEL_SIZE", SIZE);
	set_number("ORIEL_LOCAL_SIZE", SIZE);
	set_number("ORIEL_SECRET_FD", launcher->secret_fd);
}

static void *launcher_main(void *arg)
{
	struct launcher *launcher = arg;

	launcher->script(launcher);
	return NULL;
}

static void start(struct launcher *launcher, void (*script)(struct launcher *launcher))
{
	struct sockaddr_un address;
	char text[ADDRESS_TEXT_BYTES];
	socklen_t size;

	snprintf(text, sizeof(text), "@oriel-unit-%d", (int)getpid());
	size = address_parse(text, &address);
	memset(launcher, 0, sizeof(*launcher));
	boot_events_log[0] = '\0';
	launcher->script = script;
	launcher->fd = -1;
	launcher->secret_fd = make_secret_fd();
	launcher->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL_FATAL(bind(launcher->listener, (const struct sockaddr *)&address, size), 0);
	CU_ASSERT_EQUAL_FATAL(listen(launcher->listener, 8), 0);
	set_environment(launcher, text);
	sem_init(&launcher->go, 0, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&launcher->thread, NULL, launcher_main, launcher), 0);
}

static void finish(struct launcher *launcher)
{
	pthread_join(launcher->thread, NULL);
	CU_ASSERT_FALSE(launcher->saw_wrong);
	if (launcher->fd >= 0)
		close(launcher->fd);
	close(launcher->listener);
	close(launcher->secret_fd);
	sem_destroy(&launcher->go);
	boot_events_clear_environment();
}

static struct boot *open_boot(void)
{
	struct boot *boot = NULL;

	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &boot), 0);
	return boot;
}

static void expect_refusal(const char *reason)
{
	struct boot *boot = NULL;

	CU_ASSERT_EQUAL(boot_open(NULL, &boot_events, boot_events_log, &boot), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NULL(boot);
	if (boot)
		boot->ops->close(boot);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), reason));
	if (!strstr(oriel_last_error(), reason))
		printf("\"%s\" does not say \"%s\"\n", oriel_last_error(), reason);
}

/* Dispatch, each time the descriptor is readable, until the log has the text in it. */
static void dispatch_until(struct boot *boot, const char *text)
{
	struct pollfd pfd = { .fd = boot->ops->fd(boot), .events = POLLIN };

	while (!strstr(boot_events_log, text)) {
		CU_ASSERT_EQUAL_FATAL(poll(&pfd, 1, 20000), 1);
		CU_ASSERT_EQUAL_FATAL(boot->ops->dispatch(boot), 0);
	}
}

/* ---- joining ---- */

static void script_welcome(struct launcher *launcher)
{
	let_in(launcher);
	wait_for_end(launcher);
}

static void open__joins(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_welcome);
	setenv("ORIEL_ADDR", "10.1.2.3", 1);
	boot = open_boot();
	CU_ASSERT_STRING_EQUAL(boot->ops->name, "oriel-run");
	CU_ASSERT_EQUAL(boot->rank, RANK);
	CU_ASSERT_EQUAL(boot->size, SIZE);
	CU_ASSERT_EQUAL(boot->local_size, SIZE);
	CU_ASSERT_STRING_EQUAL(boot->addr, "10.1.2.3");
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_leave(struct launcher *launcher)
{
	struct proto_msg msg;

	let_in(launcher);
	receive(launcher, PROTO_LEAVE, &msg);
	wait_for_end(launcher);
}

static void open__hides_the_secret_until_leave(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_leave);
	boot = open_boot();
	CU_ASSERT_TRUE(fcntl(launcher.secret_fd, F_GETFD) & FD_CLOEXEC);
	CU_ASSERT_EQUAL(boot->ops->leave(boot), 0);
	boot->ops->close(boot);
	CU_ASSERT_FALSE(fcntl(launcher.secret_fd, F_GETFD) & FD_CLOEXEC);
	finish(&launcher);
}

static void script_news_behind_welcome(struct launcher *launcher)
{
	const struct proto_msg died = { .type = PROTO_DIED, .rank = 4, .text = "fell" };
	uint8_t bytes[2 * PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg msg;
	int size;

	accept_rank(launcher);
	challenge(launcher);
	check_proof(launcher);
	make_welcome(launcher, &msg);
	size = proto_encode(&msg, bytes);
	size += proto_encode(&died, bytes + size);
	send_all(launcher, bytes, (size_t)size);
	wait_for_end(launcher);
}

static void open__leaves_news_behind_the_welcome_readable(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_news_behind_welcome);
	boot = open_boot();
	dispatch_until(boot, "died");
	boot_events_expect("4 died fell;");
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_welcome_in_pieces(struct launcher *launcher)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg msg;
	int size;
	int i;

	accept_rank(launcher);
	challenge(launcher);
	check_proof(launcher);
	make_welcome(launcher, &msg);
	size = proto_encode(&msg, bytes);
	for (i = 0; i < size; i++)
		send_all(launcher, bytes + i, 1);
	wait_for_end(launcher);
}

static void open__takes_a_welcome_in_pieces(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_welcome_in_pieces);
	boot = open_boot();
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_crowded(struct launcher *launcher)
{
	accept_rank(launcher);
	hang_up(launcher);
	accept_rank(launcher);
	challenge(launcher);
	hang_up(launcher);
	accept_rank(launcher);
	challenge(launcher);
	check_proof(launcher);
	hang_up(launcher);
	let_in(launcher);
	wait_for_end(launcher);
}

static void open__tries_again_when_dropped(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_crowded);
	boot = open_boot();
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_refuse(struct launcher *launcher)
{
	const struct proto_msg msg = { .type = PROTO_REFUSED, .text = "no room" };

	accept_rank(launcher);
	challenge(launcher);
	check_proof(launcher);
	send_message(launcher, &msg);
	wait_for_end(launcher);
}

static void open__tells_a_refusal(void)
{
	struct launcher launcher;

	start(&launcher, script_refuse);
	expect_refusal("no room");
	finish(&launcher);
}

static void script_wrong_proof(struct launcher *launcher)
{
	struct proto_msg msg;

	accept_rank(launcher);
	challenge(launcher);
	check_proof(launcher);
	make_welcome(launcher, &msg);
	msg.proof[0] ^= 1;
	send_message(launcher, &msg);
	wait_for_end(launcher);
}

static void open__does_not_talk_to_a_stranger(void)
{
	struct launcher launcher;

	start(&launcher, script_wrong_proof);
	expect_refusal("does not know the job's secret");
	finish(&launcher);
}

/* The rank's own proof, sent back to it. */
static void script_reflect(struct launcher *launcher)
{
	struct proto_msg msg;

	accept_rank(launcher);
	challenge(launcher);
	receive(launcher, PROTO_PROOF, &msg);
	msg.type = PROTO_WELCOME;
	msg.size = SIZE;
	msg.local_size = SIZE;
	send_message(launcher, &msg);
	wait_for_end(launcher);
}

static void open__does_not_take_its_own_proof(void)
{
	struct launcher launcher;

	start(&launcher, script_reflect);
	expect_refusal("does not know the job's secret");
	finish(&launcher);
}

static void script_other_protocol(struct launcher *launcher)
{
	accept_rank(launcher);
	send_all(launcher, "220 mail.example.org ESMTP\r\n", 28);
	wait_for_end(launcher);
}

static void open__notices_another_protocol(void)
{
	struct launcher launcher;

	start(&launcher, script_other_protocol);
	expect_refusal("does not speak the launcher's protocol");
	finish(&launcher);
}

static void script_nothing(struct launcher *launcher)
{
	(void)launcher;
}

static void open__tells_that_nobody_listens(void)
{
	struct launcher launcher;

	start(&launcher, script_nothing);
	shutdown(launcher.listener, SHUT_RDWR);
	expect_refusal("cannot connect");
	finish(&launcher);
}

static void expect_wrong_variable(const char *variable, const char *value)
{
	struct launcher launcher;

	start(&launcher, script_nothing);
	if (value)
		setenv(variable, value, 1);
	else
		unsetenv(variable);
	expect_refusal(variable);
	finish(&launcher);
}

static void open__checks_the_environment(void)
{
	expect_wrong_variable("ORIEL_BOOTSTRAP", "");
	expect_wrong_variable("ORIEL_BOOTSTRAP", "@");
	expect_wrong_variable("ORIEL_BOOTSTRAP", "oriel-run-1");
	expect_wrong_variable("ORIEL_BOOTSTRAP", "127.0.0.1:80");
	expect_wrong_variable("ORIEL_BOOTSTRAP", "@a name that is longer than any that the launcher makes, by some way");
	expect_wrong_variable("ORIEL_RANK", NULL);
	expect_wrong_variable("ORIEL_RANK", "5");
	expect_wrong_variable("ORIEL_RANK", "-1");
	expect_wrong_variable("ORIEL_RANK", "2 ");
	expect_wrong_variable("ORIEL_SIZE", "0");
	expect_wrong_variable("ORIEL_SIZE", "16777217");
	expect_wrong_variable("ORIEL_LOCAL_SIZE", "6");
	expect_wrong_variable("ORIEL_SECRET_FD", NULL);
	expect_wrong_variable("ORIEL_SECRET_FD", "x");
	expect_wrong_variable("ORIEL_SECRET_FD", "999999");
	expect_wrong_variable("ORIEL_SECRET_FD", "0");
}

/* ---- sending ---- */

static void script_requests(struct launcher *launcher)
{
	struct proto_msg msg;

	let_in(launcher);
	receive(launcher, PROTO_PUT, &msg);
	if (strcmp(msg.key, "key") != 0 || msg.value_size != 5 || memcmp(msg.value, "value", 5) != 0)
		launcher->saw_wrong = true;
	receive(launcher, PROTO_GET, &msg);
	if (msg.rank != 4 || strcmp(msg.key, "other") != 0)
		launcher->saw_wrong = true;
	receive(launcher, PROTO_ABORT, &msg);
	if (msg.status != 9 || strcmp(msg.text, "why") != 0)
		launcher->saw_wrong = true;
	receive(launcher, PROTO_ABORT, &msg);
	if (msg.status != 1 || strcmp(msg.text, "") != 0)
		launcher->saw_wrong = true;
	receive(launcher, PROTO_LEAVE, &msg);
	wait_for_end(launcher);
}

static void requests__arrive(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_requests);
	boot = open_boot();
	CU_ASSERT_EQUAL(boot->ops->put(boot, "key", "value", 5), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 4, "other"), 0);
	CU_ASSERT_EQUAL(boot->ops->abort(boot, 9, "why"), 0);
	CU_ASSERT_EQUAL(boot->ops->abort(boot, 256, NULL), 0);
	CU_ASSERT_EQUAL(boot->ops->leave(boot), 0);
	CU_ASSERT_EQUAL(boot->ops->leave(boot), 0);
	boot->ops->close(boot);
	finish(&launcher);
}

static void requests__check_their_arguments(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_welcome);
	boot = open_boot();
	CU_ASSERT_EQUAL(boot->ops->get(boot, SIZE, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(boot->ops->get(boot, -1, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, ""), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", NULL, 1), ORIEL_ERR_ARG);
	boot->ops->close(boot);
	finish(&launcher);
}

static int put_count; /* puts the client took before its queue was full */

static void script_slow(struct launcher *launcher)
{
	const struct proto_msg answer = { .type = PROTO_VALUE, .rank = 0, .key = "k", .found = 1 };
	struct proto_msg msg;
	int i;

	let_in(launcher);
	sem_wait(&launcher->go);
	for (i = 0; i < put_count; i++)
		receive(launcher, PROTO_PUT, &msg);
	receive(launcher, PROTO_GET, &msg);
	send_message(launcher, &answer);
	wait_for_end(launcher);
}

/*
 * The socket is full, then the queue; when the launcher reads again, the descriptor becomes
 * readable until all is sent.
 */
static void requests__wait_for_a_slow_launcher(void)
{
	static const char value[BOOT_VALUE_MAX_BYTES];
	struct launcher launcher;
	struct boot *boot;
	int rc;

	start(&launcher, script_slow);
	boot = open_boot();
	put_count = 0;
	while ((rc = boot->ops->put(boot, "k", value, sizeof(value))) == 0)
		put_count++;
	CU_ASSERT_EQUAL(rc, ORIEL_ERR_LIMIT);
	sem_post(&launcher.go);
	while ((rc = boot->ops->get(boot, 0, "k")) == ORIEL_ERR_LIMIT) {
		struct pollfd pfd = { .fd = boot->ops->fd(boot), .events = POLLIN };

		CU_ASSERT_EQUAL_FATAL(poll(&pfd, 1, 20000), 1);
		CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	}
	CU_ASSERT_EQUAL(rc, 0);
	dispatch_until(boot, "0.k=");
	boot_events_expect("0.k=;");
	boot->ops->close(boot);
	finish(&launcher);
}

/* ---- receiving ---- */

static void script_answers(struct launcher *launcher)
{
	const struct proto_msg found = {
		.type = PROTO_VALUE, .rank = 0, .key = "a", .found = 1, .value = "xyz", .value_size = 3
	};
	const struct proto_msg empty = { .type = PROTO_VALUE, .rank = 1, .key = "b", .found = 1 };
	const struct proto_msg never = { .type = PROTO_VALUE, .rank = 4, .key = "c" };
	const struct proto_msg died = { .type = PROTO_DIED, .rank = 3, .text = "exited" };
	struct proto_msg msg;

	let_in(launcher);
	receive(launcher, PROTO_GET, &msg);
	send_message(launcher, &found);
	send_message(launcher, &empty);
	send_message(launcher, &never);
	send_message(launcher, &died);
	receive(launcher, PROTO_GET, &msg);
	send_message(launcher, &found);
	wait_for_end(launcher);
}

static void dispatch__tells_all_events(void)
{
	struct launcher launcher;
	struct boot *boot;

	start(&launcher, script_answers);
	boot = open_boot();
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "a"), 0);
	dispatch_until(boot, "died");
	boot_events_expect("0.a=xyz;1.b=;4.c=-;3 died exited;");
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "a"), 0);
	dispatch_until(boot, "0.a=");
	boot_events_expect("0.a=xyz;");
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("");
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_hang_up(struct launcher *launcher)
{
	let_in(launcher);
	hang_up(launcher);
}

static void dispatch__tells_once_that_the_launcher_is_lost(void)
{
	struct launcher launcher;
	struct boot *boot;
	struct pollfd pfd;

	start(&launcher, script_hang_up);
	boot = open_boot();
	dispatch_until(boot, "lost");
	pfd.fd = boot->ops->fd(boot);
	pfd.events = POLLIN;
	CU_ASSERT_EQUAL(poll(&pfd, 1, 0), 0);
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("lost;");
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "v", 1), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_EQUAL(boot->ops->abort(boot, 1, ""), ORIEL_ERR_BOOTSTRAP);
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_leave_then_hang_up(struct launcher *launcher)
{
	struct proto_msg msg;

	let_in(launcher);
	receive(launcher, PROTO_LEAVE, &msg);
	hang_up(launcher);
}

static void dispatch__says_nothing_of_the_end_after_leave(void)
{
	struct launcher launcher;
	struct boot *boot;
	struct pollfd pfd;

	start(&launcher, script_leave_then_hang_up);
	boot = open_boot();
	CU_ASSERT_EQUAL(boot->ops->leave(boot), 0);
	pfd.fd = boot->ops->fd(boot);
	pfd.events = POLLIN;
	CU_ASSERT_EQUAL(poll(&pfd, 1, 20000), 1);
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("");
	boot->ops->close(boot);
	finish(&launcher);
}

static void script_rank_out_of_range(struct launcher *launcher)
{
	const struct proto_msg died = { .type = PROTO_DIED, .rank = SIZE, .text = "nobody" };

	let_in(launcher);
	send_message(launcher, &died);
	wait_for_end(launcher);
}

static void script_nonsense(struct launcher *launcher)
{
	let_in(launcher);
	send_all(launcher, "nonsense", 8);
	wait_for_end(launcher);
}

static void dispatch__gives_up_on_nonsense(void)
{
	void (*const scripts[])(struct launcher * launcher) = { script_rank_out_of_range, script_nonsense };
	struct launcher launcher;
	struct boot *boot;
	size_t i;

	for (i = 0; i < 2; i++) {
		start(&launcher, scripts[i]);
		boot = open_boot();
		dispatch_until(boot, "lost");
		boot_events_expect("lost;");
		boot->ops->close(boot);
		finish(&launcher);
	}
}

void suite_boot_run(void)
{
	CU_pSuite suite = CU_add_suite("boot_run", NULL, NULL);

	CU_ADD_TEST(suite, open__joins);
	CU_ADD_TEST(suite, open__hides_the_secret_until_leave);
	CU_ADD_TEST(suite, open__leaves_news_behind_the_welcome_readable);
	CU_ADD_TEST(suite, open__takes_a_welcome_in_pieces);
	CU_ADD_TEST(suite, open__tries_again_when_dropped);
	CU_ADD_TEST(suite, open__tells_a_refusal);
	CU_ADD_TEST(suite, open__does_not_talk_to_a_stranger);
	CU_ADD_TEST(suite, open__does_not_take_its_own_proof);
	CU_ADD_TEST(suite, open__notices_another_protocol);
	CU_ADD_TEST(suite, open__tells_that_nobody_listens);
	CU_ADD_TEST(suite, open__checks_the_environment);
	CU_ADD_TEST(suite, requests__arrive);
	CU_ADD_TEST(suite, requests__check_their_arguments);
	CU_ADD_TEST(suite, requests__wait_for_a_slow_launcher);
	CU_ADD_TEST(suite, dispatch__tells_all_events);
	CU_ADD_TEST(suite, dispatch__tells_once_that_the_launcher_is_lost);
	CU_ADD_TEST(suite, dispatch__says_nothing_of_the_end_after_leave);
	CU_ADD_TEST(suite, dispatch__gives_up_on_nonsense);
}
