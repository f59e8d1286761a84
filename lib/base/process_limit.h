// SPDX-License-Identifier: BSD-2-Clause
/* process_limit.h - which limit keeps processes and threads from being started */
#ifndef ORIEL_PROCESS_LIMIT_H
#define ORIEL_PROCESS_LIMIT_H

#include <stddef.h>

#define PROCESS_LIMIT_TEXT_BYTES 256

/*
 * Writes the text of an error of fork or pthread_create. For EAGAIN it names the limit that was
 * met: that of a control group, of this user, or of the system.
 */
void process_limit_text(int error, char *text, size_t text_bytes);

#endif
