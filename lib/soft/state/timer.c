// SPDX-License-Identifier: BSD-2-Clause
/* Timers of queue pairs. */
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/list.h"
#include "soft/base/lock.h"
#include "soft/state/core.h"
#include "soft/state/loop.h"
#include "soft/state/qp.h"

void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns)
{
	soft_lock(&soft_core->timer_lock);
	qp->deadline_ns = deadline_ns;
	soft_list_del(&qp->timer);
	soft_list_add_tail(&soft_core->timers, &qp->timer);
	soft_unlock(&soft_core->timer_lock);
	soft_engine_wake();
}

void soft_timer_set_if_none(struct soft_qp *qp, uint64_t deadline_ns)
{
	bool is_set;

	soft_lock(&soft_core->timer_lock);
	is_set = !soft_list_empty(&qp->timer);
	if (!is_set) {
		qp->deadline_ns = deadline_ns;
		soft_list_add_tail(&soft_core->timers, &qp->timer);
	}
	soft_unlock(&soft_core->timer_lock);
	if (!is_set)
		soft_engine_wake();
}

void soft_timer_clear(struct soft_qp *qp)
{
	soft_lock(&soft_core->timer_lock);
	soft_list_del(&qp->timer);
	soft_unlock(&soft_core->timer_lock);
}

struct soft_qp *soft_timer_take(struct soft_core *core, uint64_t now, uint64_t *next)
{
	struct soft_qp *due = NULL;

	*next = UINT64_MAX;
	soft_lock(&core->timer_lock);
	for (struct soft_list *i = core->timers.next; i != &core->timers; i = i->next) {
		struct soft_qp *qp = soft_container(i, struct soft_qp, timer);

		if (qp->deadline_ns <= now) {
			due = qp;
			break;
		}
		if (qp->deadline_ns < *next)
			*next = qp->deadline_ns;
	}
	if (due)
		soft_list_del(&due->timer);
	soft_unlock(&core->timer_lock);
	return due;
}
