/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/nccl_bodies.h"

#include <string.h>

#include "tools/sim/nccl/float.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/reduce.h"

/* Small numbers, all of whose sums and products are exact even in eight bits. */
static double value(int rank, size_t i)
{
	return (rank % 2 + 1) << i % 2;
}

static void put(ncclDataType_t type, void *to, size_t i, double v)
{
	switch (type) {
	case ncclInt8:
	case ncclUint8:
		((uint8_t *)to)[i] = (uint8_t)v;
		break;
	case ncclInt32:
	case ncclUint32:
		((uint32_t *)to)[i] = (uint32_t)v;
		break;
	case ncclInt64:
	case ncclUint64:
		((uint64_t *)to)[i] = (uint64_t)v;
		break;
	case ncclFloat32:
		((float *)to)[i] = (float)v;
		break;
	case ncclFloat64:
		((double *)to)[i] = v;
		break;
	case ncclFloat16:
	case ncclBfloat16:
		((uint16_t *)to)[i] = sim_float_encode(type, (float)v);
		break;
	default:
		((uint8_t *)to)[i] = (uint8_t)sim_float_encode(type, (float)v);
	}
}

static double expected(ncclRedOp_t op, ncclDataType_t type, int n, size_t i)
{
	double sum = 0, product = 1, most = 0, least = 1e9;

	for (int r = 0; r < n; r++) {
		double v = value(r, i);

		sum += v;
		product *= v;
		most = v > most ? v : most;
		least = v < least ? v : least;
	}
	switch (op) {
	case ncclProd:
		return product;
	case ncclMax:
		return most;
	case ncclMin:
		return least;
	case ncclAvg:
		return type <= ncclUint64 ? (double)((int)sum / n) : sum / n;
	default:
		return sum;
	}
}

static void reduce_one(struct rank *r, ncclDataType_t type, ncclRedOp_t op, size_t count)
{
	size_t size = sim_type_bytes(type);
	unsigned char *in = device_memory(r, count * size), *out = device_memory(r, count * size);
	unsigned char *want = device_memory(r, count * size);

	for (size_t i = 0; i < count; i++) {
		put(type, in, i, value(r->rank, i));
		put(type, want, i, expected(op, type, r->n, i));
	}
	CHECK(r, !ncclAllReduce(in, out, count, type, op, r->comm, r->stream));
	finish(r);
	if (!CHECK(r, !memcmp(out, want, count * size)))
		check(r, false, __FILE__, (int)type, "type (the line) reduced wrongly");
	release(r, in);
	release(r, out);
	release(r, want);
}

void reduces_every_type(struct rank *r)
{
	join(r);
	for (ncclDataType_t type = ncclInt8; type <= ncclFloat8e5m2; type++)
		for (ncclRedOp_t op = ncclSum; op <= ncclAvg; op++)
			reduce_one(r, type, op, (size_t[]){ 1, 5, 33 }[op % 3]);
	reduce_one(r, ncclFloat32, ncclSum, 0);
	reduce_one(r, ncclFloat32, ncclSum, 200003);
	reduce_one(r, ncclBfloat16, ncclSum, 300001);
}

/* A number that no other element of the test has. */
static uint32_t mark(int rank, size_t i)
{
	return (uint32_t)rank * 10000019u + (uint32_t)i;
}

static uint32_t *marked(struct rank *r, size_t count)
{
	uint32_t *p = device_memory(r, count * sizeof(*p));

	for (size_t i = 0; i < count; i++)
		p[i] = mark(r->rank, i);
	return p;
}

static void check_marks(struct rank *r, const uint32_t *p, int from, size_t first, size_t count)
{
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += p[i] != mark(from, first + i);
	CHECK(r, wrong == 0);
}

static void gather_all(struct rank *r, size_t count)
{
	uint32_t *in = marked(r, count);
	uint32_t *out = device_memory(r, (size_t)r->n * count * sizeof(*out));

	CHECK(r, !ncclAllGather(in, out, count, ncclUint32, r->comm, r->stream));
	finish(r);
	for (int i = 0; i < r->n; i++)
		check_marks(r, out + (size_t)i * count, i, 0, count);
	memset(out, 0, (size_t)r->n * count * sizeof(*out));
	memcpy(out + (size_t)r->rank * count, in, count * sizeof(*out));
	CHECK(r, !ncclAllGather(out + (size_t)r->rank * count, out, count, ncclUint32, r->comm,
				r->stream));
	finish(r);
	for (int i = 0; i < r->n; i++)
		check_marks(r, out + (size_t)i * count, i, 0, count);
	release(r, in);
	release(r, out);
}

