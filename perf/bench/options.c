// SPDX-License-Identifier: BSD-2-Clause
/* options.c - see options.h. */
#include "bench/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"

#define ALL_SIZES_LOG2 23 /* -a: 2 bytes to 8 MiB */
#define MARGIN_S 2.0      /* -f, if the duration leaves room */
#define NEIGHBOURS_MAX 1023

enum {
	OPT_SIZES = 256,
	OPT_ALIGN,
	OPT_GBITS,
	OPT_JSON,
	OPT_JSON_FILE,
	OPT_SHAPE,
	OPT_POST,
	OPT_NEIGHBOURS,
	OPT_LOCK,
	OPT_TARGET,
	OPT_TYPE,
	OPT_COUNT,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "size", required_argument, NULL, 's' },
	{ "all", no_argument, NULL, 'a' },
	{ "sizes", required_argument, NULL, OPT_SIZES },
	{ "iters", required_argument, NULL, 'n' },
	{ "duration", required_argument, NULL, 'D' },
	{ "margin", required_argument, NULL, 'f' },
	{ "tx-depth", required_argument, NULL, 't' },
	{ "post_list", required_argument, NULL, 'l' },
	{ "cq-mod", required_argument, NULL, 'Q' },
	{ "inline_size", required_argument, NULL, 'I' },
	{ "qp", required_argument, NULL, 'q' },
	{ "neighbours", required_argument, NULL, OPT_NEIGHBOURS },
	{ "ib-dev", required_argument, NULL, 'd' },
	{ "port", required_argument, NULL, 'p' },
	{ "report-histogram", no_argument, NULL, 'H' },
	{ "report-unsorted", no_argument, NULL, 'U' },
	{ "CPU-freq", no_argument, NULL, 'F' },
	{ "report_gbits", no_argument, NULL, OPT_GBITS },
	{ "out_json", no_argument, NULL, OPT_JSON },
	{ "out_json_file", required_argument, NULL, OPT_JSON_FILE },
	{ "window", required_argument, NULL, 'w' },
	{ "sync", required_argument, NULL, 'S' },
	{ "lock", required_argument, NULL, OPT_LOCK },
	{ "check", no_argument, NULL, 'c' },
	{ "memory", required_argument, NULL, 'm' },
	{ "align", required_argument, NULL, OPT_ALIGN },
	{ "shape", required_argument, NULL, OPT_SHAPE },
	{ "post", required_argument, NULL, OPT_POST },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "type", required_argument, NULL, OPT_TYPE },
	{ "count", no_argument, NULL, OPT_COUNT },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char short_options[] = "s:an:D:f:t:l:Q:I:q:d:p:HUFw:S:cm:h";

