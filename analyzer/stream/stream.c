/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/stream_private.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/call_name.h"
#include "analyzer/stream/stuck.h"

/* Members that may wait for the others: some blocks of every process, and never less than the first figure. */
#define CT_PASS_MIN_BYTES (64ull << 20)
#define CT_PASS_BLOCK_BYTES (CT_BLOCK_MAX_RECORDS * (uint64_t)sizeof(struct ct_member))

uint64_t ct_pass_host_at(const struct ct_pass *pass, uint32_t host, uint64_t mono_ns)
{
	uint64_t at = mono_ns + ct_clocks_shift(pass->attempts->clocks, host, mono_ns, pass->shift);

	/* Before the beginning by a hair: the host's clocks were read one after the other. */
	return (int64_t)at < 0 ? 0 : at;
}

uint64_t ct_pass_at(const struct ct_pass *pass, uint32_t process, uint64_t mono_ns)
{
	return ct_pass_host_at(pass, pass->attempts->places[process].host, mono_ns);
}

/* Who leaves a communicator comes to no more of its operations. */
static int note_leaving(struct ct_reading *reading, const struct ct_host_rec *rec, const char *call)
{
	struct ct_pass *pass = reading->pass;
	struct ct_comm *comm;

	switch (ct_call_leaves(call)) {
	case CT_LEAVES_LIBRARY:
		pass->seats[reading->seats[0]].leaves = 1;
		return CT_OK;
	case CT_LEAVES_COMM:
		comm = rec->key ? ct_comms_get(&pass->comms, rec->key, rec->nranks) : NULL;
		if (!comm || rec->rank < 0 || (uint32_t)rec->rank >= comm->nranks)
			return CT_OK;
		return ct_orders_left(&pass->orders, comm, (uint32_t)rec->rank);
	case CT_LEAVES_NOTHING:
		break;
	}
	return CT_OK;
}

static int on_host(void *arg, const struct ct_host_rec *rec, const char *call, const char *site)
{
	struct ct_reading *reading = arg;
	const struct ct_watch *watch = reading->pass->watch;

	(void)site;
	if (ct_pass_host(reading, rec, call) != CT_OK || note_leaving(reading, rec, call) != CT_OK)
		return CT_NOMEM;
	return watch && watch->host ? watch->host(watch->arg, reading->pass, reading->process, rec)
				    : CT_OK;
}

static int on_wait(void *arg, const struct ct_wait_rec *rec)
{
	struct ct_reading *reading = arg;
	struct ct_overlap *overlap = reading->pass->overlap;

	return overlap ? ct_overlap_wait(overlap, reading->process, rec) : CT_OK;
}

/* What the first rank says its cycles are. */
static int on_nvtx(void *arg, const struct ct_nvtx_rec *rec)
{
	struct ct_reading *reading = arg;
	struct ct_pass *pass = reading->pass;

	if (!pass->overlap || reading->seats[0] != pass->sequence.seat || rec->end_ns > INT64_MAX)
		return CT_OK;
	return ct_markers_add(&pass->markers, rec,
			      ct_pass_at(pass, reading->process, rec->begin_ns),
			      ct_pass_at(pass, reading->process, rec->end_ns));
}

/* ---- all processes ---- */

static int keep_stall(void *arg, const struct ct_overlap_stall *stall)
{
	struct ct_pass *pass = arg;
	uint32_t host = pass->host_of[stall->seat];
	uint64_t err = stall->err_ns;
	const struct ct_exposure exposure = {
		.begin_ns = ct_pass_host_at(pass, host, stall->begin_ns),
		.end_ns = ct_pass_host_at(pass, host, stall->end_ns),
		.start_ns = ct_pass_host_at(pass, host, stall->start_ns),
		.seat = stall->seat,
		.comm = stall->comm->index,
		.err_ns = err < UINT32_MAX ? (uint32_t)err : UINT32_MAX,
		.is_known = (uint32_t)stall->is_known,
	};
	const struct ct_watch *watch = pass->watch;
	int st = watch && watch->stall ? watch->stall(watch->arg, pass, &exposure) : CT_OK;

	return st == CT_OK ? ct_exposures_add(&pass->exposures, &exposure) : st;
}

/* The seat of the lowest rank; of those without one, the first. */
static uint32_t first_rank(const struct ct_pass *pass)
{
	uint32_t first = 0;

	for (uint32_t s = 1; s < pass->n_seats; s++) {
		if ((unsigned)pass->seats[s].rank < (unsigned)pass->seats[first].rank)
			first = s;
	}
	return first;
}

/* Are only some of the sums made? */
static int is_light(const struct ct_pass *pass, const uint8_t *in_set)
{
	return in_set || (pass->watch && pass->watch->matched);
}

