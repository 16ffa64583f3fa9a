/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h — the MPI backend: what all wrappers of abi/mpi_calls.def share.
 *
 * MPI_X calls the next MPI_X and PMPI_X the next PMPI_X, so that other tools that wrap MPI, before
 * us or after us, keep working; calls inside a recorded call are not recorded (libraries call
 * themselves, and Fortran's and other tools' functions call PMPI_X). Nothing of MPI is called
 * before it is initialised or after it is finalised. That it was initialised is never assumed to
 * have been seen: the first wrapped call of a process that finds it so gets to know the library
 * (flavour.h), its types and MPI_COMM_WORLD. A library of no known flavour is left alone: its calls
 * pass, and the trace says so. Any thread may call everything here; the call path takes no lock.
 */
#ifndef CT_INTERPOSE_MPI_MPI_H
#define CT_INTERPOSE_MPI_MPI_H

#include <stdint.h>

#include "interpose/abi/mpi.h"
#include "interpose/guard.h"
#include "interpose/mpi/flavour.h"
#include "interpose/real.h"
#include "interpose/recorder.h"
#include "interpose/unwind.h"

/* The functions that have a wrapper: CT_MPI_Allreduce stands for MPI_Allreduce and PMPI_Allreduce. */
enum ct_mpi_function {
#define MPI_FUNCTION(name, params, args) CT_MPI_##name,
#include "interpose/abi/mpi_functions.def"
	CT_MPI_FUNCTIONS
};

/* For each of them the type, ct_MPI_NAME_fn, and the two wrappers, ct_MPI_NAME and ct_PMPI_NAME. */
#define MPI_FUNCTION(name, params, args)                                                           \
	typedef int ct_MPI_##name##_fn params;                                                     \
	CT_EXPORT int ct_MPI_##name params __asm__("MPI_" #name);                                  \
	CT_EXPORT int ct_PMPI_##name params __asm__("PMPI_" #name);
#include "interpose/abi/mpi_functions.def"

/* The functions behind the wrappers, by function and by which of its two names was called. All
 * zero, and so without pages of memory, until a function is called or looked up: ct_mpi_real()
 * fills them in. */
enum ct_mpi_name { CT_MPI_NAME = 0, CT_PMPI_NAME = 1 };
extern struct ct_real ct_mpi_reals[CT_MPI_FUNCTIONS][2] CT_NEAR;

/* Names of the calls in the ring's string table, 0 for those that were not needed yet: there are
 * hundreds. */
extern _Atomic uint16_t ct_mpi_call_ids[CT_MPI_FUNCTIONS] CT_NEAR;
uint16_t ct_mpi_intern(enum ct_mpi_function function);

static inline uint16_t ct_mpi_call_id(enum ct_mpi_function function)
{
	uint16_t id = atomic_load_explicit(&ct_mpi_call_ids[function], memory_order_relaxed);

	return __builtin_expect(id != 0, 1) ? id : ct_mpi_intern(function);
}

/* Slow way of a wrapper to its function, NULL if there is none. Keeps errno. */
void *ct_mpi_find(enum ct_mpi_function function, enum ct_mpi_name name, const void *caller);

/* The slot of a wrapped function by its symbol, NULL if it is not wrapped. Any thread, at any time.
 */
struct ct_real *ct_mpi_real(const char *symbol);

/* What dlsym returns if it has found `function`: the wrapper, which calls just that, from any
 * caller. NULL: the wrapper goes to another copy of MPI, or a preload before us has the function,
 * which will call us by itself. */
void *ct_mpi_entry(struct ct_real *real, void *function);

/* fact: what a wrapper returns when there is no such function (the program has it from a weak
 * reference, which cannot know). An error in every flavour: MPI_ERR_OTHER or MPI_ERR_INTERN. */
#define CT_MPI_ABSENT 16

/* acquire: pairs with the release of the thread that got to know the library */
static inline uint32_t ct_mpi_look(void)
{
	return atomic_load_explicit(&ct_mpi.way, memory_order_acquire);
}

/* The call is to be forwarded unrecorded, without further checks. */
static inline int ct_mpi_passes(uint32_t gate, enum ct_guard_call kind)
{
	enum ct_guard_answer answer = ct_guard_look(gate, kind);

	return answer == CT_GUARD_PASS ||
	       (answer == CT_GUARD_RECORD && ct_mpi_look() == CT_MPI_PASS);
}

/* Forget what an earlier recording knew; if not `wanted`, calls pass unrecorded. Before the gate
 * opens. */
void ct_mpi_init(int wanted);

/* The thread is inside a recorded call (depth 1) of `caller`: get to know the library if it is
 * initialised and not finalised. 1: calls are to be recorded. Keeps errno. */
int ct_mpi_adopt(const void *caller);

/* ct_guard_enter() where MPI is known and to be recorded. */
int ct_mpi_enter(enum ct_guard_call kind, const void *caller);

/* The same for a call that initialises MPI: there is no library to identify yet. */
int ct_mpi_enter_init(const void *caller);

/* The library is finalised, or about to be: from now on its calls pass. */
void ct_mpi_over(void);

/* The recorded part of a result: its error class, because MPICH's error codes are made as errors
 * occur. */
int ct_mpi_class(int result);

static inline int ct_mpi_result(int result)
{
	return __builtin_expect(result == CT_MPI_SUCCESS, 1) ? 0 : ct_mpi_class(result);
}

/* Ends of an op and of a host-blocking call with the result that MPI returned: an error is
 * recorded, with its text. */
void ct_mpi_failed_op(struct ct_op_frame *f, uint64_t now_ns, int result);
void ct_mpi_failed_host(struct ct_host_frame *f, int result);

