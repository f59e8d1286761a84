// SPDX-License-Identifier: BSD-2-Clause
/*
 * run.c - a rank's connection to oriel-run
 *
 * DESIGN NOTES Joining blocks, with a deadline: connect, read the launcher's nonce, send a proof,
 * check the launcher's proof. If too many strangers connect, the launcher drops slow connections.
 * So a dropped connection is tried again until the deadline; a REFUSED is final.
 *
 * Afterwards the socket never blocks. Bytes that it does not take wait in a bounded queue. The
 * caller only waits for input on ops->fd, so this is an epoll descriptor over the socket: while
 * bytes are queued, room to write makes it readable too.
 *
 * The secret comes as a sealed memfd whose number is in the environment. pread reads it, so that
 * wrappers and programs after them read the same bytes. The descriptor stays open: a program that
 * starts after this one has left may join too. Until this one leaves it is close-on-exec, so that
 * its children do not get the secret.
 */
#include "base/err.h"
#include "pages/shortage.h"
#include "base/util.h"
#include "boot_check.h"
#include "client/clients.h"
#include "wire/address.h"
#include "wire/byteq.h"
#include "wire/environment.h"
#include "wire/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOIN_TIMEOUT_MS 60000 /* from first connect to welcome */
#define RETRY_MIN_MS 10       /* random pause before the next attempt */
#define RETRY_MAX_MS 200
#define LEAVE_TIMEOUT_MS 2000   /* to send the queued bytes at close */
#define OUT_MAX_BYTES (1 << 20) /* queued bytes */
#define IN_BYTES (16 * PROTO_MESSAGE_MAX_BYTES)

struct boot_run {
	struct boot base;
	struct sockaddr_un server;
	socklen_t server_size;
	char server_text[ADDRESS_TEXT_BYTES]; /* ORIEL_BOOTSTRAP, for error texts */
	int socket_fd;                        /* -1: none */
	int epoll_fd;
	int secret_fd;
	uint8_t secret[BOOT_SECRET_BYTES]; /* leaves the process only as a keyed hash */
	bool lost;                         /* events->lost has been called */
	bool wants_room;                   /* epoll_fd waits for EPOLLOUT too */
	bool left;
	struct byteq out;     /* not taken by the socket yet */
	uint8_t in[IN_BYTES]; /* received part of a message */
	size_t in_size;
};

enum attempt {
	ATTEMPT_JOINED,
	ATTEMPT_DROPPED, /* the connection ended early: try again */
	ATTEMPT_FAILED,  /* err_set has been called */
};

static struct boot_run *run_of(struct boot *boot)
{
	return (struct boot_run *)boot;
}

/* Environment. */

static int read_server(struct boot_run *run)
{
	const char *text = getenv(BOOT_ENV_SERVER);

	snprintf(run->server_text, sizeof(run->server_text), "%s", text);
	snprintf(run->base.job, sizeof(run->base.job), "%s", text);
	run->server_size = address_parse(text, &run->server);
	if (run->server_size == 0)
		return err_set(ORIEL_ERR_BOOTSTRAP, "%s is \"%s\"; it must be @NAME, as oriel-run sets it", BOOT_ENV_SERVER,
		               run->server_text);
	return 0;
}

/* Accepts only a sealed memfd of the secret's size: another file may have this number. */
static int read_secret(struct boot_run *run)
{
	struct stat st;
	int seals = fcntl(run->secret_fd, F_GET_SEALS);

	if (seals < 0 && (errno == EPERM || errno == ENOSYS))
		return err_set(
			ORIEL_ERR_BOOTSTRAP,
			"the seals of the job's secret cannot be read (fcntl): %s; a container's seccomp profile may forbid it",
			strerror(errno));
	if (seals < 0 || !(seals & F_SEAL_WRITE) || fstat(run->secret_fd, &st) != 0 || st.st_size != BOOT_SECRET_BYTES ||
	    pread(run->secret_fd, run->secret, BOOT_SECRET_BYTES, 0) != BOOT_SECRET_BYTES)
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "descriptor %d (%s) does not hold the job's secret: a program between oriel-run and this one "
		               "closed it. Let it pass the descriptor on (in Python: subprocess with close_fds=False)",
		               run->secret_fd, BOOT_ENV_SECRET_FD);
	return 0;
}

