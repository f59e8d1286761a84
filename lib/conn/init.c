// SPDX-License-Identifier: BSD-2-Clause
/* init.c - joining and leaving a job, and calls that concern all of it */
#include "conn/service.h"

#include <sched.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "am/am_send.h"
#include "base/err.h"
#include "base/handle.h"
#include "base/settings.h"
#include "base/util.h"
#include "conn/coll.h"
#include "conn/conn.h"
#include "conn/ctrl_msg.h"
#include "conn/directory.h"
#include "job/job.h"
#include "sync/wait.h"
#include "verbs/devices.h"

#define WATCHDOG_DEFAULT_MS 30000
#define CONNECT_TIMEOUT_DEFAULT_MS 4000
#define CALLS_PER_YIELD 8 /* of oriel_progress */
#define CALLS_PER_WAKEUPS 64
#define CONNECT_TIMEOUT_SOFT_MS 60000 /* a live rank is scheduled within this time */
#define TEXT(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *oriel_version(void)
{
	return VERSION_TEXT(ORIEL_VERSION_MAJOR, ORIEL_VERSION_MINOR, ORIEL_VERSION_PATCH);
}

static const char *first_text(const char *a, const char *b, const char *c)
{
	if (a && *a)
		return a;
	return b && *b ? b : c;
}

