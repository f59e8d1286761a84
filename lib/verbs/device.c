// SPDX-License-Identifier: BSD-2-Clause
/* device.c - finds, opens and describes the RDMA device */
#include "verbs/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/settings.h"
#include "pages/shortage.h"
#include "base/util.h"
#include "verbs/mr_cache.h"

#define SEND_DEPTH 256
#define READS_IN_FLIGHT_MAX 16
#define SCAN_TEXT_BYTES 320

static const char no_device_ways_out[] =
	"Ways out: softverbs, a device made of shared memory, for ranks on one machine (ORIEL_DEVICE=soft; without ORIEL_DEVICE "
	"and ORIEL_ADDR it is taken where there is no other); another device (oriel-info lists them); SoftRoCE (modprobe "
	"rdma_rxe; rdma link add rxe0 type rxe netdev IFACE)";

const char *device_name(const struct device *device)
{
	return device->functions->get_device_name(device->verbs->device);
}

static socklen_t addr_size(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static bool addr_is_loopback(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr);
	return (ntohl(((const struct sockaddr_in *)(const void *)addr)->sin_addr.s_addr) >> 24) == 127;
}

/* Link-local IPv6 addresses need a scope that means nothing to a peer. */
static bool addr_usable(const struct ifaddrs *entry)
{
	if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
		return false;
	if (entry->ifa_addr->sa_family == AF_INET)
		return true;
	return entry->ifa_addr->sa_family == AF_INET6 &&
	       !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)(void *)entry->ifa_addr)->sin6_addr);
}

static struct rdma_cm_id *bind_addr(const struct verbs_functions *functions, struct rdma_event_channel *channel,
                                    struct sockaddr *addr)
{
	struct rdma_cm_id *id;

	if (functions->create_id(channel, &id, NULL, RDMA_PS_TCP))
		return NULL;
	if (functions->bind_addr(id, addr) || !id->verbs) {
		functions->destroy_id(id);
		return NULL;
	}
	return id;
}

static const char *reject_reason(const struct device_candidate *c, struct device_wish wish)
{
	if (!c->id)
		return is_shortage(c->error) ? strerror(c->error) : "no RDMA device";
	if (wish.addr && *wish.addr && strcmp(wish.addr, c->addr) != 0)
		return "not the address asked for";
	if (wish.device && *wish.device && strcmp(wish.device, c->device) != 0)
		return "not the device asked for";
	return NULL;
}

struct scan {
	const struct verbs_functions *functions;
	struct rdma_event_channel *channel;
	struct device_wish wish;
	device_visit *visit;
	void *arg;
};

static bool scan_one(const struct scan *scan, const struct ifaddrs *entry)
{
	char text[NI_MAXHOST] = "?";
	struct device_candidate candidate = { .interface = entry->ifa_name, .addr = text };
	struct sockaddr_storage addr;

	memset(&addr, 0, sizeof(addr));
	memcpy(&addr, entry->ifa_addr, addr_size(entry->ifa_addr));
	getnameinfo(entry->ifa_addr, addr_size(entry->ifa_addr), text, sizeof(text), NULL, 0, NI_NUMERICHOST);
	errno = 0;
	candidate.id = bind_addr(scan->functions, scan->channel, (struct sockaddr *)&addr);
	candidate.error = candidate.id ? 0 : errno;
	candidate.device = candidate.id ? scan->functions->get_device_name(candidate.id->verbs->device) : NULL;
	candidate.why_not = reject_reason(&candidate, scan->wish);
	if (scan->visit(scan->arg, &candidate))
		return true;
	if (candidate.id)
		scan->functions->destroy_id(candidate.id);
	return false;
}

/* Scans the loopback address, for softverbs. */
static void scan_loopback(const struct scan *scan)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct ifaddrs entry = { .ifa_name = "lo", .ifa_addr = (struct sockaddr *)&addr };

	scan_one(scan, &entry);
}

