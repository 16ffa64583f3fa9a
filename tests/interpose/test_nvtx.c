/* SPDX-License-Identifier: Apache-2.0 */
/* What the callbacks of NVTX put on record, called as NVTX calls them: through the pointers that
 * they were set in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "interpose/abi/nvtx.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded.h"

enum { ENTRIES = 16, NO_TRACKING = -2, RANGES = 4096 };

int InitializeInjectionNvtx2(ct_nvtx_export_fn export_table);

/* ---- a copy of NVTX ---- */

static void *core[ENTRIES], *core2[ENTRIES];
static ct_nvtx_fn *core_at[ENTRIES], *core2_at[ENTRIES];

static int get_table(int module, ct_nvtx_table *table, unsigned *size)
{
	if (module != 1 && module != 5)
		return 0;
	for (int i = 1; i < ENTRIES; i++) {
		core_at[i] = (ct_nvtx_fn *)(void *)&core[i];
		core2_at[i] = (ct_nvtx_fn *)(void *)&core2[i];
	}
	*table = module == 1 ? core_at : core2_at;
	*size = ENTRIES;
	return 1;
}

static const void *export_table(uint32_t id)
{
	static const struct ct_nvtx_callbacks callbacks = { sizeof(callbacks), get_table };

	return id == 1 ? &callbacks : NULL;
}

static int push(const char *name)
{
	return ((int (*)(const char *))core[9])(name);
}

static int pop(void)
{
	return ((int (*)(void))core[11])();
}

static uint64_t start(const char *name)
{
	return ((uint64_t(*)(const char *))core[5])(name);
}

static void end(uint64_t id)
{
	((void (*)(uint64_t))core[7])(id);
}

static struct ct_nvtx_attributes named(int type, const void *message)
{
	return (struct ct_nvtx_attributes){
		.version = 3, .size = 48, .message_type = type, .message = message
	};
}

static int domain_push(void *domain, int type, const void *message)
{
	struct ct_nvtx_attributes a = named(type, message);

	return ((int (*)(void *, const void *))core2[4])(domain, &a);
}

static int domain_pop(void *domain)
{
	return ((int (*)(void *))core2[5])(domain);
}

static void *domain_create(const char *name)
{
	return ((void *(*)(const char *))core2[12])(name);
}

static void *domain_register(void *domain, const char *name)
{
	return ((void *(*)(void *, const char *))core2[10])(domain, name);
}

/* ---- what the job knows ---- */

struct known {
	uint64_t before_ns[2], after_ns[2]; /* around the beginning and the end */
	uint32_t tid;
	char name[64];
};
static struct shared {
	_Atomic uint32_t n;
	struct known known[RANGES];
} * truth;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(int holds, int code)
{
	if (!holds)
		_exit(code);
}

static void begin_recording(void)
{
	static struct fake_context context = { .rank = 0, .size = 2 };
	struct fake_options o = { .context = &context, .tag = 1 };

	must(InitializeInjectionNvtx2(export_table) == 1, 10);
	gloo_barrier(&o);
}

/* Push, body(), pop; what is known of it is written down. */
static void step(const char *name, void (*body)(void))
{
	struct known k = { .tid = (uint32_t)syscall(SYS_gettid) };

	strncpy(k.name, name, sizeof(k.name) - 1);
	k.before_ns[0] = now_ns();
	must(push(name) == NO_TRACKING, 11);
	k.after_ns[0] = now_ns();
	body();
	k.before_ns[1] = now_ns();
	must(pop() == NO_TRACKING, 12);
	k.after_ns[1] = now_ns();
	truth->known[atomic_fetch_add(&truth->n, 1)] = k;
}

/* ---- what is on record ---- */

static struct ct_nvtx_rec seen[RANGES];
static unsigned n_seen;

static void take(const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_rares; i++) {
		if (block->rares[i].kind == CT_KIND_NVTX && n_seen < RANGES)
			ct_rare_get(block, &block->rares[i], &seen[n_seen++], sizeof(seen[0]));
	}
}

/* Of all processes; returns the ranges that found no space. */
static uint64_t record(void (*body)(void), const char *setting, int *status, size_t processes)
{
	const char *const env[] = { setting, NULL };
	uint64_t losses[CT_LOSS_MAX], lost = 0;
	size_t n = 1;

	atomic_store(&truth->n, 0);
	n_seen = 0;
	*status = recorded_run(body, setting ? env : NULL);
	for (size_t p = 0; p < n; p++) {
		memset(losses, 0, sizeof(losses));
		n = recorded_walk(p, take, losses);
		lost += losses[CT_LOSS_NVTX_FULL];
	}
	assert_int_equal(n, processes);
	return lost;
}

