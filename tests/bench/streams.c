/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

/* The shapes (counts, gaps, durations, relative jitter) follow published traces of such jobs; a gap
 * or duration is lognormal around its median. */

struct maker {
	struct ct_stream *out;
	uint32_t cap;
	uint64_t random;
	double quantum;
	double host;	   /* host clock, ns */
	double free_at[8]; /* per stream: end of its last launch */
	uint64_t seq[8];
	uint32_t launch;
	int grouped;
};

static double uniform(struct maker *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (double)(m->random >> 11) * 0x1p-53;
}

static double normal(struct maker *m)
{
	double u = uniform(m);

	return sqrt(-2 * log(u > 1e-300 ? u : 1e-300)) * cos(2 * M_PI * uniform(m));
}

/* Draw around `median`; *bits gets the draw's entropy when rounded to the quantum: log2(sigma
 * median sqrt(2 pi e) / quantum), never below 0. */
static double lognormal(struct maker *m, double median, double sigma, double *bits)
{
	double h = log2(median * sigma * 4.132731354122493 / m->quantum);

	*bits = h > 0 ? h : 0;
	return median * exp(sigma * normal(m));
}

struct shape {
	uint8_t op, dtype;
	uint64_t count;
	uint32_t comm, stream;
	int32_t peer;
	double gap, gap_sigma, duration, duration_sigma;
};

static void push(struct maker *m, struct shape s)
{
	struct ct_stream *out = m->out;
	struct ct_op *op = &out->ops[out->n_ops++];
	double bits, bits_start, bits_queue, inside;

	m->host += lognormal(m, s.gap, s.gap_sigma, &bits);
	out->entropy_bits += bits;
	inside = lognormal(m, 4000, 0.1, &bits); /* time inside the call */
	out->entropy_bits += bits;
	*op = (struct ct_op){
		.enter_ns = (uint64_t)m->host,
		.return_ns = (uint64_t)(m->host + inside),
		.count = s.count,
		.seq = s.peer < 0 ? m->seq[s.comm]++ : 0,
		.comm = s.comm,
		.peer = s.peer,
		.call = s.op,
		.op = s.op,
		.dtype = s.dtype,
		.redop = s.op == CT_OP_AllReduce,
		.tid = 1000,
	};
	m->host += inside;
	if (!m->grouped || m->grouped == 1) {
		double start = m->host + lognormal(m, 6000, 0.25, &bits_start);
		double queued = m->free_at[s.stream] + lognormal(m, 2500, 0.2, &bits_queue);
		double duration = lognormal(m, s.duration, s.duration_sigma, &bits);

		out->entropy_bits += bits + (start > queued ? bits_start : bits_queue);
		if (queued > start)
			start = queued;
		out->launches[out->n_launches++] = (struct ct_launch){
			.start_ns = (uint64_t)start,
			.end_ns = (uint64_t)(start + duration),
			.id = ++m->launch,
			.comm = s.comm,
			.stream = s.stream,
			.start_err_ns = 3072,
			.end_err_ns = 3072,
			.n_ops = 1,
			.start_source = CT_SOURCE_EVENT,
			.end_source = CT_SOURCE_EVENT,
		};
		m->free_at[s.stream] = start + duration;
		m->grouped *= 2;
	} else {
		out->launches[out->n_launches - 1].n_ops++;
	}
	op->launch = m->launch;
}

static void ddp_step(struct maker *m)
{
	for (int b = 0; b < 12; b++)
		push(m,
		     (struct shape){ CT_OP_AllReduce, CT_DTYPE_float32,
				     b ? 6553600u + (unsigned)b * 1024 * (unsigned)(b % 5) : 262144,
				     1, 1, -1, 12e6, 0.05, b ? 900e3 + b * 5e3 : 120e3, 0.04 });
	push(m, (struct shape){ CT_OP_AllReduce, CT_DTYPE_float32, 1, 1, 1, -1, 20e6, 0.03, 22e3,
				0.1 });
	push(m, (struct shape){ CT_OP_Broadcast, CT_DTYPE_int64, 53120, 1, 1, -1, 30e6, 0.05, 30e3,
				0.1 });
}