static const char help[] =
	"What is measured\n"
	"  -s, --size=BYTES         size of an operation; K, M, G may follow (1024)\n"
	"  -a, --all                sizes 2, 4, 8 ... 8 MiB\n"
	"      --sizes=LIST         sizes, separated by commas\n"
	"  -n, --iters=N            operations of each size (latency 1000, bandwidth 5000)\n"
	"  -D, --duration=SECONDS   run each size that long instead\n"
	"  -f, --margin=SECONDS     of the duration, not counted at its start and its end (2, or a quarter of less than 8)\n"
	"  -t, --tx-depth=N         bandwidth: operations between two synchronisations (128)\n"
	"  -q, --qp=N               queue pairs, that is neighbours of rank 0, each with its own; also --neighbours (1)\n"
	"  -S, --sync=KIND          pscw, fence, or flush: one long epoch, and a flush after each operation or batch;\n"
	"                           lock_all: the same inside lock_all; lock: lock and unlock around each instead\n"
	"      --lock=TYPE          of lock: shared or exclusive\n"
	"  -w, --window=KIND        allocate (default), create (memory of the program), dynamic (the same, attached),\n"
	"                           alloc_mem (created of memory of MPI_Alloc_mem, oriel_alloc), or share (memory of\n"
	"                           the program with the hint share, by which Oriel moves it)\n"
	"  -m, --memory=KIND        of buffers: heap (default), huge (pages), registered (beforehand),\n"
	"                           or alloc_mem (origins of MPI_Alloc_mem, oriel_alloc; windows as heap)\n"
	"      --align=BYTES        buffers begin that many bytes behind the start of a page (0)\n"
	"      --shape=SHAPE        pscw_lat: osu (epoch there, epoch back; half of it) or isolated\n"
	"      --post=WHEN          pscw_lat, isolated: late (rank 0, when others wait for it) or early (all, first)\n"
	"      --target=WHERE       fop_lat, cas_lat: waiting (in a call, default) or outside (it looks at its memory)\n"
	"      --type=TYPE          acc_lat, acc_bw: of double (default), char or long\n"
	"  -c, --check              verify every byte that arrives; the times are then not the path's alone\n"
	"      --count              what a turn takes, too: work requests, doorbells, completions; instructions and system calls\n"
	"                           outside of the device, counted by single steps (x86-64)\n"
	"How\n"
	"  -d, --ib-dev=DEVICE      the verbs device\n"
	"  -p, --port=PORT          port of the first listener (one for each job)\n"
	"  -l, --post_list=N        work requests posted at once\n"
	"  -Q, --cq-mod=N           ask for a completion every N work requests\n"
	"  -I, --inline_size=BYTES  the largest message sent inline\n"
	"  -F, --CPU-freq           no warning when time stamps are slow\n"
	"Report\n"
	"  -H, --report-histogram   print every sample, sorted; -U, --report-unsorted: as they came\n"
	"      --report_gbits       Gb/s (10^9) instead of MB/s (2^20)\n"
	"      --out_json           write FILE too, one JSON object: perf_out.json or\n"
	"      --out_json_file=FILE\n"
	"  -h, --help               this\n"
	"      --version            the version\n";

struct word {
	const char *text;
	int value;
};

static const struct word syncs[] = {
	{ "pscw", SYNC_PSCW }, { "fence", SYNC_FENCE },       { "flush", SYNC_FLUSH },
	{ "lock", SYNC_LOCK }, { "lock_all", SYNC_LOCK_ALL }, { 0 },
};
static const struct word locks[] = { { "shared", LOCK_SHARED }, { "exclusive", LOCK_EXCLUSIVE }, { 0 } };
static const struct word windows[] = { { "create", WINDOW_CREATE },       { "allocate", WINDOW_ALLOCATE },
	                                   { "alloc_mem", WINDOW_ALLOC_MEM }, { "dynamic", WINDOW_DYNAMIC },
	                                   { "share", WINDOW_SHARE },         { 0 } };
static const struct word memories[] = { { "heap", MEMORY_HEAP },
	                                    { "huge", MEMORY_HUGE },
	                                    { "registered", MEMORY_REGISTERED },
	                                    { "alloc_mem", MEMORY_ALLOC_MEM },
	                                    { 0 } };
static const struct word shapes[] = { { "osu", SHAPE_OSU }, { "isolated", SHAPE_ISOLATED }, { 0 } };
static const struct word targets[] = { { "waiting", 0 }, { "outside", 1 }, { 0 } };
static const struct word types[] = { { "double", TYPE_DOUBLE }, { "char", TYPE_CHAR }, { "long", TYPE_LONG }, { 0 } };
static const struct word posts[] = { { "early", 0 }, { "late", 1 }, { 0 } };

const char *sync_name(enum perf_sync sync)
{
	return syncs[sync].text;
}

const char *type_name(enum perf_type type)
{
	return types[type].text;
}

const char *lock_name(enum perf_lock lock)
{
	return locks[lock].text;
}

const char *window_name(enum perf_window window)
{
	return windows[window].text;
}

const char *memory_name(enum perf_memory memory)
{
	return memories[memory].text;
}

size_t perf_options_largest(const struct perf_options *options)
{
	size_t largest = 0;

	for (int i = 0; i < options->size_count; i++) {
		if (options->sizes[i] > largest)
			largest = options->sizes[i];
	}
	return largest;
}

