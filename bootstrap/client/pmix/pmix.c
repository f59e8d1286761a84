// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmix.c - a rank of a launcher with a PMIx server: Open MPI's mpirun, PRRTE, srun --mpi=pmix
 *
 * DESIGN NOTES A rank's value goes out in one commit, followed by a fence without data. Gets wait
 * for this fence, since a server answers "not found" for a rank it does not know yet. Slurm's fence
 * does not cover several nodes, so "not found" is asked again. Nothing of this blocks: libpmix's
 * thread puts answers into inbox.h, and dispatch takes them out.
 *
 * A server keeps what a rank had committed at the first request for it. If MPI joined before Oriel,
 * that may have happened; then the fence carries all values to all nodes. Beside an MPI, oriel_init
 * waits for the fence: servers mix up two concurrent fences, and MPI_Init has one.
 */
#include "base/err.h"
#include "base/order.h"
#include "base/settings.h"
#include "base/util.h"
#include "boot_check.h"
#include "client/beside_mpi.h"
#include "client/clients.h"
#include "client/later.h"
#include "client/pmix/inbox.h"
#include "client/pmix/library.h"
#include "client/starter.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAST_EXCHANGE_TIMEOUT_MS 60000        /* for all to put, before a rank leaves */
#define LAST_EXCHANGE_SLURM_TIMEOUT_MS 5000   /* likewise, under Slurm */
#define GETS_MAX 64                           /* outstanding at the server */
#define SEARCH_LIMIT_NS (600 * NS_PER_SECOND) /* for a value, after the exchange */

struct boot_pmix {
	struct boot base;
	struct pmix_library library;
	pmix_proc_t self;
	bool initialized;
	bool second; /* PMIx was initialised before us */
	bool put_done;
	bool exchanged;
	bool lost;
	uint64_t exchanged_ns;
	int last_exchange_timeout_ms; /* one of LAST_EXCHANGE_... */
	pmix_info_t collect;          /* must live until the fence ends */
	size_t handler;               /* for events */
	bool has_handler;
	struct inbox *inbox;
	int gets; /* outstanding at the server */
	struct later later;
};

static struct boot_pmix *pmix_of(struct boot *boot)
{
	return (struct boot_pmix *)boot;
}

static int fail(const struct boot_pmix *pmix, const char *call, pmix_status_t status)
{
	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "rank %d: %s of %s fails: %s (%d). See what it has printed itself; other ways to start are "
	               "srun --mpi=pmi2, mpiexec.hydra and, on one machine, oriel-run",
	               pmix->base.rank, call, starter_pmix().text, pmix->library.error_string(status), (int)status);
}

static pmix_proc_t proc_of(const struct boot_pmix *pmix, pmix_rank_t rank)
{
	pmix_proc_t proc = pmix->self;

	proc.rank = rank;
	return proc;
}

/* Callbacks on libpmix's thread. */

static void on_fence(pmix_status_t status, void *arg)
{
	struct letter *letter = arg;

	letter->status = status;
	letter_back(letter);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *arg)
{
	struct letter *letter = arg;
	bool ours = status == PMIX_SUCCESS && value && value->type == PMIX_BYTE_OBJECT &&
	            value->data.bo.size <= sizeof(letter->value);

	letter->status = status == PMIX_SUCCESS && !ours ? PMIX_ERR_NOT_FOUND : status;
	if (ours && value->data.bo.size > 0)
		memcpy(letter->value, value->data.bo.bytes, value->data.bo.size);
	letter->size_bytes = ours ? value->data.bo.size : 0;
	letter_back(letter);
}

static const pmix_info_t *find_info(const pmix_info_t info[], size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(info[i].key, key, PMIX_MAX_KEYLEN) == 0)
			return &info[i];
	return NULL;
}

