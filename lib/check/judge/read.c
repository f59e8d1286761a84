// SPDX-License-Identifier: BSD-2-Clause
/* See judge.h. A trace is another process's work: nothing in it is used before it is checked. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "check/compiled/compiled.h"
#include "check/judge/judge.h"
#include "check/pack.h"
#include "see/board.h"

#define LIMIT_NS (10 * NS_PER_SECOND) /* for ranks that have not ended */
#define STEP_NS (20 * NS_PER_MS)
#define RANKS_MAX (1 << 16)
#define TURNS_MAX 1000 /* of copying a header that is written to */
#define PROGRAM_VARIABLE "ORIEL_CHECK" /* in a process of the job */

/* The traces of the folder, before their ranks are known. */
struct mapped {
	char *path;
	const struct trace *trace;
	size_t bytes;
};

struct mapped_list {
	struct mapped *list;
	uint32_t count, capacity;
};

/* ---- files ---- */

static const struct trace *map_file(const char *path, size_t *bytes)
{
	int fd = part_file_open(path, sizeof(struct trace));
	void *memory = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		*bytes = (size_t)st.st_size;
		memory = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static bool is_trace(const struct trace *trace)
{
	return __atomic_load_n(&trace->mark, __ATOMIC_ACQUIRE) == TRACE_MARK && trace->version == TRACE_VERSION &&
	       trace->rank >= -1 && trace->rank < RANKS_MAX && trace->size <= RANKS_MAX && trace->pid > 0;
}

static void map_folder(struct mapped_list *files, const char *folder)
{
	const struct dirent *entry;
	DIR *directory = opendir(folder);

	while (directory && (entry = readdir(directory))) {
		char path[PART_FOLDER_BYTES + 300];
		struct mapped file = { 0 };

		if (strncmp(entry->d_name, TRACE_PREFIX, strlen(TRACE_PREFIX)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		file.trace = map_file(path, &file.bytes);
		if (file.trace && !is_trace(file.trace)) {
			munmap((void *)(uintptr_t)file.trace, file.bytes);
			file.trace = NULL;
		}
		if (!file.trace)
			continue;
		file.path = strdup(path);
		if (!file.path || !grow_array(&files->list, &files->capacity, files->count + 1, sizeof(file)))
			program_fail("out of memory");
		files->list[files->count++] = file;
	}
	if (directory)
		closedir(directory);
}

static void unmap(const struct mapped *file)
{
	munmap((void *)(uintptr_t)file->trace, file->bytes);
	free(file->path);
}

static void choose_job(struct job_traces *traces, const struct mapped_list *files, const char *job)
{
	uint64_t newest = 0;

	snprintf(traces->job, sizeof(traces->job), "%.*s", (int)sizeof(traces->job) - 1, job);
	for (uint32_t i = 0; i < files->count && !job[0]; i++) {
		const struct trace *trace = files->list[i].trace;

		if (trace->begun_ns < newest)
			continue;
		newest = trace->begun_ns;
		snprintf(traces->job, sizeof(traces->job), "%.*s", (int)sizeof(traces->job) - 1, trace->job);
	}
}

static void drop_others(struct mapped_list *files, const char *job)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < files->count; i++) {
		if (files->list[i].trace->rank >= 0 && strncmp(files->list[i].trace->job, job, PART_JOB_BYTES) == 0)
			files->list[kept++] = files->list[i];
		else
			unmap(&files->list[i]);
	}
	files->count = kept;
}

static bool has_traces(const char *job)
{
	struct mapped_list files = { 0 };
	char folder[PART_FOLDER_BYTES];
	bool has;

	part_write_folder(folder);
	map_folder(&files, folder);
	drop_others(&files, job);
	has = files.count > 0;
	while (files.count > 0)
		unmap(&files.list[--files.count]);
	free(files.list);
	return has;
}

/* Ends when the judge that has claimed the job has printed: its rank may end it then. */
static void __attribute__((noreturn)) end_behind_another(const char *job)
{
	uint64_t end = now_ns() + LIMIT_NS;

	while (has_traces(job) && now_ns() < end)
		nanosleep(&(struct timespec){ 0, (long)STEP_NS }, NULL);
	exit(EXIT_SUCCESS);
}

static bool is_running(const struct mapped_list *files)
{
	for (uint32_t i = 0; i < files->count; i++) {
		const struct trace *trace = files->list[i].trace;

		if (__atomic_load_n(&trace->state, __ATOMIC_ACQUIRE) == PART_RUNNING &&
		    (kill(trace->pid, 0) == 0 || errno == EPERM))
			return true;
	}
	return false;
}

/* ---- places ---- */

static uint32_t add_site(struct job_traces *traces, const char *call, const char *object, uint64_t offset)
{
	struct judge_site *site;

	for (uint32_t i = 0; i < traces->site_count; i++) {
		site = &traces->sites[i];
		if (site->offset == offset && strcmp(site->object, object) == 0 && strcmp(site->call, call) == 0)
			return i;
	}
	if (!grow_array(&traces->sites, &traces->site_capacity, traces->site_count + 1, sizeof(*site)))
		program_fail("out of memory");
	site = &traces->sites[traces->site_count];
	*site = (struct judge_site){ .object = object, .offset = offset };
	snprintf(site->call, sizeof(site->call), "%s", call);
	return traces->site_count++;
}

uint32_t traces_site(struct job_traces *traces, const struct trace *trace, uint32_t site)
{
	struct trace_site copy = { .object = TRACE_NONE };
	struct part_object object = { .path = "" };
	char *path;

	if (site < TRACE_SITES)
		copy = trace->sites[site];
	if (copy.object < PART_OBJECTS)
		object = trace->objects[copy.object];
	board_make_printable(copy.call, sizeof(copy.call));
	board_make_printable(object.path, sizeof(object.path));
	path = strdup(object.path);
	if (!path)
		program_fail("out of memory");
	return add_site(traces, copy.call, path, copy.offset);
}

static void read_sites(struct job_traces *traces, struct read_trace *read)
{
	struct trace *trace = read->trace;
	uint32_t count = trace->site_count < TRACE_SITES ? trace->site_count : TRACE_SITES;

	board_make_printable(trace->merged, sizeof(trace->merged));
	read->sites = malloc((count + 1) * sizeof(*read->sites));
	if (!read->sites)
		program_fail("out of memory");
	trace->site_count = count;
	if (trace->object_count > PART_OBJECTS)
		trace->object_count = PART_OBJECTS;
	for (uint32_t i = 0; i < trace->object_count; i++)
		board_make_printable(trace->objects[i].path, sizeof(trace->objects[i].path));
	for (uint32_t i = 0; i < count; i++) {
		struct trace_site *site = &trace->sites[i];
		const char *object = site->object < trace->object_count ? trace->objects[site->object].path : "";

		board_make_printable(site->call, sizeof(site->call));
		read->sites[i] = add_site(traces, site->call, object, site->offset);
	}
}

/* ---- one job ---- */

static void fail_damaged(const struct read_trace *read)
{
	program_fail("%s is damaged at event %llu", read->path, (unsigned long long)read->at);
}

/* Unpacks the next block. */
static void load_block(struct read_trace *read)
{
	struct pack_head head = { 0 };
	uint64_t left = read->packed_bytes - read->packed_at;
	const unsigned char *packed = read->packed + read->packed_at + sizeof(head);

	if (left >= sizeof(head))
		memcpy(&head, packed - sizeof(head), sizeof(head));
	if (head.rooms == 0 || head.rooms > TRACE_LATEST || head.rooms > read->trace->written - read->end ||
	    head.bytes > left - sizeof(head) || !unpack(read->block, head.rooms, packed, head.bytes))
		fail_damaged(read);
	read->rooms = read->block;
	read->first = read->end;
	read->end += head.rooms;
	read->packed_at += sizeof(head) + head.bytes;
}

/* All rooms before `end` have been read. */
static void load_rooms(struct read_trace *read)
{
	if (read->end < read->trace->written) {
		load_block(read);
		return;
	}
	read->rooms = read->trace->latest;
	read->first = read->trace->written;
	read->end = read->trace->room_count;
}

static void rewind_rooms(struct read_trace *read)
{
	read->at = read->end = read->packed_at = 0;
	load_rooms(read);
}

/* Copies a header that its process may write to. Pairs with trace_add_with and write_latest. */
static void copy_header(struct trace *copy, const struct trace *trace)
{
	uint64_t written, rooms;
	int turns = 0;

	do {
		written = __atomic_load_n(&trace->written, __ATOMIC_ACQUIRE);
		rooms = __atomic_load_n(&trace->room_count, __ATOMIC_ACQUIRE);
		memcpy(copy, trace, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (written != __atomic_load_n(&trace->written, __ATOMIC_RELAXED) && ++turns < TURNS_MAX);
	copy->written = written;
	copy->room_count = rooms;
}

/* Maps what was written since, unless another has claimed it. */
static void map_again(const char *job, struct mapped *file)
{
	size_t bytes;
	const struct trace *trace = map_file(file->path, &bytes);

	if (!trace)
		end_behind_another(job);
	munmap((void *)(uintptr_t)file->trace, file->bytes);
	file->trace = trace;
	file->bytes = bytes;
}

static void take_file(struct job_traces *traces, struct mapped *file)
{
	struct read_trace *read = &traces->list[file->trace->rank];

	if (read->trace)
		program_fail("two traces are of rank %d of job %s", file->trace->rank, traces->job);
	read->trace = malloc(sizeof(struct trace));
	read->block = malloc(TRACE_LATEST * sizeof(union trace_room));
	if (!read->trace || !read->block)
		program_fail("out of memory");
	copy_header(read->trace, file->trace);
	if (traces->is_running)
		map_again(traces->job, file);
	read->packed = file->trace->packed;
	read->packed_bytes = file->bytes - sizeof(struct trace);
	read->path = file->path;
	if (read->trace->strand_count == 0 || read->trace->strand_count > TRACE_STRANDS ||
	    read->trace->written > read->trace->room_count || read->trace->room_count - read->trace->written > TRACE_LATEST)
		fail_damaged(read);
	read_sites(traces, read);
	rewind_rooms(read);
}

static const struct trace_event *peek(const struct read_trace *read)
{
	return read->at < read->end ? &read->rooms[read->at - read->first].event : NULL;
}

/* Goes on behind the next event and its pieces. */
static void advance(struct read_trace *read)
{
	uint64_t rooms = 1 + (uint64_t)peek(read)->count;

	if (rooms > read->end - read->at)
		fail_damaged(read);
	read->at += rooms;
	if (read->at == read->end)
		load_rooms(read);
}

/* After the last event of a trace without room, others may be ordered by what it lacks. */
static void find_end(struct job_traces *traces)
{
	for (int rank = 0; rank < traces->size; rank++) {
		struct read_trace *read = &traces->list[rank];
		uint64_t last_ns = read->trace->begun_ns;

		if (!read->trace->lost)
			continue;
		traces->is_cut = true;
		for (; peek(read); advance(read))
			last_ns = peek(read)->ns;
		rewind_rooms(read);
		if (last_ns < traces->end_ns)
			traces->end_ns = last_ns;
	}
}

/* A rank that ends the job has a trace: if it is gone, another has claimed all. */
static void end_if_claimed(const struct job_traces *traces)
{
	if (traces->is_running && getenv(PROGRAM_VARIABLE))
		end_behind_another(traces->job);
}

static void take_files(struct job_traces *traces, struct mapped_list *files)
{
	for (uint32_t i = 0; i < files->count; i++) {
		if (files->list[i].trace->size > traces->size)
			traces->size = files->list[i].trace->size;
		if (strncmp(files->list[i].trace->host, files->list[0].trace->host, PART_HOST_BYTES) != 0)
			program_fail("the ranks of job %s ran on several machines: their clocks cannot be compared", traces->job);
	}
	traces->list = calloc((size_t)traces->size, sizeof(*traces->list));
	if (!traces->list)
		program_fail("out of memory");
	for (uint32_t i = 0; i < files->count; i++) {
		if (files->list[i].trace->rank < traces->size)
			take_file(traces, &files->list[i]);
	}
	for (int rank = 0; rank < traces->size; rank++) {
		if (traces->list[rank].trace)
			continue;
		if (rank == 0)
			end_if_claimed(traces);
		program_fail("there is no trace of rank %d on this machine: nothing can be judged", rank);
	}
	find_end(traces);
}

void traces_read(struct job_traces *traces, const char *job, bool now)
{
	uint64_t begin = now_ns(), end = begin + LIMIT_NS;
	struct mapped_list files = { 0 };
	char folder[PART_FOLDER_BYTES];

	part_write_folder(folder);
	map_folder(&files, folder);
	choose_job(traces, &files, job);
	drop_others(&files, traces->job);
	/* A later event may be ordered by one that another rank records after it was read. */
	traces->end_ns = now ? begin : UINT64_MAX;
	traces->is_running = now;
	while (!now && is_running(&files) && now_ns() < end)
		nanosleep(&(struct timespec){ 0, (long)STEP_NS }, NULL);
	if (files.count == 0) {
		end_if_claimed(traces);
		program_fail("%s has no trace of %s%s", folder, job[0] ? "job " : "a job", job);
	}
	take_files(traces, &files);
}

/* ---- events, in the order of time ---- */

static bool has_pieces(const struct trace_event *event)
{
	return event->kind == TRACE_OPERATION || event->kind == TRACE_BUFFERS;
}

static bool has_text(const struct trace_event *event)
{
	return event->kind == TRACE_WINDOW_NAME || (event->kind == TRACE_REFUSED && event->flags == REFUSED_TYPES);
}

/* Returns whether a run has not too many pieces, and ends below the last address. */
static bool is_sound_run(const struct trace_event *event)
{
	uint64_t pieces = event->local.stride == event->local.bytes ? 1 : event->local.count;

	return event->flags < KINDS && event->local.bytes > 0 && event->local.count > 0 && event->local.rows > 0 &&
	       event->local.rows <= RUN_PIECES_MAX && pieces <= RUN_PIECES_MAX &&
	       pieces * event->local.rows <= RUN_PIECES_MAX && event->local.first < UINT64_MAX / 8 &&
	       event->local.count <= UINT32_MAX / 2 && event->local.stride <= UINT32_MAX / 2 &&
	       event->local.pitch < UINT64_MAX / 8 / RUN_PIECES_MAX;
}

/* Returns whether the event can be used. */
static bool is_sound(const struct job_traces *traces, const struct read_trace *read, const struct trace_event *event)
{
	uint64_t pieces = (uint64_t)event->of.target_pieces + event->of.read_pieces + event->of.written_pieces;
	bool needs_rank = event->kind == TRACE_OPERATION || event->kind == TRACE_SIGNAL || event->kind == TRACE_PART;

	return event->kind > TRACE_PIECES && event->kind < TRACE_KINDS && event->rank >= (needs_rank ? 0 : -1) &&
	       event->rank < traces->size && event->strand < read->trace->strand_count &&
	       event->count < read->end - read->at &&
	       (!has_pieces(event) || event->flags & OPERATION_PLAIN ||
	        pieces <= (uint64_t)event->count * TRACE_ROOM_PIECES) &&
	       (event->kind != TRACE_JOIN || event->id < read->trace->strand_count || event->id == TRACE_ALL) &&
	       (event->kind != TRACE_LOCAL || is_sound_run(event)) &&
	       (!has_text(event) || event->count * sizeof(union trace_room) >= PART_NAME_BYTES);
}

static bool is_earlier(const struct job_traces *traces, int rank, int other)
{
	uint64_t ns = peek(&traces->list[rank])->ns, ns_of_other = peek(&traces->list[other])->ns;

	return ns < ns_of_other || (ns == ns_of_other && rank < other);
}

/* Moves a rank towards the end of the heap until none below it is earlier. */
static void sink(const struct job_traces *traces, int at)
{
	int rank = traces->heap[at], child;

	while ((child = 2 * at + 1) < traces->heap_count) {
		if (child + 1 < traces->heap_count && is_earlier(traces, traces->heap[child + 1], traces->heap[child]))
			child++;
		if (!is_earlier(traces, traces->heap[child], rank))
			break;
		traces->heap[at] = traces->heap[child];
		at = child;
	}
	traces->heap[at] = rank;
}

static void make_heap(struct job_traces *traces)
{
	traces->heap = malloc((size_t)traces->size * sizeof(*traces->heap));
	if (!traces->heap)
		program_fail("out of memory");
	for (int rank = 0; rank < traces->size; rank++) {
		if (peek(&traces->list[rank]))
			traces->heap[traces->heap_count++] = rank;
	}
	for (int at = traces->heap_count / 2; at-- > 0;)
		sink(traces, at);
}

/* Goes on behind the event that was taken last. Its pieces may be overwritten. */
static void leave_event(struct job_traces *traces)
{
	struct read_trace *read = &traces->list[traces->heap[0]];

	advance(read);
	if (!peek(read))
		traces->heap[0] = traces->heap[--traces->heap_count];
	if (traces->heap_count > 0)
		sink(traces, 0);
}

/* Returns the rank whose next event is the earliest, or -1. */
static int earliest(struct job_traces *traces)
{
	if (!traces->heap)
		make_heap(traces);
	else
		leave_event(traces);
	if (traces->heap_count == 0 || peek(&traces->list[traces->heap[0]])->ns > traces->end_ns)
		return -1;
	return traces->heap[0];
}

/* Gives a plain operation the pieces that other ones have. */
static void expand(struct judge_event *next)
{
	struct trace_event *event = &next->event;
	struct trace_piece *piece = next->few;
	uint32_t reads = event->plain.sides & PLAIN_READ ? 1 : 0, writes = event->plain.sides & PLAIN_WRITTEN ? 1 : 0;

	*piece++ = (struct trace_piece){ 0, event->plain.bytes };
	if (reads)
		*piece++ = (struct trace_piece){ event->plain.read, event->plain.bytes };
	if (writes)
		*piece++ = (struct trace_piece){ event->plain.written, event->plain.bytes };
	event->flags = OPERATION_OFFSETS;
	event->of.request = 0;
	event->of.target_pieces = 1;
	event->of.read_pieces = reads;
	event->of.written_pieces = writes;
	next->pieces = next->few;
}

/* Returns the index in job_traces.sites. */
static uint32_t site_of(const struct read_trace *read, const struct trace_event *event)
{
	return event->site < read->trace->site_count ? read->sites[event->site] : TRACE_NONE;
}

/*
 * Returns whether the next event says that the call of this one was refused. At the end of a block
 * it is not looked for.
 */
static bool is_refused(const struct read_trace *read)
{
	const struct trace_event *event = peek(read), *behind = event + 1 + event->count;

	return read->end - read->at > 1 + (uint64_t)event->count && behind->kind == TRACE_REFUSED &&
	       behind->site == event->site;
}

bool traces_next(struct job_traces *traces, struct judge_event *next)
{
	struct read_trace *read;

	next->rank = earliest(traces);
	if (next->rank < 0)
		return false;
	read = &traces->list[next->rank];
	next->event = *peek(read);
	next->pieces = read->rooms[read->at - read->first + 1].pieces;
	if (!is_sound(traces, read, &next->event))
		fail_damaged(read);
	next->event.site = site_of(read, &next->event);
	if (has_pieces(&next->event) && next->event.flags & OPERATION_PLAIN)
		expand(next);
	if (next->event.kind == TRACE_OPERATION && is_refused(read))
		next->event.flags |= OPERATION_REFUSED;
	return true;
}

void traces_scan(struct job_traces *traces, void (*call)(const struct trace_event *event, int rank))
{
	for (int rank = 0; rank < traces->size; rank++) {
		struct read_trace *read = &traces->list[rank];

		for (; peek(read); advance(read)) {
			struct trace_event event = *peek(read);

			event.site = site_of(read, &event);
			if (!is_sound(traces, read, &event))
				fail_damaged(read);
			call(&event, rank);
		}
		rewind_rooms(read);
	}
}

void traces_claim(const struct job_traces *traces)
{
	if (unlink(traces->list[0].path) != 0)
		end_behind_another(traces->job);
}

void traces_remove(const struct job_traces *traces)
{
	for (int rank = 0; rank < traces->size; rank++)
		unlink(traces->list[rank].path);
}
