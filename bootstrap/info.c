// SPDX-License-Identifier: BSD-2-Clause
/*
 * info.c - oriel-info: devices, ports, GIDs, addresses and limits of this machine, and which device
 * Oriel would take from which provider (verbs/provider.h)
 *
 * Rank 0 of a job also prints how it would reach the others. The exit status is 0 if oriel_init
 * would find what it needs and, under a launcher, every rank can be reached; 1 if not; 2 for wrong
 * usage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/err.h"
#include "info_ranks.h"
#include "job/job.h"
#include "oriel.h"
#include "verbs/device.h"
#include "verbs/layout.h"
#include "verbs/provider.h"
#include "win/win.h"

#define GIDS_SHOWN 8

static const char usage[] =
	"usage: oriel-info [--chosen]\n"
	"  shows RDMA devices, ports, addresses and limits, which devices would be taken and why the others not;\n"
	"  started as the ranks of a job (oriel-run -n 2 oriel-info) also how rank 0 would reach the others\n"
	"  --chosen  print only the devices and addresses that would be taken\n"
	"  ORIEL_DEVICE and ORIEL_ADDR restrict the choice, as they do for programs\n";

struct choice {
	bool chosen_only;
	bool asked; /* oriel_init would ask this provider */
	bool found;
	bool reachable; /* all other ranks, if any */
};

static const char *limit_text(rlim_t limit, char text[24])
{
	if (limit == RLIM_INFINITY)
		return "unlimited";
	snprintf(text, 24, "%llu", (unsigned long long)limit);
	return text;
}

static void print_limit(const char *name, const struct rlimit *limit, const char *remedy)
{
	char soft[24], hard[24];

	printf("  %-24s %s, can be raised to %s (%s)\n", name, limit_text(limit->rlim_cur, soft),
	       limit_text(limit->rlim_max, hard), remedy);
}

static void print_limits(void)
{
	struct rlimit limit;

	printf("limits\n");
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		print_limit("locked memory, bytes", &limit, "ulimit -l, limits.conf, LimitMEMLOCK=");
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		print_limit("open files", &limit, "ulimit -n");
	printf("  %-24s %d\n", "windows at once", WINDOWS_MAX);
}

static void print_memory(void)
{
	printf("memory of the library, bytes\n");
	printf("  %-24s %zu and what the device keeps for a queue pair; +%d once unregistered memory is copied\n",
	       "per peer", sizeof(struct peer) + sizeof(struct area) + (sizeof(struct flag_pair) << TABLE_FIRST_LOG2),
	       (int)COPY_RING_BYTES);
	printf("  %-24s %zu\n", "per window", sizeof(struct oriel_win) + sizeof(struct dir_entry));
	printf("  %-24s %zu\n", "per window and peer", sizeof(struct link) + sizeof(struct flag_pair) + 2 * sizeof(void *));
}

static void print_gids(struct ibv_context *verbs, uint8_t port, int table)
{
	for (int i = 0, shown = 0; i < table && shown < GIDS_SHOWN; i++) {
		static const union ibv_gid none;
		char text[INET6_ADDRSTRLEN];
		union ibv_gid gid;

		if (ibv_query_gid(verbs, port, i, &gid) || memcmp(&gid, &none, sizeof(gid)) == 0)
			continue;
		printf("    GID %-3d %s\n", i, inet_ntop(AF_INET6, gid.raw, text, sizeof(text)));
		shown++;
	}
}

/* Returns the port's number of GIDs, or -1. */
static int print_port(struct ibv_context *verbs, uint8_t port)
{
	struct ibv_port_attr attr;

	if (ibv_query_port(verbs, port, &attr))
		return -1;
	printf("  port %d: %s, %s, largest message %u bytes\n", port, ibv_port_state_str(attr.state),
	       attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand", attr.max_msg_sz);
	return attr.gid_tbl_len;
}

static void print_limits_of_device(const struct ibv_device_attr *attr)
{
	printf("  firmware %s, vendor 0x%x, %d queue pairs, %d memory regions, %d requests a queue, %d reads in flight\n",
	       attr->fw_ver, attr->vendor_id, attr->max_qp, attr->max_mr, attr->max_qp_wr, attr->max_qp_rd_atom);
}

static void print_device(struct ibv_device *device)
{
	struct ibv_context *verbs = ibv_open_device(device);
	struct ibv_device_attr attr;

	printf("device %s\n", ibv_get_device_name(device));
	if (!verbs || ibv_query_device(verbs, &attr)) {
		printf("  cannot be opened: %s\n", strerror(errno));
	} else {
		print_limits_of_device(&attr);
		for (uint8_t port = 1; port <= attr.phys_port_cnt; port++)
			print_gids(verbs, port, print_port(verbs, port));
	}
	if (verbs)
		ibv_close_device(verbs);
}

static void print_system_devices(void)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (count == 0)
		printf("devices of rdma-core\n  none\n");
	for (int i = 0; i < count; i++)
		print_device(list[i]);
	if (list)
		ibv_free_device_list(list);
}

static bool print_context(void *arg, const struct device_candidate *candidate)
{
	struct ibv_device_attr attr;
	bool *shown = arg;

	if (!candidate->id || *shown || verbs_softverbs.query_device(candidate->id->verbs, &attr))
		return false;
	print_limits_of_device(&attr);
	print_port(candidate->id->verbs, candidate->id->port_num);
	*shown = true;
	return false;
}