/* The input being read, for messages. */
struct reading {
	struct perf_options *options;
	const char *program; /* "oriel_put_lat" */
	const char *option;  /* "-s" or "--align" */
};

static int wrong(const struct reading *r, const char *text, const char *wanted)
{
	fprintf(stderr, "%s: %s '%s': %s\n", r->program, r->option, text, wanted);
	return 2;
}

static int read_word(const struct reading *r, const char *text, const struct word *words, int *value)
{
	char wanted[64] = "give one of";

	for (const struct word *w = words; w->text; w++) {
		size_t used = strlen(wanted);

		if (strcmp(w->text, text) == 0) {
			*value = w->value;
			return 0;
		}
		snprintf(wanted + used, sizeof(wanted) - used, " %s", w->text);
	}
	return wrong(r, text, wanted);
}

static int read_number(const struct reading *r, const char *text, long lowest, long highest, long *value)
{
	char wanted[80], *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && *value >= lowest && *value <= highest)
		return 0;
	snprintf(wanted, sizeof(wanted), "give a number from %ld to %ld", lowest, highest);
	return wrong(r, text, wanted);
}

static int read_int(const struct reading *r, const char *text, int lowest, int highest, int *value)
{
	long number;
	int rc = read_number(r, text, lowest, highest, &number);

	if (rc == 0)
		*value = (int)number;
	return rc;
}

static int read_seconds(const struct reading *r, const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end != text && *end == '\0' && *value >= 0 && *value <= 1e6)
		return 0;
	return wrong(r, text, "give seconds, 0 to 1000000");
}

static int shift_of(char unit)
{
	switch (unit) {
	case 'K':
	case 'k':
		return 10;
	case 'M':
	case 'm':
		return 20;
	case 'G':
	case 'g':
		return 30;
	default:
		return 0;
	}
}

/* Reads a size and sets *end to the place behind it. */
static int read_size(const struct reading *r, const char *text, char **end, size_t *bytes)
{
	unsigned long long number;
	int shift;

	errno = 0;
	number = strtoull(text, end, 10);
	if (errno || *end == text || *text == '-' || number > PERF_SIZE_LARGEST)
		return wrong(r, text, "give bytes, 0 to 1G");
	shift = shift_of(**end);
	if (shift)
		(*end)++;
	if (number > PERF_SIZE_LARGEST >> shift)
		return wrong(r, text, "give bytes, 0 to 1G");
	*bytes = (size_t)number << shift;
	return 0;
}

static int read_sizes(const struct reading *r, const char *text, int count_max)
{
	char *end = (char *)(uintptr_t)text;

	r->options->size_count = 0;
	for (const char *at = text;; at = end + 1) {
		int rc;

		if (r->options->size_count == count_max)
			return wrong(r, text, count_max == 1 ? "give one size; --sizes takes a list" : "give at most 64 sizes");
		rc = read_size(r, at, &end, &r->options->sizes[r->options->size_count++]);
		if (rc)
			return rc;
		if (*end == '\0')
			return 0;
		if (*end != ',')
			return wrong(r, text, "give bytes, 0 to 1G, separated by commas");
	}
}

static void all_sizes(struct perf_options *o)
{
	o->size_count = 0;
	for (int log2 = 1; log2 <= ALL_SIZES_LOG2; log2++)
		o->sizes[o->size_count++] = (size_t)1 << log2;
}

static int read_align(const struct reading *r, const char *text)
{
	long bytes;
	int rc = read_number(r, text, 0, 4095, &bytes);

	if (rc == 0)
		r->options->align_bytes = (size_t)bytes;
	return rc;
}

static int read_report(struct perf_options *o, int letter, const char *text)
{
	switch (letter) {
	case 'H':
		o->histogram = true;
		return 0;
	case 'U':
		o->histogram = o->unsorted = true;
		return 0;
	case 'F':
		o->no_clock_warning = true;
		return 0;
	case 'c':
		o->check = true;
		return 0;
	case OPT_COUNT:
		o->count = true;
		return 0;
	case OPT_GBITS:
		o->gbits = true;
		return 0;
	case OPT_JSON:
		o->json_file = o->json_file ? o->json_file : "perf_out.json";
		return 0;
	case OPT_JSON_FILE:
		o->json_file = text;
		return 0;
	case 'd':
		o->device = text;
		return 0;
	default:
		return 2; /* getopt has printed the error */
	}
}

