// SPDX-License-Identifier: BSD-2-Clause
/*
 * root.c - see root.h
 *
 * A node is a rank that has a row, or that a row names. The chain printed for a root begins at the
 * rank farthest from it. A stopped rank is a root.
 */
#include "see/top/root.h"
#include "see/report/program.h"

#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

enum mark { UNVISITED, ON_THE_WAY, LEFT };

struct node {
	int rank;
	const struct row *row; /* its first; NULL: the rank was not seen */
	size_t rows;
	size_t next;  /* towards the root, or NONE */
	size_t depth; /* of the way to the root; NONE: not reached */
	enum mark mark;
};

struct graph {
	struct node *node;
	size_t count;
	size_t *queue; /* for a search */
};

static int by_rank(const void *a, const void *b)
{
	const struct node *left = a, *right = b;

	return (left->rank > right->rank) - (left->rank < right->rank);
}

static struct node *find(const struct graph *graph, int rank)
{
	struct node key = { .rank = rank };

	return bsearch(&key, graph->node, graph->count, sizeof(key), by_rank);
}

/* Rows are sorted by rank, and so are the nodes. */
static void add_nodes(struct graph *graph, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || rows[i].rank != rows[i - 1].rank)
			graph->node[graph->count++] = (struct node){ .rank = rows[i].rank, .row = &rows[i] };
		graph->node[graph->count - 1].rows++;
	}
}

/* Adds the awaited ranks that have no row. */
static void add_awaited(struct graph *graph, const struct row *rows, size_t count)
{
	size_t kept = 0, seen = graph->count, all = seen;

	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < rows[i].rank_count; k++) {
			if (!find(graph, rows[i].ranks[k]))
				graph->node[all++] = (struct node){ .rank = rows[i].ranks[k] };
		}
	}
	graph->count = all;
	qsort(graph->node, all, sizeof(*graph->node), by_rank);
	for (size_t i = 1; i < all; i++) {
		if (graph->node[i].rank != graph->node[kept].rank)
			graph->node[++kept] = graph->node[i];
	}
	graph->count = all ? kept + 1 : 0;
}

static bool open_graph(struct graph *graph, const struct row *rows, size_t count)
{
	size_t most = count * (BOARD_RANKS + 1);

	*graph = (struct graph){ .node = calloc(most, sizeof(*graph->node)), .queue = calloc(most, sizeof(size_t)) };
	if (!graph->node || !graph->queue)
		program_fail("out of memory");
	add_nodes(graph, rows, count);
	add_awaited(graph, rows, count);
	return graph->count > 0;
}

/* Any rank may send a signal, so no rank is to blame. */
static uint32_t edges(const struct row *row)
{
	return row->cause == CAUSE_SIGNAL ? 0 : row->rank_count;
}

static bool waits_for(const struct node *node, int rank)
{
	for (size_t i = 0; i < node->rows; i++) {
		for (uint32_t k = 0; k < edges(&node->row[i]); k++) {
			if (node->row[i].ranks[k] == rank)
				return true;
		}
	}
	return false;
}

static bool is_root(const struct node *node)
{
	if (!node->row || row_is_stopped(node->row))
		return true;
	for (size_t i = 0; i < node->rows; i++) {
		if (edges(&node->row[i]) > 0)
			return false;
	}
	return true;
}

/* Walks against the arrows from a root. Returns the deepest node. */
static size_t search(struct graph *graph, size_t root)
{
	size_t first = 0, last = 0;

	for (size_t i = 0; i < graph->count; i++)
		graph->node[i].depth = NONE;
	graph->node[root].depth = 0;
	graph->node[root].next = NONE;
	graph->queue[last++] = root;
	while (first < last) {
		size_t to = graph->queue[first++];

		for (size_t i = 0; i < graph->count; i++) {
			struct node *from = &graph->node[i];

			if (from->depth != NONE || is_root(from) || !waits_for(from, graph->node[to].rank))
				continue;
			from->depth = graph->node[to].depth + 1;
			from->next = to;
			graph->queue[last++] = i;
		}
	}
	return graph->queue[last - 1];
}

static void print_chain(FILE *out, const struct graph *graph, size_t from)
{
	size_t length = graph->node[from].depth;

	for (size_t at = from; at != NONE; at = graph->node[at].next) {
		size_t left = graph->node[at].depth;

		if (length > CHAIN_SHOWN && left > 3 && length - left > 3)
			continue;
		if (length > CHAIN_SHOWN && left == 3)
			fputs("... -> ", out);
		fprintf(out, "%d%s", graph->node[at].rank, left ? " -> " : ": ");
	}
}

