// SPDX-License-Identifier: BSD-2-Clause
/*
 * attack.c - strangers at the launcher's socket, for the tests of oriel-run
 *
 *   launcher-attack ADDRESS random COUNT     connections that send random bytes
 *   launcher-attack ADDRESS truncated        every beginning of a proof, then the end of the connection
 *   launcher-attack ADDRESS huge             a header that promises more than any message holds
 *   launcher-attack ADDRESS wrong RANK       a well-formed proof made with a wrong secret
 *   launcher-attack ADDRESS early            messages of a joined rank, without a proof
 *   launcher-attack ADDRESS silent           a connection that says nothing, and one that stops in the middle
 *   launcher-attack ADDRESS idle COUNT FILE  connections that say nothing; creates FILE once they are all there,
 *                                            and holds them until its standard input ends
 *
 * Ends with 0 if it could do what it wanted and was never answered as a rank is.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/address.h"
#include "wire/proof.h"
#include "wire/proto.h"

#define IDLE_MAX 5000
#define HANG_S 60

static struct sockaddr_un server;
static socklen_t server_size;

static void fail(const char *what)
{
	fprintf(stderr, "attack: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_connection(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&server, server_size) != 0)
		fail("connect");
	return fd;
}

/*
 * Read until the launcher closes. Anything but a challenge and a refusal would be a success of the
 * attack.
 */
static void expect_to_be_dropped(int fd)
{
	uint8_t bytes[4096];
	size_t size = 0;
	ssize_t got;
	struct proto_msg msg;
	int used;

	while (size < sizeof(bytes) && (got = recv(fd, bytes + size, sizeof(bytes) - size, 0)) > 0)
		size += (size_t)got;
	for (got = 0; (used = proto_decode(bytes + got, size - (size_t)got, &msg)) > 0; got += used)
		if (msg.type != PROTO_CHALLENGE && msg.type != PROTO_REFUSED)
			fail("a stranger was answered");
	close(fd);
}

static void send_bytes(int fd, const void *bytes, size_t size)
{
	if (send(fd, bytes, size, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		fail("send");
}

static void attack_randomly(int count)
{
	uint8_t bytes[2000];

	while (count-- > 0) {
		int fd = open_connection();

		if (proof_random(bytes, sizeof(bytes)) != 0)
			fail("random");
		send_bytes(fd, bytes, 1 + (size_t)bytes[0] * 7);
		shutdown(fd, SHUT_WR);
		expect_to_be_dropped(fd);
	}
}

static int make_wrong_proof(int fd, uint32_t rank, uint8_t bytes[PROTO_MESSAGE_MAX_BYTES])
{
	static const uint8_t wrong_secret[BOOT_SECRET_BYTES] = "not the secret of any job";
	struct proof_context context = { .rank = rank };
	struct proto_msg msg;
	uint8_t challenge[PROTO_MESSAGE_MAX_BYTES];
	size_t size = PROTO_HEADER_BYTES + PROTO_NONCE_BYTES;

	if (recv(fd, challenge, size, MSG_WAITALL) != (ssize_t)size || proto_decode(challenge, size, &msg) <= 0)
		fail("challenge");
	memcpy(context.launcher_nonce, msg.nonce, sizeof(msg.nonce));
	memset(&msg, 0, sizeof(msg));
	msg.type = PROTO_PROOF;
	msg.rank = rank;
	proof_make(wrong_secret, PROOF_BY_RANK, &context, msg.proof);
	return proto_encode(&msg, bytes);
}

static void attack_with_wrong_secret(uint32_t rank)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int fd = open_connection();
	int size = make_wrong_proof(fd, rank, bytes);

	if (size < 0)
		fail("encode");
	send_bytes(fd, bytes, (size_t)size);
	expect_to_be_dropped(fd);
}

static void attack_with_truncated_proofs(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int length = 0;
	int size;

	do {
		int fd = open_connection();

		size = make_wrong_proof(fd, 0, bytes);
		send_bytes(fd, bytes, (size_t)length);
		shutdown(fd, SHUT_WR);
		expect_to_be_dropped(fd);
	} while (++length < size);
}

static void attack_with_huge_header(void)
{
	const uint8_t header[] = { 0xff, 0xff, PROTO_PUT, PROTO_VERSION };
	int fd = open_connection();

	send_bytes(fd, header, sizeof(header));
	expect_to_be_dropped(fd);
}

static void attack_early(void)
{
	static const enum proto_type types[] = {
		PROTO_PUT, PROTO_GET, PROTO_LEAVE, PROTO_ABORT, PROTO_DIED, PROTO_WELCOME
	};
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct proto_msg msg = { .type = types[i], .status = 77, .size = 1, .local_size = 1, .key = "k" };
		int size = proto_encode(&msg, bytes);
		int fd = open_connection();

		if (size < 0)
			fail("encode");
		send_bytes(fd, bytes, (size_t)size);
		expect_to_be_dropped(fd);
	}
}

static void attack_silently(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	int silent = open_connection();
	int stopped = open_connection();

	if (make_wrong_proof(stopped, 0, bytes) < 0)
		fail("encode");
	send_bytes(stopped, bytes, PROTO_HEADER_BYTES + 1);
	expect_to_be_dropped(silent);
	expect_to_be_dropped(stopped);
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void attack_idly(int count, const char *path)
{
	FILE *file;
	char byte;

	raise_descriptor_limit();
	while (count-- > 0)
		open_connection();
	file = fopen(path, "w");
	if (!file || fclose(file) != 0)
		fail(path);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
}

int main(int argc, char **argv)
{
	alarm(HANG_S);
	signal(SIGPIPE, SIG_IGN);
	if (argc < 3)
		return 2;
	server_size = address_parse(argv[1], &server);
	if (server_size == 0)
		return 2;
	if (strcmp(argv[2], "random") == 0 && argc == 4)
		attack_randomly(atoi(argv[3]));
	else if (strcmp(argv[2], "truncated") == 0)
		attack_with_truncated_proofs();
	else if (strcmp(argv[2], "huge") == 0)
		attack_with_huge_header();
	else if (strcmp(argv[2], "wrong") == 0 && argc == 4)
		attack_with_wrong_secret((uint32_t)atoi(argv[3]));
	else if (strcmp(argv[2], "early") == 0)
		attack_early();
	else if (strcmp(argv[2], "silent") == 0)
		attack_silently();
	else if (strcmp(argv[2], "idle") == 0 && argc == 5)
		attack_idly(atoi(argv[3]), argv[4]);
	else
		return 2;
	return 0;
}