static inline void ct_mpi_end_op(struct ct_op_frame *f, uint64_t now_ns, int result)
{
	if (__builtin_expect(result == CT_MPI_SUCCESS, 1))
		ct_op_end(f, now_ns, 0);
	else
		ct_mpi_failed_op(f, now_ns, result);
}

static inline void ct_mpi_end_host(struct ct_host_frame *f, int result)
{
	if (__builtin_expect(result == CT_MPI_SUCCESS, 1))
		ct_host_end(f, 0);
	else
		ct_mpi_failed_host(f, result);
}

/* The wrapper's check when it is not clear that the call is to be recorded: its function goes to
 * *next, NULL if there is none. 1: record the call, entered with depth 1; 0: only pass it on. */
int ct_mpi_ask(enum ct_mpi_function function, enum ct_mpi_name name, enum ct_guard_call kind,
	       const void *caller, void **next);

/* Both wrappers of a function whose calls are recorded by record_NAME(params, ct_MPI_NAME_fn
 * *real): static, entered with depth 1, calls real and ends with ct_guard_leave(). A wrapper only
 * looks and jumps on: no frame, no call. What takes a call is in ask_NAME. Not for functions
 * without parameters. */
#define CT_MPI_WRAPPER(prefix, which, name, params, args, kind)                                    \
	int ct_##prefix##name params                                                               \
	{                                                                                          \
		const struct ct_real_caller *first = &ct_mpi_reals[CT_MPI_##name][which].first;    \
		const void *caller = __builtin_return_address(0);                                  \
		uint32_t gate = ct_guard_gate();                                                   \
                                                                                                   \
		if (__builtin_expect(ct_real_calls(first, caller), 1)) {                           \
			ct_MPI_##name##_fn *next = (ct_MPI_##name##_fn *)first->function;          \
                                                                                                   \
			if (ct_guard_is_off(gate, kind))                                           \
				return next args;                                                  \
			if (ct_guard_is_ready(gate) &&                                             \
			    __builtin_expect(ct_mpi_look() == CT_MPI_RECORD, 1)) {                 \
				ct_self.depth = 1;                                                 \
				ct_self.caller = caller;                                           \
				return record_##name CT_MPI_WITH(args, next);                      \
			}                                                                          \
			if (ct_mpi_passes(gate, kind))                                             \
				return next args;                                                  \
		}                                                                                  \
		return ask_##name CT_MPI_WITH(args, caller, which);                                \
	}
#define CT_MPI_ASK(name, params, args, kind)                                                       \
	static __attribute__((noinline)) int ask_##name(CT_MPI_LIST params, const void *caller,    \
							enum ct_mpi_name which)                    \
	{                                                                                          \
		void *next;                                                                        \
                                                                                                   \
		ct_guard_settle(__builtin_frame_address(0));                                       \
		if (ct_mpi_ask(CT_MPI_##name, which, kind, caller, &next))                         \
			return record_##name CT_MPI_WITH(args, (ct_MPI_##name##_fn *)next);        \
		return next ? ((ct_MPI_##name##_fn *)next)args : CT_MPI_ABSENT;                    \
	}
#define CT_MPI_WRAPPERS(name, params, args, kind)                                                  \
	CT_MPI_ASK(name, params, args, kind)                                                       \
	CT_MPI_WRAPPER(MPI_, CT_MPI_NAME, name, params, args, kind)                                \
	CT_MPI_WRAPPER(PMPI_, CT_PMPI_NAME, name, params, args, kind)

/* The same for functions that make something, or that few programs call: smaller, for some ns more
 * in each call. */
#define CT_MPI_WRAPPERS_SMALL(name, params, args, kind)                                            \
	CT_MPI_ASK(name, params, args, kind)                                                       \
	int ct_MPI_##name params                                                                   \
	{                                                                                          \
		return ask_##name CT_MPI_WITH(args, __builtin_return_address(0), CT_MPI_NAME);     \
	}                                                                                          \
	int ct_PMPI_##name params                                                                  \
	{                                                                                          \
		return ask_##name CT_MPI_WITH(args, __builtin_return_address(0), CT_PMPI_NAME);    \
	}

/* The same of a function whose record_NAME is of the usual kind. `begins` fills in `f`, a `frame`
 * on the wrapper's stack; 0: there is nothing to record of this call. `ends` finds `result`, and
 * ends with ct_guard_leave(). Both may name the parameters. `kind` is DATA or CREATE. */
#define CT_MPI_RECORD(kind, name, params, args, frame, begins, ends)                               \
	CT_MPI_RECORD_MEETING((void)0, kind, name, params, args, frame, begins, ends)
#define CT_MPI_RECORD_SMALL(kind, name, params, args, frame, begins, ends)                         \
	CT_MPI_RECORD_MEETING_SMALL((void)0, kind, name, params, args, frame, begins, ends)

/* ... and `meets` follows a call that goes unrecorded: it may name the `result`
 * (ct_mpi_comm_after()). */
#define CT_MPI_RECORD_MEETING(meets, kind, name, params, args, frame, begins, ends)                \
	CT_MPI_BODY(meets, name, params, args, frame, begins, ends)                                \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_##kind)
#define CT_MPI_RECORD_MEETING_SMALL(meets, kind, name, params, args, frame, begins, ends)          \
	CT_MPI_BODY(meets, name, params, args, frame, begins, ends)                                \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_##kind)
#define CT_MPI_BODY(meets, name, params, args, frame, begins, ends)                                \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		frame f;                                                                           \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (begins) {                                                                      \
			result = real args;                                                        \
			ends;                                                                      \
		} else {                                                                           \
			struct ct_frame unrecorded;                                                \
                                                                                                   \
			ct_guard_pass(&unrecorded);                                                \
			result = real args;                                                        \
			meets;                                                                     \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}

#endif
