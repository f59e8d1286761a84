// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library with softverbs inside, opened by a program that also has a libibverbs: usage: inside
 * LIBRARY CASE. The library may be closed and opened again, the process may fork while it has a
 * job, and no other library sees another device than before. Exit status: 0 all is well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <oriel.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BYTES = 65536,
	ROUNDS = 3,
};

#define FAIL_UNLESS(condition)                                                                  \
	do {                                                                                        \
		if (!(condition))                                                                       \
			return fprintf(stderr, "inside.c:%d: not true: %s\n", __LINE__, #condition), false; \
	} while (0)

/* What is used of the library. */
struct library {
	void *handle;
	__typeof__(oriel_init) *init;
	__typeof__(oriel_finalize) *finalize;
	__typeof__(oriel_size) *size;
	__typeof__(oriel_group_world) *group_world;
	__typeof__(oriel_group_free) *group_free;
	__typeof__(oriel_win_allocate) *win_allocate;
	__typeof__(oriel_win_free) *win_free;
	__typeof__(oriel_win_fence) *win_fence;
	__typeof__(oriel_put) *put;
	__typeof__(oriel_last_error) *last_error;
};

/* A job with a window. */
struct joined {
	struct library library;
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	char *window;
};

static bool find(const struct library *library, const char *name, void *pointer)
{
	void *found = dlsym(library->handle, name);

	memcpy(pointer, &found, sizeof(found));
	return found;
}

static bool library_open(struct library *library, const char *path)
{
	library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return fprintf(stderr, "%s\n", dlerror()), false;
	return find(library, "oriel_init", &library->init) && find(library, "oriel_finalize", &library->finalize) &&
	       find(library, "oriel_size", &library->size) && find(library, "oriel_group_world", &library->group_world) &&
	       find(library, "oriel_group_free", &library->group_free) &&
	       find(library, "oriel_win_allocate", &library->win_allocate) &&
	       find(library, "oriel_win_free", &library->win_free) &&
	       find(library, "oriel_win_fence", &library->win_fence) && find(library, "oriel_put", &library->put) &&
	       find(library, "oriel_last_error", &library->last_error);
}

static bool told(const struct joined *joined, int rc)
{
	if (rc)
		fprintf(stderr, "%s\n", joined->library.last_error());
	return rc == 0;
}

static bool join(struct joined *joined)
{
	void *base;

	FAIL_UNLESS(told(joined, joined->library.init(NULL, &joined->job)));
	FAIL_UNLESS(told(joined, joined->library.group_world(joined->job, &joined->world)));
	FAIL_UNLESS(told(joined, joined->library.win_allocate(BYTES, 1, NULL, joined->world, &base, &joined->win)));
	joined->window = base;
	return true;
}

static bool leave(struct joined *joined)
{
	FAIL_UNLESS(told(joined, joined->library.win_free(&joined->win)));
	FAIL_UNLESS(told(joined, joined->library.group_free(&joined->world)));
	FAIL_UNLESS(told(joined, joined->library.finalize(&joined->job)));
	return true;
}

/* A byte from here to every rank, oneself included. */
static bool talk(struct joined *joined, char byte)
{
	FAIL_UNLESS(told(joined, joined->library.win_fence(joined->win, 0)));
	for (int rank = 0; rank < joined->library.size(joined->job); rank++)
		FAIL_UNLESS(told(joined, joined->library.put(joined->win, &byte, 1, rank, BYTES / 2)));
	FAIL_UNLESS(told(joined, joined->library.win_fence(joined->win, 0)));
	FAIL_UNLESS(joined->window[BYTES / 2] == byte);
	return true;
}

static bool whole_job(const char *path)
{
	struct joined joined;

	return library_open(&joined.library, path) && join(&joined) && talk(&joined, 'x') && leave(&joined);
}

static bool closed_and_opened_again(const char *path)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct joined joined;

		FAIL_UNLESS(library_open(&joined.library, path) && join(&joined) && talk(&joined, 'a') && leave(&joined));
		FAIL_UNLESS(dlclose(joined.library.handle) == 0);
	}
	return true;
}

static bool succeeds(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The parent's handles are not the child's, and a job of its own is none of the parent's business. */
static bool live_as_child(struct joined *parents, const char *path)
{
	FAIL_UNLESS(parents->library.size(parents->job) == ORIEL_ERR_HANDLE);
	FAIL_UNLESS(parents->library.win_fence(parents->win, 0) == ORIEL_ERR_HANDLE);
	FAIL_UNLESS(parents->library.finalize(&parents->job) == ORIEL_ERR_HANDLE);
	return whole_job(path);
}

static bool child_with_a_job_of_its_own(const char *path)
{
	struct joined joined;
	pid_t child;

	FAIL_UNLESS(library_open(&joined.library, path) && join(&joined) && talk(&joined, 'a'));
	child = fork();
	if (child == 0)
		_exit(!live_as_child(&joined, path));
	FAIL_UNLESS(talk(&joined, 'b'));
	FAIL_UNLESS(succeeds(child));
	FAIL_UNLESS(talk(&joined, 'c'));
	return leave(&joined);
}

/* A child that is another program at once, as system(3) makes them, in any rank of a job. */
static bool child_that_execs(const char *path)
{
	struct joined joined;
	pid_t child;

	FAIL_UNLESS(library_open(&joined.library, path) && join(&joined) && talk(&joined, 'a'));
	child = fork();
	if (child == 0)
		_exit(execlp("true", "true", (char *)NULL));
	FAIL_UNLESS(talk(&joined, 'b'));
	FAIL_UNLESS(succeeds(child));
	FAIL_UNLESS(talk(&joined, 'c'));
	return leave(&joined);
}

static int devices(void)
{
	int count = -1;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (list)
		ibv_free_device_list(list);
	return count;
}

static bool others_see_nothing(const char *path)
{
	const char *names[] = { "softverbs_map", "softverbs_watch", "verbs_softverbs" };
	struct joined joined;
	int before = devices();

	FAIL_UNLESS(library_open(&joined.library, path) && join(&joined) && talk(&joined, 'a'));
	FAIL_UNLESS(devices() == before);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		FAIL_UNLESS(!dlsym(RTLD_DEFAULT, names[i]) && !dlsym(joined.library.handle, names[i]));
	return leave(&joined);
}

/* As a container's profile may have it: memfd_create is not permitted. */
static bool forbid_memory_files(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool job_without_memory_files(const char *path)
{
	FAIL_UNLESS(forbid_memory_files());
	return whole_job(path);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*run)(const char *path);
	} cases[] = {
		{ "job", whole_job },
		{ "closed_and_opened_again", closed_and_opened_again },
		{ "child_with_a_job_of_its_own", child_with_a_job_of_its_own },
		{ "child_that_execs", child_that_execs },
		{ "others_see_nothing", others_see_nothing },
		{ "job_without_memory_files", job_without_memory_files },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, argv[2]) == 0)
			return !cases[i].run(argv[1]);
	fprintf(stderr, "usage: inside LIBRARY CASE\n");
	return 2;
}
