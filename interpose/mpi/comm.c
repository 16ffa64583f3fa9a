/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/comm.h"

#include <errno.h>

#include "interpose/hash.h"
#include "interpose/identity.h"
#include "interpose/spin.h"

#define NAME_BYTES 512 /* size: more than MPI_MAX_OBJECT_NAME of any flavour: 64 to 256 */

extern char **environ;

static _Atomic uint32_t adopting; /* a thread is counting one that was met, not made */

int ct_mpi_comm_init(void)
{
	const struct ct_process *p = &ct_recorder.process;
	uint64_t who = ct_hash_mix(ct_hash_mix(p->hostkey, p->pid), p->start_ns);

	atomic_store_explicit(&adopting, 0, memory_order_relaxed);
	return ct_mpi_members_init(p->job, ct_identity_env(environ, "PMIX_NAMESPACE"), who);
}

/* 0: it has none. */
static uint32_t name_of(ct_mpi_handle handle, enum ct_mpi_kind kind)
{
	char name[NAME_BYTES];
	int len = 0, status;

	name[0] = '\0';
	status = kind == CT_MPI_KIND_COMM ? ct_mpi.call.Comm_get_name(handle, name, &len)
					  : ct_mpi.call.Win_get_name(handle, name, &len);
	return status == CT_MPI_SUCCESS && name[0] ? ct_ring_string(&ct_recorder.ring, name) : 0;
}

/* `met`: its creation was not seen. */
static struct ct_traced_comm *create(ct_mpi_handle handle, enum ct_mpi_kind kind, uint64_t parent,
				     const struct ct_mpi_members *members, uint32_t name, int met)
{
	struct ct_comm_spec spec = {
		.handle = { ct_mpi_key(handle), NULL },
		.parent = parent,
		.backend = CT_BACKEND_MPI,
		.nranks = members->n,
		.rank = members->rank,
		.name = name,
		.members = members->is_foreign || members->n_remote ? 0 : members->hash,
		.first_peer = members->first_peer,
		.n_peers = members->n_remote,
	};

	spec.key = met ? ct_mpi_members_key_met(members, &spec.source)
		       : ct_mpi_members_key(members, kind, &spec.source);
	return ct_comms_create(&spec);
}

static struct ct_traced_comm *adopt(ct_mpi_handle handle, enum ct_mpi_kind kind, int met)
{
	struct ct_mpi_members members;
	struct ct_traced_comm *comm;
	uint32_t name;
	int saved = errno;

	/* without space the lookup would fail again at each call */
	if (!ct_comms_has_room() ||
	    !(kind == CT_MPI_KIND_COMM ? ct_mpi_members_of_comm(handle, &members)
				       : ct_mpi_members_of_win(handle, &members)))
		return NULL;
	name = name_of(handle, kind);
	/* threads that meet the same one at once must not count it twice; MPI was asked before,
	 * nothing here waits */
	if (!ct_spin_lock(&adopting, CT_SPIN_TRIES))
		return NULL;
	comm = ct_comms_find(ct_mpi_key(handle));
	if (!comm)
		comm = create(handle, kind, 0, &members, name, met);
	ct_spin_unlock(&adopting);
	ct_self.comm = comm;
	errno = saved;
	return comm;
}

struct ct_traced_comm *ct_mpi_comm_new(ct_mpi_handle handle)
{
	int is_always_there = ct_mpi_is(handle, ct_mpi.is.COMM_WORLD) ||
			      ct_mpi_is(handle, ct_mpi.is.COMM_SELF);

	return is_always_there && ct_mpi_has_world() ? adopt(handle, CT_MPI_KIND_COMM, 0) : NULL;
}

struct ct_traced_comm *ct_mpi_comm_after(ct_mpi_handle handle, int result)
{
	struct ct_traced_comm *comm = ct_recorder_comm(ct_mpi_key(handle));

	if (comm || result != CT_MPI_SUCCESS || ct_mpi_is(handle, ct_mpi.is.COMM_NULL))
		return comm;
	return adopt(handle, CT_MPI_KIND_COMM, 1);
}

struct ct_traced_comm *ct_mpi_win_after(ct_mpi_handle handle, int result)
{
	struct ct_traced_comm *win = ct_recorder_comm(ct_mpi_key(handle));

	if (win || result != CT_MPI_SUCCESS || ct_mpi_is(handle, ct_mpi.is.WIN_NULL))
		return win;
	return adopt(handle, CT_MPI_KIND_WIN, 1);
}

void ct_mpi_comm_world(void)
{
	uint64_t parent = 0;

	ct_mpi_comm(ct_mpi.is.COMM_WORLD);
	if (ct_mpi.call.Comm_get_parent(&parent) == CT_MPI_SUCCESS &&
	    !ct_mpi_is(ct_mpi_handle_at(&parent, 0), ct_mpi.is.COMM_NULL))
		adopt(ct_mpi_handle_at(&parent, 0), CT_MPI_KIND_COMM, 0);
}

void ct_mpi_comm_made(const void *at, uint64_t parent, const struct ct_mpi_members *members)
{
	ct_mpi_handle handle = ct_mpi_handle_at(at, 0);
	struct ct_mpi_members found;
	int saved = errno;

	if (ct_mpi_is(handle, ct_mpi.is.COMM_NULL) ||
	    (!members && !ct_mpi_members_of_comm(handle, &found)))
		return;
	create(handle, CT_MPI_KIND_COMM, parent, members ? members : &found, 0, 0);
	errno = saved;
}

void ct_mpi_win_made(const void *at, uint64_t parent)
{
	ct_mpi_handle handle = ct_mpi_handle_at(at, 0);
	struct ct_mpi_members members;
	int saved = errno;

	if (ct_mpi_is(handle, ct_mpi.is.WIN_NULL) || !ct_mpi_members_of_win(handle, &members))
		return;
	create(handle, CT_MPI_KIND_WIN, parent, &members, 0, 0);
	errno = saved;
}

struct ct_traced_comm *ct_mpi_comm_found(ct_mpi_handle handle)
{
	return ct_mpi_comm(handle);
}

struct ct_traced_comm *ct_mpi_comm_entered(ct_mpi_handle handle, struct ct_op_frame *f)
{
	struct ct_traced_comm *comm = ct_mpi_comm(handle);

	if (comm)
		ct_op_enter(f);
	return comm;
}

struct ct_host_rec ct_mpi_host_rec(enum ct_mpi_function function, const struct ct_traced_comm *comm)
{
	return ct_host_rec_of(ct_mpi_call_id(function), comm);
}

int ct_mpi_host_begin(struct ct_host_frame *f, enum ct_mpi_function function,
		      const struct ct_traced_comm *comm)
{
	f->rec = ct_mpi_host_rec(function, comm);
	ct_host_begin(f);
	return 1;
}
