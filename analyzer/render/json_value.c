/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/json_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "trace/ops.h"

json_t *ct_json_u64(uint64_t value)
{
	if (value == CT_UNKNOWN)
		return json_null();
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *ct_json_double(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *ct_json_text(const char *text)
{
	return text ? json_string(text) : json_null();
}

json_t *ct_json_hex(uint64_t key)
{
	char digits[17];

	if (!key)
		return json_null();
	snprintf(digits, sizeof(digits), "%016" PRIx64, key);
	return json_string(digits);
}

json_t *ct_json_rank(int rank)
{
	return rank < 0 ? json_null() : json_integer(rank);
}

void ct_json_set(json_t *object, const char *key, json_t *value, int *failed)
{
	if (!value || !object || json_object_set_new(object, key, value) != 0)
		*failed = 1;
}

void ct_json_append(json_t *array, json_t *value, int *failed)
{
	if (!value || !array || json_array_append_new(array, value) != 0)
		*failed = 1;
}

json_t *ct_json_done(json_t *object, int failed)
{
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

json_t *ct_json_ranks(const int *ranks, size_t n)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < n; i++)
		ct_json_append(array, ct_json_rank(ranks[i]), &failed);
	return ct_json_done(array, failed);
}

json_t *ct_json_texts(const char *const *texts, size_t n)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < n; i++)
		ct_json_append(array, ct_json_text(texts[i]), &failed);
	return ct_json_done(array, failed);
}

json_t *ct_json_run(const struct ct_report *report)
{
	const struct ct_report_run *run = &report->run;
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "dir", ct_json_text(run->dir), &failed);
	ct_json_set(o, "job", ct_json_text(run->job), &failed);
	ct_json_set(o, "attempt", json_integer(run->attempt), &failed);
	ct_json_set(o, "attempts", json_integer(run->attempts), &failed);
	ct_json_set(o, "begin_unix_ns", ct_json_u64(run->begin_unix_ns), &failed);
	ct_json_set(o, "duration_ns", ct_json_u64(run->duration_ns), &failed);
	ct_json_set(o, "ranks_expected", ct_json_u64(run->ranks_expected), &failed);
	ct_json_set(o, "ranks_seen", ct_json_u64(run->ranks_seen), &failed);
	ct_json_set(o, "ranks_missing", ct_json_ranks(run->ranks_missing, run->n_missing), &failed);
	ct_json_set(o, "hosts", ct_json_texts(run->hosts, run->n_hosts), &failed);
	ct_json_set(o, "backends", ct_json_texts(run->backends, run->n_backends), &failed);
	ct_json_set(o, "complete", json_boolean(run->complete), &failed);
	ct_json_set(o, "timing", ct_json_text(ct_timing_name(run->timing)), &failed);
	ct_json_set(o, "timing_why", ct_json_text(run->timing_why), &failed);
	ct_json_set(o, "timed_ratio", ct_json_double(run->timed_ratio), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_comms(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_comms; i++) {
		const struct ct_report_comm *comm = &report->comms[i];
		json_t *o = json_object();

		ct_json_set(o, "comm", ct_json_hex(comm->key), &failed);
		ct_json_set(o, "parent", ct_json_hex(comm->parent), &failed);
		ct_json_set(o, "backend", ct_json_text(ct_backend_name(comm->backend)), &failed);
		ct_json_set(o, "role", ct_json_text(comm->role), &failed);
		ct_json_set(o, "role_confidence",
			    comm->role ? ct_json_text(ct_confidence_name(comm->role_confidence))
				       : json_null(),
			    &failed);
		ct_json_set(o, "role_evidence", ct_json_text(comm->role_evidence), &failed);
		ct_json_set(o, "nranks", json_integer(comm->nranks), &failed);
		ct_json_set(o, "ranks", ct_json_ranks(comm->ranks, comm->n_ranks), &failed);
		ct_json_set(o, "name", ct_json_text(comm->name), &failed);
		ct_json_set(o, "instances", ct_json_u64(comm->instances), &failed);
		ct_json_set(o, "first_seq", ct_json_u64(comm->first_seq), &failed);
		ct_json_set(o, "last_seq", ct_json_u64(comm->last_seq), &failed);
		ct_json_set(o, "bytes", ct_json_u64(comm->bytes), &failed);
		ct_json_set(o, "cycles_exposed_ns", ct_json_u64(comm->cycles_exposed_ns), &failed);
		ct_json_set(o, "cycles_exposed_wait_ns", ct_json_u64(comm->cycles_exposed_wait_ns),
			    &failed);
		ct_json_set(o, "cycles_exposed_err_ns", ct_json_u64(comm->cycles_exposed_err_ns),
			    &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

json_t *ct_json_losses(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_losses; i++) {
		const struct ct_report_loss *loss = &report->losses[i];
		json_t *o = json_object();

		ct_json_set(o, "rank", ct_json_rank(loss->rank), &failed);
		ct_json_set(o, "reason", ct_json_text(loss->reason), &failed);
		ct_json_set(o, "records", ct_json_u64(loss->records), &failed);
		ct_json_set(o, "begin_ns", ct_json_u64(loss->begin_at_ns), &failed);
		ct_json_set(o, "end_ns", ct_json_u64(loss->end_at_ns), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

/* How launches were timed, null without a GPU. */
static void set_timing(json_t *o, const struct ct_report_cost *cost, int *failed)
{
	int on = cost->on_gpu;

	ct_json_set(o, "timing", on ? ct_json_text(ct_timed_by_name(cost->timed_by)) : json_null(),
		    failed);
	ct_json_set(o, "sample_ratio", ct_json_double(on ? cost->sample_ratio : NAN), failed);
	ct_json_set(o, "budget_ratio", ct_json_double(on ? cost->budget_ratio : NAN), failed);
	ct_json_set(o, "duty_on_ns", ct_json_u64(on ? cost->duty_on_ns : CT_UNKNOWN), failed);
	ct_json_set(o, "duty_of_ns", ct_json_u64(on ? cost->duty_of_ns : CT_UNKNOWN), failed);
	ct_json_set(o, "level", ct_json_u64(on ? cost->level : CT_UNKNOWN), failed);
	ct_json_set(o, "coarsest", ct_json_u64(on ? cost->coarsest : CT_UNKNOWN), failed);
}

json_t *ct_json_costs(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_costs; i++) {
		const struct ct_report_cost *cost = &report->costs[i];
		json_t *o = json_object();

		ct_json_set(o, "rank", ct_json_rank(cost->rank), &failed);
		ct_json_set(o, "wrapper_ns", ct_json_u64(cost->wrapper_ns), &failed);
		ct_json_set(o, "calls", ct_json_u64(cost->calls), &failed);
		ct_json_set(o, "events", ct_json_u64(cost->events), &failed);
		ct_json_set(o, "poll_cpu_ns", ct_json_u64(cost->poll_cpu_ns), &failed);
		ct_json_set(o, "write_cpu_ns", ct_json_u64(cost->write_cpu_ns), &failed);
		ct_json_set(o, "beat_cpu_ns", ct_json_u64(cost->beat_cpu_ns), &failed);
		ct_json_set(o, "bytes_written", ct_json_u64(cost->bytes_written), &failed);
		ct_json_set(o, "budget_backoffs", ct_json_u64(cost->budget_backoffs), &failed);
		ct_json_set(o, "wrapper_pct", ct_json_double(cost->share_pct), &failed);
		ct_json_set(o, "threads_pct", ct_json_double(cost->cpu_pct), &failed);
		set_timing(o, cost, &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}
