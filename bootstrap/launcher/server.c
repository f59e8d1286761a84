// SPDX-License-Identifier: BSD-2-Clause
/*
 * server.c - oriel-run's socket and its connections; see server.h
 *
 * DESIGN NOTES Every process on the machine can connect. A connection is a stranger until it proves
 * that it knows the job's secret. A stranger holds a descriptor and a small buffer, for a few
 * seconds. Beyond a number of them the oldest is dropped; a dropped rank tries again
 * (client/run.c). After the proof the connection is a rank's, one per rank. No other process can
 * write to it, so later messages carry no proofs.
 *
 * A connection that ends without LEAVE is kept as cut until its process has ended, which gives a
 * better reason, or a short delay is over.
 *
 * When a rank's process has ended, or a second connection claims the rank, everything that the
 * first one sent is already in our receive buffer. catch_up reads it before anything is decided.
 *
 * No function that sends frees a connection, so lists can be walked while sending: a failed send
 * marks the connection broken and feeds an event to its read handler, which ends it.
 */
#include "launcher/server.h"

#include "launcher/kvs.h"
#include "launcher/rdv.h"
#include "launcher/say.h"
#include "wire/address.h"
#include "wire/byteq.h"
#include "wire/proof.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTEN_BACKLOG 4096 /* the kernel cuts it to net.core.somaxconn */
#define ACCEPTS_PER_WAKEUP 64
#define ACCEPT_PAUSE_S 0.1         /* if the system is out of descriptors or memory */
#define OUT_HIGH_BYTES (256 << 10) /* above it no more requests of this rank are read */
#define OUT_MAX_BYTES (32 << 20)   /* above it the connection is dropped */
#define IN_BYTES (4 * PROTO_MESSAGE_MAX_BYTES)
#define RANK_NONE (-1)

static_assert(OUT_MAX_BYTES > OUT_HIGH_BYTES + KVS_WAITS_PER_RANK_MAX * PROTO_MESSAGE_MAX_BYTES,
              "a rank can have every answer it may wait for at once");

enum client_state {
	CLIENT_UNPROVEN, /* a stranger */
	CLIENT_HELD,     /* proven; held by the rendezvous */
	CLIENT_JOINED,   /* proven and welcomed */
	CLIENT_CUT,      /* ended without leaving; the socket is closed, the verdict is due */
};

struct client {
	struct server *server;
	enum client_state state;
	bool broken;          /* a send failed; the read handler ends it */
	int rank;             /* RANK_NONE while unproven */
	ev_io reader;         /* reader.fd is the socket, -1 once cut */
	ev_io writer;         /* active while out is not empty */
	ev_timer verdict;     /* active while cut */
	struct client *older; /* the list of strangers */
	struct client *newer;
	ev_tstamp born; /* loop time of the accept */
	struct proof_context context;
	struct byteq out;
	uint8_t in[IN_BYTES];
	size_t in_size;
};

struct server {
	struct ev_loop *loop;
	struct server_config config;
	struct rdv *rdv;
	char address[ADDRESS_TEXT_BYTES];
	ev_io listener;
	ev_timer accept_pause;
	ev_timer prove_timer;  /* end of the oldest stranger's time; active if there are any */
	struct client *oldest; /* strangers */
	struct client *newest;
	int stranger_count;
	struct client *by_rank[]; /* not CLIENT_UNPROVEN; or NULL */
};

int server_descriptors(int size, int strangers)
{
	return 2 * size + strangers + 2;
}

static int strangers_max(const struct server *server)
{
	return server->config.size + server->config.strangers;
}

/* The list of strangers, oldest first. */

static void list_add(struct server *server, struct client *client)
{
	client->older = server->newest;
	if (server->newest)
		server->newest->newer = client;
	else
		server->oldest = client;
	server->newest = client;
	server->stranger_count++;
}

