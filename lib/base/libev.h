// SPDX-License-Identifier: BSD-2-Clause
/*
 * libev.h - the functions of libev, outside the process's global scope
 *
 * DESIGN NOTES
 *
 * libev's library also has functions with libevent's names (event_add and others). In a process
 * that is linked with both, the first in link order serves both, and the user of the other crashes,
 * for example Open MPI. So Oriel is not linked with libev, but opens it with RTLD_LOCAL, where only
 * the holder of the handle sees its functions, and looks them up by name.
 *
 * If another part of the process uses libev, both have one copy. Loops are independent of each
 * other; the callback for failed system calls is not (service.c).
 */
#ifndef ORIEL_LIBEV_H
#define ORIEL_LIBEV_H

#include <ev.h>

struct libev {
	__typeof__(&ev_loop_new) loop_new;
	__typeof__(&ev_loop_destroy) loop_destroy;
	__typeof__(&ev_run) run;
	__typeof__(&ev_break) break_loop;
	__typeof__(&ev_set_syserr_cb) set_syserr_cb;
	__typeof__(&ev_io_start) io_start;
	__typeof__(&ev_io_stop) io_stop;
	__typeof__(&ev_timer_start) timer_start;
	__typeof__(&ev_timer_again) timer_again;
	__typeof__(&ev_timer_stop) timer_stop;
	__typeof__(&ev_async_start) async_start;
	__typeof__(&ev_async_send) async_send;
};

/*
 * Sets *libev to the functions, which stay until the process ends. Any thread. ERRORS:
 * ORIEL_ERR_BOOTSTRAP, with the loader's words and the package to install.
 */
int libev_open(const struct libev **libev);

#endif
