// SPDX-License-Identifier: BSD-2-Clause
/* err.c - error codes as text, and the thread's last error; see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_text[ERR_TEXT_BYTES];

int err_set(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_text, sizeof(last_text), format, args);
	va_end(args);
	return code;
}

int err_in(int code, const char *call)
{
	char text[ERR_TEXT_BYTES];
	size_t call_len = strlen(call);

	if (strncmp(last_text, call, call_len) == 0 && last_text[call_len] == ':')
		return code;
	memcpy(text, last_text, sizeof(text));
	snprintf(last_text, sizeof(last_text), "%s: %.*s", call, (int)(sizeof(text) - 64), text);
	return code;
}

const char *oriel_last_error(void)
{
	return last_text;
}

const char *oriel_strerror(int error)
{
	switch ((enum oriel_error)error) {
	case ORIEL_OK:
		return "success";
	case ORIEL_ERR_ARG:
		return "wrong argument";
	case ORIEL_ERR_HANDLE:
		return "wrong handle";
	case ORIEL_ERR_RANK:
		return "wrong rank";
	case ORIEL_ERR_RANGE:
		return "outside the target's window";
	case ORIEL_ERR_ACCESS:
		return "the target's window may only be read";
	case ORIEL_ERR_SYNC:
		return "not legal in the window's present epochs";
	case ORIEL_ERR_PEER:
		return "a needed rank is dead or out of reach";
	case ORIEL_ERR_TIMEOUT:
		return "time limit passed";
	case ORIEL_ERR_MEMORY:
		return "out of memory, or memory could not be registered";
	case ORIEL_ERR_LIMIT:
		return "a bound of the library was reached";
	case ORIEL_ERR_DEVICE:
		return "no usable RDMA device, or the device failed";
	case ORIEL_ERR_BOOTSTRAP:
		return "the launcher could not be understood or reached";
	case ORIEL_ERR_OP:
		return "the operation is not defined for the type";
	case ORIEL_ERR_ATTACH:
		return "memory is attached already, or is not attached";
	case ORIEL_ERR_KIND:
		return "not for this kind of window";
	case ORIEL_ERR_SHARED:
		return "the members cannot share memory";
	}
	return "unknown error";
}
