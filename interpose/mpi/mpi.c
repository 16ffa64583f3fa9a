/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/mpi.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "interpose/errors.h"
#include "interpose/log.h"
#include "interpose/mpi/comm.h"

/* By enum ct_mpi_function; no pointers, so that loading the library costs nothing for them. */
#define LONGEST 40 /* size: checked below for each name */
static const char names[CT_MPI_FUNCTIONS][LONGEST] = {
#define MPI_FUNCTION(name, params, args) "PMPI_" #name,
#include "interpose/abi/mpi_functions.def"
};
static const void *const wrappers[CT_MPI_FUNCTIONS][2] = {
#define MPI_FUNCTION(name, params, args)                                                           \
	{ (const void *)&ct_MPI_##name, (const void *)&ct_PMPI_##name },
#include "interpose/abi/mpi_functions.def"
};
#define MPI_FUNCTION(name, params, args)                                                           \
	_Static_assert(sizeof("PMPI_" #name) <= LONGEST, "names has space for it and its end");
#include "interpose/abi/mpi_functions.def"

struct ct_real ct_mpi_reals[CT_MPI_FUNCTIONS][2];
_Atomic uint16_t ct_mpi_call_ids[CT_MPI_FUNCTIONS];
static _Atomic uint32_t adopting; /* a thread is getting to know the library */
static int has_helpers;		  /* the adopting thread */

static const char *symbol_of(uint32_t function, uint32_t name)
{
	return names[function] + (name == CT_MPI_NAME);
}

/* Threads that come at once all store the same; `symbol` last (release). */
static struct ct_real *real_of(uint32_t function, uint32_t name)
{
	struct ct_real *real = &ct_mpi_reals[function][name];

	if (!atomic_load_explicit(&real->symbol, memory_order_acquire)) {
		atomic_store_explicit(&real->self, wrappers[function][name], memory_order_relaxed);
		atomic_store_explicit(&real->names, ct_mpi_sonames, memory_order_relaxed);
		atomic_store_explicit(&real->symbol, symbol_of(function, name),
				      memory_order_release);
	}
	return real;
}

void *ct_mpi_find(enum ct_mpi_function function, enum ct_mpi_name name, const void *caller)
{
	return ct_real_find(real_of(function, name), caller);
}

struct ct_real *ct_mpi_real(const char *symbol)
{
	uint32_t name = symbol[0] == 'P' ? CT_PMPI_NAME : CT_MPI_NAME;

	for (uint32_t i = 0; i < CT_MPI_FUNCTIONS; i++)
		if (strcmp(symbol_of(i, name), symbol) == 0)
			return real_of(i, name);
	return NULL;
}

void *ct_mpi_entry(struct ct_real *real, void *function)
{
	int saved = errno;
	uintptr_t object = ct_real_object(function);
	void *before = NULL;

	errno = saved;
	if (!object)
		return NULL;
	for (struct ct_real_caller *c = &real->first; c;
	     c = (struct ct_real_caller *)(uintptr_t)ct_real_after(real, c))
		/* acquire: the function is stored before */
		if (atomic_load_explicit(&c->bytes, memory_order_acquire) &&
		    c->function != function)
			return NULL;
	if (!atomic_compare_exchange_strong_explicit(&real->elsewhere, &before, function,
						     memory_order_acq_rel, memory_order_acquire) &&
	    before != function)
		return NULL;
	if (!before)
		ct_real_keep(function);
	errno = saved;
	return (void *)(uintptr_t)real->self;
}

uint16_t ct_mpi_intern(enum ct_mpi_function function)
{
	uint16_t id = (uint16_t)ct_ring_string(&ct_recorder.ring, symbol_of(function, CT_MPI_NAME));

	atomic_store_explicit(&ct_mpi_call_ids[function], id, memory_order_relaxed);
	return id;
}

void ct_mpi_init(int wanted)
{
	for (uint32_t i = 0; i < CT_MPI_FUNCTIONS; i++)
		atomic_store_explicit(&ct_mpi_call_ids[i], 0, memory_order_relaxed);
	atomic_store_explicit(&adopting, 0, memory_order_relaxed);
	has_helpers = 0;
	atomic_store_explicit(&ct_mpi.way, wanted ? CT_MPI_ASK : CT_MPI_PASS, memory_order_release);
}

void ct_mpi_over(void)
{
	atomic_store_explicit(&ct_mpi.way, CT_MPI_PASS, memory_order_release);
}

int ct_mpi_class(int result)
{
	int class = 0;

	return ct_mpi.call.Error_class(result, &class) == CT_MPI_SUCCESS ? class : result;
}

/* size: MPI_MAX_ERROR_STRING of all flavours is at most half of it. */
#define ERROR_BYTES 1024

static void record_error(uint32_t comm, uint32_t call, int result, int class)
{
	const struct ct_error error = {
		.comm = comm, .call = call, .result = class, .backend = CT_BACKEND_MPI
	};
	char text[ERROR_BYTES] = "";
	int len = 0;

	if (!ct_error_is_new(&error))
		return;
	if (ct_mpi.call.Error_string &&
	    ct_mpi.call.Error_string(result, text, &len) != CT_MPI_SUCCESS)
		text[0] = '\0';
	ct_error_record(&error, text);
}

void ct_mpi_failed_op(struct ct_op_frame *f, uint64_t now_ns, int result)
{
	int class = ct_mpi_class(result);
	uint32_t comm, call;

	if (ct_error_of_slot(f->slot, &comm, &call))
		record_error(comm, call, result, class);
	ct_op_end(f, now_ns, class);
}

void ct_mpi_failed_host(struct ct_host_frame *f, int result)
{
	int class = ct_mpi_class(result);

	record_error(f->rec.comm, f->rec.call, result, class);
	ct_host_end(f, class);
}

static enum ct_mpi_way get_to_know(const void *caller)
{
	int is_initialised = 0, is_finalised = 0;

	if (!has_helpers && !(has_helpers = ct_mpi_find_helpers(caller))) {
		ct_log("MPI lacks functions that every MPI has: its calls pass");
		return CT_MPI_PASS;
	}
	if (ct_mpi.call.Initialized(&is_initialised) != CT_MPI_SUCCESS ||
	    (!is_initialised && !ct_mpi_sessions()))
		return CT_MPI_ASK;
	if (ct_mpi.call.Finalized(&is_finalised) != CT_MPI_SUCCESS || is_finalised)
		return CT_MPI_PASS;
	if (ct_mpi_find_flavour() == CT_MPI_UNKNOWN) {
		ct_log("an MPI of no known flavour: its calls pass");
		return CT_MPI_PASS;
	}
	if (is_initialised)
		ct_mpi_comm_world();
	return CT_MPI_RECORD;
}

/* Another thread is at it. Its calls into MPI are local; wait for it, but not forever. */
static int wait_for_other(void)
{
	for (uint32_t tries = 0; tries < 1u << 20; tries++) {
		if (!atomic_load_explicit(&adopting, memory_order_acquire))
			return 1;
		sched_yield();
	}
	return 0;
}

int ct_mpi_adopt(const void *caller)
{
	int saved = errno;
	uint32_t way;

	while ((way = ct_mpi_look()) == CT_MPI_ASK) {
		uint32_t none = 0;

		/* acquire: pairs with the release of the thread that asked before */
		if (atomic_compare_exchange_strong_explicit(
			    &adopting, &none, 1, memory_order_acquire, memory_order_relaxed)) {
			way = ct_mpi_look();
			if (way == CT_MPI_ASK)
				way = get_to_know(caller);
			atomic_store_explicit(&ct_mpi.way, way, memory_order_release);
			atomic_store_explicit(&adopting, 0, memory_order_release);
			break;
		}
		if (!wait_for_other()) {
			ct_ring_lose(&ct_recorder.ring, CT_LOSS_MPI_NOT_KNOWN, 1);
			break;
		}
	}
	errno = saved;
	return way == CT_MPI_RECORD;
}

int ct_mpi_enter(enum ct_guard_call kind, const void *caller)
{
	if (!ct_guard_enter(kind))
		return 0;
	if (ct_mpi_adopt(caller)) {
		ct_self.caller = caller;
		return 1;
	}
	ct_guard_leave();
	return 0;
}

int ct_mpi_ask(enum ct_mpi_function function, enum ct_mpi_name name, enum ct_guard_call kind,
	       const void *caller, void **next)
{
	*next = ct_mpi_find(function, name, caller);
	return *next && ct_mpi_enter(kind, caller);
}
