/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/runtime/cudart.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "interpose/extent.h"
#include "interpose/gpu/ending.h"
#include "interpose/gpu/runtime/syncs.h"
#include "interpose/recorder.h"
#include "interpose/unwind.h"
#include "trace/path.h"

/* By soname. The caller's own library comes first; these are for callers that have none. A program
 * may have another version; then it is found among what is loaded. */
static const char *const sonames[] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
				       "libcuda.so.1", NULL };

#define REAL(symbol_, name)                                                                        \
	[CT_CUDART_##name] = {                                                                     \
		.symbol = symbol_,                                                                 \
		.self = (const void *)&ct_##name,                                                  \
		.names = sonames,                                                                  \
	},
struct ct_real ct_cudart_reals[CT_CUDART_CALLS] = {
#define CUDART_CALL(symbol, ret, name, ...) REAL(symbol, name)
#define CUDART_CALL_VOID(symbol, ret, name, ...) REAL(symbol, name)
#include "interpose/abi/cudart_calls.def"
};

static int is_wanted;

/* size: code whose calls are not the program's: libcudart, and copies of libnccl, two at most are
 * seen. `bytes` is stored last (release); 0: not in use. */
#define QUIET 4u
static struct quiet {
	_Atomic uintptr_t begin;
	_Atomic uintptr_t bytes;
} quiet[QUIET];
static _Atomic uint32_t n_quiet;

struct ct_real *ct_cudart_real(const char *symbol)
{
	for (int i = 0; i < CT_CUDART_CALLS; i++)
		if (strcmp(ct_cudart_reals[i].symbol, symbol) == 0)
			return &ct_cudart_reals[i];
	return NULL;
}

/* Names of the calls in which the host waits, in the ring's string table. */
static uint32_t call_ids[CT_CUDART_CALLS];

void ct_cudart_init(int wanted)
{
	is_wanted = wanted;
	ct_syncs_init();
	for (int i = 0; i < CT_CUDART_CALLS; i++)
		call_ids[i] = wanted && strstr(ct_cudart_reals[i].symbol, "Synchronize")
				      ? ct_ring_string(&ct_recorder.ring, ct_cudart_reals[i].symbol)
				      : 0;
}

/* ---- whose call is it?
 * ------------------------------------------------------------------------------------ */

static inline int is_quiet(const void *caller)
{
	uint32_t n = atomic_load_explicit(&n_quiet, memory_order_relaxed);

	for (uint32_t i = 0; i < n && i < QUIET; i++) {
		uintptr_t bytes = atomic_load_explicit(&quiet[i].bytes, memory_order_acquire);

		if ((uintptr_t)caller -
			    atomic_load_explicit(&quiet[i].begin, memory_order_relaxed) <
		    bytes)
			return 1;
	}
	return 0;
}

static int is_library_of_theirs(const char *path)
{
	const char *name = ct_path_name(path);

	return strncmp(name, "libcudart.so", 12) == 0 || strncmp(name, "libnccl.so", 10) == 0 ||
	       strncmp(name, "libcuda.so", 10) == 0;
}

struct cudart_object {
	uintptr_t caller;
	uintptr_t begin, end; /* of a library whose calls are its own; end 0: it is another */
};

static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct cudart_object *o = arg;
	struct ct_object_extent extent = ct_extent_of(info);

	(void)size;
	if (!ct_extent_has(extent, o->caller))
		return 0;
	if (is_library_of_theirs(info->dlpi_name)) {
		o->begin = extent.begin;
		o->end = extent.end;
	}
	return 1;
}

int ct_cudart_is_theirs(const void *address)
{
	struct cudart_object o = { .caller = (uintptr_t)address };

	dl_iterate_phdr(take_object, &o);
	return o.end != 0;
}

