// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer is killed at a random moment, again and again, while it and the survivor send each other datagrams. The
 * survivor's sends have to be done, before and after, its queue pair has to stay as it is, and nothing of the dead may
 * be left in it: no descriptor and no mapping. Usage: ud_kill [times [seed]]
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
	SPARE = 8, /* descriptors that may be in use for other reasons */
};

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

static void prepare(void)
{
	must(set_up(&bench) == LAB_PASSED, "set_up");
	for (uint64_t i = 0; i < LAB_DEPTH; i++)
		receive(SLOT * i);
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

static void act(uint32_t qpn, uint32_t n)
{
	if (send_to(&bench, qpn, QKEY, 40000, n % 3 ? 8 : 1000, IBV_SEND_SIGNALED) == 0)
		waiting++;
	look();
}

static void victim(int out, uint32_t survivor)
{
	prepare();
	if (write(out, &bench.lab.a.qp->qp_num, sizeof(uint32_t)) != sizeof(uint32_t))
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

static void one_life(void)
{
	int64_t until;
	int from[2];
	uint32_t qpn;
	pid_t child;

	must(pipe(from) == 0, "pipe");
	child = fork();
	if (child == 0)
		victim(from[1], bench.lab.a.qp->qp_num);
	close(from[1]);
	must(child > 0 && read(from[0], &qpn, sizeof(qpn)) == sizeof(qpn), "victim");
	until = now_us() + rand() % LIFE_US;
	for (uint32_t n = 0; now_us() < until; n++)
		act(qpn, n);
	must(kill(child, SIGKILL) == 0, "kill");
	for (uint32_t n = 0; n < MORE; n++)
		act(qpn, n);
	must(waitpid(child, NULL, 0) == child, "waitpid");
	drain();
	for (uint32_t n = 0; n < MORE; n++)
		act(qpn, n);
	drain();
	close(from[0]);
	must(lab_state(bench.lab.a.qp) == IBV_QPS_RTS, "the queue pair has changed");
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
