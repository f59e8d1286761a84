// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_boot_pmix.c - bootstrap/client/pmix, with functions of the test in place of libpmix's
 *
 * The server is played by the test: it keeps what was asked and answers when it likes to. Built
 * where PMIx's headers are.
 */
#include "suites.h"

#include <CUnit/CUnit.h>

#ifdef WITH_PMIX
#include "client/pmix/pmix.c"

#include "boot_events.h"

#include <poll.h>

#define ASKED_MAX 128

/* A get that has no answer yet. */
struct asked {
	pmix_value_cbfunc_t answer;
	void *arg;
	const pmix_proc_t *proc; /* the caller's, not a copy: that is what libpmix does */
	const char *key;
};

static struct {
	bool initialized;
	pmix_status_t init_status;
	uint32_t job_size;
	char key[64]; /* put */
	size_t put_size;
	bool committed;
	pmix_op_cbfunc_t fence;
	void *fence_arg;
	pmix_status_t fence_status;
	int fences;
	bool collects; /* the fence that was waited for asked for the data */
	struct asked asked[ASKED_MAX];
	int asked_count;
	pmix_notification_fn_t handler;
	pmix_info_t handler_info;
	int finalized;
	int aborted;
} server;

static pmix_status_t fake_init(pmix_proc_t *proc, pmix_info_t info[], size_t count)
{
	(void)info;
	(void)count;
	*proc = (pmix_proc_t){ .nspace = "job", .rank = 1 };
	return server.init_status;
}

static int fake_initialized(void)
{
	return server.initialized;
}

static pmix_status_t fake_finalize(const pmix_info_t info[], size_t count)
{
	(void)info;
	(void)count;
	server.finalized++;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_abort(int status, const char reason[], pmix_proc_t procs[], size_t count)
{
	CU_ASSERT_STRING_EQUAL(reason, "enough");
	CU_ASSERT_TRUE(!procs && count == 0);
	server.aborted = status;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_put(pmix_scope_t scope, const char key[], pmix_value_t *value)
{
	CU_ASSERT_EQUAL(scope, PMIX_GLOBAL);
	snprintf(server.key, sizeof(server.key), "%s", key);
	server.put_size = value->data.bo.size;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_commit(void)
{
	server.committed = server.key[0];
	return PMIX_SUCCESS;
}

static pmix_status_t fake_fence(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count)
{
	(void)procs;
	CU_ASSERT_EQUAL(count, 0);
	server.collects = info_count == 1 && strcmp(info[0].key, PMIX_COLLECT_DATA) == 0 && info[0].value.data.flag;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t info_count,
                                   pmix_op_cbfunc_t done, void *arg)
{
	(void)procs;
	(void)info;
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_EQUAL(info_count, 0);
	CU_ASSERT_TRUE(server.committed);
	server.fence = done;
	server.fence_arg = arg;
	server.fences++;
	return server.fence_status;
}

static pmix_status_t fake_get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t count,
                              pmix_value_t **value)
{
	(void)info;
	(void)count;
	CU_ASSERT_EQUAL(proc->rank, PMIX_RANK_WILDCARD);
	*value = calloc(1, sizeof(**value));
	(*value)->type = PMIX_UINT32;
	(*value)->data.uint32 = strcmp(key, PMIX_JOB_SIZE) == 0 ? server.job_size : 3;
	return PMIX_SUCCESS;
}

static pmix_status_t fake_get_nb(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t count,
                                 pmix_value_cbfunc_t answer, void *arg)
{
	(void)info;
	(void)count;
	server.asked[server.asked_count++ % ASKED_MAX] = (struct asked){ answer, arg, proc, key };
	return PMIX_SUCCESS;
}

static pmix_status_t fake_register(pmix_status_t codes[], size_t count, pmix_info_t info[], size_t info_count,
                                   pmix_notification_fn_t handler, pmix_hdlr_reg_cbfunc_t done, void *arg)
{
	(void)codes;
	(void)count;
	(void)done;
	(void)arg;
	CU_ASSERT_EQUAL(info_count, 1);
	server.handler = handler;
	server.handler_info = info[0];
	return 0;
}

static pmix_status_t fake_deregister(size_t handler, pmix_op_cbfunc_t done, void *arg)
{
	(void)handler;
	(void)done;
	(void)arg;
	server.handler = NULL;
	return PMIX_SUCCESS;
}

static const char *fake_error_string(pmix_status_t status)
{
	return status == PMIX_ERR_UNREACH ? "UNREACH" : "SOMETHING";
}

static const struct pmix_library fake_library = {
	.init = fake_init,
	.initialized = fake_initialized,
	.finalize = fake_finalize,
	.abort = fake_abort,
	.put = fake_put,
	.commit = fake_commit,
	.fence = fake_fence,
	.fence_nb = fake_fence_nb,
	.get = fake_get,
	.get_nb = fake_get_nb,
	.register_handler = fake_register,
	.deregister_handler = fake_deregister,
	.error_string = fake_error_string,
};

static void reset(void)
{
	memset(&server, 0, sizeof(server));
	server.job_size = 200;
	boot_events_clear_environment();
	boot_events_log[0] = '\0';
}

/* Opens a client like boot_pmix_open, with the test's functions. */
static struct boot *open_joined(void)
{
	struct boot_pmix *pmix = calloc(1, sizeof(*pmix));

	pmix->base.ops = &pmix_ops;
	pmix->base.events = &boot_events;
	pmix->base.events_arg = boot_events_log;
	pmix->library = fake_library;
	ask_for_data(&pmix->collect);
	CU_ASSERT_EQUAL_FATAL(inbox_open(&pmix->inbox), 0);
	CU_ASSERT_EQUAL_FATAL(join(pmix), 0);
	register_handler(pmix);
	return &pmix->base;
}

static struct boot *open_exchanged(void)
{
	struct boot *boot;

	reset();
	boot = open_joined();
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	server.fence(PMIX_SUCCESS, server.fence_arg);
	boot->ops->dispatch(boot);
	return boot;
}

/* Answer the n-th question that was asked. */
static void answer(int n, pmix_status_t status, const char *bytes)
{
	pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

	CU_ASSERT_TRUE_FATAL(n < server.asked_count);
	value.data.bo.bytes = (char *)(uintptr_t)bytes;
	value.data.bo.size = bytes ? strlen(bytes) : 0;
	server.asked[n].answer(status, bytes ? &value : NULL, server.asked[n].arg);
}

static bool rings(const struct boot *boot)
{
	struct pollfd fd = { .fd = boot->ops->fd(boot), .events = POLLIN };

	return poll(&fd, 1, 5000) == 1;
}

static void open__fills_in(void)
{
	struct boot *boot;

	reset();
	boot = open_joined();
	CU_ASSERT_EQUAL(boot->rank, 1);
	CU_ASSERT_EQUAL(boot->size, 200);
	CU_ASSERT_EQUAL(boot->local_size, 3);
	boot->ops->close(boot);
	CU_ASSERT_EQUAL(server.finalized, 1);
	CU_ASSERT_PTR_NULL(server.handler);
}

static void open__refuses_what_the_server_tells(void)
{
	struct boot_pmix pmix = { .library = fake_library };

	reset();
	server.init_status = PMIX_ERR_UNREACH;
	setenv("PMIX_VERSION", "4.2.2", 1);
	CU_ASSERT_EQUAL(join(&pmix), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "PMIx_Init of the PMIx launcher with PMIx 4.2.2 fails: UNREACH"));
	unsetenv("PMIX_VERSION");
	server.init_status = PMIX_SUCCESS;
	server.job_size = 1;
	CU_ASSERT_EQUAL(join(&pmix), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "rank 1 of 1"));
}

