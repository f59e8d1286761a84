// SPDX-License-Identifier: BSD-2-Clause
/* place.c - places that call, and windows, in words; see judge.h */
#include <inttypes.h>
#include <string.h>

#include "check/judge/judge.h"
#include "see/json_text.h"
#include "see/report/window_number.h"

static struct judge_site *site_of(const struct job_traces *traces, uint32_t index)
{
	struct judge_site *site = index < traces->site_count ? &traces->sites[index] : NULL;

	if (site && !site->is_found) {
		site->is_found = true;
		if (site->object[0])
			source_find(site->object, site->offset - 1, &site->place); /* the call's last byte */
	}
	return site;
}

const char *place_text(const struct job_traces *traces, uint32_t index, char text[PLACE_TEXT_BYTES])
{
	const struct judge_site *site = site_of(traces, index);
	const char *slash = site ? strrchr(site->object, '/') : NULL;

	if (!site || !site->object[0])
		snprintf(text, PLACE_TEXT_BYTES, "a place that is not known");
	else if (site->place.file[0])
		snprintf(text, PLACE_TEXT_BYTES, "%s:%d", site->place.file, site->place.line);
	else
		snprintf(text, PLACE_TEXT_BYTES, "%.100s+0x%" PRIx64, slash ? slash + 1 : site->object, site->offset);
	return text;
}

bool place_is_same(const struct job_traces *traces, uint32_t a, uint32_t b)
{
	const struct judge_site *left, *right;

	if (a == b)
		return true;
	left = site_of(traces, a);
	right = site_of(traces, b);
	return left && right && left->place.line > 0 && left->place.line == right->place.line &&
	       strcmp(left->place.file, right->place.file) == 0 && strcmp(left->call, right->call) == 0 &&
	       strcmp(left->object, right->object) == 0;
}

const char *place_call(const struct job_traces *traces, uint32_t index)
{
	return index < traces->site_count ? traces->sites[index].call : "a call";
}

void place_print_function(FILE *out, const struct job_traces *traces, uint32_t index)
{
	const struct judge_site *site = site_of(traces, index);

	if (site && site->place.function[0])
		fprintf(out, " (%s)", site->place.function);
}

void place_print_json(FILE *out, const struct job_traces *traces, uint32_t index)
{
	static const struct judge_site unknown = { .object = "" };
	const struct judge_site *site = site_of(traces, index);

	if (!site)
		site = &unknown;
	json_write_text(out, "call", site->call);
	json_write_text(out, "object", site->object);
	json_write_text(out, "file", site->place.file);
	json_write_text(out, "function", site->place.function);
	fprintf(out, "\"offset\": %" PRIu64 ", \"line\": %d", site->offset, site->place.line);
}

const char *window_text(const struct judge_window *window, char text[PLACE_TEXT_BYTES])
{
	char number[WINDOW_NUMBER_BYTES];

	if (window->name[0])
		snprintf(text, PLACE_TEXT_BYTES, "window \"%.60s\"", window->name);
	else
		snprintf(text, PLACE_TEXT_BYTES, "window %s", window_number(window->number, number));
	return text;
}
