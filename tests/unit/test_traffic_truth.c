/* SPDX-License-Identifier: Apache-2.0 */
/* How much each rank sent to each other, for whole runs: against what the synthesizer wrote down,
 * and layers against one another. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/job.h"
#include "tests/unit/seeds.h"
#include "tools/synth/synth.h"

static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe", "decode" };

#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

static struct ct_synth_options options_of(const char *workload, int per_process)
{
	struct ct_synth_options o = ct_synth_defaults();

	o.job.name = workload;
	o.job.ranks = 16;
	o.job.nodes = 4;
	o.job.steps = 6;
	if (strcmp(workload, "megatron") == 0)
		o.job.tp = o.job.pp = 2;
	o.per_process = per_process;
	return o;
}

static void write_run(const struct ct_synth_options *o, struct ct_synth_outcome *out)
{
	struct ct_err err = { 0 };
	int dirfd;

	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(o, dirfd, out, &err) != CT_OK)
		fail_msg("%s: %s", o->job.name, err.text);
	close(dirfd);
}

static struct ct_report *read_run(void)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	const char *path = fx_path("run");
	struct ct_err err = { 0 };
	struct ct_report *report = NULL;
	struct ct_run *run = NULL;

	if (ct_run_open(&path, 1, NULL, &run, &err) != CT_OK ||
	    ct_analyze(run, &options, &report, &err) != CT_OK)
		fail_msg("%s", err.text);
	ct_run_close(run);
	return report;
}

/* ---- layers ---- */

static const struct ct_traffic_layer *layer_of(const struct ct_report *report, const char *scope,
					       const char *kind)
{
	const struct ct_report_traffic *t = &report->traffic;

	for (size_t i = 0; i < t->n_layers; i++)
		if (strcmp(t->layers[i].scope, scope) == 0 && strcmp(t->layers[i].kind, kind) == 0)
			return &t->layers[i];
	return NULL;
}

/* What a layer has of a pair; zeroed: nothing. */
static struct pair_sum {
	uint64_t bytes, count, time_ns;
} pair_of(const struct ct_traffic_layer *l, int src, int dst)
{
	struct pair_sum sum = { 0 };

	for (size_t i = 0; i < l->n; i++)
		if (l->src[i] == src && l->dst[i] == dst)
			sum = (struct pair_sum){ l->bytes[i], l->count[i],
						 l->time_ns[i] == CT_UNKNOWN ? 0 : l->time_ns[i] };
	return sum;
}

/* In order, each pair once, never one with itself by ranks; the largest of each as it says. */
static void assert_sound(const struct ct_report_traffic *t, const struct ct_traffic_layer *l)
{
	uint64_t bytes = 0, most_bytes = 0, most_count = 0, most_Bps = 0;
	int by_rank = strcmp(l->scope, "rank") == 0;

	assert_true(l->n > 0);
	for (size_t i = 0; i < l->n; i++) {
		assert_true(i == 0 || l->src[i] > l->src[i - 1] ||
			    (l->src[i] == l->src[i - 1] && l->dst[i] > l->dst[i - 1]));
		assert_true(!by_rank || l->src[i] != l->dst[i]);
		assert_true(by_rank ||
			    (l->src[i] < (int)t->n_hosts && l->dst[i] < (int)t->n_hosts));
		assert_true(l->count[i] > 0);
		assert_true((l->time_ns[i] == CT_UNKNOWN) == (l->time_err_ns[i] == CT_UNKNOWN));
		assert_true((l->bandwidth_Bps[i] == CT_UNKNOWN) ==
			    (l->time_ns[i] == CT_UNKNOWN || l->time_err_ns[i] >= l->time_ns[i]));
		if (l->bandwidth_Bps[i] != CT_UNKNOWN) {
			double time_ns = (double)l->time_ns[i], err_ns = (double)l->time_err_ns[i];
			double Bps = (double)l->bandwidth_Bps[i];

			assert_true(fabs(Bps * err_ns / (time_ns - err_ns) -
					 (double)l->bandwidth_err_Bps[i]) < 10);
		}
		bytes += l->bytes[i];
		most_bytes = l->bytes[i] > most_bytes ? l->bytes[i] : most_bytes;
		most_count = l->count[i] > most_count ? l->count[i] : most_count;
		if (l->bandwidth_Bps[i] != CT_UNKNOWN && l->bandwidth_Bps[i] > most_Bps)
			most_Bps = l->bandwidth_Bps[i];
	}
	assert_int_equal(bytes, l->exact_bytes + l->modelled_bytes);
	assert_int_equal(most_bytes, l->max_bytes);
	assert_int_equal(most_count, l->max_count);
	assert_true(l->max_bandwidth_Bps == (most_Bps ? most_Bps : CT_UNKNOWN));
	assert_string_equal(l->model, l->modelled_bytes ? "ring" : "exact");
}

