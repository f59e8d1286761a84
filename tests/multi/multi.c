// SPDX-License-Identifier: BSD-2-Clause
/* multi.c - see multi.h. */
#include "multi.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "job/job.h"
#include "base/order.h"
#include "job/peer.h"
#include "base/util.h"
#include "linger.h"
#include "slowness.h"
#include "verbs/wire.h"

#define MULTI_LIMIT_S 180
#define TEXT_BYTES 400
#define NAME_BYTES 128
#define RULES_BYTES 1024
#define PAUSE_NS 1000000
#define SLOT_BYTES ((size_t)1 << 16) /* of a file with many boards, for one of them */
#define RULES_FILE "tests/rules.md"  /* tests run in the folder above theirs */

/* A meeting of the ranks: the last one opens the next round. */
struct meeting {
	int arrived;
	uint64_t round;
};

struct result {
	pid_t pid;
	bool failed;
	bool skipped;
	char text[TEXT_BYTES];
};

struct noticeboard {
	uint32_t ready; /* the lock can be used; by rank 0 */
	int attached;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	struct meeting all;  /* of the job */
	struct meeting some; /* of the case */
	uint64_t word[MULTI_WORDS];
	uint64_t seed;
	int stuck;    /* a rank has reported that the case does not end */
	int failures; /* cases that have failed, by rank 0 */
	struct result result[MULTI_RANKS_MAX];
};

_Static_assert(sizeof(struct noticeboard) <= SLOT_BYTES, "a slot holds a board");

/*
 * Whether the board is memory that several machines share. No kernel wakes a rank that waits for
 * one of another machine, so a waiting rank polls.
 */
static bool far_board;

/* For the alarm, which knows nothing else. */
static struct {
	const char *case_name;
	char rules[RULES_BYTES]; /* of the case, to print when it fails: lines that begin with "# ", or nothing */
	struct noticeboard *board;
	int rank;
	int limit_s;
} running;

static void die(const char *what)
{
	fprintf(stderr, "multi: %s: %s\n", what, strerror(errno));
	_exit(1);
}

/* The board. */

/* When the process was started, in clock ticks: with its number it names it for ever. */
static unsigned long long start_of(pid_t pid)
{
	char path[64], text[1024], *at;
	unsigned long long start = 0;
	FILE *file;
	size_t bytes;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		die(path);
	bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[bytes] = '\0';
	at = strrchr(text, ')'); /* the name before it may hold anything */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	return start;
}

static void board_init(struct noticeboard *board)
{
	pthread_mutexattr_t mutex_attr;
	pthread_condattr_t cond_attr;

	pthread_mutexattr_init(&mutex_attr);
	pthread_mutexattr_setpshared(&mutex_attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&board->lock, &mutex_attr);
	pthread_mutexattr_destroy(&mutex_attr);
	pthread_condattr_init(&cond_attr);
	pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&board->changed, &cond_attr);
	pthread_condattr_destroy(&cond_attr);
	__atomic_store_n(&board->ready, 1, __ATOMIC_RELEASE);
}

static struct noticeboard *map_board(int fd, off_t at, const char *path)
{
	struct noticeboard *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

	if (board == MAP_FAILED)
		die(path);
	close(fd);
	return board;
}

/* A file of this machine's, named after the process that started the ranks; gone when all have it. */
static struct noticeboard *near_board(char *path, size_t path_bytes)
{
	int fd;

	snprintf(path, path_bytes, "/dev/shm/oriel-multi-%d-%llu", (int)getppid(), start_of(getppid()));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct noticeboard)))
		die(path);
	return map_board(fd, 0, path);
}

/* "FILE:SLOT": memory of several machines, zeroed, and a slot of it that no other job uses. */
static struct noticeboard *board_in_slot(const char *place)
{
	const char *slot = strrchr(place, ':');
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%.*s", slot ? (int)(slot - place) : 0, place);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die(place);
	far_board = true;
	return map_board(fd, (off_t)(strtoul(slot + 1, NULL, 10) * SLOT_BYTES), place);
}

static struct noticeboard *noticeboard_open(int rank, int size)
{
	const char *place = getenv("MULTI_BOARD");
	char path[128] = "";
	struct noticeboard *board = place ? board_in_slot(place) : near_board(path, sizeof(path));