static void put__commits_and_fences(void)
{
	struct boot *boot;

	reset();
	boot = open_joined();
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	CU_ASSERT_STRING_EQUAL(server.key, "oriel.k");
	CU_ASSERT_EQUAL(server.put_size, 2);
	CU_ASSERT_EQUAL(server.fences, 1);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), ORIEL_ERR_SYNC);
	boot->ops->close(boot);
	server.fence(PMIX_SUCCESS, server.fence_arg); /* after the client has gone */
}

/* If another client has joined before, a node may already have asked for this rank's values. */
static void put__comes_second(void)
{
	struct boot *boot;

	reset();
	server.initialized = true;
	boot = open_joined();
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	CU_ASSERT_TRUE(server.collects);
	CU_ASSERT_EQUAL(server.fences, 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 5, "k"), 0);
	CU_ASSERT_EQUAL(server.asked_count, 1);
	answer(0, PMIX_SUCCESS, "x");
	boot->ops->dispatch(boot);
	boot_events_expect("5.k=x;");
	boot->ops->close(boot);
}

static void put__fence_that_is_over_at_once(void)
{
	struct boot *boot;

	reset();
	boot = open_joined();
	server.fence_status = PMIX_OPERATION_SUCCEEDED;
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 5, "k"), 0);
	CU_ASSERT_EQUAL(server.asked_count, 0);
	CU_ASSERT_TRUE(rings(boot));
	boot->ops->dispatch(boot);
	CU_ASSERT_EQUAL(server.asked_count, 1);
	answer(0, PMIX_SUCCESS, "x");
	boot->ops->close(boot);
}

