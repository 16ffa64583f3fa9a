/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of one-sided communication: how they are made and freed, and the calls that begin and end epochs. */
#include "interpose/mpi_comm.h"
#include "interpose/mpi_poll.h"

struct make {
	struct ct_host_frame host;
	uint64_t parent;
};

static void begin_window(struct make *m, enum ct_mpi_function function, ct_mpi_handle comm)
{
	struct ct_comm *parent = ct_mpi_comm(comm);

	m->host.rec = ct_mpi_host_rec(function, parent);
	m->parent = parent ? parent->key : 0;
	ct_host_begin(&m->host);
}

static int end_window(struct make *m, int result, const void *win)
{
	if (result == CT_MPI_SUCCESS)
		ct_mpi_win_made(win, m->parent);
	ct_host_end(&m->host, ct_mpi_result(result));
	return result;
}

#define RECORD_WINDOW(name, params, args)                                                          \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct make m;                                                                     \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_window(&m, CT_MPI_##name, comm);                                             \
		return end_window(&m, real args, win);                                             \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

static void begin(struct ct_host_frame *f, enum ct_mpi_function function, const struct ct_comm *win)
{
	f->rec = ct_mpi_host_rec(function, win);
	ct_host_begin(f);
}

static int end(struct ct_host_frame *f, int result)
{
	ct_host_end(f, ct_mpi_result(result));
	return result;
}

/* As communicators, it is over before MPI is asked to end it. */
#define RECORD_UNWINDOW(name, params, args)                                                        \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		const void *key = ct_mpi_key(ct_mpi_handle_at(handle, 0));                         \
		struct ct_host_frame f;                                                            \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin(&f, CT_MPI_##name, ct_comms_find(key));                                      \
		ct_comms_end(key);                                                                 \
		return end(&f, real args);                                                         \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

#define RECORD_EPOCH(name, params, args)                                                           \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_host_frame f;                                                            \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin(&f, CT_MPI_##name, ct_mpi_win(win));                                         \
		return end(&f, real args);                                                         \
	}                                                                                          \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_DATA)

/* Asked again and again until it is time, which is a wait (mpi_poll.h). */
#define RECORD_TRY(name, params, args)                                                             \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		const struct ct_comm *known = ct_mpi_win(win);                                     \
		uint64_t enter_ns = ct_now_ns();                                                   \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real args;                                                                \
		if (result != CT_MPI_SUCCESS || *flag)                                             \
			ct_mpi_poll_done(enter_ns, ct_now_ns());                                   \
		else                                                                               \
			ct_mpi_poll_missed(ct_mpi_call_id(CT_MPI_##name), known ? known->id : 0,   \
					   enter_ns, ct_now_ns());                                 \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_DATA)

#define RECORD_TITLE(name, params, args)                                                           \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *known = ct_mpi_win(win);                                           \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		result = real args;                                                                \
		if (known && result == CT_MPI_SUCCESS)                                             \
			ct_comms_name(known, text);                                                \
		ct_guard_leave();                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS_SMALL(name, params, args, CT_CALL_DATA)

#define RECORD_FENCE(name, params, args)                                                           \
	static CT_UNWIND_WHOLE int record_##name(CT_MPI_LIST params, ct_MPI_##name##_fn *real)     \
	{                                                                                          \
		struct ct_comm *known = ct_mpi_win(win);                                           \
		struct ct_op_frame f;                                                              \
		int result;                                                                        \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		if (known) {                                                                       \
			struct ct_op op = { .op = CT_OP_Fence,                                     \
					    .call = ct_mpi_call_id(CT_MPI_##name),                 \
					    .peer = -1 };                                          \
                                                                                                   \
			op.seq = atomic_fetch_add_explicit(&known->entry->next_seq, 1,             \
							   memory_order_relaxed);                  \
			ct_op_begin(&f, known, &op);                                               \
			result = real args;                                                        \
			ct_op_end(&f, ct_now_ns(), ct_mpi_result(result));                         \
		} else {                                                                           \
			result = real args;                                                        \
			ct_guard_leave();                                                          \
		}                                                                                  \
		return result;                                                                     \
	}                                                                                          \
	CT_MPI_WRAPPERS(name, params, args, CT_CALL_DATA)

#define RECORD(form, ...) RECORD_##form(__VA_ARGS__)
#define MPI_CALL_WINDOW(name, params, args) RECORD(WINDOW, name, params, args)
#define MPI_CALL_WINDOW_C(name, params, args) RECORD(WINDOW, name, params, args)
#define MPI_CALL_UNWINDOW(name, params, args) RECORD(UNWINDOW, name, params, args)
#define MPI_CALL_TITLE(name, params, args) RECORD(TITLE, name, params, args)
#define MPI_CALL_FENCE(name, params, args) RECORD(FENCE, name, params, args)
#define MPI_CALL_EPOCH(name, params, args) RECORD(EPOCH, name, params, args)
#define MPI_CALL_TRY(name, params, args) RECORD(TRY, name, params, args)
#include "interpose/abi/mpi_rma_calls.def"

#define CT_COUNT ct_mpi_count
#define CT_DISPL ct_mpi_aint
#define MPI_CALL_WINDOW_C(name, params, args) RECORD(WINDOW, name##_c, params, args)
#include "interpose/abi/mpi_rma_calls.def"
