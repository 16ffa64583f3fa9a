/* SPDX-License-Identifier: Apache-2.0 */
/* truth.c — what is known of a run that was made: commtrace.truth/1, docs/reference/JSON.md. */
#include "tools/synth/truth.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/synth/clocks.h"
#include "trace/ops.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* A fault lasts from its first step to its last; what happens at an operation has no step of its
 * own. */
static json_t *step(const struct ct_synth_options *o, const struct ct_fault *fault, int is_last)
{
	const uint64_t last = o->job.steps - 1;

	if (ct_fault_has(fault, CT_KEY_op) || ct_fault_where(fault->kind) == CT_FAULT_IN_TRACES)
		return json_null();
	if (!is_last)
		return integer(fault->from);
	return integer(fault->to < last ? fault->to : last);
}

static json_t *faults(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	json_t *all = json_array();

	for (size_t i = 0; i < o->job.n_faults; i++) {
		const struct ct_fault *fault = &o->faults[i];
		const int known = out->faults[i].is_known;
		const int64_t loss = (int64_t)(out->duration_ns - out->faults[i].without_ns);

		json_array_append_new(
			all, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
				       ct_fault_name(fault->kind), "ranks",
				       ct_synth_fault_ranks(o, fault), "hosts",
				       ct_synth_fault_hosts(fault), "step_first", step(o, fault, 0),
				       "step_last", step(o, fault, 1), "injected_ns",
				       known ? json_integer(llround(out->faults[i].injected_ns))
					     : json_null(),
				       "time_lost_ns", known ? json_integer(loss) : json_null()));
	}
	return all;
}

static json_t *knot(const struct ct_synth_outcome *out, int host, uint64_t at_ns)
{
	return json_pack("[o, o]", integer(at_ns),
			 json_integer(ct_synth_clock_offset(out->clocks, host, at_ns)));
}

/* At the begin, at the end, and where the rate changes in between. */
static json_t *clocks(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	const uint64_t step = ct_synth_clock_step(out->clocks);
	json_t *all = json_array();

	for (int host = 0; host < o->job.nodes; host++) {
		json_t *knots = json_array();

		json_array_append_new(knots, knot(out, host, 0));
		for (uint64_t at = step; step && at < out->duration_ns; at += step)
			json_array_append_new(knots, knot(out, host, at));
		json_array_append_new(knots, knot(out, host, out->duration_ns));
		json_array_append_new(all, json_pack("{s:o, s:o}", "host",
						     json_sprintf("node%d", host), "knots", knots));
	}
	return all;
}

static char *comm_name(const struct ct_synth_options *o, int comm, char name[20])
{
	snprintf(name, 20, "%016llx", (unsigned long long)ct_synth_comm_key(o, comm));
	return name;
}

static json_t *comms(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	json_t *all = json_array();
	char name[20];

	for (int i = 0; i < ct_workload_n_comms(out->workload); i++) {
		const struct ct_workload_comm *comm = ct_workload_comm(out->workload, i);
		json_t *ranks = json_array();

		for (int k = 0; k < comm->n; k++)
			json_array_append_new(ranks, json_integer(comm->first + k * comm->stride));
		json_array_append_new(all,
				      json_pack("{s:s, s:s, s:o}", "comm", comm_name(o, i, name),
						"role", comm->role, "ranks", ranks));
	}
	return all;
}

/* The links that a fault slows, once for each communicator that is on them. */
static json_t *links(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	const struct ct_workload *w = out->workload;
	json_t *all = json_array();
	char name[20];

	for (size_t i = 0; i < o->job.n_faults; i++) {
		const struct ct_fault *fault = &o->faults[i];
		const int near = ct_workload_node(w, fault->src) == ct_workload_node(w, fault->dst);
		const double Bps = (near ? o->world.node_Bps : o->world.net_Bps) / o->job.scale *
				   fault->factor;

		if (fault->kind != CT_FAULT_SLOW_LINK)
			continue;
		for (int c = 0; c < ct_workload_n_comms(w); c++) {
			if (!ct_synth_link_crosses(out, c, fault))
				continue;
			json_array_append_new(
				all, json_pack("{s:i, s:i, s:s, s:o, s:b}", "src", fault->src,
					       "dst", fault->dst, "comm", comm_name(o, c, name),
					       "Bps", json_integer(llround(Bps)), "identifiable",
					       ct_synth_link_is_identifiable(w, c)));
		}
	}
	return all;
}

