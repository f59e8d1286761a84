// SPDX-License-Identifier: BSD-2-Clause
/* See write.h. */
#include "check/front/write.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "see/caller.h"
#include "see/front/object.h"
#include "see/front/spawn.h"

#define MEBIBYTE (1u << 20)
#define DEFAULT_MEBIBYTES 256
#define MOST_MEBIBYTES (1u << 20)
#define MEMORY_VARIABLE "ORIEL_CHECK_MEMORY"
#define PROGRAM_VARIABLE "ORIEL_CHECK" /* the starter's */
#define PLACES (2 * TRACE_SITES)

static struct trace *trace; /* NULL: nothing is recorded */
static int trace_fd;
static uint64_t room_limit;    /* rooms that the file may have */
static uint64_t rooms_present; /* that it has */
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static struct place keys[TRACE_SITES];
static bool is_binding[TRACE_SITES]; /* the place is in an MPI's library, such as Fortran's */
static uint16_t places[PLACES];      /* 0: free; else a site's index + 1 */

/* ---- the file ---- */

static size_t most_bytes(void)
{
	const char *text = getenv(MEMORY_VARIABLE);
	unsigned long mebibytes = text ? strtoul(text, NULL, 10) : 0;

	if (mebibytes == 0 || mebibytes > MOST_MEBIBYTES)
		mebibytes = DEFAULT_MEBIBYTES;
	return (size_t)mebibytes * MEBIBYTE;
}

static struct trace *map_file(size_t bytes)
{
	size_t first = (sizeof(struct trace) + TRACE_STEP_BYTES) / TRACE_STEP_BYTES * TRACE_STEP_BYTES;
	void *memory;

	if (!part_file_take_room(trace_fd, 0, first))
		return NULL;
	memory = mmap(NULL, first + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, trace_fd, 0);
	room_limit = (first + bytes - sizeof(struct trace)) / sizeof(union trace_room);
	rooms_present = (first - sizeof(struct trace)) / sizeof(union trace_room);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Maps pages at once, where the kernel can (5.14): a fault for each takes several times as long. */
static void map_pages(void *from, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	madvise(from, bytes, MADV_POPULATE_WRITE);
#else
	(void)from, (void)bytes;
#endif
}

static bool grow(void)
{
	size_t from = sizeof(struct trace) + rooms_present * sizeof(union trace_room);

	from = (from + TRACE_STEP_BYTES - 1) / TRACE_STEP_BYTES * TRACE_STEP_BYTES;
	if (!part_file_take_room(trace_fd, from, TRACE_STEP_BYTES))
		return false;
	rooms_present = (from + TRACE_STEP_BYTES - sizeof(struct trace)) / sizeof(union trace_room);
	map_pages((char *)trace + from, TRACE_STEP_BYTES);
	return true;
}

static void begin(struct trace *made)
{
	made->version = TRACE_VERSION;
	made->rank = made->size = -1;
	made->pid = (int32_t)getpid();
	made->begun_ns = now_ns();
	if (gethostname(made->host, sizeof(made->host) - 1))
		made->host[0] = '\0';
	__atomic_store_n(&made->mark, TRACE_MARK, __ATOMIC_RELEASE);
}

/* A child of fork records nothing. */
static void leave_in_child(void)
{
	trace = NULL;
}

static void complain(const char *what)
{
	fprintf(stderr, "oriel: process %d is not checked: %s: %s\n", (int)getpid(), what, strerror(errno));
}

/* Returns NULL with errno. */
static struct trace *make_file(char path[PART_FILE_BYTES])
{
	struct trace *made;
	int error;

