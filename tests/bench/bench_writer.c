/* SPDX-License-Identifier: Apache-2.0 */
/* bench_writer RUN — puts the records of a recorded run back into a ring, and takes them out again
 * as the write thread does: drained, coded, and summed. Prints how many operations there were.
 * size.py counts the instructions of write_out() under valgrind --tool=callgrind: they do not
 * depend on the machine. Here, too, a chunk has records of one thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/drain.h"
#include "trace/order_totals.h"
#include "trace/reader.h"

enum { BLOCK_RECORDS = 4096, RING_BYTES = 4 << 20 };

struct writer {
	struct ct_ring ring;
	struct ct_drain drain;
	struct ct_block block;
	struct ct_encoder *encoder;
	struct ct_order_totals order;
	uint64_t ops, bytes;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "bench_writer: %s\n", what);
	exit(1);
}

static const char *no_name(void *arg, uint32_t id)
{
	(void)arg;
	(void)id;
	return NULL;
}

/* Not inlined, so that callgrind can separate its cost from that of filling the ring. */
__attribute__((noinline)) static void write_out(struct writer *w)
{
	const void *out;
	size_t bytes;
	int more;

	if (ct_drain_begin(&w->drain, &w->ring) != CT_OK)
		fail("out of memory");
	do {
		ct_block_reset(&w->block, CT_BLOCK_DATA);
		more = ct_drain_next(&w->drain, &w->ring, &w->block, BLOCK_RECORDS, CT_DRAIN_ALL);
		if (more < 0 || ct_block_encode(w->encoder, &w->block, &out, &bytes) != CT_OK)
			fail("a block cannot be coded");
		ct_order_totals_add(&w->order, &w->block, no_name, NULL);
		ct_drain_done(&w->drain, &w->ring);
		w->ops += w->block.n_ops;
		w->bytes += bytes;
	} while (more);
}

static void publish(struct writer *w, struct ct_lane *lane, uint64_t kind, uint64_t call,
		    const uint64_t words[8])
{
	struct ct_slot *slot = ct_lane_next(&w->ring, lane);

	if (!slot)
		fail("the ring is full");
	ct_slot_publish(slot, CT_TAG(lane->lap, kind, call), words);
}

/* Those of one thread after the other; launches are another thread's, and others a third's. */
static void fill(struct writer *w, const struct ct_block *b)
{
	struct ct_lane ops = { 0 }, launches = { 0 }, rares = { 0 };
	struct ct_thread_ops of = { 0 };
	uint64_t words[8] = { 0 };

	launches.tid = 1;
	rares.tid = 2;
	while (ct_thread_ops_next(b, b->n_ops, &of)) {
		if (ops.tid != of.tid)
			ct_lane_close(&ops);
		ops.tid = of.tid;
		for (uint32_t i = of.first; i < of.end; i++) {
			const struct ct_op *op = &b->ops[i];

			ct_op_pack(op, words);
			words[CT_OP_W_END] = op->return_ns
						     ? ct_op_end_word(op->enter_ns, op->return_ns,
								      op->result)
						     : 0;
			publish(w, &ops, CT_KIND_OP, op->call, words);
		}
	}
	for (uint32_t i = 0; i < b->n_launches; i++) {
		ct_launch_pack(&b->launches[i], words);
		publish(w, &launches, CT_KIND_LAUNCH, 0, words);
	}
	for (uint32_t i = 0; i < b->n_rares; i++) {
		if (b->rares[i].len != 56)
			continue; /* comes from no slot */
		memcpy(&words[1], b->bytes + b->rares[i].at, 56);
		publish(w, &rares, b->rares[i].kind, 0, words);
	}
	ct_lane_close(&ops);
	ct_lane_close(&launches);
	ct_lane_close(&rares);
}

static void write_process(struct writer *w, const struct ct_run *run, size_t i)
{
	const char *const nowhere[] = { NULL };
	struct ct_process process = { .pid = 1 };
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct ct_err err = { 0 };

	if (ct_ring_create(&w->ring, &process, nowhere, RING_BYTES, &err) != CT_OK ||
	    ct_process_open(run, i, &reader, &err) != CT_OK)
		fail(err.text);
	while (ct_process_next(reader, &block, &err) > 0) {
		if (block->type != CT_BLOCK_DATA)
			continue;
		fill(w, block);
		write_out(w);
	}
	ct_process_close(reader);
	ct_ring_close(&w->ring, 0);
}

int main(int argc, char **argv)
{
	const char *const paths[] = { argc == 2 ? argv[1] : "" };
	static struct writer w;
	struct ct_err err = { 0 };
	struct ct_run *run;

	w.encoder = ct_encoder_new();
	if (!w.encoder || ct_run_open(paths, 1, NULL, &run, &err) != CT_OK)
		fail(err.text);
	for (size_t i = 0; i < run->n_processes; i++)
		write_process(&w, run, i);
	ct_run_close(run);
	ct_encoder_free(w.encoder);
	ct_block_fini(&w.block);
	ct_drain_fini(&w.drain);
	ct_order_totals_fini(&w.order);
	printf("%llu operations, %llu bytes\n", (unsigned long long)w.ops,
	       (unsigned long long)w.bytes);
	return 0;
}
