/* SPDX-License-Identifier: Apache-2.0 */
/* sim_copies.c — a process with several copies of the simulated NCCL: two that are called by
 * libraries which are linked with them and were opened with RTLD_LOCAL, and two that it looks
 * functions up in. All have communicators at the same time and take turns. Every copy counts its own
 * kernels and knows its own groups: what each is asked for has to arrive there and nowhere else.
 *
 * sim_copies USER USER COPY COPY    USER: libsim_copies_userN.so
 * prints `COPY CALL COUNT` for what it calls: the truth of the test. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/e2e/sim_copies.h"
#include "tools/sim/cudart.h"

#define MUST(condition) ((condition) ? (void)0 : must_not(__LINE__, #condition))
static void must_not(int line, const char *what)
{
	fprintf(stderr, "sim_copies: line %d: not %s: %s\n", line, what, dlerror());
	exit(1);
}

enum { RANKS = 2, COPIES = 4, MOST = 4000 };

static struct copy {
	struct sim_copies_calls calls;
	int number;
	ncclComm_t comms[RANKS];
	cudaStream_t streams[RANKS];
	float *data[RANKS];
	_Atomic int kernels, asked; /* counted by the copy itself, and by us */
} copies[COPIES];

/* One for each copy to call. */
#define COUNTER(n)                                                                                 \
	static void count##n(const struct sim_nccl_span *span)                                     \
	{                                                                                          \
		(void)span;                                                                        \
		copies[n].kernels++;                                                               \
	}
COUNTER(0)
COUNTER(1)
COUNTER(2)
COUNTER(3)
static void (*const counters[COPIES])(const struct sim_nccl_span *) = { count0, count1, count2,
									count3 };

static void look_up(struct sim_copies_calls *calls, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	MUST(handle);
#define LOOK(name)                                                                                 \
	calls->name = (__typeof__(calls->name))dlsym(handle, #name);                               \
	MUST(calls->name);
	SIM_COPIES_FUNCTIONS(LOOK)
}

static void take_users(struct sim_copies_calls *calls, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct sim_copies_calls *(*own)(void);

	MUST(handle);
	own = (const struct sim_copies_calls *(*)(void))dlsym(handle, "sim_copies_own");
	MUST(own);
	*calls = *own();
}

static void prepare(struct copy *c)
{
	const float one = 1;

	c->calls.simNcclOnKernel(counters[c->number - 1]);
	printf("%d ncclCommInitAll %d\n", c->number, RANKS);
	MUST(c->calls.ncclCommInitAll(c->comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&c->streams[i], 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&c->data[i], MOST * sizeof(one)) == cudaSuccess);
		MUST(cudaMemcpy(c->data[i], &one, sizeof(one), cudaMemcpyHostToDevice) ==
		     cudaSuccess);
	}
}

static void all_reduce(struct copy *c, size_t count)
{
	MUST(c->calls.ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		printf("%d ncclAllReduce %zu\n", c->number, count);
		c->asked++;
		MUST(c->calls.ncclAllReduce(c->data[i], c->data[i], count, ncclFloat32, ncclSum,
					    c->comms[i], c->streams[i]) == ncclSuccess);
	}
	printf("%d ncclGroupEnd 0\n", c->number);
	MUST(c->calls.ncclGroupEnd() == ncclSuccess);
}

static void check(const struct copy *c, float expected)
{
	float got;

	for (int i = 0; i < RANKS; i++) {
		MUST(cudaStreamSynchronize(c->streams[i]) == cudaSuccess);
		MUST(cudaMemcpy(&got, c->data[i], sizeof(got), cudaMemcpyDeviceToHost) ==
		     cudaSuccess);
		MUST(got == expected);
	}
	/* (a stream shows its kernels when it has come to it) */
	for (int ms = 0; ms < 5000 && c->kernels < c->asked; ms++)
		usleep(1000);
	MUST(c->kernels == c->asked);
}

/* One copy does not know the other's groups. */
static void strangers(struct copy *one, struct copy *other)
{
	ncclUniqueId id;

	printf("%d ncclGetUniqueId 0\n", one->number);
	MUST(one->calls.ncclGetUniqueId(&id) == ncclSuccess);
	MUST(one->calls.ncclGroupStart() == ncclSuccess);
	printf("%d ncclGroupEnd 0\n%d ncclGroupEnd 0\n", other->number, one->number);
	MUST(other->calls.ncclGroupEnd() != ncclSuccess);
	MUST(one->calls.ncclGroupEnd() == ncclSuccess);
}

int main(int argc, char **argv)
{
	MUST(argc == 5);
	/* first: who needs a libnccl.so.2 gets the one that is there */
	take_users(&copies[0].calls, argv[1]);
	take_users(&copies[1].calls, argv[2]);
	look_up(&copies[2].calls, argv[3]);
	look_up(&copies[3].calls, argv[4]);
	for (int i = 0; i < COPIES; i++) {
		copies[i].number = i + 1;
		prepare(&copies[i]);
	}
	for (size_t round = 0; round < 5; round++)
		for (int i = 0; i < COPIES; i++)
			all_reduce(&copies[i], (size_t)(i + 1) * 100 + round);
	for (int i = 0; i < COPIES; i++) {
		check(&copies[i], 32);
		strangers(&copies[i], &copies[(i + 1) % COPIES]);
	}
	for (int i = 0; i < COPIES; i++)
		for (int rank = 0; rank < RANKS; rank++)
			MUST(copies[i].calls.ncclCommDestroy(copies[i].comms[rank]) == ncclSuccess);
	return 0;
}
