// SPDX-License-Identifier: BSD-2-Clause
/* See keyvals.h. */
#include "mpi/win/keyvals.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/job/real_mpi.h"

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
