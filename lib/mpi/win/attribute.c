// SPDX-License-Identifier: BSD-2-Clause
/* attribute.c - attributes and group of a window, which its proxy has wrong; names for messages */
#include "mpi/win/window.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/job/real_mpi.h"
#include "mpi/win/keyvals.h"

int MPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_get_group(win, group);
	return PMPI_Group_excl(window->group, 0, NULL, group);
}
TAKEN(Win_get_group);

/* MPI's names are longer than Oriel's, and may have any characters. */
static void name_in_messages(const struct window *window, const char *name)
{
	char text[64];
	size_t length = 0;

	for (; name[length] && length < sizeof(text) - 1; length++)
		text[length] = name[length] >= ' ' && name[length] <= '~' ? name[length] : '?';
	text[length] = '\0';
	oriel_win_set_name(window->win, text);
}

int MPI_Win_set_name(MPI_Win win, const char *win_name)
{
	const struct window *window = window_of(win);
	int rc = window_error(win) ?: real_mpi.Win_set_name(win, win_name);

	if (window && rc == MPI_SUCCESS)
		name_in_messages(window, win_name);
	return rc;
}
TAKEN(Win_set_name);

/* Returns a predefined attribute's value: the base itself, or a pointer to another; or NULL. */
static void *predefined(struct window *window, int keyval)
{
	switch (keyval) {
	case MPI_WIN_BASE:
		return window->base;
	case MPI_WIN_SIZE:
		return &window->size_bytes;
	case MPI_WIN_DISP_UNIT:
		return &window->own_unit;
	case MPI_WIN_CREATE_FLAVOR:
		return &window->flavor;
	case MPI_WIN_MODEL:
		return &window->model;
	default:
		return NULL;
	}
}

int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
	struct window *window = window_of(win);
	void *value = window ? predefined(window, win_keyval) : NULL;

	if (!value && !(window && win_keyval == MPI_WIN_BASE))
		return window_error(win) ?: real_mpi.Win_get_attr(win, win_keyval, attribute_val, flag);
	*(void **)attribute_val = value;
	*flag = 1;
	return MPI_SUCCESS;
}
TAKEN(Win_get_attr);

int MPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
	struct window *window = window_of(win);
	int rc = window_error(win) ?: real_mpi.Win_set_attr(win, win_keyval, attribute_val);

	if (window && rc == MPI_SUCCESS)
		keyvals_add(&window->keyvals, win_keyval);
	return rc;
}
TAKEN(Win_set_attr);

/* While all attributes are being deleted, leaves this one to that loop. */
int MPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
	struct window *window = window_of(win);
	int rc;

	if (window && window->keyvals.deleting && keyvals_has(&window->keyvals, win_keyval))
		return MPI_SUCCESS;
	rc = window_error(win) ?: real_mpi.Win_delete_attr(win, win_keyval);
	if (window && rc == MPI_SUCCESS)
		keyvals_forget(&window->keyvals, win_keyval);
	return rc;
}
TAKEN(Win_delete_attr);

bool attribute_number(const struct window *window, int keyval, MPI_Aint *number)
{
	switch (keyval) {
	case MPI_WIN_BASE:
		*number = (MPI_Aint)(uintptr_t)window->base;
		return true;
	case MPI_WIN_SIZE:
		*number = window->size_bytes;
		return true;
	case MPI_WIN_DISP_UNIT:
		*number = window->own_unit;
		return true;
	case MPI_WIN_CREATE_FLAVOR:
		*number = window->flavor;
		return true;
	case MPI_WIN_MODEL:
		*number = window->model;
		return true;
	default:
		return false;
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool keyvals_none(const struct keyvals *keyvals)
{
	return keyvals->count == 0;
}

static int reserve(struct keyvals *keyvals)
{
	size_t capacity = 2 * keyvals->capacity + 4;
	int *list;

	if (keyvals->count < keyvals->capacity)
		return 0;
	list = realloc(keyvals->list, capacity * sizeof(*list));
	if (!list)
		return -1;
	keyvals->list = list;
	keyvals->capacity = capacity;
	return 0;
}

static void drop(struct keyvals *keyvals, int keyval)
{
	size_t left = 0;

	for (size_t i = 0; i < keyvals->count; i++)
		if (keyvals->list[i] != keyval)
			keyvals->list[left++] = keyvals->list[i];
	keyvals->count = left;
}

void keyvals_add(struct keyvals *keyvals, int keyval)
{
	pthread_mutex_lock(&lock);
	keyvals->used = true;
	drop(keyvals, keyval);
	if (reserve(keyvals) == 0)
		keyvals->list[keyvals->count++] = keyval;
	pthread_mutex_unlock(&lock);
}

void keyvals_forget(struct keyvals *keyvals, int keyval)
{
	pthread_mutex_lock(&lock);
	drop(keyvals, keyval);
	pthread_mutex_unlock(&lock);
}

bool keyvals_has(const struct keyvals *keyvals, int keyval)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < keyvals->count; i++)
		found |= keyvals->list[i] == keyval;
	pthread_mutex_unlock(&lock);
	return found;
}

/* Holds no lock while a callback runs: it may change other attributes. */
static int delete_all(struct keyvals *keyvals, MPI_Win handle)
{
	while (keyvals->count > 0) {
		int keyval = keyvals->list[keyvals->count - 1], rc = real_mpi.Win_delete_attr(handle, keyval);

		if (rc)
			return rc;
		keyvals_forget(keyvals, keyval);
	}
	return MPI_SUCCESS;
}

int keyvals_delete(struct keyvals *keyvals, MPI_Win handle)
{
	int rc;

	keyvals->deleting = true;
	rc = delete_all(keyvals, handle);
	keyvals->deleting = false;
	return rc;
}

void keyvals_release(struct keyvals *keyvals)
{
	free(keyvals->list);
}
