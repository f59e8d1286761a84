// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer is killed at a random moment, again and again, while it and the survivor send each other
 * datagrams, or write and send over an unreliable connection ("uc"). What the survivor asks for has
 * to be done, before and after, its queue pair has to stay as it is, and nothing of the dead may be
 * left in it: no descriptor and no mapping. Usage: ud_kill [times [seed [uc]]]
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "datagrams.h"

enum {
	LIFE_US = 10000, /* the victim lives this long at most */
	SLOT = 2048,     /* bytes of a receive */
	MORE = 40,       /* datagrams to one that is dead */
	HANG_MS = 30000,
	SPARE = 8,     /* descriptors that may be in use for other reasons */
	FROM = 40000,  /* where in its buffer each side has what it sends, and what is written there */
	LARGE = 20000, /* bytes of a write that is no small one */
	ALL = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
};

/* What the victim tells the survivor, and knows of it. */
struct card {
	uint32_t qpn, rkey;
	uint64_t addr;
};

static const struct lab_options connected = { .type = IBV_QPT_UC };
static bool uc;
static struct bench bench;
static int waiting; /* sends that are not done */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "ud_kill: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	must(dir != NULL, "descriptors");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	int n = 0;

	must(file != NULL, "maps");
	for (int c; (c = fgetc(file)) != EOF;)
		n += c == '\n';
	fclose(file);
	return n;
}

static void receive(uint64_t at)
{
	must(lab_recv(&bench.lab.a, at, at, SLOT) == 0, "lab_recv");
}

static void post_receives(void)
{
	for (uint64_t i = 0; i < LAB_DEPTH; i++)
		receive(SLOT * i);
}

static void prepare(void)
{
	if (uc) {
		lab_setup(&bench.lab, NULL);
		return;
	}
	must(set_up(&bench) == LAB_PASSED, "set_up");
	post_receives();
}

/* A connection is for one life. */
static void begin(void)
{
	if (!uc)
		return;
	bench.lab.a.qp = lab_qp(&bench.lab.a, &connected);
	must(bench.lab.a.qp && lab_init(&bench.lab, bench.lab.a.qp, ALL) == 0, "lab_qp");
	post_receives();
}

static struct card card(void)
{
	return (struct card){ bench.lab.a.qp->qp_num, bench.lab.a.mr->rkey, (uintptr_t)bench.lab.a.buffer + FROM };
}

static void connect_to(const struct card *theirs)
{
	if (uc)
		must(lab_rtr(&bench.lab, bench.lab.a.qp, theirs->qpn, &connected) == 0 &&
		         lab_rts(bench.lab.a.qp, &connected) == 0,
		     "not connected");
}

/* Take what is done and what has come. */
static void look(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(bench.lab.a.send_cq, 1, &wc) > 0) {
		must(wc.status == IBV_WC_SUCCESS, "a send failed");
		waiting--;
	}
	while (ibv_poll_cq(bench.lab.a.recv_cq, 1, &wc) > 0) {
		must(wc.status == IBV_WC_SUCCESS, "a receive failed");
		receive(wc.wr_id);
	}
}

/* A send or a write, small or large. 0 or an errno value. */
static int post_connected(const struct card *theirs, uint32_t n)
{
	struct ibv_sge sge = { (uintptr_t)bench.lab.a.buffer + FROM, n % 3 ? 8 : 1000, bench.lab.a.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };

	if (n % 2) {
		wr.opcode = IBV_WR_RDMA_WRITE;
		wr.wr.rdma.remote_addr = theirs->addr;
		wr.wr.rdma.rkey = theirs->rkey;
		if (n % 3 == 0)
			sge.length = LARGE;
	}
	return lab_post(bench.lab.a.qp, &wr);
}

static void act(const struct card *theirs, uint32_t n)
{
	int err =
		uc ? post_connected(theirs, n) : send_to(&bench, theirs->qpn, QKEY, FROM, n % 3 ? 8 : 1000, IBV_SEND_SIGNALED);

	waiting += err == 0;
	look();
}

static void victim(int out, const struct card *survivor)
{
	struct card mine;

	prepare();
	begin();
	connect_to(survivor);
	mine = card();
	if (write(out, &mine, sizeof(mine)) != sizeof(mine))
		_exit(1);
	for (uint32_t n = 0;; n++)
		act(survivor, n);
}

static void drain(void)
{
	int64_t until = now_us() + HANG_MS * 1000ll;

	while (waiting > 0) {
		must(now_us() < until, "sends are never done");
		look();
	}
}

/* Starts the victim, which has sent its address. */
static pid_t bear(struct card *theirs)
{
	struct card mine = card();
	int from[2];
	pid_t child;

	must(pipe(from) == 0, "pipe");
	child = fork();
	if (child == 0)
		victim(from[1], &mine);
	close(from[1]);
	must(child > 0 && read(from[0], theirs, sizeof(*theirs)) == sizeof(*theirs), "victim");
	close(from[0]);
	return child;
}

static void one_life(void)
{
	struct card theirs;
	int64_t until;
	pid_t child;

	begin();
	child = bear(&theirs);
	connect_to(&theirs);
	until = now_us() + rand() % LIFE_US;
	for (uint32_t n = 0; now_us() < until; n++)
		act(&theirs, n);
	must(kill(child, SIGKILL) == 0, "kill");
	for (uint32_t n = 0; n < MORE; n++)
		act(&theirs, n);
	must(waitpid(child, NULL, 0) == child, "waitpid");
	drain();
	for (uint32_t n = 0; n < MORE; n++)
		act(&theirs, n);
	drain();
	must(lab_state(bench.lab.a.qp) == IBV_QPS_RTS, "the queue pair has changed");
	if (uc)
		must(ibv_destroy_qp(bench.lab.a.qp) == 0, "ibv_destroy_qp");
}

/* That a peer is dead is noticed a moment later. */
static void must_become(int (*count)(void), int most, const char *what)
{
	int64_t until = now_us() + HANG_MS * 1000ll;

	while (count() > most)
		must(now_us() < until, what);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 100, fds, maps;

	uc = argc > 3 && strcmp(argv[3], "uc") == 0;
	srand(argc > 2 ? (unsigned int)atoi(argv[2]) : 1);
	prepare();
	one_life();
	fds = descriptors();
	maps = mappings();
	for (int i = 0; i < times; i++)
		one_life();
	must_become(descriptors, fds + SPARE, "descriptors of the dead are left");
	must_become(mappings, maps + SPARE, "mappings of the dead are left");
	printf("%d killed\n", times);
	return 0;
}
