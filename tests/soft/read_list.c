// SPDX-License-Identifier: BSD-2-Clause
/*
 * read_list.c - softverbs_read_list, softverbs_write_list: a list is read when the call returns, or
 * none of it counts; or it is written, up to the byte that the call returns; and softverbs_pull
 *
 * The owner stands still in two cases, so only the caller can have moved the bytes.
 */
#include <errno.h>
#include <sys/mman.h>

#include "lab.h"
#include "two.h"

enum {
	PIECES = 600, /* more than one system call takes */
	MEMORY = 96 << 10,
};

/* From each piece to the next, in turn: close, overlapping, back, and apart. */
static const int steps[] = { 24, 8, 4, 24, -16, 16, 32, 500, 24, 530, 24, 24 };

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static uint8_t byte_at(size_t offset)
{
	return (uint8_t)(offset * 7 + offset / 251);
}

/* Owns the memory; `shared`: peers can map it. */
static int owner(struct two *two, int shared)
{
	uint8_t *memory = make_memory(MEMORY, shared);
	struct ibv_mr *mr;

	lab_setup(&two->lab, NULL);
	mr = make_key(two, memory, MEMORY);
	for (size_t i = 0; mr && i < MEMORY; i++)
		memory[i] = byte_at(i);
	return mr && meet(two, mr) && hear(two) ? 0 : 1;
}

static softverbs_read_list_fn *find_read_list(void)
{
	softverbs_read_list_fn *read_list;

	return find_function("softverbs_read_list", &read_list) ? read_list : NULL;
}

/* Pieces of one to eight bytes, to the front of `got` one behind the other. */
static void list_of(const struct two *two, struct softverbs_piece *pieces, uint8_t *got)
{
	uint64_t addr = two->theirs.addr;

	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = (struct softverbs_piece){ got, 1 + i % 8, addr, two->theirs.rkey };
		got += pieces[i].size_bytes;
		addr += (uint64_t)steps[i % STEPS];
	}
}

static enum lab_verdict are_read(const struct two *two, const struct softverbs_piece *pieces)
{
	for (size_t i = 0; i < PIECES; i++) {
		const uint8_t *got = pieces[i].here;

		for (size_t j = 0; j < pieces[i].size_bytes; j++)
			CHECK(got[j] == byte_at((size_t)(pieces[i].addr - two->theirs.addr) + j));
	}
	return LAB_PASSED;
}

static enum lab_verdict list__is_read_at_once(void)
{
	static uint8_t got[8 * PIECES];
	softverbs_read_list_fn *read_list = find_read_list();
	struct softverbs_piece pieces[PIECES];
	struct two two;
	int status;

	if (!read_list)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, false) == LAB_PASSED);
	CHECK(kill(two.child, SIGSTOP) == 0 && waitpid(two.child, &status, WUNTRACED) == two.child && WIFSTOPPED(status));
	list_of(&two, pieces, got);
	CHECK(read_list(two.lab.a.qp, pieces, PIECES) == 0);
	CHECK(are_read(&two, pieces) == LAB_PASSED);
	CHECK(kill(two.child, SIGCONT) == 0);
	return finish(&two);
}

/*
 * Refuses the list if one piece is wrong. The queue pair stays as it is: a right list is read
 * afterwards.
 */
static enum lab_verdict refuses(struct two *two, size_t at, struct softverbs_piece wrong)
{
	static uint8_t got[8 * PIECES];
	softverbs_read_list_fn *read_list = find_read_list();
	struct softverbs_piece pieces[PIECES];

	list_of(two, pieces, got);
	pieces[at] = wrong;
	CHECK(read_list(two->lab.a.qp, pieces, PIECES) == EOPNOTSUPP);
	list_of(two, pieces, got);
	CHECK(read_list(two->lab.a.qp, pieces, PIECES) == 0);
	return are_read(two, pieces);
}

static enum lab_verdict list__with_a_wrong_piece_is_refused(void)
{
	static uint8_t got[8];
	struct two two;

	if (!find_read_list())
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, false) == LAB_PASSED);
	for (size_t at = 0; at < PIECES; at += PIECES - 1) {
		struct softverbs_piece key = { got, 8, two.theirs.addr, two.theirs.rkey ^ 1 };
		struct softverbs_piece beyond = { got, 8, two.theirs.addr + MEMORY - 7, two.theirs.rkey };
		struct softverbs_piece around = { got, 8, two.theirs.addr - 1, two.theirs.rkey };

		CHECK(refuses(&two, at, key) == LAB_PASSED);
		CHECK(refuses(&two, at, beyond) == LAB_PASSED);
		CHECK(refuses(&two, at, around) == LAB_PASSED);
	}
	return finish(&two);
}

