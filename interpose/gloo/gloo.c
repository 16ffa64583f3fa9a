/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gloo/gloo.h"

#include "interpose/errors.h"
#include "interpose/gloo/abi.h"
#include "interpose/gloo/submit.h"
#include "interpose/recorder.h"
#include "interpose/unwind.h"

const char *const ct_gloo_sonames[] = { "libgloo.so.0", "libtorch_cpu.so", NULL };

enum count_rule { ELEMENTS, BUFFER, OWN_PART, PER_RANK, COUNTS, BYTES, V_BUFFER, NOTHING };

/* A row of gloo_calls.def. */
struct collective {
	const char *name;
	uint8_t op;
	uint8_t rule;
	int16_t count_at;
	int16_t esize_at;
	int16_t root_at;
	int16_t tag_at;
};

enum {
#define GLOO_CALL(symbol, name, ...) INDEX_##name,
#include "interpose/gloo/gloo_calls.def"
	N_COLLECTIVES
};

static const struct collective collectives[N_COLLECTIVES] = {
#define GLOO_CALL(symbol, name_, op_, rule_, count, esize, root, tag_)                             \
	[INDEX_##name_] = { "gloo::" #name_, CT_OP_##op_, rule_, count, esize, root, tag_ },
#include "interpose/gloo/gloo_calls.def"
};

static uint16_t call_ids[N_COLLECTIVES];

void ct_gloo_init(int wanted)
{
	for (int i = 0; i < N_COLLECTIVES; i++)
		call_ids[i] = (uint16_t)ct_ring_string(&ct_recorder.ring, collectives[i].name);
	ct_errors_transfers(ct_gloo_transfer_leave);
	ct_gloo_comm_init(wanted);
	ct_gloo_p2p_init();
	ct_gloo_submit_init();
}

/* Per-peer numbers of a v-collective: n of them from a std::vector of 64-bit ones. */
static uint32_t numbers(const void *options, int at, const uint64_t **first)
{
	struct ct_cxx_vector v;

	memcpy(&v, (const char *)options + at, sizeof(v));
	*first = (const uint64_t *)(const void *)v.begin;
	return v.begin ? (uint32_t)((size_t)(v.end - v.begin) / sizeof(uint64_t)) : 0;
}

/* The functions from here on are inlined into one body for each row, where the row's columns are
 * constants. */
#define EACH_ROW inline __attribute__((always_inline))

/* Elements of `esize` bytes that this rank's share of the collective has. */
static EACH_ROW uint64_t count_of(const struct collective *c, const void *options,
				  const struct ct_traced_comm *comm, uint64_t esize)
{
	const void *buffer = NULL;
	const uint64_t *v;
	uint64_t sum = 0;
	uint32_t n;

	switch ((enum count_rule)c->rule) {
	case ELEMENTS:
		return ct_gloo_u64(options, (size_t)c->count_at);
	case BUFFER:
		return ct_gloo_buffer_bytes(ct_gloo_ptr(options, (size_t)c->count_at)) / esize;
	case OWN_PART:
		buffer = ct_gloo_ptr(options, (size_t)c->count_at);
		if (buffer)
			return ct_gloo_buffer_bytes(buffer) / esize;
		buffer = ct_gloo_ptr(options, GLOO_OPTIONS_OUT);
		return ct_gloo_buffer_bytes(buffer) / esize / comm->nranks;
	case PER_RANK:
		buffer = ct_gloo_ptr(options, (size_t)c->count_at);
		return ct_gloo_buffer_bytes(buffer) / esize / comm->nranks;
	case COUNTS:
		n = numbers(options, c->count_at, &v);
		return (uint32_t)comm->rank < n ? v[comm->rank] : 0;
	case BYTES:
		n = numbers(options, c->count_at, &v);
		for (uint32_t i = 0; i < n; i++)
			sum += v[i];
		return sum / esize;
	case V_BUFFER:
		return ct_gloo_buffer_bytes(ct_gloo_ptr(options, GLOO_OPTIONS_IN)) / esize;
	case NOTHING:
		break;
	}
	return 0;
}

/* Records before the op's own, which stays the last of its thread while it is inside. */
static __attribute__((noinline)) void record_counts(const struct collective *c, const void *options,
						    uint32_t comm, uint64_t seq, uint64_t esize)
{
	uint64_t unit = c->rule == BYTES ? esize : 1;
	const uint64_t *v;
	uint32_t n = numbers(options, c->count_at, &v);

	n = n < CT_RECORDED_PEERS ? n : CT_RECORDED_PEERS;
	for (uint32_t first = 0; first < n; first += CT_VCOUNTS_PART) {
		struct ct_vcounts_rec rec = { .comm = comm, .first = first, .seq = seq };

		for (uint32_t i = first; i < n && rec.n < CT_VCOUNTS_PART; i++) {
			uint64_t count = v[i] / unit;

			rec.counts[rec.n++] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
		}
		ct_recorder_rare(CT_KIND_VCOUNTS, &rec);
	}
}

static EACH_ROW void describe(const struct collective *c, const void *options,
			      struct ct_traced_comm *comm, struct ct_op *op)
{
	uint64_t esize = c->esize_at < 0 ? 0 : ct_gloo_u64(options, (size_t)c->esize_at);
	uint64_t seq = ct_seq_next(&comm->tags, &comm->entry->next_seq,
				   (uint32_t)ct_gloo_i32(options, (size_t)c->tag_at));
	uint8_t dtype = esize ? ct_dtype_of_width(esize) : 0;
	uint64_t count = esize ? count_of(c, options, comm, esize) : 0;
	uint32_t site = 0;

	if (esize && (c->rule == COUNTS || c->rule == BYTES || c->rule == V_BUFFER))
		record_counts(c, options, comm->id, seq, esize);
	if (__builtin_expect(atomic_load_explicit(&ct_gloo_carried, memory_order_relaxed), 0))
		site = ct_gloo_submit_record(comm->id, seq);
	*op = (struct ct_op){
		.op = c->op,
		.call = call_ids[c - collectives],
		.peer = c->root_at < 0 ? -1 : ct_gloo_i32(options, (size_t)c->root_at),
		.seq = seq,
		.site = site,
		.dtype = dtype,
		.count = dtype == CT_DTYPE_elem1 ? count * esize : count,
	};
}

typedef void (*collective_fn)(void *options);

static EACH_ROW void record(const struct collective *c, void *options, collective_fn real)
{
	const void *context = ct_gloo_ptr(options, GLOO_OPTIONS_CONTEXT);
	struct ct_traced_comm *comm = context ? ct_recorder_comm(context) : NULL;
	struct ct_op_frame frame;
	struct ct_op op;

	if (!comm && context)
		comm = ct_gloo_comm(context);
	if (comm) {
		describe(c, options, comm, &op);
		ct_op_begin(&frame, comm, &op);
		real(options);
		ct_op_end(&frame, ct_now_ns(), 0);
	} else {
		real(options);
		ct_guard_leave();
	}
}

/* The wrapper itself only looks and jumps on: no frame, no call. What takes a call is in ask_NAME. */
#define GLOO_CALL(symbol_, name, ...)                                                              \
	void ct_gloo_##name(void *options) __asm__(symbol_) CT_EXPORT;                             \
                                                                                                   \
	static struct ct_real real_##name = {                                                      \
		.symbol = symbol_,                                                                 \
		.self = (const void *)&ct_gloo_##name,                                             \
		.names = ct_gloo_sonames,                                                          \
	};                                                                                         \
                                                                                                   \
	static CT_UNWIND_WHOLE void record_##name(void *options, collective_fn real)               \
	{                                                                                          \
		CT_UNWIND_HERE();                                                                  \
		record(&collectives[INDEX_##name], options, real);                                 \
	}                                                                                          \
                                                                                                   \
	static __attribute__((noinline)) void ask_##name(void *options, const void *caller)        \
	{                                                                                          \
		collective_fn next = (collective_fn)ct_real_find(&real_##name, caller);            \
                                                                                                   \
		if (!next)                                                                         \
			return;                                                                    \
		ct_guard_settle(__builtin_frame_address(0));                                       \
		atomic_store_explicit(&ct_gloo_heard, 1, memory_order_relaxed);                    \
		if (ct_guard_enter(CT_CALL_DATA)) {                                                \
			ct_self.caller = caller;                                                   \
			record_##name(options, next);                                              \
		} else {                                                                           \
			next(options);                                                             \
		}                                                                                  \
	}                                                                                          \
                                                                                                   \
	void ct_gloo_##name(void *options)                                                         \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		uint32_t gate = ct_guard_gate();                                                   \
                                                                                                   \
		if (__builtin_expect(ct_real_calls(&real_##name.first, caller), 1)) {              \
			collective_fn next = (collective_fn)real_##name.first.function;            \
                                                                                                   \
			if (ct_guard_is_off(gate, CT_CALL_DATA)) {                                 \
				next(options);                                                     \
				return;                                                            \
			}                                                                          \
			if (ct_guard_is_ready(gate)) {                                             \
				ct_self.depth = 1;                                                 \
				ct_self.caller = caller;                                           \
				record_##name(options, next);                                      \
				return;                                                            \
			}                                                                          \
		}                                                                                  \
		ask_##name(options, caller);                                                       \
	}
#include "interpose/gloo/gloo_calls.def"