/* Drops the news if memory is short. */
static void on_event(size_t handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t count,
                     pmix_info_t *results, size_t result_count, pmix_event_notification_cbfunc_fn_t done, void *arg)
{
	const pmix_info_t *inbox = find_info(info, count, PMIX_EVENT_RETURN_OBJECT);
	const pmix_info_t *affected = find_info(info, count, PMIX_EVENT_AFFECTED_PROC);
	struct letter *letter = inbox ? letter_new(inbox->value.data.ptr, LETTER_EVENT) : NULL;

	(void)handler;
	(void)results;
	(void)result_count;
	if (letter) {
		letter->status = status;
		letter->proc = affected && affected->value.data.proc ? *affected->value.data.proc : *source;
		letter_back(letter);
	}
	if (done)
		done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* Joining. */

/* Returns 0 if the server does not have it. */
static int ask_number(const struct boot_pmix *pmix, const char *key)
{
	pmix_proc_t job = proc_of(pmix, PMIX_RANK_WILDCARD);
	pmix_value_t *value = NULL;
	int number = 0;

	if (pmix->library.get(&job, key, NULL, 0, &value) != PMIX_SUCCESS || !value)
		return 0;
	if (value->type == PMIX_UINT32 && value->data.uint32 <= BOOT_RANKS_MAX)
		number = (int)value->data.uint32;
	free(value);
	return number;
}

static int read_numbers(struct boot_pmix *pmix)
{
	struct boot *boot = &pmix->base;

	boot->size = ask_number(pmix, PMIX_JOB_SIZE);
	boot->local_size = ask_number(pmix, PMIX_LOCAL_SIZE);
	if (boot->local_size < 1)
		boot->local_size = 1;
	if (pmix->self.rank >= (pmix_rank_t)boot->size)
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "%s says that this is rank %u of %d (PMIX_JOB_SIZE); at most %d are possible",
		               starter_pmix().text, pmix->self.rank, boot->size, BOOT_RANKS_MAX);
	boot->rank = (int)pmix->self.rank;
	return 0;
}

static void warn_of_mpi_to_come(const struct boot_pmix *pmix)
{
	if (!pmix->second && mpi_is_here() && !mpi_is_initialized() && mpi_wants_pmix_alone())
		tell_of_process("Open MPI 5 aborts in MPI_Init from now until oriel_finalize: call MPI_Init before oriel_init");
}

static int join(struct boot_pmix *pmix)
{
	pmix_status_t status;

	pmix->second = pmix->library.initialized();
	warn_of_mpi_to_come(pmix);
	status = pmix->library.init(&pmix->self, NULL, 0);
	if (status != PMIX_SUCCESS)
		return fail(pmix, "PMIx_Init", status);
	pmix->initialized = true;
	return read_numbers(pmix);
}

/* Registers for news of deaths; a job works without. */
static void register_handler(struct boot_pmix *pmix)
{
	pmix_status_t codes[] = { PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_LOST_CONNECTION };
	pmix_info_t inbox = { .key = PMIX_EVENT_RETURN_OBJECT };
	pmix_status_t handler;

	inbox.value.type = PMIX_POINTER;
	inbox.value.data.ptr = pmix->inbox;
	handler = pmix->library.register_handler(codes, sizeof(codes) / sizeof(codes[0]), &inbox, 1, on_event, NULL, NULL);
	pmix->has_handler = handler >= 0;
	pmix->handler = (size_t)handler;
}

/* The exchange. */

static void make_key(const char *key, char text[LETTER_KEY_BYTES])
{
	snprintf(text, LETTER_KEY_BYTES, "oriel.%s", key);
}

static int commit(struct boot_pmix *pmix, const char *key, const void *bytes, size_t size_bytes)
{
	pmix_value_t value = { .type = PMIX_BYTE_OBJECT };
	char text[LETTER_KEY_BYTES];
	pmix_status_t status;

	value.data.bo.bytes = (char *)(uintptr_t)bytes;
	value.data.bo.size = size_bytes;
	make_key(key, text);
	status = pmix->library.put(PMIX_GLOBAL, text, &value);
	if (status != PMIX_SUCCESS)
		return fail(pmix, "PMIx_Put", status);
	status = pmix->library.commit();
	return status == PMIX_SUCCESS ? 0 : fail(pmix, "PMIx_Commit", status);
}