static void scatter_sums(struct rank *r, size_t count)
{
	uint32_t *in = marked(r, (size_t)r->n * count);
	uint32_t *out = device_memory(r, count * sizeof(*out));
	size_t wrong = 0;

	CHECK(r, !ncclReduceScatter(in, out, count, ncclUint32, ncclSum, r->comm, r->stream));
	finish(r);
	for (size_t i = 0; i < count; i++) {
		uint32_t want = 0;

		for (int k = 0; k < r->n; k++)
			want += mark(k, (size_t)r->rank * count + i);
		wrong += out[i] != want;
	}
	CHECK(r, wrong == 0);
	CHECK(r, !ncclReduceScatter(in, in + (size_t)r->rank * count, count, ncclUint32, ncclSum,
				    r->comm, r->stream));
	finish(r);
	CHECK(r, !memcmp(in + (size_t)r->rank * count, out, count * sizeof(*out)));
	release(r, in);
	release(r, out);
}

static void use_root(struct rank *r, int root, size_t count)
{
	uint32_t *in = marked(r, count), *out = device_memory(r, count * sizeof(*out));
	bool is_root = r->rank == root;
	size_t wrong = 0;

	CHECK(r, !ncclBroadcast(in, out, count, ncclUint32, root, r->comm, r->stream));
	finish(r);
	check_marks(r, out, root, 0, count);
	CHECK(r, !ncclReduce(in, is_root ? out : NULL, count, ncclUint32, ncclMax, root, r->comm,
			     r->stream));
	finish(r);
	if (is_root)
		check_marks(r, out, r->n - 1, 0, count);
	CHECK(r, !ncclBcast(in, count, ncclUint32, root, r->comm, r->stream));
	finish(r);
	check_marks(r, in, root, 0, count);
	CHECK(r, !ncclAllReduce(in, in, count, ncclUint32, ncclSum, r->comm, r->stream));
	finish(r);
	for (size_t i = 0; i < count; i++)
		wrong += in[i] != (uint32_t)r->n * mark(root, i);
	CHECK(r, wrong == 0);
	release(r, in);
	release(r, out);
}

void moves_blocks(struct rank *r)
{
	static const size_t counts[] = { 0, 1, 17, 20000, 70001 };

	join(r);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		gather_all(r, counts[i]);
		scatter_sums(r, counts[i]);
		use_root(r, (int)i % r->n, counts[i]);
	}
}

static void spread(struct rank *r, size_t count)
{
	size_t all = (size_t)r->n * count;
	uint32_t *in = marked(r, all), *out = device_memory(r, all * sizeof(*out));
	int root = r->n - 1;

	CHECK(r, !ncclAlltoAll(in, out, count, ncclUint32, r->comm, r->stream));
	finish(r);
	for (int i = 0; i < r->n; i++)
		check_marks(r, out + (size_t)i * count, i, (size_t)r->rank * count, count);
	memset(out, 0, all * sizeof(*out));
	CHECK(r, !ncclGather(in, r->rank == root ? out : NULL, count, ncclUint32, root, r->comm,
			     r->stream));
	finish(r);
	for (int i = 0; i < r->n && r->rank == root; i++)
		check_marks(r, out + (size_t)i * count, i, 0, count);
	CHECK(r, !ncclScatter(r->rank == root ? in : NULL, out, count, ncclUint32, root, r->comm,
			      r->stream));
	finish(r);
	check_marks(r, out, root, (size_t)r->rank * count, count);
	release(r, in);
	release(r, out);
}

void spreads_blocks(struct rank *r)
{
	join(r);
	spread(r, 0);
	spread(r, 1);
	spread(r, 3001);
	spread(r, 50021);
}

void exchanges_messages(struct rank *r)
{
	static const size_t counts[] = { 0, 1, 2000, 8192, 8193, 100003 };
	size_t room = 100003;
	uint32_t *in = marked(r, room), *out = device_memory(r, (size_t)r->n * room * sizeof(*out));

	join(r);
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		CHECK(r, !ncclGroupStart());
		for (int i = 0; i < r->n; i++) {
			CHECK(r, !ncclRecv(out + (size_t)i * room, counts[c], ncclUint32, i,
					   r->comm, r->stream));
			CHECK(r, !ncclSend(in, counts[c], ncclUint32, i, r->comm, r->stream));
		}
		CHECK(r, !ncclGroupEnd());
		finish(r);
		for (int i = 0; i < r->n; i++)
			check_marks(r, out + (size_t)i * room, i, 0, counts[c]);
	}
	/* Several between the same two, a long one among short ones. */
	memset(out, 0, room * sizeof(*out));
	CHECK(r, !ncclGroupStart());
	for (size_t i = 0; i < 40; i++) {
		size_t count = i == 20 ? 60000 : 1000;
		size_t at = i <= 20 ? i * 1000 : 60000 + (i - 1) * 1000;

		CHECK(r, !ncclSend(in + at, count, ncclUint32, (r->rank + 1) % r->n, r->comm,
				   r->stream));
		CHECK(r, !ncclRecv(out + at, count, ncclUint32, (r->rank + r->n - 1) % r->n,
				   r->comm, r->stream));
	}
	CHECK(r, !ncclGroupEnd());
	finish(r);
	check_marks(r, out, (r->rank + r->n - 1) % r->n, 0, 99000);
	release(r, in);
	release(r, out);
}

