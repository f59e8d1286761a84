// SPDX-License-Identifier: BSD-2-Clause
/* See job.h. */
#include "mpi/job/job.h"

#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mpi/job/memory.h"
#include "mpi/job/names.h"
#include "mpi/job/progress.h"
#include "mpi/job/proxy_win.h"
#include "mpi/job/rank_table.h"
#include "mpi/job/real_mpi.h"

struct job job = { .rank = -1 };
static struct rank_table ranks;

/*
 * Seconds: waiting threads can keep the service thread from its processor. If a rank dies, the
 * MPI's launcher ends the job.
 */
#define CONNECT_SECONDS "60"

#define EXIT_MEMORY 1
#define EXIT_UNKIND 2
#define READ_LIMIT_MS 1000
#define PRINT_MS 100

const char *job_without_rank(const char *text)
{
	const char *end = *text == '[' ? strstr(text, "] ") : NULL;

	return end ? end + 2 : text;
}

/* Prints a line by one write: launchers mix those of ranks. */
static void say(const char *format, va_list arguments)
{
	char text[1024], line[sizeof(text) + 64], rank[32] = "";

	vsnprintf(text, sizeof(text), format, arguments);
	if (job.rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d: ", job.rank);
	snprintf(line, sizeof(line), "oriel-mpi: %s%s\n", rank, text);
	fputs(line, stderr);
}

void job_warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

static bool has_unread_stderr(void)
{
	struct stat st;
	int bytes = 0;

	return fstat(STDERR_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) && ioctl(STDERR_FILENO, FIONREAD, &bytes) == 0 &&
	       bytes > 0;
}

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

void job_abort(MPI_Comm comm, int code)
{
	for (int ms = 0; ms < READ_LIMIT_MS && has_unread_stderr(); ms++)
		sleep_ms(1);
	sleep_ms(PRINT_MS); /* launchers print later than they read */
	PMPI_Abort(comm, code);
}

void job_tell(const char *format, ...)
{
	const char *verbose = getenv("ORIEL_MPI_VERBOSE");
	va_list arguments;

	if (!verbose || strcmp(verbose, "1") != 0)
		return;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

/* Rank 0 reports a value that is neither 0 nor 1. */
static void check_verbose(void)
{
	const char *verbose = getenv("ORIEL_MPI_VERBOSE");

	if (job.rank == 0 && verbose && *verbose && strcmp(verbose, "0") != 0 && strcmp(verbose, "1") != 0)
		job_warn("the environment variable ORIEL_MPI_VERBOSE is \"%.80s\"; legal is one of 0, 1", verbose);
}

static int join(void)
{
	struct oriel_bootstrap bootstrap = { .struct_bytes = sizeof(bootstrap),
		                                 .rank = ranks.rank,
		                                 .size = ranks.size,
		                                 .local_size = ranks.local_size,
		                                 .context = &ranks,
		                                 .put = rank_table_put,
		                                 .get = rank_table_get };
	struct oriel_options options = {
		.struct_bytes = sizeof(options), .bootstrap = &bootstrap, .idle = progress_idle, .call_name = names_call
	};

	setenv("ORIEL_CONNECT_TIMEOUT", CONNECT_SECONDS, 0);
	if (oriel_init(&options, &job.oriel))
		return -1;
	return oriel_group_world(job.oriel, &job.world);
}

/* Returns 0 if `first` is no rank. That rank warns for all. */
static int all_have(int first, const char *why)
{
	if (first == ranks.rank)
		job_warn("the program goes on without Oriel: %s", why);
	else if (first < ranks.size)
		job_tell("goes on without Oriel: rank %d has no job", first);
	return first == ranks.size ? 0 : -1;
}

/*
 * Joins, and exchanges the ranks' values: once, if all know how many ranks this machine has. The
 * others then join last.
 */
static int join_all(void)
{
	int rc = ranks.local_size > 0 ? join() : 0;

	rank_table_exchange(&ranks, rc == 0);
	if (rank_table_first_without_size(&ranks) < ranks.size) {
		rank_table_count_local(&ranks);
		if (!job.oriel)
			rc = join();
		rank_table_exchange(&ranks, rc == 0);
	}
	job.local_size = ranks.local_size;
	return all_have(rank_table_first_without_value(&ranks),
	                rc ? job_without_rank(oriel_last_error()) : "the ranks' addresses have not come");
}

static void leave(void)
{
	if (job.world)
		oriel_group_free(&job.world);
	if (job.oriel && oriel_finalize(&job.oriel))
		job_tell("leaving: %s", job_without_rank(oriel_last_error()));
	job.oriel = NULL;
}

/* MPI_Finalize has begun: MPI_COMM_SELF's attributes are deleted. */
static int end(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	memory_release();
	progress_unlist();
	leave();
	proxy_wins_release();
	progress_close();
	real_mpi.Group_free(&job.mpi_world);
	PMPI_Comm_free(&job.self);
	rank_table_close(&ranks);
	return MPI_SUCCESS;
}

static void end_with_mpi(void)
{
	int keyval;

	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &keyval, NULL);
	PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	PMPI_Comm_free_keyval(&keyval);
}

/* Ends the program if only some ranks run under --unkind: the first without it does. */
static void check_unkind(void)
{
	int first_unkind = rank_table_first_unkind(&ranks, true);

	if (first_unkind == ranks.size || rank_table_first_unkind(&ranks, false) != job.rank)
		return;
	job_warn("it runs without --unkind, and rank %d with it; give --unkind SEED to oriel-mpi on all ranks",
	         first_unkind);
	job_abort(MPI_COMM_WORLD, EXIT_UNKIND);
}

static void begin(void)
{
	int rc;

	if (rank_table_open(&ranks)) {
		job_warn("there is no memory for the addresses of %d ranks", ranks.size);
		job_abort(MPI_COMM_WORLD, EXIT_MEMORY);
	}
	rc = join_all();
	check_unkind();
	if (rc) {
		leave();
		rank_table_close(&ranks);
		return;
	}
	progress_open();
	PMPI_Comm_dup(MPI_COMM_SELF, &job.self);
	PMPI_Comm_set_errhandler(job.self, MPI_ERRORS_RETURN);
	PMPI_Comm_group(MPI_COMM_WORLD, &job.mpi_world);
	end_with_mpi();
	job_tell("one of %d", ranks.size);
}

/* Rank 0 warns for all: all are linked with the same libraries. */
static void tell_of_tool(void)
{
	const char *tool = job.rank == 0 ? real_mpi_bypassed_tool() : NULL;

	if (tool)
		job_warn("%s is kept from calls that Oriel serves; LD_PRELOAD=%s before oriel-mpi brings it in front", tool,
		         tool);
}

/* The program would use one MPI for the taken calls, and another for the rest. */
static void step_aside(const char *other)
{
	if (real_mpi_reaches(other)) {
		job_warn("steps aside: the program uses the MPI of %s; run it with the other --mpi=", other);
		return;
	}
	job_warn("cannot go on: a module uses the MPI of %s; run it with the other --mpi=", other);
	exit(1);
}

static void job_begin(const char *other)
{
	job.begun = true;
	if (other) {
		step_aside(other);
		return;
	}
	PMPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
	tell_of_tool();
	check_verbose();
	begin();
}

int MPI_Init(int *argc, char ***argv)
{
	const char *other = real_mpi_use_other();
	int rc = real_mpi.Init(argc, argv);

	if (rc == MPI_SUCCESS)
		job_begin(other);
	return rc;
}
TAKEN(Init);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	const char *other = real_mpi_use_other();
	int rc = real_mpi.Init_thread(argc, argv, required, provided);

	if (rc == MPI_SUCCESS)
		job_begin(other);
	return rc;
}
TAKEN(Init_thread);