	trace_fd = part_file_make(TRACE_PREFIX, path);
	if (trace_fd < 0)
		return NULL;
	made = map_file(most_bytes());
	if (made)
		return made;
	error = errno;
	close(trace_fd);
	unlink(path);
	errno = error;
	return NULL;
}

void trace_open(void)
{
	char path[PART_FILE_BYTES];
	struct trace *made;

	if (trace)
		return;
	errno = EPERM;
	if (getauxval(AT_SECURE)) {
		complain("it runs a set-user-id program");
		return;
	}
	made = make_file(path);
	if (!made) {
		complain(path);
		return;
	}
	pthread_atfork(NULL, NULL, leave_in_child);
	begin(made);
	trace = made;
}

bool trace_is_on(void)
{
	return trace;
}

void trace_job(const char *job, int rank, int size)
{
	if (!trace)
		return;
	snprintf(trace->job, sizeof(trace->job), "%s", job);
	trace->size = size;
	__atomic_store_n(&trace->rank, rank, __ATOMIC_RELEASE);
}

/* ---- places ---- */

static uint32_t hash_place(const struct place *place)
{
	uint64_t bits = (uint64_t)(uintptr_t)place->caller ^ (uint64_t)(uintptr_t)place->call << 20;

	return (uint32_t)(bits * 0x9e3779b97f4a7c15ULL >> 32) % PLACES;
}

static uint32_t add_object(const void *address, uint64_t *offset)
{
	struct part_object object = { 0 };

	if (!object_describe(address, &object, offset))
		return TRACE_NONE;
	for (uint32_t i = 0; i < trace->object_count; i++) {
		if (strcmp(trace->objects[i].path, object.path) == 0)
			return i;
	}
	if (trace->object_count == PART_OBJECTS)
		return TRACE_NONE;
	trace->objects[trace->object_count] = object;
	return trace->object_count++;
}

static bool is_in_binding(uint32_t object)
{
	const char *path = object < trace->object_count ? trace->objects[object].path : "";
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libmpi", 6) == 0;
}

static uint32_t add_site(uint32_t at, const struct place *place)
{
	uint32_t index = trace->site_count;
	struct trace_site *site = &trace->sites[index];

	if (index == TRACE_SITES)
		return TRACE_NONE;
	keys[index] = *place;
	site->object = add_object(place->caller, &site->offset);
	is_binding[index] = is_in_binding(site->object);
	snprintf(site->call, sizeof(site->call), "%s", place->call);
	places[at] = (uint16_t)(index + 1);
	trace->site_count = index + 1;
	return index;
}

/* A free place ends the search, since there are more than sites. The caller holds `recording`. */
static uint32_t find_site(const struct place *place)
{
	uint32_t at = hash_place(place);

	for (; places[at]; at = (at + 1) % PLACES) {
		const struct place *key = &keys[places[at] - 1];

		if (key->caller == place->caller && key->call == place->call)
			return (uint32_t)places[at] - 1;
	}
	return add_site(at, place);
}

/* Returns the program's place: one in an MPI's library was called from elsewhere. */
static uint32_t site_of(struct place place)
{
	uint32_t site = find_site(&place);

	if (site == TRACE_NONE || !is_binding[site])
		return site;
	place.caller = (const void *)(uintptr_t)caller_address();
	return place.caller ? find_site(&place) : site;
}

/* ---- events ---- */

/* Returns room for so many, or NULL. After the first refusal there is none: a gap hides order. */
static union trace_room *take_rooms(uint64_t count)
{
	uint64_t used = trace->room_count;

	while (!trace->lost && used + count <= room_limit && used + count > rooms_present) {
		if (!grow())
			break;
	}
	if (!trace->lost && used + count <= rooms_present)
		return &trace->rooms[used];
	trace->lost++;
	return NULL;
}

static void write_pieces(union trace_room *rooms, const struct trace_piece pieces[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		rooms[i / TRACE_ROOM_PIECES].pieces[i % TRACE_ROOM_PIECES] = pieces[i];
}

void trace_add_with(struct place place, struct trace_event event, const struct trace_piece pieces[], size_t count)
{
	union trace_room *room;

	if (!trace)
		return;
	event.count = (uint32_t)((count + TRACE_ROOM_PIECES - 1) / TRACE_ROOM_PIECES);
	pthread_mutex_lock(&recording);
	room = take_rooms(1 + (uint64_t)event.count);
	if (room) {
		event.site = site_of(place);
		event.ns = now_ns();
		room->event = event;
		write_pieces(room + 1, pieces, count);
		/* pairs with the judge's reading of a process that has died */
		__atomic_store_n(&trace->room_count, trace->room_count + 1 + event.count, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&recording);
}

void trace_add(struct place place, struct trace_event event)
{
	trace_add_with(place, event, NULL, 0);
}

void trace_ranks(struct place place, struct trace_event event, const int ranks[], int count)
{
	struct trace_piece *pieces = malloc(((size_t)count + 1) * sizeof(*pieces));

	for (int i = 0; pieces && i < count; i++)
		pieces[i] = (struct trace_piece){ (uint64_t)ranks[i], 0 };
	event.id = (uint64_t)count;
	if (pieces)
		trace_add_with(place, event, pieces, (size_t)count);
	else
		trace_unknown(place);
	free(pieces);
}

void trace_name(struct place place, struct trace_event event, const char *name)
{
	struct trace_piece pieces[PART_NAME_BYTES / sizeof(struct trace_piece)] = { 0 };

	memcpy(pieces, name, strnlen(name, sizeof(pieces) - 1));
	trace_add_with(place, event, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

void trace_unknown(struct place place)
{
	if (!trace)
		return;
	trace_add(place, (struct trace_event){ .kind = TRACE_UNKNOWN });
	if (!trace->unknown[0])
		snprintf(trace->unknown, sizeof(trace->unknown), "%s", place.call);
}

/* ---- the end ---- */

void trace_end(void)
{
	const char *program = getenv(PROGRAM_VARIABLE);
	char *const arguments[] = { (char *)(uintptr_t)program, (char *)"--job", trace ? trace->job : NULL, NULL };
	const struct trace *ended;
	int error = ENOENT;

	if (!trace)
		return;
	__atomic_store_n(&trace->state, PART_ENDED, __ATOMIC_RELEASE);
	ended = trace;
	trace = NULL;
	if (ended->rank != 0)
		return;
	if (program)
		error = spawn_and_wait(program, arguments);
	if (error)
		fprintf(stderr, "oriel: nothing is judged: %s: %s; oriel-check --job '%s' does it\n",
		        program ? program : PROGRAM_VARIABLE " is not set", strerror(error), ended->job);
}