static int read_environment(struct boot_run *run)
{
	int rc = read_server(run);

	if (!rc)
		rc = boot_read_number(BOOT_ENV_SIZE, BOOT_ENV_SERVER, 1, BOOT_RANKS_MAX, &run->base.size);
	if (!rc)
		rc = boot_read_number(BOOT_ENV_RANK, BOOT_ENV_SERVER, 0, run->base.size - 1, &run->base.rank);
	if (!rc)
		rc = boot_read_number(BOOT_ENV_LOCAL_SIZE, BOOT_ENV_SERVER, 1, run->base.size, &run->base.local_size);
	if (!rc)
		rc = boot_read_number(BOOT_ENV_SECRET_FD, BOOT_ENV_SERVER, 0, 1 << 20, &run->secret_fd);
	if (!rc)
		rc = read_secret(run);
	return rc ? rc : boot_read_choices(&run->base);
}

static void set_close_on_exec(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags >= 0)
		fcntl(fd, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC);
}

/* Joining. */

/* Waits for events (POLLIN or POLLOUT) of the socket. Returns 0, or -1 at the deadline. */
static int wait_for_socket(const struct boot_run *run, short events, uint64_t deadline_ns)
{
	struct pollfd pfd = { .fd = run->socket_fd, .events = events };
	int rc;

	do {
		uint64_t now = now_ns();

		if (now >= deadline_ns)
			return -1;
		rc = poll(&pfd, 1, (int)((deadline_ns - now) / NS_PER_MS) + 1);
	} while (rc == 0 || (rc < 0 && errno == EINTR));
	return rc > 0 ? 0 : -1;
}

static void close_socket(struct boot_run *run)
{
	if (run->socket_fd >= 0)
		close(run->socket_fd);
	run->socket_fd = -1;
	run->in_size = 0;
}

static int fail_connect(const struct boot_run *run, int error)
{
	char text[SHORTAGE_TEXT_BYTES];

	if (is_shortage(error)) {
		shortage_text(error, false, text, sizeof(text));
		return err_set(ORIEL_ERR_BOOTSTRAP, "rank %d cannot connect to its launcher at %s: %s", run->base.rank,
		               run->server_text, text);
	}
	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "rank %d cannot connect to its launcher at %s: %s. Is oriel-run still running, in the same network "
	               "namespace?",
	               run->base.rank, run->server_text, strerror(error));
}

/* EAGAIN: the launcher's queue of connections to accept is full. */
static enum attempt connect_socket(struct boot_run *run)
{
	run->socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (run->socket_fd >= 0 && connect(run->socket_fd, (const struct sockaddr *)&run->server, run->server_size) == 0)
		return ATTEMPT_JOINED;
	if (run->socket_fd >= 0 && (errno == EAGAIN || errno == EINTR))
		return ATTEMPT_DROPPED;
	fail_connect(run, errno);
	return ATTEMPT_FAILED;
}

/* Returns like proto_decode. */
static int take_message(struct boot_run *run, struct proto_msg *msg)
{
	int used = proto_decode(run->in, run->in_size, msg);

	if (used > 0) {
		run->in_size -= (size_t)used;
		memmove(run->in, run->in + used, run->in_size);
	}
	return used;
}

/* Reads once, at most max bytes. Returns like recv. */
static ssize_t receive_some(struct boot_run *run, size_t max)
{
	ssize_t got;

	do
		got = recv(run->socket_fd, run->in + run->in_size, max, 0);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		run->in_size += (size_t)got;
	return got;
}

/* Returns how many bytes the first message lacks, as far as known. */
static size_t missing_bytes(const struct boot_run *run)
{
	if (run->in_size < PROTO_HEADER_BYTES)
		return PROTO_HEADER_BYTES - run->in_size;
	return PROTO_HEADER_BYTES + proto_body_size(run->in) - run->in_size;
}