static void get__waits_for_the_fence(void)
{
	struct boot *boot;

	reset();
	boot = open_joined();
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 5, "k"), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 200, "k"), ORIEL_ERR_RANK);
	boot->ops->dispatch(boot);
	CU_ASSERT_EQUAL(server.asked_count, 0);
	CU_ASSERT_EQUAL(boot->gathering, 1);
	server.fence(PMIX_ERR_TIMEOUT, server.fence_arg); /* proves nothing, as any other */
	CU_ASSERT_TRUE(rings(boot));
	boot->ops->dispatch(boot);
	CU_ASSERT_EQUAL(server.asked_count, 1);
	CU_ASSERT_EQUAL(boot->gathering, 0);
	CU_ASSERT_EQUAL(server.asked[0].proc->rank, 5);
	CU_ASSERT_STRING_EQUAL(server.asked[0].key, "oriel.k");
	answer(0, PMIX_SUCCESS, "value");
	boot_events_expect("");
	CU_ASSERT_TRUE(rings(boot));
	boot->ops->dispatch(boot);
	boot_events_expect("5.k=value;");
	boot->ops->close(boot);
}

static void get__not_found_is_asked_again(void)
{
	struct boot *boot = open_exchanged();

	CU_ASSERT_EQUAL(boot->ops->get(boot, 5, "k"), 0);
	for (int i = 0; i < 3; i++) {
		answer(i, i == 1 ? PMIX_ERR_TIMEOUT : PMIX_ERR_NOT_FOUND, NULL);
		boot->ops->dispatch(boot);
		boot_events_expect("");
		while (server.asked_count == i + 1 && rings(boot))
			boot->ops->dispatch(boot);
	}
	answer(3, PMIX_SUCCESS, "value");
	boot->ops->dispatch(boot);
	boot_events_expect("5.k=value;");
	boot->ops->close(boot);
}

static void get__keeps_to_its_bound(void)
{
	struct boot *boot = open_exchanged();

	for (int i = 0; i < GETS_MAX + 10; i++)
		CU_ASSERT_EQUAL(boot->ops->get(boot, i, "k"), 0);
	CU_ASSERT_EQUAL(server.asked_count, GETS_MAX);
	answer(7, PMIX_SUCCESS, "x");
	boot->ops->dispatch(boot);
	boot_events_expect("7.k=x;");
	CU_ASSERT_EQUAL(server.asked_count, GETS_MAX + 1);
	boot->ops->close(boot);
	for (int i = 0; i < GETS_MAX + 1; i++) /* after the client has gone */
		if (i != 7)
			answer(i, PMIX_SUCCESS, "x");
}

static void lost__is_told_once(void)
{
	struct boot *boot = open_exchanged();

	CU_ASSERT_EQUAL(boot->ops->get(boot, 5, "k"), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 6, "k"), 0);
	answer(0, PMIX_ERR_UNREACH, NULL);
	answer(1, PMIX_ERR_LOST_CONNECTION, NULL);
	boot->ops->dispatch(boot);
	boot_events_expect("lost;");
	CU_ASSERT_EQUAL(boot->ops->get(boot, 5, "k"), ORIEL_ERR_BOOTSTRAP);
	boot->ops->close(boot);
}

static void tell_event(pmix_status_t status, const char *nspace, pmix_rank_t rank)
{
	pmix_proc_t source = { .rank = rank };

	snprintf(source.nspace, sizeof(source.nspace), "%s", nspace);
	server.handler(0, status, &source, &server.handler_info, 1, NULL, 0, NULL, NULL);
}

static void event__deaths_of_this_job(void)
{
	struct boot *boot = open_exchanged();

	tell_event(PMIX_ERR_PROC_ABORTED, "other", 3);
	tell_event(PMIX_ERR_PROC_ABORTED, "job", 3);
	CU_ASSERT_TRUE(rings(boot));
	boot->ops->dispatch(boot);
	boot_events_expect("3 died the PMIx launcher says so: SOMETHING;");
	tell_event(PMIX_ERR_LOST_CONNECTION, "server", 0);
	boot->ops->dispatch(boot);
	boot_events_expect("lost;");
	boot->ops->close(boot);
}

static void abort__is_passed_on(void)
{
	struct boot *boot = open_exchanged();

	CU_ASSERT_EQUAL(boot->ops->abort(boot, 42, "enough"), 0);
	CU_ASSERT_EQUAL(server.aborted, 42);
	boot->ops->close(boot);
}

void suite_boot_pmix(void)
{
	CU_pSuite suite = CU_add_suite("boot_pmix", NULL, NULL);

	CU_ADD_TEST(suite, open__fills_in);
	CU_ADD_TEST(suite, open__refuses_what_the_server_tells);
	CU_ADD_TEST(suite, put__commits_and_fences);
	CU_ADD_TEST(suite, put__comes_second);
	CU_ADD_TEST(suite, put__fence_that_is_over_at_once);
	CU_ADD_TEST(suite, get__waits_for_the_fence);
	CU_ADD_TEST(suite, get__not_found_is_asked_again);
	CU_ADD_TEST(suite, get__keeps_to_its_bound);
	CU_ADD_TEST(suite, lost__is_told_once);
	CU_ADD_TEST(suite, event__deaths_of_this_job);
	CU_ADD_TEST(suite, abort__is_passed_on);
}
#else
void suite_boot_pmix(void)
{
	CU_add_suite("boot_pmix", NULL, NULL);
}
#endif
