// SPDX-License-Identifier: BSD-2-Clause
/* See profile.h. Programs read this: fields may be added, none changed. Times are in ns. */
#include <inttypes.h>

#include "see/json_text.h"
#include "see/report/advice.h"
#include "see/report/profile.h"

static const char *before(uint32_t i)
{
	return i ? ",\n  " : "\n  ";
}

static void print_windows(FILE *out, const struct profile *profile)
{
	fputs(" \"windows\": [", out);
	for (uint32_t i = 0; i < profile->window_count; i++) {
		const struct profile_window *window = &profile->windows[i];

		fprintf(out, "%s{\"id\": %u, ", before(i), i);
		json_write_text(out, "name", window->name);
		json_write_text(out, "kind", window->kind);
		fprintf(out, "\"in_calls_ns\": %" PRIu64 ", \"waits_ns\": %" PRIu64 ", \"library_ns\": %" PRIu64 "}",
		        window->in_calls_ns, window->waits_ns,
		        window->in_calls_ns > window->waits_ns ? window->in_calls_ns - window->waits_ns : 0);
	}
	fputs("],\n", out);
}

static void print_build_id(FILE *out, const struct profile_site *site)
{
	fputs("\"build_id\": \"", out);
	for (uint32_t i = 0; i < site->build_id_bytes; i++)
		fprintf(out, "%02x", site->build_id[i]);
	fputs("\", ", out);
}

static void print_site(FILE *out, uint32_t id, const struct profile_site *site)
{
	int last = PART_SIZES - 1;

	while (last >= 0 && site->sizes[last] == 0)
		last--;
	fprintf(out, "%s{\"id\": %u, \"window\": %d, \"rank\": %d, ", before(id), id, site->window, site->rank);
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

static void print_sites(FILE *out, const struct profile *profile)
{
	fputs(" \"sites\": [", out);
	for (uint32_t i = 0; i < profile->site_count; i++)
		print_site(out, i, &profile->sites[i]);
	fputs("],\n", out);
}

static void print_roots(FILE *out, const struct profile_wait *wait)
{
	for (int i = 0; i < PART_ROOTS && wait->roots[i].ns; i++)
		fprintf(out, "%s{\"rank\": %d, \"ns\": %" PRIu64 "}", i ? ", " : "", wait->roots[i].rank, wait->roots[i].ns);
	fputs("]}", out);
}

static void print_waits(FILE *out, const struct profile *profile)
{
	fputs(" \"waits\": [", out);
	for (uint32_t i = 0; i < profile->wait_count; i++) {
		const struct profile_wait *wait = &profile->waits[i];

		fprintf(out, "%s{\"window\": %d, \"site\": %u, \"waiter\": %d, \"culprit\": %d, \"cause\": \"%s\", ", before(i),
		        profile->sites[wait->site].window, wait->site, profile->sites[wait->site].rank, wait->culprit,
		        cause_names[wait->cause]);
		fprintf(out, "\"ns\": %" PRIu64 ", \"count\": %" PRIu64 ", \"max_ns\": %" PRIu64 ", \"root\": [", wait->ns,
		        wait->count, wait->max_ns);
		print_roots(out, wait);
	}
	fputs("],\n", out);
}

static void print_advice(FILE *out, const struct advice_list *advice)
{
	fputs(" \"advice\": [", out);
	for (uint32_t i = 0; i < advice->count; i++) {
		const struct advice *one = &advice->list[i];

		fputs(before(i), out);
		fputc('{', out);
		json_write_text(out, "rule", one->rule);
		json_write_text(out, "text", one->text);
		fprintf(out, "\"rank\": %d, \"window\": %d, \"site\": %d, \"saves_ns\": %" PRIu64 "}", one->rank, one->window,
		        one->site, one->saves_ns);
	}
	fputs("]}\n", out);
}

void json_print(FILE *out, const struct profile *profile, const struct advice_list *advice)
{
	fprintf(out,
	        "{\"schema\": \"oriel-profile/1\", \"ranks\": %d, \"seconds\": %.6f, \"clock_error_ns\": %" PRIu64
	        ", \"lost\": %" PRIu64 ",\n",
	        profile->size, profile->seconds, profile->clock_error_ns, profile->lost);
	print_windows(out, profile);
	print_sites(out, profile);
	print_waits(out, profile);
	print_advice(out, advice);
}