static enum attempt fail_stranger(const struct boot_run *run, const char *what)
{
	err_set(ORIEL_ERR_BOOTSTRAP, "rank %d: the process that listens at %s %s; it is not this job's oriel-run",
	        run->base.rank, run->server_text, what);
	return ATTEMPT_FAILED;
}

/* Reads no byte beyond the message: later news must stay in the socket, which epoll watches. */
static enum attempt await_message(struct boot_run *run, enum proto_type type, uint64_t deadline_ns,
                                  struct proto_msg *msg)
{
	int used;

	while ((used = take_message(run, msg)) == 0) {
		if (wait_for_socket(run, POLLIN, deadline_ns) != 0)
			return ATTEMPT_DROPPED;
		if (receive_some(run, missing_bytes(run)) <= 0)
			return ATTEMPT_DROPPED;
	}
	if (used > 0 && msg->type == type)
		return ATTEMPT_JOINED;
	if (used > 0 && msg->type == PROTO_REFUSED) {
		err_set(ORIEL_ERR_BOOTSTRAP, "oriel-run did not let rank %d join: %s", run->base.rank, msg->text);
		return ATTEMPT_FAILED;
	}
	return fail_stranger(run, "does not speak the launcher's protocol, or another version of it");
}

/* The socket takes a proof whole, or is broken: its empty buffer is far larger. */
static enum attempt send_proof(struct boot_run *run, const struct proof_context *context)
{
	struct proto_msg msg = { .type = PROTO_PROOF, .rank = context->rank };
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int size;

	memcpy(msg.nonce, context->rank_nonce, sizeof(msg.nonce));
	proof_make(run->secret, PROOF_BY_RANK, context, msg.proof);
	size = proto_encode(&msg, bytes);
	return send(run->socket_fd, bytes, (size_t)size, MSG_NOSIGNAL) == size ? ATTEMPT_JOINED : ATTEMPT_DROPPED;
}

static enum attempt check_welcome(const struct boot_run *run, const struct proof_context *context,
                                  const struct proto_msg *msg)
{
	if (!proof_holds(run->secret, PROOF_BY_LAUNCHER, context, msg->proof))
		return fail_stranger(run, "does not know the job's secret");
	if ((int)msg->size != run->base.size) {
		err_set(ORIEL_ERR_BOOTSTRAP, "%s is %d, but oriel-run's job has %u ranks", BOOT_ENV_SIZE, run->base.size,
		        msg->size);
		return ATTEMPT_FAILED;
	}
	return ATTEMPT_JOINED;
}

static enum attempt prove_both_ways(struct boot_run *run, uint64_t deadline_ns)
{
	struct proof_context context = { .rank = (uint32_t)run->base.rank };
	struct proto_msg msg;
	enum attempt attempt = await_message(run, PROTO_CHALLENGE, deadline_ns, &msg);

	if (attempt != ATTEMPT_JOINED)
		return attempt;
	memcpy(context.launcher_nonce, msg.nonce, sizeof(msg.nonce));
	if (proof_random(context.rank_nonce, sizeof(context.rank_nonce)) != 0) {
		err_set(ORIEL_ERR_BOOTSTRAP, "no random bytes from the kernel: %s", strerror(errno));
		return ATTEMPT_FAILED;
	}
	attempt = send_proof(run, &context);
	if (attempt == ATTEMPT_JOINED)
		attempt = await_message(run, PROTO_WELCOME, deadline_ns, &msg);
	if (attempt == ATTEMPT_JOINED)
		attempt = check_welcome(run, &context, &msg);
	return attempt;
}

static enum attempt try_to_join(struct boot_run *run, uint64_t deadline_ns)
{
	enum attempt attempt = connect_socket(run);

	if (attempt == ATTEMPT_JOINED)
		attempt = prove_both_ways(run, deadline_ns);
	if (attempt != ATTEMPT_JOINED)
		close_socket(run);
	return attempt;
}

/* The time is random so that dropped ranks do not all come back at once. */
static void pause_before_retry(void)
{
	long pause_ms = RETRY_MIN_MS + (long)randombytes_uniform(RETRY_MAX_MS - RETRY_MIN_MS);
	struct timespec pause = { .tv_nsec = pause_ms * 1000000 };

	nanosleep(&pause, NULL);
}

