// SPDX-License-Identifier: BSD-2-Clause
/*
 * info.c - oriel-info: this machine's devices, addresses and limits, and which device Oriel would
 * take from which provider (verbs/devices.h)
 *
 * Rank 0 of a job also prints how it would reach the others. The exit status is 0 if oriel_init
 * would find what it needs and rank 0 could reach all others; 1 if not; 2 for wrong usage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "info_facts.h"
#include "info_json.h"
#include "info_ranks.h"
#include "job/job.h"
#include "oriel.h"
#include "variables.h"
#include "verbs/device.h"
#include "verbs/devices.h"
#include "verbs/layout.h"
#include "win/win.h"

#define GIDS_SHOWN 8

static const char usage[] =
	"usage: oriel-info [--chosen | --json]\n"
	"\n"
	"Prints what Oriel is built with, RDMA devices, ports, addresses and limits, what this machine allows, and for each\n"
	"device whether Oriel would take it, or why not.\n"
	"As the ranks of a job (oriel-run -n 2 oriel-info) it also prints how rank 0 would reach the others.\n"
	"\n"
	"  --chosen    print only the devices and addresses that would be taken\n"
	"  --json      print it as JSON, for programs and for reports of defects\n"
	"  -h, --help  print this\n"
	"  --version   print the version\n"
	"\n"
	"ORIEL_DEVICE and ORIEL_ADDR restrict the choice, as they do for programs.\n";

enum shape { SHOW_TEXT, SHOW_CHOSEN, SHOW_JSON };

struct choice {
	enum shape shape;
	bool asked; /* oriel_init would ask this provider */
	bool found;
	bool reachable; /* all other ranks, if any */
};

