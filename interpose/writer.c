/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/writer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/account.h"
#include "interpose/environ/counters.h"
#include "interpose/environ/environ.h"
#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/decide.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/record.h"
#include "interpose/gpu/time.h"
#include "interpose/hash.h"
#include "interpose/log.h"
#include "interpose/output.h"
#include "interpose/recorder.h"
#include "interpose/stacks/stacks.h"
#include "interpose/threads.h"
#include "trace/clock.h"
#include "trace/drain.h"
#include "trace/oom.h"
#include "trace/ring_dir.h"

/* size: so many are worth a block: what other threads put into their chunks meanwhile goes into the
 * same one, not into a second small one. */
#define DUE_RECORDS (CT_DRAIN_RECORDS - 8 * CT_CHUNK_SLOTS)
/* code: when a block is looked for: it is due then, and the next one has not begun. */
#define AIM_CHUNKS (DUE_RECORDS / CT_CHUNK_SLOTS + 4)
/* size: at most 200 blocks a second; other work is looked for four times a second. */
#define SHORTEST_NAP_NS (CT_SECOND_NS / 200)
#define LONGEST_NAP_NS (CT_SECOND_NS / 4)
/* size: heartbeats in segments: after a lost ring, so much is unknown of the end. */
#define STATUS_NS (10 * CT_SECOND_NS)
#define OPEN_OP_NS CT_SECOND_NS /* younger ones are not worth a record */

struct writer {
	struct ct_writer_options options;
	struct ct_ring *ring;
	struct ct_output output;
	struct ct_drain drain;
	struct ct_block block;
	int ring_is_gone;    /* its file was removed */
	uint64_t flush_ns;   /* longest time between flushes, with this rank's jitter */
	uint64_t flushed_at; /* when the last flush was over ... */
	uint64_t claims;     /* ... and the chunks claimed until then */
	uint64_t status_at;
	uint64_t looked_at;    /* when the ring file, and silence, was last looked for */
	uint64_t silent_since; /* this rank's last entry into a call, at the last reported silence */
	uint64_t retry_at;     /* nothing can be written before then, 0: it can */
};

static struct writer writer;
static int running;
static _Atomic uint32_t stop;	  /* 1: write everything and end */
static _Atomic uint32_t finished; /* futex: 1 everything is written, 2 not everything */
static int exit_code;