static void list_remove(struct server *server, struct client *client)
{
	if (client->older)
		client->older->newer = client->newer;
	else
		server->oldest = client->newer;
	if (client->newer)
		client->newer->older = client->older;
	else
		server->newest = client->older;
	client->older = NULL;
	client->newer = NULL;
	server->stranger_count--;
}

static void set_prove_timer(struct server *server)
{
	ev_timer_stop(server->loop, &server->prove_timer);
	if (!server->oldest)
		return;
	ev_timer_set(&server->prove_timer, server->oldest->born + SERVER_PROVE_TIMEOUT_S - ev_now(server->loop), 0.);
	ev_timer_start(server->loop, &server->prove_timer);
}

/* The end of a connection. */

static void close_socket(struct client *client)
{
	struct ev_loop *loop = client->server->loop;

	ev_io_stop(loop, &client->reader);
	ev_io_stop(loop, &client->writer);
	ev_clear_pending(loop, &client->reader);
	if (client->reader.fd >= 0)
		close(client->reader.fd);
	ev_io_set(&client->reader, -1, EV_READ);
	byteq_clear(&client->out);
}

static void free_client(struct client *client)
{
	struct server *server = client->server;

	close_socket(client);
	ev_timer_stop(server->loop, &client->verdict);
	if (client->state == CLIENT_UNPROVEN)
		list_remove(server, client);
	else if (server->by_rank[client->rank] == client)
		server->by_rank[client->rank] = NULL;
	free(client);
}

static void drop_stranger(struct client *client, const char *why)
{
	say_detail("a connection to the launcher's socket was dropped: %s", why);
	free_client(client);
}

static void cut(struct client *client)
{
	close_socket(client);
	client->state = CLIENT_CUT;
	ev_timer_set(&client->verdict, SERVER_VERDICT_DELAY_S, 0.);
	ev_timer_start(client->server->loop, &client->verdict);
}

static void on_verdict(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct client *client = timer->data;
	struct rdv *rdv = client->server->rdv;
	int rank = client->rank;

	(void)loop;
	(void)revents;
	free_client(client);
	rdv_lost(rdv, rank, "closed its connection to the launcher without leaving the job");
}

/* Ends a connection that was closed, or is not to be trusted. */
static void end_client(struct client *client, const char *why)
{
	switch (client->state) {
	case CLIENT_UNPROVEN:
		drop_stranger(client, why);
		break;
	case CLIENT_HELD:
		rdv_unhold(client->server->rdv, client->rank);
		free_client(client);
		break;
	case CLIENT_JOINED:
		if (rdv_is_inside(client->server->rdv, client->rank))
			cut(client);
		else
			free_client(client);
		break;
	case CLIENT_CUT:
		break;
	}
}

/* Sending. */

static void break_client(struct client *client)
{
	client->broken = true;
	ev_feed_event(client->server->loop, &client->reader, EV_READ);
}

/* Returns the bytes that the socket took, 0 if it is full, or -1 if it is broken. */
static ssize_t send_some(const struct client *client, const uint8_t *bytes, size_t size)
{
	ssize_t sent;

	do
		sent = send(client->reader.fd, bytes, size, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 && errno == EAGAIN ? 0 : sent;
}

static void queue_rest(struct client *client, const uint8_t *bytes, size_t size)
{
	if (byteq_append(&client->out, bytes, size, OUT_MAX_BYTES) != 0) {
		break_client(client);
		return;
	}
	ev_io_start(client->server->loop, &client->writer);
	if (client->out.size > OUT_HIGH_BYTES)
		ev_io_stop(client->server->loop, &client->reader);
}

static void send_message(struct client *client, const struct proto_msg *msg)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int size = proto_encode(msg, bytes);
	ssize_t sent = 0;

	assert(size > 0);
	if (client->broken || client->state == CLIENT_CUT)
		return;
	if (client->out.size == 0)
		sent = send_some(client, bytes, (size_t)size);
	if (sent < 0)
		break_client(client);
	else if (sent < size)
		queue_rest(client, bytes + sent, (size_t)(size - sent));
}

