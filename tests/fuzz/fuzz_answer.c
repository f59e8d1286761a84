// SPDX-License-Identifier: BSD-2-Clause
/* fuzz_answer.c - answers of awaited ranks: what is sound can be printed, and is printable */
#include "see/answer.c"
#include "see/board.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rank_answer answer = { .version = 0 };
	struct asked asked = { 1, CAUSE_UNKNOWN, 1 };
	char text[ANSWER_TEXT_BYTES];

	memcpy(&answer, data, size < sizeof(answer) ? size : sizeof(answer));
	if (!answer_is_sound(&answer, 8))
		return 0;
	for (; asked.cause < CAUSE_COUNT; asked.cause++) {
		for (const char *at = answer_text(&answer, &asked, text); *at; at++) {
			if (*at < ' ' || *at > '~')
				abort();
		}
	}
	return 0;
}
