// SPDX-License-Identifier: BSD-2-Clause
/*
 * spawn.c - starting a rank; see spawn.h
 *
 * DESIGN NOTES Each rank gets a process group: a signal also reaches the processes that it starts,
 * and its own `kill 0` hits only this group. Launcher and child both call setpgid, so the group
 * exists whichever runs first.
 *
 * The child reports failures before or in exec over a close-on-exec pipe; the end of the pipe
 * without a byte means that exec succeeded.
 *
 * The secret is in a sealed memfd, which the ranks inherit (client/run.c).
 */
#include "launcher/spawn.h"

#include "base/process_limit.h"
#include "boot.h"
#include "launcher/say.h"
#include "wire/environment.h"
#include "wire/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_FD_MIN 20 /* shells can name the descriptors 0 to 9 */
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

/* [0] is the launcher's end, [1] the rank's. */
struct rank_pipes {
	int out[2];
	int err[2];
	int exec[2]; /* the errno of a failed exec */
};

/* A file that grows beyond its limit is SIGXFSZ. */
static int fill_and_seal(int fd, const uint8_t *secret)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < BOOT_SECRET_BYTES) {
		errno = EFBIG;
		return -1;
	}
	if (write(fd, secret, BOOT_SECRET_BYTES) != BOOT_SECRET_BYTES)
		return -1;
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int spawn_secret_fd(const uint8_t *secret)
{
	int memfd = memfd_create("oriel-secret", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int fd = -1;

	if (memfd >= 0 && fill_and_seal(memfd, secret) == 0)
		fd = fcntl(memfd, F_DUPFD_CLOEXEC, SECRET_FD_MIN);
	if (fd < 0)
		say("cannot make the job's secret (memfd): %s%s", strerror(errno),
		    errno == EFBIG
		        ? ". The limit on the size of files is 0 (ulimit -f), and memory that is shared counts as one"
		        : "");
	if (memfd >= 0)
		close(memfd);
	return fd;
}

/* In the child. */

static void set_number(const char *variable, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	setenv(variable, text, 1);
}

static void set_environment(const struct spawn_plan *plan, int rank)
{
	const struct options *options = plan->options;

	for (int i = 0; i < options->variable_count; i++)
		putenv(options->variables[i]);
	if (options->verbose)
		setenv(BOOT_ENV_VERBOSE, "1", 0);
	if (options->unkind)
		setenv(BOOT_ENV_UNKIND, options->unkind, 1);
	if (options->device)
		setenv(BOOT_ENV_DEVICE, options->device, 1);
	if (options->addr_count > 0)
		setenv(BOOT_ENV_ADDR, options->addrs[rank % options->addr_count], 1);
	setenv(BOOT_ENV_SERVER, plan->server, 1);
	set_number(BOOT_ENV_RANK, rank);
	set_number(BOOT_ENV_SIZE, options->size);
	set_number(BOOT_ENV_LOCAL_SIZE, options->size);
	set_number(BOOT_ENV_SECRET_FD, plan->secret_fd);
}

static int set_descriptors(const struct spawn_plan *plan, int rank, const struct rank_pipes *pipes)
{
	if (dup2(rank == 0 ? plan->stdin_fd : plan->empty_fd, STDIN_FILENO) < 0 || dup2(pipes->out[1], STDOUT_FILENO) < 0 ||
	    dup2(pipes->err[1], STDERR_FILENO) < 0)
		return -1;
	if (plan->has_raised && setrlimit(RLIMIT_NOFILE, &plan->descriptors) != 0)
		return -1;
	return fcntl(plan->secret_fd, F_SETFD, 0);
}

/* An ignored signal stays ignored (nohup), except SIGPIPE, which the launcher itself ignores. */
static void reset_signal(int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) != 0)
		return;
	if (action.sa_handler != SIG_IGN || number == SIGPIPE)
		signal(number, SIG_DFL);
}

/*
 * Resets handlers before exec would: a signal that arrived while all were blocked must not run the
 * launcher's handler.
 */
static void set_signals(const struct spawn_plan *plan)
{
	for (int number = 1; number < NSIG; number++)
		reset_signal(number);
	sigprocmask(SIG_SETMASK, &plan->signal_mask, NULL);
}

