// SPDX-License-Identifier: BSD-2-Clause
/*
 * client.c - a rank that does what its arguments say, for the tests of oriel-run
 *
 *   launcher-client STEP...
 *
 * Steps are done in order; a step "R=STEP" is for rank R only, "R!STEP" for all ranks but R. What a
 * step needs from others it waits for; everything together has HANG_S seconds, then SIGALRM ends
 * the program.
 *
 *   join                  boot_open                      say:TEXT      a line on stdout
 *   put:KEY:VALUE         boot put                       err:TEXT      a line on stderr
 *   get:R:KEY             get, and print the answer      part:TEXT     text without an end of line
 *   ask:R:KEY             only ask                       lines:N:SIZE  N lines of SIZE letters, and as many on stderr
 *   puts:N                put the key "many" N times
 *   answers:N             N answers have come, in all    env:NAME      print a variable of the environment
 *   meet                  wait for all who may still come  cat         copy stdin to stdout
 *   died:R                wait for news, and print it    fds           print the numbers of the open descriptors
 *   lost                  wait until the launcher is gone  touch:FILE  create a file
 *   leave                 boot leave                     await:FILE    wait until a file exists
 *   close                 boot close                     note:FILE:NAME  write a variable into a file
 *   abort:STATUS:REASON   boot abort                     pid:FILE      write the process id into a file
 *   again                 a second connection fails      fork:FILE     a child that only waits; its id into the file
 *   exit:STATUS           _exit                          escape:FILE   likewise, in a session of its own
 *   kill:SIGNAL           raise                          ignore:SIGNAL
 *   stop                  wait for ever (serving news)   print:SIGNAL  print a line when it comes
 *                                                        caught        wait until it has come
 *   exec:...              run the rest of the arguments as a program instead
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "oriel.h"

#define HANG_S 100
#define RANKS_MAX 8192
#define PART_MAX 4
#define MEETING "meeting-" /* a key that the tests do not use themselves */

static struct boot *boot;
static int answer_count;
static int meeting_count; /* meetings this rank has come to */
static int met_count;     /* answers about the present one */
static bool launcher_lost;
static bool has_died[RANKS_MAX];

/* A step taken apart: name, and up to three parts behind colons; the last one may contain colons. */
struct step {
	char text[4096];
	const char *part[PART_MAX];
};

static void fail(const char *what)
{
	printf("FAILED %s: %s\n", what, oriel_last_error());
	fflush(stdout);
	_exit(99);
}

static void check(int rc, const char *what)
{
	if (rc != 0)
		fail(what);
}

static void on_value(void *arg, int rank, const char *key, const void *value, size_t size_bytes)
{
	(void)arg;
	if (strncmp(key, MEETING, strlen(MEETING)) == 0) {
		met_count++;
		return;
	}
	answer_count++;
	if (value)
		printf("%d %s is %.*s\n", rank, key, (int)size_bytes, (const char *)value);
	else
		printf("%d %s never\n", rank, key);
	fflush(stdout);
}

static void on_died(void *arg, int rank, const char *text)
{
	(void)arg;
	if (has_died[rank])
		printf("FAILED: told twice of rank %d\n", rank);
	has_died[rank] = true;
	printf("rank %d %s\n", rank, text);
	fflush(stdout);
}

static void on_lost(void *arg, const char *text)
{
	(void)arg;
	launcher_lost = true;
	printf("lost: %s\n", text);
	fflush(stdout);
}

static const struct boot_events events = { on_value, on_died, on_lost };

static void dispatch(void)
{
	struct pollfd pfd = { .fd = boot->ops->fd(boot), .events = POLLIN };

	if (pfd.fd >= 0)
		poll(&pfd, 1, -1);
	check(boot->ops->dispatch(boot), "dispatch");
}

static int my_rank(void)
{
	const char *rank = getenv("ORIEL_RANK");

	return rank ? atoi(rank) : 0;
}