/* The run begins with its first process; by which clock, is that of the reference where clocks are related. */
static void set_begin(struct ct_pass *pass)
{
	const struct ct_attempts *attempts = pass->attempts;

	for (uint32_t h = 0; h < attempts->n_hosts; h++)
		pass->shift[h] = attempts->hosts[h].unix_minus_mono;
	for (size_t p = 0; p < pass->run->n_processes; p++) {
		uint64_t start_ns = pass->run->processes[p].id.start_ns, unix_ns;

		if (attempts->places[p].attempt != pass->attempt)
			continue;
		unix_ns = start_ns + ct_clocks_shift(attempts->clocks, attempts->places[p].host,
						     start_ns, pass->shift);
		pass->begin_unix_ns = unix_ns < pass->begin_unix_ns ? unix_ns : pass->begin_unix_ns;
	}
	for (uint32_t h = 0; h < attempts->n_hosts; h++)
		pass->shift[h] -= pass->begin_unix_ns;
}

static int prepare(struct ct_pass *pass, struct ct_attempts *attempts, const uint8_t *in_set)
{
	const struct ct_run *run = pass->run;
	uint64_t limit = run->n_processes * CT_PASS_BLOCK_BYTES;
	int *ranks = NULL;

	pass->memory = ct_arena_new();
	if (!pass->memory || ct_comms_init(&pass->comms) || ct_classes_init(&pass->classes))
		return CT_NOMEM;
	if (ct_attempts_seats(run, attempts, pass->attempt, &ranks, &pass->n_seats) != CT_OK)
		return CT_NOMEM;
	pass->names.memory = pass->memory;
	ct_mismatches_init(&pass->mismatches, pass->memory);
	ct_sites_init(&pass->sites, pass->memory);
	ct_orders_init(&pass->orders, !in_set);
	ct_pairs_init(&pass->pairs, pass->memory);
	pass->traffic.memory = pass->memory;
	if (pass->options)
		pass->traffic.model = pass->options->traffic_model;
	pass->match = ct_match_new(limit > CT_PASS_MIN_BYTES ? limit : CT_PASS_MIN_BYTES,
				   ct_pass_judge, pass);
	pass->seats = calloc(pass->n_seats + 1, sizeof(*pass->seats));
	pass->host_of = calloc(pass->n_seats + 1, sizeof(*pass->host_of));
	pass->shift = calloc(attempts->n_hosts + 1, sizeof(*pass->shift));
	pass->processes = calloc(run->n_processes + 1, sizeof(*pass->processes));
	for (uint32_t s = 0; pass->seats && s < pass->n_seats; s++) {
		pass->seats[s].rank = ranks[s];
		pass->seats[s].device = -1;
	}
	free(ranks);
	if (!pass->match || !pass->seats || !pass->host_of || !pass->shift || !pass->processes)
		return CT_NOMEM;
	pass->overlap = is_light(pass, in_set) ? NULL : ct_overlap_new(run->n_processes);
	if (!is_light(pass, in_set) && !pass->overlap)
		return CT_NOMEM;
	ct_tape_init(&pass->tape, 0);
	ct_exposures_init(&pass->exposures, 0);
	if (pass->overlap)
		ct_overlap_stalls(pass->overlap, keep_stall, pass);
	ct_sequence_init(&pass->sequence, first_rank(pass), 0);
	pass->begin_unix_ns = UINT64_MAX;
	for (size_t p = 0; p < run->n_processes; p++) {
		const struct ct_place *place = &attempts->places[p];

		if (place->attempt != pass->attempt)
			continue;
		pass->seats[place->seat].host = place->host;
		pass->seats[place->seat].process = (uint32_t)p;
		pass->host_of[place->seat] = place->host;
	}
	set_begin(pass);
	return ct_blame_init(&pass->blame, pass->n_seats, attempts->n_hosts, in_set);
}

/* Keep what the process told, close its files. */
static int end_reading(struct ct_reading *reading)
{
	struct ct_pass *pass = reading->pass;
	struct ct_pass_process *kept = &pass->processes[reading->process];
	int st = CT_OK;

	ct_pass_cover_waits(&pass->seats[reading->seats[0]], UINT64_MAX);
	if (ct_pass_open_calls(reading) != CT_OK)
		return CT_NOMEM;
	kept->facts = *ct_load_facts(reading->load);
	kept->gaps = *ct_load_gaps(reading->load);
	kept->read = 1;
	kept->notes = ct_arena_calloc(pass->memory, CT_LOAD_NOTES, sizeof(*kept->notes));
	for (uint32_t n = 0; kept->notes && n < kept->facts.n_notes; n++) {
		kept->notes[n] = ct_arena_printf(pass->memory, "%s", kept->facts.notes[n]);
		if (!kept->notes[n])
			st = CT_NOMEM;
	}
	kept->facts.notes = NULL;
	if (st == CT_OK)
		st = ct_facts_copy(&kept->environment, pass->memory,
				   ct_load_environment(reading->load));
	if (st == CT_OK && pass->overlap)
		st = ct_traffic_process(&pass->traffic, reading->process, reading->load);
	kept->ports = ct_load_ports(reading->load);
	pass->open_launches += kept->facts.open_launches;
	ct_load_close(reading->load);
	reading->load = NULL;
	return kept->notes ? st : CT_NOMEM;
}