void device_scan(const struct verbs_functions *functions, struct rdma_event_channel *channel, struct device_wish wish,
                 device_visit *visit, void *arg)
{
	struct scan scan = { functions, channel, wish, visit, arg };
	struct ifaddrs *list;
	bool asked = false, taken = false;

	if (getifaddrs(&list))
		list = NULL;
	for (int loopback = 0; loopback <= 1 && !taken; loopback++) {
		for (struct ifaddrs *entry = list; entry && !taken; entry = entry->ifa_next) {
			if (addr_usable(entry) && addr_is_loopback(entry->ifa_addr) == loopback) {
				asked = true;
				taken = scan_one(&scan, entry);
			}
		}
	}
	if (!asked)
		scan_loopback(&scan);
	freeifaddrs(list);
}

struct choice {
	struct rdma_cm_id *id;
	int shortage; /* errno value that kept an address from being tried */
	char seen[SCAN_TEXT_BYTES];
};

static bool choose_first(void *arg, const struct device_candidate *candidate)
{
	struct choice *choice = arg;
	size_t used = strlen(choice->seen);

	if (is_shortage(candidate->error))
		choice->shortage = candidate->error;

	if (!candidate->why_not) {
		choice->id = candidate->id;
		return true;
	}
	snprintf(choice->seen + used, sizeof(choice->seen) - used, "%s%s (%s: %s)", used ? ", " : "", candidate->addr,
	         candidate->interface, candidate->why_not);
	return false;
}

static int no_device(const char *wanted_device, const char *wanted_addr, const char *seen)
{
	return err_set(ORIEL_ERR_DEVICE, "no RDMA device%s%s%s%s; asked rdma_cm about %s. %s",
	               *wanted_device ? " named " : "", wanted_device, *wanted_addr ? " at address " : "", wanted_addr,
	               seen, no_device_ways_out);
}

static const char *forbidden(int error)
{
	if (error == EADDRINUSE)
		return ": others have taken all names, and no directory can be made in /run/user, /dev/shm or /tmp";
	return error == EPERM || error == ENOSYS || error == EACCES || error == EAFNOSUPPORT
	           ? "; a container's seccomp profile may forbid it"
	           : "";
}

/* A shortage, or a container's ban, does not prove that there is no device. */
static int cannot_open(const struct verbs_functions *functions, int error)
{
	const char *step = functions->failed_step ? functions->failed_step() : NULL;
	char why[SHORTAGE_TEXT_BYTES];

	if (step && strcmp(step, SOFTVERBS_THREAD) == 0)
		thread_text(error, why, sizeof(why));
	else if (is_shortage(error))
		shortage_text(error, functions != &verbs_softverbs, why, sizeof(why));
	else
		snprintf(why, sizeof(why), "%s%s", strerror(error), forbidden(error));
	return err_set(ORIEL_ERR_DEVICE, "%s cannot be opened: %s%s%s",
	               functions == &verbs_softverbs ? "softverbs" : "the device of rdma-core", step ? step : "",
	               step ? ": " : "", why);
}

static int no_channel(const struct verbs_functions *functions, const char *wanted_device)
{
	int error = errno;

	if (functions == &verbs_softverbs || is_shortage(error))
		return cannot_open(functions, error);
	return err_set(ORIEL_ERR_DEVICE, "no RDMA device%s%s: rdma_create_event_channel of %s failed: %s. %s",
	               *wanted_device ? " named " : "", wanted_device, functions->name, strerror(error),
	               no_device_ways_out);
}

static int listen_on(struct device *device)
{
	struct sockaddr *addr = rdma_get_local_addr(device->listener);
	char host[INET6_ADDRSTRLEN];

	if (device->functions->listen(device->listener, DEVICE_BACKLOG))
		return err_set(ORIEL_ERR_DEVICE, "rdma_listen failed: %s", strerror(errno));
	memset(&device->addr, 0, sizeof(device->addr));
	memcpy(&device->addr, addr, addr_size(addr));
	if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)&device->addr)->sin6_port = 0;
	else
		((struct sockaddr_in *)&device->addr)->sin_port = 0;
	if (getnameinfo(addr, addr_size(addr), host, sizeof(host), NULL, 0, NI_NUMERICHOST))
		return err_set(ORIEL_ERR_DEVICE, "the listener's address cannot be written as text");
	snprintf(device->addr_text, sizeof(device->addr_text), "%s %hu", host,
	         ntohs(device->functions->get_src_port(device->listener)));
	return 0;
}

