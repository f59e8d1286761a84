// SPDX-License-Identifier: BSD-2-Clause
/*
 * lines.c - see lines.h
 *
 * A line is one object with the keys below, in this order. Texts are printable ASCII.
 */
#include "see/top/lines.h"

#include <stdlib.h>
#include <string.h>

#include "see/json_text.h"
#include "see/report/program.h"

#define LINE_BYTES 4096

void lines_write(FILE *out, const struct row *row)
{
	char state[2] = { row->state, '\0' };

	fputc('{', out);
	json_write_text(out, "job", row->job);
	json_write_text(out, "host", row->host);
	fprintf(out, "\"rank\": %d, \"size\": %d, \"pid\": %d, ", row->rank, row->size, row->pid);
	json_write_text(out, "state", state);
	json_write_text(out, "call", row->call);
	json_write_text(out, "at", row->site);
	json_write_text(out, "window", row->window);
	json_write_text(out, "cause", row_cause(row));
	fprintf(out, "\"waited_ms\": %llu, \"epochs\": %u, \"lock_of\": %d, \"more_ranks\": %d, \"for\": [",
	        (unsigned long long)row->waited_ms, row->epochs, row->lock_of, row->more_ranks);
	for (uint32_t i = 0; i < row->rank_count; i++)
		fprintf(out, "%s%d", i ? ", " : "", row->ranks[i]);
	fputs("]}\n", out);
}

/* The place up to which a line has been read; NULL: it was no row. */
struct reading {
	const char *at;
};

static void expect(struct reading *line, const char *text)
{
	size_t length = strlen(text);

	if (line->at)
		line->at = strncmp(line->at, text, length) == 0 ? line->at + length : NULL;
}

static void expect_key(struct reading *line, const char *key)
{
	expect(line, "\"");
	expect(line, key);
	expect(line, "\": ");
}

static void read_text(struct reading *line, const char *key, char *text, size_t text_bytes)
{
	size_t length = 0;

	expect_key(line, key);
	expect(line, "\"");
	while (line->at && *line->at != '"') {
		if (*line->at == '\\')
			line->at++;
		if (*line->at < ' ' || *line->at > '~' || length + 1 == text_bytes)
			line->at = NULL;
		else
			text[length++] = *line->at++;
	}
	text[length] = '\0';
	expect(line, "\", ");
}

static long long read_value(struct reading *line, long long least, long long most)
{
	char *end;
	long long value;

	if (!line->at)
		return least;
	value = strtoll(line->at, &end, 10);
	line->at = end > line->at && value >= least && value <= most ? end : NULL;
	return line->at ? value : least;
}

static long long read_number(struct reading *line, const char *key, long long least, long long most)
{
	long long value;

	expect_key(line, key);
	value = read_value(line, least, most);
	expect(line, ", ");
	return value;
}

static void read_cause(struct reading *line, struct row *row)
{
	char text[32];

	read_text(line, "cause", text, sizeof(text));
	while (row->cause < CAUSE_COUNT && strcmp(row_cause(row), text) != 0)
		row->cause++;
	if (row->cause == CAUSE_COUNT) {
		row->cause = CAUSE_UNKNOWN;
		line->at = NULL;
	}
}

static void read_ranks(struct reading *line, struct row *row)
{
	expect_key(line, "for");
	expect(line, "[");
	while (line->at && *line->at != ']' && row->rank_count < BOARD_RANKS) {
		if (row->rank_count > 0)
			expect(line, ", ");
		row->ranks[row->rank_count++] = (int)read_value(line, 0, row->size - 1);
	}
	expect(line, "]}");
}

bool lines_parse(const char *text, struct row *row)
{
	struct reading line = { text };
	char state[2];

	*row = (struct row){ .lock_of = -1 };
	expect(&line, "{");
	read_text(&line, "job", row->job, sizeof(row->job));
	read_text(&line, "host", row->host, sizeof(row->host));
	row->rank = (int)read_number(&line, "rank", 0, BOARD_RANK_MAX - 1);
	row->size = (int)read_number(&line, "size", row->rank + 1, BOARD_RANK_MAX);
	row->pid = (int)read_number(&line, "pid", 1, INT32_MAX);
	read_text(&line, "state", state, sizeof(state));
	row->state = state[0];
	read_text(&line, "call", row->call, sizeof(row->call));
	read_text(&line, "at", row->site, sizeof(row->site));
	read_text(&line, "window", row->window, sizeof(row->window));
	read_cause(&line, row);
	row->waited_ms = (uint64_t)read_number(&line, "waited_ms", 0, INT64_MAX);
	row->epochs = (uint32_t)read_number(&line, "epochs", 0, EPOCH_ANY);
	row->lock_of = (int)read_number(&line, "lock_of", -1, row->size - 1);
	row->more_ranks = read_number(&line, "more_ranks", 0, 1);
	read_ranks(&line, row);
	return line.at && (*line.at == '\n' || *line.at == '\0') && row->state;
}

void lines_read(FILE *in, struct rows *rows)
{
	char line[LINE_BYTES];
	struct row row;

	for (int number = 1; fgets(line, sizeof(line), in); number++) {
		if (!lines_parse(line, &row))
			program_fail("line %d of standard input was not written by oriel-top --json", number);
		*rows_add(rows) = row;
	}
	if (ferror(in))
		program_fail("standard input cannot be read");
}
