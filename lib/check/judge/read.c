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
#include "check/judge/judge.h"
#include "see/board.h"

#define LIMIT_NS (10 * NS_PER_SECOND) /* for ranks that have not ended */
#define STEP_NS (20 * NS_PER_MS)
#define RANKS_MAX (1 << 16)

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
	int fd = part_file_open(path, sizeof(struct trace) + 1);
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

static void read_sites(struct job_traces *traces, struct read_trace *read)
{
	struct trace *trace = read->trace;
	uint32_t count = trace->site_count < TRACE_SITES ? trace->site_count : TRACE_SITES;

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

static void take_file(struct job_traces *traces, const struct mapped *file)
{
	struct read_trace *read = &traces->list[file->trace->rank];
	/* pairs with trace_add_with */
	uint64_t rooms = __atomic_load_n(&file->trace->room_count, __ATOMIC_ACQUIRE);
	uint64_t most = (file->bytes - sizeof(struct trace)) / sizeof(union trace_room);

	if (read->trace)
		program_fail("two traces are of rank %d of job %s", file->trace->rank, traces->job);
	read->trace = malloc(sizeof(struct trace));
	if (!read->trace)
		program_fail("out of memory");
	memcpy(read->trace, file->trace, sizeof(struct trace));
	read->rooms = file->trace->rooms;
	read->room_count = rooms < most ? rooms : most;
	read->path = file->path;
	read_sites(traces, read);
}

static const struct trace_event *peek(const struct read_trace *read)
{
	return read->at < read->room_count ? &read->rooms[read->at].event : NULL;
}

/* After the last event of a trace without room, others may be ordered by what it lacks. */
static void find_end(struct job_traces *traces)
{
	traces->end_ns = UINT64_MAX;
	for (int rank = 0; rank < traces->size; rank++) {
		struct read_trace *read = &traces->list[rank];
		uint64_t last_ns = read->trace->begun_ns;

		if (!read->trace->lost)
			continue;
		for (; peek(read); read->at += 1 + (uint64_t)peek(read)->count)
			last_ns = peek(read)->ns;
		read->at = 0;
		if (last_ns < traces->end_ns)
			traces->end_ns = last_ns;
	}
}

static void take_files(struct job_traces *traces, const struct mapped_list *files)
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
		if (!traces->list[rank].trace)
			program_fail("there is no trace of rank %d on this machine: nothing can be judged", rank);
	}
	find_end(traces);
}

void traces_read(struct job_traces *traces, const char *job)
{
	uint64_t end = now_ns() + LIMIT_NS;
	struct mapped_list files = { 0 };
	char folder[PART_FOLDER_BYTES];

	part_write_folder(folder);
	map_folder(&files, folder);
	choose_job(traces, &files, job);
	drop_others(&files, traces->job);
	while (is_running(&files) && now_ns() < end)
		nanosleep(&(struct timespec){ 0, (long)STEP_NS }, NULL);
	if (files.count == 0)
		program_fail("%s has no trace of %s%s", folder, job[0] ? "job " : "a job", job);
	take_files(traces, &files);
}

/* ---- events, in the order of time ---- */

/* Returns whether the event can be used. */
static bool is_sound(const struct job_traces *traces, const struct read_trace *read, const struct trace_event *event)
{
	uint64_t pieces = (uint64_t)event->of.target_pieces + event->of.read_pieces + event->of.written_pieces;
	bool needs_rank = event->kind == TRACE_OPERATION || event->kind == TRACE_SIGNAL;

	return event->kind > TRACE_PIECES && event->kind < TRACE_KINDS && event->rank >= (needs_rank ? 0 : -1) &&
	       event->rank < traces->size && event->count < read->room_count - read->at &&
	       (event->kind != TRACE_OPERATION || pieces <= (uint64_t)event->count * TRACE_ROOM_PIECES) &&
	       (event->kind != TRACE_WINDOW_NAME || event->count * sizeof(union trace_room) >= PART_NAME_BYTES);
}

/* Returns the rank whose next event is the earliest, or -1. */
static int earliest(const struct job_traces *traces)
{
	uint64_t ns = UINT64_MAX;
	int rank = -1;

	for (int i = 0; i < traces->size; i++) {
		const struct trace_event *event = peek(&traces->list[i]);

		if (event && event->ns < ns) {
			ns = event->ns;
			rank = i;
		}
	}
	return ns <= traces->end_ns ? rank : -1;
}

bool traces_next(struct job_traces *traces, struct judge_event *next)
{
	struct read_trace *read;

	next->rank = earliest(traces);
	if (next->rank < 0)
		return false;
	read = &traces->list[next->rank];
	next->event = *peek(read);
	next->pieces = read->rooms[read->at + 1].pieces;
	if (!is_sound(traces, read, &next->event))
		program_fail("%s is damaged at event %llu", read->path, (unsigned long long)read->at);
	read->at += 1 + (uint64_t)next->event.count;
	next->event.site = next->event.site < read->trace->site_count ? read->sites[next->event.site] : TRACE_NONE;
	return true;
}

void traces_windows(struct job_traces *traces, void (*call)(const struct trace_event *event, int rank))
{
	for (int rank = 0; rank < traces->size; rank++) {
		struct read_trace *read = &traces->list[rank];

		for (; peek(read); read->at += 1 + (uint64_t)peek(read)->count) {
			if (peek(read)->kind == TRACE_WINDOW)
				call(peek(read), rank);
		}
		read->at = 0;
	}
}

void traces_remove(const struct job_traces *traces)
{
	for (int rank = 0; rank < traces->size; rank++)
		unlink(traces->list[rank].path);
}
