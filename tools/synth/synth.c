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
		.job = { .name = "ddp",
			 .ranks = 8,
			 .nodes = 1,
			 .steps = 50,
			 .seed = 1,
			 .scale = 1,
			 .has_no_data = 1 },
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

/* Does a group end after the stall? Real calls outside groups have an end of their own, which is
 * not played. */
static int can_stall(const struct ct_workload *w, const struct ct_fault *fault)
{
	struct ct_workload_rank *it = ct_workload_open(w, fault->rank);
	const struct ct_action *action;
	int stalls = 0, ends = 0;

	while (it && !ends && ct_workload_next(it, &action) > 0) {
		stalls |= action->kind == CT_ACTION_STALL_CALL &&
			  action->fault->call == CT_CALL_groupend;
		ends = stalls && action->kind == CT_ACTION_GROUP_END;
	}
	ct_workload_close(it);
	return ends;
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
	for (size_t i = 0; i < job.n_faults; i++)
		if (o->faults[i].kind == CT_FAULT_HOST_STALL &&
		    o->faults[i].call == CT_CALL_groupend &&
		    !can_stall(out->workload, &o->faults[i]))
			return ct_fail(
				err, CT_RANGE,
				"fault %s would never happen in this workload: no group ends",
				ct_fault_name(o->faults[i].kind));
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
	st = st ?: ct_synth_record_finish(record, out->duration_ns);
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

struct ct_synth_comparison {
	const struct ct_synth_options *o;
	struct other at[CT_SYNTH_FAULTS + 1];
	int n;
	int next; /* a thread that takes one adds to it */
	pthread_t threads[8];
	int n_threads;
};

static void *work(void *arg)
{
	struct ct_synth_comparison *c = arg;
	int i;

	while ((i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->n)
		play_other(&c->at[i]);
	return NULL;
}

/* One core is for the thread that writes the run. */
static void start(struct ct_synth_comparison *c)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	const int most = cores < 2 ? 1 : cores - 1 < 8 ? (int)cores - 1 : 8;

	while (c->n_threads < most && c->n_threads < c->n &&
	       pthread_create(&c->threads[c->n_threads], NULL, work, c) == 0)
		c->n_threads++;
}

struct ct_synth_comparison *ct_synth_compare_begin(const struct ct_synth_options *o)
{
	struct ct_synth_comparison *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->o = o;
	for (size_t i = 0; i < o->job.n_faults; i++) {
		if (!is_of_the_trace(&o->faults[i]) && o->faults[i].kind != CT_FAULT_RUN_AHEAD)
			c->at[c->n++] = (struct other){ .o = o, .without = (int)i };
	}
	/* With one fault, without it is without any. */
	if (c->n > 1)
		c->at[c->n++] = (struct other){ .o = o, .without = -1 };
	start(c);
	return c;
}

static int fill_outcome(const struct ct_synth_comparison *c, struct ct_synth_outcome *out)
{
	out->ideal_ns = out->duration_ns;
	for (size_t i = 0; i < c->o->job.n_faults; i++) {
		out->faults[i].without_ns = out->duration_ns;
		out->faults[i].is_known = !out->sums.is_stuck;
	}
	for (int i = 0; i < c->n; i++) {
		const struct other *other = &c->at[i];
		const uint64_t end_ns = end_of(c->o, &other->sums);

		if (other->status)
			return other->status;
		if (other->without < 0 || c->n == 1)
			out->ideal_ns = end_ns;
		if (other->without < 0)
			continue;
		out->faults[other->without].without_ns = end_ns;
		out->faults[other->without].injected_ns = out->sums.busy_ns - other->sums.busy_ns;
		out->faults[other->without].is_known = !out->sums.is_stuck && !other->sums.is_stuck;
	}
	return CT_OK;
}

int ct_synth_compare_end(struct ct_synth_comparison *c, struct ct_synth_outcome *out,
			 struct ct_err *err)
{
	int st;

	if (!c)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	if (!out)
		__atomic_store_n(&c->next, c->n, __ATOMIC_RELAXED);
	/* Those for which there was no thread. */
	work(c);
	while (c->n_threads)
		pthread_join(c->threads[--c->n_threads], NULL);
	st = out ? fill_outcome(c, out) : CT_OK;
	for (int i = 0; i < c->n; i++)
		ct_play_sums_free(&c->at[i].sums);
	free(c);
	return st == CT_OK ? st : ct_fail(err, st, "%s", ct_status_text(st));
}

void ct_synth_outcome_free(struct ct_synth_outcome *out)
{
	ct_workload_free(out->workload);
	ct_synth_clocks_free(out->clocks);
	ct_play_sums_free(&out->sums);
	memset(out, 0, sizeof(*out));
}
