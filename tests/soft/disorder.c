// SPDX-License-Identifier: BSD-2-Clause
/*
 * The adversary's disorder: which requests of one queue pair change places, and which never do.
 * Runs on softverbs only: it sets SOFTVERBS_ADVERSARY itself.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS = 300,
	OLD = 1,
	NEW = 5,    /* what lab_rdma adds, too */
	HERE = 256, /* the word at b */
};

static uint64_t word(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void set(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* One of a list: the word at a's `at`, to or from b's word. */
struct step {
	enum ibv_wr_opcode op;
	unsigned int flags;
};

static struct ibv_send_wr work(const struct lab *lab, const struct step *step, uint64_t id, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.wr_id = id, .sg_list = sge, .num_sge = 1, .opcode = step->op, .send_flags = step->flags | IBV_SEND_SIGNALED
	};

	*sge = (struct ibv_sge){ (uintptr_t)lab->a.buffer + id * 8, 8, lab->a.mr->lkey };
	if (step->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)lab->b.buffer + HERE;
		wr.wr.atomic.rkey = lab->b.mr->rkey;
		wr.wr.atomic.compare_add = NEW;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)lab->b.buffer + HERE;
		wr.wr.rdma.rkey = lab->b.mr->rkey;
	}
	return wr;
}

/* Two requests on the same word, posted as one list; completions come in order. true: done. */
static bool two(struct lab *lab, const struct step *first, const struct step *second)
{
	struct ibv_sge sges[2];
	struct ibv_send_wr wrs[2] = { work(lab, first, 0, &sges[0]), work(lab, second, 1, &sges[1]) };

	set(lab->a.buffer, NEW);
	set(lab->a.buffer + 8, NEW + 1);
	set(lab->b.buffer + HERE, OLD);
	wrs[0].next = &wrs[1];
	if (lab_post(lab->a.qp, &wrs[0]) != 0)
		return false;
	for (uint64_t i = 0; i < 2; i++) {
		struct ibv_wc wc = lab_wait(lab->a.send_cq);

		if (wc.status != IBV_WC_SUCCESS || wc.wr_id != i)
			return false;
	}
	return true;
}

static void disorder(void)
{
	setenv("SOFTVERBS_ADVERSARY", "1,delay=0,late=0,reorder=0,disorder=50", 1);
}

/*
 * In how many rounds was the first carried out after the second? -1: something failed. `seen` tells
 * by the words.
 */
static int swapped(const struct step *first, const struct step *second, bool (*seen)(const struct lab *lab))
{
	struct lab lab;
	int count = 0;

	disorder();
	lab_setup(&lab, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		if (!two(&lab, first, second))
			return -1;
		count += seen(&lab);
	}
	return count;
}

static const struct step write_it = { IBV_WR_RDMA_WRITE, 0 }, fenced_write = { IBV_WR_RDMA_WRITE, IBV_SEND_FENCE };
static const struct step read_it = { IBV_WR_RDMA_READ, 0 }, add = { IBV_WR_ATOMIC_FETCH_AND_ADD, 0 };

static bool first_write_was_last(const struct lab *lab)
{
	return word(lab->b.buffer + HERE) == NEW;
}

static bool second_found_the_old(const struct lab *lab)
{
	return word(lab->a.buffer + 8) == OLD;
}

static bool first_found_the_new(const struct lab *lab)
{
	return word(lab->a.buffer) == NEW + 1;
}

static enum lab_verdict disorder__writes_change_places(void)
{
	int count = swapped(&write_it, &write_it, first_write_was_last);

	CHECK(count > ROUNDS / 10 && count < ROUNDS);
	return LAB_PASSED;
}

static enum lab_verdict disorder__atomic_finds_the_write(void)
{
	CHECK(swapped(&write_it, &add, second_found_the_old) == 0);
	return LAB_PASSED;
}

static enum lab_verdict disorder__read_finds_the_write(void)
{
	CHECK(swapped(&write_it, &read_it, second_found_the_old) == 0);
	return LAB_PASSED;
}

static enum lab_verdict disorder__write_overtakes_a_read(void)
{
	CHECK(swapped(&read_it, &write_it, first_found_the_new) > ROUNDS / 10);
	return LAB_PASSED;
}

static enum lab_verdict disorder__fenced_write_does_not(void)
{
	CHECK(swapped(&read_it, &fenced_write, first_found_the_new) == 0);
	CHECK(swapped(&add, &fenced_write, first_found_the_new) == 0);
	return LAB_PASSED;
}

static enum lab_verdict disorder__send_keeps_its_place(void)
{
	static const struct step send_it = { IBV_WR_SEND, 0 };
	struct ibv_sge sges[2];
	struct lab lab;

	disorder();
	lab_setup(&lab, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wrs[2] = { work(&lab, &write_it, 0, &sges[0]), work(&lab, &send_it, 1, &sges[1]) };

		set(lab.a.buffer, NEW);
		set(lab.b.buffer + HERE, OLD);
		wrs[0].next = &wrs[1];
		CHECK(lab_recv(&lab.b, 1, 0, 8) == 0 && lab_post(lab.a.qp, &wrs[0]) == 0);
		CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS && word(lab.b.buffer + HERE) == NEW);
		CHECK(lab_wait(lab.a.send_cq).wr_id == 0 && lab_wait(lab.a.send_cq).wr_id == 1);
	}
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "disorder: writes change places", disorder__writes_change_places, "lib/soft/request/requester.c" },
	{ "disorder: atomic finds the write", disorder__atomic_finds_the_write, "lib/soft/request/requester.c" },
	{ "disorder: read finds the write", disorder__read_finds_the_write, "lib/soft/request/requester.c" },
	{ "disorder: write overtakes a read", disorder__write_overtakes_a_read, "lib/soft/request/requester.c" },
	{ "disorder: fenced write does not", disorder__fenced_write_does_not, "ibv_post_send(3)" },
	{ "disorder: send keeps its place", disorder__send_keeps_its_place, "lib/soft/request/requester.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
