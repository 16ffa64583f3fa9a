/* SPDX-License-Identifier: Apache-2.0 */
/* expect.c — which finding, or which verdict of a hang, belongs to which fault. */
#include "tools/synth/truth.h"

#include "tools/workload/strike.h"
#include "trace/ops.h"

#define GATE 0.01 /* a smaller cost is not a finding */

static const char *finding_of(const struct ct_fault *fault)
{
	switch (fault->kind) {
	case CT_FAULT_SLOW_RANK:
	case CT_FAULT_LATE_HOST:
		return "STRAGGLER";
	case CT_FAULT_SLOW_HOST:
		return "STRAGGLER_HOST";
	case CT_FAULT_SLOW_LINK:
		return "SLOW_LINK";
	case CT_FAULT_PAUSE:
		return "PERIODIC_STALLS";
	case CT_FAULT_GPU_PAUSE:
		return ct_fault_has(fault, CT_KEY_every) ? "PERIODIC_STALLS" : NULL;
	case CT_FAULT_ROTATING:
		return "ROTATING_STALLS";
	default:
		return NULL;
	}
}

/* Those that are wrong whatever they cost. */
static const char *wrong_of(const struct ct_fault *fault)
{
	switch (fault->kind) {
	case CT_FAULT_MISMATCH:
		return "MISMATCH";
	case CT_FAULT_SKIP:
		return "SKIPPED_OP";
	case CT_FAULT_EXTRA:
		return "EXTRA_OP";
	default:
		return NULL;
	}
}

static const char *hang_of(const struct ct_fault *fault)
{
	static const char *const fields[] = { "MISMATCH_OP", "MISMATCH_COUNT", "MISMATCH_DTYPE",
					      "MISMATCH_REDOP", "MISMATCH_ROOT" };

	switch (fault->kind) {
	case CT_FAULT_MISSING:
	case CT_FAULT_SKIP_INIT:
		return "NEVER_ENTERED";
	case CT_FAULT_KILL:
		return "DEAD_RANK";
	case CT_FAULT_EXIT:
		return "EXITED_RANK";
	case CT_FAULT_ASYNC_ERROR:
		return "ASYNC_ERROR";
	case CT_FAULT_BLOCK_STREAM:
		return "STREAM_BLOCKED";
	case CT_FAULT_SKIP:
		return "SKIPPED_OP";
	case CT_FAULT_EXTRA:
		return "EXTRA_OP";
	case CT_FAULT_MISMATCH:
		return fields[fault->field];
	case CT_FAULT_ORDER_INVERSION:
		return "ORDER_DEADLOCK";
	case CT_FAULT_HOST_INVERSION:
		return "HOST_ORDER_DEADLOCK";
	case CT_FAULT_SKIP_SEND:
		return "P2P_UNMATCHED";
	case CT_FAULT_UNBATCHED_P2P:
		return "P2P_CYCLE";
	case CT_FAULT_TRANSPORT_STALL:
		return "TRANSPORT_STALL";
	case CT_FAULT_NEVER_ENDS:
		return "PARTIAL_COMPLETE";
	case CT_FAULT_STRAY_SPLIT:
		return "HOST_ORDER_DEADLOCK";
	case CT_FAULT_HOST_STALL:
		return fault->call == CT_CALL_groupend ? "HOST_BLOCKED_CALL" : "HOST_CALL_STALL";
	default:
		return NULL;
	}
}

json_t *ct_synth_fault_ranks(const struct ct_synth_options *o, const struct ct_fault *fault)
{
	const int per_host = o->job.ranks / o->job.nodes;
	json_t *ranks = json_array();

	if (ct_fault_has(fault, CT_KEY_rank))
		json_array_append_new(ranks, json_integer(fault->rank));
	for (int i = 0; i < 2 && ct_fault_has(fault, CT_KEY_ranks); i++)
		json_array_append_new(ranks, json_integer(fault->ranks[i]));
	if (ct_fault_has(fault, CT_KEY_src)) {
		json_array_append_new(ranks, json_integer(fault->src));
		json_array_append_new(ranks, json_integer(fault->dst));
	}
	for (int i = 0; i < per_host && ct_fault_has(fault, CT_KEY_host); i++)
		json_array_append_new(ranks, json_integer(fault->host * per_host + i));
	return ranks;
}

json_t *ct_synth_fault_hosts(const struct ct_fault *fault)
{
	json_t *hosts = json_array();

	if (ct_fault_has(fault, CT_KEY_host))
		json_array_append_new(hosts, json_sprintf("node%d", fault->host));
	return hosts;
}

double ct_synth_loss(const struct ct_synth_outcome *out, size_t fault)
{
	if (!out->faults[fault].is_known || !out->duration_ns)
		return -1;
	return ((double)out->duration_ns - (double)out->faults[fault].without_ns) /
	       (double)out->duration_ns;
}