void sends_ahead(struct rank *r)
{
	uint32_t *in = marked(r, 4000), *out = device_memory(r, 4000 * sizeof(*out));

	join(r);
	/* 32 KB fit; they end although no rank receives. */
	if (r->rank == 0) {
		for (size_t i = 0; i < 8; i++)
			CHECK(r, !ncclSend(in + i * 500, 500, ncclUint32, 1, r->comm, r->stream));
		finish(r);
	}
	CHECK(r, !ncclAllReduce(out, out, 1, ncclUint32, ncclSum, r->comm, r->stream));
	if (r->rank == 1) {
		for (size_t i = 0; i < 8; i++)
			CHECK(r, !ncclRecv(out + i * 500, 500, ncclUint32, 0, r->comm, r->stream));
		finish(r);
		check_marks(r, out, 0, 0, 4000);
	}
	finish(r);
	release(r, in);
	release(r, out);
}

void runs_ahead_of_receivers(struct rank *r)
{
	uint32_t *p = marked(r, 50);

	join(r);
	if (r->rank == 0) {
		for (size_t i = 0; i < 4; i++)
			CHECK(r,
			      !ncclBroadcast(p + i, p + i, 1, ncclUint32, 0, r->comm, r->stream));
		finish(r); /* no other rank has arrived, nor will before the message */
	}
	CHECK(r, !ncclGroupStart());
	for (int i = 1; i < r->n && r->rank == 0; i++)
		CHECK(r, !ncclSend(p, 0, ncclUint32, i, r->comm, r->stream));
	if (r->rank)
		CHECK(r, !ncclRecv(p, 0, ncclUint32, 0, r->comm, r->stream));
	CHECK(r, !ncclGroupEnd());
	finish(r);
	for (size_t i = r->rank ? 0 : 4; i < 50; i++)
		CHECK(r, !ncclBroadcast(p + i, p + i, 1, ncclUint32, 0, r->comm, r->stream));
	finish(r);
	check_marks(r, p, 0, 0, 50);
	release(r, p);
}

/* Does the communicator work, and does it have these ranks of the first one in this order? */
static void check_members(struct rank *r, ncclComm_t comm, const int *members, int n)
{
	uint32_t *p = device_memory(r, (size_t)n * sizeof(*p));
	int rank = -1, count = -1, device = -1;

	CHECK(r, !ncclCommUserRank(comm, &rank) && !ncclCommCount(comm, &count));
	CHECK(r, !ncclCommCuDevice(comm, &device) && device == r->rank);
	if (!CHECK(r, count == n && rank >= 0 && rank < n))
		return;
	p[rank] = (uint32_t)r->rank;
	CHECK(r, !ncclAllGather(p + rank, p, 1, ncclUint32, comm, r->stream));
	finish(r);
	for (int i = 0; i < n; i++)
		CHECK(r, p[i] == (uint32_t)members[i]);
	release(r, p);
}

/* Four ranks. */
void splits_and_shrinks(struct rank *r)
{
	ncclComm_t pair = (ncclComm_t)r, turned = NULL, none = (ncclComm_t)r, three = NULL;
	int odd = r->rank % 2;

	join(r);
	CHECK(r, !ncclCommSplit(r->comm, odd, r->rank, &pair, NULL));
	check_members(r, pair, (int[]){ odd, odd + 2 }, 2);
	CHECK(r, !ncclCommSplit(r->comm, 7, -r->rank, &turned, NULL));
	check_members(r, turned, (int[]){ 3, 2, 1, 0 }, 4);
	/* One takes part without getting anything. */
	CHECK(r, !ncclCommSplit(r->comm, r->rank == 2 ? NCCL_SPLIT_NOCOLOR : 0, 0, &none, NULL));
	CHECK(r, (none == NULL) == (r->rank == 2));
	if (none)
		check_members(r, none, (int[]){ 0, 1, 3 }, 3);
	/* A child's child, in a group: not there before its end. */
	CHECK(r, !ncclGroupStart());
	three = (ncclComm_t)r;
	CHECK(r, !ncclCommSplit(turned, r->rank == 0, 0, &three, NULL) && !three);
	CHECK(r, !ncclGroupEnd() && three);
	if (r->rank)
		check_members(r, three, (int[]){ 3, 2, 1 }, 3);
	CHECK(r, !ncclCommDestroy(three) && !ncclCommDestroy(pair) && !ncclCommDestroy(none));
	if (r->rank != 1) {
		CHECK(r, !ncclCommShrink(r->comm, (int[]){ 1 }, 1, &three, NULL, 0));
		check_members(r, three, (int[]){ 0, 2, 3 }, 3);
		CHECK(r, !ncclCommDestroy(three));
	}
	check_members(r, r->comm, (int[]){ 0, 1, 2, 3 }, 4);
	CHECK(r, !ncclCommFinalize(r->comm) && !ncclCommDestroy(turned));
}

