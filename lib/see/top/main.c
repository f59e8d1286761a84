// SPDX-License-Identifier: BSD-2-Clause
/* main.c - oriel-top: which rank waits for which, in a job that runs, hangs or is stopped */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"
#include "see/report/program.h"
#include "see/top/lines.h"
#include "see/top/root.h"
#include "see/top/scan.h"
#include "see/top/table.h"

#define PIDS_MAX 64

const char program_name[] = "oriel-top";

static const char usage[] =
	"usage: oriel-top [--json] [PID...]\n"
	"       oriel-top --merge\n"
	"\n"
	"Prints what the ranks of your jobs on this machine wait for, and where the waiting begins. With PID: of the jobs\n"
	"of these processes.\n"
	"\n"
	"  --json      print a line of JSON for each wait\n"
	"  --merge     read such lines, of several machines, from standard input:\n"
	"              srun --overlap oriel-top --json | oriel-top --merge\n"
	"  -h, --help  print this\n"
	"  --version   print the version\n";

struct wish {
	bool json;
	bool merge;
	pid_t pids[PIDS_MAX];
	int pid_count;
};

static int check_written(void)
{
	if (fflush(stdout) == 0)
		return 0;
	fprintf(stderr, "oriel-top: cannot write to standard output: %s\n", strerror(errno));
	return 1;
}

static void print_jobs(const struct rows *rows)
{
	size_t count;

	for (size_t i = 0; i < rows->count; i += count) {
		count = rows_of_job(rows, i);
		if (i > 0)
			fputc('\n', stdout);
		table_print(stdout, rows->list + i, count);
		root_print(stdout, rows->list + i, count);
	}
}

static int run(const struct wish *wish)
{
	struct rows rows = { 0 };
	int status;

	if (wish->merge)
		lines_read(stdin, &rows);
	else
		scan(&rows, wish->pids, wish->pid_count);
	rows_sort(&rows);
	for (size_t i = 0; wish->json && i < rows.count; i++)
		lines_write(stdout, &rows.list[i]);
	if (!wish->json && rows.count == 0)
		fputs("oriel-top: no job of yours is here\n", stderr);
	if (!wish->json)
		print_jobs(&rows);
	status = rows.count == 0 && !wish->json;
	free(rows.list);
	return check_written() || status;
}

static bool take_pid(struct wish *wish, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*end || pid <= 0 || pid > INT32_MAX || wish->pid_count == PIDS_MAX)
		return false;
	wish->pids[wish->pid_count++] = (pid_t)pid;
	return true;
}

static bool take(struct wish *wish, const char *argument)
{
	if (strcmp(argument, "--json") == 0)
		wish->json = true;
	else if (strcmp(argument, "--merge") == 0)
		wish->merge = true;
	else
		return take_pid(wish, argument);
	return true;
}

int main(int argc, char **argv)
{
	struct wish wish = { 0 };
	const char *option = argc == 2 ? argv[1] : "";

	if (strcmp(option, "--version") == 0) {
		printf("oriel-top %s\n", oriel_version());
		return check_written();
	}
	if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
		fputs(usage, stdout);
		return check_written();
	}
	for (int i = 1; i < argc; i++) {
		if (!take(&wish, argv[i]) || (wish.merge && wish.pid_count)) {
			fputs(usage, stderr);
			return 2;
		}
	}
	return run(&wish);
}
