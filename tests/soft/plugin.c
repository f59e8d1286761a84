// SPDX-License-Identifier: BSD-2-Clause
/*
 * A plugin brings the verbs libraries and takes them along when it is unloaded, as those of libfabric
 * and of Open MPI do: the device's thread outlives that, and the next round finds it at work.
 *
 * usage: plugin [rounds]
 */
#include <dirent.h>
#include <dlfcn.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROUNDS = 100,
	FOR_THE_THREAD_US = 1000,
};

struct plugin {
	void *verbs, *cm;
	struct ibv_device **(*get_device_list)(int *n);
	void (*free_device_list)(struct ibv_device **list);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct rdma_event_channel *(*create_event_channel)(void);
	void (*destroy_event_channel)(struct rdma_event_channel *channel);
};

/* ISO C has no cast from an object's address to a function's. */
static bool find(void *library, const char *name, void *pointer)
{
	void *function = library ? dlsym(library, name) : NULL;

	memcpy(pointer, &function, sizeof(function));
	return function;
}

static bool load(struct plugin *p)
{
	p->verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	p->cm = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL);
	return find(p->verbs, "ibv_get_device_list", &p->get_device_list) &&
	       find(p->verbs, "ibv_free_device_list", &p->free_device_list) &&
	       find(p->verbs, "ibv_open_device", &p->open_device) &&
	       find(p->verbs, "ibv_close_device", &p->close_device) && find(p->verbs, "ibv_alloc_pd", &p->alloc_pd) &&
	       find(p->verbs, "ibv_dealloc_pd", &p->dealloc_pd) &&
	       find(p->cm, "rdma_create_event_channel", &p->create_event_channel) &&
	       find(p->cm, "rdma_destroy_event_channel", &p->destroy_event_channel);
}

static bool use(const struct plugin *p)
{
	struct rdma_event_channel *channel = p->create_event_channel();
	struct ibv_device **list = p->get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? p->open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? p->alloc_pd(context) : NULL;

	if (!channel || !pd || p->dealloc_pd(pd) != 0 || p->close_device(context) != 0)
		return false;
	p->free_device_list(list);
	p->destroy_event_channel(channel);
	return true;
}

static bool one_round(void)
{
	struct plugin p;

	if (!load(&p) || !use(&p) || dlclose(p.cm) != 0 || dlclose(p.verbs) != 0)
		return false;
	/* It goes on, or into what is no longer there. */
	usleep(FOR_THE_THREAD_US);
	return true;
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, threads = 0, descriptors = 0;

	for (int i = 0; i < rounds; i++) {
		if (!one_round()) {
			printf("failed: round %d\n", i);
			return 1;
		}
		if (i == 0) {
			threads = entries("/proc/self/task");
			descriptors = entries("/proc/self/fd");
		}
	}
	if (entries("/proc/self/task") != threads || entries("/proc/self/fd") != descriptors) {
		printf("failed: %d threads and %d descriptors became %d and %d\n", threads, descriptors,
		       entries("/proc/self/task"), entries("/proc/self/fd"));
		return 1;
	}
	printf("passed: %d rounds\n", rounds);
	return 0;
}
