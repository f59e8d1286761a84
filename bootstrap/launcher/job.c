// SPDX-License-Identifier: BSD-2-Clause
/*
 * job.c - the life of a job; see job.h
 *
 * DESIGN NOTES The first failure decides the exit status. If one wake-up finds several ended
 * processes, those killed by a signal are handled first: they are more likely the cause.
 *
 * A rank that has joined must leave before it ends, even with status 0, since others may wait for
 * it for ever. Otherwise it has failed, with status 1.
 *
 * The loop starts a few ranks at a time, so that the first can join, write and fail meanwhile.
 */
#include "launcher/job.h"

#include "launcher/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPAWN_BATCH 8 /* ranks started per turn of the loop */
#define LINGER_S 1.0  /* for processes that outlive their rank to finish its output */
#define SWEEP_S 5.0   /* for killed processes to end */
#define EXIT_OUTPUT 1 /* the ranks' output could not be written */
#define EXIT_TIMEOUT 124
#define EXIT_NOT_LEFT 1 /* a rank ended with status 0 without leaving the job */
#define RANK_NONE (-1)
#define DEATH_TEXT_BYTES 128

static void check_over(struct job *job);

static void set_phase_timer(struct job *job, double seconds)
{
	ev_timer_stop(job->loop, &job->phase_timer);
	ev_timer_set(&job->phase_timer, seconds, 0.);
	ev_timer_start(job->loop, &job->phase_timer);
}

static void decide_status(struct job *job, int status)
{
	if (job->has_status)
		return;
	job->has_status = true;
	job->status = status;
}

static int running_count(const struct job *job)
{
	return job->started_count - job->ended_count;
}

/* Signals to the ranks. */

void job_signal(const struct job *job, int number)
{
	for (int rank = 0; rank < job->started_count; rank++)
		if (guard_group(&job->guard, rank) > 0)
			kill(-guard_group(&job->guard, rank), number);
}

static void kill_ranks(struct job *job)
{
	if (job->phase >= JOB_KILLING)
		return;
	job->phase = JOB_KILLING;
	ev_timer_stop(job->loop, &job->phase_timer);
	job_signal(job, SIGKILL);
}

/* SIGCONT lets a stopped process take its SIGTERM. */
static void end_ranks(struct job *job)
{
	if (job->phase >= JOB_ENDING)
		return;
	job->phase = JOB_ENDING;
	job_signal(job, SIGTERM);
	job_signal(job, SIGCONT);
	set_phase_timer(job, job->options->grace_s);
}

void job_interrupt(struct job *job, int number)
{
	job->interrupt_count++;
	if (job->interrupt_count == 1) {
		job_signal(job, number);
		return;
	}
	if (job->phase >= JOB_KILLING) {
		decide_status(job, 128 + number);
		ev_break(job->loop, EVBREAK_ALL);
		return;
	}
	say("interrupted twice: killing the ranks");
	decide_status(job, 128 + number);
	kill_ranks(job);
}

/* Failures. */

static void say_failure(const struct job *job, int rank, const char *text)
{
	if (job->phase == JOB_RUNNING && running_count(job) > 0)
		say("rank %d %s; the others have %g s to finish", rank, text, job->options->grace_s);
	else
		say("rank %d %s", rank, text);
}

static void fail(struct job *job, int rank, int status, const char *text)
{
	if (job->has_status)
		say_detail("rank %d %s", rank, text);
	else
		say_failure(job, rank, text);
	decide_status(job, status);
	if (job->phase == JOB_RUNNING) {
		job->phase = JOB_GRACE;
		set_phase_timer(job, job->options->grace_s);
	}
}

static void on_abort(void *arg, int rank, int status, const char *reason)
{
	struct job *job = arg;

	say("rank %d aborts the job%s%s", rank, *reason ? ": " : "", reason);
	decide_status(job, status);
	end_ranks(job);
}

static void on_late(void *arg, int rank)
{
	struct job *job = arg;

	say("rank %d: a process asks to join after the one that oriel-run started has ended: a rank must not become a daemon",
	    rank);
	decide_status(job, EXIT_NOT_LEFT);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct job *job = timer->data;

	(void)loop;
	(void)revents;
	if (job->phase >= JOB_ENDING)
		return;
	say("the time limit of %g s is over; ending the job (%d ranks are running)", job->options->timeout_s,
	    running_count(job));
	decide_status(job, EXIT_TIMEOUT);
	end_ranks(job);
}

/* Starting. */

