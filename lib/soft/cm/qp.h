// SPDX-License-Identifier: BSD-2-Clause
/* Queue pairs of identifiers, made ready with what was agreed. */
#ifndef SOFT_CM_QP_H
#define SOFT_CM_QP_H

#include "soft/cm/cm.h"

/* 0 or an errno value. */
int cm_qp_ready(struct cm_id *id); /* to RTR and RTS, with what was agreed */
int cm_qp_error(struct cm_id *id);

#endif