/* More copies than there is space for are rare, and theirs are calls too many, not too few. */
static void keep_quiet(const struct cudart_object *o)
{
	uint32_t at = atomic_load_explicit(&n_quiet, memory_order_relaxed);

	while (at < QUIET &&
	       !atomic_compare_exchange_weak_explicit(&n_quiet, &at, at + 1, memory_order_relaxed,
						      memory_order_relaxed))
		;
	if (at >= QUIET)
		return;
	atomic_store_explicit(&quiet[at].begin, o->begin, memory_order_relaxed);
	atomic_store_explicit(&quiet[at].bytes, o->end - o->begin, memory_order_release);
}

static int is_known(const struct ct_real *real, const void *caller)
{
	for (const struct ct_real_caller *c = &real->first; c; c = ct_real_after(real, c))
		if (ct_real_calls(c, caller))
			return 1;
	return is_quiet(caller);
}

/* The function for a caller that is not the first one. For a new one, its library is cached if it
 * is one of theirs. */
static void *find_for(struct ct_real *real, const void *caller)
{
	struct cudart_object o = { .caller = (uintptr_t)caller };
	int is_new = !is_known(real, caller);
	void *function = ct_real_find(real, caller);

	if (function && is_new)
		dl_iterate_phdr(take_object, &o);
	if (o.end)
		keep_quiet(&o);
	return function;
}

/* ---- the wrappers
 * ------------------------------------------------------------------------------------------ */

static void leave(struct ct_frame *frame)
{
	struct ct_cudart_frame *f = (struct ct_cudart_frame *)frame;

	if (f->failed)
		f->failed(f, CT_RESULT_EXCEPTION);
	ct_guard_leave();
}

