// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmi_line.h - the lines of PMI-1, as pure functions
 *
 * A line is fields NAME=VALUE, separated by blanks. Their order differs between launchers. Values
 * have no blanks, so stored bytes are hexadecimal digits.
 */
#ifndef ORIEL_CLIENT_PMI_LINE_H
#define ORIEL_CLIENT_PMI_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies a field's value. Returns false, and "", if it is missing or does not fit. */
bool pmi_field(const char *line, const char *name, char *value, size_t room);

/* Like pmi_field, for a number from 0 to INT_MAX. */
bool pmi_number(const char *line, const char *name, int *value);

/* Returns whether field cmd has this value. */
bool pmi_is(const char *line, const char *cmd);

/* Returns whether field rc is not 0. */
bool pmi_failed(const char *line);

/* text has room for two digits per byte and a 0. */
void pmi_write_hex(const uint8_t *bytes, size_t size_bytes, char *text);

/* Returns the number of bytes, or -1 if text is not hexadecimal or longer than room. */
int pmi_read_hex(const char *text, uint8_t *bytes, size_t room);

/*
 * Returns how many of a job's `size` ranks are on the node of `rank`, from the launcher's text
 * "(vector,(first node,nodes,ranks a node),...)": blocks, repeated from the first one if ranks are
 * left. Returns 0 for other text.
 */
int pmi_local_size(const char *mapping, int rank, int size);

#endif
