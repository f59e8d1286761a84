// SPDX-License-Identifier: BSD-2-Clause
/* See table.h. */
#include "see/top/table.h"

#include <string.h>

#define FOR_SHOWN 4 /* ranks awaited that are printed */

static void print_since(FILE *out, uint64_t waited_ms)
{
	char text[32];

	if (waited_ms < 10000)
		snprintf(text, sizeof(text), "%llu ms", (unsigned long long)waited_ms);
	else
		snprintf(text, sizeof(text), "%llu s", (unsigned long long)waited_ms / 1000);
	fprintf(out, "  %8s", text);
}

static void print_ranks(FILE *out, const struct row *row)
{
	char text[80] = "-";
	size_t used = 0;

	for (uint32_t i = 0; i < row->rank_count && i < FOR_SHOWN && row->cause != CAUSE_SIGNAL; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i ? ", " : "", row->ranks[i]);
	if (used && (row->more_ranks || row->rank_count > FOR_SHOWN))
		snprintf(text + used, sizeof(text) - used, " ...");
	fprintf(out, "  %-8s", text);
}

static void print_epochs(FILE *out, uint32_t epochs)
{
	static const char *const names[] = { "access", "exposure", "fence", "lock", "lock_all" };
	const char *before = "  ";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(epochs & 1u << i))
			continue;
		fprintf(out, "%s%s", before, names[i]);
		before = ", ";
	}
}

static void print_wait(FILE *out, const struct row *row)
{
	fprintf(out, "%-22s  %-18s  %-20s", row->call, row->site[0] ? row->site : "-", row->window[0] ? row->window : "-");
	print_since(out, row->waited_ms);
	print_ranks(out, row);
	fprintf(out, "  %-15s", row_cause(row));
	print_epochs(out, row->epochs);
}

static void print_row(FILE *out, const struct row *row, bool with_host)
{
	fprintf(out, "%5d  %7d  %c  ", row->rank, row->pid, row->state);
	if (with_host)
		fprintf(out, "%-12s  ", row->host);
	if (row_waits(row))
		print_wait(out, row);
	else
		fputs("-  outside of Oriel, or not waiting", out);
	fputc('\n', out);
}

static bool on_several_hosts(const struct row *rows, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (strcmp(rows[i].host, rows[0].host) != 0)
			return true;
	}
	return false;
}

static int ranks_of(const struct row *rows, size_t count)
{
	int ranks = 1;

	for (size_t i = 1; i < count; i++)
		ranks += rows[i].rank != rows[i - 1].rank;
	return ranks;
}

void table_print(FILE *out, const struct row *rows, size_t count)
{
	bool with_host = on_several_hosts(rows, count);

	fprintf(out, "job %s: %d of %d ranks\n", rows->job, ranks_of(rows, count), rows->size);
	fprintf(out, "%5s  %7s  %c  ", "rank", "pid", 's');
	if (with_host)
		fprintf(out, "%-12s  ", "host");
	fprintf(out, "%-22s  %-18s  %-20s  %8s  %-8s  %-15s  %s\n", "waits in", "at", "window", "since", "for", "why", "open epochs");
	for (size_t i = 0; i < count; i++)
		print_row(out, &rows[i], with_host);
}