static void end_exchange(struct boot_pmix *pmix)
{
	pmix->exchanged = true;
	state_store(&pmix->base.gathering, 0);
	pmix->exchanged_ns = now_ns();
}

static void ask_for_data(pmix_info_t *collect)
{
	*collect = (pmix_info_t){ .key = PMIX_COLLECT_DATA };
	collect->value.type = PMIX_BOOL;
	collect->value.data.flag = true;
}

static int fence_and_wait(struct boot_pmix *pmix)
{
	pmix_status_t status = pmix->library.fence(NULL, 0, &pmix->collect, pmix->second ? 1 : 0);

	if (status != PMIX_SUCCESS)
		return fail(pmix, "PMIx_Fence", status);
	end_exchange(pmix);
	return 0;
}

static int fence(struct boot_pmix *pmix)
{
	struct letter *letter = letter_new(pmix->inbox, LETTER_FENCE);
	pmix_status_t status;

	if (!letter)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	state_store(&pmix->base.gathering, 1); /* pairs with the load in wait_looked, like the others */
	status = pmix->library.fence_nb(NULL, 0, NULL, 0, on_fence, letter);
	if (status == PMIX_SUCCESS)
		return 0;
	on_fence(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, letter); /* no callback follows */
	return status == PMIX_OPERATION_SUCCEEDED ? 0 : fail(pmix, "PMIx_Fence_nb", status);
}

static int check_put(const struct boot_pmix *pmix, const char *key, const void *value, size_t size_bytes)
{
	int rc = boot_check_value(key, value, size_bytes);

	if (rc)
		return rc;
	return pmix->put_done ? boot_refuse_second_put(key) : 0;
}

static int pmix_put(struct boot *boot, const char *key, const void *value, size_t size_bytes)
{
	struct boot_pmix *pmix = pmix_of(boot);
	int rc = check_put(pmix, key, value, size_bytes);

	if (!rc)
		rc = commit(pmix, key, value, size_bytes);
	if (rc)
		return rc;
	pmix->put_done = true;
	return pmix->second || mpi_is_here() ? fence_and_wait(pmix) : fence(pmix);
}

/* Gets. */

/* A failure queues the get again. */
static void ask(struct boot_pmix *pmix, struct later_get *get, uint64_t now)
{
	struct letter *letter = letter_new(pmix->inbox, LETTER_GET);
	pmix_status_t status;

	if (!letter) {
		later_again(&pmix->later, get, now);
		return;
	}
	letter->get = get;
	letter->proc = proc_of(pmix, (pmix_rank_t)get->rank);
	make_key(get->key, letter->key);
	pmix->gets++;
	status = pmix->library.get_nb(&letter->proc, letter->key, NULL, 0, on_value, letter);
	if (status != PMIX_SUCCESS)
		on_value(status == PMIX_OPERATION_SUCCEEDED ? PMIX_ERR_NOT_FOUND : status, NULL, letter);
}

static void ask_due(struct boot_pmix *pmix)
{
	uint64_t now = now_ns();
	struct later_get *get;

	while (pmix->exchanged && !pmix->lost && pmix->gets < GETS_MAX && (get = later_take_due(&pmix->later, now)))
		ask(pmix, get, now);
	inbox_set_alarm(pmix->inbox, pmix->exchanged && pmix->gets < GETS_MAX ? later_due_ns(&pmix->later) : UINT64_MAX);
}

static int pmix_get(struct boot *boot, int rank, const char *key)
{
	struct boot_pmix *pmix = pmix_of(boot);
	int rc = boot_check_get(boot, rank, key);

	if (rc)
		return rc;
	if (pmix->lost)
		return err_set(ORIEL_ERR_BOOTSTRAP, "rank %d has no connection to %s any more", boot->rank,
		               starter_pmix().text);
	rc = later_add(&pmix->later, rank, key);
	if (rc == 0)
		ask_due(pmix);
	return rc;
}

