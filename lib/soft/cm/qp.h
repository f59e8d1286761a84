// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs of identifiers. */
#ifndef SOFT_CM_QP_H
#define SOFT_CM_QP_H

#include "soft/cm/cm.h"

/* Both return 0 or an errno value. */
int cm_qp_ready(struct cm_id *id); /* to RTR and RTS, as negotiated */
int cm_qp_error(struct cm_id *id);

#endif