static void capture_failed(struct ct_cudart_frame *f, int result)
{
	/* another thread has to end it */
	if (result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
		ct_graph_end_failed(&f->graph);
}

static void launch_failed(struct ct_cudart_frame *f, int result)
{
	ct_graph_launched(&f->graph, result);
}

static void end_capture(struct ct_cudart_frame *f, CUstream stream)
{
	f->failed = capture_failed;
	ct_graph_end(&f->graph, stream);
}

static void launch_graph(struct ct_cudart_frame *f, CUgraphExec exec, CUstream stream)
{
	ct_graph_launch(&f->graph, exec, stream, ct_cudart_reals[f->call].symbol);
	f->failed = launch_failed;
}

static void end_failed(struct ct_cudart_frame *f, int result)
{
	(void)result;
	ct_gpu_ended(f->ending, 0);
}

static void end_device(struct ct_cudart_frame *f, int device)
{
	f->ending = ct_gpu_ending_device(device);
	f->failed = end_failed;
}

static void end_context(struct ct_cudart_frame *f, CUcontext context)
{
	f->ending = ct_gpu_ending_context(context);
	f->failed = end_failed;
}

/* While the host waits, the thread is not inside a recorded call: a signal handler that runs
 * meanwhile may communicate, or never come back (siglongjmp). What CUDA calls in turn is known by
 * its caller (is_quiet). */
static inline void begin_sync(struct ct_cudart_frame *f)
{
	f->sync = ct_sync_begin(call_ids[f->call], f->host.enter_ns, f->host.found.via, ct_site(),
				f);
	ct_guard_leave();
}

/* 0: nothing is recorded any more. */
static inline int go_on(struct ct_cudart_frame *f, int result)
{
	int is_recorded = ct_sync_end(f->sync);

	if (!ct_guard_enter(CT_CALL_DATA))
		return 0;
	if (__builtin_expect(is_recorded, 0))
		ct_sync_record(f->sync, f->host.enter_ns, result);
	return 1;
}

static inline void begin_call(struct ct_cudart_frame *f, enum ct_cudart_call call)
{
	f->frame.leave = leave;
	f->failed = NULL;
	f->host.enter_ns = 0;
	f->call = call;
	ct_self.frame = &f->frame;
}

/* May it be recorded, by the gate and the thread alone? ASK: this thread has no block yet. */
static inline enum ct_guard_answer guard_answer(void)
{
	uint32_t gate = ct_guard_gate();

	if (__builtin_expect(!(gate & CT_GATE_ON), 1))
		return CT_GUARD_PASS;
	return ct_guard_look(gate, CT_CALL_DATA);
}

static int enter(const void *caller)
{
	if (guard_answer() == CT_GUARD_PASS || !is_wanted || is_quiet(caller))
		return 0;
	if (!ct_guard_enter(CT_CALL_DATA))
		return 0;
	ct_entry_called_from(caller);
	return 1;
}

/* What a wrapper returns when there is no such function, like the libraries before they are
 * initialised: a program has it from a weak reference, which cannot show that. */
#define ABSENT_cudaError_t cudaErrorInitializationError
#define ABSENT_CUresult CUDA_ERROR_NOT_INITIALIZED

#define CT_NOTHING (void)f
#define CT_PTSZ(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define LIST(...) __VA_ARGS__
#define WITH_(...) __VA_ARGS__
#define WITH(args, ...) (WITH_ args, __VA_ARGS__)

#define BODIES(ret, name, params, args, record_params, record_with, ask_params, ask_with, before,  \
	       after)                                                                              \
	static CT_UNWIND_WHOLE ret record_##name record_params                                     \
	{                                                                                          \
		struct ct_cudart_frame frame, *f = &frame;                                         \
		ret result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_call(f, CT_CUDART_##name);                                                   \
		before;                                                                            \
		if (f->host.enter_ns)                                                              \
			begin_sync(f);                                                             \
		result = real args;                                                                \
		if (f->host.enter_ns && !go_on(f, (int)result))                                    \
			return result;                                                             \
		if (result == 0) {                                                                 \
			after;                                                                     \
		} else if (f->failed) {                                                            \
			f->failed(f, (int)result);                                                 \
		}                                                                                  \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
                                                                                                   \
	static __attribute__((noinline)) ret ask_##name ask_params                                 \
	{                                                                                          \
		ct_##name##_fn *next = (ct_##name##_fn *)find_for(                                 \
			&ct_cudart_reals[CT_CUDART_##name], caller);                               \
                                                                                                   \
		if (!next)                                                                         \
			return ABSENT_##ret;                                                       \
		if (!enter(caller))                                                                \
			return next args;                                                          \
		return record_##name record_with;                                                  \
	}                                                                                          \
                                                                                                   \
	ret ct_##name params                                                                       \
	{                                                                                          \
		const struct ct_real_caller *first = &ct_cudart_reals[CT_CUDART_##name].first;     \
		const void *caller = __builtin_return_address(0);                                  \
		uint32_t gate = ct_guard_gate();                                                   \
                                                                                                   \
		if (__builtin_expect(ct_real_calls(first, caller), 1)) {                           \
			ct_##name##_fn *next = (ct_##name##_fn *)first->function;                  \
                                                                                                   \
			if (__builtin_expect(!(gate & CT_GATE_ON), 1))                             \
				return next args;                                                  \
			if (!is_wanted || is_quiet(caller))                                        \
				return next args;                                                  \
			if (ct_guard_is_ready(gate)) {                                             \
				ct_self.depth = 1;                                                 \
				ct_self.caller = caller; /* (never an entry's, see real.c) */      \
				return record_##name record_with;                                  \
			}                                                                          \
		}                                                                                  \
		return ask_##name ask_with;                                                        \
	}
#define CUDART_CALL(symbol, ret, name, params, args, before, after)                                \
	BODIES(ret, name, params, args, (LIST params, ct_##name##_fn * real), WITH(args, next),    \
	       (LIST params, const void *caller), WITH(args, caller), before, after)
#define CUDART_CALL_VOID(symbol, ret, name, before, after)                                         \
	BODIES(ret, name, (void), (), (ct_##name##_fn * real), (next), (const void *caller),       \
	       (caller), before, after)
#include "interpose/abi/cudart_calls.def"
