/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h — op streams of four kinds of jobs with lognormal jitter, and the entropy of that
 * jitter: what no byte code can get below. For benchmarks and round-trip tests; one thread. */
#ifndef CT_TESTS_BENCH_STREAMS_H
#define CT_TESTS_BENCH_STREAMS_H

#include <stdint.h>

#include "trace/record.h"

struct ct_stream {
	struct ct_op *ops;
	struct ct_launch *launches; /* in the order in which they end */
	uint32_t n_ops;
	uint32_t n_launches;
	double entropy_bits; /* of all timing draws and random counts, at the quantum given */
};

/* kind: 'a' DDP, 12 buckets a step; 'b' Megatron, 5 communicators, pipelined send/recv groups; 'c'
 * inference, tensor-parallel all-reduces; 'd' mixture of experts, 64-peer groups of send/recv with
 * random counts. About `n` ops. Exits when out of memory. */
void ct_stream_make(struct ct_stream *stream, char kind, uint32_t n, uint32_t quantum_ns);
void ct_stream_free(struct ct_stream *stream);

#endif
