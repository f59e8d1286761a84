// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - oriel-check PROGRAM: runs a program of oriel.h, and reports races of its operations
 *
 * DESIGN NOTES
 *
 * It preloads liboriel-check.so, which lies in lib beside bin, and executes the program. At the
 * end rank 0's process runs it again, with --job (front/write.c). A process that has found a
 * deadlock runs it with --deadlock (front/watch.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/judge/judge.h"
#include "check/recompiled.h"
#include "oriel.h"

#define EXIT_REFUSED 2
#define PROGRAM_VARIABLE "ORIEL_CHECK"
#define REPORT_VARIABLE "ORIEL_CHECK_REPORT"

const char program_name[] = "oriel-check";

static const char usage[] =
	"usage: oriel-check [--pages] PROGRAM [ARGUMENT...]\n"
	"       oriel-check --job NAME [--now]\n"
	"       oriel-check --cflags | --libs\n"
	"\n"
	"Runs PROGRAM, which uses oriel.h, and prints at its end which one-sided operations race:\n"
	"    oriel-run -n 4 oriel-check ./app\n"
	"\n"
	"  --pages      check loads and stores of windows, too: the first of each page between two calls\n"
	"  --job NAME   judge a job that has ended without a report; an empty name: the last one\n"
	"  --now        judge what has been recorded until now, and do not wait for the end\n"
	"  --cflags     print options by which clang compiles loads and stores so that it costs least to check them\n"
	"  --libs       print options for linking such code\n"
	"  -h, --help   print this\n"
	"  --version    print the version\n"
	"\n"
	"ORIEL_CHECK_REPORT=FILE appends a line of JSON for each race. oriel_check(7) says what is found.\n";

FILE *open_report(const char *variable)
{
	const char *path = getenv(variable);
	int fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

	if (path && *path && !file)
		fprintf(stderr, "oriel-check: %s cannot be written: %s\n", path, strerror(errno));
	return file;
}

static void write_json(struct job_traces *traces)
{
	FILE *file = open_report(REPORT_VARIABLE);

	if (!file)
		return;
	findings_print_json(file, traces);
	fclose(file);
}

static int judge_job(const char *job, bool now)
{
	struct job_traces traces = { 0 };
	struct verdict verdict = { 0 };

	traces_read(&traces, job, now);
	if (now)
		traces_claim(&traces);
	replay(&traces, &verdict);
	if (verdict.signals || verdict.is_full || verdict.is_ended || traces.is_cut)
		findings_drop_members();
	findings_print(stderr, &traces, &verdict);
	write_json(&traces);
	traces_remove(&traces);
	return EXIT_SUCCESS;
}

static int print_libs(void)
{
	char library[PATH_MAX];

	program_file(INLINE_LIBRARY, library);
	return printf("%s -Wl,-rpath,%.*s\n", library, (int)(strrchr(library, '/') - library), library) < 0;
}

static int print_cflags(void)
{
	char header[PATH_MAX];

#ifndef __x86_64__
	program_fail("--cflags is for x86-64 only");
#endif
	program_file("oriel-inline.h", header);
	return printf("-include %s %s\n", header, INLINE_FLAGS) < 0;
}

static void preload_loads(const char *path)
{
	char name[RECOMPILED_BYTES];

	if (recompiled_library(path, name))
		program_preload(name);
}

int main(int argc, char **argv)
{
	const char *option = argc > 1 ? argv[1] : "";

	if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (strcmp(option, "--version") == 0)
		return printf("oriel-check %s\n", oriel_version()) < 0;
	if (strcmp(option, "--cflags") == 0)
		return print_cflags();
	if (strcmp(option, "--libs") == 0)
		return print_libs();
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* others print there */
	if (strcmp(option, "--job") == 0 && (argc == 3 || (argc == 4 && strcmp(argv[3], "--now") == 0)))
		return judge_job(argv[2], argc == 4);
	if (strcmp(option, "--deadlock") == 0 && argc == 4) {
		deadlock_report(argv[2], atoi(argv[3]));
		return EXIT_SUCCESS;
	}
	if (strcmp(option, "--pages") == 0) {
		program_preload("liboriel-pages.so");
		argv++;
		argc--;
	}
	if (argc < 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return EXIT_REFUSED;
	}
	preload_loads(argv[1]);
	program_start("liboriel-check.so", PROGRAM_VARIABLE, argv + 1);
}