static void is_as_known(const struct known *k)
{
	for (unsigned i = 0; i < n_seen; i++) {
		if (seen[i].tid == k->tid && seen[i].begin_ns >= k->before_ns[0] &&
		    seen[i].begin_ns <= k->after_ns[0] && seen[i].end_ns >= k->before_ns[1] &&
		    seen[i].end_ns <= k->after_ns[1] && strcmp(seen[i].name, k->name) == 0)
			return;
	}
	fail_msg("%s of thread %u is not on record as it was", k->name, k->tid);
}

static void all_as_known(void)
{
	assert_int_equal(n_seen, truth->n);
	for (unsigned i = 0; i < truth->n; i++)
		is_as_known(&truth->known[i]);
}

/* ---- jobs ---- */

static void nothing(void)
{
}

/* Others in a step, of which one looks like it, and one has no name. */
static void others(void)
{
	must(push("forward") == NO_TRACKING, 13);
	push("stepwise");
	push(NULL);
	must(pop() == NO_TRACKING, 14);
	pop();
	step("Iteration#7", nothing);
	pop();
}

static void one_in_another(void)
{
	push("epoch 2");
	step("step", others);
	pop();
}

static void *thread_steps(void *arg)
{
	(void)arg;
	pop(); /* nothing is open */
	for (int i = 0; i < 40; i++) {
		push("outer");
		step("TRAIN_STEP 12", others);
		step("step", nothing);
		pop();
		pop(); /* one too many */
	}
	return NULL;
}

