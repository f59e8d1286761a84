// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - oriel-see PROGRAM: runs a program of oriel.h, and writes its profile and timeline
 *
 * DESIGN NOTES
 *
 * To run a program it preloads liboriel-see.so, which lies in lib beside bin, and executes the
 * program. At the end rank 0's process runs it again, with --job (front/report.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oriel.h"
#include "base/util.h"
#include "see/report/formats.h"
#include "see/report/advice.h"
#include "see/report/picture.h"
#include "see/report/profile.h"
#include "see/report/program.h"
#include "see/report/report_file.h"
#include "see/report/start.h"
#include "see/report/timeline.h"

#define EXIT_REFUSED 2
#define JSON_BYTES 200000

const char program_name[] = "oriel-see";

static const char usage[] =
	"usage: oriel-see [--profile[=FORMATS]] [--trace FILE] PROGRAM [ARGUMENT...]\n"
	"       oriel-see [--profile[=FORMATS]] [--trace FILE] --job NAME\n"
	"       oriel-see [--profile[=FORMATS]] [--trace FILE] --merge FILE...\n"
	"\n"
	"Runs PROGRAM, which uses oriel.h, and prints at its end where its ranks spent their time:\n"
	"    oriel-run -n 4 oriel-see ./app\n"
	"MPI programs: oriel-mpi --profile ./app\n"
	"\n"
	"  --profile    what is written, with commas between: text (standard error, and oriel-profile.txt), json\n"
	"               (oriel-profile.json, or the file that ORIEL_PROFILE_OUT names), svg (oriel-profile.svg); text,json\n"
	"               unless one is named, or --trace is given alone\n"
	"  --trace FILE at the end, write a timeline of the one-sided calls to FILE, for https://ui.perfetto.dev\n"
	"  --job NAME   write the report of a job that has ended without one; an empty name: the last one\n"
	"  --merge      write the report of these files\n"
	"  -h, --help   print this\n"
	"  --version    print the version\n";

/* ---- the report ---- */

static bool write_text(const struct profile *profile, const struct advice_list *advice, const struct read_parts *parts)
{
	struct report_file report = report_file_create("oriel-profile.txt");

	text_print(stderr, profile, advice, parts);
	if (!report.file)
		return false;
	text_print(report.file, profile, advice, parts);
	return report_file_finish(&report);
}

/* Returns how many bytes the JSON may have. */
static uint64_t json_bytes(void)
{
	const char *text = getenv("ORIEL_PROFILE_BYTES");
	uint64_t bytes;
	char *end;

	if (!text || !*text)
		return JSON_BYTES;
	bytes = strtoull(text, &end, 10);
	if (*end == '\0' && *text != '-')
		return bytes;
	fprintf(stderr, "oriel-see: ORIEL_PROFILE_BYTES is \"%s\", which is no number of bytes: %d is used\n", text,
	        JSON_BYTES);
	return JSON_BYTES;
}

static bool write_json(const struct profile *profile, const struct advice_list *advice)
{
	const char *wanted = getenv("ORIEL_PROFILE_OUT");
	struct report_file report = report_file_create(wanted && *wanted ? wanted : "oriel-profile.json");
	struct json_left_out left_out;

	if (!report.file)
		return false;
	left_out = json_print(report.file, profile, advice, json_bytes());
	if (!report_file_finish(&report))
		return false;
	if (left_out.windows || left_out.sites || left_out.waits)
		fprintf(stderr,
		        "oriel-see: %s has what took longest: %u of %u sites and %u of %u waits are left out; a larger "
		        "ORIEL_PROFILE_BYTES keeps more\n",
		        report.path, left_out.sites, profile->site_count, left_out.waits, profile->wait_count);
	return true;
}

static bool write_picture(const struct profile *profile, const struct read_parts *parts)
{
	struct report_file report = report_file_create("oriel-profile.svg");

	if (!report.file)
		return false;
	picture_print(report.file, profile, parts);
	return report_file_finish(&report);
}

static void report_clocks(const char *path, const struct read_parts *parts)
{
	if (parts->unaligned)
		fprintf(stderr, "oriel-see: %s: the clocks of %d of %d machines cannot be compared\n", path, parts->unaligned,
		        parts->hosts);
	else
		fprintf(stderr, "oriel-see: %s: times of %d machines agree within %.3f ms\n", path, parts->hosts,
		        parts->clock_error_ns / (double)NS_PER_MS);
}