/* With one connection to the GPU, and none of the timings that put events on streams, the recorder leaves alone streams that
 * wait (interpose/gpu/time.c). */
static void note_blind(struct ct_pass *pass, const struct ct_reading *r)
{
	const char *connections = ct_facts_value(ct_load_environment(r->load),
						 "env.CUDA_DEVICE_MAX_CONNECTIONS");

	if (connections && strcmp(connections, "1") == 0)
		ct_overlap_blind(pass->overlap, r->process);
}

static struct ct_reading *furthest_behind(struct ct_reading *readings, size_t n)
{
	struct ct_reading *behind = NULL;

	for (size_t i = 0; i < n; i++) {
		struct ct_reading *r = &readings[i];

		if (r->load &&
		    (!behind || r->begun < behind->begun ||
		     (r->begun == behind->begun && r->position_ns < behind->position_ns)))
			behind = r;
	}
	return behind;
}

static int read_all(struct ct_pass *pass, struct ct_reading *readings, size_t n, struct ct_err *err)
{
	struct ct_reading *r;
	int st;

	while ((r = furthest_behind(readings, n))) {
		st = ct_load_next(r->load, err);
		if (st >= 0 && pass->overlap) {
			int failed;

			note_blind(pass, r);
			failed = st ? ct_overlap_block(pass->overlap, r->process)
				    : ct_overlap_end(pass->overlap, r->process);
			st = failed ? failed : st;
		}
		if (st < 0)
			return st;
		r->begun = 1;
		r->position_ns = ct_pass_at(pass, r->process, ct_load_facts(r->load)->position_ns);
		if (st == 0) {
			st = end_reading(r);
			if (st != CT_OK)
				return st;
		}
	}
	ct_orders_ended(&pass->orders);
	ct_pairs_ended(&pass->pairs);
	return ct_match_finish(pass->match);
}

static int read_processes(struct ct_pass *pass, struct ct_err *err)
{
	const struct ct_run *run = pass->run;
	struct ct_reading *readings = calloc(run->n_processes + 1, sizeof(*readings));
	size_t n = 0;
	int st = readings ? CT_OK : CT_NOMEM;

	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++) {
		struct ct_reading *r = &readings[n];
		struct ct_load_sink sink = { .op = ct_pass_op,
					     .comm = ct_pass_comm,
					     .named = ct_pass_comm,
					     .host = on_host,
					     .wait = on_wait,
					     .nvtx = on_nvtx,
					     .arg = r };

		if (pass->attempts->places[p].attempt != pass->attempt)
			continue;
		r->pass = pass;
		r->process = (uint32_t)p;
		for (uint32_t k = 0; k < CT_LOAD_RANKS; k++)
			r->seats[k] = pass->attempts->places[p].seat;
		st = ct_load_open(run, p, &sink, &pass->names, &r->load, err);
		n++;
	}
	if (st == CT_OK)
		st = read_all(pass, readings, n, err);
	for (size_t i = 0; i < n; i++)
		ct_load_close(readings[i].load);
	free(readings);
	return st;
}

/* Recording began .. last record, on the host where that is longest: no clocks are compared across hosts. */
static uint64_t duration(const struct ct_pass *pass)
{
	uint64_t longest = 0;

	for (uint32_t h = 0; h < pass->attempts->n_hosts; h++) {
		uint64_t begin = UINT64_MAX, end = 0;

		for (size_t p = 0; p < pass->run->n_processes; p++) {
			const struct ct_pass_process *kept = &pass->processes[p];
			uint64_t start = pass->run->processes[p].id.start_ns;

			if (!kept->read || pass->attempts->places[p].host != h)
				continue;
			begin = start < begin ? start : begin;
			end = kept->facts.last_ns > end ? kept->facts.last_ns : end;
		}
		if (end > begin && end - begin > longest)
			longest = end - begin;
	}
	return longest;
}

