// SPDX-License-Identifier: BSD-2-Clause
/* refusal.c - see refusal.h. */
#include "job/refusal.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"

enum { NONE, WRITING, THERE };

void refusal_note(struct refusals *refusals, int code)
{
	uint32_t none = NONE;

	if (!__atomic_compare_exchange_n(&refusals->state, &none, WRITING, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&refusals->more, 1, __ATOMIC_RELAXED);
		return;
	}
	refusals->code = code;
	refusals->text = strdup(oriel_last_error());
	state_store(&refusals->state, THERE);      /* pairs with the state_load in refusal_tell */
	counter_store(refusals->news, UINT64_MAX); /* pairs with win_has_news */
}

bool refusal_is_noted(const struct refusals *refusals)
{
	return state_load(&refusals->state) != NONE; /* pairs with refusal_note */
}

int refusal_tell(struct refusals *refusals)
{
	uint64_t more;
	int code;

	if (state_load(&refusals->state) != THERE) /* pairs with refusal_note */
		return 0;
	more = __atomic_exchange_n(&refusals->more, 0, __ATOMIC_RELAXED);
	code = refusals->code;
	err_set(code, "%s%s", refusals->text ? refusals->text : "an operation has failed since; out of memory for its text",
	        more == 0   ? ""
	        : more == 1 ? "; and one more has failed"
	                    : "; and more have failed");
	refusals_free(refusals);
	refusals->text = NULL;
	state_store(&refusals->state, NONE); /* pairs with the exchange in refusal_note */
	return code;
}

void refusals_free(struct refusals *refusals)
{
	free(refusals->text);
}
