/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/follow.h"

#include <stdlib.h>
#include <time.h>

#include "analyzer/base/stats.h"
#include "analyzer/stream/stream_private.h"
#include "trace/clock.h"

struct ct_follow {
	struct ct_stream stream;
	struct ct_ahead *ahead;
	struct ct_reading *readings; /* by process of the run; without a load: not read, or ended */
	struct ct_reading **heap;    /* those to be read */
	size_t n;
	int has_ended;
};

static int open_all(struct ct_follow *f, int (*wants)(const struct ct_process_info *process),
		    struct ct_err *err)
{
	const struct ct_model *model = &f->stream.model;
	int st = CT_OK;

	f->ahead = ct_ahead_new(NULL, &f->stream.model.names);
	f->readings = calloc(model->run->n_processes + 1, sizeof(*f->readings));
	f->heap = calloc(model->run->n_processes + 1, sizeof(struct ct_reading *));
	if (!f->ahead || !f->readings || !f->heap)
		return CT_NOMEM;
	for (size_t p = 0; p < model->run->n_processes && st == CT_OK; p++) {
		struct ct_reading *r = &f->readings[p];

		if (model->starts->processes[p].restart != model->restart ||
		    (wants && !wants(&model->run->processes[p])))
			continue;
		*r = (struct ct_reading){ .stream = &f->stream, .process = (uint32_t)p };
		st = ct_stream_open_reading(r, f->ahead, err);
		if (st == CT_OK)
			f->heap[f->n++] = r;
	}
	return st;
}

int ct_follow_open(const struct ct_run *run, struct ct_starts *starts,
		   const struct ct_stream_options *options,
		   int (*wants)(const struct ct_process_info *process), struct ct_follow **follow,
		   struct ct_err *err)
{
	struct ct_follow *f = calloc(1, sizeof(*f));
	struct ct_stream_options following = *options;
	int st;

	*follow = f;
	if (!f)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	following.follows = 1;
	st = ct_stream_prepare(&f->stream, run, starts, starts->n_starts - 1, &following);
	st = st ?: open_all(f, wants, err);
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}

static int by_position(const void *a, const void *b)
{
	const struct ct_reading *x = *(struct ct_reading *const *)a,
				*y = *(struct ct_reading *const *)b;

	return ct_stream_is_behind(x, y) ? -1 : ct_stream_is_behind(y, x);
}

/* Of those in heap[0 .. n) the furthest behind first, and of each as much as there is. *state MORE:
 * the time is over. */
static int read_round(struct ct_follow *f, uint64_t until_ns, enum ct_follow_state *state,
		      struct ct_err *err)
{
	size_t n = f->n;

	qsort(f->heap, n, sizeof(struct ct_reading *), by_position);
	*state = CT_FOLLOW_LATEST;
	while (n) {
		struct ct_reading *first = f->heap[0];
		int more = ct_stream_read_block(first, err);

		if (more < 0)
			return more;
		if (more != 1) {
			/* out of this round; a process that has ended, out of all */
			f->heap[0] = f->heap[--n];
			f->heap[n] = first;
			if (!more) {
				f->heap[n] = f->heap[--f->n];
				first->load = NULL;
			}
		}
		if (n)
			ct_stream_sink(f->heap, n);
		if (n && ct_clock_ns(CLOCK_MONOTONIC) >= until_ns) {
			*state = CT_FOLLOW_MORE;
			return CT_OK;
		}
	}
	return CT_OK;
}

/* What a reading keeps at its end, as far as it is known before. */
static int keep_facts(struct ct_follow *f, const struct ct_reading *r)
{
	struct ct_model *model = &f->stream.model;
	struct ct_model_process *kept = &model->processes[r->process];
	const struct ct_environment_facts *facts = ct_load_environment(r->load);

	kept->facts.last_ns = ct_load_facts(r->load)->last_ns;
	kept->gaps = *ct_load_gaps(r->load);
	if (facts->n == kept->environment.n)
		return CT_OK;
	return ct_facts_copy(&kept->environment, model->memory, facts);
}

/* Since its first process began to record; all of them are on one clock. */
static uint64_t duration(const struct ct_follow *f)
{
	const struct ct_model *model = &f->stream.model;
	uint64_t begin = UINT64_MAX, last = 0;

	for (size_t p = 0; p < model->run->n_processes; p++) {
		if (!f->readings[p].stream)
			continue;
		begin = ct_min(begin, model->run->processes[p].id.start_ns);
		last = ct_max(last, model->processes[p].facts.last_ns);
	}
	return last > begin ? last - begin : 0;
}

static int end(struct ct_follow *f)
{
	int st = ct_stream_finish_matching(&f->stream);

	f->has_ended = 1;
	st = st ?: ct_stream_name_slots(&f->stream);
	return st ?: ct_observe_end(&f->stream);
}

int ct_follow_read(struct ct_follow *f, uint64_t most_ns, enum ct_follow_state *state,
		   struct ct_err *err)
{
	struct ct_model *model = &f->stream.model;
	int st = CT_OK;

	*state = CT_FOLLOW_ENDED;
	if (!f->has_ended)
		st = read_round(f, ct_clock_ns(CLOCK_MONOTONIC) + most_ns, state, err);
	for (size_t i = 0; st == CT_OK && i < f->n; i++)
		st = keep_facts(f, f->heap[i]);
	if (st == CT_OK && !f->n && !f->has_ended) {
		*state = CT_FOLLOW_ENDED;
		st = end(f);
	}
	model->end_ns = duration(f);
	model->duration_ns = model->end_ns;
	return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
}

struct ct_stream *ct_follow_stream(struct ct_follow *f)
{
	return &f->stream;
}

const struct ct_load *ct_follow_load(const struct ct_follow *f, uint32_t process)
{
	return f->readings[process].load;
}

void ct_follow_close(struct ct_follow *f)
{
	if (!f)
		return;
	for (size_t p = 0; f->readings && p < f->stream.model.run->n_processes; p++)
		ct_ahead_close(f->readings[p].ahead);
	free(f->readings);
	free(f->heap);
	ct_ahead_free(f->ahead);
	ct_stream_fini(&f->stream);
	free(f);
}