uint64_t ct_pass_age(const struct ct_pass *pass, const struct ct_unreturned *u)
{
	const struct ct_load_facts *facts = &pass->processes[u->process].facts;
	uint64_t until = facts->beat_ns > facts->last_ns ? facts->beat_ns : facts->last_ns;

	return until > u->op.enter_ns ? until - u->op.enter_ns : 0;
}

static int stands_in_call(const struct ct_pass *pass, uint32_t process)
{
	for (uint32_t i = 0; i < pass->n_unreturned; i++) {
		if (pass->unreturned[i].is_call && pass->unreturned[i].process == process)
			return 1;
	}
	return 0;
}

/* Work that was begun is under way in every run that still goes on, or that was killed: of it only what is late, or what
 * its rank perhaps waited for. */
static void forget_young_launches(struct ct_pass *pass)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pass->n_unreturned; i++) {
		const struct ct_unreturned *u = &pass->unreturned[i];

		if (!u->launched || (u->by_host && stands_in_call(pass, u->process)) ||
		    ct_stuck_of(pass, u) != CT_STUCK_NOT)
			pass->unreturned[n++] = *u;
	}
	pass->n_unreturned = n;
}

/* An op without return kept its rank busy up to the last sign of life, and the run lasted as long. */
static void add_unreturned(struct ct_pass *pass)
{
	for (uint32_t i = 0; i < pass->n_unreturned; i++) {
		const struct ct_unreturned *u = &pass->unreturned[i];
		uint64_t start = pass->run->processes[u->process].id.start_ns;
		uint64_t until = u->op.enter_ns + ct_pass_age(pass, u);

		if (u->launched)
			continue;
		ct_cover_add(&pass->seats[u->seat].busy, u->op.enter_ns, until);
		if (until > start && until - start > pass->duration_ns)
			pass->duration_ns = until - start;
	}
}

int ct_pass_run(struct ct_pass *pass, const struct ct_run *run, struct ct_attempts *attempts,
		int attempt, const uint8_t *in_set, const struct ct_analyze_options *options,
		struct ct_err *err)
{
	int st;

	*pass = (struct ct_pass){
		.run = run,
		.attempts = attempts,
		.attempt = attempt,
		.options = options,
		.watch = options && !in_set ? options->watch : NULL,
	};
	st = prepare(pass, attempts, in_set);
	if (st == CT_OK)
		st = read_processes(pass, err);
	if (st == CT_NOMEM)
		return ct_fail(err, st, "%s", ct_status_text(st));
	if (st != CT_OK)
		return st;
	pass->duration_ns = duration(pass);
	forget_young_launches(pass);
	add_unreturned(pass);
	if (ct_pass_name_seats(pass) != CT_OK)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		if (pass->seats[s].muddled)
			ct_blame_acquit(&pass->blame, s);
	}
	ct_sequence_close(&pass->sequence);
	if (ct_tape_close(&pass->tape, pass->n_seats) != CT_OK ||
	    ct_exposures_close(&pass->exposures, pass->n_seats) != CT_OK)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	return pass->watch && pass->watch->read ? pass->watch->read(pass->watch->arg, pass) : CT_OK;
}

void ct_pass_fini(struct ct_pass *pass)
{
	ct_match_free(pass->match);
	ct_groups_fini(&pass->groups);
	ct_blame_fini(&pass->blame);
	ct_blame_fini(&pass->rest);
	ct_waits_fini(&pass->waits);
	ct_aligned_fini(&pass->aligned);
	ct_window_fini(&pass->window);
	ct_union_fini(&pass->late_or_slow);
	for (uint32_t seat = 0; pass->seats && seat < pass->n_seats; seat++) {
		ct_calls_fini(&pass->seats[seat].calls);
		ct_union_fini(&pass->seats[seat].waited);
		free(pass->seats[seat].partners);
	}
	for (size_t p = 0; pass->processes && p < pass->run->n_processes; p++)
		ct_port_sums_free(pass->processes[p].ports);
	ct_hist_fini(&pass->time_err);
	ct_mismatches_fini(&pass->mismatches);
	ct_pairs_fini(&pass->pairs);
	ct_orders_fini(&pass->orders);
	ct_sites_fini(&pass->sites);
	ct_tape_fini(&pass->tape);
	ct_exposures_fini(&pass->exposures);
	ct_heat_fini(&pass->heat);
	ct_sequence_fini(&pass->sequence);
	ct_markers_fini(&pass->markers);
	ct_overlap_free(pass->overlap);
	ct_traffic_fini(&pass->traffic);
	ct_classes_fini(&pass->classes);
	ct_comms_fini(&pass->comms);
	ct_arena_free(pass->memory);
	free(pass->seats);
	free(pass->host_of);
	free(pass->shift);
	free(pass->processes);
	free(pass->unreturned);
	*pass = (struct ct_pass){ 0 };
}
