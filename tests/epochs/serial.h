// SPDX-License-Identifier: BSD-2-Clause
/*
 * serial.h - whether some order of atomic operations explains what was seen of an element
 *
 * An operation that saw the element as `from` has made it `to`: an edge from the one value to the
 * other. There is an order iff the edges can be drawn in one line from the first content to the
 * last: at every other value as many edges come in as go out, and all edges hang together. Two
 * operations that have seen the same value, which no operation has brought back, are thereby found
 * out.
 */
#ifndef ORIEL_TESTS_EPOCHS_SERIAL_H
#define ORIEL_TESTS_EPOCHS_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "elements.h"

struct serial_edge {
	uint8_t from[ELEMENT_LARGEST]; /* bytes behind the element are 0 */
	uint8_t to[ELEMENT_LARGEST];
};

bool serial_order_exists(const struct serial_edge *edges, int count, const uint8_t first[ELEMENT_LARGEST],
                         const uint8_t last[ELEMENT_LARGEST]);

#endif
