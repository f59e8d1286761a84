// SPDX-License-Identifier: BSD-2-Clause
/* pmi_line.c - see pmi_line.h. */
#include "client/pmi_line.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the beginning of a field's value, or NULL. */
static const char *find_field(const char *line, const char *name)
{
	size_t length = strlen(name);

	while (*line) {
		line += strspn(line, " ");
		if (strncmp(line, name, length) == 0 && line[length] == '=')
			return line + length + 1;
		line += strcspn(line, " ");
	}
	return NULL;
}

bool pmi_field(const char *line, const char *name, char *value, size_t room)
{
	const char *found = find_field(line, name);
	size_t length = found ? strcspn(found, " ") : 0;
	bool fits = found && length < room;

	if (fits)
		memcpy(value, found, length);
	value[fits ? length : 0] = '\0';
	return fits;
}

bool pmi_number(const char *line, const char *name, int *value)
{
	char text[16], *end;
	long number;

	if (!pmi_field(line, name, text, sizeof(text)))
		return false;
	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end || errno || number < 0 || number > INT_MAX)
		return false;
	*value = (int)number;
	return true;
}

bool pmi_is(const char *line, const char *cmd)
{
	char found[32];

	return pmi_field(line, "cmd", found, sizeof(found)) && strcmp(found, cmd) == 0;
}

bool pmi_failed(const char *line)
{
	char code[16];

	return find_field(line, "rc") && !(pmi_field(line, "rc", code, sizeof(code)) && strcmp(code, "0") == 0);
}

void pmi_write_hex(const uint8_t *bytes, size_t size_bytes, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size_bytes; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int pmi_read_hex(const char *text, uint8_t *bytes, size_t room)
{
	size_t length = strlen(text);

	if (length % 2 || length / 2 > room)
		return -1;
	for (size_t i = 0; i < length / 2; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return (int)(length / 2);
}

/* Deals nodes out to ranks, and counts the ranks on one node. */
struct deal {
	const char *at; /* the next block */
	int next;       /* the first rank without a node */
	int size;
	int node; /* its ranks are counted; -1: the node of `rank` is not known yet */
	int rank;
	int count;
};

static void deal_node(struct deal *deal, int node, int places)
{
	int end = places < deal->size - deal->next ? deal->next + places : deal->size;

	if (deal->rank >= deal->next && deal->rank < end)
		deal->node = node;
	if (deal->node == node)
		deal->count += end - deal->next;
	deal->next = end;
}

/* Returns false if no block follows. */
static bool deal_block(struct deal *deal)
{
	int first, nodes, places, used = 0;

	if (sscanf(deal->at, ",(%d,%d,%d)%n", &first, &nodes, &places, &used) < 3 || used == 0 || first < 0 || nodes < 1 ||
	    places < 1 || first > INT_MAX - nodes)
		return false;
	deal->at += used;
	for (int i = 0; i < nodes && deal->next < deal->size; i++)
		deal_node(deal, first + i, places);
	return true;
}

/* Returns false if the text is wrong. */
static bool deal_round(struct deal *deal, const char *blocks)
{
	int before = deal->next;

	deal->at = blocks;
	while (deal_block(deal))
		continue;
	return strcmp(deal->at, ")") == 0 && deal->next > before;
}

static bool deal_all(struct deal *deal, const char *blocks)
{
	deal->next = 0;
	deal->count = 0;
	while (deal->next < deal->size)
		if (!deal_round(deal, blocks))
			return false;
	return true;
}

int pmi_local_size(const char *mapping, int rank, int size)
{
	static const char head[] = "(vector";
	struct deal deal = { .size = size, .rank = rank, .node = -1 };
	const char *blocks = mapping + strlen(head);

	if (strncmp(mapping, head, strlen(head)) != 0 || !deal_all(&deal, blocks))
		return 0;
	deal_all(&deal, blocks); /* again: the node is known now, so its earlier ranks count too */
	return deal.count;
}