static void wait_for_file(const char *path)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	struct stat st;

	while (stat(path, &st) != 0)
		nanosleep(&pause, NULL);
}

/* Writes a file that is complete or not there at all, for processes that wait for it. */
static void write_file(const char *path, const char *text)
{
	char temporary[4200];
	FILE *file;

	snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid());
	file = fopen(temporary, "w");
	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0 || rename(temporary, path) != 0)
		fail(path);
}

static void write_number(const char *path, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	write_file(path, text);
}

static void start_child(const char *path, bool escapes)
{
	pid_t pid = fork();

	if (pid != 0)
		return;
	alarm(0);
	if (escapes)
		setsid();
	write_number(path, getpid());
	for (;;)
		pause();
}

static void print_lines(int count, int size)
{
	char *line = malloc((size_t)size + 1);
	int i;

	if (!line)
		fail("lines: no memory");
	memset(line, 'a' + my_rank() % 26, (size_t)size);
	line[size] = '\0';
	for (i = 0; i < count; i++) {
		printf("%s\n", line);
		fprintf(stderr, "%s\n", line);
	}
	fflush(stdout);
	free(line);
}

static void copy_stdin(void)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		if (write(STDOUT_FILENO, bytes, (size_t)got) != got)
			fail("cat");
}

static void print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			printf("fd %s\n", entry->d_name);
	closedir(dir);
	fflush(stdout);
}

static volatile sig_atomic_t printed;

static void print_signal(int number)
{
	char text[] = "signal 00\n";
	ssize_t rc;

	text[7] = (char)('0' + number / 10);
	text[8] = (char)('0' + number % 10);
	rc = write(STDOUT_FILENO, text, sizeof(text) - 1);
	(void)rc;
	printed = 1;
}

static void catch (int number)
{
	struct sigaction action = { .sa_handler = print_signal, .sa_flags = SA_RESTART };

	sigaction(number, &action, NULL);
}

/* The signal may come at any moment, but not between the look and the sleep. */
static void wait_for_signal(void)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	while (!printed)
		sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void again(void)
{
	struct boot *second;

	if (boot_open(NULL, &events, NULL, &second) != ORIEL_ERR_BOOTSTRAP)
		fail("a second connection of this rank was let in");
	printf("%s\n", oriel_last_error());
	fflush(stdout);
}

static void put_often(int count)
{
	static const char value[BOOT_VALUE_MAX_BYTES];

	while (count-- > 0)
		check(boot->ops->put(boot, "many", value, sizeof(value)), "put");
}

static void get(int rank, const char *key)
{
	int before = answer_count;

	check(boot->ops->get(boot, rank, key), "get");
	while (answer_count == before && !launcher_lost)
		dispatch();
}

/* A key of each rank says that it has come; for ranks that died or left the answer is 'never'. */
static void meet(void)
{
	char key[24];

	snprintf(key, sizeof(key), MEETING "%d", meeting_count++);
	met_count = 0;
	check(boot->ops->put(boot, key, "", 0), "put");
	for (int rank = 0; rank < boot->size; rank++)
		check(boot->ops->get(boot, rank, key), "get");
	while (met_count < boot->size && !launcher_lost)
		dispatch();
}

static void stop(void)
{
	while (boot && !launcher_lost)
		dispatch();
	for (;;)
		pause();
}

static bool is(const struct step *step, const char *name)
{
	return strcmp(step->part[0], name) == 0;
}

static bool do_boot_step(const struct step *step)
{
	if (is(step, "join"))
		check(boot_open(NULL, &events, NULL, &boot), "boot_open");
	else if (is(step, "put"))
		check(boot->ops->put(boot, step->part[1], step->part[2], strlen(step->part[2])), "put");
	else if (is(step, "puts"))
		put_often(atoi(step->part[1]));
	else if (is(step, "get"))
		get(atoi(step->part[1]), step->part[2]);
	else if (is(step, "ask"))
		check(boot->ops->get(boot, atoi(step->part[1]), step->part[2]), "get");
	else if (is(step, "meet"))
		meet();
	else if (is(step, "leave"))
		check(boot->ops->leave(boot), "leave");
	else if (is(step, "close"))
		boot->ops->close(boot), boot = NULL;
	else if (is(step, "abort"))
		check(boot->ops->abort(boot, atoi(step->part[1]), step->part[2]), "abort");
	else if (is(step, "again"))
		again();
	else
		return false;
	return true;
}

