// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmi.c - a rank of a launcher that speaks PMI-1 on an inherited socket: hydra, srun --mpi=pmi2
 *
 * DESIGN NOTES Requests and answers are lines (pmi_line.h). Joining blocks, with a deadline;
 * afterwards nothing blocks. The launcher's barrier follows the put; it ends when every rank has
 * put, and gets are sent only then. One request is outstanding at a time, since Slurm drops those
 * that come during a barrier; later.h queues the others.
 *
 * The socket takes a line whole, or the connection is broken: its empty buffer is far larger. The
 * socket stays blocking: its flags may be shared. It stays open after the end, since PMI_FD still
 * names its number. Close-on-exec, which no inherited descriptor has, marks that this process has
 * joined.
 *
 * An MPI library in the process may speak PMI on this socket too (MPICH). It owns the socket once
 * initialised, under Slurm from the start; the program must then give its own means. If Oriel comes
 * first, oriel_init leaves nothing on the socket: it waits for the exchange and keeps all values.
 * finalize is sent when the process ends, unless MPI has come and sends it.
 */
#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "boot_check.h"
#include "client/alarm.h"
#include "client/beside_mpi.h"
#include "client/clients.h"
#include "client/later.h"
#include "client/pmi_line.h"
#include "client/starter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define JOIN_TIMEOUT_MS 60000       /* for all answers while joining */
#define EXCHANGE_TIMEOUT_MS 600000  /* for all ranks to come to oriel_init, beside an MPI */
#define LEAVE_TIMEOUT_MS 60000      /* for all to put, before a rank leaves */
#define LEAVE_SLURM_TIMEOUT_MS 5000 /* likewise; Slurm may not report a death */
#define END_TIMEOUT_MS 2000         /* for the answer to the last request */
#define LINE_BYTES 2048
#define NAME_BYTES 256 /* of the store's name */
#define KEY_BYTES 96

static_assert(LINE_BYTES > NAME_BYTES + KEY_BYTES + 2 * BOOT_VALUE_MAX_BYTES + 64, "a put is one line");

enum request { REQUEST_NONE, REQUEST_PUT, REQUEST_BARRIER, REQUEST_GET };

/* A rank's kept value. */
struct kept {
	bool known;
	uint8_t size_bytes;
	uint8_t bytes[BOOT_VALUE_MAX_BYTES];
};

struct boot_pmi {
	struct boot base;
	int fd;
	enum request request;
	bool put_done;
	bool exchanged; /* the barrier after it is over */
	bool lost;      /* events->lost has been called */
	char store[NAME_BYTES];
	int value_max_bytes;     /* of hexadecimal digits */
	struct later_get *asked; /* for REQUEST_GET */
	struct later later;
	struct kept *kept;   /* all values, if beside an MPI: the socket is unused; else NULL */
	int alarm_fd;        /* readable once a kept value is requested; -1 without kept */
	char in[LINE_BYTES]; /* received part of a line */
	size_t in_size;
};

static struct boot_pmi *pmi_of(struct boot *boot)
{
	return (struct boot_pmi *)boot;
}

/* Lines. */

static int fail_lost(const struct boot_pmi *pmi, const char *why)
{
	return err_set(
		ORIEL_ERR_BOOTSTRAP,
		"rank %d: the connection to %s (PMI_FD) is broken: %s. See what it has printed itself; other ways to "
		"start are srun --mpi=pmix, mpirun of Open MPI and, on one machine, oriel-run",
		pmi->base.rank, starter_pmi().text, why);
}