/* Returns 0 if unknown. */
static int processors_of(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(pid, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

/*
 * Returns the processors for this machine's ranks. A bound rank has fewer than its launcher, whose
 * number then counts.
 */
static int processors(void)
{
	pid_t parent = getppid();
	int own = processors_of(0), launchers = parent > 0 ? processors_of(parent) : 0;
	int most = own > launchers ? own : launchers;

	if (most == 0) /* more processors than the set has room for */
		most = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return most > 0 ? most : 1;
}

static void set_oversubscription(struct oriel_job *job)
{
	int count = processors();

	job->ranks_per_processor = (uint32_t)((job->boot->local_size + count - 1) / count);
	job->am.may_spin = job->boot->local_size * 2 <= count;
}

static int set_connect_limits(const struct oriel_job *job, struct limits *limits)
{
	int set_ms = -1, rc = setting_seconds("ORIEL_CONNECT_TIMEOUT", &set_ms);

	limits->connect_timeout_ms = set_ms >= 0 ? set_ms : CONNECT_TIMEOUT_DEFAULT_MS * (int)job_timeout_scale(job);
	limits->connect_timeout_soft_ms = set_ms >= 0 ? set_ms : CONNECT_TIMEOUT_SOFT_MS;
	return rc;
}

static int set_share(struct oriel_job *job)
{
	static const char *const words[] = { "0", "1", NULL };
	int value = 0, rc = setting_word("ORIEL_SHARE", words, &value);

	job->share = value;
	return rc;
}

/* A malformed variable is an error even if an option overrides it. */
static int set_limits(struct oriel_job *job, const struct oriel_options *options)
{
	struct limits *limits = &job->limits;
	int rc;

	set_oversubscription(job);
	limits->watchdog_ms = WATCHDOG_DEFAULT_MS;
	rc = set_connect_limits(job, limits);
	if (rc == 0)
		rc = tell_open();
	if (rc == 0)
		rc = set_share(job);
	job->unkind = NOT_UNKIND;
	if (rc == 0)
		rc = setting_seed("ORIEL_UNKIND", &job->unkind);
	if (rc == 0)
		rc = setting_seconds("ORIEL_TIMEOUT", &limits->timeout_ms);
	if (rc == 0)
		rc = setting_seconds("ORIEL_WATCHDOG", &limits->watchdog_ms);
	if (options->timeout_ms)
		limits->timeout_ms = options->timeout_ms;
	if (options->watchdog_ms)
		limits->watchdog_ms = options->watchdog_ms > 0 ? options->watchdog_ms : 0;
	return rc;
}

static void tell_misspelt(void *job, const char *text)
{
	tell(((struct oriel_job *)job)->rank, "%s", text);
}

static void init_locks(struct oriel_job *job)
{
	pthread_mutex_init(&job->lock, NULL);
	pthread_mutex_init(&job->elements_lock, NULL);
	pthread_mutex_init(&job->unexpected.lock, NULL);
}

static void give_board(const struct oriel_job *job, struct board *board)
{
	if (job->tool && job->tool->takes_board)
		job->tool->takes_board(board);
}

/* The service thread has ended. */
static void job_release(struct oriel_job *job)
{
	connections_release(job);
	am_senders_close(job);
	peers_close(job);
	am_close(job);
	unexpected_msgs_drop(job, NULL);
	directory_close(job);
	region_tables_close(job);
	while (window_cache_release_one(job))
		;
	while (job->groups.alive)
		group_release(job->groups.alive);
	if (job->slabs.devices)
		slabs_close(&job->slabs);
	if (job->mems.devices)
		mem_table_close(&job->mems);
	devices_close(&job->devices);
	if (job->boot)
		job->boot->ops->close(job->boot);
	sodium_memzero(&job->endpoint, sizeof(job->endpoint));
	free(job->group_counts.list);
	give_board(job, NULL);
	board_close(&job->board);
	deaths_free(job);
	lock_repairs_free(job);
	pthread_mutex_destroy(&job->lock);
	pthread_mutex_destroy(&job->elements_lock);
	pthread_mutex_destroy(&job->unexpected.lock);
	err_rank_leave();
	handle_release(HANDLE_JOB, job);
}

/* Ranks of a missing device are reached by the other one, if at all. */
static void tell_devices(const struct oriel_job *job, const struct providers *wanted)
{
	tell(job->rank, "one of %d (started by: %s)", job->size, job->boot->ops->name);
	for (uint32_t i = 0; i < job->devices.count; i++)
		tell(job->rank, "device %s at %s", device_name(&job->devices.list[i]), job->devices.list[i].addr_text);
	if (job->devices.count < wanted->count)
		tell(job->rank, "goes on without a device for ranks of this machine: %s", err_text());
}

static int open_devices(struct oriel_job *job, const struct oriel_options *options)
{
	const char *device = first_text(options->device, job->boot->device, getenv("ORIEL_DEVICE"));
	const char *addr = first_text(options->addr, job->boot->addr, getenv("ORIEL_ADDR"));
	struct providers providers;
	size_t max_message = 0;
	int rc = setting_bytes("ORIEL_MAX_MESSAGE", &max_message);

	if (options->max_message_bytes)
		max_message = options->max_message_bytes;
	if (rc)
		return rc;
	providers = providers_choose(device);
	rc = providers_open(&providers, addr, max_message, &job->devices);
	if (rc == 0)
		tell_devices(job, &providers);
	return rc;
}

static const char *address_of(const struct oriel_job *job, bool maps_memory)
{
	const struct device *device = devices_find(&job->devices, maps_memory);

	return device ? device->addr_text : "";
}

/* Must precede questions about other ranks (boot.h). */
static int publish(struct oriel_job *job)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];

	endpoint_make(&job->endpoint, address_of(job, false), address_of(job, true), job->devices.list[0].atomics_by);
	job->endpoint.unkind = job->unkind != NOT_UNKIND;
	return job->boot->ops->put(job->boot, ENDPOINT_BOOT_KEY, bytes, endpoint_encode(&job->endpoint, bytes));
}

static int open_parts(struct oriel_job *job, const struct oriel_options *options)
{
	int rc = open_devices(job, options);

	if (rc)
		return rc;
	if (job->size > 1)
		rc = devices_open_wakeups(&job->devices);
	if (rc)
		return rc;
	job->needs_progress = devices_find(&job->devices, true);
	slabs_init(&job->slabs, &job->devices);
	mem_table_init(&job->mems, &job->devices);
	rc = directory_open(job);
	if (rc == 0)
		rc = page_locks_open(job);
	if (rc)
		return rc;
	job->world = group_new_world(job);
	if (!job->world)
		return err_set(ORIEL_ERR_MEMORY, "out of memory");
	return publish(job);
}

