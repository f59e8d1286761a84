// SPDX-License-Identifier: BSD-2-Clause
/* info_child.h - for oriel-info: questions that a child process answers, or is the object of */
#ifndef ORIEL_INFO_CHILD_H
#define ORIEL_INFO_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Has a child process write its answer to text, without a line's end: what it crashes, prints or
 * leaves behind stays with it. An empty text: it has no answer, or none in time. To be called while
 * this process has one thread.
 */
void child_answer(void (*write_answer)(const void *arg, char *text, size_t text_bytes), const void *arg, char *text,
                  size_t text_bytes);

/* Starts a child process that waits. Returns its number, or -1. */
pid_t child_start(void);

void child_end(pid_t child);

#endif