/* Starts no more ranks after a failure; the others get news of these, which never joined. */
static void give_up_starting(struct job *job)
{
	for (int rank = job->started_count; rank < job->options->size; rank++) {
		server_rank_ended(job->server, rank, true, "was not started, because the job had failed before");
		job->ended_count++;
	}
	job->started_count = job->options->size;
	check_over(job);
}

/* Returns 0, or -1 if the rank could not be started. */
static int start_next_rank(struct job *job)
{
	struct spawned spawned;
	int rank = job->started_count;
	int status = spawn_rank(&job->plan, rank, &spawned);

	if (rank == 0)
		input_rank_started(&job->input);
	if (status != 0) {
		decide_status(job, status);
		end_ranks(job);
		return -1;
	}
	job->pids[rank] = spawned.pid;
	job->started_count++;
	guard_set_group(&job->guard, rank, spawned.pid);
	output_add(job->output, rank, spawned.out_fd, spawned.err_fd);
	say_detail("rank %d is process %d", rank, (int)spawned.pid);
	return 0;
}

static void on_spawn(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct job *job = timer->data;
	int left = SPAWN_BATCH;

	(void)revents;
	while (left-- > 0 && job->phase == JOB_RUNNING && job->started_count < job->options->size)
		if (start_next_rank(job) != 0)
			break;
	if (job->phase != JOB_RUNNING) {
		give_up_starting(job);
	} else if (job->started_count < job->options->size) {
		ev_timer_set(timer, 0., 0.);
		ev_timer_start(loop, timer);
	}
}

/* Ends of processes. */

static int rank_of(const struct job *job, pid_t pid)
{
	for (int rank = 0; rank < job->started_count; rank++)
		if (job->pids[rank] == pid)
			return rank;
	return RANK_NONE;
}

/* Drops the numbers of empty groups, which other processes may get. */
static void forget_empty_groups(struct job *job)
{
	for (int rank = 0; rank < job->started_count; rank++) {
		pid_t group = guard_group(&job->guard, rank);

		if (group > 0 && job->pids[rank] == 0 && kill(-group, 0) != 0 && errno == ESRCH)
			guard_set_group(&job->guard, rank, 0);
	}
}

/* Collects ended ranks into job->ends and returns their number. Also reaps adopted orphans. */
static int collect_ends(struct job *job)
{
	int count = 0;
	int wait_status;
	pid_t pid;

	while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
		int rank = rank_of(job, pid);

		if (pid == job->guard.pid)
			job->guard.pid = 0;
		if (rank == RANK_NONE)
			continue;
		job->pids[rank] = 0;
		job->ends[count].rank = rank;
		job->ends[count].wait_status = wait_status;
		count++;
	}
	return count;
}

static void describe_end(int wait_status, bool in_order, char text[DEATH_TEXT_BYTES])
{
	if (WIFSIGNALED(wait_status))
		snprintf(text, DEATH_TEXT_BYTES, "was killed by signal %d (%s)%s", WTERMSIG(wait_status),
		         strsignal(WTERMSIG(wait_status)), WCOREDUMP(wait_status) ? ", core dumped" : "");
	else
		snprintf(text, DEATH_TEXT_BYTES, "exited with status %d%s", WEXITSTATUS(wait_status),
		         wait_status == 0 && !in_order ? " without leaving the job (oriel_finalize)" : "");
}

static int exit_status_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status) != 0 ? WEXITSTATUS(wait_status) : EXIT_NOT_LEFT;
}

static void rank_ended(struct job *job, const struct job_end *end)
{
	bool in_order = server_rank_may_end(job->server, end->rank);
	char text[DEATH_TEXT_BYTES];

	describe_end(end->wait_status, in_order, text);
	server_rank_ended(job->server, end->rank, end->wait_status != 0, text);
	job->ended_count++;
	if (end->wait_status != 0 || !in_order)
		fail(job, end->rank, exit_status_of(end->wait_status), text);
	else
		say_detail("rank %d %s", end->rank, text);
}

static void go_through_ends(struct job *job, int count, bool signalled)
{
	for (int i = 0; i < count; i++)
		if (WIFSIGNALED(job->ends[i].wait_status) == signalled)
			rank_ended(job, &job->ends[i]);
}

void job_reap(struct job *job)
{
	int count = collect_ends(job);

	forget_empty_groups(job);
	go_through_ends(job, count, true);
	go_through_ends(job, count, false);
	check_over(job);
}

/* The end of the job. */

static void finish_if_drained(struct job *job)
{
	if (job->phase == JOB_DRAIN && output_is_drained(job->output))
		ev_break(job->loop, EVBREAK_ALL);
}

