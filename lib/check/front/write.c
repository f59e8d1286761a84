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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "check/front/loads.h"
#include "check/front/watch.h"
#include "check/pack.h"
#include "see/caller.h"
#include "see/front/object.h"
#include "see/front/spawn.h"

#define MEBIBYTE (1u << 20)
#define DEFAULT_MEBIBYTES 256
#define MOST_MEBIBYTES (1u << 20)
#define MEMORY_VARIABLE "ORIEL_CHECK_MEMORY"
#define PROGRAM_VARIABLE "ORIEL_CHECK" /* the starter's */
#define PLACES (2 * TRACE_SITES)
#define READER_MOST_MS 1000
#define LOCAL_SITES (TRACE_SITES / 2) /* the rest is for calls */

bool (*trace_is_in_call)(void);
static struct trace *trace; /* NULL: nothing is recorded */
static int trace_fd;
static struct stat trace_stat; /* of its file */
static uint64_t packed_bytes;  /* in the file, behind the header */
static uint64_t packed_limit;
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static struct place keys[TRACE_SITES];
static bool is_binding[TRACE_SITES]; /* the place is in an MPI's library, such as Fortran's */
static uint16_t places[PLACES];      /* 0: free; else a site's index + 1 */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_busy;
static bool is_unproven;
static bool is_synced; /* MPI_Win_sync is recorded */
static int job_count;  /* of this process */
static pthread_once_t is_forked = PTHREAD_ONCE_INIT;
static void write_full(void);
static void write_order(enum compiled_order order, uint64_t number);
static struct compiled_front front = { write_full, write_order, NULL, memory_freed_elsewhere };

/* This thread's slots of the trace's waits, how many waits it has begun, and its number. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	struct trace_wait *slots[WAITS_OF_CALL];
	int used; /* of these */
	int depth;
	int32_t thread; /* 0: not known */
} waiting;

/* ---- the file ---- */

static size_t most_bytes(void)
{
	const char *text = getenv(MEMORY_VARIABLE);
	unsigned long mebibytes = text ? strtoul(text, NULL, 10) : 0;

	if (mebibytes == 0 || mebibytes > MOST_MEBIBYTES)
		mebibytes = DEFAULT_MEBIBYTES;
	return (size_t)mebibytes * MEBIBYTE;
}

static struct trace *map_header(void)
{
	void *memory;

