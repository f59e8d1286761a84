// SPDX-License-Identifier: BSD-2-Clause
/* random.c - see random.h. */
#include "random.h"

#include <string.h>

void random_fill(uint8_t *to, size_t size_bytes, uint64_t seed)
{
	struct rng rng = { seed };
	size_t done = 0;

	for (; size_bytes - done >= sizeof(uint64_t); done += sizeof(uint64_t)) {
		uint64_t word = rng_next(&rng);

		memcpy(to + done, &word, sizeof(word));
	}
	for (uint64_t word = rng_next(&rng); done < size_bytes; done++, word >>= 8)
		to[done] = (uint8_t)word;
}