static int send_line(struct boot_pmi *pmi, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int send_line(struct boot_pmi *pmi, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	ssize_t sent;
	int size;

	va_start(args, format);
	size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	assert(size > 0 && size < LINE_BYTES);
	do
		sent = send(pmi->fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent == size)
		return 0;
	return fail_lost(pmi, sent < 0 ? strerror(errno) : "it takes no more");
}

/* Takes the first received line, without its newline. */
static bool take_line(struct boot_pmi *pmi, char line[LINE_BYTES])
{
	char *end = memchr(pmi->in, '\n', pmi->in_size);
	size_t size = end ? (size_t)(end - pmi->in) : 0;

	if (!end)
		return false;
	memcpy(line, pmi->in, size);
	line[size] = '\0';
	pmi->in_size -= size + 1;
	memmove(pmi->in, end + 1, pmi->in_size);
	return true;
}

/* Reads once. Returns the number of bytes, 0 at the end of the connection, or -1 with errno set. */
static ssize_t receive_some(struct boot_pmi *pmi)
{
	ssize_t got;

	if (pmi->in_size == sizeof(pmi->in)) {
		errno = EMSGSIZE;
		return -1;
	}
	do
		got = recv(pmi->fd, pmi->in + pmi->in_size, sizeof(pmi->in) - pmi->in_size, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		pmi->in_size += (size_t)got;
	return got;
}

static const char *receive_error(ssize_t got)
{
	if (got == 0)
		return "it was closed";
	return errno == EMSGSIZE ? "a line is too long" : strerror(errno);
}

static int await_line(struct boot_pmi *pmi, uint64_t deadline_ns, char line[LINE_BYTES])
{
	struct pollfd pfd = { .fd = pmi->fd, .events = POLLIN };
	uint64_t now;

	while (!take_line(pmi, line)) {
		ssize_t got = receive_some(pmi);

		if (got > 0)
			continue;
		if (got == 0 || errno != EAGAIN)
			return fail_lost(pmi, receive_error(got));
		now = now_ns();
		if (now >= deadline_ns)
			return fail_lost(pmi, "no answer in time");
		poll(&pfd, 1, (int)((deadline_ns - now) / NS_PER_MS) + 1);
	}
	return 0;
}

/* Joining. */

/* Sends a question and waits for its answer, whose cmd must be `answer`. */
static int ask(struct boot_pmi *pmi, const char *question, const char *answer, uint64_t deadline_ns,
               char line[LINE_BYTES])
{
	int rc = send_line(pmi, "%s\n", question);

	if (!rc)
		rc = await_line(pmi, deadline_ns, line);
	if (rc)
		return rc;
	if (!pmi_is(line, answer) || pmi_failed(line))
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "rank %d: %s answers \"%.32s\" by \"%.128s\"; it may not speak "
		               "PMI-1: start the job with srun --mpi=pmix, mpirun of Open MPI or, on one machine, oriel-run",
		               pmi->base.rank, starter_pmi().text, question, line);
	return 0;
}

static int ask_limits(struct boot_pmi *pmi, uint64_t deadline_ns)
{
	char line[LINE_BYTES];
	int rc = ask(pmi, "cmd=get_maxes", "maxes", deadline_ns, line);

	if (!rc && !pmi_number(line, "vallen_max", &pmi->value_max_bytes))
		rc = fail_lost(pmi, "it does not tell how long a value may be");
	return rc;
}

static int ask_store(struct boot_pmi *pmi, uint64_t deadline_ns)
{
	char line[LINE_BYTES];
	int rc = ask(pmi, "cmd=get_my_kvsname", "my_kvsname", deadline_ns, line);

	if (!rc && !pmi_field(line, "kvsname", pmi->store, sizeof(pmi->store)))
		rc = fail_lost(pmi, "it does not tell the name of its store");
	snprintf(pmi->base.job, sizeof(pmi->base.job), "%.63s", pmi->store);
	return rc;
}

/* Sets local_size: 1 if the launcher does not know it. */
static int ask_local_size(struct boot_pmi *pmi, uint64_t deadline_ns)
{
	char question[LINE_BYTES], line[LINE_BYTES], mapping[LINE_BYTES];
	int rc;

	snprintf(question, sizeof(question), "cmd=get kvsname=%s key=PMI_process_mapping", pmi->store);
	rc = send_line(pmi, "%s\n", question);
	if (!rc)
		rc = await_line(pmi, deadline_ns, line);
	if (rc)
		return rc;
	pmi->base.local_size = 1;
	if (!pmi_failed(line) && pmi_field(line, "value", mapping, sizeof(mapping)))
		pmi->base.local_size = pmi_local_size(mapping, pmi->base.rank, pmi->base.size);
	if (pmi->base.local_size < 1)
		pmi->base.local_size = 1;
	return 0;
}

static int join(struct boot_pmi *pmi)
{
	uint64_t deadline_ns = now_ns() + JOIN_TIMEOUT_MS * NS_PER_MS;
	char line[LINE_BYTES];
	int rc = ask(pmi, "cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline_ns, line);

	if (!rc)
		rc = ask_limits(pmi, deadline_ns);
	if (!rc)
		rc = ask_store(pmi, deadline_ns);
	return rc ? rc : ask_local_size(pmi, deadline_ns);
}

/* Requests. */

/* Returns the size of the value in an answer, or -1 if it has none. */
static int read_value(const char *line, uint8_t value[BOOT_VALUE_MAX_BYTES])
{
	char digits[LINE_BYTES];

	if (pmi_failed(line) || !pmi_field(line, "value", digits, sizeof(digits)))
		return -1;
	return pmi_read_hex(digits, value, BOOT_VALUE_MAX_BYTES);
}

static int check_put(const struct boot_pmi *pmi, const char *key, const void *value, size_t size_bytes)
{
	int rc = boot_check_value(key, value, size_bytes);

	if (rc)
		return rc;
	if (pmi->lost)
		return fail_lost(pmi, "it was closed");
	if (pmi->put_done)
		return boot_refuse_second_put(key);
	if (2 * size_bytes >= (size_t)pmi->value_max_bytes)
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "%s takes values of %d bytes only; %zu are needed: start the job with "
		               "srun --mpi=pmix, mpirun of Open MPI or, on one machine, oriel-run",
		               starter_pmi().text, pmi->value_max_bytes, 2 * size_bytes + 1);
	return 0;
}

static int await_answer(struct boot_pmi *pmi, const char *cmd, uint64_t deadline_ns, char line[LINE_BYTES])
{
	int rc = await_line(pmi, deadline_ns, line);

	if (rc || pmi_is(line, cmd))
		return rc;
	return fail_lost(pmi, "it answers something else");
}

static int ask_value(struct boot_pmi *pmi, const char *key, int rank, uint64_t deadline_ns)
{
	struct kept *kept = &pmi->kept[rank];
	char line[LINE_BYTES];
	int size, rc = send_line(pmi, "cmd=get kvsname=%s key=oriel-%s-%d\n", pmi->store, key, rank);

	if (!rc)
		rc = await_answer(pmi, "get_result", deadline_ns, line);
	if (rc)
		return rc;
	size = read_value(line, kept->bytes);
	kept->known = size >= 0;
	kept->size_bytes = kept->known ? (uint8_t)size : 0;
	return 0;
}

static int ask_all_values(struct boot_pmi *pmi, const char *key, uint64_t deadline_ns)
{
	int rc = alarm_open(&pmi->alarm_fd);

	if (rc)
		return rc;
	pmi->kept = calloc((size_t)pmi->base.size, sizeof(*pmi->kept));
	if (!pmi->kept)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the values of %d ranks", pmi->base.size);
	for (int rank = 0; rank < pmi->base.size && rc == 0; rank++)
		rc = ask_value(pmi, key, rank, deadline_ns);
	return rc;
}

/* Beside an MPI: waits for the put, the barrier and all values. */
static int exchange_all(struct boot_pmi *pmi, const char *key)
{
	uint64_t deadline_ns = now_ns() + EXCHANGE_TIMEOUT_MS * NS_PER_MS;
	char line[LINE_BYTES];
	int rc = await_answer(pmi, "put_result", deadline_ns, line);

	if (!rc && pmi_failed(line))
		rc = fail_lost(pmi, "it does not take the value");
	if (!rc)
		rc = send_line(pmi, "cmd=barrier_in\n");
	if (!rc)
		rc = await_answer(pmi, "barrier_out", deadline_ns, line);
	return rc ? rc : ask_all_values(pmi, key, deadline_ns);
}

static int pmi_put(struct boot *boot, const char *key, const void *value, size_t size_bytes)
{
	struct boot_pmi *pmi = pmi_of(boot);
	char digits[2 * BOOT_VALUE_MAX_BYTES + 1];
	int rc = check_put(pmi, key, value, size_bytes);

	if (rc)
		return rc;
	pmi_write_hex(value, size_bytes, digits);
	rc = send_line(pmi, "cmd=put kvsname=%s key=oriel-%s-%d value=%s\n", pmi->store, key, boot->rank, digits);
	if (rc)
		return rc;
	pmi->put_done = true;
	if (mpi_is_here())
		return exchange_all(pmi, key);
	pmi->request = REQUEST_PUT;
	state_store(&pmi->base.gathering, 1); /* pairs with the load in wait_looked, like the others */
	return 0;
}

static int ask_next(struct boot_pmi *pmi)
{
	if (pmi->request != REQUEST_NONE || !pmi->exchanged)
		return 0;
	pmi->asked = later_take(&pmi->later);
	if (!pmi->asked)
		return 0;
	pmi->request = REQUEST_GET;
	return send_line(pmi, "cmd=get kvsname=%s key=oriel-%s-%d\n", pmi->store, pmi->asked->key, pmi->asked->rank);
}

static int pmi_get(struct boot *boot, int rank, const char *key)
{
	struct boot_pmi *pmi = pmi_of(boot);
	int rc = boot_check_get(boot, rank, key);

	if (rc)
		return rc;
	if (pmi->lost)
		return fail_lost(pmi, "it was closed");
	rc = later_add(&pmi->later, rank, key);
	if (rc)
		return rc;
	if (!pmi->kept)
		return ask_next(pmi);
	alarm_set(pmi->alarm_fd, ALARM_NOW);
	return 0;
}

static int pmi_leave(struct boot *boot)
{
	(void)boot; /* pmi_close tells the launcher */
	return 0;
}

/* Prints the reason, which PMI cannot carry. */
static int pmi_abort(struct boot *boot, int status, const char *reason)
{
	struct boot_pmi *pmi = pmi_of(boot);

	if (pmi->lost)
		return fail_lost(pmi, "it was closed");
	if (reason && *reason)
		fprintf(stderr, "oriel: rank %d aborts the job: %s\n", boot->rank, reason);
	return send_line(pmi, "cmd=abort exitcode=%d\n", status);
}

/* Answers. */

static int pmi_fd(const struct boot *boot)
{
	const struct boot_pmi *pmi = (const struct boot_pmi *)boot;

	return pmi->kept ? pmi->alarm_fd : pmi->fd;
}

static void tell_lost(struct boot_pmi *pmi, const char *why)
{
	char text[192];

	if (pmi->lost)
		return;
	pmi->lost = true;
	state_store(&pmi->base.gathering, 0);
	free(pmi->asked);
	pmi->asked = NULL;
	later_clear(&pmi->later);
	snprintf(text, sizeof(text), "%s is gone: %s", starter_pmi().text, why);
	pmi->base.events->lost(pmi->base.events_arg, text);
}

/* After the barrier a missing value never comes: its rank has not put it. */
static void answer_get(struct boot_pmi *pmi, const char *line)
{
	struct later_get *get = pmi->asked;
	uint8_t value[BOOT_VALUE_MAX_BYTES];
	int size = read_value(line, value);

	pmi->asked = NULL;
	pmi->base.events->value(pmi->base.events_arg, get->rank, get->key, size >= 0 ? value : NULL,
	                        size >= 0 ? (size_t)size : 0);
	free(get);
}

/* Returns false for a refusal or an unexpected line. */
static bool take_answer(struct boot_pmi *pmi, const char *line)
{
	enum request request = pmi->request;

	pmi->request = REQUEST_NONE;
	switch (request) {
	case REQUEST_PUT:
		if (!pmi_is(line, "put_result") || pmi_failed(line) || send_line(pmi, "cmd=barrier_in\n"))
			return false;
		pmi->request = REQUEST_BARRIER;
		return true;
	case REQUEST_BARRIER:
		pmi->exchanged = true;
		state_store(&pmi->base.gathering, 0);
		return pmi_is(line, "barrier_out") && !pmi_failed(line);
	case REQUEST_GET:
		if (!pmi_is(line, "get_result"))
			return false;
		answer_get(pmi, line);
		return true;
	case REQUEST_NONE:
		break;
	}
	return false;
}

static void answer_from_kept(struct boot_pmi *pmi)
{
	for (struct later_get *get = later_take(&pmi->later); get; get = later_take(&pmi->later)) {
		const struct kept *kept = &pmi->kept[get->rank];

		pmi->base.events->value(pmi->base.events_arg, get->rank, get->key, kept->known ? kept->bytes : NULL,
		                        kept->size_bytes);
		free(get);
	}
	alarm_set(pmi->alarm_fd, ALARM_NEVER);
}

static int pmi_dispatch(struct boot *boot)
{
	struct boot_pmi *pmi = pmi_of(boot);
	char line[LINE_BYTES], why[LINE_BYTES + 32];
	ssize_t got;

	if (pmi->kept) {
		answer_from_kept(pmi);
		return 0;
	}
	do {
		while (!pmi->lost && take_line(pmi, line)) {
			if (take_answer(pmi, line) && ask_next(pmi) == 0)
				continue;
			snprintf(why, sizeof(why), "it says \"%.96s\"", line);
			tell_lost(pmi, why);
		}
		if (pmi->lost)
			return 0;
		got = receive_some(pmi);
	} while (got > 0);
	if (got == 0 || errno != EAGAIN)
		tell_lost(pmi, receive_error(got));
	return 0;
}

/* Opening and closing. */

static void release(struct boot_pmi *pmi)
{
	if (pmi->alarm_fd >= 0)
		close(pmi->alarm_fd);
	free(pmi->kept);
	free(pmi->asked);
	later_clear(&pmi->later);
	free(pmi);
}

/*
 * Returns how long a leaving rank waits for all to put. If it left during the barrier, hydra would
 * end the job. The time is bounded, since the barrier never ends if a rank died before its put, and
 * short under Slurm, which still serves later ranks.
 */
static uint64_t leave_limit_ms(void)
{
	return starter_is_slurm() ? LEAVE_SLURM_TIMEOUT_MS : LEAVE_TIMEOUT_MS;
}

static void end_exchange(struct boot_pmi *pmi)
{
	uint64_t deadline_ns = now_ns() + leave_limit_ms() * NS_PER_MS;
	char line[LINE_BYTES];

	while (!pmi->exchanged && pmi->request != REQUEST_NONE) {
		if (await_line(pmi, deadline_ns, line) || !take_answer(pmi, line))
			return;
	}
}

/* The answer to an outstanding request may come first. */
static void finalize(struct boot_pmi *pmi)
{
	uint64_t deadline_ns;
	char line[LINE_BYTES];

	end_exchange(pmi);
	deadline_ns = now_ns() + END_TIMEOUT_MS * NS_PER_MS;
	if (send_line(pmi, "cmd=finalize\n"))
		return;
	while (await_line(pmi, deadline_ns, line) == 0 && !pmi_is(line, "finalize_ack"))
		continue;
}

/* For finalize_at_exit; process is checked since forked children inherit exit handlers. */
static struct {
	int fd;
	pid_t process;
} at_exit;

/* Launchers take a process that ends without finalize for crashed. */
static void finalize_at_exit(void)
{
	struct boot_pmi pmi = { .fd = at_exit.fd };

	if (getpid() == at_exit.process && !mpi_is_initialized())
		finalize(&pmi);
}

static void pmi_close(struct boot *boot)
{
	struct boot_pmi *pmi = pmi_of(boot);

	if (pmi->kept) {
		at_exit.fd = pmi->fd;
		at_exit.process = getpid();
		atexit(finalize_at_exit);
	} else if (!pmi->lost) {
		finalize(pmi);
	}
	release(pmi);
}

static const struct boot_ops pmi_ops = {
	.name = "pmi",
	.put = pmi_put,
	.get = pmi_get,
	.leave = pmi_leave,
	.abort = pmi_abort,
	.fd = pmi_fd,
	.dispatch = pmi_dispatch,
	.close = pmi_close,
};

static int check_descriptor(const struct boot_pmi *pmi)
{
	int flags = fcntl(pmi->fd, F_GETFD), type;
	socklen_t size = sizeof(type);

	if (flags >= 0 && (flags & FD_CLOEXEC))
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "this process has joined the job of %s before (descriptor %d, PMI_FD); it can be joined once",
		               starter_pmi().text, pmi->fd);
	if (flags < 0 || getsockopt(pmi->fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "descriptor %d (PMI_FD) is not the connection to %s: a program between it and this one closed "
		               "it. Let it pass the descriptor on, or set ORIEL_BOOT=single for a job of one rank",
		               pmi->fd, starter_pmi().text);
	return 0;
}

static int read_environment(struct boot_pmi *pmi)
{
	int rc = boot_read_number("PMI_FD", "PMI_FD", 0, 1 << 20, &pmi->fd);

	if (!rc)
		rc = boot_read_number("PMI_SIZE", "PMI_FD", 1, BOOT_RANKS_MAX, &pmi->base.size);
	if (!rc)
		rc = boot_read_number("PMI_RANK", "PMI_FD", 0, pmi->base.size - 1, &pmi->base.rank);
	if (!rc)
		rc = boot_read_choices(&pmi->base);
	return rc ? rc : check_descriptor(pmi);
}

/*
 * Returns an error if an MPI library needs the connection. Two users can share it one after the
 * other under hydra, not under Slurm.
 */
static int check_mpi(void)
{
	bool shared = getenv("HYDI_CONTROL_FD");

	if (!mpi_is_here() || (shared && !mpi_is_initialized()))
		return 0;
	return err_set(
		ORIEL_ERR_BOOTSTRAP,
		"an MPI library is in this process, and the connection to %s (PMI_FD) is its own: give oriel_init "
		"the program's own means, a struct oriel_bootstrap whose exchange calls MPI_Allgather (the example in "
		"oriel_init(3))%s",
		starter_pmi().text, shared ? ", or call it before MPI_Init" : "");
}

int boot_pmi_open(struct boot **boot)
{
	struct boot_pmi *pmi = calloc(1, sizeof(*pmi));
	int rc;

	if (!pmi)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	pmi->base.ops = &pmi_ops;
	pmi->alarm_fd = -1;
	rc = check_mpi();
	if (!rc)
		rc = read_environment(pmi);
	if (!rc)
		rc = join(pmi);
	if (rc) {
		release(pmi);
		return rc;
	}
	fcntl(pmi->fd, F_SETFD, FD_CLOEXEC);
	*boot = &pmi->base;
	return 0;
}
