// SPDX-License-Identifier: BSD-2-Clause
/* See util.h. */
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

bool grow_array(void *array, uint32_t *capacity, uint32_t need, size_t element_bytes)
{
	uint32_t wanted = *capacity ? *capacity : 4;
	void *old, *bigger;

	if (need <= *capacity)
		return true;
	while (wanted < need)
		wanted *= 2;
	memcpy(&old, array, sizeof(old));
	bigger = realloc(old, (size_t)wanted * element_bytes);
	if (!bigger)
		return false;
	memcpy(array, &bigger, sizeof(bigger));
	*capacity = wanted;
	return true;
}