static void threads_job(void)
{
	pthread_t threads[4];

	must(InitializeInjectionNvtx2(export_table) == 1, 15);
	push("step"); /* nothing is recorded yet */
	begin_recording();
	for (int i = 0; i < 4; i++)
		must(pthread_create(&threads[i], NULL, thread_steps, NULL) == 0, 16);
	errno = 4711;
	step("ProfilerStep#1", one_in_another);
	must(errno == 4711, 17);
	pop();
	push("step"); /* open at exit */
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void ranges_of_several_threads_are_recorded_as_they_were(void **state)
{
	int status;

	(void)state;
	assert_int_equal(record(threads_job, NULL, &status, 1), 0);
	assert_int_equal(status, 0);
	assert_int_equal(truth->n, 4 * 40 * 3 + 3);
	all_as_known();
}

/* A program that names its steps and never communicates: a loader of data. */
static void quiet_job(void)
{
	must(InitializeInjectionNvtx2(export_table) == 1, 18);
	push("step");
	pop();
	must(start("step") == 0, 19);
	end(1234567);
	((void (*)(const char *))core[2])("step");
}

static void ranges_alone_begin_no_recording(void **state)
{
	int status;

	(void)state;
	status = recorded_run(quiet_job, NULL);
	assert_int_equal(status, 0);
	assert_int_not_equal(access(recorded_dir(), F_OK), 0);
	assert_int_equal(recorded_rings_left(), 0);
}

static void *end_it(void *arg)
{
	end(*(uint64_t *)arg);
	end(*(uint64_t *)arg); /* no longer */
	return NULL;
}

static void forms_job(void)
{
	void *a, *b, *name;
	pthread_t thread;
	uint64_t id;

	begin_recording();
	a = domain_create("a");
	b = domain_create("b");
	name = domain_register(a, "step registered");
	must(a && b && a != b && name && !domain_register(a, "other"), 20);
	/* two stacks of one thread */
	must(domain_push(a, 3, name) == NO_TRACKING, 21);
	domain_push(b, 1, "step of b");
	domain_push(a, 1, "no step");
	domain_pop(a);
	pop(); /* of the default domain, where nothing is open */
	domain_pop(a);
	domain_push(b, 2, L"iteration \u00fc wide");
	domain_pop(b);
	domain_pop(b);
	domain_push(a, 3, &a); /* no name of ours */
	domain_push(a, 1, NULL);
	domain_pop(a);
	domain_pop(a);
	id = start("step across threads");
	must(id != 0 && start("anything") == 0 && start("step") != id, 22);
	must(pthread_create(&thread, NULL, end_it, &id) == 0, 23);
	pthread_join(thread, NULL);
	end(0);
	end(12345678);
	((void (*)(const char *))core[2])("step mark");
	((void (*)(const char *))core[2])("mark");
	step("step with a name that is longer than there is room for", nothing);
}

static const struct ct_nvtx_rec *seen_as(const char *name)
{
	for (unsigned i = 0; i < n_seen; i++)
		if (strcmp(seen[i].name, name) == 0)
			return &seen[i];
	fail_msg("%s is not on record", name);
	return NULL;
}

static void all_forms_are_recorded(void **state)
{
	static const struct {
		const char *name;
		uint32_t how;
	} expected[] = {
		{ "step registered", CT_NVTX_PUSHED },
		{ "iteration ? wide", CT_NVTX_PUSHED },
		{ "step of b", CT_NVTX_PUSHED },
		{ "step across threads", CT_NVTX_STARTED },
		{ "step mark", CT_NVTX_MARK },
		{ "step with a name that is longer", CT_NVTX_PUSHED },
	};
	int status;

	(void)state;
	assert_int_equal(record(forms_job, NULL, &status, 1), 0);
	assert_int_equal(status, 0);
	assert_int_equal(n_seen, sizeof(expected) / sizeof(expected[0]));
	for (unsigned e = 0; e < n_seen; e++) {
		const struct ct_nvtx_rec *rec = seen_as(expected[e].name);

		assert_int_equal(rec->how, expected[e].how);
		assert_true(rec->end_ns > rec->begin_ns || rec->how == CT_NVTX_MARK);
	}
	/* each stack for itself */
	assert_true(seen_as("step registered")->end_ns <= seen_as("iteration ? wide")->begin_ns);
	assert_true(seen_as("step of b")->end_ns >= seen_as("iteration ? wide")->end_ns);
}

static void hundred_thousand(void)
{
	for (int i = 0; i < 100000; i++)
		push("aten::add");
	for (int i = 0; i < 100000; i++)
		pop();
}

static void many_job(void)
{
	begin_recording();
	hundred_thousand();
	step("step", hundred_thousand);
	/* four deeper than there is space for */
	for (int i = 0; i < 10; i++)
		push("step");
	for (int i = 0; i < 10; i++)
		pop();
	step("iteration", nothing);
}

static void what_finds_no_room_is_counted(void **state)
{
	int status;

	(void)state;
	assert_int_equal(record(many_job, NULL, &status, 1), 4);
	assert_int_equal(status, 0);
	assert_int_equal(n_seen, 2 + 6);
	is_as_known(&truth->known[0]);
	is_as_known(&truth->known[1]);
}

static void *leave_open(void *arg)
{
	(void)arg;
	push("step");
	return NULL;
}

static void *pop_once(void *arg)
{
	(void)arg;
	pop();
	return NULL;
}

/* The second thread is likely to lie where the first one did. */
static void ends_job(void)
{
	void *(*const bodies[])(void *) = { leave_open, pop_once };
	uint64_t started;
	pthread_t thread;
	int status;
	pid_t pid;

	begin_recording();
	for (int i = 0; i < 200; i++) {
		must(pthread_create(&thread, NULL, bodies[i % 2], NULL) == 0, 30);
		pthread_join(thread, NULL);
	}
	push("step");
	started = start("step");
	pid = fork();
	if (pid == 0) {
		pop();
		end(started);
		push("step");
		pop();
		_exit(0);
	}
	must(waitpid(pid, &status, 0) == pid && status == 0, 31);
	pop();
}

static void ends_of_threads_and_forks_end_no_range(void **state)
{
	int status;

	(void)state;
	assert_int_equal(record(ends_job, NULL, &status, 1), 0);
	assert_int_equal(status, 0);
	assert_int_equal(n_seen, 1);
}

static void off_job(void)
{
	must(InitializeInjectionNvtx2(export_table) == 0, 40);
	must(!core[9] && !core[11] && !core2[4], 41);
	gloo_barrier(
		&(struct fake_options){ .context = &(struct fake_context){ .size = 2 }, .tag = 1 });
}

static void words_job(void)
{
	begin_recording();
	step("micro batch 3", nothing);
	step("EPOCH", nothing);
	push("epochs");
	pop();
	push("step");
	pop();
}

static void the_setting_says_which(void **state)
{
	int status;

	(void)state;
	record(off_job, "COMMTRACE_NVTX=off", &status, 1);
	assert_int_equal(status, 0);
	assert_int_equal(n_seen, 0);
	record(words_job, "COMMTRACE_NVTX=epoch,micro batch", &status, 1);
	assert_int_equal(status, 0);
	all_as_known();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_of_several_threads_are_recorded_as_they_were),
		cmocka_unit_test(ranges_alone_begin_no_recording),
		cmocka_unit_test(all_forms_are_recorded),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(ends_of_threads_and_forks_end_no_range),
		cmocka_unit_test(the_setting_says_which),
	};
	int failed;

	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (truth == MAP_FAILED)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	recorded_remove();
	return failed;
}