	if (rank == 0)
		board_init(board);
	while (!__atomic_load_n(&board->ready, __ATOMIC_ACQUIRE))
		sched_yield();
	board->result[rank].pid = getpid();
	__atomic_add_fetch(&board->attached, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&board->attached, __ATOMIC_ACQUIRE) < size)
		sched_yield();
	if (rank == 0 && !place)
		unlink(path);
	return board;
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

static void lock(struct noticeboard *board)
{
	if (!far_board) {
		pthread_mutex_lock(&board->lock);
		return;
	}
	while (pthread_mutex_trylock(&board->lock))
		pause_shortly();
}

static void unlock(struct noticeboard *board)
{
	pthread_mutex_unlock(&board->lock);
}

/* Under the lock; it is given while waiting. */
static void wait_for_change(struct noticeboard *board)
{
	if (!far_board) {
		pthread_cond_wait(&board->changed, &board->lock);
		return;
	}
	unlock(board);
	pause_shortly();
	lock(board);
}

static void meet(struct noticeboard *board, struct meeting *meeting, int size)
{
	uint64_t round;

	lock(board);
	round = meeting->round;
	if (++meeting->arrived == size) {
		meeting->arrived = 0;
		meeting->round++;
		pthread_cond_broadcast(&board->changed);
	}
	while (meeting->round == round)
		wait_for_change(board);
	unlock(board);
}

void multi_sync(struct multi *m)
{
	meet(m->board, &m->board->some, m->size);
}

void multi_raise(struct multi *m, int word, uint64_t value)
{
	lock(m->board);
	m->board->word[word] = value;
	pthread_cond_broadcast(&m->board->changed);
	unlock(m->board);
}

void multi_await(struct multi *m, int word, uint64_t value)
{
	lock(m->board);
	while (m->board->word[word] < value)
		wait_for_change(m->board);
	unlock(m->board);
}

uint64_t multi_word(struct multi *m, int word)
{
	uint64_t value;

	lock(m->board);
	value = m->board->word[word];
	unlock(m->board);
	return value;
}

pid_t multi_pid(const struct multi *m, int rank)
{
	return m->board->result[rank].pid;
}

/* Checks. */

static void fail_text(struct multi *m, const char *file, int line, const char *why)
{
	struct result *result = &m->board->result[m->rank];

	lock(m->board);
	if (!result->failed)
		snprintf(result->text, sizeof(result->text), "%s (rank %d, %s:%d)", why, m->rank, file, line);
	result->failed = true;
	unlock(m->board);
}

void multi_fail(struct multi *m, const char *file, int line, const char *format, ...)
{
	char why[TEXT_BYTES - 64];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	fail_text(m, file, line, why);
}

bool multi_check(struct multi *m, bool held, const char *what, const char *file, int line)
{
	if (!held)
		multi_fail(m, file, line, "not true: %s", what);
	return held;
}

/*
 * Whether the error's text begins with the rank, or the process of one that has none, and ends with
 * the constant (E1).
 */
