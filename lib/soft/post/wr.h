// SPDX-License-Identifier: BSD-2-Clause
/* ibv_wr_*. */
#ifndef SOFT_WR_H
#define SOFT_WR_H

#include "soft/state/qp.h"

/* A queue pair that was made for them gets them. */
void soft_wr_setup(struct soft_qp *qp);

#endif