/* Returns whether it is SoftRoCE, even if its device has another name. */
static bool is_rxe(const struct ibv_device_attr *attr, const char *name)
{
	return attr->vendor_id == 0xffffff || strncmp(name, "rxe", 3) == 0;
}

static bool is_softverbs(const char *name)
{
	return strncmp(name, "soft", 4) == 0;
}

/* Returns whether RC queue pairs place writes in order: mlx4/mlx5 and rxe, by vendor; softverbs. */
static bool places_in_order(const struct ibv_device_attr *attr, const char *name)
{
	return attr->vendor_id == 0x02c9 || is_rxe(attr, name) || is_softverbs(name);
}

/* Returns whether the device acknowledges only what lies in memory. No card promises it. */
static bool acks_what_is_placed(const struct ibv_device_attr *attr, const char *name)
{
	return is_rxe(attr, name) || is_softverbs(name);
}

/*
 * Returns whether the device may store a write's bytes twice, the second time late: rxe does, by
 * the kernel's memcpy, if the processor has no fast short moves. softverbs in place of a card may
 * do it, too.
 */
static bool may_place_twice(const struct device *device, const struct ibv_device_attr *attr)
{
	const char *name = device_name(device);

	return is_rxe(attr, name) || (is_softverbs(name) && !device_maps_memory(device));
}

/*
 * Returns whether a fence may stall. rxe's sender notes a waiting fence just after it has looked
 * for answers; its receiver looks for the note just after it has taken one. If the two cross,
 * nothing goes on until the next doorbell.
 */
static bool forgets_fences(const struct ibv_device_attr *attr, const char *name)
{
	return is_rxe(attr, name);
}

static int choose_flag_mode(struct device *device, const struct ibv_device_attr *attr)
{
	static const char *const words[] = { [FLAG_WRITE] = "write", [FLAG_ATOMIC] = "atomic", [FLAG_WAIT] = "wait", NULL };
	int mode = places_in_order(attr, device_name(device)) ? FLAG_WRITE : FLAG_WAIT;
	int rc = setting_word("ORIEL_FLAGS", words, &mode);

	device->flag_mode = (enum flag_mode)mode;
	return rc;
}

/* Returns the reported level. softverbs reports by its extension that processor and device mix. */
static enum atomic_level reported_level(const struct device *device, enum ibv_atomic_cap cap)
{
	if (cap == IBV_ATOMIC_GLOB || (cap == IBV_ATOMIC_HCA && verbs_atomics_mix(device->functions)))
		return ATOMICS_GLOB;
	return cap == IBV_ATOMIC_HCA ? ATOMICS_HCA : ATOMICS_NONE;
}

static int no_atomics(const struct device *device)
{
	return err_set(
		ORIEL_ERR_DEVICE,
		"the environment variable ORIEL_ATOMICS is \"device\", and device %s has no atomic operations; \"cpu\" "
		"does without, as does the variable not set",
		device_name(device));
}

static int choose_atomics(struct device *device, const struct ibv_device_attr *attr)
{
	static const char *const words[] = { "cpu", "device", NULL }; /* enum atomics_by, less one */
	int word = -1, rc = setting_word("ORIEL_ATOMICS", words, &word);
	enum atomics_by by = (enum atomics_by)(word + 1);

	device->atomics_by = by;
	device->atomics = device->atomics_reported = reported_level(device, attr->atomic_cap);
	if (rc)
		return rc;
	if (by == ATOMICS_BY_CPU && device->atomics == ATOMICS_HCA)
		device->atomics = ATOMICS_NONE;
	if (by == ATOMICS_BY_DEVICE && device->atomics == ATOMICS_NONE)
		return no_atomics(device);
	if (by == ATOMICS_BY_DEVICE)
		device->atomics = ATOMICS_HCA;
	return 0;
}

/*
 * Calls the function itself: verbs.h has a macro of that name. It fills the part common to all
 * versions of the struct.
 */