	if (!part_file_take_room(trace_fd, 0, sizeof(struct trace)) || fstat(trace_fd, &trace_stat))
		return NULL;
	memory = mmap(NULL, sizeof(struct trace), PROT_READ | PROT_WRITE, MAP_SHARED, trace_fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void begin(struct trace *made)
{
	made->version = TRACE_VERSION;
	made->rank = made->size = -1;
	made->strand_count = 1;
	made->pid = (int32_t)getpid();
	made->begun_ns = now_ns();
	is_synced = false;
	made->waits.is_unproven = __atomic_load_n(&is_unproven, __ATOMIC_ACQUIRE);
	if (gethostname(made->host, sizeof(made->host) - 1))
		made->host[0] = '\0';
	__atomic_store_n(&made->mark, TRACE_MARK, __ATOMIC_RELEASE);
}

/* A child of fork records nothing. */
static void leave_in_child(void)
{
	loads_close();
	trace = NULL;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, leave_in_child);
}

/* A trace of an earlier job may have been written. */
static void forget_job(void)
{
	memset(places, 0, sizeof(places));
	packed_bytes = 0;
	job_count++;
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
	packed_limit = most_bytes();
	made = map_header();
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
	pthread_once(&is_forked, watch_forks);
	forget_job();
	begin(made);
	trace = made;
	front.is_in_call = trace_is_in_call;
	loads_open(packed_limit, &front);
	loads_count(trace);
}

bool trace_is_on(void)
{
	return trace;
}

bool trace_is_busy(void)
{
	return is_busy;
}

void trace_job(const char *job, int rank, int size)
{
	if (!trace)
		return;
	snprintf(trace->job, sizeof(trace->job), "%s", job);
	if (job_count > 1)
		snprintf(trace->job, sizeof(trace->job), "%.*s, its %d", PART_JOB_BYTES - 20, job, job_count);
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

/* Returns TRACE_NONE if there are `most` already. Few calls add one: find_site is short without. */
static __attribute__((noinline)) uint32_t add_site(uint32_t at, const struct place *place, uint32_t most)
{
	uint32_t index = trace->site_count;
	struct trace_site *site = &trace->sites[index];

	if (index >= most)
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
static uint32_t find_site(const struct place *place, uint32_t most)
{
	uint32_t at = hash_place(place);

	for (; places[at]; at = (at + 1) % PLACES) {
		const struct place *key = &keys[places[at] - 1];

		if (key->caller == place->caller && key->call == place->call)
			return (uint32_t)places[at] - 1;
	}
	return add_site(at, place, most);
}

/* Returns the program's place: one in an MPI's library was called from elsewhere. */
static uint32_t site_of(struct place place)
{
	uint32_t site = find_site(&place, TRACE_SITES);

	if (site == TRACE_NONE || !is_binding[site])
		return site;
	place.caller = (const void *)(uintptr_t)caller_address();
	return place.caller ? find_site(&place, TRACE_SITES) : site;
}

/* ---- events ---- */

/* A program that closes all descriptors may have another file there. */
static bool is_own_file(void)
{
	struct stat now;

	return fstat(trace_fd, &now) == 0 && now.st_dev == trace_stat.st_dev && now.st_ino == trace_stat.st_ino;
}

static bool write_all(const char *from, size_t bytes, uint64_t at)
{
	while (bytes > 0) {
		ssize_t done = pwrite(trace_fd, from, bytes, (off_t)at);

		if (done <= 0 && errno != EINTR)
			return false;
		if (done <= 0)
			continue;
		from += done;
		bytes -= (size_t)done;
		at += (size_t)done;
	}
	return true;
}

/* Writes the latest rooms to the file. Where the process dies, each room is in one of the two. */
static bool write_latest(void)
{
	static struct {
		struct pack_head head;
		unsigned char packed[PACK_MOST];
	} block;
	uint64_t bytes;

	block.head.rooms = (uint32_t)(trace->room_count - trace->written);
	block.head.bytes = (uint32_t)pack(block.packed, trace->latest, block.head.rooms);
	bytes = sizeof(block.head) + block.head.bytes;
	if (packed_bytes + bytes > packed_limit || !is_own_file() ||
	    !part_file_may_have(sizeof(struct trace) + packed_bytes + bytes) ||
	    !write_all((const char *)&block, bytes, sizeof(struct trace) + packed_bytes))
		return false;
	packed_bytes += bytes;
	__atomic_store_n(&trace->written, trace->room_count, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

static inline __attribute__((always_inline)) bool make_room(uint64_t count)
{
	if (trace->room_count - trace->written + count <= TRACE_LATEST)
		return true;
	return count <= TRACE_LATEST && write_latest();
}

/* Returns room for so many, or NULL. After the first refusal there is none: a gap hides order. */
static inline __attribute__((always_inline)) union trace_room *take_rooms(uint64_t count)
{
	if (!trace->lost && make_room(count))
		return &trace->latest[trace->room_count - trace->written];
	trace->lost++;
	return NULL;
}

static void write_pieces(union trace_room *rooms, const struct trace_piece pieces[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		rooms[i / TRACE_ROOM_PIECES].pieces[i % TRACE_ROOM_PIECES] = pieces[i];
}

/* Keeps in mind which memory of the origin is in use. The caller holds `recording`. */
static void note_memory(const struct trace_event *event, const struct trace_piece pieces[])
{
	if (event->kind != TRACE_OPERATION) {
		if (event->kind <= TRACE_FENCE_END)
			memory_completed();
		return;
	}
	if (event->flags & OPERATION_PLAIN) {
		if (event->plain.sides & PLAIN_READ)
			memory_used(event->plain.read);
		if (event->plain.sides & PLAIN_WRITTEN)
			memory_used(event->plain.written);
		return;
	}
	pieces += event->of.target_pieces;
	for (uint32_t i = 0; i < event->of.read_pieces + event->of.written_pieces; i++)
		memory_used(pieces[i].first);
}

/* Writes an event. The caller holds `recording`. */
static inline __attribute__((always_inline)) void write_event(const struct trace_event *event, uint32_t site,
                                                              const struct trace_piece pieces[], size_t count)
{
	uint64_t rooms = 1 + (count + TRACE_ROOM_PIECES - 1) / TRACE_ROOM_PIECES;
	union trace_room *room = take_rooms(rooms);

	if (!room)
		return;
	room->event = *event;
	room->event.count = (uint16_t)(rooms - 1);
	room->event.site = site;
	room->event.ns = now_ns();
	write_pieces(room + 1, pieces, count);
	/* pairs with the judge's reading of a process that has died */
	__atomic_store_n(&trace->room_count, trace->room_count + rooms, __ATOMIC_RELEASE);
}

/* The event is of a strand. */
static void note_strand(const struct trace_event *event)
{
	if (event->strand >= trace->strand_count)
		trace->strand_count = event->strand + 1u;
}

static __attribute__((noinline)) void write_of_strand(const struct trace_event *event, uint32_t site)
{
	note_strand(event);
	write_event(event, site, NULL, 0);
}

static void write_run(const struct compiled_run *run)
{
	struct place place = { run->call, run->site };
	struct trace_event event = { .kind = TRACE_LOCAL,
		                         .flags = (uint16_t)run->kind,
		                         .rank = -1,
		                         .strand = (uint16_t)run->strand,
		                         .local = { run->first, run->bytes, run->stride, run->count, run->rows, run->pitch } };

	write_of_strand(&event, find_site(&place, LOCAL_SITES));
}

/* Writes what was loaded and stored since the last event. The caller holds `recording`. */
static void write_loads(void)
{
	const struct compiled_run *runs;
	uint32_t count = loads_take(&runs);

	for (uint32_t i = 0; i < count; i++)
		write_run(&runs[i]);
}

/* Writes loads and stores before the event. For a refused call the event after it writes them. */
static void write_loads_before(struct trace_event *event)
{
	if (event->kind != TRACE_REFUSED)
		write_loads();
	event->strand = loads_strand(true);
	note_strand(event);
}

/* A thread that is recording will write them. */
static void write_full(void)
{
	if (is_busy)
		return;
	is_busy = true;
	pthread_mutex_lock(&recording);
	if (trace && loads_are_on)
		write_loads();
	pthread_mutex_unlock(&recording);
	is_busy = false;
}

/* Records an order of strands, behind what this strand has loaded and stored before it. */
static void write_order(enum compiled_order order, uint64_t number)
{
	static const uint16_t kinds[] = {
		[ORDER_RELEASE] = TRACE_RELEASE, [ORDER_ACQUIRE] = TRACE_ACQUIRE, [ORDER_JOIN] = TRACE_JOIN,
		[ORDER_SPREAD] = TRACE_SPREAD,   [ORDER_MERGE] = TRACE_MERGE,     [ORDER_OUTSIDE] = TRACE_OUTSIDE
	};
	struct trace_event event = { .kind = kinds[order], .rank = -1, .id = number };

	if (is_busy)
		return;
	is_busy = true;
	pthread_mutex_lock(&recording);
	if (trace && loads_are_on) {
		write_loads();
		if (loads_order(order, number)) {
			event.strand = loads_strand(false);
			write_of_strand(&event, TRACE_NONE);
		}
	}
	pthread_mutex_unlock(&recording);
	is_busy = false;
}

/* A program that polls has no stores, so that it fills no trace. */
void trace_sync(void)
{
	if (loads_are_on && !__atomic_load_n(&is_synced, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&is_synced, true, __ATOMIC_RELAXED))
		write_order(ORDER_OUTSIDE, ORDER_SYNC);
	if (loads_have_stores())
		write_full();
}

void trace_add_with(struct place place, struct trace_event event, const struct trace_piece pieces[], size_t count)
{
	if (!trace)
		return;
	if (loads_are_on)
		loads_enter(&event);
	is_busy = true;
	pthread_mutex_lock(&recording);
	if (loads_are_on)
		write_loads_before(&event);
	if (trace) {
		waits_count(&trace->waits, &event);
		note_memory(&event, pieces);
		write_event(&event, site_of(place), pieces, count);
	}
	if (loads_are_on)
		loads_note(&event, pieces);
	pthread_mutex_unlock(&recording);
	is_busy = false;
}

void trace_add(struct place place, struct trace_event event)
{
	trace_add_with(place, event, NULL, 0);
}

/* More bytes than `plain` can say. */
static void add_large(struct place place, struct trace_event event, uint64_t bytes, uint64_t read, uint64_t written)
{
	struct trace_piece pieces[3] = { { 0, bytes } };
	size_t count = 1;

	event.flags = OPERATION_OFFSETS;
	event.of.target_pieces = 1;
	event.of.read_pieces = read != 0;
	event.of.written_pieces = written != 0;
	if (read)
		pieces[count++] = (struct trace_piece){ read, bytes };
	if (written)
		pieces[count++] = (struct trace_piece){ written, bytes };
	trace_add_with(place, event, pieces, count);
}

void trace_plain(struct place place, struct trace_event event, uint64_t bytes, uint64_t read, uint64_t written)
{
	event.kind = TRACE_OPERATION;
	if (bytes > UINT32_MAX) {
		add_large(place, event, bytes, read, written);
		return;
	}
	event.flags = OPERATION_PLAIN;
	event.plain.bytes = (uint32_t)bytes;
	event.plain.sides = (uint8_t)((read ? PLAIN_READ : 0) | (written ? PLAIN_WRITTEN : 0));
	event.plain.read = read;
	event.plain.written = written;
	trace_add(place, event);
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

/* The last one is what a report says. */
static void note_name(uint64_t key, const char *name)
{
	struct trace_waits *waits = &trace->waits;
	uint32_t at = 0;

	pthread_mutex_lock(&recording);
	while (at < waits->name_count && waits->names[at].key != key)
		at++;
	if (at < WAITS_NAMES) {
		waits->names[at].key = key;
		snprintf(waits->names[at].name, WAITS_NAME_BYTES, "%s", name);
	}
	if (at == waits->name_count && at < WAITS_NAMES)
		waits->name_count++;
	pthread_mutex_unlock(&recording);
}

void trace_text(struct place place, struct trace_event event, const char text[PART_NAME_BYTES])
{
	struct trace_piece pieces[PART_NAME_BYTES / sizeof(struct trace_piece)];

	memcpy(pieces, text, sizeof(pieces));
	trace_add_with(place, event, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

void trace_name(struct place place, struct trace_event event, const char *name)
{
	char text[PART_NAME_BYTES] = "";

	if (trace)
		note_name(event.object, name);
	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	trace_text(place, event, text);
}

void trace_unknown(struct place place)
{
	if (!trace)
		return;
	trace_add(place, (struct trace_event){ .kind = TRACE_UNKNOWN });
	if (!trace->unknown[0])
		snprintf(trace->unknown, sizeof(trace->unknown), "%s", place.call);
}

void trace_unproven(void)
{
	__atomic_store_n(&is_unproven, true, __ATOMIC_RELEASE);
	if (trace)
		__atomic_store_n(&trace->waits.is_unproven, 1, __ATOMIC_RELEASE); /* pairs with is_usable */
}

/* ---- waits ---- */

/* Takes so many free slots, or none. The caller holds `recording`. */
static void take_slots(int count)
{
	waiting.used = 0;
	for (int i = 0; i < WAITS_SLOTS && waiting.used < count; i++) {
		if (trace->waits.slots[i].kind == AWAIT_NONE)
			waiting.slots[waiting.used++] = &trace->waits.slots[i];
	}
	if (waiting.used < count)
		waiting.used = 0;
}

static void count_change(void)
{
	__atomic_add_fetch(&trace->waits.changes, 1, __ATOMIC_SEQ_CST); /* pairs with look_first */
}

/* The kind comes last: a reader that finds it finds the rest. */
static void fill_slot(struct trace_wait *slot, struct trace_wait wait)
{
	uint32_t kind = wait.kind;

	wait.kind = AWAIT_NONE;
	*slot = wait;
	count_change();
	__atomic_store_n(&slot->kind, kind, __ATOMIC_RELEASE); /* pairs with waits_read_slot */
}

void waits_begin(struct place place, struct trace_wait waits[], int count)
{
	if (!trace || waiting.depth++ > 0 || count == 0)
		return;
	if (waiting.thread == 0)
		waiting.thread = (int32_t)syscall(SYS_gettid);
	pthread_mutex_lock(&recording);
	take_slots(count);
	for (int i = 0; i < waiting.used; i++) {
		waits[i].site = site_of(place);
		waits[i].thread = waiting.thread;
		if (waits[i].kind != AWAIT_SIGNAL)
			waits[i].count = (uint32_t)count;
		fill_slot(waiting.slots[i], waits[i]);
	}
	if (waiting.used == 0)
		count_change();
	pthread_mutex_unlock(&recording);
}

void wait_begin(struct place place, struct trace_wait wait)
{
	waits_begin(place, &wait, wait.kind == AWAIT_NONE ? 0 : 1);
}

/* Slots are emptied behind the change: a reader that misses a wait finds the change. */
void wait_end(void)
{
	if (!trace || --waiting.depth > 0 || waiting.used == 0)
		return;
	pthread_mutex_lock(&recording);
	count_change();
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with is_unchanged */
	while (waiting.used > 0)
		__atomic_store_n(&waiting.slots[--waiting.used]->kind, AWAIT_NONE, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&recording);
}

uint64_t trace_sent(uint64_t comm, int rank, uint32_t tag)
{
	uint64_t count;

	if (!trace)
		return 0;
	pthread_mutex_lock(&recording);
	count = waits_value(&trace->waits, COUNT_SENT, tag_object(comm, tag), rank);
	pthread_mutex_unlock(&recording);
	return count;
}

void trace_join(uint64_t object)
{
	if (!trace)
		return;
	pthread_mutex_lock(&recording);
	waits_join(&trace->waits, object);
	pthread_mutex_unlock(&recording);
}

void trace_watch(bool is_threaded)
{
	watch_begin(trace, is_threaded);
}

/* ---- the end ---- */

static void judge(const char *job, const char *option)
{
	const char *program = getenv(PROGRAM_VARIABLE);
	char *const arguments[] = { (char *)(uintptr_t)program, (char *)"--job", (char *)(uintptr_t)job,
		                        (char *)(uintptr_t)option, NULL };
	int error = program ? spawn_and_wait(program, arguments) : ENOENT;

	if (error)
		fprintf(stderr, "oriel: nothing is judged: %s: %s; oriel-check --job '%s' does it\n",
		        program ? program : PROGRAM_VARIABLE " is not set", strerror(error), job);
}

static void end_loads(void)
{
	write_full();
	loads_count(trace);
	loads_close();
}

/* Nothing is recorded from here on. */
static struct trace *take_trace(void)
{
	struct trace *taken;

	pthread_mutex_lock(&recording);
	taken = trace;
	trace = NULL;
	pthread_mutex_unlock(&recording);
	return taken;
}

void trace_end(void)
{
	struct trace *ended;

	if (!trace)
		return;
	watch_end();
	end_loads();
	__atomic_store_n(&trace->state, PART_ENDED, __ATOMIC_RELEASE);
	ended = take_trace();
	if (!ended)
		return;
	if (ended->rank == 0)
		judge(ended->job, NULL);
	if (is_own_file())
		close(trace_fd);
	munmap(ended, sizeof(*ended));
}

/* The starter may lose what it has not read when it learns that the job ends. */
static void await_reader(int fd)
{
	struct stat file;
	int unread = 0;

	if (fstat(fd, &file) || !S_ISFIFO(file.st_mode))
		return;
	for (int i = 0; i < READER_MOST_MS && ioctl(fd, FIONREAD, &unread) == 0 && unread > 0; i++)
		nanosleep(&(struct timespec){ 0, NS_PER_MS }, NULL);
}

void trace_abort(void)
{
	const struct trace *ended;

	if (!trace)
		return;
	watch_end(); /* the call that ends the job does not wait any more */
	end_loads();
	count_change();
	ended = take_trace();
	if (ended && ended->rank >= 0)
		judge(ended->job, "--now");
	await_reader(STDOUT_FILENO);
	await_reader(STDERR_FILENO);
}