static int read_kind(const struct reading *r, int letter, const char *text)
{
	struct perf_options *o = r->options;
	int value = 0, rc;

	switch (letter) {
	case 'S':
		rc = read_word(r, text, syncs, &value);
		o->sync = (enum perf_sync)value;
		return rc;
	case 'w':
		rc = read_word(r, text, windows, &value);
		o->window = (enum perf_window)value;
		return rc;
	case 'm':
		rc = read_word(r, text, memories, &value);
		o->memory = (enum perf_memory)value;
		return rc;
	case OPT_LOCK:
		rc = read_word(r, text, locks, &value);
		o->lock = (enum perf_lock)value;
		return rc;
	case OPT_SHAPE:
		rc = read_word(r, text, shapes, &value);
		o->shape = (enum perf_shape)value;
		return rc;
	case OPT_POST:
		rc = read_word(r, text, posts, &value);
		o->post_late = value;
		return rc;
	case OPT_TARGET:
		rc = read_word(r, text, targets, &value);
		o->outside = value;
		return rc;
	case OPT_TYPE:
		rc = read_word(r, text, types, &value);
		o->type = (enum perf_type)value;
		return rc;
	default:
		return read_report(o, letter, text);
	}
}

static int read_one(const struct reading *r, int letter, const char *text)
{
	struct perf_options *o = r->options;

	switch (letter) {
	case 's':
		return read_sizes(r, text, 1);
	case OPT_SIZES:
		return read_sizes(r, text, PERF_SIZES_MAX);
	case 'a':
		all_sizes(o);
		return 0;
	case 'n':
		return read_number(r, text, 1, 1000000000, &o->iterations);
	case 'D':
		return read_seconds(r, text, &o->duration_s);
	case 'f':
		return read_seconds(r, text, &o->margin_s);
	case 't':
		return read_number(r, text, 1, 1000000000, &o->depth);
	case 'l':
		return read_int(r, text, 1, 1024, &o->post_list);
	case 'Q':
		return read_int(r, text, 1, 1 << 20, &o->signal_every);
	case 'I':
		return read_int(r, text, 0, 4096, &o->inline_bytes);
	case 'q':
	case OPT_NEIGHBOURS:
		return read_int(r, text, 1, NEIGHBOURS_MAX, &o->neighbours);
	case 'p':
		return read_int(r, text, 1, 65535, &o->port);
	case OPT_ALIGN:
		return read_align(r, text);
	default:
		return read_kind(r, letter, text);
	}
}

/* Returns the name by which an option was given. */
static const char *option_name(int letter, char buffer[static 32])
{
	if (letter < OPT_SIZES) {
		snprintf(buffer, 32, "-%c", letter);
		return buffer;
	}
	for (const struct option *option = long_options; option->name; option++) {
		if (option->val == letter)
			snprintf(buffer, 32, "--%s", option->name);
	}
	return buffer;
}

/* Returns true if a list contains a word. */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length) {
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	}
	return false;
}

static int refused(const struct reading *r, const struct tool *which, const struct perf_backend *by)
{
	if (listed(which->refuses, r->option)) {
		fprintf(stderr, "%s: %s has no meaning for this program\n", r->program, r->option);
		return 2;
	}
	for (const struct perf_refusal *refusal = by->refusals; refusal->option; refusal++) {
		if (strcmp(refusal->option, r->option))
			continue;
		fprintf(stderr, "%s: %s: %s\n", r->program, r->option, refusal->why);
		return 2;
	}
	return 0;
}

static int check_sizes(const struct reading *r, const struct tool *which)
{
	const struct perf_options *o = r->options;

	for (int i = 0; i < o->size_count; i++) {
		if (o->sizes[i] == 0 && !which->empty)
			return fprintf(stderr, "%s: an operation of 0 bytes does nothing; give a size of 1 or more\n", r->program),
			       2;
		if (which->doubles && o->sizes[i] % sizeof(double))
			return fprintf(stderr, "%s: size %zu: the elements have 8 bytes; give a multiple of 8\n", r->program,
			               o->sizes[i]),
			       2;
	}
	return 0;
}