static void print_root(FILE *out, const struct node *root)
{
	const struct row *row = root->row;

	if (!row)
		fprintf(out, "rank %d was not seen: it runs on another machine, or has ended", root->rank);
	else if (row_is_stopped(row))
		fprintf(out, "rank %d is stopped (kill -CONT %d lets it go on)", root->rank, row->pid);
	else if (row->cause == CAUSE_SIGNAL)
		fprintf(out, "rank %d waits for a signal, which any rank may send", root->rank);
	else if (row->cause == CAUSE_LOCK)
		fprintf(out, "rank %d waits for the lock of rank %d, whose holder is not known here", root->rank, row->lock_of);
	else if (row->cause == CAUSE_OUTSIDE)
		fprintf(out, "rank %d is in %s, outside of Oriel", root->rank, row->call);
	else if (row_waits(row))
		fprintf(out, "rank %d waits in %s for what no rank is named for", root->rank, row->call);
	else
		fprintf(out, "rank %d waits for nobody", root->rank);
	fputs("; begin there\n", out);
}

/* For which no other rank waits. */
static bool is_shown_alone(const struct row *row)
{
	return row && (row_is_stopped(row) || (row_waits(row) && row->cause != CAUSE_OUTSIDE));
}

static bool print_roots(FILE *out, struct graph *graph)
{
	bool any = false;

	for (size_t i = 0; i < graph->count; i++) {
		const struct node *node = &graph->node[i];
		size_t deepest;

		if (!is_root(node))
			continue;
		deepest = search(graph, i);
		if (deepest == i && !is_shown_alone(node->row))
			continue;
		if (deepest != i)
			print_chain(out, graph, deepest);
		print_root(out, node);
		any = true;
	}
	return any;
}

/* Returns the next node that this one waits for, behind *at; or NONE. */
static size_t next_edge(const struct graph *graph, const struct node *node, size_t *at)
{
	size_t skip = *at;

	for (size_t i = 0; i < node->rows && !is_root(node); i++) {
		if (skip < edges(&node->row[i])) {
			++*at;
			return (size_t)(find(graph, node->row[i].ranks[skip]) - graph->node);
		}
		skip -= edges(&node->row[i]);
	}
	return NONE;
}

static void print_circle(FILE *out, const struct graph *graph, const size_t *way, size_t length)
{
	const int first = graph->node[way[0]].rank;

	for (size_t i = 0; i < length; i++)
		fprintf(out, "%d -> ", graph->node[way[i]].rank);
	if (length == 1)
		fprintf(out, "%d: rank %d waits for itself; begin there\n", first, first);
	else
		fprintf(out, "%d: a circle, in which each waits for the next\n", first);
}

/* Walks along the arrows from a node, and prints the first circle. */
static bool find_circle(FILE *out, struct graph *graph, size_t from)
{
	size_t length = 0;

	graph->queue[length++] = from;
	graph->node[from].depth = 0; /* here: how many edges have been followed */
	graph->node[from].mark = ON_THE_WAY;
	while (length > 0) {
		struct node *node = &graph->node[graph->queue[length - 1]];
		size_t to = next_edge(graph, node, &node->depth), start = length;

		if (to == NONE) {
			node->mark = LEFT;
			length--;
		} else if (graph->node[to].mark == ON_THE_WAY) {
			while (graph->queue[start - 1] != to)
				start--;
			print_circle(out, graph, graph->queue + start - 1, length - start + 1);
			return true;
		} else if (graph->node[to].mark == UNVISITED) {
			graph->node[to].mark = ON_THE_WAY;
			graph->node[to].depth = 0;
			graph->queue[length++] = to;
		}
	}
	return false;
}

static bool print_circles(FILE *out, struct graph *graph)
{
	bool any = false;

	for (size_t i = 0; i < graph->count && !any; i++) {
		if (graph->node[i].mark == UNVISITED)
			any = find_circle(out, graph, i);
	}
	return any;
}

void root_print(FILE *out, const struct row *rows, size_t count)
{
	struct graph graph;
	bool any;

	if (!open_graph(&graph, rows, count))
		return;
	any = print_roots(out, &graph);
	if (print_circles(out, &graph))
		any = true;
	if (!any)
		fputs("no rank waits\n", out);
	free(graph.node);
	free(graph.queue);
}