/* Four ranks: the first two of them have a communicator, to which the others come. Rank 1 makes the
 * id. */
void grows(struct rank *r)
{
	ncclComm_t pair = NULL, all = NULL, child = NULL;
	ncclUniqueId *told = device_memory(r, 4 * sizeof(*told)), id;
	int is_old = r->rank < 2;

	join(r); /* to show the id by */
	CHECK(r, !ncclCommSplit(r->comm, is_old ? 0 : NCCL_SPLIT_NOCOLOR, 0, &pair, NULL));
	if (r->rank == 1) {
		CHECK(r, !ncclCommGetUniqueId(pair, &id));
		memcpy(told, &id, sizeof(id));
		CHECK(r, ncclCommGetUniqueId(pair, &id) == ncclInvalidUsage);
	}
	CHECK(r, !ncclBroadcast(told, told, sizeof(*told), ncclUint8, 1, r->comm, r->stream));
	finish(r);
	id = *told;
	CHECK(r, ncclCommGrow(pair, is_old ? 2 : 4, &id, is_old ? -1 : 4, &all, NULL) ==
			 ncclInvalidArgument);
	CHECK(r, !ncclCommGrow(pair, 4, r->rank ? &id : NULL, is_old ? -1 : r->rank, &all, NULL));
	check_members(r, all, (int[]){ 0, 1, 2, 3 }, 4);
	if (pair) {
		/* the parent lives on */
		CHECK(r, !ncclCommSplit(pair, 3, -r->rank, &child, NULL));
		check_members(r, child, (int[]){ 1, 0 }, 2);
		CHECK(r, !ncclCommDestroy(child) && !ncclCommDestroy(pair));
	}
	CHECK(r, !ncclCommDestroy(all));
	release(r, told);
}

/* Every rank writes into the next one's window, twice, and signals once more. */
void puts_and_signals(struct rank *r)
{
	enum { N = 5000 };
	uint32_t *in = marked(r, 2 * N), *out = device_memory(r, 3 * N * sizeof(*out));
	int next = (r->rank + 1) % r->n, before = (r->rank + r->n - 1) % r->n;
	ncclWaitSignalDesc_t wait = { 2, before, 0, 0 };
	ncclWindow_t window = NULL;
	void *base = NULL;

	join(r);
	CHECK(r, !ncclCommWindowRegister(r->comm, out, 3 * N * sizeof(*out), &window,
					 NCCL_WIN_COLL_SYMMETRIC));
	CHECK(r, !ncclWinGetUserPtr(r->comm, window, &base) && base == out);
	CHECK(r, !ncclPutSignal(in, N, ncclUint32, next, window, N * sizeof(*out), 0, 0, 0, r->comm,
				r->stream));
	CHECK(r, !ncclGroupStart());
	CHECK(r, !ncclPutSignal(in + N, N, ncclUint32, next, window, 2 * N * sizeof(*out), 0, 0, 0,
				r->comm, r->stream));
	CHECK(r, !ncclWaitSignal(1, &wait, r->comm, r->stream));
	CHECK(r, !ncclGroupEnd());
	finish(r);
	check_marks(r, out + N, before, 0, 2 * N);
	/* one that has not been sent yet */
	wait.opCnt = 1;
	CHECK(r, !ncclWaitSignal(1, &wait, r->comm, r->stream));
	CHECK(r, !ncclSignal(next, 0, 0, 0, r->comm, r->stream) || r->n == 1);
	CHECK(r, ncclPutSignal(in, 3 * N, ncclUint32, next, window, 4, 0, 0, 0, r->comm,
			       r->stream) == ncclInvalidArgument);
	CHECK(r, ncclPutSignal(in, 1, ncclUint32, next, NULL, 0, 0, 0, 0, r->comm, r->stream) ==
			 ncclInvalidArgument);
	CHECK(r, ncclSignal(next, 1, 0, 0, r->comm, r->stream) == ncclInvalidArgument);
	CHECK(r, !ncclCommWindowDeregister(r->comm, window));
	CHECK(r, !ncclCommAbort(r->comm));
	r->comm = NULL;
	finish(r);
	release(r, in);
	release(r, out);
}