static void on_writable(struct ev_loop *loop, ev_io *writer, int revents)
{
	struct client *client = writer->data;
	ssize_t sent = send_some(client, byteq_head(&client->out), client->out.size);

	(void)revents;
	if (sent < 0) {
		ev_io_stop(loop, writer);
		break_client(client);
		return;
	}
	byteq_drop(&client->out, (size_t)sent);
	if (client->out.size == 0)
		ev_io_stop(loop, writer);
	if (client->out.size <= OUT_HIGH_BYTES)
		ev_io_start(loop, &client->reader);
}

static void send_to_rank(void *arg, int rank, const struct proto_msg *msg)
{
	struct server *server = arg;

	if (server->by_rank[rank])
		send_message(server->by_rank[rank], msg);
}

static void send_refusal(struct client *client, const char *why)
{
	struct proto_msg msg = { .type = PROTO_REFUSED };

	proto_set_text(&msg, why);
	send_message(client, &msg);
}

static void send_challenge(struct client *client)
{
	struct proto_msg msg = { .type = PROTO_CHALLENGE };

	memcpy(msg.nonce, client->context.launcher_nonce, sizeof(msg.nonce));
	send_message(client, &msg);
}

/* Joining. */

static void welcome(void *arg, int rank)
{
	struct server *server = arg;
	struct client *client = server->by_rank[rank];
	struct proto_msg msg = { .type = PROTO_WELCOME };

	client->state = CLIENT_JOINED;
	msg.size = (uint32_t)server->config.size;
	msg.local_size = (uint32_t)server->config.size;
	proof_make(server->config.secret, PROOF_BY_LAUNCHER, &client->context, msg.proof);
	send_message(client, &msg);
	say_detail("rank %d has joined", rank);
}

static int catch_up(struct client *client);

/* Frees the rank's old connection if its program has left. Returns 0, or -1 if it has not. */
static int retire_old_client(struct server *server, int rank)
{
	if (server->by_rank[rank])
		catch_up(server->by_rank[rank]);
	if (!server->by_rank[rank])
		return 0;
	if (server->by_rank[rank]->state != CLIENT_JOINED || rdv_is_inside(server->rdv, rank))
		return -1;
	free_client(server->by_rank[rank]);
	return 0;
}

static void attach_to_rank(struct client *client, int rank)
{
	struct server *server = client->server;

	list_remove(server, client);
	client->state = CLIENT_HELD;
	client->rank = rank;
	server->by_rank[rank] = client;
}

/* Returns -1 if the connection ended. */
static int join(struct client *client, int rank)
{
	const char *why =
		"this process has joined before, or another process of this rank is in the job or waiting to join";

	if (retire_old_client(client->server, rank) == 0) {
		attach_to_rank(client, rank);
		if (rdv_join(client->server->rdv, rank, &why) != RDV_REFUSED)
			return 0;
	}
	say_detail("rank %d was not let in: %s", rank, why);
	if (rdv_has_gone(client->server->rdv, rank))
		client->server->config.late(client->server->config.arg, rank);
	send_refusal(client, why);
	free_client(client);
	return -1;
}

/* Returns -1 if the connection ended. */
static int handle_proof(struct client *client, const struct proto_msg *msg)
{
	if (msg->type != PROTO_PROOF || msg->rank >= (uint32_t)client->server->config.size) {
		drop_stranger(client, "it did not answer with a proof");
		return -1;
	}
	client->context.rank = msg->rank;
	memcpy(client->context.rank_nonce, msg->nonce, sizeof(msg->nonce));
	if (!proof_holds(client->server->config.secret, PROOF_BY_RANK, &client->context, msg->proof)) {
		send_refusal(client, "its secret is not this job's");
		drop_stranger(client, "it does not know the job's secret");
		return -1;
	}
	return join(client, (int)msg->rank);
}

/* Receiving. */

