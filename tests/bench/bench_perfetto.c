/* SPDX-License-Identifier: Apache-2.0 */
/* bench_perfetto.c — what a slice of a timeline costs by the appender and by protobuf-c, in one
 * process, in turns, each with the work that it needs: BEGIN with the arguments of an operation on
 * the GPU, and END. Both make the same packets, which unit.perfetto_events checks. The best of many
 * rounds of each counts. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/render/perfetto_append.h"
#include "analyzer/render/perfetto_events.h"
#include "tests/perfetto/same_event.h"

enum { SLICES = 2000, ROUNDS = 200 };

static uint8_t buffer[SLICES * 512];

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What draw_works.c says about an all-reduce. */
static void make_slice(struct ct_timeline_slice *slice, struct ct_timeline_arg *args, uint32_t i)
{
	static const enum ct_timeline_key texts[] = { CT_ARG_comm, CT_ARG_comm_hash, CT_ARG_dtype,
						      CT_ARG_redop, CT_ARG_timing };
	static const enum ct_timeline_key numbers[] = { CT_ARG_seq,	    CT_ARG_bytes,
							CT_ARG_count,	    CT_ARG_nranks,
							CT_ARG_transfer_ns, CT_ARG_waited_ns,
							CT_ARG_skew_ns,	    CT_ARG_launch,
							CT_ARG_cuda_stream, CT_ARG_err_ns };
	unsigned n = 0;

	for (unsigned k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		args[n++] = (struct ct_timeline_arg){ .key = texts[k],
						      .type = CT_VALUE_TEXT,
						      .text = 3 + k };
	for (unsigned k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		args[n++] = (struct ct_timeline_arg){ .key = numbers[k],
						      .type = CT_VALUE_UINT,
						      .u = (uint64_t)i << 2 * k };
	args[n++] = (struct ct_timeline_arg){ .key = CT_ARG_rank,
					      .type = CT_VALUE_INT,
					      .i = i % 64 };
	args[n++] = (struct ct_timeline_arg){ .key = CT_ARG_busbw_gbps,
					      .type = CT_VALUE_DOUBLE,
					      .d = 100 + i * 0.01 };
	*slice = (struct ct_timeline_slice){ .track = 12 + i % 200,
					     .name = 1 + i % 5,
					     .begin_ns = 1000000000ull + i * 30000ull,
					     .end_ns = 1000020000ull + i * 30000ull,
					     .flows = { 1ull << 32 | i },
					     .n_args = (uint8_t)n,
					     .args = args };
}

static uint8_t *append(const struct ct_timeline_slice *slices)
{
	uint8_t *at = buffer;

	for (uint32_t i = 0; i < SLICES; i++) {
		at = ct_event_begin(at, NULL, &slices[i]);
		at = ct_event_end(at, slices[i].track, slices[i].end_ns);
	}
	return at;
}

static uint8_t *pack_one(uint8_t *at, const struct same_event *same)
{
	at = ct_append_key(at, 1, CT_WIRE_BYTES);
	at = ct_append_varint(at, ct__trace_packet__get_packed_size(&same->packet));
	return at + ct__trace_packet__pack(&same->packet, at);
}

static uint8_t *pack(const struct ct_timeline_slice *slices)
{
	static struct same_event same;
	uint8_t *at = buffer;

	for (uint32_t i = 0; i < SLICES; i++) {
		same_event_begin(&same, NULL, &slices[i]);
		at = pack_one(at, &same);
		same_event_end(&same, slices[i].track, slices[i].end_ns);
		at = pack_one(at, &same);
	}
	return at;
}

static double seconds(uint8_t *(*write)(const struct ct_timeline_slice *),
		      const struct ct_timeline_slice *slices, size_t *bytes)
{
	double begin = cpu_seconds();

	*bytes = (size_t)(write(slices) - buffer);
	return cpu_seconds() - begin;
}

int main(void)
{
	struct ct_timeline_slice *slices = calloc(SLICES, sizeof(*slices));
	struct ct_timeline_arg *args = calloc((size_t)SLICES * CT_TIMELINE_ARGS, sizeof(*args));
	double ours = 1, theirs = 1;
	size_t our_bytes = 0, their_bytes = 0;

	if (!slices || !args)
		return 1;
	for (uint32_t i = 0; i < SLICES; i++)
		make_slice(&slices[i], &args[(size_t)i * CT_TIMELINE_ARGS], i);
	for (int round = 0; round < ROUNDS; round++) {
		double a = seconds(append, slices, &our_bytes);
		double b = seconds(pack, slices, &their_bytes);

		ours = a < ours ? a : ours;
		theirs = b < theirs ? b : theirs;
	}
	printf("slice with %u arguments and a flow: appender %.0f ns, %.0f B; protobuf-c %.0f ns, "
	       "%.0f B\n",
	       slices[0].n_args, ours / SLICES * 1e9, (double)our_bytes / SLICES,
	       theirs / SLICES * 1e9, (double)their_bytes / SLICES);
	printf("METRIC perfetto.appender_per_protobuf_c %.2f >=8\n", theirs / ours);
	free(slices);
	free(args);
	return 0;
}