static bool is_framed(const struct multi *m, const char *text, int rc)
{
	const char *constant = oriel_strerror(rc);
	char begin[32], end[64];

	snprintf(begin, sizeof(begin), "[rank %d] ", m->rank);
	snprintf(end, sizeof(end), " (%.*s)", (int)strcspn(constant, ":"), constant);
	if (strncmp(text, begin, strlen(begin)) != 0 && strncmp(text, "[pid ", 5) != 0)
		return false;
	return strlen(text) > strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

bool multi_check_rc(struct multi *m, int rc, int expected, const char *what, const char *file, int line)
{
	if (rc == expected && (rc >= 0 || is_framed(m, oriel_last_error(), rc)))
		return true;
	multi_fail(m, file, line, "%s gives %d instead of %d: %s", what, rc, expected, rc < 0 ? oriel_last_error() : "");
	return false;
}

bool multi_check_text(struct multi *m, const char *word, const char *file, int line)
{
	if (strstr(oriel_last_error(), word))
		return true;
	multi_fail(m, file, line, "the error text lacks \"%s\": %s", word, oriel_last_error());
	return false;
}

bool multi_failed(const struct multi *m)
{
	return m->board->result[m->rank].failed;
}

void multi_skip(struct multi *m, const char *format, ...)
{
	struct result *result = &m->board->result[m->rank];
	va_list args;

	lock(m->board);
	if (!result->failed && !result->skipped) {
		va_start(args, format);
		vsnprintf(result->text, sizeof(result->text), format, args);
		va_end(args);
		result->skipped = true;
	}
	unlock(m->board);
}

/* Random numbers. */

uint64_t multi_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t multi_seed(struct multi *m)
{
	const char *given = getenv("MULTI_SEED");

	if (m->rank == 0) {
		m->board->seed = given ? strtoull(given, NULL, 0) : now_ns() % 1000000;
		printf("# %s: seed %llu\n", running.case_name, (unsigned long long)m->board->seed);
	}
	multi_sync(m);
	return m->board->seed;
}

/* Inside the library. */

static void drain_peer(struct peer *peer)
{
	uint64_t number;

	if (!peer || state_load(&peer->state) != PEER_UP) /* pairs with peer_set_state and rank_died */
		return;
	number = wire_signal(&peer->wire);
	while (!wire_done(&peer->wire, number) && state_load(&peer->state) == PEER_UP)
		wire_poll(&peer->wire);
}

bool multi_over_card(void)
{
	const char *device = getenv("ORIEL_DEVICE");

	return device && strcmp(device, "card") == 0;
}

uint64_t multi_applied(struct multi *m)
{
	struct am_service *am = &m->job->am;
	uint64_t sum = 0;

	pthread_mutex_lock(&am->lock);
	for (const struct am_receiver *ring = am->list; ring; ring = ring->next)
		sum += ring->taken;
	pthread_mutex_unlock(&am->lock);
	return sum;
}

void multi_drain(struct multi *m)
{
	for (int rank = 0; rank < oriel_size(m->job); rank++)
		drain_peer(peer_find(m->job, rank));
}

/* Data. */

static uint8_t byte_of(uint64_t seed, size_t i)
{
	return (uint8_t)((i + seed * 131) * 2654435761u >> 13 ^ i);
}

void multi_fill(void *memory, size_t size_bytes, uint64_t seed)
{
	uint8_t *bytes = memory;

	for (size_t i = 0; i < size_bytes; i++)
		bytes[i] = byte_of(seed, i);
}

bool multi_holds(const void *memory, size_t size_bytes, uint64_t seed)
{
	const uint8_t *bytes = memory;

	for (size_t i = 0; i < size_bytes; i++) {
		if (bytes[i] != byte_of(seed, i))
			return false;
	}
	return true;
}

bool multi_all(const void *memory, size_t size_bytes, uint8_t value)
{
	const uint8_t *bytes = memory;

	for (size_t i = 0; i < size_bytes; i++) {
		if (bytes[i] != value)
			return false;
	}
	return true;
}

void *multi_alloc(size_t size_bytes)
{
	void *memory = calloc(size_bytes ? size_bytes : 1, 1);

	if (!memory)
		die("out of memory");
	return memory;
}

/* Groups and windows. */

oriel_group *multi_group(struct multi *m, int count, const int ranks[])
{
	oriel_group *group = NULL;

	CHECK_OK(m, oriel_group_incl(m->group, count, ranks, &group));
	return group;
}

oriel_group *multi_group_mask(struct multi *m, unsigned mask)
{
	int ranks[MULTI_RANKS_MAX], count = 0;

	for (int rank = 0; rank < m->size; rank++) {
		if (mask & 1u << rank)
			ranks[count++] = rank;
	}
	return multi_group(m, count, ranks);
}

oriel_group *multi_group_one(struct multi *m, int rank)
{
	return multi_group(m, 1, &rank);
}

void multi_group_drop(struct multi *m, oriel_group *group)
{
	CHECK_OK(m, oriel_group_free(&group));
}

static int open_window(const struct multi *m, struct multi_window *w, const struct oriel_hint *hints)
{
	void *base;
	int rc;

	if (!w->allocated) {
		w->base = multi_alloc(w->size_bytes);
		return oriel_win_create(w->base, w->size_bytes, 1, hints, m->group, &w->win);
	}
	rc = oriel_win_allocate(w->size_bytes, 1, hints, m->group, &base, &w->win);
	if (rc == 0)
		w->base = base;
	return rc;
}

void multi_window_open(struct multi *m, struct multi_window *w, size_t size_bytes)
{
	multi_window_open_as(m, w, size_bytes, NULL, false);
}

void multi_window_open_as(struct multi *m, struct multi_window *w, size_t size_bytes, const struct oriel_hint *hints,
                          bool allocated)
{
	*w = (struct multi_window){ .size_bytes = size_bytes, .allocated = allocated };
	if (CHECK_OK(m, open_window(m, w, hints)))
		return;
	printf("not ok %s: %s\n%s", running.case_name, m->board->result[m->rank].text, running.rules);
	fflush(stdout);
	_exit(1);
}

void multi_window_close(struct multi *m, struct multi_window *w)
{
	linger();
	CHECK_OK(m, oriel_win_free(&w->win));
	CHECK(m, w->win == NULL);
	if (!w->allocated)
		free(w->base);
	w->base = NULL;
}

void multi_warm(struct multi *m, oriel_win *win)
{
	CHECK_OK(m, oriel_win_post(win, m->group, 0));
	CHECK_OK(m, oriel_win_start(win, m->group, 0));
	CHECK_OK(m, oriel_win_complete(win));
	CHECK_OK(m, oriel_win_wait(win));
}

/* The rules of a case: the items of tests/rules.md whose numbers stand in front of its name, "E5_P5_...". */

/* Whether the line begins the item of the number that the name begins with: "- **P3** ...". */
static bool begins_rule(const char *line, const char *name)
{
	size_t length = strcspn(name, "_");

	return strncmp(line, "- **", 4) == 0 && strncmp(line + 4, name, length) == 0 &&
	       strncmp(line + 4 + length, "** ", 3) == 0;
}

static void append_rule(const char *line)
{
	size_t used = strlen(running.rules);

	snprintf(running.rules + used, RULES_BYTES - used, "# %s", line);
}

static void read_rule(FILE *file, const char *name)
{
	char line[RULES_BYTES];
	bool inside = false;

	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "  ", 2) != 0) /* not the item's next line */
			inside = begins_rule(line, name);
		if (inside)
			append_rule(line);
	}
}

