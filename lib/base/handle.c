// SPDX-License-Identifier: BSD-2-Clause
/* See handle.h. */
#include "base/handle.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"

/* Free lists by kind, and the live handles, for a fork. All objects of a kind have one size. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle *free_list[HANDLE_KINDS];
static struct handle *living;
static uint64_t serials;

static void hold(void)
{
	pthread_mutex_lock(&lock);
}

static void let_go(void)
{
	pthread_mutex_unlock(&lock);
}

/*
 * Makes all handles invalid in a forked child and releases the lock. Their memory may be half
 * written, and is not used again.
 */
static void disown(void)
{
	for (; living; living = living->next)
		living->magic = 0;
	let_go();
}

/* Registered at load time, before any fork. */
__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(hold, let_go, disown);
}

static struct handle *take_free(enum handle_kind kind)
{
	struct handle *h;

	pthread_mutex_lock(&lock);
	h = free_list[kind];
	if (h)
		memcpy(&free_list[kind], &h->self, sizeof(h));
	pthread_mutex_unlock(&lock);
	return h;
}

static void enlist(struct handle *h)
{
	pthread_mutex_lock(&lock);
	h->serial = ++serials;
	h->next = living;
	h->link = &living;
	if (living)
		living->link = &h->next;
	living = h;
	pthread_mutex_unlock(&lock);
}

void *handle_new(enum handle_kind kind, size_t object_bytes)
{
	struct handle *h = take_free(kind);

	if (!h)
		h = malloc(object_bytes);
	if (!h)
		return NULL;
	memset(h, 0, object_bytes);
	enlist(h);
	h->self = h;
	h->magic = handle_magic(kind);
	return h;
}

void handle_release(enum handle_kind kind, void *object)
{
	struct handle *h = object;

	pthread_mutex_lock(&lock);
	h->magic = 0;
	h->serial = 0;
	*h->link = h->next;
	if (h->next)
		h->next->link = h->link;
	h->self = free_list[kind];
	free_list[kind] = h;
	pthread_mutex_unlock(&lock);
}

int handle_refuse(const void *object, const char *call, const char *what)
{
	if (!object)
		return err_set(ORIEL_ERR_HANDLE, "%s: the %s handle is NULL", call, what);
	return err_set(ORIEL_ERR_HANDLE, "%s: the %s handle %p has been freed, was inherited by a fork, or is no %s", call,
	               what, object, what);
}

int public_struct_check(size_t struct_bytes, const char *name)
{
	if (struct_bytes > sizeof(struct_bytes) && struct_bytes <= PUBLIC_STRUCT_MAX_BYTES)
		return 0;
	return err_set(ORIEL_ERR_ARG, "struct_bytes is %zu; set it to sizeof(struct %s)", struct_bytes, name);
}

void public_struct_copy(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
	const size_t head = sizeof(size_t), common = min_size(to_bytes, from_bytes);

	memcpy((uint8_t *)to + head, (const uint8_t *)from + head, common - head);
	memset((uint8_t *)to + common, 0, to_bytes - common);
}
