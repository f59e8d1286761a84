// SPDX-License-Identifier: BSD-2-Clause
/* See deferred_error.h. */
#include "job/deferred_error.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"

enum { NONE, WRITING, THERE };

void deferred_error_note(struct deferred_errors *deferred_errors, int code)
{
	uint32_t none = NONE;

	if (!__atomic_compare_exchange_n(&deferred_errors->state, &none, WRITING, false, __ATOMIC_SEQ_CST,
	                                 __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&deferred_errors->more, 1, __ATOMIC_RELAXED);
		return;
	}
	deferred_errors->code = code;
	deferred_errors->text = strdup(err_text());
	state_store(&deferred_errors->state, THERE);      /* pairs with the state_load in deferred_error_report */
	counter_store(deferred_errors->news, UINT64_MAX); /* pairs with win_has_news */
}

bool deferred_error_is_noted(const struct deferred_errors *deferred_errors)
{
	return state_load(&deferred_errors->state) != NONE; /* pairs with deferred_error_note */
}

int deferred_error_report(struct deferred_errors *deferred_errors)
{
	uint64_t more;
	int code;

	if (state_load(&deferred_errors->state) != THERE) /* pairs with deferred_error_note */
		return 0;
	more = __atomic_exchange_n(&deferred_errors->more, 0, __ATOMIC_RELAXED);
	code = deferred_errors->code;
	err_set(code, "%s%s",
	        deferred_errors->text ? deferred_errors->text : "an operation has failed since; out of memory for its text",
	        more == 0   ? ""
	        : more == 1 ? "; and one more has failed"
	                    : "; and more have failed");
	deferred_errors_free(deferred_errors);
	deferred_errors->text = NULL;
	state_store(&deferred_errors->state, NONE); /* pairs with the exchange in deferred_error_note */
	return code;
}

void deferred_errors_free(struct deferred_errors *deferred_errors)
{
	free(deferred_errors->text);
}