static int query_port(const struct device *device, struct ibv_port_attr *port)
{
	memset(port, 0, sizeof(*port));
	return device->functions->query_port(device->verbs, device->listener->port_num,
	                                     (struct _compat_ibv_port_attr *)port);
}

static int query_limits(struct device *device, size_t max_message_bytes)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	int code = device->functions->query_device(device->verbs, &attr);

	if (code == 0)
		code = query_port(device, &port);
	if (code)
		return err_set(ORIEL_ERR_DEVICE, "the limits of device %s cannot be read: %s", device_name(device),
		               strerror(code > 0 ? code : errno));
	device->send_depth = min_u32(SEND_DEPTH, (uint32_t)attr.max_qp_wr);
	device->reads_in_flight = (uint8_t)min_u32(READS_IN_FLIGHT_MAX, min_u32((uint32_t)attr.max_qp_rd_atom,
	                                                                        (uint32_t)attr.max_qp_init_rd_atom));
	device->max_message_bytes = port.max_msg_sz;
	if (max_message_bytes && max_message_bytes < device->max_message_bytes)
		device->max_message_bytes = max_message_bytes;
	device->ack_placed = acks_what_is_placed(&attr, device_name(device));
	device->fence_stalls = forgets_fences(&attr, device_name(device));
	device->places_twice = may_place_twice(device, &attr);
	code = choose_atomics(device, &attr);
	return code ? code : choose_flag_mode(device, &attr);
}

/* A failure shows when memory is registered. */
static void raise_memlock(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
}

/* Returns the context with query_device_ex, or NULL. */
static const struct verbs_context *extended(struct ibv_context *verbs)
{
	const struct verbs_context *context = verbs_get_ctx(verbs);
	const size_t needed_bytes = sizeof(*context) - offsetof(struct verbs_context, query_device_ex);

	return context && context->sz >= needed_bytes && context->query_device_ex ? context : NULL;
}

/* Returns whether the device supports implicit on-demand paging. */
static bool finds_any_memory(const struct device *device)
{
	const struct verbs_context *context = extended(device->verbs);
	const uint32_t general = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
	const uint32_t origin = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	struct ibv_device_attr_ex attr;

	if (!context || context->query_device_ex(device->verbs, NULL, &attr, sizeof(attr)))
		return false;
	return (attr.odp_caps.general_caps & general) == general &&
	       (attr.odp_caps.per_transport_caps.rc_odp_caps & origin) == origin;
}

/* Makes two keys, since memory may be read-only. A device that gets none needs registrations. */
static void open_any_memory(struct device *device)
{
	const int access[] = { IBV_ACCESS_ON_DEMAND, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE };

	if (!finds_any_memory(device))
		return;
	for (int written = 0; written <= 1; written++)
		device->any[written] = device->functions->reg_mr(device->pd, NULL, SIZE_MAX, access[written]);
}

static void close_any_memory(struct device *device)
{
	for (int written = 0; written <= 1; written++)
		if (device->any[written])
			device_deregister(device, device->any[written]);
}

/* Opens the registration cache if the device needs registrations and the user permits it. */
static int choose_keeping(struct device *device)
{
	static const char *const words[] = { "0", "1", NULL };
	int wanted = 1, rc = setting_word("ORIEL_KEEP_REGISTERED", words, &wanted);

	if (rc == 0 && wanted && !device_any_lkey(device, true) && verbs_forks_copy(device->functions))
		device->cache = mr_cache_open(device->functions, device->pd);
	return rc;
}

