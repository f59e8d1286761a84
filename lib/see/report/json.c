// SPDX-License-Identifier: BSD-2-Clause
/*
 * See profile.h. Programs read this: fields may be added, none changed. Times are in ns.
 *
 * The JSON of a large job has the entries that took longest, up to the allowed number of bytes. The
 * windows and call sites that an entry names are in it, too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "see/json_text.h"
#include "see/report/advice.h"
#include "see/report/profile.h"
#include "see/report/program.h"

#define HEAD_BYTES 512 /* with lists' brackets */

/* ---- entries ---- */

static void print_window(FILE *out, const struct profile *profile, uint32_t id)
{
	const struct profile_window *window = &profile->windows[id];

	fprintf(out, "{\"id\": %u, \"number\": %" PRIu64 ", ", id, window->number);
	json_write_text(out, "name", window->name);
	json_write_text(out, "kind", window->kind);
	fprintf(out, "\"in_calls_ns\": %" PRIu64 ", \"waits_ns\": %" PRIu64 ", \"library_ns\": %" PRIu64 "}",
	        window->in_calls_ns, window->waits_ns,
	        window->in_calls_ns > window->waits_ns ? window->in_calls_ns - window->waits_ns : 0);
}

static void print_build_id(FILE *out, const struct profile_site *site)
{
	fputs("\"build_id\": \"", out);
	for (uint32_t i = 0; i < site->build_id_bytes; i++)
		fprintf(out, "%02x", site->build_id[i]);
	fputs("\", ", out);
}

