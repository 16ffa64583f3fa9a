/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tools/synth/record_private.h"

#define BLOCK_OPS 1024u /* a block is written when it has so many records */
#define MOST_HELD 4096u /* launches of a process whose CPU is far behind its GPU */
#define STATUS_EVERY_NS 10000000000ull

static int by_end(const void *a, const void *b)
{
	const struct ct_launch *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* As nearly always with one communicator. */
static int are_in_order(const struct recorded_process *p)
{
	for (uint32_t i = 1; i < p->n_held; i++) {
		if (by_end(&p->held[i - 1], &p->held[i]) > 0)
			return 0;
	}
	return 1;
}

/* The play reports launches as it finds out, a poll thread as they end: those that had until then. */
int ct_record_launches(struct ct_synth_record *r, struct recorded_process *p, uint64_t until_ns)
{
	uint32_t n = 0;

	if (!are_in_order(p))
		qsort(p->held, p->n_held, sizeof(*p->held), by_end);
	for (; n < p->n_held && (p->held[n].end_ns <= until_ns || p->n_held - n > MOST_HELD); n++) {
		struct ct_extent *slots = ct_record_extent(r, p, p->id.pid);

		if (!slots || ct_block_add_launch(&p->block, &p->held[n]) != CT_OK)
			return ct_fail(r->err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
		slots->n_slots++;
		slots->n_launches++;
	}
	p->n_held -= n;
	if (n)
		memmove(p->held, p->held + n, p->n_held * sizeof(*p->held));
	return CT_OK;
}

int ct_record_flush(struct ct_synth_record *r, struct recorded_process *p, enum ct_block_type next)
{
	const void *bytes;
	size_t n;
	int st = ct_record_launches(r, p, p->called_ns);

	if (st || p->is_dropped) {
		ct_block_reset(&p->block, next);
		return st;
	}
	p->block.number = p->n_blocks++;
	p->block.quantum_ns = CT_BLOCK_QUANTUM_NS;
	st = ct_block_encode(r->encoder, &p->block, &bytes, &n);
	if (st != CT_OK)
		return ct_fail(r->err, st, "%s", ct_status_text(st));
	st = ct_segment_append(&p->segment, bytes, n, r->err);
	if (st == CT_OK)
		ct_order_totals_add(&p->order, &p->block, ct_record_call_name, NULL);
	ct_block_reset(&p->block, next);
	return st;
}

int ct_record_rare(struct ct_synth_record *r, struct recorded_process *p, enum ct_kind kind,
		   const void *data, size_t len)
{
	const int st = ct_block_add_rare(&p->block, kind, data, len);

	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}

/* How far the process has come, and what it called in the blocks that are written. */
static int add_comm_status(struct ct_synth_record *r, struct recorded_process *p)
{
	int st = CT_OK;

	for (uint32_t id = 1; id < comm_ids(r) && !st; id++) {
		struct ct_comm_status_rec rec = p->comms[id].rec;

		if (!p->comms[id].is_made)
			continue;
		ct_order_totals_report(&p->order, &rec);
		st = ct_record_rare(r, p, CT_KIND_COMM_STATUS, &rec, sizeof(rec));
	}
	return st;
}

int ct_record_status(struct ct_synth_record *r, struct recorded_process *p, uint64_t at_ns)
{
	const uint64_t now = clock_of(r, p, at_ns);
	const struct ct_status_rec status = { .beat_ns = now, .flushed_ns = now };
	const struct ct_clock_rec clock = {
		.monotonic_ns = now,
		.raw_ns = now,
		.realtime_ns = now + ct_synth_clock_real(r->clocks, p->host),
		.maxerror_ns = ct_synth_clock_maxerror(r->clocks, at_ns),
	};
	int st = ct_record_rare(r, p, CT_KIND_STATUS, &status, sizeof(status));

	p->status_ns = at_ns;
	st = st ? st : add_comm_status(r, p);
	return st ? st : ct_record_rare(r, p, CT_KIND_CLOCK, &clock, sizeof(clock));
}

int ct_record_cost(struct ct_synth_record *r, struct recorded_process *p)
{
	static const uint8_t by[] = { CT_TIMED_BY_EVENTS, CT_TIMED_BY_HOST, CT_TIMED_BY_PLUGIN,
				      CT_TIMED_BY_NOTHING };
	const uint64_t events = r->o->timing == CT_SYNTH_EVENTS ? 2
				: r->o->timing == CT_SYNTH_HOST ? 1
								: 0;
	/* Costs as docs/OVERHEAD.md has them; what counts here is that there are some. */
	const struct ct_cost_rec cost = {
		.calls = p->calls,
		.wrapper_ns = 250 * p->calls,
		.write_cpu_ns = 300 * p->calls + 1,
		.beat_cpu_ns = p->last_ns / 100000,
		.poll_cpu_ns = 1000 * p->launches,
		.bytes_written = p->segment.bytes,
		.gpu_events = events * p->launches,
		.launches_timed = r->o->timing == CT_SYNTH_EVENTS ? p->launches : 0,
		.timed_by = by[r->o->timing],
		.plugin_loaded = r->o->timing == CT_SYNTH_PLUGIN,
	};

	return ct_record_rare(r, p, CT_KIND_COST, &cost, sizeof(cost));
}

static int add_streams(struct ct_synth_record *r, struct recorded_process *p)
{
	int st = CT_OK;

	for (int rank = p->first; rank < p->first + r->o->per_process && rank < r->ranks; rank++) {
		const struct ct_stream_rec *all = r->gpus[rank].streams;

		for (int i = 0; i < CT_PLAY_STREAMS && st == CT_OK; i++)
			if (all[i].stream)
				st = ct_record_rare(r, p, CT_KIND_STREAM, &all[i], sizeof(all[i]));
	}
	return st;
}

/* Another segment, with its checkpoint: what was said before and still holds. */
static int next_segment(struct ct_synth_record *r, struct recorded_process *p, uint64_t at_ns)
{
	int st = ct_segment_next(&p->segment, r->err);

	ct_block_reset(&p->block, CT_BLOCK_CHECKPOINT);
	for (uint32_t id = 0; id < 256 && st == CT_OK; id++)
		if (p->named[id])
			st = ct_block_add_text(&p->block, CT_KIND_STRING, &id, sizeof(id),
					       p->named[id]);
	for (uint32_t id = 1; id < comm_ids(r) && st == CT_OK; id++)
		if (p->comms[id].is_made)
			st = ct_record_rare(r, p, CT_KIND_COMM, &p->comms[id].comm,
					    sizeof(p->comms[id].comm));
	st = st ? st : add_streams(r, p);
	st = st ? st : ct_record_status(r, p, at_ns);
	return st ? st : ct_record_flush(r, p, CT_BLOCK_DATA);
}

/* A block of its own, behind all that was called: as the write thread of a process does it. */
static int give_sign(struct ct_synth_record *r, struct recorded_process *p, uint64_t at_ns)
{
	int st = ct_record_flush(r, p, CT_BLOCK_STATUS);

	st = st ? st : ct_record_status(r, p, at_ns);
	st = st ? st : ct_record_flush(r, p, CT_BLOCK_DATA);
	if (st || p->is_dropped || !r->o->segment_bytes || p->segment.bytes < r->o->segment_bytes)
		return st;
	return next_segment(r, p, at_ns);
}

int ct_record_room(struct ct_synth_record *r, struct recorded_process *p, uint64_t at_ns)
{
	p->last_ns = at_ns > p->last_ns ? at_ns : p->last_ns;
	if (ct_block_records(&p->block) >= BLOCK_OPS) {
		const int st = ct_record_flush(r, p, CT_BLOCK_DATA);

		if (st)
			return st;
	}
	return at_ns >= p->status_ns + STATUS_EVERY_NS ? give_sign(r, p, at_ns) : CT_OK;
}

struct ct_extent *ct_record_extent(struct ct_synth_record *r, struct recorded_process *p,
				   uint32_t tid)
{
	struct ct_extent *last = p->block.n_extents ? &p->block.extents[p->block.n_extents - 1]
						    : NULL;
	const struct ct_extent next = { .lap = p->lap + 1, .tid = tid };

	if (last && last->tid == tid && last->n_slots < CT_CHUNK_SLOTS)
		return last;
	p->lap++;
	if (ct_block_add_extent(&p->block, &next) != CT_OK) {
		ct_fail(r->err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
		return NULL;
	}
	return &p->block.extents[p->block.n_extents - 1];
}

int ct_record_name(struct ct_synth_record *r, struct recorded_process *p, uint32_t id,
		   const char *text)
{
	int st;

	if (p->named[id])
		return CT_OK;
	p->named[id] = text;
	st = ct_block_add_text(&p->block, CT_KIND_STRING, &id, sizeof(id), text);
	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}