/* Those of a kind together have of each pair what the layer of all has. */
static void assert_adds_up(const struct ct_report *report, const char *scope, const char *kind)
{
	const struct ct_report_traffic *t = &report->traffic;
	const struct ct_traffic_layer *all = layer_of(report, scope, "all");
	size_t found = 0;

	if (!layer_of(report, scope, kind))
		return;
	for (size_t i = 0; i < all->n; i++) {
		struct pair_sum whole = pair_of(all, all->src[i], all->dst[i]);

		for (size_t k = 0; k < t->n_layers; k++) {
			struct pair_sum part;

			if (strcmp(t->layers[k].scope, scope) != 0 ||
			    strcmp(t->layers[k].kind, kind) != 0)
				continue;
			part = pair_of(&t->layers[k], all->src[i], all->dst[i]);
			whole.bytes -= part.bytes;
			whole.count -= part.count;
			whole.time_ns -= part.time_ns;
			found += part.count > 0;
		}
		assert_int_equal(whole.bytes | whole.count | whole.time_ns, 0);
	}
	for (size_t k = 0; k < t->n_layers; k++)
		if (strcmp(t->layers[k].scope, scope) == 0 && strcmp(t->layers[k].kind, kind) == 0)
			found -= t->layers[k].n;
	assert_int_equal(found, 0);
}

/* A role's layer has what its communicators' layers have, and these have the role of their row. */
static void assert_roles(const struct ct_report *report)
{
	const struct ct_report_traffic *t = &report->traffic;
	int differ = 0;

	for (size_t c = 0; c < report->n_comms; c++)
		differ |= strcmp(report->comms[c].role, report->comms[0].role) != 0;
	assert_int_equal(layer_of(report, "rank", "role") != NULL, differ);
	for (size_t i = 0; i < t->n_layers; i++) {
		uint64_t bytes = 0, found = 0;

		if (strcmp(t->layers[i].kind, "role") != 0)
			continue;
		assert_string_equal(t->layers[i].name, t->layers[i].role);
		for (size_t k = 0; k < t->n_layers; k++) {
			const struct ct_traffic_layer *l = &t->layers[k];

			if (strcmp(l->kind, "comm") != 0 ||
			    strcmp(l->scope, t->layers[i].scope) != 0)
				continue;
			for (size_t c = 0; c < report->n_comms; c++)
				if (report->comms[c].hash == l->comm_hash)
					assert_string_equal(report->comms[c].role, l->role);
			found += strcmp(l->role, t->layers[i].role) == 0;
			if (strcmp(l->role, t->layers[i].role) == 0)
				bytes += l->exact_bytes + l->modelled_bytes;
		}
		assert_true(found > 0);
		assert_int_equal(bytes, t->layers[i].exact_bytes + t->layers[i].modelled_bytes);
	}
}

static int host_of(const struct ct_report *report, int rank)
{
	for (size_t r = 0; r < report->n_ranks; r++)
		for (size_t h = 0; h < report->traffic.n_hosts; h++)
			if (report->ranks[r].rank == rank &&
			    strcmp(report->ranks[r].host, report->traffic.hosts[h]) == 0)
				return (int)h;
	fail_msg("rank %d has no host", rank);
	return -1;
}