static void drain(struct job *job)
{
	job->phase = JOB_DRAIN;
	ev_timer_stop(job->loop, &job->phase_timer);
	output_end(job->output);
	finish_if_drained(job);
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * Kills the groups first, and lets the guard end. Processes that left their group become children
 * of the launcher sooner or later.
 */
static void sweep(struct job *job)
{
	if (job->phase < JOB_SWEEP) {
		job->phase = JOB_SWEEP;
		job_signal(job, SIGKILL);
		guard_dismiss(&job->guard);
		set_phase_timer(job, SWEEP_S);
	}
	if (!has_children()) {
		drain(job);
		return;
	}
	guard_kill_adopted(&job->guard);
}

static void linger(struct job *job)
{
	bool was_killed = job->phase == JOB_KILLING;

	ev_timer_stop(job->loop, &job->spawner);
	ev_timer_stop(job->loop, &job->limit_timer);
	job->phase = JOB_LINGER;
	if (was_killed || output_has_ended(job->output))
		sweep(job);
	else
		set_phase_timer(job, LINGER_S);
}

static void check_over(struct job *job)
{
	if (job->ended_count < job->options->size)
		return;
	if (job->phase < JOB_LINGER)
		linger(job);
	else if (job->phase == JOB_SWEEP)
		sweep(job);
}

static void on_drained(void *arg)
{
	struct job *job = arg;

	if (job->phase == JOB_LINGER)
		sweep(job);
	else
		finish_if_drained(job);
}

/* After EPIPE the status is what a shell has for a program that is killed by SIGPIPE. */
static void on_output_failed(void *arg, int error)
{
	decide_status(arg, error == EPIPE ? 128 + SIGPIPE : EXIT_OUTPUT);
}

static const struct output_events output_events = { .drained = on_drained, .failed = on_output_failed };

static void on_phase_timeout(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct job *job = timer->data;

	(void)loop;
	(void)revents;
	switch (job->phase) {
	case JOB_GRACE:
		say("after %g s %d ranks are still running; sending SIGTERM", job->options->grace_s, running_count(job));
		end_ranks(job);
		break;
	case JOB_ENDING:
		say("%g s after SIGTERM %d ranks are still running; sending SIGKILL", job->options->grace_s,
		    running_count(job));
		kill_ranks(job);
		break;
	case JOB_LINGER:
		sweep(job);
		break;
	case JOB_SWEEP:
		say("processes of the job could not be killed; they are left behind");
		drain(job);
		break;
	case JOB_RUNNING:
	case JOB_KILLING:
	case JOB_DRAIN:
		break; /* these phases start no timer */
	}
}

/* Opening and closing. */

static void init_timers(struct job *job)
{
	ev_timer_init(&job->spawner, on_spawn, 0., 0.);
	ev_timer_init(&job->phase_timer, on_phase_timeout, 0., 0.);
	ev_timer_init(&job->limit_timer, on_limit, job->options->timeout_s, 0.);
	job->spawner.data = job;
	job->phase_timer.data = job;
	job->limit_timer.data = job;
}

int job_open(struct job *job)
{
	const struct options *options = job->options;
	const struct server_config config = { .size = options->size,
		                                  .secret = job->secret,
		                                  .strangers = job->strangers,
		                                  .abort = on_abort,
		                                  .late = on_late,
		                                  .arg = job };

	init_timers(job);
	input_init(&job->input, job->loop);
	job->pids = calloc((size_t)options->size, sizeof(job->pids[0]));
	job->ends = calloc((size_t)options->size, sizeof(job->ends[0]));
	job->output = output_open(job->loop, options->size, options->prefix, &output_events, job);
	if (!job->pids || !job->ends || !job->output) {
		say("no memory for the tables of %d ranks", options->size);
		return -1;
	}
	job->server = server_open(job->loop, &config);
	return job->server ? input_open(&job->input) : -1;
}

void job_begin(struct job *job)
{
	job->plan.server = server_address(job->server);
	job->plan.stdin_fd = job->input.rank_fd;
	ev_timer_start(job->loop, &job->spawner);
	if (job->options->timeout_s > 0)
		ev_timer_start(job->loop, &job->limit_timer);
}

void job_close(struct job *job)
{
	ev_timer_stop(job->loop, &job->spawner);
	ev_timer_stop(job->loop, &job->phase_timer);
	ev_timer_stop(job->loop, &job->limit_timer);
	input_close(&job->input);
	server_close(job->server);
	output_close(job->output);
	free(job->pids);
	free(job->ends);
}