static void tell_no_profile(void)
{
	tell_always(
		0, getauxval(AT_SECURE)
			   ? "there is no profile: the program is set-user-id, and loads no library in front"
			   : "there is no profile: the program is linked with liboriel.a, or finds Oriel's calls by dlsym; link "
				 "it with liboriel.so");
}

int job_open(struct oriel_job *job, struct boot *boot, const struct oriel_options *options)
{
	int rc;

	init_locks(job);
	am_open(job, &am_handler);
	job->boot = boot;
	job->rank = boot->rank;
	job->size = boot->size;
	err_rank_enter(job->rank);
	job->tool = see_tool;
	board_open(&job->board, boot->job, job->rank, job->size);
	give_board(job, &job->board);
	wait_add_idle(job, ctrl_msg_drain_all);
	job->caller = (struct caller_turn){ options->idle, options->idle_context, options->call_name };
	rc = set_limits(job, options);
	if (job->rank == 0)
		variables_check(environ, tell_misspelt, job);
	if (rc == 0)
		rc = open_parts(job, options);
	if (rc == 0)
		rc = service_start(job);
	if (rc)
		job_release(job);
	else if (job->tool)
		job->tool->job_opened(boot->job, job->rank, job->size);
	else if (job->rank == 0 && getenv("ORIEL_SEE"))
		tell_no_profile();
	return rc;
}

static int join_job(const struct oriel_options *options, struct oriel_job **out)
{
	struct oriel_job *job = handle_new(HANDLE_JOB, sizeof(*job));
	struct boot *boot;
	int rc;

	if (!job)
		return err_set(ORIEL_ERR_MEMORY, "out of memory");
	(void)tell_open(); /* for messages of boot_open; set_limits reports a malformed value */
	rc = boot_open(options->bootstrap, &job_boot_events, job, &boot);
	if (rc) {
		handle_release(HANDLE_JOB, job);
		return rc;
	}
	rc = job_open(job, boot, options);
	if (rc == 0)
		*out = job;
	return rc;
}

/* Reads the options as this build knows them. */
static int read_options(const struct oriel_options *given, struct oriel_options *options)
{
	int rc = given ? public_struct_check(given->struct_bytes, "oriel_options") : 0;

	*options = (struct oriel_options){ .struct_bytes = sizeof(*options) };
	if (rc || !given)
		return rc;
	public_struct_copy(options, sizeof(*options), given, given->struct_bytes);
	if (options->timeout_ms < 0)
		return err_set(ORIEL_ERR_ARG, "timeout_ms is %d, must not be negative", options->timeout_ms);
	return 0;
}

int oriel_init(const struct oriel_options *options, oriel_job **job)
{
	struct oriel_options known;
	int rc;

	if (!job)
		return err_set(ORIEL_ERR_ARG, "oriel_init: job is NULL");
	if (sodium_init() < 0)
		return err_set(ORIEL_ERR_BOOTSTRAP, "oriel_init: libsodium cannot be initialised");
	rc = read_options(options, &known);
	if (rc == 0)
		rc = join_job(&known, job);
	return rc ? err_in(rc, "oriel_init") : 0;
}

static int finalize_check(oriel_job **job)
{
	int rc = job_check(job ? *job : NULL, "oriel_finalize");
	uint32_t windows, mems;

	if (rc)
		return rc;
	pthread_mutex_lock(&(*job)->lock);
	windows = (*job)->holdings.windows;
	mems = (*job)->holdings.mems;
	pthread_mutex_unlock(&(*job)->lock);
	if (windows || mems)
		return err_set(ORIEL_ERR_SYNC,
		               "oriel_finalize: windows not freed: %u, regions of memory not deregistered or freed: %u; call "
		               "oriel_win_free, oriel_mem_deregister or oriel_free first",
		               windows, mems);
	return 0;
}

