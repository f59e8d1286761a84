// SPDX-License-Identifier: BSD-2-Clause
/* The connection manager in a child of fork. engine/fork.c closes its sockets. */
#include <pthread.h>

#include "soft/cm/cm.h"

static void in_child(void)
{
	cm_id_forked();
	cm_msg_forked();
}

__attribute__((constructor)) static void register_handler(void)
{
	pthread_atfork(NULL, NULL, in_child);
}