/* Events. */

static void tell_lost(struct boot_pmix *pmix, pmix_status_t status)
{
	char text[192];

	if (pmix->lost)
		return;
	pmix->lost = true;
	state_store(&pmix->base.gathering, 0);
	later_clear(&pmix->later);
	snprintf(text, sizeof(text), "%s is gone: %s", starter_pmix().text, pmix->library.error_string(status));
	pmix->base.events->lost(pmix->base.events_arg, text);
}

static bool is_lost(pmix_status_t status)
{
	return status == PMIX_ERR_LOST_CONNECTION || status == PMIX_ERR_UNREACH;
}

static void take_value(struct boot_pmix *pmix, struct letter *letter)
{
	struct later_get *get = letter->get;
	uint64_t now = now_ns();
	bool found = letter->status == PMIX_SUCCESS;

	pmix->gets--;
	if (is_lost(letter->status)) {
		tell_lost(pmix, letter->status);
	} else if (found || now - pmix->exchanged_ns > SEARCH_LIMIT_NS) {
		pmix->base.events->value(pmix->base.events_arg, get->rank, get->key, found ? letter->value : NULL,
		                         letter->size_bytes);
	} else {
		letter->get = NULL;
		later_again(&pmix->later, get, now);
	}
}

/* A failed fence ends the exchange too: its success proves nothing either. */
static void take_fence(struct boot_pmix *pmix, const struct letter *letter)
{
	if (is_lost(letter->status))
		tell_lost(pmix, letter->status);
	else
		end_exchange(pmix);
}

static void take_event(struct boot_pmix *pmix, const struct letter *letter)
{
	bool ours = strncmp(letter->proc.nspace, pmix->self.nspace, PMIX_MAX_NSLEN) == 0 &&
	            letter->proc.rank < (pmix_rank_t)pmix->base.size;
	char text[128];

	if (ours) {
		snprintf(text, sizeof(text), "%s says so: %s", starter_pmix().text, pmix->library.error_string(letter->status));
		pmix->base.events->died(pmix->base.events_arg, (int)letter->proc.rank, text);
	} else if (is_lost(letter->status)) {
		tell_lost(pmix, letter->status);
	}
}

static void take_letter(struct boot_pmix *pmix, struct letter *letter)
{
	switch (letter->kind) {
	case LETTER_FENCE:
		take_fence(pmix, letter);
		break;
	case LETTER_GET:
		take_value(pmix, letter);
		break;
	case LETTER_EVENT:
		take_event(pmix, letter);
		break;
	}
}

static int pmix_dispatch(struct boot *boot)
{
	struct boot_pmix *pmix = pmix_of(boot);
	struct letter *letter = inbox_take(pmix->inbox), *next;

	for (; letter; letter = next) {
		next = letter->next;
		if (!pmix->lost)
			take_letter(pmix, letter);
		letter_free(letter);
	}
	ask_due(pmix);
	return 0;
}

static int pmix_fd(const struct boot *boot)
{
	return ((const struct boot_pmix *)boot)->inbox->alarm_fd;
}

static int pmix_leave(struct boot *boot)
{
	(void)boot; /* pmix_close tells the launcher */
	return 0;
}

static int pmix_abort(struct boot *boot, int status, const char *reason)
{
	struct boot_pmix *pmix = pmix_of(boot);
	pmix_status_t rc = pmix->library.abort(status, reason, NULL, 0);

	return rc == PMIX_SUCCESS ? 0 : fail(pmix, "PMIx_Abort", rc);
}

/* Opening and closing. */

static void release(struct boot_pmix *pmix)
{
	if (pmix->has_handler)
		pmix->library.deregister_handler(pmix->handler, NULL, NULL);
	if (pmix->initialized)
		pmix->library.finalize(NULL, 0);
	if (pmix->inbox)
		inbox_close(pmix->inbox);
	later_clear(&pmix->later);
	free(pmix);
}