static void print_section(const struct facts *facts, const char *section, int width)
{
	printf("%s\n", section);
	for (const struct fact *fact = facts->list; fact < facts->list + facts->count; fact++) {
		if (strcmp(fact->section, section) == 0)
			printf("  %-*s %s\n", width, fact->name, fact->value);
	}
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

/* softverbs has no list of devices: its first address gives the device. */
static void print_softverbs(void)
{
	struct rdma_event_channel *channel;
	bool shown = false;

	printf("device soft0, softverbs: memory that processes of one user on one machine share; part of the library\n");
	channel = verbs_softverbs.create_event_channel();
	if (channel) {
		device_scan(&verbs_softverbs, channel, (struct device_wish){ NULL, NULL }, print_context, &shown);
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

static void show_address_as_json(const struct device_candidate *candidate, const char *state)
{
	json_object(NULL);
	json_text("address", candidate->addr);
	json_text("interface", candidate->interface);
	json_text("device", candidate->device);
	json_text("state", state);
	json_end();
}

static void show_address_as_text(const struct device_candidate *candidate, const char *state)
{
	printf("  %-24s %-10s %-10s %s\n", candidate->addr, candidate->interface,
	       candidate->device ? candidate->device : "-", state);
}

/* Never keeps the identifier. */
static bool show_address(void *arg, const struct device_candidate *candidate)
{
	struct choice *choice = arg;
	bool taken = choice->asked && !candidate->why_not && !choice->found;

	const char *state = taken                ? "would be taken"
	                    : candidate->why_not ? candidate->why_not
	                    : choice->found      ? "not needed: one is taken before it"
	                                         : "not asked for";

	if (taken)
		choice->found = true;
	if (choice->shape == SHOW_JSON)
		show_address_as_json(candidate, state);
	else if (choice->shape == SHOW_TEXT)
		show_address_as_text(candidate, state);
	else if (taken)
		printf("%s at %s (%s)\n", candidate->device, candidate->addr, candidate->interface);
	return false;
}

static void show_no_channel(const struct choice *choice, const struct verbs_functions *functions)
{
	char why[160];

	snprintf(why, sizeof(why), "rdma_cm of %s cannot be used: %s%s", functions->name, strerror(errno),
	         functions == &verbs_system ? " (is the module rdma_ucm loaded?)" : "");
	if (choice->shape != SHOW_JSON) {
		fprintf(choice->shape == SHOW_TEXT ? stdout : stderr, "  %s\n", why);
		return;
	}
	json_object(NULL);
	json_text("error", why);
	json_end();
}

static void scan(struct choice *choice, const struct verbs_functions *functions, const char *device, const char *addr)
{
	struct rdma_event_channel *channel = functions->create_event_channel();

	if (choice->shape == SHOW_TEXT)
		printf("addresses, as rdma_cm of %s sees them\n", functions->name);
	if (!channel) {
		show_no_channel(choice, functions);
		return;
	}
	device_scan(functions, channel, (struct device_wish){ device, addr }, show_address, choice);
	functions->destroy_event_channel(channel);
}

/* Returns the provider and its address if oriel_init would ask it; otherwise NULL. */
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

/* Returns false if oriel_init needs it and would find nothing. */
static bool scan_one(struct choice *choice, const struct providers *providers, const struct verbs_functions *functions)
{
	const char *addr;
	const struct provider *provider = find_provider(providers, functions, &addr);

	choice->asked = provider;
	choice->found = false;
	if (provider ||
	    (choice->shape != SHOW_CHOSEN && !(provider_system_is_softverbs() && functions == &verbs_softverbs)))
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

static void report_misspelt(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "oriel-info: %s\n", text);
}

static void print_all(const struct facts *facts, struct choice *choice)
{
	variables_check(environ, report_misspelt, NULL);
	printf("Oriel %s\n", oriel_version());
	print_section(facts, "built", 56);
	print_devices();
	scan_all(choice);
	if (!choice->found)
		print_not_found(stdout);
	print_section(facts, "libraries", 24);
	print_section(facts, "machine", 24);
	print_section(facts, "limits", 24);
	print_memory();
}

static void print_facts_as_json(const struct facts *facts)
{
	const char *section = "";

	for (const struct fact *fact = facts->list; fact < facts->list + facts->count; fact++) {
		if (strcmp(section, fact->section) != 0) {
			if (*section)
				json_end();
			section = fact->section;
			json_object(section);
		}
		json_text(fact->name, fact->value);
	}
	if (*section)
		json_end();
}

static void print_json(const struct facts *facts, struct info_ranks *ranks, const char *why, struct choice *choice)
{
	json_object(NULL);
	json_text("version", oriel_version());
	print_facts_as_json(facts);
	json_list("addresses");
	scan_all(choice);
	json_end();
	choice->reachable = ranks && info_ranks_ask(ranks, false);
	json_text("why_no_job", ranks ? NULL : why);
	json_bool("device_found", choice->found);
	json_bool("all_ranks_reachable", choice->reachable);
	json_end();
}

/* Rank 0 prints; the others take part without printing. */
static void run_as_rank(struct choice *choice)
{
	struct info_ranks *ranks;
	struct facts facts;
	const char *why;
	int rank;

	facts_collect(&facts); /* before the job's threads are there: it forks */
	ranks = info_ranks_join(&rank, &why);
	if (rank != 0) {
		choice->found = choice->reachable = true;
		info_ranks_ask(ranks, false);
	} else if (choice->shape == SHOW_JSON) {
		print_json(&facts, ranks, why, choice);
	} else {
		print_all(&facts, choice);
		print_ranks(ranks, why, choice);
	}
	if (ranks)
		info_ranks_leave(ranks);
}

static void print_chosen(struct choice *choice)
{
	variables_check(environ, report_misspelt, NULL);
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

/* Returns -1, or the status to exit with. */
static int take_options(int argc, char **argv, struct choice *choice)
{
	const char *option = argc == 2 ? argv[1] : "";

	if (strcmp(option, "--chosen") == 0) {
		choice->shape = SHOW_CHOSEN;
	} else if (strcmp(option, "--json") == 0) {
		choice->shape = SHOW_JSON;
	} else if (strcmp(option, "--version") == 0) {
		printf("oriel-info %s\n", oriel_version());
		return check_written();
	} else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
		fputs(usage, stdout);
		return check_written();
	} else if (argc > 1) {
		fputs(usage, stderr);
		return 2;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct choice choice = { .shape = SHOW_TEXT };
	int status = take_options(argc, argv, &choice);

	if (status >= 0)
		return status;
	choice.reachable = choice.shape == SHOW_CHOSEN;
	if (choice.shape == SHOW_CHOSEN)
		print_chosen(&choice);
	else
		run_as_rank(&choice);
	return check_written() || !choice.found || !choice.reachable;
}