#define WATCHDOG_SECONDS 30.0

/*
 * Returns the watchdog's time (ORIEL_WATCHDOG), or 0: never. The library refuses a value that is no
 * number.
 */
static double watchdog_seconds(void)
{
	const char *text = getenv("ORIEL_WATCHDOG");
	char *end;
	double seconds = text ? strtod(text, &end) : WATCHDOG_SECONDS;

	return text && (end == text || *end || seconds < 0) ? WATCHDOG_SECONDS : seconds;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/*
 * Returns whether the call has succeeded. Warns once if the wait is long, and if the call fails.
 */
static bool await(MPI_Request request)
{
	const double limit = watchdog_seconds(), begun = seconds_now();
	bool warned = limit == 0;
	int done = 0;

	while (real_mpi.Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
		sched_yield();
		if (warned || seconds_now() - begun < limit)
			continue;
		warned = true;
		job_warn(
			"it has been waiting in MPI_Init for %g s for the other ranks: do all ranks of the job run under oriel-mpi?",
			limit);
	}
	if (!done)
		job_warn("a collective call in MPI_Init has failed: do all ranks of the job run under oriel-mpi?");
	return done;
}

/*
 * Gathers on rank 0 and broadcasts: in Open MPI's MPI_Iallgather each rank connects to each other
 * rank.
 */
void collective_allgather(const void *mine, int size_bytes, void *all)
{
	MPI_Request request;
	int ranks;

	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (PMPI_Igather(mine, size_bytes, MPI_BYTE, all, size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS &&
	    await(request) &&
	    PMPI_Ibcast(all, size_bytes * ranks, MPI_BYTE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
		await(request);
}