static uint64_t load(ct_word *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static int pool_below(const struct writer *w, uint32_t part)
{
	return load(&w->ring->header->n_free) < w->ring->header->n_chunks / part;
}

/* A quarter of the communicators' entries wait to be written and freed, which takes two passes. */
static int many_have_ended(const struct writer *w)
{
	return !w->retry_at &&
	       ct_comms_ended() - w->output.state.comms_freed >= w->ring->most.comms / 4;
}

/* Below this many free chunks two blocks are due: calls came in a burst and wake this thread then,
 * which takes one of them 15 us. */
static void set_alarm(const struct writer *w)
{
	uint64_t half = w->ring->header->n_chunks / 2;
	uint64_t free_now = load(&w->ring->header->n_free);
	uint64_t burst = 2 * DUE_RECORDS / CT_CHUNK_SLOTS;

	atomic_store_explicit(&ct_recorder.low_water,
			      free_now > half + burst ? free_now - burst : half,
			      memory_order_relaxed);
}

/* A little after a block is due, if records come as fast as since the last one. */
static uint64_t until_due_ns(const struct writer *w)
{
	uint64_t fresh = load(&w->ring->header->claims) - w->claims;

	if (!fresh || fresh >= AIM_CHUNKS)
		return LONGEST_NAP_NS;
	return (ct_now_ns() - w->flushed_at) / fresh * (AIM_CHUNKS - fresh);
}

/* Most of the time no block is made: what one takes is memory of the program then. */
static void rest(struct writer *w)
{
	ct_output_rest(&w->output);
	ct_block_fini(&w->block);
}

static void nap(struct writer *w)
{
	uint64_t ns = pool_below(w, 2) || many_have_ended(w) ? 0 : until_due_ns(w);

	ns = ns < SHORTEST_NAP_NS ? SHORTEST_NAP_NS : ns > LONGEST_NAP_NS ? LONGEST_NAP_NS : ns;
	if (ns == LONGEST_NAP_NS)
		rest(w);
	ct_account_note(CT_OURS_WRITE);
	ct_futex_wait(&ct_recorder.wanted, 0, ns);
	/* pairs with ct_writer_finish(): if this takes its 1 away, the look at `stop` that follows
	 * sees that, too */
	atomic_exchange_explicit(&ct_recorder.wanted, 0, memory_order_acq_rel);
}

/* What is drained into one block, and whether that block got into the segment. */
enum result { WROTE, WROTE_LAST, NOTHING, FAILED };

static enum result write_some(struct writer *w, enum ct_drain_mode mode)
{
	uint32_t ops;
	int more;

	if (ct_output_ready(&w->output) != CT_OK)
		return FAILED;
	ct_block_reset(&w->block, CT_BLOCK_DATA);
	if (ct_block_reserve(&w->block, CT_DRAIN_RECORDS) != CT_OK ||
	    ct_state_new(&w->output.state, &w->block) != CT_OK)
		return FAILED;
	more = ct_drain_next(&w->drain, w->ring, &w->block, CT_DRAIN_RECORDS, mode);
	if (more < 0)
		return FAILED;
	if (ct_block_records(&w->block) == 0) {
		ct_drain_done(&w->drain,
			      w->ring); /* frees chunks that were closed since they were drained */
		return NOTHING;
	}
	ops = w->block.n_ops;
	if (ct_output_block(&w->output, &w->block) != CT_OK)
		return FAILED;
	ct_drain_done(&w->drain, w->ring);
	ct_output_count(&w->output, ops);
	return more ? WROTE : WROTE_LAST;
}

/* One pass over the ring. 1 if everything that was there is in segments now. */
static int flush(struct writer *w, enum ct_drain_mode mode)
{
	uint64_t begin = ct_now_ns();
	uint64_t claims = load(&w->ring->header->claims);
	enum result result = FAILED;

	if (ct_drain_begin(&w->drain, w->ring) == CT_OK)
		do
			result = write_some(w, mode);
		while (result == WROTE);
	if (result == FAILED) {
		ct_drain_undo(&w->drain);
		ct_state_again(&w->output.state);
		w->retry_at = ct_now_ns() + CT_SECOND_NS;
		return 0;
	}
	ct_drain_undo(&w->drain);
	ct_state_drained(&w->output.state);
	/* an op that was still inside then returns after it: the promise is about returned ones */
	atomic_store_explicit(&w->ring->header->flushed_ns, begin, memory_order_relaxed);
	w->flushed_at = begin;
	w->claims = claims;
	w->retry_at = 0;
	return 1;
}

/* CPU time of each of our threads, context switches of all. */
static void take_accounts(struct ct_cost_rec *cost)
{
	struct ct_account of[CT_OURS];

	cost->voluntary_and_1 = 1;
	cost->involuntary = 0;
	ct_account_note(CT_OURS_WRITE);
	for (unsigned i = 0; i < CT_OURS; i++) {
		of[i] = ct_account_of((enum ct_our_thread)i);
		cost->voluntary_and_1 += of[i].voluntary;
		cost->involuntary += of[i].involuntary;
	}
	cost->poll_cpu_ns = of[CT_OURS_POLL].cpu_ns;
	cost->beat_cpu_ns = of[CT_OURS_BEAT].cpu_ns;
	cost->stacks_cpu_ns = of[CT_OURS_STACKS].cpu_ns;
	cost->counters_cpu_ns = of[CT_OURS_COUNTERS].cpu_ns;
	cost->around_cpu_ns = of[CT_OURS_AROUND].cpu_ns;
	cost->write_cpu_ns = of[CT_OURS_WRITE].cpu_ns + cost->stacks_cpu_ns +
			     cost->counters_cpu_ns + cost->around_cpu_ns;
}

static void update_cost(struct writer *w)
{
	struct ct_cost_rec *cost = &w->output.state.cost;
	struct ct_poll_cost poll;

	ct_poll_cost(&poll);
	cost->gpu_events = poll.events;
	cost->launches_timed = poll.timed;
	cost->launches_untimed = poll.untimed + ct_gpu_untimed();
	ct_gpu_ledger(cost);
	ct_gpu_decide_ledger(cost);
	cost->level = (uint8_t)poll.level;
	cost->coarsest = (uint8_t)poll.coarsest;
	cost->budget_backoffs = poll.backoffs;
	cost->wrapper_ns = cost->calls * ct_recorder.call_cost_ns;
	take_accounts(cost);
	cost->start_ns = atomic_load_explicit(&ct_recorder.start_ns, memory_order_relaxed);
	atomic_store_explicit(&w->ring->header->wrapper_ns, cost->wrapper_ns, memory_order_relaxed);
}

static int write_state_block(struct writer *w, enum ct_block_type type, uint64_t now)
{
	update_cost(w);
	if (ct_output_ready(&w->output) != CT_OK)
		return 0;
	ct_block_reset(&w->block, type);
	if (ct_state_new(&w->output.state, &w->block) != CT_OK ||
	    ct_state_status(&w->output.state, &w->block, now - OPEN_OP_NS) != CT_OK)
		return 0;
	if (type == CT_BLOCK_END) {
		const struct ct_end_rec end = {
			.end_ns = load(&w->ring->header->exit_ns),
			.kind = (uint32_t)(load(&w->ring->header->exit_note) >> 32),
			.code = (uint32_t)exit_code,
		};

		if (ct_block_add_rare(&w->block, CT_KIND_END, &end, sizeof(end)) != CT_OK)
			return 0;
	}
	return ct_output_block(&w->output, &w->block) == CT_OK;
}

static int write_state(struct writer *w, enum ct_block_type type, uint64_t now)
{
	if (write_state_block(w, type, now))
		return 1;
	ct_state_again(&w->output.state);
	w->retry_at = now + CT_SECOND_NS;
	return 0;
}

/* /dev/shm was cleaned up: records that are not in a segment when the process is killed are lost,
 * so flush often. */
static void look_for_ring(struct writer *w)
{
	if (w->ring_is_gone || !w->ring->path[0] || !ct_ring_is_removed(w->ring))
		return;
	w->ring_is_gone = 1;
	w->flush_ns = w->flush_ns < CT_SECOND_NS ? w->flush_ns : CT_SECOND_NS;
	ct_ring_lose(w->ring, CT_LOSS_RING_UNLINKED, 1);
	ct_notes_add(&w->output.state.notes,
		     "the ring file was removed by someone: writing every second");
	ct_log("the ring file %s was removed", w->ring->path);
}

/* Chunks of threads that ended without running their destructors. */
static void sweep(struct writer *w)
{
	for (uint32_t i = 0; i < w->ring->header->n_chunks; i++) {
		struct ct_chunk *chunk = ct_ring_chunk(w->ring, i);
		uint64_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
		uint64_t owner = load(&chunk->owner);

		if ((state & 0xff) == CT_CHUNK_OWNED && owner && !ct_thread_lives((uint32_t)owner))
			/* relaxed: the owner can store nothing more, and only this thread reads the
			 * chunk's end */
			atomic_compare_exchange_strong_explicit(
				&chunk->state, &state, (state & ~0xffull) | CT_CHUNK_CLOSED,
				memory_order_relaxed, memory_order_relaxed);
	}
}

static uint64_t last_call(const struct writer *w)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < w->ring->header->n_comms; i++) {
		uint64_t ns = load(&w->ring->comms[i].id) ? load(&w->ring->comms[i].last_enter) : 0;

		last = ns > last ? ns : last;
	}
	return last;
}

