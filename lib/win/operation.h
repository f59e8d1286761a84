// SPDX-License-Identifier: BSD-2-Clause
/* operation.h - one contiguous transfer, as it travels from the call to the wire */
#ifndef ORIEL_OPERATION_H
#define ORIEL_OPERATION_H

#include <stddef.h>
#include <stdint.h>

enum op_kind { OP_PUT, OP_GET };

struct op {
	enum op_kind kind;
	void *origin; /* a put only reads it */
	size_t size_bytes;
	uint64_t remote_addr;
};

/* An operation issued before the target's post arrived. */
struct held {
	struct op op;
	uint32_t next; /* index + 1 of the link's next one; 0: none */
};

#endif