static int join(struct boot_run *run)
{
	uint64_t deadline_ns = now_ns() + JOIN_TIMEOUT_MS * NS_PER_MS;
	enum attempt attempt;

	while ((attempt = try_to_join(run, deadline_ns)) == ATTEMPT_DROPPED && now_ns() < deadline_ns)
		pause_before_retry();
	if (attempt == ATTEMPT_DROPPED)
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "oriel-run at %s did not let rank %d join within %d s: it is stopped, overrun by connections, "
		               "or another rank is still in the program before this one",
		               run->server_text, run->base.rank, JOIN_TIMEOUT_MS / 1000);
	return attempt == ATTEMPT_JOINED ? 0 : ORIEL_ERR_BOOTSTRAP;
}

/* Sending. */

static void watch_for_room(struct boot_run *run)
{
	bool wants_room = run->out.size > 0;
	struct epoll_event event = { .events = EPOLLIN | (wants_room ? EPOLLOUT : 0) };

	if (wants_room == run->wants_room || run->socket_fd < 0)
		return;
	epoll_ctl(run->epoll_fd, EPOLL_CTL_MOD, run->socket_fd, &event);
	run->wants_room = wants_room;
}

/* Reports no error of the connection: the next dispatch finds it and calls 'lost'. */
static void flush_out(struct boot_run *run)
{
	ssize_t sent;

	while (run->out.size > 0 && run->socket_fd >= 0) {
		sent = send(run->socket_fd, byteq_head(&run->out), run->out.size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno != EAGAIN)
			byteq_clear(&run->out);
		if (sent <= 0)
			break;
		byteq_drop(&run->out, (size_t)sent);
	}
	watch_for_room(run);
}

static int fail_lost(const struct boot_run *run)
{
	return err_set(ORIEL_ERR_BOOTSTRAP, "rank %d has no connection to its launcher at %s any more", run->base.rank,
	               run->server_text);
}

static int send_message(struct boot_run *run, const struct proto_msg *msg)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int size = proto_encode(msg, bytes);

	if (run->lost)
		return fail_lost(run);
	if (size < 0)
		return err_set(ORIEL_ERR_ARG, "bootstrap message of type %d: a field is out of its bounds", (int)msg->type);
	if (byteq_append(&run->out, bytes, (size_t)size, OUT_MAX_BYTES) != 0)
		return err_set(ORIEL_ERR_LIMIT, "more than %d bytes wait to be sent to the launcher at %s", OUT_MAX_BYTES,
		               run->server_text);
	flush_out(run);
	return 0;
}

static int run_put(struct boot *boot, const char *key, const void *value, size_t size_bytes)
{
	struct proto_msg msg = { .type = PROTO_PUT };
	int rc = boot_check_value(key, value, size_bytes);

	if (rc)
		return rc;
	memcpy(msg.key, key, strlen(key));
	msg.value_size = (uint8_t)size_bytes;
	if (size_bytes > 0)
		memcpy(msg.value, value, size_bytes);
	return send_message(run_of(boot), &msg);
}

static int run_get(struct boot *boot, int rank, const char *key)
{
	struct proto_msg msg = { .type = PROTO_GET, .rank = (uint32_t)rank };
	int rc = boot_check_get(boot, rank, key);

	if (rc)
		return rc;
	memcpy(msg.key, key, strlen(key));
	return send_message(run_of(boot), &msg);
}

static int run_leave(struct boot *boot)
{
	const struct proto_msg msg = { .type = PROTO_LEAVE };
	struct boot_run *run = run_of(boot);
	int rc;

	if (run->left)
		return 0;
	rc = send_message(run, &msg);
	if (rc)
		return rc;
	run->left = true;
	set_close_on_exec(run->secret_fd, false);
	return 0;
}

static int run_abort(struct boot *boot, int status, const char *reason)
{
	struct proto_msg msg = { .type = PROTO_ABORT, .status = status >= 1 && status <= 255 ? (uint32_t)status : 1 };

	proto_set_text(&msg, reason);
	return send_message(run_of(boot), &msg);
}

/* Receiving. */

static int run_fd(const struct boot *boot)
{
	return ((const struct boot_run *)boot)->epoll_fd;
}

