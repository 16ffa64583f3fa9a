/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed communication from the calls to the sums: what the analyzer shows a recorded job
 * (waits_job.h) is held against what that knows itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "analyzer/overlap/overlap.h"
#include "tests/interpose/recorded.h"
#include "tests/interpose/waits_job.h"

static struct told {
	struct ct_overlap_launch all[4 * MOST];
	int n;
} told;

static int tell(void *arg, const struct ct_overlap_launch *launch)
{
	(void)arg;
	assert_true(told.n < 4 * MOST);
	told.all[told.n++] = *launch;
	return 0;
}

struct reading {
	struct ct_overlap *overlap;
	struct ct_comm comm;
};

static int on_op(void *arg, const struct ct_load_op *op)
{
	struct reading *r = arg;
	const struct ct_overlap_op first = {
		.op = op, .comm = &r->comm, .slot = (uint32_t)op->joined.comm_rank, .bytes = 400
	};

	return op->joined.launch_at ? 0 : ct_overlap_add(r->overlap, &first);
}

static int on_wait(void *arg, const struct ct_wait_rec *rec)
{
	return ct_overlap_wait(((struct reading *)arg)->overlap, rec);
}

static void analyze(void)
{
	struct ct_err err = { .status = 0 };
	struct reading r = { .overlap = ct_overlap_new(1, NULL) };
	struct ct_load_sink sink = { .op = on_op, .wait = on_wait, .arg = &r };
	struct ct_op_names names = { .memory = ct_arena_new() };
	const char *dir = recorded_dir();
	struct ct_load *load;
	struct ct_run *run;
	int st;

	told.n = 0;
	assert_non_null(r.overlap);
	ct_overlap_subscribe(r.overlap, tell, NULL);
	if (ct_run_open(&dir, 1, NULL, &run, &err) != CT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(run->n_processes, 1);
	assert_int_equal(ct_load_open(run, 0, &sink, &names, &load, &err), CT_OK);
	while ((st = ct_load_next(load, &err)) > 0)
		assert_int_equal(ct_overlap_block(r.overlap, 0), CT_OK);
	assert_int_equal(st, CT_OK);
	assert_int_equal(ct_overlap_end(r.overlap, 0), CT_OK);
	assert_int_equal(ct_overlap_close(r.overlap), CT_OK);
	assert_int_equal(ct_load_facts(load)->losses[CT_LOSS_WAITS_FULL].records, 0);
	ct_load_close(load);
	ct_run_close(run);
	ct_overlap_free(r.overlap);
	ct_arena_free(names.memory);
}

/* Its events lie around it: the machine may have held the thread up between them and the call that
 * launched it. Kernels take several times as long as this, and come one after the other. */
#define NEAR_NS 1000000
static const struct ct_overlap_launch *find(const struct op *op)
{
	for (int k = 0; k < told.n; k++) {
		const struct ct_overlap_launch *l = &told.all[k];

		if (l->slot == 0 && l->start_ns < op->span.begin_ns + NEAR_NS &&
		    l->end_ns + NEAR_NS > op->span.end_ns)
			return l;
	}
	return NULL;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How much of it, as long as its events say it was, lies in what was waited. */
static int64_t exposed(const struct op *op, const struct ct_overlap_launch *l)
{
	uint64_t reached = l->start_ns;
	int64_t sum = 0;

	for (int i = 0; i < op->n_waits; i++) {
		uint64_t begin = later(op->waits[i].begin_ns, reached);
		uint64_t end = op->waits[i].end_ns < l->end_ns ? op->waits[i].end_ns : l->end_ns;

		if (end > begin) {
			sum += (int64_t)(end - begin);
			reached = end;
		}
	}
	return sum;
}

static int is_wrong(const struct op *op, const struct ct_overlap_launch *l)
{
	int64_t true_ns, off, allowed;

	if (!l)
		return 1;
	/* what had ended before was not waited for */
	if (op->what == UNKNOWN && op->n_waits && op->waits[0].begin_ns + 20000 > l->end_ns)
		return l->is_known && l->exposed_ns;
	if (op->what == UNKNOWN || op->what == UNSEEN)
		return l->is_known;
	if (op->what == SAME_STREAM)
		return !l->is_known || !l->is_same_stream ||
		       l->exposed_ns != l->end_ns - l->start_ns;
	true_ns = exposed(op, l);
	off = (int64_t)l->exposed_ns - true_ns;
	allowed = true_ns / 20 + (true_ns ? 20000 : 0);
	return !l->is_known || l->is_same_stream || off > allowed || off < -allowed;
}

static int check(const struct op *op)
{
	const struct ct_overlap_launch *l = find(op);

	if (!is_wrong(op, l))
		return 1;
	print_message("%s: %lld ns of %lld are exposed, told: %s %lld ± %lld\n", op->name,
		      l ? (long long)exposed(op, l) : 0,
		      (long long)(op->span.end_ns - op->span.begin_ns),
		      !l		  ? "nothing of it"
		      : l->is_same_stream ? "same stream,"
		      : l->is_known	  ? "known,"
					  : "not known,",
		      l ? (long long)l->exposed_ns : 0, l ? (long long)l->err_ns : 0);
	return 0;
}

static int count_right(void (*body)(void), const char *const *env, int n)
{
	int right = 0;

	memset(truth, 0, sizeof(*truth));
	assert_int_equal(recorded_run(body, env), 0);
	analyze();
	assert_int_equal(truth->misuse, 0);
	assert_int_equal(truth->n, n);
	for (int i = 0; i < truth->n; i++)
		right += check(&truth->ops[i]);
	recorded_remove();
	return right;
}

/* Where the machine holds a thread up, times are reported with a larger error than find() and
 * is_wrong() allow: three tries. */
static void assert_told(void (*body)(void), const char *const *env, int n)
{
	int right = 0;

	for (int tries = 0; tries < 3 && right < n; tries++)
		right = count_right(body, env, n);
	assert_int_equal(right, n);
}

static const char *const events[] = { "COMMTRACE_TIMING=events", NULL };
static const char *const no_dlsym[] = { "COMMTRACE_TIMING=events", "COMMTRACE_NO_DLSYM=1", NULL };

static void every_way_to_wait_costs_what_it_costs(void **state)
{
	(void)state;
	assert_told(every_way, events, 24);
}

static void on_the_stream_that_computes_all_is_exposed(void **state)
{
	(void)state;
	assert_told(same_stream, events, 2);
}

static void what_is_not_seen_is_not_known(void **state)
{
	(void)state;
	assert_told(static_runtime, no_dlsym, 2);
}

static void what_libraries_wait_for_is_theirs(void **state)
{
	(void)state;
	assert_told(library_of_theirs, events, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_wait_costs_what_it_costs),
		cmocka_unit_test(on_the_stream_that_computes_all_is_exposed),
		cmocka_unit_test(what_is_not_seen_is_not_known),
		cmocka_unit_test(what_libraries_wait_for_is_theirs),
	};

	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return truth == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
