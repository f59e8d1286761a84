// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - oriel-run: starts a program as the ranks of a job on this machine
 *
 * DESIGN NOTES The launcher is one process with one libev loop (job.c).
 */
#include "launcher/job.h"
#include "launcher/say.h"
#include "launcher/signals.h"
#include "oriel.h"
#include "variables.h"
#include "wire/environment.h"
#include "wire/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_TROUBLE 1
#define EXIT_USAGE 2
#define DESCRIPTORS_SPARE 64 /* beside those counted */

/* Returns a descriptor that reads as empty, or -1: /dev/null, or a pipe without a writer. */
static int open_empty(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2];

	if (fd >= 0)
		return fd;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	close(ends[1]);
	return ends[0];
}

static int open_standard_stream(int stream)
{
	int fd;

	if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF)
		return 0;
	fd = open_empty();
	if (fd == stream)
		return fcntl(fd, F_SETFD, 0);
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Opens missing standard streams: a pipe numbered 0, 1 or 2 would be taken for one. The substitute
 * is read-only, so that lost output is reported.
 */
static int open_missing_standard_streams(void)
{
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
		if (open_standard_stream(stream) == 0)
			continue;
		say("the standard streams are closed, and nothing can be opened in their place: %s", strerror(errno));
		return -1;
	}
	return 0;
}

/* Hides the outer job's secret from the ranks, if this launcher is itself a rank. */
static void hide_outer_secret(void)
{
	const char *number = getenv(BOOT_ENV_SECRET_FD);
	int fd = number ? atoi(number) : -1;
	int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;

	if (flags >= 0)
		fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

static rlim_t descriptors_for(const struct job *job, int strangers)
{
	return (rlim_t)(server_descriptors(job->options->size, strangers) + 2 * job->options->size + DESCRIPTORS_SPARE);
}

/* Returns how many unproven connections there are descriptors for. */
static int choose_strangers(const struct job *job, rlim_t most)
{
	rlim_t without = descriptors_for(job, 0);

	if (most >= without + SERVER_STRANGERS_MOST)
		return SERVER_STRANGERS_MOST;
	return most > without + SERVER_STRANGERS_LEAST ? (int)(most - without) : SERVER_STRANGERS_LEAST;
}

/* The ranks get the limit back. If it cannot be raised, the job begins anyway. */
static int raise_descriptor_limit(struct job *job)
{
	struct rlimit limit, raised;
	rlim_t needed;

	job->strangers = SERVER_STRANGERS_MOST;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		say_detail("the limit of descriptors cannot be read: %s", strerror(errno));
		return 0;
	}
	job->strangers = choose_strangers(job, limit.rlim_max);
	needed = descriptors_for(job, job->strangers);
	if (limit.rlim_max < needed) {
		say("%d ranks need %llu descriptors, and the hard limit is %llu; raise it (ulimit -Hn %llu), or start fewer "
		    "ranks",
		    job->options->size, (unsigned long long)needed, (unsigned long long)limit.rlim_max,
		    (unsigned long long)needed);
		return -1;
	}
	if (limit.rlim_cur >= needed)
		return 0;
	raised = (struct rlimit){ .rlim_cur = needed, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &raised) != 0) {
		say("the limit of descriptors cannot be raised from %llu to %llu: %s", (unsigned long long)limit.rlim_cur,
		    (unsigned long long)needed, strerror(errno));
		return 0;
	}
	job->plan.descriptors = limit;
	job->plan.has_raised = true;
	return 0;
}

static int make_secret(struct job *job)
{
	if (sodium_init() < 0) {
		say("libsodium could not be initialised");
		return -1;
	}
	if (proof_random(job->secret, sizeof(job->secret)) != 0) {
		say("no random bytes from the kernel: %s", strerror(errno));
		return -1;
	}
	job->plan.secret_fd = spawn_secret_fd(job->secret);
	return job->plan.secret_fd >= 0 ? 0 : -1;
}

static int make_plan(struct job *job)
{
	job->plan.options = job->options;
	say_detail("device: %s",
	           job->options->device ? job->options->device : "what each rank finds: the machine's, else softverbs");
	sigprocmask(SIG_SETMASK, NULL, &job->plan.signal_mask);
	job->plan.empty_fd = open_empty();
	if (job->plan.empty_fd >= 0)
		return 0;
	say("no empty input for the ranks: neither /dev/null nor a pipe: %s", strerror(errno));
	return -1;
}

static int run_loop(struct job *job)
{
	job->loop = ev_loop_new(EVFLAG_NOENV);
	if (!job->loop) {
		say("cannot create an event loop: %s", strerror(errno));
		return EXIT_TROUBLE;
	}
	signals_open(job);
	if (job_open(job) == 0) {
		job_begin(job);
		ev_run(job->loop, 0);
	} else {
		job->status = EXIT_TROUBLE;
	}
	job_close(job);
	signals_close(job);
	ev_loop_destroy(job->loop);
	return job->status;
}

static int with_secret(struct job *job)
{
	int status = EXIT_TROUBLE;

	if (make_secret(job) == 0 && make_plan(job) == 0)
		status = run_loop(job);
	sodium_memzero(job->secret, sizeof(job->secret));
	close(job->plan.secret_fd);
	close(job->plan.empty_fd);
	return status;
}

static int with_guard(struct job *job)
{
	int status;

	if (guard_start(&job->guard, job->options->size) != 0)
		return EXIT_TROUBLE;
	status = with_secret(job);
	guard_dismiss(&job->guard);
	if (job->guard.pid > 0)
		waitpid(job->guard.pid, NULL, 0);
	guard_free(&job->guard);
	return status;
}

static int run(const struct options *options)
{
	struct job job;

	memset(&job, 0, sizeof(job));
	job.options = options;
	job.plan.secret_fd = -1;
	job.plan.empty_fd = -1;
	say_set_verbose(options->verbose);
	hide_outer_secret();
	if (raise_descriptor_limit(&job) != 0)
		return EXIT_TROUBLE;
	return with_guard(&job);
}

static int print(const char *text)
{
	if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
		return 0;
	say("cannot write to standard output: %s", strerror(errno));
	return EXIT_TROUBLE;
}

static void report(void *arg, const char *text)
{
	(void)arg;
	say("%s", text);
}

static void report_misspelt(const struct options *options)
{
	variables_check(environ, report, NULL);
	variables_check(options->variables, report, NULL);
}

static int act(const struct options *options, enum options_verdict verdict)
{
	char version[64];

	switch (verdict) {
	case OPTIONS_RUN:
		report_misspelt(options);
		return run(options);
	case OPTIONS_HELP:
		return print(options_usage());
	case OPTIONS_VERSION:
		snprintf(version, sizeof(version), "oriel-run %d.%d.%d\n", ORIEL_VERSION_MAJOR, ORIEL_VERSION_MINOR,
		         ORIEL_VERSION_PATCH);
		return print(version);
	case OPTIONS_WRONG:
		break;
	}
	say("%s", options->error);
	say("try oriel-run --help");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options options;
	enum options_verdict verdict;
	int status;

	if (open_missing_standard_streams() != 0)
		return EXIT_TROUBLE;
	verdict = options_parse(argc, argv, &options);
	status = act(&options, verdict);
	options_free(&options);
	return status;
}
