// SPDX-License-Identifier: BSD-2-Clause
/* Conformance of a verbs device: what UCX, libfabric and rdma-core's own tests rely on. */
#include <errno.h>

#include "lab.h"

/* Rights of a region that mean nothing to a queue pair: programs set the same for both. */
static enum lab_verdict state__rights_of_regions(void)
{
	unsigned int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	                   IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
	                   IBV_ACCESS_HUGETLB | IBV_ACCESS_RELAXED_ORDERING;
	struct lab_options options = { .qp_access = all };
	struct lab lab;

	lab_setup(&lab, &options);
	CHECK(lab_rdma(&lab, IBV_WR_RDMA_WRITE, 0, 8, 100, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS && lab.b.buffer[107] == 'a');
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "state: rights of regions", state__rights_of_regions, "Linux, drivers/infiniband/sw/rxe: rxe_qp_from_attr" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