static softverbs_write_list_fn *find_write_list(void)
{
	softverbs_write_list_fn *write_list;

	return find_function("softverbs_write_list", &write_list) ? write_list : NULL;
}

static uint64_t bytes_of(const struct softverbs_piece *pieces, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += pieces[i].size_bytes;
	return bytes;
}

/* Writes each byte's complement, and reads the pieces. */
static enum lab_verdict list__is_written_at_once(void)
{
	static uint8_t given[8 * PIECES], got[8 * PIECES];
	struct softverbs_piece pieces[PIECES], back[PIECES];
	int status;
	struct two two;

	if (!find_write_list())
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, false) == LAB_PASSED);
	CHECK(kill(two.child, SIGSTOP) == 0 && waitpid(two.child, &status, WUNTRACED) == two.child && WIFSTOPPED(status));
	list_of(&two, pieces, given);
	list_of(&two, back, got);
	CHECK(find_read_list()(two.lab.a.qp, pieces, PIECES) == 0);
	for (size_t i = 0; i < sizeof(given); i++)
		given[i] ^= 0xff;
	CHECK(find_write_list()(two.lab.a.qp, pieces, PIECES) == bytes_of(pieces, PIECES));
	CHECK(find_read_list()(two.lab.a.qp, back, PIECES) == 0);
	CHECK(memcmp(given, got, bytes_of(pieces, PIECES)) == 0);
	CHECK(kill(two.child, SIGCONT) == 0);
	return finish(&two);
}

static enum lab_verdict list__is_written_up_to_a_wrong_piece(void)
{
	static uint8_t given[8 * PIECES];
	struct softverbs_piece pieces[PIECES];
	struct two two;

	if (!find_write_list())
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, false) == LAB_PASSED);
	for (size_t at = 0; at < PIECES; at += PIECES - 1) {
		uint64_t written;

		list_of(&two, pieces, given);
		pieces[at].rkey ^= 1;
		written = find_write_list()(two.lab.a.qp, pieces, PIECES);
		CHECK(at ? written > 0 && written <= bytes_of(pieces, at) : written == 0);
	}
	return finish(&two);
}

static enum lab_verdict list__of_mapped_memory_is_refused(void)
{
	static uint8_t got[8 * PIECES];
	softverbs_read_list_fn *read_list = find_read_list();
	struct softverbs_piece pieces[PIECES];
	struct two two;

	if (!read_list)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, true) == LAB_PASSED);
	list_of(&two, pieces, got);
	CHECK(read_list(two.lab.a.qp, pieces, PIECES) == EOPNOTSUPP);
	CHECK(find_write_list()(two.lab.a.qp, pieces, PIECES) == 0);
	return finish(&two);
}

static enum lab_verdict pull__reads_what_the_peer_has_named(void)
{
	static uint8_t got[MEMORY];
	softverbs_pull_fn *pull;
	struct two two;
	bool same = true;

	if (!find_function("softverbs_pull", &pull))
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, owner, false) == LAB_PASSED);
	CHECK(pull(two.lab.a.qp, two.theirs.addr, got, MEMORY) == 0);
	for (size_t i = 0; i < MEMORY; i++)
		same &= got[i] == byte_at(i);
	CHECK(same && pull(two.lab.a.qp, 0, got, MEMORY) != 0);
	return finish(&two);
}

static const struct lab_case cases[] = {
	{ "list: is read at once", list__is_read_at_once, "lib/soft/post/move.c" },
	{ "list: with a wrong piece is refused", list__with_a_wrong_piece_is_refused, "lib/soft/post/move.c" },
	{ "list: is written at once", list__is_written_at_once, "lib/soft/post/move.c" },
	{ "list: is written up to a wrong piece", list__is_written_up_to_a_wrong_piece, "lib/soft/post/move.c" },
	{ "list: of mapped memory is refused", list__of_mapped_memory_is_refused, "lib/soft/post/move.c" },
	{ "pull: reads what the peer has named", pull__reads_what_the_peer_has_named, "lib/soft/post/move.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
