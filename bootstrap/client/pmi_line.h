// SPDX-License-Identifier: BSD-2-Clause
/*
 * pmi_line.h - the lines of PMI-1, as pure functions
 *
 * A line is fields NAME=VALUE with blanks between them. Which fields an answer has, and in which
 * order, differs from launcher to launcher, so they are found by name. Values have no blanks; what
 * is stored is therefore written in hexadecimal digits.
 */
#ifndef ORIEL_CLIENT_PMI_LINE_H
#define ORIEL_CLIENT_PMI_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copy a field's value. False, and "", if the line has no such field, or its value does not fit. */
bool pmi_field(const char *line, const char *name, char *value, size_t room);

/* The same for a number from 0 to INT_MAX. */
bool pmi_number(const char *line, const char *name, int *value);

/* Whether field cmd is this. */
bool pmi_is(const char *line, const char *cmd);

/* Whether it says that something went wrong: a field rc that is there, and not 0. */
bool pmi_failed(const char *line);

/* Bytes as hexadecimal digits; text has room for two a byte and a 0. */
void pmi_write_hex(const uint8_t *bytes, size_t size_bytes, char *text);

/* And back. The number of bytes, or -1 if the text is something else, or longer than room. */
int pmi_read_hex(const char *text, uint8_t *bytes, size_t room);

/*
 * How many of a job's `size` ranks are on the node of `rank`, by the launcher's text
 * "(vector,(first node,nodes,ranks a node),...)": blocks, dealt out again from the first one if
 * ranks are left. 0 if the text is something else.
 */
int pmi_local_size(const char *mapping, int rank, int size);

#endif
