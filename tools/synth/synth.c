/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/synth.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/synth/record.h"

struct ct_synth_options ct_synth_defaults(void)
{
	return (struct ct_synth_options){
		/* Nothing is moved: sizes may be those of real models. */
		.job = { .name = "ddp", .ranks = 8, .nodes = 1, .steps = 50, .seed = 1, .scale = 1 },
		.per_process = 1,
		.world = ct_play_world(),
		.jitter_us = 2,
		.give_up_s = 60,
	};
}

static uint64_t end_of(const struct ct_synth_options *o, const struct ct_play_sums *sums)
{
	if (!sums->is_stuck)
		return sums->end_ns;
	if (sums->kill_ns)
		return sums->kill_ns > sums->end_ns ? sums->kill_ns : sums->end_ns;
	return sums->end_ns + (uint64_t)(o->give_up_s * 1e9);
}

int ct_synth_write(const struct ct_synth_options *o, int dirfd, struct ct_synth_outcome *out,
		   struct ct_err *err)
{
	struct ct_synth_record *record = NULL;
	struct ct_workload_config job = o->job;
	char why[256];
	int st = CT_NOMEM;

	memset(out, 0, sizeof(*out));
	job.faults = o->faults;
	out->workload = ct_workload_make(&job, why, sizeof(why));
	if (!out->workload)
		return ct_fail(err, CT_RANGE, "%s", why);
	out->clocks = ct_synth_clocks_make(o);
	if (!out->clocks)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	record = ct_synth_record_make(o, out->workload, out->clocks, dirfd, err);
	if (!record)
		return err->status;
	st = ct_play(out->workload, &o->world, ct_synth_record_sink(record), &out->sums);
	if (st != CT_OK && st != err->status)
		ct_fail(err, st, "%s", ct_status_text(st));
	out->duration_ns = end_of(o, &out->sums);
	if (st == CT_OK)
		st = ct_synth_record_finish(record, out->duration_ns);
	ct_synth_record_free(record);
	return st;
}

/* ---- the same without some of it ---- */

/* One play without fault `without`, or (-1) without any. */
struct other {
	const struct ct_synth_options *o;
	int without;
	struct ct_play_sums sums;
	int status;
};

static int is_of_the_trace(const struct ct_fault *fault)
{
	return ct_fault_where(fault->kind) == CT_FAULT_IN_TRACES;
}

static void play_other(struct other *other)
{
	struct ct_workload_config job = other->o->job;
	struct ct_fault left[CT_SYNTH_FAULTS];
	struct ct_workload *w;
	char why[256];

	job.faults = left;
	job.n_faults = 0;
	for (size_t i = 0; i < other->o->job.n_faults; i++) {
		if (other->without < 0 ? other->o->faults[i].kind == CT_FAULT_RUN_AHEAD
				       : i != (size_t)other->without)
			left[job.n_faults++] = other->o->faults[i];
	}
	w = ct_workload_make(&job, why, sizeof(why));
	other->status = w ? ct_play(w, &other->o->world, NULL, &other->sums) : CT_NOMEM;
	ct_workload_free(w);
}

struct others {
	struct other *at;
	int n;
	int next; /* whoever takes one adds to it */
};

static void *work(void *arg)
{
	struct others *others = arg;
	int i;

	while ((i = __atomic_fetch_add(&others->next, 1, __ATOMIC_RELAXED)) < others->n)
		play_other(&others->at[i]);
	return NULL;
}

/* Some at once, as there are cores for. */
static void play_others(struct others *others)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[8];
	int n = 0;

	while (n < 7 && n + 1 < cores && n + 1 < others->n &&
	       pthread_create(&threads[n], NULL, work, others) == 0)
		n++;
	work(others);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

static int take(const struct ct_synth_options *o, struct ct_synth_outcome *out,
		struct others *others)
{
	for (int i = 0; i < others->n; i++) {
		struct other *other = &others->at[i];
		const uint64_t end_ns = end_of(o, &other->sums);

		if (other->status)
			return other->status;
		if (other->without < 0) {
			out->ideal_ns = end_ns;
			continue;
		}
		out->faults[other->without].without_ns = end_ns;
		out->faults[other->without].injected_ns = out->sums.busy_ns - other->sums.busy_ns;
		out->faults[other->without].is_known = !out->sums.is_stuck && !other->sums.is_stuck;
	}
	return CT_OK;
}

int ct_synth_compare(const struct ct_synth_options *o, struct ct_synth_outcome *out,
		     struct ct_err *err)
{
	struct other at[CT_SYNTH_FAULTS + 1];
	struct others others = { .at = at };
	size_t in_job = 0;
	int st;

	out->ideal_ns = out->duration_ns;
	for (size_t i = 0; i < o->job.n_faults; i++) {
		out->faults[i].without_ns = out->duration_ns;
		out->faults[i].is_known = !out->sums.is_stuck;
		if (is_of_the_trace(&o->faults[i]) || o->faults[i].kind == CT_FAULT_RUN_AHEAD)
			continue;
		in_job++;
		at[others.n++] = (struct other){ .o = o, .without = (int)i };
	}
	/* With one fault, without it is without any. */
	if (in_job > 1)
		at[others.n++] = (struct other){ .o = o, .without = -1 };
	play_others(&others);
	st = take(o, out, &others);
	if (in_job == 1) {
		for (int i = 0; i < others.n; i++)
			out->ideal_ns = out->faults[at[i].without].without_ns;
	}
	for (int i = 0; i < others.n; i++)
		ct_play_sums_free(&at[i].sums);
	return st == CT_OK ? st : ct_fail(err, st, "%s", ct_status_text(st));
}

void ct_synth_outcome_free(struct ct_synth_outcome *out)
{
	ct_workload_free(out->workload);
	ct_synth_clocks_free(out->clocks);
	ct_play_sums_free(&out->sums);
	memset(out, 0, sizeof(*out));
}
