// SPDX-License-Identifier: BSD-2-Clause
/* See part.h and call.h. */
#include "see/front/call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "see/front/clock.h"

bool clock_is_counter;
struct part *process_part, *counted_part;

static char folder[PART_FOLDER_BYTES];
static char part_path[PART_FILE_BYTES];

#define ANCHOR_TICKS (1 << 21)

/* Both clocks, read together by the thread. */
static _Thread_local struct {
	uint64_t ticks; /* 0: never */
	uint64_t ns;
	double ns_per_tick;
} anchor __attribute__((tls_model("initial-exec")));

static void read_anchor(void)
{
	const struct part_header *header = &process_part->header;

	clock_read_both(&anchor.ticks, &anchor.ns);
	anchor.ns_per_tick = (double)(anchor.ns - header->begun_ns) / (double)(anchor.ticks - header->begun_ticks + 1);
}

uint64_t clock_ns(uint64_t ticks)
{
	if (!clock_is_counter || !process_part)
		return clock_is_counter ? now_ns() : ticks;
	if ((int64_t)(ticks - anchor.ticks) > ANCHOR_TICKS || !anchor.ticks)
		read_anchor();
	return anchor.ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - anchor.ticks) * anchor.ns_per_tick);
}

static void complain(const char *what, const char *where)
{
	fprintf(stderr, "oriel: there is no %s of process %d: %s: %s\n", what, (int)getpid(), where, strerror(errno));
}

/* Without room for the timeline there is a profile alone. */
static struct part *map_file(int fd)
{
	uint32_t chunks = trace_chunks_wanted();
	struct part *memory;

	if (!part_file_take_room(fd, 0, sizeof(struct part)))
		return NULL;
	if (chunks && !part_file_take_room(fd, 0, part_file_bytes(chunks))) {
		complain("timeline", part_path);
		chunks = 0;
		if (ftruncate(fd, sizeof(struct part)))
			return NULL;
	}
	memory = mmap(NULL, part_file_bytes(chunks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return NULL;
	memory->header.chunk_count = chunks;
	return memory;
}

static struct part *make_file(void)
{
	int fd = part_file_make(PART_PREFIX, part_path), error;
	struct part *made;

	if (fd < 0)
		return NULL;
	made = map_file(fd);
	error = errno;
	close(fd);
	if (!made)
		unlink(part_path);
	errno = error;
	return made;
}

/* Before the library's job is known: what its launcher calls it, or the process that started it. */
static void guess_job(struct part_header *header)
{
	const char *name = getenv("PMIX_NAMESPACE");

	if (name && *name)
		snprintf(header->job, sizeof(header->job), "%.60s", name);
	else
		snprintf(header->job, sizeof(header->job), "started by %d", (int)getppid());
}

static void note_processors(struct part_header *header)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (size_t i = 0; i < PART_PROCESSORS && i < CPU_SETSIZE; i++)
		header->processors[i / 64] |= CPU_ISSET(i, &set) ? 1ULL << i % 64 : 0;
}

static void begin(struct part_header *header)
{
	header->version = PART_VERSION;
	header->rank = header->size = -1;
	header->pid = (int32_t)getpid();
	clock_is_counter = clock_has_counter();
	header->has_counter = clock_is_counter;
	clock_read_both(&header->begun_ticks, &header->begun_ns);
	guess_job(header);
	note_processors(header);
	if (gethostname(header->host, sizeof(header->host) - 1))
		header->host[0] = '\0';
	__atomic_store_n(&header->mark, PART_MARK, __ATOMIC_RELEASE);
}

/* A child of fork records nothing. */
static void leave_in_child(void)
{
	process_part = counted_part = NULL;
	memset(&call_thread.recents, 0, sizeof(call_thread.recents));
}

void part_open(void)
{
	if (process_part)
		return;
	if (getauxval(AT_SECURE)) {
		fprintf(stderr, "oriel: there is no profile of process %d: it runs a set-user-id program\n", (int)getpid());
		return;
	}
	part_write_folder(folder);
	process_part = make_file();
	if (!process_part) {
		complain("profile", part_path);
		return;
	}
	pthread_atfork(NULL, NULL, leave_in_child);
	trace_open(process_part);
	begin(&process_part->header);
	counted_part = clock_is_counter ? process_part : NULL;
}

const char *part_folder(void)
{
	return folder;
}

/* Only the library's service thread calls it. */
void part_add_death(int rank, const char *text)
{
	struct part *part = process_part;

	if (!part || part->death_count == PART_DEATHS)
		return;
	part->deaths[part->death_count].rank = rank;
	snprintf(part->deaths[part->death_count].text, PART_DEATH_BYTES, "%s", text);
	__atomic_store_n(&part->death_count, part->death_count + 1, __ATOMIC_RELEASE);
}

void part_end(void)
{
	struct part *part = process_part;

	if (!part)
		return;
	clock_read_both(&part->header.ended_ticks, &part->header.ended_ns);
	__atomic_store_n(&part->header.state, PART_ENDED, __ATOMIC_RELEASE);
}