int oriel_finalize(oriel_job **job)
{
	int dead, rc = finalize_check(job);

	if (rc)
		return rc;
	peers_drain(*job); /* no queue pair disappears under our requests */
	rc = goodbye_run(*job);
	if (rc)
		return err_in(rc, "oriel_finalize");
	service_stop(*job);
	dead = job_died_member(*job, (*job)->world); /* an unreachable rank is no loss */
	if (dead != ORIEL_RANK_NONE)
		rc = err_in(peer_error(*job, dead), "oriel_finalize");
	job_release(*job);
	*job = NULL;
	return rc;
}

int oriel_abort(oriel_job *job, int status, const char *reason)
{
	if (job_check(job, "oriel_abort"))
		return ORIEL_ERR_HANDLE;
	return service_abort(job, status >= 1 && status <= 255 ? status : 1, reason ? reason : "");
}

int oriel_barrier(oriel_job *job)
{
	struct coll coll;
	struct wait wait;
	uint64_t number;
	uint8_t id[16];
	int rc = job_check(job, "oriel_barrier");

	if (rc)
		return rc;
	rc = job_count_collective(job, job->world, &number);
	if (rc)
		return err_in(rc, "oriel_barrier");
	coll_id(id, job->world->key, number, COLL_BARRIER);
	coll_begin(&coll, job->world, id, 0, 0);
	wait_begin(&wait, job, "oriel_barrier", NULL);
	rc = coll_run(&coll, &wait);
	return rc ? err_in(rc, "oriel_barrier") : 0;
}

/* The caller may wait for a rank that needs this processor. */
static void serve_sometimes(struct oriel_job *job)
{
	static _Thread_local unsigned calls __attribute__((tls_model("initial-exec")));

	if (++calls % CALLS_PER_YIELD == 0 && job_oversubscribed(job))
		sched_yield();
	if (calls % CALLS_PER_WAKEUPS == 0)
		am_poll_wakeups(job);
}

int oriel_progress(oriel_job *job)
{
	int rc = job_check(job, "oriel_progress");
	struct peer *peer;

	if (rc)
		return rc;
	am_poll(job, &job->am);
	peer = __atomic_load_n(&job->peers.moving, __ATOMIC_ACQUIRE); /* pairs with peer_set_state */
	if (peer)
		wait_serve(job, peer);
	serve_sometimes(job);
	return 0;
}

static struct oriel_usage count_usage(struct oriel_job *job)
{
	struct oriel_usage usage;

	pthread_mutex_lock(&job->lock);
	usage = (struct oriel_usage){
		.ranks = (size_t)job->size,
		.peers = job->peers.count,
		.windows = job->holdings.windows,
		.links = job->holdings.links,
		.base_bytes = sizeof(*job),
		.peer_bytes = (job->peers.count + job->peers.atomics_peer_count) * sizeof(struct peer) +
		              job->peers.capacity * sizeof(struct peer *),
		.window_bytes = job->holdings.window_bytes + job->directory.slot_capacity * sizeof(bool) +
		                job->directory.control_capacity * sizeof(struct piece),
		.link_bytes = job->holdings.link_bytes,
	};
	pthread_mutex_unlock(&job->lock);
	pthread_mutex_lock(&job->slabs.lock);
	usage.registered_bytes = job->slabs.total_bytes;
	pthread_mutex_unlock(&job->slabs.lock);
	return usage;
}

int oriel_usage(oriel_job *job, struct oriel_usage *usage)
{
	struct oriel_usage known;
	int rc = job_check(job, "oriel_usage");

	if (rc)
		return rc;
	if (!usage)
		return err_set(ORIEL_ERR_ARG, "oriel_usage: usage is NULL");
	rc = public_struct_check(usage->struct_bytes, "oriel_usage");
	if (rc)
		return err_in(rc, "oriel_usage");
	known = count_usage(job);
	public_struct_copy(usage, usage->struct_bytes, &known, sizeof(known));
	return 0;
}
