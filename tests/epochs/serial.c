// SPDX-License-Identifier: BSD-2-Clause
/* serial.c - see serial.h. */
#include "serial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
	uint8_t bytes[ELEMENT_LARGEST];
	int balance; /* edges that go out, without those that come in */
	int root;    /* of those that hang together; its own place: itself */
};

struct values {
	struct value *list;
	int count;
};

static int place_of(struct values *values, const uint8_t bytes[ELEMENT_LARGEST])
{
	int at = 0;

	while (at < values->count && memcmp(values->list[at].bytes, bytes, ELEMENT_LARGEST) != 0)
		at++;
	if (at == values->count) {
		memcpy(values->list[at].bytes, bytes, ELEMENT_LARGEST);
		values->list[at].balance = 0;
		values->list[at].root = at;
		values->count++;
	}
	return at;
}

static int root_of(const struct values *values, int at)
{
	while (values->list[at].root != at)
		at = values->list[at].root;
	return at;
}

static void draw(struct values *values, const uint8_t from[ELEMENT_LARGEST], const uint8_t to[ELEMENT_LARGEST])
{
	int a = place_of(values, from), b = place_of(values, to);

	values->list[a].balance++;
	values->list[b].balance--;
	values->list[root_of(values, a)].root = root_of(values, b);
}

bool serial_order_exists(const struct serial_edge *edges, int count, const uint8_t first[ELEMENT_LARGEST],
                         const uint8_t last[ELEMENT_LARGEST])
{
	struct values values = { calloc((size_t)(2 * count + 2), sizeof(struct value)), 0 };
	bool exists = true;

	if (!values.list) {
		perror("epochs: serial");
		exit(1);
	}
	for (int i = 0; i < count; i++)
		draw(&values, edges[i].from, edges[i].to);
	draw(&values, last, first); /* closes the line to a circle */
	for (int i = 0; i < values.count; i++)
		exists &= values.list[i].balance == 0 && root_of(&values, i) == root_of(&values, 0);
	free(values.list);
	return exists;
}
