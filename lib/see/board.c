// SPDX-License-Identifier: BSD-2-Clause
/* See board.h. */
#include "see/board.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/order.h"

/* Returns whether a file may have a page: beyond RLIMIT_FSIZE a write ends the process. */
static bool may_have_page(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= BOARD_BYTES);
}

/* A write allocates the page. If memory is short, it fails, while a store ends the process. */
static bool write_page(int fd, const struct board_header *header)
{
	char bytes[BOARD_BYTES] = { 0 };

	memcpy(bytes, header, sizeof(*header));
	return pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes);
}

static struct board_page *map_page(int fd)
{
	void *page = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return page == MAP_FAILED ? NULL : page;
}

void board_open(struct board *board, const char *job, int rank, int size)
{
	struct board_header header = {
		.mark = BOARD_MARK, .version = BOARD_VERSION, .rank = rank, .size = size, .pid = getpid()
	};

	*board = (struct board){ .fd = may_have_page() ? memfd_create(BOARD_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1 };
	if (board->fd < 0)
		return;
	snprintf(header.job, sizeof(header.job), "%s", job);
	if (write_page(board->fd, &header))
		board->page = map_page(board->fd);
	if (!board->page)
		close(board->fd);
}

void board_close(struct board *board)
{
	if (!board->page)
		return;
	munmap(board->page, BOARD_BYTES);
	close(board->fd);
	board->page = NULL;
}

/* Returns a free slot + 1, now this thread's; 0: none. */
static uint8_t take_slot(struct board *board)
{
	for (uint8_t i = 0; board->page && i < BOARD_SLOTS; i++) {
		/* Pairs with the state_store of board_clear. */
		if (state_load(&board->taken[i]) == 0 && state_change(&board->taken[i], 0, 1))
			return (uint8_t)(i + 1);
	}
	return 0;
}

static void write_slot(struct board_slot *slot, const struct board_wait *wait)
{
	uint64_t serial = counter_load(&slot->serial);

	counter_store(&slot->serial, serial + 1);
	full_fence(); /* a reader that sees a part of the wait sees an odd or a changed serial */
	memcpy(&slot->wait, wait, sizeof(*wait));
	counter_store(&slot->serial, serial + 2); /* as above */
}

/* A reader does not take a slot that was written between its two reads, hence the comparison. */
void board_show(struct board *board, uint8_t *slot, const struct board_wait *wait)
{
	if (*slot == 0)
		*slot = take_slot(board);
	if (*slot && memcmp(&board->page->slot[*slot - 1].wait, wait, sizeof(*wait)) != 0)
		write_slot(&board->page->slot[*slot - 1], wait);
}

void board_clear(struct board *board, uint8_t *slot)
{
	static const struct board_wait none;

	write_slot(&board->page->slot[*slot - 1], &none);
	state_store(&board->taken[*slot - 1], 0); /* pairs with the state_load of take_slot */
	*slot = 0;
}

const struct board_cause_words *board_cause_words(enum board_cause cause)
{
	static const struct board_cause_words words[CAUSE_COUNT] = {
		[CAUSE_UNKNOWN] = { "", "" },
		[CAUSE_SETUP] = { "connection", " (no connection yet)" },
		[CAUSE_POST] = { "no post", " (no post yet)" },
		[CAUSE_COMPLETE] = { "no complete", " (no complete yet)" },
		[CAUSE_FENCE] = { "no fence", " (no fence yet)" },
		[CAUSE_COLLECTIVE] = { "not in the call", " (not in the call yet)" },
		[CAUSE_LOCK] = { "holds the lock", " (the lock is held)" },
		[CAUSE_DATA] = { "data", " (operations are under way)" },
		[CAUSE_ROOM] = { "no room", " (no room for active messages)" },
		[CAUSE_SIGNAL] = { "no signal", " (no signal yet)" },
		[CAUSE_DETACH] = { "not acked", " (no acknowledgement yet)" },
		[CAUSE_LIBRARY] = { "library", " (work inside of Oriel)" },
		[CAUSE_APPLY] = { "not applied", " (operations not applied yet)" },
		[CAUSE_OUTSIDE] = { "outside", " (outside of Oriel)" },
	};

	return &words[cause];
}

/* Reading. */

void board_make_printable(char *text, size_t size_bytes)
{
	text[size_bytes - 1] = '\0';
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

bool board_are_ranks(const int32_t *ranks, uint32_t count, int32_t size)
{
	for (uint32_t i = 0; i < count; i++) {
		if (ranks[i] < 0 || ranks[i] >= size)
			return false;
	}
	return true;
}

static bool is_sound(const struct board_wait *wait, int32_t size)
{
	return wait->cause < CAUSE_COUNT && (wait->epochs & ~(uint32_t)EPOCH_ANY) == 0 && wait->more_ranks <= 1 &&
	       wait->rank_count <= BOARD_RANKS && wait->holder_count <= BOARD_HOLDERS && wait->call[0] &&
	       board_are_ranks(wait->ranks, wait->rank_count, size);
}

bool board_check_wait(struct board_wait *wait, int32_t size)
{
	board_make_printable(wait->call, sizeof(wait->call));
	board_make_printable(wait->window, sizeof(wait->window));
	return is_sound(wait, size);
}

static void read_slot(struct board_copy *copy, const struct board_slot *slot)
{
	struct board_wait *wait = &copy->wait[copy->wait_count];

	*wait = slot->wait;
	if (slot->serial % 2 == 0 && wait->since_ns && board_check_wait(wait, copy->header.size))
		copy->wait_count++;
}

static bool header_is_sound(const struct board_header *header)
{
	return header->mark == BOARD_MARK && header->version == BOARD_VERSION && header->size >= 1 &&
	       header->size <= BOARD_RANK_MAX && header->rank >= 0 && header->rank < header->size && header->pid > 0;
}

static bool read_pages(struct board_copy *copy, const struct board_page *first, const struct board_page *second)
{
	copy->header = first->header;
	copy->wait_count = 0;
	board_make_printable(copy->header.job, sizeof(copy->header.job));
	if (!header_is_sound(&copy->header))
		return false;
	for (int i = 0; i < BOARD_SLOTS; i++) {
		if (memcmp(&first->slot[i], &second->slot[i], sizeof(first->slot[i])) == 0)
			read_slot(copy, &first->slot[i]);
	}
	return true;
}

bool board_read(struct board_copy *copy, const void *first, const void *second, size_t size_bytes)
{
	struct board_page a, b;

	if (size_bytes != BOARD_BYTES)
		return false;
	memcpy(&a, first, sizeof(a));
	memcpy(&b, second, sizeof(b));
	return read_pages(copy, &a, &b);
}

/* Reads the page as another process would: threads may be writing it. */
static bool read_page(int fd, struct board_page *page)
{
	return pread(fd, page, sizeof(*page), 0) == (ssize_t)sizeof(*page);
}

bool board_longest(const struct board *board, struct board_wait *wait)
{
	struct board_page first, second;
	struct board_copy copy;
	uint32_t longest = 0;

	if (!board->page || !read_page(board->fd, &first) || !read_page(board->fd, &second) ||
	    !read_pages(&copy, &first, &second) || copy.wait_count == 0)
		return false;
	for (uint32_t i = 1; i < copy.wait_count; i++) {
		if (copy.wait[i].since_ns < copy.wait[longest].since_ns)
			longest = i;
	}
	*wait = copy.wait[longest];
	return true;
}
