/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/model.h"

#include <pthread.h>
#include <stdlib.h>

#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/job.h"

#define MAX_DEVICES 1024

struct slow_link {
	int src, dst;
	double factor;
};

static struct sim_links links = {
	.alpha_ns = 8000,
	.hop_ns = 500,
	.node_Bps = 200000000000u,
	.net_Bps = 25000000000u,
	.jitter = 0.02,
	.end_skew_ns = 3000,
};
static int global_ranks[MAX_DEVICES]; /* plus one; 0: not reported */
static struct slow_link *slow;
static size_t n_slow;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all above */

void simNcclLinks(const struct sim_links *given)
{
	pthread_mutex_lock(&lock);
	links = *given;
	pthread_mutex_unlock(&lock);
}

void simNcclRank(CUdevice device, int rank)
{
	if (device < 0 || device >= MAX_DEVICES)
		return;
	pthread_mutex_lock(&lock);
	global_ranks[device] = rank + 1;
	pthread_mutex_unlock(&lock);
}

int sim_model_rank(int device)
{
	int rank;

	if (device < 0 || device >= MAX_DEVICES)
		return -1;
	pthread_mutex_lock(&lock);
	rank = global_ranks[device] - 1;
	pthread_mutex_unlock(&lock);
	return rank;
}

void simNcclSlowLink(int src, int dst, double factor)
{
	struct slow_link *more;
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < n_slow && (slow[i].src != src || slow[i].dst != dst))
		i++;
	if (i == n_slow) {
		more = realloc(slow, (n_slow + 1) * sizeof(*slow));
		if (!more)
			abort();
		slow = more;
		n_slow++;
	}
	slow[i] = (struct slow_link){ src, dst, factor };
	pthread_mutex_unlock(&lock);
}

/* ns for one byte; with the lock. */
static double ns_per_byte(const struct sim_member *from, const struct sim_member *to)
{
	double rate = (double)(from->node == to->node ? links.node_Bps : links.net_Bps);

	for (size_t i = 0; i < n_slow; i++)
		if (slow[i].src == from->global_rank && slow[i].dst == to->global_rank)
			rate *= slow[i].factor;
	return rate > 0 ? 1e9 / rate : 0;
}

uint64_t sim_model_ring(const struct sim_member *members, int n, double wire_bytes)
{
	double slowest = 0, ns;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < n; i++) {
		double edge = ns_per_byte(&members[i], &members[(i + 1) % n]);

		slowest = edge > slowest ? edge : slowest;
	}
	ns = (double)links.alpha_ns + (double)links.hop_ns * (n - 1) + wire_bytes * slowest;
	pthread_mutex_unlock(&lock);
	return (uint64_t)ns;
}

uint64_t sim_model_message(const struct sim_member *from, const struct sim_member *to,
			   uint64_t bytes, uint64_t *transfer)
{
	uint64_t ns;

	pthread_mutex_lock(&lock);
	*transfer = (uint64_t)((double)bytes * ns_per_byte(from, to));
	ns = links.alpha_ns + *transfer;
	pthread_mutex_unlock(&lock);
	return ns;
}

uint64_t sim_model_jitter(uint64_t ns, uint64_t comm, uint64_t what, uint64_t which)
{
	double by;

	pthread_mutex_lock(&lock);
	by = 1 + links.jitter * (2 * sim_chance(links.seed, comm, what, which) - 1);
	pthread_mutex_unlock(&lock);
	return by > 0 ? (uint64_t)((double)ns * by) : 0;
}

uint64_t sim_model_skew(uint64_t comm, uint64_t launch, int rank)
{
	double ns;

	pthread_mutex_lock(&lock);
	ns = (double)links.end_skew_ns *
	     sim_chance(~links.seed, comm, launch, (uint64_t)(unsigned)rank);
	pthread_mutex_unlock(&lock);
	return (uint64_t)ns;
}
