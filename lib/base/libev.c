// SPDX-License-Identifier: BSD-2-Clause
/* See libev.h. */
#include "base/libev.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"

#define TEXT(x) #x
#define LIBRARY_OF(major) "libev.so." TEXT(major)
#define LIBRARY LIBRARY_OF(EV_VERSION_MAJOR)

static const struct {
	const char *name;
	size_t offset_bytes;
} functions[] = {
	{ "ev_loop_new", offsetof(struct libev, loop_new) },
	{ "ev_loop_destroy", offsetof(struct libev, loop_destroy) },
	{ "ev_run", offsetof(struct libev, run) },
	{ "ev_break", offsetof(struct libev, break_loop) },
	{ "ev_set_syserr_cb", offsetof(struct libev, set_syserr_cb) },
	{ "ev_io_start", offsetof(struct libev, io_start) },
	{ "ev_io_stop", offsetof(struct libev, io_stop) },
	{ "ev_timer_start", offsetof(struct libev, timer_start) },
	{ "ev_timer_again", offsetof(struct libev, timer_again) },
	{ "ev_timer_stop", offsetof(struct libev, timer_stop) },
	{ "ev_async_start", offsetof(struct libev, async_start) },
	{ "ev_async_send", offsetof(struct libev, async_send) },
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
_Static_assert(FUNCTIONS * sizeof(void *) == sizeof(struct libev), "each member of struct libev has its name");

static int refuse(const char *library)
{
	const char *why = dlerror();

	if (strstr(why, strerror(EMFILE)))
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "libev, the event loop of the service thread, cannot be loaded: %s; raise the limit of open "
		               "files (ulimit -n), and call again",
		               why);
	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "libev, the event loop of the service thread, cannot be used: %s. Install it (on Debian and "
	               "Ubuntu the package libev4), or add the folder that holds %s to LD_LIBRARY_PATH",
	               why, library);
}

static bool take(void *handle, struct libev *libev)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return false;
		memcpy((char *)libev + functions[i].offset_bytes, &function, sizeof(function));
	}
	return true;
}

/* Opens library and fills libev. The library stays loaded: other code may hold its functions. */
static int open_library(const char *library, struct libev *libev)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	int rc;

	if (handle && take(handle, libev))
		return 0;
	rc = refuse(library);
	if (handle)
		dlclose(handle);
	return rc;
}

int libev_open(const struct libev **libev)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct libev opened; /* guarded by lock until filled, then constant */
	static bool is_open;        /* guarded by lock */
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!is_open)
		rc = open_library(LIBRARY, &opened);
	if (rc == 0) {
		is_open = true;
		*libev = &opened;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}