/* If the launcher died before prctl, no signal comes; but then the parent is another process. */
static void die_with_launcher(pid_t launcher)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(EXIT_NOT_EXECUTABLE);
}

static _Noreturn void be_rank(const struct spawn_plan *plan, int rank, const struct rank_pipes *pipes, pid_t launcher)
{
	int error;

	die_with_launcher(launcher);
	setpgid(0, 0);
	set_environment(plan, rank);
	if (set_descriptors(plan, rank, pipes) == 0) {
		set_signals(plan);
		execvp(plan->options->command[0], plan->options->command);
	}
	error = errno;
	if (write(pipes->exec[1], &error, sizeof(error)) != sizeof(error))
		_exit(EXIT_NOT_EXECUTABLE);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* In the launcher. */

static void close_pair(const int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

static void close_pipes(const struct rank_pipes *pipes)
{
	close_pair(pipes->out);
	close_pair(pipes->err);
	close_pair(pipes->exec);
}

static int open_pipes(struct rank_pipes *pipes)
{
	if (pipe2(pipes->out, O_CLOEXEC) == 0 && pipe2(pipes->err, O_CLOEXEC) == 0 && pipe2(pipes->exec, O_CLOEXEC) == 0 &&
	    fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(pipes->err[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	close_pipes(pipes);
	return -1;
}

/* Blocks signals until exec: handlers of the launcher must not run in the child. */
static pid_t fork_rank(const struct spawn_plan *plan, int rank, const struct rank_pipes *pipes)
{
	pid_t launcher = getpid();
	sigset_t all;
	sigset_t before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		be_rank(plan, rank, pipes, launcher);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid > 0)
		setpgid(pid, pid);
	return pid;
}

static int say_no_process(int rank, int error)
{
	char text[PROCESS_LIMIT_TEXT_BYTES];

	process_limit_text(error, text, sizeof(text));
	say("cannot start rank %d: %s", rank, text);
	return 1;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int say_no_program(const char *program, int error)
{
	if (error == ENOENT && strchr(program, '/') && access(program, F_OK) == 0)
		say("cannot start %s: the interpreter or loader it asks for does not exist", program);
	else if (error == ENOENT && !strchr(program, '/'))
		say("cannot start %s: not found in PATH (a program in this directory is ./%s)", program, program);
	else if (error == EACCES && !strchr(program, '/'))
		say("cannot start %s: what PATH finds by this name is not executable", program);
	else if (error == EACCES && is_directory(program))
		say("cannot start %s: it is a directory", program);
	else if (error == EACCES && access(program, F_OK) == 0)
		say("cannot start %s: it is not executable (chmod +x %s)", program, program);
	else
		say("cannot start %s: %s", program, strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Returns 0 if exec succeeded, or the child's errno. */
static int await_exec(int fd)
{
	int error = 0;
	ssize_t got;

	do
		got = read(fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? error : 0;
}

static void close_rank_ends(struct rank_pipes *pipes)
{
	close(pipes->out[1]);
	close(pipes->err[1]);
	close(pipes->exec[1]);
	pipes->out[1] = -1;
	pipes->err[1] = -1;
	pipes->exec[1] = -1;
}

int spawn_rank(const struct spawn_plan *plan, int rank, struct spawned *spawned)
{
	struct rank_pipes pipes = { .out = { -1, -1 }, .err = { -1, -1 }, .exec = { -1, -1 } };
	int error;

	if (open_pipes(&pipes) != 0)
		return say_no_process(rank, errno);
	spawned->pid = fork_rank(plan, rank, &pipes);
	if (spawned->pid < 0) {
		error = errno;
		close_pipes(&pipes);
		return say_no_process(rank, error);
	}
	close_rank_ends(&pipes);
	error = await_exec(pipes.exec[0]);
	if (error) {
		close_pipes(&pipes);
		return say_no_program(plan->options->command[0], error);
	}
	close(pipes.exec[0]);
	spawned->out_fd = pipes.out[0];
	spawned->err_fd = pipes.err[0];
	return 0;
}