/* Returns -1 if the connection ended. */
static int handle_message(struct client *client, const struct proto_msg *msg)
{
	struct server *server = client->server;
	enum rdv_result result = RDV_NONSENSE;
	int rank = client->rank;

	if (client->state == CLIENT_UNPROVEN)
		return handle_proof(client, msg);
	if (client->state == CLIENT_JOINED)
		result = rdv_message(server->rdv, rank, msg);
	if (result == RDV_HANDLED)
		return 0;
	if (result == RDV_FULL)
		say("rank %d can put or get no more: a rank has at most %d keys and %d unanswered gets, and memory may be "
		    "short; its connection is closed",
		    rank, KVS_KEYS_PER_RANK_MAX, KVS_WAITS_PER_RANK_MAX);
	else
		say("rank %d sent a message that makes no sense (type %d); its connection is closed", rank, (int)msg->type);
	end_client(client, "a message that the launcher does not take");
	return -1;
}

/* Returns -1 if the connection ended. */
static int handle_received(struct client *client)
{
	struct proto_msg msg;
	size_t start = 0;
	int used;

	while ((used = proto_decode(client->in + start, client->in_size - start, &msg)) > 0) {
		start += (size_t)used;
		if (handle_message(client, &msg) != 0)
			return -1;
	}
	if (used < 0) {
		end_client(client, "it sent something that is no message");
		return -1;
	}
	client->in_size -= start;
	memmove(client->in, client->in + start, client->in_size);
	return 0;
}

/*
 * Reads once and handles the messages. Returns 1 if there may be more, 0 if not now, -1 if the
 * connection ended.
 */
static int receive(struct client *client)
{
	ssize_t got = recv(client->reader.fd, client->in + client->in_size, sizeof(client->in) - client->in_size, 0);

	if (got < 0 && errno == EINTR)
		return 1;
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got <= 0) {
		end_client(client, got == 0 ? "it was closed before it had proven itself" : strerror(errno));
		return -1;
	}
	client->in_size += (size_t)got;
	return handle_received(client) == 0 ? 1 : -1;
}

/* Reads everything that was sent. Returns -1 if the connection ended. */
static int catch_up(struct client *client)
{
	int more = 1;

	while (more == 1 && client->state != CLIENT_CUT)
		more = receive(client);
	return more;
}

static void on_readable(struct ev_loop *loop, ev_io *reader, int revents)
{
	struct client *client = reader->data;

	(void)loop;
	(void)revents;
	if (client->broken)
		end_client(client, "nothing could be sent");
	else
		receive(client);
}

/* Strangers come and go. */

static void on_prove_timeout(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct server *server = timer->data;

	(void)revents;
	while (server->oldest && server->oldest->born + SERVER_PROVE_TIMEOUT_S <= ev_now(loop) + 0.001)
		drop_stranger(server->oldest, "it did not prove itself in time");
	set_prove_timer(server);
}

static struct client *create_client(struct server *server, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->server = server;
	client->state = CLIENT_UNPROVEN;
	client->rank = RANK_NONE;
	client->born = ev_now(server->loop);
	ev_io_init(&client->reader, on_readable, fd, EV_READ);
	ev_io_init(&client->writer, on_writable, fd, EV_WRITE);
	ev_timer_init(&client->verdict, on_verdict, 0., 0.);
	client->reader.data = client;
	client->writer.data = client;
	client->verdict.data = client;
	return client;
}

static void add_stranger(struct server *server, int fd)
{
	struct client *client = create_client(server, fd);

	if (!client || proof_random(client->context.launcher_nonce, sizeof(client->context.launcher_nonce)) != 0) {
		close(fd);
		free(client);
		return;
	}
	if (server->stranger_count >= strangers_max(server))
		drop_stranger(server->oldest, "too many connections that have not proven themselves");
	list_add(server, client);
	ev_io_start(server->loop, &client->reader);
	if (!ev_is_active(&server->prove_timer))
		set_prove_timer(server);
	send_challenge(client);
}

