// SPDX-License-Identifier: BSD-2-Clause
/*
 * server.h - oriel-run's socket: connections, and who is behind them
 *
 * Listens, lets ranks prove themselves, and carries messages between them and the
 * rendezvous, which it owns.
 */
#ifndef ORIEL_LAUNCHER_SERVER_H
#define ORIEL_LAUNCHER_SERVER_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "boot.h"

#define SERVER_STRANGERS_EXTRA 256 /* connections that have not proven themselves, beside one for each rank */
#define SERVER_PROVE_TIMEOUT_S 5.0 /* for a connection to prove itself */
#define SERVER_VERDICT_DELAY_S 0.2 /* from a connection's sudden end to telling of it, while the process lives */

struct server;

struct server_config {
	int size;
	const uint8_t *secret; /* BOOT_SECRET_BYTES, must outlive the server */
	void (*abort)(void *arg, int rank, int status, const char *reason);
	void *abort_arg;
};

/* Descriptors that a server of so many ranks uses at most. */
int server_descriptors(int size);

/* NULL, having said why, if there is no memory or socket. */
struct server *server_open(struct ev_loop *loop, const struct server_config *config);
void server_close(struct server *server);

/* Where it listens, as address.h has it. */
const char *server_address(const struct server *server);

/* After all that the rank has sent: may its process end now without harm to the others (rdv_may_end)? */
bool server_rank_may_end(struct server *server, int rank);

/*
 * The process of a rank has ended, or will never be started. failed: not with status 0, or never
 * started. text goes to the others and completes the sentence "rank R ...".
 */
void server_rank_ended(struct server *server, int rank, bool failed, const char *text);

#endif