/* Nothing was called for so long: what there is goes to the segments at once, once, since a rank
 * that hangs is killed. */
static void look_for_silence(struct writer *w, uint64_t now)
{
	uint64_t last = last_call(w);

	if (!last || last == w->silent_since || now < last ||
	    now - last < (uint64_t)w->options.settings->HANG_AFTER || now < w->retry_at)
		return;
	w->silent_since = last;
	if (flush(w, CT_DRAIN_RETURNED) && write_state(w, CT_BLOCK_STATUS, now))
		w->status_at = now;
}

/* So that a process that sees this one killed can determine whether the kernel did it. */
static void look_at_memory(const struct writer *w)
{
	struct ct_oom oom;

	if (!ct_oom_read("", &oom))
		return;
	atomic_store_explicit(&w->ring->header->oom_kills, oom.kills, memory_order_relaxed);
	/* release: a reader that sees it sees the number */
	atomic_store_explicit(&w->ring->header->oom_where, oom.where, memory_order_release);
}

static int is_due(const struct writer *w, uint64_t now)
{
	uint64_t fresh = load(&w->ring->header->claims) - w->claims;

	if (now < w->retry_at)
		return 0;
	return now - w->flushed_at >= w->flush_ns || fresh * CT_CHUNK_SLOTS >= DUE_RECORDS ||
	       pool_below(w, 2) || many_have_ended(w);
}