static int finish(const struct reading *r, const struct tool *which)
{
	struct perf_options *o = r->options;

	if (check_sizes(r, which))
		return 2;
	if (o->margin_s < 0)
		o->margin_s = o->duration_s >= 4 * MARGIN_S ? MARGIN_S : o->duration_s / 4;
	else if (o->duration_s == 0)
		return fprintf(stderr, "%s: -f goes with -D\n", r->program), 2;
	if (o->duration_s > 0 && o->duration_s <= 2 * o->margin_s)
		return fprintf(stderr, "%s: -D must be more than twice the margin -f\n", r->program), 2;
	return 0;
}

static bool refused_by(const struct perf_backend *by, const char *option)
{
	for (const struct perf_refusal *refusal = by->refusals; refusal->option; refusal++)
		if (strcmp(refusal->option, option) == 0)
			return true;
	return false;
}

/*
 * Copies the option that a line of the help begins with, "-s" or "--align"; returns false if it
 * begins with none.
 */
static bool option_of_line(const char *line, char option[static 32])
{
	const char *at = line + strspn(line, " ");
	size_t length = strcspn(at, ",= \n");

	if (*at != '-' || at - line > 6 || length > 31)
		return false;
	snprintf(option, 32, "%.*s", (int)length, at);
	return true;
}

/*
 * Prints the options that the tool and its backend take: a line that begins with none continues the
 * one before.
 */
static void print_help(const struct tool *which, const struct perf_backend *by)
{
	char option[32];
	bool shown = true;

	for (const char *line = help; *line; line += strcspn(line, "\n") + 1) {
		if (option_of_line(line, option))
			shown = !listed(which->refuses, option) && !refused_by(by, option);
		else if (*line != ' ')
			shown = true; /* a title */
		if (shown)
			printf("%.*s", (int)strcspn(line, "\n") + 1, line);
	}
}

/* Answers --help and --version. */
static int answer(int letter, const char *program, const struct tool *which, const struct perf_backend *by)
{
	if (letter == OPT_VERSION) {
		printf("%s %d.%d.%d\n", program, ORIEL_VERSION_MAJOR, ORIEL_VERSION_MINOR, ORIEL_VERSION_PATCH);
		return OPTIONS_HELP;
	}
	printf("usage: oriel-run -n 2 %s [options]\n\n%s\n\n", program, which->what);
	print_help(which, by);
	return OPTIONS_HELP;
}

int perf_options_parse(struct perf_options *options, const struct tool *which, const struct perf_backend *by, int argc,
                       char *argv[])
{
	char program[64], name[32] = "";
	struct reading r = { options, program, name };
	int letter, rc = 0;

	snprintf(program, sizeof(program), "%s_%s", by->name, which->name);
	*options = (struct perf_options){
		.sizes = { which->size_bytes },
		.size_count = 1,
		.iterations = which->iterations,
		.margin_s = -1,
		.neighbours = 1,
		.sync = which->sync,
		.lock = which->lock,
		.window = WINDOW_ALLOCATE,
		.post_late = true,
		.port = -1,
		.signal_every = -1,
		.inline_bytes = -1,
		.post_list = -1,
	};
	optind = 0; /* glibc: drop the state of an earlier list */
	while (rc == 0 && (letter = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		option_name(letter, name);
		if (letter == 'h' || letter == OPT_VERSION)
			return answer(letter, program, which, by);
		rc = letter == '?' ? 2 : refused(&r, which, by);
		if (rc == 0)
			rc = read_one(&r, letter, optarg);
	}
	if (rc == 0 && optind < argc)
		rc = wrong(&(struct reading){ options, program, "argument" }, argv[optind], "there are only options");
	if (rc)
		fprintf(stderr, "%s --help lists the options\n", program);
	return rc ? rc : finish(&r, which);
}