/* For finalize_at_exit; process is checked since forked children inherit exit handlers. */
static struct {
	struct pmix_library library;
	pid_t process;
} at_exit;

static void finalize_at_exit(void)
{
	if (getpid() == at_exit.process)
		at_exit.library.finalize(NULL, 0);
}

/* A process that has left PMIx 4 cannot join again, but an MPI may still come. */
static void leave_to_exit(struct boot_pmix *pmix)
{
	at_exit.library = pmix->library;
	at_exit.process = getpid();
	if (atexit(finalize_at_exit) == 0)
		pmix->initialized = false;
}

/* News that the fence will not end ends the exchange too. A leaving rank gets no callbacks. */
static void take_end_of_fence(struct boot_pmix *pmix, uint64_t deadline_ns)
{
	struct letter *letter = inbox_take(pmix->inbox), *next;

	for (; letter; letter = next) {
		next = letter->next;
		if (letter->kind != LETTER_GET)
			pmix->exchanged = true;
		letter_free(letter);
	}
	inbox_set_alarm(pmix->inbox, deadline_ns);
}

/*
 * Waits until all have put: a rank may hang in PMIx_Init if others of its node have left (mpirun
 * 4.1.4). The wait is bounded, since a rank may have died before its put without a report.
 */
static void await_exchange(struct boot_pmix *pmix)
{
	uint64_t deadline_ns = now_ns() + (uint64_t)pmix->last_exchange_timeout_ms * NS_PER_MS;
	struct pollfd pfd = { .fd = pmix->inbox->alarm_fd, .events = POLLIN };

	while (pmix->put_done && !pmix->exchanged && !pmix->lost && now_ns() < deadline_ns) {
		take_end_of_fence(pmix, deadline_ns);
		if (!pmix->exchanged)
			poll(&pfd, 1, 100);
	}
}

static void pmix_close(struct boot *boot)
{
	await_exchange(pmix_of(boot));
	if (mpi_is_here() && !mpi_is_initialized() && !mpi_wants_pmix_alone())
		leave_to_exit(pmix_of(boot));
	release(pmix_of(boot));
}

static const struct boot_ops pmix_ops = {
	.name = "pmix",
	.put = pmix_put,
	.get = pmix_get,
	.leave = pmix_leave,
	.abort = pmix_abort,
	.fd = pmix_fd,
	.dispatch = pmix_dispatch,
	.close = pmix_close,
};

/* A server keeps a rank's first value, so a second life could not be reached. */
static int refuse_second_life(void)
{
	static bool joined; /* changed atomically */

	if (!__atomic_exchange_n(&joined, true, __ATOMIC_RELAXED))
		return 0;
	return err_set(ORIEL_ERR_BOOTSTRAP, "this process has joined the job of %s before; it can be joined once",
	               starter_pmix().text);
}

static int open_all(struct boot_pmix *pmix)
{
	int rc = boot_read_choices(&pmix->base);

	if (!rc)
		rc = pmix_library_open(&pmix->library);
	if (!rc)
		rc = inbox_open(&pmix->inbox);
	if (!rc)
		rc = refuse_second_life();
	if (!rc)
		rc = join(pmix);
	if (!rc)
		register_handler(pmix);
	return rc;
}

int boot_pmix_open(struct boot **boot)
{
	struct boot_pmix *pmix = calloc(1, sizeof(*pmix));
	int rc;

	if (!pmix)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	pmix->base.ops = &pmix_ops;
	pmix->last_exchange_timeout_ms = starter_is_slurm() ? LAST_EXCHANGE_SLURM_TIMEOUT_MS : LAST_EXCHANGE_TIMEOUT_MS;
	ask_for_data(&pmix->collect);
	rc = open_all(pmix);
	if (rc) {
		release(pmix);
		return rc;
	}
	*boot = &pmix->base;
	return 0;
}
