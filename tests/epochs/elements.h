// SPDX-License-Identifier: BSD-2-Clause
/*
 * elements.h - what accumulates have to compute: the test's own, written apart from the library's
 *
 * Values are small where sums and products of them could otherwise differ by how they are rounded.
 * long double and its kin are left out: what their unused bytes hold afterwards is not defined. Of
 * the 128-bit types the real one stands for both.
 */
#ifndef ORIEL_TESTS_EPOCHS_ELEMENTS_H
#define ORIEL_TESTS_EPOCHS_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oriel.h"
#include "random.h"

#define ELEMENT_LARGEST 16

enum oriel_type elements_some_type(struct rng *rng);
size_t elements_bytes(enum oriel_type type);

/* Integers and bool: whatever bytes there are have a value, and can be compared. */
bool elements_are_whole(enum oriel_type type);

/* There are bytes between its fields: they stay as they are. */
bool elements_are_padded(enum oriel_type type);

/* One that is defined for the type; nothing but replace where `fresh` memory may hold no number. */
enum oriel_op elements_some_op(struct rng *rng, enum oriel_type type, bool fresh, bool reads);

/* One whose order with others of its kind does not matter. */
enum oriel_op elements_some_shared_op(struct rng *rng, enum oriel_type type);

void elements_fill(enum oriel_type type, uint8_t *to, size_t size_bytes, uint64_t seed);

/* One element. */
void elements_apply(enum oriel_type type, enum oriel_op op, uint8_t *target, const uint8_t *origin);

#endif
