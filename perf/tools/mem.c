// SPDX-License-Identifier: BSD-2-Clause
/*
 * mem.c - oriel_mem: a rank's memory: its base, and for each peer, window, and window and peer
 *
 * Each row is what one step added: joining, contact with every rank, creating windows, an epoch
 * with all ranks on each window. "library" and "registered" are from oriel_usage; "resident" is the
 * process's, with the device's part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/solo.h"

static const struct tool mem_tool = {
	.name = "mem",
	.what =
		"Memory that a rank needs for itself, for each peer, for each window (-n of them), and for each pair of them.",
	.kind = TOOL_LATENCY,
	.sync = SYNC_PSCW,
	.size_bytes = 8,
	.iterations = 100,
	.refuses = "-s -a --sizes -D -f -t -l -Q -I -q --neighbours -p -H -U -F -S -w -m --align --shape --post --target "
			   "--report_gbits -c --type",
};

static struct solo solo;
static uint64_t word;

struct level {
	size_t library_bytes;
	size_t registered_bytes;
	size_t resident_bytes;
	struct oriel_usage usage;
};

static size_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t whole, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%zu %zu", &whole, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static int look(struct level *level)
{
	struct oriel_usage *u = &level->usage;

	u->struct_bytes = sizeof(*u);
	if (oriel_usage(solo.job, u))
		return solo_fail("oriel_usage");
	level->library_bytes = u->base_bytes + u->peer_bytes + u->window_bytes + u->link_bytes;
	level->registered_bytes = u->registered_bytes;
	level->resident_bytes = resident_bytes();
	return 0;
}

static double each(size_t before, size_t after, size_t count)
{
	return ((double)after - (double)before) / (double)count;
}

/* Prints the cost of a step from one level to the next, for each of `count`. */
static void row(const char *what, size_t count, const struct level *from, const struct level *to)
{
	double library, registered, resident;

	if (solo.place.rank != 0 || count == 0)
		return;
	library = each(from->library_bytes, to->library_bytes, count);
	registered = each(from->registered_bytes, to->registered_bytes, count);
	resident = each(from->resident_bytes, to->resident_bytes, count);
	printf(" %-8s %8zu %14.0f %17.0f %15.0f\n", what, count, library, registered, resident);
	if (solo.json)
		fprintf(solo.json,
		        "%s\n{\"what\":\"%s\",\"count\":%zu,\"library_bytes\":%.1f,\"registered_bytes\":%.1f,"
		        "\"resident_bytes\":%.1f}",
		        solo.rows ? "," : "", what, count, library, registered, resident);
	solo.rows++;
}

static int make_windows(oriel_win *wins[], long count)
{
	for (long i = 0; i < count; i++) {
		if (oriel_win_create(&word, sizeof(word), 1, NULL, solo.world, &wins[i]))
			return solo_fail("oriel_win_create");
	}
	return 0;
}

static int free_windows(oriel_win *wins[], long count)
{
	for (long i = 0; i < count; i++) {
		if (oriel_win_free(&wins[i]))
			return solo_fail("oriel_win_free");
	}
	return 0;
}

static int epochs_with_all(oriel_win *wins[], long count)
{
	for (long i = 0; i < count; i++) {
		if (solo_epoch_with_all(&solo, wins[i], 0))
			return 1;
	}
	return 0;
}

static int run(oriel_win *wins[], long count)
{
	struct level none = { .library_bytes = 0 }, joined, reached, made, used;
	oriel_win *first;

	if (look(&joined) || oriel_win_create(&word, sizeof(word), 1, NULL, solo.world, &first))
		return solo_fail("oriel_win_create");
	if (solo_epoch_with_all(&solo, first, 0) || look(&reached) || make_windows(wins, count) || look(&made))
		return 1;
	if (epochs_with_all(wins, count) || look(&used))
		return 1;
	if (solo.place.rank == 0)
		printf(" each        count library[bytes] registered[bytes] resident[bytes]\n");
	row("rank", 1, &none, &joined);
	row("peer", reached.usage.peers - joined.usage.peers, &joined, &reached);
	row("window", (size_t)count, &reached, &made);
	row("link", used.usage.links - made.usage.links, &made, &used);
	return free_windows(wins, count) || (oriel_win_free(&first) ? solo_fail("oriel_win_free") : 0);
}

int main(int argc, char *argv[])
{
	int rc = solo_begin(&solo, &mem_tool, argc, argv);
	oriel_win **wins;

	if (rc)
		return rc - 1;
	wins = calloc((size_t)solo.options.iterations, sizeof(wins[0]));
	if (!wins)
		return fprintf(stderr, "oriel_mem: no memory for %ld windows\n", solo.options.iterations), 1;
	rc = run(wins, solo.options.iterations);
	free(wins);
	return rc ? rc : solo_end(&solo);
}