/* A case without a rule, or a run in another folder, prints none. */
static void find_rules(const char *name)
{
	FILE *file = fopen(RULES_FILE, "r");

	running.rules[0] = '\0';
	if (!file)
		return;
	while (isupper((unsigned char)name[0]) && isdigit((unsigned char)name[1])) {
		read_rule(file, name);
		name += strcspn(name, "_");
		name += *name == '_';
	}
	fclose(file);
}

/* Running cases. */

struct tally {
	int passed;
	int failed;
	int skipped;
};

/* The one thing a stuck case can still do. Only what is safe in a signal handler. */
static void on_alarm(int signal)
{
	char text[NAME_BYTES + 96 + RULES_BYTES];
	int length;

	(void)signal;
	if (__atomic_exchange_n(&running.board->stuck, 1, __ATOMIC_ACQ_REL) == 0) {
		length = snprintf(text, sizeof(text), "not ok %s: not done after %d s (rank %d)\n%s", running.case_name,
		                  running.limit_s, running.rank, running.rules);
		if (write(STDOUT_FILENO, text, (size_t)length) < 0)
			_exit(2);
	}
	_exit(1);
}

static bool report_failed(const struct multi *m, const struct multi_case *c, int size)
{
	for (int rank = 0; rank < size; rank++) {
		if (!m->board->result[rank].failed)
			continue;
		printf("not ok %s: %s\n%s", c->name, m->board->result[rank].text, running.rules);
		return true;
	}
	return false;
}

static bool report_skipped(const struct multi *m, const struct multi_case *c, int size)
{
	for (int rank = 0; rank < size; rank++) {
		if (!m->board->result[rank].skipped)
			continue;
		printf("skip %s: %s\n", c->name, m->board->result[rank].text);
		return true;
	}
	return false;
}

static void report(const struct multi *m, const struct multi_case *c, int size, struct tally *tally)
{
	if (report_failed(m, c, size)) {
		m->board->failures = ++tally->failed;
	} else if (report_skipped(m, c, size)) {
		tally->skipped++;
	} else {
		printf("ok %s\n", c->name);
		tally->passed++;
	}
	fflush(stdout);
}

static void clear_board(struct noticeboard *board)
{
	memset(board->word, 0, sizeof(board->word));
	for (int rank = 0; rank < MULTI_RANKS_MAX; rank++)
		board->result[rank].failed = board->result[rank].skipped = false;
}

static void run_case(struct multi *m, const struct multi_case *c, oriel_group *world)
{
	int ranks[MULTI_RANKS_MAX];

	if (m->rank >= m->size)
		return;
	for (int i = 0; i < m->size; i++)
		ranks[i] = i;
	if (!CHECK_OK(m, oriel_group_incl(world, m->size, ranks, &m->group)))
		return;
	c->run(m);
	CHECK_OK(m, oriel_group_free(&m->group));
}

