// SPDX-License-Identifier: BSD-2-Clause
/* json.c - see json.h. */
#include "bench/json.h"

#include <errno.h>
#include <string.h>

#include "bench/options.h"

/* Writes a JSON string. Only file and device names could contain control characters. */
static void json_text(FILE *f, const char *name, const char *text)
{
	fprintf(f, "\"%s\":\"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(f, "\\u%04x", *text);
		else
			fputc(*text, f);
	}
	fprintf(f, "\",");
}

/* Writes a number, or null if it was not given. */
static void json_given(FILE *f, const char *name, long value)
{
	if (value < 0)
		fprintf(f, "\"%s\":null,", name);
	else
		fprintf(f, "\"%s\":%ld,", name, value);
}

static void json_options(FILE *f, const struct perf_options *o)
{
	fprintf(f, "\"options\":{\"iterations\":%ld,\"duration_s\":%.9g,\"margin_s\":%.9g,\"depth\":%ld,\"neighbours\":%d,",
	        o->iterations, o->duration_s, o->margin_s, o->depth, o->neighbours);
	json_text(f, "shape", o->shape == SHAPE_OSU ? "osu" : "isolated");
	json_text(f, "post", o->post_late ? "late" : "early");
	json_text(f, "target", o->outside ? "outside" : "waiting");
	json_given(f, "signal_every", o->signal_every);
	json_given(f, "inline_bytes", o->inline_bytes);
	json_given(f, "post_list", o->post_list);
	json_text(f, "type", type_name(o->type));
	fprintf(f, "\"align_bytes\":%zu,\"check\":%s},", o->align_bytes, o->check ? "true" : "false");
}

FILE *json_begin(const char *tool, const char *by, const struct perf_options *options, const struct perf_place *place,
                 int *failed)
{
	FILE *f;

	*failed = 0;
	if (!options->json_file)
		return NULL;
	f = fopen(options->json_file, "w");
	if (!f) {
		fprintf(stderr, "%s_%s: %s: %s\n", by, tool, options->json_file, strerror(errno));
		*failed = 1;
		return NULL;
	}
	fprintf(f, "{");
	json_text(f, "tool", tool);
	json_text(f, "backend", by);
	json_text(f, "device", place->device);
	json_text(f, "sync", sync_name(options->sync));
	json_text(f, "window", window_name(options->window));
	json_text(f, "memory", memory_name(options->memory));
	fprintf(f, "\"ranks\":%d,", place->size);
	json_options(f, options);
	fprintf(f, "\"rows\":[");
	return f;
}

int json_end(FILE *f, const struct perf_options *options)
{
	int failed;

	fprintf(f, "\n]}\n");
	failed = ferror(f);
	if (fclose(f) == 0 && !failed)
		return 0;
	fprintf(stderr, "%s: %s\n", options->json_file, strerror(errno));
	return 1;
}