static int device_start(struct device *device, const char *wanted_device, const char *wanted_addr, size_t max_message)
{
	struct choice choice = { .id = NULL };
	int rc;

	device_scan(device->functions, device->channel, (struct device_wish){ wanted_device, wanted_addr }, choose_first,
	            &choice);
	if (!choice.id && choice.shortage)
		return cannot_open(device->functions, choice.shortage);
	if (!choice.id)
		return no_device(wanted_device, wanted_addr, choice.seen);
	device->listener = choice.id;
	device->verbs = choice.id->verbs;
	rc = query_limits(device, max_message);
	if (rc)
		return rc;
	device->pd = device->functions->alloc_pd(device->verbs);
	if (!device->pd)
		return err_set(ORIEL_ERR_DEVICE, "ibv_alloc_pd failed: %s", strerror(errno));
	open_any_memory(device);
	rc = choose_keeping(device);
	return rc ? rc : listen_on(device);
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int device_open(struct device *device, const struct verbs_functions *functions, const char *wanted_device,
                const char *wanted_addr, size_t max_message_bytes)
{
	int rc;

	*device = (struct device){ .functions = functions, .direct = verbs_direct(functions) };
	raise_memlock();
	device->channel = functions->create_event_channel();
	if (!device->channel)
		return no_channel(functions, wanted_device ? wanted_device : "");
	rc = device_start(device, wanted_device ? wanted_device : "", wanted_addr ? wanted_addr : "", max_message_bytes);
	if (rc == 0 && (set_nonblocking(device->channel->fd) || set_nonblocking(device->verbs->async_fd)))
		rc = err_set(ORIEL_ERR_DEVICE, "fcntl on the device's descriptors failed: %s", strerror(errno));
	if (rc)
		device_close(device);
	return rc;
}

void device_close(struct device *device)
{
	if (device->wakeup)
		wakeup_close(device->wakeup, device->functions);
	mr_cache_close(device->cache);
	close_any_memory(device);
	if (device->pd)
		device->functions->dealloc_pd(device->pd);
	if (device->listener)
		device->functions->destroy_id(device->listener);
	if (device->channel)
		device->functions->destroy_event_channel(device->channel);
	memset(device, 0, sizeof(*device));
}

/* Slurm gives tasks the limits of the submitting shell. */
static const char *slurm_remedy(void)
{
	if (!getenv("SLURM_JOB_ID"))
		return "";
	return "; under Slurm: ulimit -l unlimited before sbatch, or PropagateResourceLimitsExcept=MEMLOCK in slurm.conf";
}

static void register_failed(const struct device *device, const void *base, size_t size_bytes, int error)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char why[SHORTAGE_TEXT_BYTES];

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if ((error == ENOMEM || error == EAGAIN || error == EPERM) && limit.rlim_cur != RLIM_INFINITY &&
	    !device_maps_memory(device))
		err_set(
			ORIEL_ERR_MEMORY,
			"device %s could not register %zu bytes at %p: the locked-memory limit is %llu bytes (%s). Raise it: ulimit "
			"-l unlimited, or memlock in /etc/security/limits.conf, or LimitMEMLOCK= of the service%s",
			device_name(device), size_bytes, base, (unsigned long long)limit.rlim_cur, strerror(error), slurm_remedy());
	else if (error == ENOSYS)
		err_set(
			ORIEL_ERR_MEMORY,
			"device %s could not register %zu bytes at %p: /proc/self/maps cannot be read; mount /proc (mount -t proc "
			"proc /proc)",
			device_name(device), size_bytes, base);
	else if (error == EMFILE || error == ENFILE) {
		shortage_text(error, false, why, sizeof(why));
		err_set(ORIEL_ERR_MEMORY, "device %s could not register %zu bytes at %p: %s", device_name(device), size_bytes,
		        base, why);
	} else
		err_set(ORIEL_ERR_MEMORY, "device %s could not register %zu bytes at %p: %s", device_name(device), size_bytes,
		        base, strerror(error));
}

struct ibv_mr *device_try_register(const struct device *device, void *base, size_t size_bytes, unsigned access)
{
	if (device->atomics_reported == ATOMICS_NONE)
		access &= ~(unsigned)IBV_ACCESS_REMOTE_ATOMIC;
	return mr_cache_register(device->functions, device->pd, base, size_bytes, access);
}

struct ibv_mr *device_register(const struct device *device, void *base, size_t size_bytes, unsigned access)
{
	struct ibv_mr *mr = device_try_register(device, base, size_bytes, access);

	if (!mr)
		register_failed(device, base, size_bytes, errno);
	return mr;
}

void device_deregister(const struct device *device, struct ibv_mr *mr)
{
	device->functions->dereg_mr(mr);
}