static json_t *model(const struct ct_synth_options *o)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "alpha_ns", (json_int_t)o->world.alpha_ns,
			 "hop_ns", (json_int_t)o->world.hop_ns, "node_Bps",
			 (json_int_t)(o->world.node_Bps / o->job.scale), "net_Bps",
			 (json_int_t)(o->world.net_Bps / o->job.scale));
}

static json_t *step_starts(const struct ct_synth_outcome *out)
{
	json_t *all = json_array();

	for (uint64_t i = 0; i < out->sums.n_steps; i++)
		json_array_append_new(all, integer(out->sums.step_ns[i]));
	return all;
}

static json_t *traffic(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	const int n = o->job.ranks;
	json_t *rows = json_array();

	if (!out->sums.wire_bytes) {
		json_decref(rows);
		return json_null();
	}
	for (int src = 0; src < n; src++) {
		json_t *row = json_array();

		for (int dst = 0; dst < n; dst++)
			json_array_append_new(row, integer(out->sums.wire_bytes[src * n + dst]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *hosts(const struct ct_synth_options *o)
{
	json_t *all = json_array();

	for (int host = 0; host < o->job.nodes; host++)
		json_array_append_new(all, json_sprintf("node%d", host));
	return all;
}

static json_t *by_rank(const struct ct_synth_options *o, const struct ct_synth_outcome *out,
		       size_t member)
{
	json_t *all = json_array();

	for (int r = 0; r < o->job.ranks; r++) {
		const char *at = (const char *)&out->sums.ranks[r] + member;

		json_array_append_new(all, integer(*(const uint64_t *)(const void *)at));
	}
	return all;
}

static json_t *all_of_it(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	const size_t wait = offsetof(struct ct_play_rank_sums, wait_ns);
	const size_t exposed = offsetof(struct ct_play_rank_sums, exposed_ns);
	json_t *truth = json_object();

	json_object_set_new(truth, "schema", json_string("commtrace.truth/1"));
	json_object_set_new(truth, "seed", integer(o->job.seed));
	json_object_set_new(truth, "hosts", hosts(o));
	json_object_set_new(truth, "ranks", json_integer(o->job.ranks));
	json_object_set_new(truth, "steps", integer(o->job.steps));
	json_object_set_new(truth, "workload", json_string(o->job.name));
	json_object_set_new(truth, "timing", json_string(ct_synth_timing_name(o->timing)));
	json_object_set_new(truth, "ops", integer(out->sums.ops));
	json_object_set_new(truth, "duration_ns", integer(out->duration_ns));
	json_object_set_new(truth, "ideal_ns", integer(out->ideal_ns));
	json_object_set_new(truth, "faults", faults(o, out));
	json_object_set_new(truth, "clocks", clocks(o, out));
	json_object_set_new(truth, "comms", comms(o, out));
	json_object_set_new(truth, "links", links(o, out));
	json_object_set_new(truth, "model", model(o));
	json_object_set_new(truth, "step_starts_ns", step_starts(out));
	json_object_set_new(truth, "wait_ns_per_rank", by_rank(o, out, wait));
	json_object_set_new(truth, "exposed_ns_per_rank", by_rank(o, out, exposed));
	json_object_set_new(truth, "traffic_bytes", traffic(o, out));
	json_object_set_new(truth, "expected", ct_synth_expected(o, out));
	return truth;
}

int ct_synth_truth(const struct ct_synth_options *o, const struct ct_synth_outcome *out,
		   const char *path, struct ct_err *err)
{
	json_t *truth = all_of_it(o, out);
	FILE *file = fopen(path, "w");
	int failed;

	if (!file) {
		json_decref(truth);
		return ct_fail(err, CT_IO, "%s: %s", path, strerror(errno));
	}
	failed = json_dumpf(truth, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER) ||
		 fputc('\n', file) < 0;
	failed |= fclose(file) != 0;
	json_decref(truth);
	return failed ? ct_fail(err, CT_IO, "%s: %s", path, strerror(errno)) : CT_OK;
}