static void run_one(struct multi *m, const struct multi_case *c, oriel_group *world, struct tally *tally)
{
	int size = oriel_size(m->job);

	m->size = c->ranks ? c->ranks : size;
	running.case_name = c->name;
	find_rules(c->name);
	if (m->rank == 0)
		clear_board(m->board);
	meet(m->board, &m->board->all, size);
	alarm((unsigned)running.limit_s);
	if (m->size > size)
		multi_skip(m, "needs %d ranks", m->size);
	else
		run_case(m, c, world);
	meet(m->board, &m->board->all, size);
	alarm(0);
	if (m->rank == 0)
		report(m, c, size, tally);
	meet(m->board, &m->board->all, size);
}

/* Whether an argument names the case: all of its name, or the rule in front of it. */
static bool named(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t length = strlen(argv[i]);

		if (strncmp(name, argv[i], length) == 0 && (name[length] == '\0' || name[length] == '_'))
			return true;
	}
	return argc <= 1;
}

static void set_limit(const struct multi_program *program)
{
	const char *limit = getenv("MULTI_LIMIT");
	struct sigaction action = { .sa_handler = on_alarm };

	running.limit_s = program->limit_s ? program->limit_s : MULTI_LIMIT_S;
	if (limit && atoi(limit) > 0)
		running.limit_s = atoi(limit);
	running.limit_s *= slowness();
	sigaction(SIGALRM, &action, NULL);
}

static bool join(struct multi *m, const struct multi_program *program)
{
	int size;

	if (oriel_init(program->options.struct_bytes ? &program->options : NULL, &m->job)) {
		fprintf(stderr, "%s: %s\n", program->name, oriel_last_error());
		return false;
	}
	m->rank = oriel_rank(m->job);
	size = oriel_size(m->job);
	if (size > MULTI_RANKS_MAX) {
		fprintf(stderr, "%s: more than %d ranks\n", program->name, MULTI_RANKS_MAX);
		return false;
	}
	m->board = noticeboard_open(m->rank, size);
	running.board = m->board;
	running.rank = m->rank;
	set_limit(program);
	return true;
}

bool multi_enter(struct multi *m, const char *name, int limit_s)
{
	const struct multi_program program = { .name = name, .limit_s = limit_s };

	memset(m, 0, sizeof(*m));
	if (!join(m, &program) || oriel_group_world(m->job, &m->group))
		return false;
	m->size = oriel_size(m->job);
	running.case_name = name;
	alarm((unsigned)running.limit_s);
	return true;
}

int multi_tell(struct multi *m)
{
	if (multi_failed(m))
		printf("not ok %s: %s\n", running.case_name, m->board->result[m->rank].text);
	fflush(stdout);
	return multi_failed(m);
}

static int run_all(struct multi *m, const struct multi_program *program, int argc, char **argv)
{
	struct tally tally = { 0 };
	oriel_group *world;

	if (oriel_group_world(m->job, &world))
		return 1;
	for (size_t i = 0; i < program->case_count; i++) {
		if (named(program->cases[i].name, argc, argv))
			run_one(m, &program->cases[i], world, &tally);
	}
	oriel_group_free(&world);
	if (m->rank == 0)
		printf("%s: %d passed, %d failed, %d skipped\n", program->name, tally.passed, tally.failed, tally.skipped);
	fflush(stdout);
	if (m->rank == 0 && tally.passed + tally.failed + tally.skipped == 0)
		fprintf(stderr, "%s: no case is named so\n", program->name);
	return tally.failed > 0 || (m->rank == 0 && tally.passed + tally.skipped == 0);
}

static int list(const struct multi_program *program)
{
	for (size_t i = 0; i < program->case_count; i++)
		printf("%s\n", program->cases[i].name);
	return 0;
}

int multi_main(int argc, char **argv, const struct multi_program *program)
{
	struct multi m = { 0 };
	int failed;

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list(program);
	if (!join(&m, program))
		return 1;
	failed = run_all(&m, program, argc, argv);
	alarm((unsigned)running.limit_s);
	running.case_name = "leaving";
	running.rules[0] = '\0';
	if (oriel_finalize(&m.job) == 0)
		return failed;
	if (m.board->failures == 0) /* windows that a failed case has left are no further failure */
		printf("not ok %s_finalize: %s (rank %d)\n", program->name, oriel_last_error(), m.rank);
	return 1;
}
