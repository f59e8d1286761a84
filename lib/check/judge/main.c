// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - oriel-check PROGRAM: runs a program of oriel.h, and reports races of its operations
 *
 * DESIGN NOTES
 *
 * To run a program it preloads liboriel-check.so, which lies in lib beside bin, and executes the
 * program. At the end rank 0's process runs it again, with --job (front/write.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/judge/judge.h"
#include "oriel.h"

#define EXIT_REFUSED 2
#define PROGRAM_VARIABLE "ORIEL_CHECK"
#define REPORT_VARIABLE "ORIEL_CHECK_REPORT"

static const char usage[] =
	"usage: oriel-check PROGRAM [ARGUMENT...]\n"
	"       oriel-check --job NAME\n"
	"\n"
	"Runs PROGRAM, which uses oriel.h, and prints at its end which one-sided operations race:\n"
	"    oriel-run -n 4 oriel-check ./app\n"
	"\n"
	"  --job NAME   judge a job that has ended without a report; an empty name: the last one\n"
	"  -h, --help   print this\n"
	"  --version    print the version\n"
	"\n"
	"ORIEL_CHECK_REPORT=FILE appends a line of JSON for each race. oriel_check(7) says what is found.\n";

void judge_fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("oriel-check: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(EXIT_FAILURE);
}

/* ---- judging ---- */

static void write_json(struct job_traces *traces)
{
	const char *path = getenv(REPORT_VARIABLE);
	int fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

	if (path && *path && !file)
		fprintf(stderr, "oriel-check: %s cannot be written: %s\n", path, strerror(errno));
	if (!file)
		return;
	findings_print_json(file, traces);
	fclose(file);
}

static int judge_job(const char *job)
{
	struct job_traces traces = { 0 };
	struct verdict verdict = { 0 };

	traces_read(&traces, job);
	replay(&traces, &verdict);
	findings_print(stderr, &traces, &verdict);
	write_json(&traces);
	traces_remove(&traces);
	return EXIT_SUCCESS;
}

/* ---- starting ---- */

/* Finds the front, beside the folder of this program or where it is installed. */
static void find_front(const char *self, char front[PATH_MAX])
{
	static const char *const folders[] = { "lib/see", INSTALLED_LIBDIR "/oriel/see" };
	char home[PATH_MAX];
	char *slash;

	snprintf(home, sizeof(home), "%s", self);
	for (int i = 0; i < 2 && (slash = strrchr(home, '/')) != NULL; i++)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int bytes = snprintf(front, PATH_MAX, "%s/%s/liboriel-check.so", home, folders[i]);

		if (bytes < PATH_MAX && access(front, F_OK) == 0)
			return;
	}
	judge_fail("there is no liboriel-check.so in %s/lib/see or %s/" INSTALLED_LIBDIR "/oriel/see", home, home);
}

static void preload(const char *front)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (asprintf(&all, "%s%s%s", front, others && *others ? ":" : "", others ? others : "") < 0 ||
	    setenv("LD_PRELOAD", all, 1))
		judge_fail("there is no memory for LD_PRELOAD");
	free(all);
}

static void start(char **program) __attribute__((noreturn));

static void start(char **program)
{
	char self[PATH_MAX], front[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		judge_fail("/proc/self/exe cannot be read: %s", strerror(errno));
	self[length] = '\0';
	find_front(self, front);
	if (setenv(PROGRAM_VARIABLE, self, 1))
		judge_fail("there is no memory for the environment");
	preload(front);
	execvp(program[0], program);
	judge_fail("%s cannot be run: %s", program[0], strerror(errno));
}

int main(int argc, char **argv)
{
	const char *option = argc > 1 ? argv[1] : "";

	if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (strcmp(option, "--version") == 0)
		return printf("oriel-check %s\n", oriel_version()) < 0;
	if (strcmp(option, "--job") == 0 && argc == 3)
		return judge_job(argv[2]);
	if (argc < 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return EXIT_REFUSED;
	}
	start(argv + 1);
}