static void print_site(FILE *out, const struct profile *profile, uint32_t id)
{
	const struct profile_site *site = &profile->sites[id];
	int last = PART_SIZES - 1;

	while (last >= 0 && site->sizes[last] == 0)
		last--;
	fprintf(out, "{\"id\": %u, \"window\": %d, \"rank\": %d, ", id, site->window, site->rank);
	json_write_text(out, "call", site->call);
	json_write_text(out, "function", site->place.function);
	json_write_text(out, "file", site->place.file);
	fprintf(out, "\"line\": %d, ", site->place.line);
	json_write_text(out, "object", site->object);
	print_build_id(out, site);
	fprintf(out, "\"offset\": %" PRIu64 ", \"count\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"sizes\": [", site->offset,
	        site->count, site->bytes);
	for (int i = 0; i <= last; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", site->sizes[i]);
	fprintf(out, "], \"ns\": %" PRIu64 "}", site->ns);
}

static void print_wait(FILE *out, const struct profile *profile, uint32_t id)
{
	const struct profile_wait *wait = &profile->waits[id];

	fprintf(out, "{\"window\": %d, \"site\": %u, \"waiter\": %d, \"culprit\": %d, \"cause\": \"%s\", ",
	        profile->sites[wait->site].window, wait->site, profile->sites[wait->site].rank, wait->culprit,
	        cause_names[wait->cause]);
	fprintf(out,
	        "\"ns\": %" PRIu64 ", \"count\": %" PRIu64 ", \"max_ns\": %" PRIu64 ", \"served\": %" PRIu64
	        ", \"root\": [",
	        wait->ns, wait->count, wait->max_ns, wait->served);
	for (int i = 0; i < PART_ROOTS && wait->roots[i].ns; i++)
		fprintf(out, "%s{\"rank\": %d, \"ns\": %" PRIu64 "}", i ? ", " : "", wait->roots[i].rank, wait->roots[i].ns);
	fputs("]}", out);
}

static void print_advice(FILE *out, const struct advice_list *advice)
{
	fputs(" \"advice\": [", out);
	for (uint32_t i = 0; i < advice->count; i++) {
		const struct advice *one = &advice->list[i];

		fputs(i ? ",\n  {" : "\n  {", out);
		json_write_text(out, "rule", one->rule);
		json_write_text(out, "text", one->text);
		fprintf(out, "\"rank\": %d, \"window\": %d, \"site\": %d, \"saves_ns\": %" PRIu64 "}", one->rank, one->window,
		        one->site, one->saves_ns);
	}
	fputs("]}\n", out);
}

/* ---- what is printed ---- */

enum list { WINDOWS, SITES, WAITS, LISTS };

static void (*const print_entry[LISTS])(FILE *, const struct profile *, uint32_t) = { print_window, print_site,
	                                                                                  print_wait };
static const char *const list_names[LISTS] = { "windows", "sites", "waits" };

struct choice {
	const struct profile *profile;
	uint32_t count[LISTS];
	bool *kept[LISTS]; /* by index: whether the entry is printed */
	FILE *scratch;     /* entries are printed here for their sizes */
	uint64_t bytes;    /* of all that is printed */
};

/* An entry, and those that it names, by list; PART_NONE: none. */
struct group {
	uint32_t index[LISTS];
};

struct ranked {
	uint64_t ns;
	uint32_t index;
};

static struct group group_of(const struct profile *profile, enum list list, uint32_t index)
{
	struct group group = { { PART_NONE, PART_NONE, PART_NONE } };
	uint32_t site;

	group.index[list] = index;
	if (list == WAITS)
		group.index[SITES] = profile->waits[index].site;
	site = group.index[SITES];
	if (site != PART_NONE && profile->sites[site].window >= 0)
		group.index[WINDOWS] = (uint32_t)profile->sites[site].window;
	return group;
}

static uint64_t ns_of(const struct profile *profile, enum list list, uint32_t index)
{
	if (list == WINDOWS)
		return profile->windows[index].in_calls_ns;
	return list == SITES ? profile->sites[index].ns : profile->waits[index].ns;
}

/* Returns how many bytes an entry adds. */
static uint64_t bytes_added(const struct choice *choice, enum list list, uint32_t index)
{
	if (index == PART_NONE || choice->kept[list][index])
		return 0;
	rewind(choice->scratch);
	print_entry[list](choice->scratch, choice->profile, index);
	return (uint64_t)ftello(choice->scratch) + strlen(",\n  ");
}

/* Returns false if there were more bytes then. */
static bool keep(struct choice *choice, struct group group, uint64_t most_bytes)
{
	uint64_t bytes = 0;

	for (enum list list = 0; list < LISTS; list++)
		bytes += bytes_added(choice, list, group.index[list]);
	if (choice->bytes + bytes > most_bytes)
		return false;
	choice->bytes += bytes;
	for (enum list list = 0; list < LISTS; list++) {
		if (group.index[list] != PART_NONE)
			choice->kept[list][group.index[list]] = true;
	}
	return true;
}

static int compare_times(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return (left->index > right->index) - (left->index < right->index);
}

/* Keeps the entries that took longest, as far as there is room. */
static void keep_longest(struct choice *choice, enum list list, uint64_t most_bytes)
{
	uint32_t count = choice->count[list];
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		program_fail("out of memory");
	for (uint32_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ ns_of(choice->profile, list, i), i };
	qsort(ranked, count, sizeof(*ranked), compare_times);
	for (uint32_t i = 0; i < count && keep(choice, group_of(choice->profile, list, ranked[i].index), most_bytes); i++)
		;
	free(ranked);
}

static void keep_advised(struct choice *choice, const struct advice_list *advice)
{
	for (uint32_t i = 0; i < advice->count; i++) {
		if (advice->list[i].site >= 0)
			keep(choice, group_of(choice->profile, SITES, (uint32_t)advice->list[i].site), UINT64_MAX);
	}
	rewind(choice->scratch);
	print_advice(choice->scratch, advice);
	choice->bytes += (uint64_t)ftello(choice->scratch) + HEAD_BYTES;
}

static void choose(struct choice *choice, const struct advice_list *advice, uint64_t most_bytes)
{
	char *text = NULL;
	size_t bytes;

	choice->scratch = open_memstream(&text, &bytes);
	for (enum list list = 0; list < LISTS; list++) {
		choice->kept[list] = calloc(choice->count[list] + 1, sizeof(bool));
		if (!choice->scratch || !choice->kept[list])
			program_fail("out of memory");
	}
	keep_advised(choice, advice);
	keep_longest(choice, WAITS, most_bytes / 2);
	keep_longest(choice, SITES, most_bytes);
	keep_longest(choice, WAITS, most_bytes);
	keep_longest(choice, WINDOWS, most_bytes);
	fclose(choice->scratch);
	free(text);
}

/* ---- all of it ---- */

static void print_list(FILE *out, const struct choice *choice, enum list list)
{
	bool any = false;

	fprintf(out, " \"%s\": [", list_names[list]);
	for (uint32_t i = 0; i < choice->count[list]; i++) {
		if (!choice->kept[list][i])
			continue;
		fputs(any ? ",\n  " : "\n  ", out);
		print_entry[list](out, choice->profile, i);
		any = true;
	}
	fputs("],\n", out);
}

static struct json_left_out count_left_out(const struct choice *choice)
{
	struct json_left_out left_out = { 0 };
	uint32_t *counts[LISTS] = { &left_out.windows, &left_out.sites, &left_out.waits };
	uint64_t *times[LISTS] = { &left_out.windows_ns, &left_out.sites_ns, &left_out.waits_ns };

	for (enum list list = 0; list < LISTS; list++) {
		for (uint32_t i = 0; i < choice->count[list]; i++) {
			if (choice->kept[list][i])
				continue;
			++*counts[list];
			*times[list] += ns_of(choice->profile, list, i);
		}
	}
	return left_out;
}

static void print_head(FILE *out, const struct profile *profile, const struct json_left_out *left_out)
{
	fprintf(out,
	        "{\"schema\": \"oriel-profile/1\", \"ranks\": %d, \"seconds\": %.6f, \"clock_error_ns\": %" PRIu64
	        ", \"lost\": %" PRIu64 ",\n",
	        profile->size, profile->seconds, profile->clock_error_ns, profile->lost);
	fprintf(out,
	        " \"left_out\": {\"windows\": %u, \"windows_ns\": %" PRIu64 ", \"sites\": %u, \"sites_ns\": %" PRIu64
	        ", \"waits\": %u, \"waits_ns\": %" PRIu64 "},\n",
	        left_out->windows, left_out->windows_ns, left_out->sites, left_out->sites_ns, left_out->waits,
	        left_out->waits_ns);
}

struct json_left_out json_print(FILE *out, const struct profile *profile, const struct advice_list *advice,
                                uint64_t most_bytes)
{
	struct choice choice = { .profile = profile,
		                     .count = { profile->window_count, profile->site_count, profile->wait_count } };
	struct json_left_out left_out;

	choose(&choice, advice, most_bytes);
	left_out = count_left_out(&choice);
	print_head(out, profile, &left_out);
	for (enum list list = 0; list < LISTS; list++) {
		print_list(out, &choice, list);
		free(choice.kept[list]);
	}
	print_advice(out, advice);
	return left_out;
}
