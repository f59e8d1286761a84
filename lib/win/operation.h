// SPDX-License-Identifier: BSD-2-Clause
/* operation.h - one contiguous transfer, as it travels from the call to the wire */
#ifndef ORIEL_OPERATION_H
#define ORIEL_OPERATION_H

#include <stddef.h>
#include <stdint.h>

enum op_kind {
	OP_PUT,
	OP_GET,
	OP_ACCUMULATE, /* an accumulate operation: origin is a struct acc, size_bytes not 0 */
	OP_SIGNAL_SET,
	OP_SIGNAL_ADD,
};

struct op {
	enum op_kind kind;
	union {
		void *
			origin; /* a put only reads it; deferred, an accumulate operation has its struct acc beside (acc_route.h) */
		uint64_t value;
	};
	size_t size_bytes;
	union {
		uint64_t remote_addr;
		uint32_t signal;
	};
};

/* Issued before the target granted access. */
struct deferred {
	struct op op;
	uint32_t next; /* index + 1 of the link's next one; 0: none */
	uint32_t last; /* in a link's first one: index + 1 of its last */
};

#endif