/* Says what is not in the timeline. */
static void report_missing(const char *path, const struct profile *profile, const struct read_parts *parts)
{
	uint32_t missing = parts->count - timeline_count(parts);
	uint64_t overwritten = 0;

	for (uint32_t i = 0; i < parts->count; i++)
		overwritten += parts->list[i].part->header.overwritten;
	if (parts->hosts > 1)
		report_clocks(path, parts);
	if (missing)
		fprintf(stderr, "oriel-see: %s has no calls of %" PRIu32 " of %" PRIu32 " ranks: they have recorded none\n",
		        path, missing, parts->count);
	if (overwritten)
		fprintf(stderr,
		        "oriel-see: %s has the last calls: the first %" PRIu64 " of %" PRIu64
		        " are overwritten; a larger ORIEL_TRACE_BYTES keeps more\n",
		        path, overwritten, profile->calls);
}

static bool write_timeline(const char *path, const struct profile *profile, const struct read_parts *parts)
{
	struct report_file report = report_file_create(path);

	if (!report.file)
		return false;
	timeline_print(report.file, profile, parts);
	if (!report_file_finish(&report))
		return false;
	report_missing(path, profile, parts);
	return true;
}

/* The parts stay if the report could not be written, or leaves out their timeline. */
static int report(const struct read_parts *parts, bool removes)
{
	struct profile profile = { 0 };
	const char *timeline = start_timeline();
	struct advice_list advice;
	bool written = true;

	gather(&profile, parts);
	advise(&advice, &profile);
	if (start_wants("text"))
		written &= write_text(&profile, &advice, parts);
	if (start_wants("json"))
		written &= write_json(&profile, &advice);
	if (start_wants("svg"))
		written &= write_picture(&profile, parts);
	if (timeline)
		written &= write_timeline(timeline, &profile, parts);
	else if (removes && !start_wants("svg") && timeline_count(parts)) {
		fprintf(stderr, "oriel-see: the timeline is not written: oriel-see --trace FILE --job '%s' writes it\n",
		        parts->job);
		removes = false;
	}
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
		program_fail("--merge takes the files of a profile");
	read_files(&parts, paths);
	return report(&parts, false);
}

/* ---- the command line ---- */

struct options {
	const char *formats;  /* NULL: not given */
	const char *timeline; /* NULL: not given */
	const char *job;      /* NULL: not given */
	bool merges;
};

static void refuse(void)
{
	fputs(usage, stderr);
	exit(EXIT_REFUSED);
}

/* Returns an option's value, behind "=" or in the next argument; NULL: it is another option. */
static const char *take_value(char ***arguments, const char *name)
{
	size_t length = strlen(name);
	const char *option = **arguments;

	if (strncmp(option, name, length) != 0 || (option[length] != '\0' && option[length] != '='))
		return NULL;
	if (option[length])
		return option + length + 1;
	if (!(*arguments)[1])
		refuse();
	return *++*arguments;
}

/* Exits after --help, --version and a wrong option. */
static void take_option(char ***arguments, struct options *options)
{
	const char *option = **arguments, *value;

	if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0)
		exit(fputs(usage, stdout) < 0);
	if (strcmp(option, "--version") == 0)
		exit(printf("oriel-see %s\n", oriel_version()) < 0);
	if (strcmp(option, "--profile") == 0)
		options->formats = FORMATS_DEFAULT;
	else if (strncmp(option, "--profile=", 10) == 0)
		options->formats = option + 10;
	else if ((value = take_value(arguments, "--trace")) != NULL)
		options->timeline = value;
	else if ((value = take_value(arguments, "--job")) != NULL)
		options->job = value;
	else
		refuse();
}

/* Returns the arguments behind the options. */
static char **take_options(char **arguments, struct options *options)
{
	for (; *arguments && (*arguments)[0] == '-' && !options->merges; arguments++) {
		options->merges = strcmp(*arguments, "--merge") == 0;
		if (!options->merges)
			take_option(&arguments, options);
	}
	return arguments;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	char **arguments = take_options(argc > 0 ? argv + 1 : argv, &options);
	bool runs = !options.job && !options.merges;

	signal(SIGXFSZ, SIG_IGN); /* writes report the limit of a file's size */
	if (options.timeline && !*options.timeline)
		program_fail("--trace takes a file");
	if (runs != (*arguments != NULL) && !options.merges)
		refuse();
	if (runs && !options.formats && !options.timeline)
		options.formats = FORMATS_DEFAULT;
	if (options.formats || options.timeline)
		start_note(options.formats, options.timeline);
	if (options.merges)
		return report_files(arguments);
	if (options.job)
		return report_job(options.job);
	start(arguments);
}