static void serve(struct writer *w)
{
	uint64_t now = ct_now_ns();
	int has_stacks;

	if (now - w->looked_at >= CT_SECOND_NS) {
		w->looked_at = now;
		look_for_ring(w);
		look_for_silence(w, now);
	}
	ct_environ_serve(now);
	ct_counters_serve(now);
	has_stacks = ct_stacks_serve();
	/* calls that fill the ring faster than this thread comes to empty it: all the space there
	 * is, at once */
	while (pool_below(w, 2) && ct_ring_grow(w->ring))
		;
	if (is_due(w, now) || (has_stacks && now >= w->retry_at))
		flush(w, CT_DRAIN_RETURNED);
	set_alarm(w);
	if (now - w->status_at >= STATUS_NS && now >= w->retry_at) {
		w->status_at = now;
		look_at_memory(w);
		write_state(w, CT_BLOCK_STATUS, now);
	}
	if (pool_below(w, 4)) {
		sweep(w);
		if (now < w->retry_at || w->options.dirfd < 0)
			ct_drain_give_up(&w->drain, w->ring, w->ring->header->n_chunks / 4,
					 CT_LOSS_WRITE_FAILED);
	}
}

/* The ring goes only when a reader can do without it. */
static int finish(struct writer *w)
{
	int whole;

	ct_environ_finish(CT_SECOND_NS / 10);
	ct_counters_finish(CT_SECOND_NS / 10);
	whole = flush(w, CT_DRAIN_ALL);
	whole = whole && write_state(w, CT_BLOCK_END, ct_now_ns());
	ct_output_close(&w->output);
	if (!whole)
		return 0;
	atomic_store_explicit(&w->ring->header->state, CT_RING_ENDED, memory_order_release);
	/* The mapping stays: threads may still come out of calls and store their ends. */
	if (w->ring->path[0])
		unlink(w->ring->path);
	return 1;
}

static void *run(void *arg)
{
	struct writer *w = arg;
	struct ct_collected collected;

	/* not with ct_thread_settle(): a burst of calls fills a ring in milliseconds, and this
	 * thread makes space for the next ones */
	look_at_memory(w);
	ct_ring_dir_collect(w->options.ring_dirs, NULL, &collected);
	ct_log("rings of dead processes: %u archived, %u removed, %u kept %s", collected.moved,
	       collected.removed, collected.kept, collected.why_kept);
	while (!atomic_load_explicit(&stop, memory_order_acquire)) {
		serve(w);
		nap(w);
	}
	atomic_store_explicit(&finished, finish(w) ? 1 : 2, memory_order_release);
	ct_futex_wake(&finished);
	return NULL;
}

int ct_writer_start(const struct ct_writer_options *options)
{
	struct writer *w = &writer;
	uint64_t spread = ct_hash_mix(ct_recorder.process.start_ns, ct_recorder.process.pid) % 401;

	memset(w, 0, sizeof(*w));
	running = 0;
	/* no other thread looks yet */
	atomic_store_explicit(&stop, 0, memory_order_relaxed);
	atomic_store_explicit(&finished, 0, memory_order_relaxed);
	w->options = *options;
	w->ring = &ct_recorder.ring;
	/* 80 to 120 %, so that a thousand ranks do not write in the same moment */
	w->flush_ns = (uint64_t)options->settings->FLUSH / 1000 * (800 + spread);
	w->flushed_at = w->status_at = ct_now_ns();
	/* the first time soon: a run that can be inspected, even from another machine */
	if (w->flush_ns > CT_SECOND_NS)
		w->flushed_at -= w->flush_ns - CT_SECOND_NS;
	if (ct_output_init(&w->output, w->ring, &ct_recorder.process, &w->options) != CT_OK)
		return -1;
	running = ct_thread_start(run, w) == 0;
	return running ? 0 : -1;
}

int ct_writer_finish(int code, uint64_t timeout_ns)
{
	uint64_t begin = ct_now_ns();
	uint64_t now = begin;

	if (!running)
		return 0;
	exit_code = code;
	atomic_store_explicit(&stop, 1, memory_order_release);
	/* release: pairs with nap() */
	atomic_store_explicit(&ct_recorder.wanted, 1, memory_order_release);
	ct_futex_wake(&ct_recorder.wanted);
	while (!atomic_load_explicit(&finished, memory_order_acquire) && now - begin < timeout_ns) {
		ct_futex_wait(&finished, 0, timeout_ns - (now - begin));
		now = ct_now_ns();
	}
	return atomic_load_explicit(&finished, memory_order_acquire) != 0;
}
