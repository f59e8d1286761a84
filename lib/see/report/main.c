// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - oriel-see PROGRAM: runs a program of oriel.h with a profile, and writes the report
 *
 * DESIGN NOTES
 *
 * To run a program it preloads liboriel-see.so, which lies in lib beside bin, and executes the
 * program. At the end rank 0's process runs it again, with --job (front/report.c).
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oriel.h"
#include "see/report/profile.h"
#include "see/report/start.h"

#define EXIT_REFUSED 2

static const char usage[] =
	"usage: oriel-see [--profile[=text,json]] PROGRAM [ARGUMENT...]\n"
	"       oriel-see --job NAME\n"
	"       oriel-see --merge FILE...\n"
	"\n"
	"Runs PROGRAM, which uses oriel.h, and prints at its end where its ranks spent their time:\n"
	"    oriel-run -n 4 oriel-see ./app\n"
	"MPI programs: oriel-mpi --profile ./app\n"
	"\n"
	"  --profile    what is written: text (standard error, and oriel-profile.txt), json (oriel-profile.json, or the\n"
	"               file that ORIEL_PROFILE_OUT names); both unless one is named\n"
	"  --job NAME   write the report of a job that has ended without one; an empty name: the last one\n"
	"  --merge      write the report of these files\n"
	"  -h, --help   print this\n"
	"  --version    print the version\n";

void see_fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("oriel-see: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(EXIT_FAILURE);
}

/* ---- the report ---- */

/* A file that becomes a report when it is whole. */
struct report_file {
	FILE *file; /* NULL: it cannot be written */
	const char *path;
	char made[PATH_MAX]; /* beside it, until then */
};

/* The new file is the user's alone, and replaces what has the name, also a link. */
static struct report_file create(const char *path)
{
	struct report_file report = { .path = path };
	int fd = -1;

	if (snprintf(report.made, sizeof(report.made), "%s.XXXXXX", path) < (int)sizeof(report.made))
		fd = mkstemp(report.made);
	report.file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!report.file)
		fprintf(stderr, "oriel-see: %s cannot be written: %s\n", path, strerror(errno));
	return report;
}

static bool finish(struct report_file *report)
{
	bool failed = ferror(report->file);

	failed |= fclose(report->file) != 0;
	if (!failed && rename(report->made, report->path) == 0)
		return true;
	fprintf(stderr, "oriel-see: %s cannot be written: %s\n", report->path, strerror(errno));
	unlink(report->made);
	return false;
}

static bool write_text(const struct profile *profile, const struct read_parts *parts)
{
	struct report_file report = create("oriel-profile.txt");

	text_print(stderr, profile, parts);
	if (!report.file)
		return false;
	text_print(report.file, profile, parts);
	return finish(&report);
}

static bool write_json(const struct profile *profile)
{
	const char *wanted = getenv("ORIEL_PROFILE_OUT");
	struct report_file report = create(wanted && *wanted ? wanted : "oriel-profile.json");

	if (!report.file)
		return false;
	json_print(report.file, profile);
	return finish(&report);
}

/* The parts stay if the report could not be written. */
static int report(const struct read_parts *parts, bool removes)
{
	struct profile profile = { 0 };
	bool written = true;

	gather(&profile, parts);
	if (start_wants("text"))
		written &= write_text(&profile, parts);
	if (start_wants("json"))
		written &= write_json(&profile);
	if (written && removes)
		remove_parts(parts);
	return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int report_job(const char *job)
{
	struct read_parts parts = { 0 };

	read_job(&parts, job);
	return report(&parts, true);
}

static int report_files(char **paths)
{
	struct read_parts parts = { 0 };

	if (!*paths)
		see_fail("--merge takes the files of a profile");
	for (; *paths; paths++)
		read_file(&parts, *paths);
	return report(&parts, false);
}

int main(int argc, char **argv)
{
	const char *option = argc > 1 ? argv[1] : "";
	const char *formats = "text,json";

	if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0)
		return fputs(usage, stdout) < 0;
	if (strcmp(option, "--version") == 0)
		return printf("oriel-see %s\n", oriel_version()) < 0;
	if (strcmp(option, "--job") == 0 && argc == 3)
		return report_job(argv[2]);
	if (strcmp(option, "--merge") == 0)
		return report_files(argv + 2);
	if (strncmp(option, "--profile=", 10) == 0)
		formats = option + 10;
	if (strncmp(option, "--profile", 9) == 0 && (option[9] == '\0' || option[9] == '='))
		argv++, argc--;
	if (argc < 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return EXIT_REFUSED;
	}
	start(formats, argv + 1);
}