static int is_straggling(const struct ct_fault *fault)
{
	return fault->kind == CT_FAULT_SLOW_RANK || fault->kind == CT_FAULT_SLOW_HOST ||
	       fault->kind == CT_FAULT_LATE_HOST;
}

/* On each of its ranks; 0: it is none of these. */
static double lateness(const struct ct_synth_options *o, const struct ct_synth_outcome *out,
		       size_t fault)
{
	const int ranks = o->faults[fault].kind == CT_FAULT_SLOW_HOST ? o->job.ranks / o->job.nodes
								      : 1;

	return is_straggling(&o->faults[fault]) ? out->faults[fault].injected_ns / ranks : 0;
}

/* One that hides behind another as large: without either alone the job would take as long, without
 * both it would not. */
static int is_one_of_several(const struct ct_synth_options *o, const struct ct_synth_outcome *out,
			     size_t fault)
{
	const double own = lateness(o, out, fault);
	double most = 0;

	if (own <= 0 ||
	    (double)(out->duration_ns - out->ideal_ns) < GATE * (double)out->duration_ns)
		return 0;
	for (size_t i = 0; i < o->job.n_faults; i++)
		most = lateness(o, out, i) > most ? lateness(o, out, i) : most;
	return own > 0.75 * most;
}

static json_t *findings(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	json_t *all = json_array();

	for (size_t i = 0; i < o->job.n_faults; i++) {
		const struct ct_fault *fault = &o->faults[i];
		const char *kind = wrong_of(fault);

		if (!kind && out->faults[i].is_known &&
		    (ct_synth_loss(out, i) >= GATE || is_one_of_several(o, out, i)))
			kind = finding_of(fault);
		if (fault->kind == CT_FAULT_SLOW_LINK && !ct_synth_link_shows(out, fault))
			kind = NULL;
		if (kind)
			json_array_append_new(all,
					      json_pack("{s:s, s:o, s:o}", "kind", kind, "ranks",
							ct_synth_fault_ranks(o, fault), "hosts",
							ct_synth_fault_hosts(fault)));
	}
	return all;
}

static int is_culprit(const json_t *ranks, int rank)
{
	for (size_t i = 0; i < json_array_size(ranks); i++) {
		if (json_integer_value(json_array_get(ranks, i)) == rank)
			return 1;
	}
	return 0;
}

/* All that share the communicator of the operation that the fault is about. */
static json_t *members(const struct ct_synth_options *o, const struct ct_fault *fault)
{
	struct ct_workload_config config = o->job;
	struct ct_workload_op op;
	struct ct_workload *plain;
	json_t *ranks = json_array();
	char why[256];

	config.n_faults = 0;
	plain = ct_workload_make(&config, why, sizeof(why));
	if (plain && ct_workload_strike(plain, fault, &op) > 0) {
		for (int i = 0; i < ct_workload_comm(plain, op.comm)->n; i++)
			json_array_append_new(ranks,
					      json_integer(ct_workload_member(plain, op.comm, i)));
	}
	ct_workload_free(plain);
	return ranks;
}

/* The ranks that a verdict has to name. If all are in the same call, or in the same step, the
 * culprit cannot be known. */
static json_t *named(const struct ct_synth_options *o, const struct ct_fault *fault)
{
	json_t *ranks;

	if (fault->kind == CT_FAULT_TRANSPORT_STALL || fault->kind == CT_FAULT_STRAY_SPLIT ||
	    (fault->kind == CT_FAULT_HOST_STALL && fault->call != CT_CALL_groupend))
		return members(o, fault);
	ranks = ct_synth_fault_ranks(o, fault);
	if (ct_fault_has(fault, CT_KEY_peer))
		json_array_append_new(ranks, json_integer(fault->peer));
	return ranks;
}

/* By the first fault that can hang a job, if this one did. */
static json_t *hang(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	const struct ct_fault *fault = NULL;
	json_t *ranks, *victims;

	for (size_t i = 0; i < o->job.n_faults && !fault; i++) {
		if (hang_of(&o->faults[i]))
			fault = &o->faults[i];
	}
	if (!out->sums.is_stuck)
		return json_null();
	ranks = fault ? named(o, fault) : json_array();
	victims = json_array();
	for (int r = 0; r < o->job.ranks; r++) {
		if (out->sums.ranks[r].end == CT_PLAY_STUCK && !is_culprit(ranks, r))
			json_array_append_new(victims, json_integer(r));
	}
	return json_pack("{s:s, s:o, s:o}", "code", fault ? hang_of(fault) : "UNKNOWN", "ranks",
			 ranks, "victims", victims);
}

json_t *ct_synth_expected(const struct ct_synth_options *o, const struct ct_synth_outcome *out)
{
	return json_pack("{s:o, s:o}", "findings", findings(o, out), "hang", hang(o, out));
}
