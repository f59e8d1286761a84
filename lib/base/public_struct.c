// SPDX-License-Identifier: BSD-2-Clause
/* See handle.h. */
#include "base/handle.h"

#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"

int public_struct_check(size_t struct_bytes, const char *name)
{
	if (struct_bytes > sizeof(struct_bytes) && struct_bytes <= PUBLIC_STRUCT_MAX_BYTES)
		return 0;
	return err_set(ORIEL_ERR_ARG, "struct_bytes is %zu; set it to sizeof(struct %s)", struct_bytes, name);
}

void public_struct_copy(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
	const size_t head = sizeof(size_t), common = min_size(to_bytes, from_bytes);

	memcpy((uint8_t *)to + head, (const uint8_t *)from + head, common - head);
	memset((uint8_t *)to + common, 0, to_bytes - common);
}