static void pause_accepting(struct server *server)
{
	ev_io_stop(server->loop, &server->listener);
	ev_timer_set(&server->accept_pause, ACCEPT_PAUSE_S, 0.);
	ev_timer_start(server->loop, &server->accept_pause);
}

static void on_accept_again(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct server *server = timer->data;

	(void)revents;
	ev_io_start(loop, &server->listener);
}

static void on_connection(struct ev_loop *loop, ev_io *listener, int revents)
{
	struct server *server = listener->data;
	int left = ACCEPTS_PER_WAKEUP;
	int fd;

	(void)loop;
	(void)revents;
	while (left-- > 0 && (fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		add_stranger(server, fd);
	if (left >= 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
		pause_accepting(server);
}

/* Opening and closing. */

static void pass_abort(void *arg, int rank, int status, const char *reason)
{
	const struct server *server = arg;

	server->config.abort(server->config.arg, rank, status, reason);
}

static const struct rdv_events rdv_events = {
	.send = send_to_rank,
	.admit = welcome,
	.abort = pass_abort,
};

/* Makes an address that no later launcher has: ranks left behind must not connect to that. */
static int make_address(char text[ADDRESS_TEXT_BYTES])
{
	uint32_t number;

	if (proof_random(&number, sizeof(number)))
		return -1;
	snprintf(text, ADDRESS_TEXT_BYTES, "@oriel-run-%d-%08x", (int)getpid(), number);
	return 0;
}

/* Returns the socket, or -1 with errno set. */
static int listen_at(const char *text)
{
	struct sockaddr_un address;
	socklen_t size = address_parse(text, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, size) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void start_listening(struct server *server, int fd)
{
	ev_io_init(&server->listener, on_connection, fd, EV_READ);
	ev_timer_init(&server->accept_pause, on_accept_again, 0., 0.);
	ev_timer_init(&server->prove_timer, on_prove_timeout, 0., 0.);
	server->listener.data = server;
	server->accept_pause.data = server;
	server->prove_timer.data = server;
	ev_io_start(server->loop, &server->listener);
}

struct server *server_open(struct ev_loop *loop, const struct server_config *config)
{
	struct server *server = calloc(1, sizeof(*server) + (size_t)config->size * sizeof(server->by_rank[0]));
	int fd;

	if (!server)
		goto err_memory;
	server->loop = loop;
	server->config = *config;
	server->rdv = rdv_create(config->size, &rdv_events, server);
	if (!server->rdv)
		goto err_memory;
	fd = make_address(server->address) ? -1 : listen_at(server->address);
	if (fd < 0) {
		say("cannot listen at the Unix socket %s: %s", server->address, strerror(errno));
		goto err_server;
	}
	start_listening(server, fd);
	return server;

err_memory:
	say("no memory for the tables of %d ranks", config->size);
err_server:
	if (server)
		rdv_destroy(server->rdv);
	free(server);
	return NULL;
}

void server_close(struct server *server)
{
	if (!server)
		return;
	while (server->oldest)
		free_client(server->oldest);
	for (int rank = 0; rank < server->config.size; rank++)
		if (server->by_rank[rank])
			free_client(server->by_rank[rank]);
	ev_io_stop(server->loop, &server->listener);
	ev_timer_stop(server->loop, &server->accept_pause);
	ev_timer_stop(server->loop, &server->prove_timer);
	close(server->listener.fd);
	rdv_destroy(server->rdv);
	free(server);
}

const char *server_address(const struct server *server)
{
	return server->address;
}

bool server_rank_may_end(struct server *server, int rank)
{
	if (server->by_rank[rank])
		catch_up(server->by_rank[rank]);
	return rdv_may_end(server->rdv, rank);
}

void server_rank_ended(struct server *server, int rank, bool failed, const char *text)
{
	if (server->by_rank[rank])
		catch_up(server->by_rank[rank]);
	if (server->by_rank[rank])
		free_client(server->by_rank[rank]);
	rdv_ended(server->rdv, rank, failed, text);
}