/* The layer of hosts at `h` has what that of ranks at `r` has, host by host. */
static void assert_hosts(const struct ct_report *report, const struct ct_traffic_layer *ranks,
			 const struct ct_traffic_layer *hosts)
{
	uint64_t bytes[16][16] = { 0 }, count[16][16] = { 0 };

	assert_true(ranks->comm_hash == hosts->comm_hash && ranks->name == hosts->name);
	for (size_t i = 0; i < ranks->n; i++) {
		int src = host_of(report, ranks->src[i]), dst = host_of(report, ranks->dst[i]);

		bytes[src][dst] += ranks->bytes[i];
		count[src][dst] += ranks->count[i];
	}
	for (int k = 0; k < 256; k++) {
		struct pair_sum sum = pair_of(hosts, k / 16, k % 16);

		assert_int_equal(sum.bytes, bytes[k / 16][k % 16]);
		assert_int_equal(sum.count, count[k / 16][k % 16]);
	}
}

static void assert_layers(const struct ct_report *report)
{
	const struct ct_report_traffic *t = &report->traffic;
	const char *const kinds[] = { "backend", "role", "comm" };
	size_t half = t->n_layers / 2;

	assert_int_equal(t->n_layers % 2, 0);
	assert_string_equal(t->layers[0].kind, "all");
	for (size_t i = 0; i < t->n_layers; i++)
		assert_sound(t, &t->layers[i]);
	for (size_t i = 0; i < half; i++)
		assert_hosts(report, &t->layers[i], &t->layers[half + i]);
	assert_roles(report);
	for (size_t k = 0; k < 3; k++) {
		assert_adds_up(report, "rank", kinds[k]);
		assert_adds_up(report, "host", kinds[k]);
	}
}

/* ---- against the truth ---- */

static void assert_truth(const struct ct_report *report, const struct ct_synth_outcome *out)
{
	const struct ct_report_traffic *t = &report->traffic;
	const struct ct_traffic_layer *all = layer_of(report, "rank", "all");

	assert_null(t->why);
	assert_int_equal(t->at_least, 0);
	assert_int_equal(t->n_ranks, 16);
	for (int k = 0; k < 256; k++) {
		assert_int_equal(t->matrix[k], out->sums.wire_bytes[k]);
		assert_int_equal(pair_of(all, k / 16, k % 16).bytes, out->sums.wire_bytes[k]);
	}
}

static void a_ring_is_what_the_synthesizer_sent(void **state)
{
	for (size_t w = 0; w < 2 * N_WORKLOADS; w++) {
		struct ct_synth_options o = options_of(workloads[w / 2], w % 2 ? 4 : 1);
		struct ct_synth_outcome out;
		struct ct_report *report;
		void *again;

		assert_int_equal(fx_setup(&again), 0);
		write_run(&o, &out);
		report = read_run();
		assert_truth(report, &out);
		assert_layers(report);
		ct_report_free(report);
		ct_synth_outcome_free(&out);
		assert_int_equal(fx_teardown(&again), 0);
	}
	(void)state;
}

/* Messages of the pipeline's neighbours have times: about as fast as the synthesizer's links,
 * within the error that is reported and what it varies by. */
static void bandwidth_of_messages_is_that_of_their_links(void **state)
{
	struct ct_synth_options o = options_of("megatron", 1);
	const struct ct_traffic_layer *all;
	struct ct_synth_outcome out;
	struct ct_report *report;
	size_t known = 0;

	(void)state;
	write_run(&o, &out);
	report = read_run();
	all = layer_of(report, "rank", "all");
	for (size_t i = 0; i < all->n; i++) {
		int is_near = all->src[i] / 4 == all->dst[i] / 4;
		double Bps = is_near ? o.world.node_Bps : o.world.net_Bps;

		if (all->bandwidth_Bps[i] == CT_UNKNOWN)
			continue;
		known++;
		/* alpha, and 2 % either way */
		assert_true((double)all->bandwidth_Bps[i] < 1.05 * Bps);
		assert_true((double)all->bandwidth_Bps[i] > 0.8 * Bps);
	}
	assert_true(known >= 16);
	ct_report_free(report);
	ct_synth_outcome_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_is_what_the_synthesizer_sent),
		cmocka_unit_test_setup_teardown(bandwidth_of_messages_is_that_of_their_links,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests_name("traffic_truth", tests, NULL, NULL);
}