static void megatron_step(struct maker *m)
{
	const struct shape gather = {
		CT_OP_AllGather, CT_DTYPE_bfloat16, 4194304, 3, 2, -1, 260e3, 0.06, 95e3, 0.06
	};
	const struct shape scatter = {
		CT_OP_ReduceScatter, CT_DTYPE_bfloat16, 4194304, 3, 2, -1, 310e3, 0.06, 98e3, 0.06
	};

	for (int micro = 0; micro < 8; micro++) {
		m->grouped = 1;
		push(m, (struct shape){ CT_OP_Send, CT_DTYPE_bfloat16, 8388608, 2, 3, 3, 60e3, 0.2,
					180e3, 0.1 });
		push(m, (struct shape){ CT_OP_Recv, CT_DTYPE_bfloat16, 8388608, 2, 3, 1, 900, 0.2,
					0, 0 });
		m->grouped = 0;
		for (int layer = 0; layer < 48; layer++) {
			push(m, gather);
			push(m, scatter);
		}
	}
	for (unsigned b = 0; b < 20; b++)
		push(m, (struct shape){ CT_OP_ReduceScatter, CT_DTYPE_bfloat16, 20971520 + b * 4096,
					1, 4, -1, 8e5, 0.1, 2.2e6, 0.05 });
	push(m, (struct shape){ CT_OP_AllReduce, CT_DTYPE_float32, 65536000, 4, 5, -1, 1e6, 0.1,
				1.6e6, 0.05 });
	push(m,
	     (struct shape){ CT_OP_AllReduce, CT_DTYPE_float32, 1, 5, 5, -1, 4e5, 0.1, 20e3, 0.1 });
	for (unsigned b = 0; b < 20; b++)
		push(m, (struct shape){ CT_OP_AllGather, CT_DTYPE_bfloat16, 20971520 + b * 4096, 1,
					4, -1, 8e5, 0.1, 2.1e6, 0.05 });
}

static void inference_step(struct maker *m)
{
	double batch = 1 + 255 * uniform(m);
	double bits = uniform(m) < 0.9 ? 0 : 8;

	m->out->entropy_bits += bits;
	if (!bits)
		batch = 64;
	for (int layer = 0; layer < 160; layer++)
		push(m, (struct shape){ CT_OP_AllReduce, CT_DTYPE_bfloat16, (uint64_t)batch * 8192,
					1, 1, -1, 62e3, 0.05, 14e3 + batch * 60, 0.08 });
	push(m, (struct shape){ CT_OP_AllGather, CT_DTYPE_bfloat16, (uint64_t)batch * 16000, 1, 1,
				-1, 80e3, 0.08, 18e3, 0.08 });
}

static void moe_step(struct maker *m)
{
	const double tokens = 64, spread = 0.3;
	double count_bits = log2(tokens * spread * 4.132731354122493);

	for (int a = 0; a < 2; a++) {
		m->grouped = 1;
		for (int32_t peer = 0; peer < 64; peer++) {
			uint64_t out = (uint64_t)(tokens * exp(spread * normal(m))) * 7168;
			uint64_t in = (uint64_t)(tokens * exp(spread * normal(m))) * 7168;

			m->out->entropy_bits += 2 * count_bits;
			push(m,
			     (struct shape){ CT_OP_Send, CT_DTYPE_bfloat16, out, 2, 3, peer,
					     peer ? 140 : 900e3, peer ? 0.15 : 0.1, 420e3, 0.1 });
			push(m, (struct shape){ CT_OP_Recv, CT_DTYPE_bfloat16, in, 2, 3, peer, 140,
						0.15, 0, 0 });
		}
		m->grouped = 0;
	}
	push(m, (struct shape){ CT_OP_ReduceScatter, CT_DTYPE_bfloat16, 4194304, 1, 2, -1, 300e3,
				0.1, 95e3, 0.06 });
}

void ct_stream_make(struct ct_stream *stream, char kind, uint32_t n, uint32_t quantum_ns)
{
	struct maker m = {
		.out = stream, .random = 88172645463325252ull, .quantum = quantum_ns, .host = 1e9
	};
	uint64_t p2p_seq[2][64] = { { 0 } };

	memset(stream, 0, sizeof(*stream));
	m.cap = n + 1024; /* a step is never longer */
	stream->ops = calloc(m.cap, sizeof(*stream->ops));
	stream->launches = calloc(m.cap, sizeof(*stream->launches));
	if (!stream->ops || !stream->launches) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	while (stream->n_ops < n) {
		switch (kind) {
		case 'a':
			ddp_step(&m);
			break;
		case 'b':
			megatron_step(&m);
			break;
		case 'c':
			inference_step(&m);
			break;
		default:
			moe_step(&m);
		}
	}
	for (uint32_t i = 0; i < stream->n_ops; i++) {
		struct ct_op *op = &stream->ops[i];

		if (op->peer >= 0)
			op->seq = p2p_seq[op->op == CT_OP_Recv][op->peer]++;
	}
}

void ct_stream_free(struct ct_stream *stream)
{
	free(stream->ops);
	free(stream->launches);
	memset(stream, 0, sizeof(*stream));
}
