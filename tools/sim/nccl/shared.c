/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/shared.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "tools/sim/nccl/log.h"

#define PAGE 4096u

/* The first bytes of a unique id. The rest is zero. */
struct address {
	uint64_t magic;
	pid_t pid;
	int fd;
};

/* Making and closing descriptors that other threads may close and have made. */
static pthread_mutex_t descriptors = PTHREAD_MUTEX_INITIALIZER;

static size_t pages(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Sets the parts of the view from its base; returns the size of all. */
static size_t lay_out(struct sim_view *view, unsigned char *base, size_t n)
{
	size_t at = pages(sizeof(struct sim_shared));

	view->shared = (void *)base;
	view->members = (void *)(base + at);
	at += pages(n * sizeof(*view->members));
	view->pairs = (void *)(base + at);
	at += pages(n * n * sizeof(*view->pairs));
	view->slots = base + at;
	at += n * SIM_SLOTS * SIM_SLOT_BYTES;
	view->fifos = base + at;
	at += n * n * SIM_FIFO_BYTES;
	return at;
}

static bool make_file(struct address *a)
{
	a->fd = memfd_create("sim-nccl", MFD_CLOEXEC);
	if (a->fd < 0)
		return false;
	if (!ftruncate(a->fd, PAGE) &&
	    pwrite(a->fd, &a->magic, sizeof(a->magic), offsetof(struct sim_shared, magic)) ==
		    sizeof(a->magic))
		return true;
	close(a->fd);
	return false;
}

ncclResult_t sim_shared_create(ncclUniqueId *id)
{
	uint64_t magic;

	if (getrandom(&magic, sizeof(magic), 0) != sizeof(magic))
		return ncclSystemError;
	return sim_shared_create_as(id, magic);
}

uint64_t sim_shared_magic(const ncclUniqueId *id)
{
	struct address a;

	memcpy(&a, id->internal, sizeof(a));
	return a.magic;
}

ncclResult_t sim_shared_create_as(ncclUniqueId *id, uint64_t magic)
{
	struct address a = { .magic = magic, .pid = getpid() };
	bool made;

	pthread_mutex_lock(&descriptors);
	made = make_file(&a);
	pthread_mutex_unlock(&descriptors);
	if (!made)
		return ncclSystemError;
	memset(id, 0, sizeof(*id));
	memcpy(id->internal, &a, sizeof(a));
	return ncclSuccess;
}

/* The file behind a descriptor number of another process may be any by now: the magic shows which. */
static int open_file(const struct address *a)
{
	char path[64];
	uint64_t magic = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)a->pid, a->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (pread(fd, &magic, sizeof(magic), offsetof(struct sim_shared, magic)) == sizeof(magic) &&
	    magic == a->magic)
		return fd;
	close(fd);
	return -1;
}

/* The first to come gives the file its size. */
static ncclResult_t size_file(int fd, uint32_t n_ranks, const struct sim_waiter *who)
{
	struct sim_view view;
	struct sim_shared *head = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ncclResult_t result = ncclSuccess;
	uint32_t unset = 0;

	if (head == MAP_FAILED)
		return ncclSystemError;
	if (atomic_compare_exchange_strong(&head->sized, &unset, 1)) {
		head->n_ranks = n_ranks;
		if (ftruncate(fd, (off_t)lay_out(&view, NULL, n_ranks)))
			result = ncclSystemError;
		sim_gate_add(&head->ready, 1);
	} else if (!sim_gate_wait(&head->ready, 1, who)) {
		result = ncclInternalError;
	}
	if (!result && head->n_ranks != n_ranks) {
		sim_warn("Bootstrap Root : mismatch in rank count from procs %u : %u",
			 head->n_ranks, n_ranks);
		result = ncclInvalidArgument;
	}
	munmap(head, PAGE);
	return result;
}

static ncclResult_t map_file(struct sim_view *view, int fd, size_t n_ranks)
{
	size_t bytes = lay_out(view, NULL, n_ranks);
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (base == MAP_FAILED) {
		view->bytes = 0;
		return ncclSystemError;
	}
	lay_out(view, base, n_ranks);
	view->bytes = bytes;
	return ncclSuccess;
}

static ncclResult_t claim(struct sim_view *view, int rank, const struct sim_member *self)
{
	struct sim_member *m = &view->members[rank];
	uint32_t unset = 0;

	if (!atomic_compare_exchange_strong(&m->claimed, &unset, 1)) {
		sim_warn("Bootstrap Root : rank %d of %u ranks has already checked in", rank,
			 view->shared->n_ranks);
		return ncclInvalidArgument;
	}
	m->pid = getpid();
	m->device = self->device;
	m->global_rank = self->global_rank;
	m->node = self->node;
	return ncclSuccess;
}

/* No rank needs the file's descriptor any more. Several ranks of the process that made it may come
 * here at once. */
static void close_file(struct sim_view *view, const struct address *a)
{
	uint64_t magic = a->magic;

	pthread_mutex_lock(&descriptors);
	if (a->pid == getpid() && atomic_compare_exchange_strong(&view->shared->magic, &magic, 0))
		close(a->fd);
	pthread_mutex_unlock(&descriptors);
}

ncclResult_t sim_shared_attach(struct sim_view *view, const ncclUniqueId *id, int rank, int n_ranks,
			       const struct sim_member *self, const struct sim_waiter *who)
{
	struct address a;
	ncclResult_t result;
	int fd;

	view->bytes = 0;
	memcpy(&a, id->internal, sizeof(a));
	fd = open_file(&a);
	if (fd < 0) {
		sim_warn("bootstrap: the process of the unique id cannot be reached");
		return ncclRemoteError;
	}
	result = size_file(fd, (uint32_t)n_ranks, who);
	if (!result)
		result = map_file(view, fd, (size_t)n_ranks);
	close(fd);
	if (!result)
		result = claim(view, rank, self);
	if (result)
		return result;
	sim_gate_add(&view->shared->attached, (uint32_t)n_ranks);
	if (!sim_gate_wait(&view->shared->attached, (uint32_t)n_ranks, who))
		result = ncclInternalError;
	close_file(view, &a);
	return result;
}

void sim_shared_detach(struct sim_view *view)
{
	if (view->bytes)
		munmap(view->shared, view->bytes);
	view->bytes = 0;
}
