/* SPDX-License-Identifier: Apache-2.0 */
/* gloo_shim.c — a preload behind the tracer that counts what its process sends and receives through
 * Gloo, with each peer: the truth for what the trace says of it. It counts in a file,
 * GLOO_SHIM_DIR/RANK, which outlives the process: for each peer four 64-bit numbers, messages and
 * bytes sent, messages and bytes received. Ranks in a communicator are ranks of the job here. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define PEERS 64
#define SEND "_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm"
#define RECV "_ZN4gloo9transport3tcp13UnboundBuffer4recvEimmm"

typedef void (*transfer_fn)(void *buffer, int peer, uint64_t slot, uint64_t offset, uint64_t bytes);

static _Atomic uint64_t (*counts)[4];

__attribute__((constructor)) static void begin(void)
{
	const char *dir = getenv("GLOO_SHIM_DIR"), *rank = getenv("RANK");
	char path[256];
	int fd;

	if (!dir || !rank)
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, rank);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, PEERS * sizeof(*counts)) != 0)
		abort();
	counts = mmap(NULL, PEERS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counts == MAP_FAILED)
		abort();
}

static void count(const void *buffer, int peer, uint64_t offset, uint64_t bytes, int received)
{
	uint64_t whole = ((const uint64_t *)buffer)[2]; /* UnboundBuffer::size */

	if (!counts || peer < 0 || peer >= PEERS)
		return;
	if (bytes == UINT64_MAX)
		bytes = whole - offset;
	atomic_fetch_add(&counts[peer][2 * received], 1);
	atomic_fetch_add(&counts[peer][2 * received + 1], bytes);
}

PUBLIC void shim_send(void *buffer, int peer, uint64_t slot, uint64_t offset,
		      uint64_t bytes) __asm__(SEND);
PUBLIC void shim_recv(void *buffer, int peer, uint64_t slot, uint64_t offset,
		      uint64_t bytes) __asm__(RECV);

void shim_send(void *buffer, int peer, uint64_t slot, uint64_t offset, uint64_t bytes)
{
	((transfer_fn)dlsym(RTLD_NEXT, SEND))(buffer, peer, slot, offset, bytes);
	count(buffer, peer, offset, bytes, 0);
}

void shim_recv(void *buffer, int peer, uint64_t slot, uint64_t offset, uint64_t bytes)
{
	((transfer_fn)dlsym(RTLD_NEXT, RECV))(buffer, peer, slot, offset, bytes);
	count(buffer, peer, offset, bytes, 1);
}