static bool do_waiting_step(const struct step *step)
{
	if (is(step, "answers"))
		while (answer_count < atoi(step->part[1]))
			dispatch();
	else if (is(step, "died"))
		while (!has_died[atoi(step->part[1])])
			dispatch();
	else if (is(step, "lost"))
		while (!launcher_lost)
			dispatch();
	else if (is(step, "await"))
		wait_for_file(step->part[1]);
	else if (is(step, "caught"))
		wait_for_signal();
	else if (is(step, "stop"))
		stop();
	else
		return false;
	return true;
}

static bool do_printing_step(const struct step *step)
{
	if (is(step, "say"))
		printf("%s\n", step->part[1]);
	else if (is(step, "part"))
		printf("%s", step->part[1]);
	else if (is(step, "err"))
		fprintf(stderr, "%s\n", step->part[1]);
	else if (is(step, "lines"))
		print_lines(atoi(step->part[1]), atoi(step->part[2]));
	else if (is(step, "env"))
		printf("%s=%s\n", step->part[1], getenv(step->part[1]) ? getenv(step->part[1]) : "(unset)");
	else if (is(step, "cat"))
		copy_stdin();
	else if (is(step, "fds"))
		print_descriptors();
	else
		return false;
	fflush(stdout);
	return true;
}

static bool do_process_step(const struct step *step)
{
	if (is(step, "touch"))
		write_file(step->part[1], "");
	else if (is(step, "note"))
		write_file(step->part[1], getenv(step->part[2]));
	else if (is(step, "pid"))
		write_number(step->part[1], getpid());
	else if (is(step, "fork") || is(step, "escape"))
		start_child(step->part[1], is(step, "escape"));
	else if (is(step, "exit"))
		_exit(atoi(step->part[1]));
	else if (is(step, "kill"))
		raise(atoi(step->part[1]));
	else if (is(step, "ignore"))
		signal(atoi(step->part[1]), SIG_IGN);
	else if (is(step, "print"))
		catch (atoi(step->part[1]));
	else
		return false;
	return true;
}

/* Is the step for this rank? Sets *rest to what is behind a condition. */
static bool is_for_me(const char *text, const char **rest)
{
	char *end;
	long rank = strtol(text, &end, 10);

	*rest = text;
	if (end == text || (*end != '=' && *end != '!'))
		return true;
	*rest = end + 1;
	return (rank == my_rank()) == (*end == '=');
}

static void take_apart(const char *text, struct step *step)
{
	char *rest = step->text;
	int i;

	snprintf(step->text, sizeof(step->text), "%s", text);
	for (i = 0; i < PART_MAX; i++)
		step->part[i] = i < PART_MAX - 1 && rest ? strsep(&rest, ":") : "";
	if (rest)
		rest[-1] = ':';
	for (i = 0; i < PART_MAX; i++)
		if (!step->part[i])
			step->part[i] = "";
}

static void do_step(char **argv)
{
	struct step step;
	const char *text;

	if (!is_for_me(*argv, &text))
		return;
	take_apart(text, &step);
	if (is(&step, "exec")) {
		execvp(argv[1], argv + 1);
		fail("exec");
	}
	if (!do_boot_step(&step) && !do_waiting_step(&step) && !do_printing_step(&step) && !do_process_step(&step))
		fail(text);
}

int main(int argc, char **argv)
{
	int i;

	alarm(HANG_S);
	for (i = 1; i < argc; i++)
		do_step(argv + i);
	return 0;
}