/* Closing the socket removes it from the epoll set. */
static void tell_lost(struct boot_run *run, const char *why)
{
	char text[160];

	if (run->lost)
		return;
	run->lost = true;
	close_socket(run);
	byteq_clear(&run->out);
	if (run->left)
		return;
	snprintf(text, sizeof(text), "the launcher at %s is gone: %s", run->server_text, why);
	run->base.events->lost(run->base.events_arg, text);
}

/* Returns 0, or -1 for an unexpected message. */
static int handle_message(struct boot_run *run, const struct proto_msg *msg)
{
	const struct boot_events *events = run->base.events;
	void *arg = run->base.events_arg;

	if (msg->rank >= (uint32_t)run->base.size)
		return -1;
	switch (msg->type) {
	case PROTO_VALUE:
		events->value(arg, (int)msg->rank, msg->key, msg->found ? msg->value : NULL, msg->value_size);
		return 0;
	case PROTO_DIED:
		events->died(arg, (int)msg->rank, msg->text);
		return 0;
	default:
		return -1;
	}
}

static int handle_received(struct boot_run *run)
{
	struct proto_msg msg;
	int used;

	while ((used = take_message(run, &msg)) > 0)
		if (handle_message(run, &msg) != 0)
			return -1;
	return used;
}

static int run_dispatch(struct boot *boot)
{
	struct boot_run *run = run_of(boot);
	ssize_t got;

	if (run->lost)
		return 0;
	flush_out(run);
	while ((got = receive_some(run, sizeof(run->in) - run->in_size)) > 0)
		if (handle_received(run) != 0) {
			tell_lost(run, "it sent something that cannot be understood");
			return 0;
		}
	if (got == 0)
		tell_lost(run, "it closed the connection");
	else if (errno != EAGAIN)
		tell_lost(run, strerror(errno));
	return 0;
}

/* Opening and closing. */

static void flush_before_close(struct boot_run *run)
{
	uint64_t deadline_ns = now_ns() + LEAVE_TIMEOUT_MS * NS_PER_MS;

	flush_out(run);
	while (run->out.size > 0 && run->socket_fd >= 0 && wait_for_socket(run, POLLOUT, deadline_ns) == 0)
		flush_out(run);
}

static void release(struct boot_run *run)
{
	close_socket(run);
	if (run->epoll_fd >= 0)
		close(run->epoll_fd);
	byteq_clear(&run->out);
	sodium_memzero(run->secret, sizeof(run->secret));
	free(run);
}

static void run_close(struct boot *boot)
{
	struct boot_run *run = run_of(boot);

	flush_before_close(run);
	release(run);
}

static const struct boot_ops run_ops = {
	.name = "oriel-run",
	.tells_deaths = true,
	.put = run_put,
	.get = run_get,
	.leave = run_leave,
	.abort = run_abort,
	.fd = run_fd,
	.dispatch = run_dispatch,
	.close = run_close,
};

static int watch_socket(struct boot_run *run)
{
	struct epoll_event event = { .events = EPOLLIN };

	run->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (run->epoll_fd < 0 || epoll_ctl(run->epoll_fd, EPOLL_CTL_ADD, run->socket_fd, &event) != 0)
		return err_set(ORIEL_ERR_BOOTSTRAP, "no epoll descriptor for the launcher's connection: %s", strerror(errno));
	return 0;
}

static int open_all(struct boot_run *run)
{
	int rc;

	if (sodium_init() < 0)
		return err_set(ORIEL_ERR_BOOTSTRAP, "libsodium could not be initialised");
	rc = read_environment(run);
	if (!rc)
		rc = join(run);
	return rc ? rc : watch_socket(run);
}

int boot_run_open(struct boot **boot)
{
	struct boot_run *run = calloc(1, sizeof(*run));
	int rc;

	if (!run)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	run->base.ops = &run_ops;
	run->socket_fd = -1;
	run->epoll_fd = -1;
	rc = open_all(run);
	if (rc) {
		release(run);
		return rc;
	}
	set_close_on_exec(run->secret_fd, true);
	*boot = &run->base;
	return 0;
}