/* softverbs has no list of devices: its device is the one that its first address is bound to. */
static void print_softverbs(void)
{
	struct rdma_event_channel *channel;
	bool shown = false;

	printf("device soft0, softverbs: memory that processes of one user on one machine share; part of the library\n");
	channel = verbs_softverbs.create_event_channel();
	if (channel) {
		device_scan(&verbs_softverbs, channel, NULL, NULL, print_context, &shown);
		verbs_softverbs.destroy_event_channel(channel);
	}
	if (!shown)
		printf("  cannot be opened: %s\n", strerror(errno));
}

static void print_devices(void)
{
	print_system_devices();
	if (provider_system_is_softverbs())
		printf("  all is softverbs here, in rdma-core's place (oriel-soft)\n");
	else
		print_softverbs();
}

/* Never keeps the identifier. */
static bool show_address(void *arg, const struct device_candidate *candidate)
{
	struct choice *choice = arg;
	bool taken = choice->asked && !candidate->why_not && !choice->found;

	if (taken)
		choice->found = true;
	if (choice->chosen_only) {
		if (taken)
			printf("%s at %s (%s)\n", candidate->device, candidate->addr, candidate->interface);
		return false;
	}
	printf("  %-24s %-10s %-10s %s\n", candidate->addr, candidate->interface,
	       candidate->device ? candidate->device : "-",
	       taken                ? "would be taken"
	       : candidate->why_not ? candidate->why_not
	       : choice->found      ? "not needed: one is taken before it"
	                            : "not asked for");
	return false;
}

static void scan(struct choice *choice, const struct verbs_functions *functions, const char *device, const char *addr)
{
	struct rdma_event_channel *channel = functions->create_event_channel();

	if (!choice->chosen_only)
		printf("addresses, as rdma_cm of %s sees them\n", functions->name);
	if (!channel) {
		fprintf(choice->chosen_only ? stderr : stdout, "  rdma_cm of %s cannot be used: %s%s\n", functions->name,
		        strerror(errno), functions == &verbs_system ? " (is the module rdma_ucm loaded?)" : "");
		return;
	}
	device_scan(functions, channel, device, addr, show_address, choice);
	functions->destroy_event_channel(channel);
}

/*
 * Returns the provider if oriel_init would ask it, and the address it would ask for; otherwise
 * NULL.
 */
static const struct provider *find_provider(const struct providers *providers, const struct verbs_functions *functions,
                                            const char **addr)
{
	for (uint32_t i = 0; i < providers->count; i++) {
		*addr = i == 0 ? getenv("ORIEL_ADDR") : NULL;
		if (providers->list[i].functions == functions)
			return &providers->list[i];
	}
	*addr = NULL;
	return NULL;
}

/* Scans one provider. Returns false if oriel_init needs it and would find nothing. */
static bool scan_one(struct choice *choice, const struct providers *providers, const struct verbs_functions *functions)
{
	const char *addr;
	const struct provider *provider = find_provider(providers, functions, &addr);

	choice->asked = provider;
	choice->found = false;
	if (provider || (!choice->chosen_only && !(provider_system_is_softverbs() && functions == &verbs_softverbs)))
		scan(choice, functions, provider ? provider->device : "", addr);
	return choice->found || !provider || !provider->needed;
}

static void scan_all(struct choice *choice)
{
	struct providers providers = providers_choose(getenv("ORIEL_DEVICE"));
	bool card = scan_one(choice, &providers, &verbs_system), soft = scan_one(choice, &providers, &verbs_softverbs);

	choice->found = card && soft;
}

static void print_not_found(FILE *out)
{
	fprintf(
		out,
		"what would be taken\n"
		"  none of these: there is no device of that name (ORIEL_DEVICE) or at that address (ORIEL_ADDR). Ways out:\n"
		"  unset both         takes the first device of the machine, and softverbs for ranks that share it\n"
		"  ORIEL_DEVICE=soft  takes softverbs, for ranks on one machine\n"
		"  modprobe rdma_rxe && rdma link add rxe0 type rxe netdev IFACE\n"
		"                     makes SoftRoCE, on a network interface\n");
}

static void print_ranks(struct info_ranks *ranks, const char *why, struct choice *choice)
{
	if (!ranks)
		printf("what the other ranks would be reached by\n  no job can be joined: %s\n", why);
	choice->reachable = ranks && info_ranks_ask(ranks, true);
}

static void print_all(struct choice *choice)
{
	printf("Oriel %s\n", oriel_version());
	print_devices();
	scan_all(choice);
	if (!choice->found)
		print_not_found(stdout);
	print_limits();
	print_memory();
}

/* Rank 0 prints; the others take part without printing. */
static void run_as_rank(struct choice *choice)
{
	const char *why;
	int rank;
	struct info_ranks *ranks = info_ranks_join(&rank, &why);

	if (rank == 0) {
		print_all(choice);
		print_ranks(ranks, why, choice);
	} else {
		choice->found = choice->reachable = true;
		info_ranks_ask(ranks, false);
	}
	if (ranks)
		info_ranks_leave(ranks);
}

static void print_chosen(struct choice *choice)
{
	scan_all(choice);
	if (!choice->found)
		print_not_found(stderr);
}

static int check_written(void)
{
	if (fflush(stdout) == 0)
		return 0;
	fprintf(stderr, "oriel-info: cannot write to standard output: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct choice choice = { .chosen_only = argc == 2 && strcmp(argv[1], "--chosen") == 0 };
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	if (argc > 1 && !choice.chosen_only) {
		fputs(usage, help ? stdout : stderr);
		return help ? check_written() : 2;
	}
	choice.reachable = choice.chosen_only;
	if (choice.chosen_only)
		print_chosen(&choice);
	else
		run_as_rank(&choice);
	return check_written() || !choice.found || !choice.reachable;
}
