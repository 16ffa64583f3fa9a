/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

enum {
	FIRST_FAULT_SLOT = 1 << 20, /* see tools/workload/weave.c */
	FAULT_SLOTS = 8,
	SAMPLES = 8, /* elements of an op that are compared */
};

struct slot {
	struct {
		void *at;
		size_t bytes;
	} send, receive;
};

struct simjob_data {
	const struct simjob *job;
	int rank;
	struct slot *slots;
	size_t n_slots;
	struct slot fault_slots[FAULT_SLOTS];
	uint64_t hash;	     /* of the step so far; the computing stream's */
	uint64_t *checksums; /* by step */
	_Atomic int is_stopped;
};

/* What a host function on a stream works on. */
struct host_function_work {
	struct simjob_data *data;
	struct ct_workload_op op;
	struct simjob_buffers buffers;
	uint64_t step;
};

struct simjob_data *simjob_data_make(const struct simjob *job, int rank)
{
	struct simjob_data *data = calloc(1, sizeof(*data));

	if (!data)
		return NULL;
	data->job = job;
	data->rank = rank;
	data->checksums = calloc(job->options.config.steps, sizeof(*data->checksums));
	return data->checksums ? data : NULL;
}

static struct slot *find_slot(struct simjob_data *data, uint32_t number)
{
	struct slot *more;
	size_t n = data->n_slots ? data->n_slots : 64;

	if (number >= FIRST_FAULT_SLOT)
		return &data->fault_slots[(number - FIRST_FAULT_SLOT) % FAULT_SLOTS];
	while (n <= number)
		n *= 2;
	if (n > data->n_slots) {
		more = realloc(data->slots, n * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + data->n_slots, 0, (n - data->n_slots) * sizeof(*more));
		data->slots = more;
		data->n_slots = n;
	}
	return &data->slots[number];
}

static int members(const struct simjob_data *data, const struct ct_workload_op *op)
{
	return ct_workload_comm(data->job->workload, op->comm)->n;
}

static int comm_rank(const struct simjob_data *data, const struct ct_workload_op *op)
{
	return ct_workload_peer(data->job->workload, op->comm, data->rank);
}

static int is_root(const struct simjob_data *data, const struct ct_workload_op *op)
{
	return op->peer == comm_rank(data, op);
}

static uint64_t n_sent(const struct simjob_data *data, const struct ct_workload_op *op)
{
	return ct_workload_sends(op, members(data, op), is_root(data, op));
}

static uint64_t n_received(const struct simjob_data *data, const struct ct_workload_op *op)
{
	return ct_workload_receives(op, members(data, op), is_root(data, op));
}

/* A buffer that is too small stays: something may still be on its way to it. */
static cudaError_t make_room(void **at, size_t *size, size_t bytes)
{
	cudaError_t error;

	if (bytes <= *size)
		return cudaSuccess;
	error = cudaMalloc(at, bytes);
	if (!error) {
		memset(*at, 0, bytes);
		*size = bytes;
	}
	return error;
}

cudaError_t simjob_data_buffers(struct simjob_data *data, const struct ct_workload_op *op,
				struct simjob_buffers *buffers)
{
	const unsigned size = ct_workload_dtype_bytes(op->dtype);
	const size_t sent = n_sent(data, op) * size, received = n_received(data, op) * size;
	struct slot *slot = find_slot(data, op->slot);
	cudaError_t error = slot ? cudaSuccess : cudaErrorMemoryAllocation;

	*buffers = (struct simjob_buffers){ 0 };
	if (!error && op->in_place)
		error = make_room(&slot->send.at, &slot->send.bytes,
				  sent > received ? sent : received);
	if (!error && !op->in_place && sent)
		error = make_room(&slot->send.at, &slot->send.bytes, sent);
	if (!error && !op->in_place && received)
		error = make_room(&slot->receive.at, &slot->receive.bytes, received);
	if (error)
		return error;
	buffers->send = sent || op->in_place ? slot->send.at : NULL;
	buffers->receive = op->in_place ? slot->send.at : received ? slot->receive.at : NULL;
	return cudaSuccess;
}

/* Element i of what `rank` gives to the op: 0 to 3. */
static unsigned element(const struct ct_workload_op *op, int rank, uint64_t i)
{
	const uint64_t seed = (op->key ^ (uint64_t)rank) * 0xbf58476d1ce4e5b9;

	return (unsigned)(((seed ^ seed >> 31) + i * 0x9e3779b97f4a7c15) >> 62);
}

/* How 0, 1, 2 and 3 look in a type. */
static const uint64_t *patterns(unsigned dtype)
{
	static const uint64_t f64[] = { 0, 0x3ff0000000000000, 0x4000000000000000,
					0x4008000000000000 };
	static const uint64_t f32[] = { 0, 0x3f800000, 0x40000000, 0x40400000 };
	static const uint64_t bf16[] = { 0, 0x3f80, 0x4000, 0x4040 };
	static const uint64_t f16[] = { 0, 0x3c00, 0x4000, 0x4200 };
	static const uint64_t whole[] = { 0, 1, 2, 3 };

	return dtype == CT_DTYPE_float64    ? f64
	       : dtype == CT_DTYPE_float32  ? f32
	       : dtype == CT_DTYPE_bfloat16 ? bf16
	       : dtype == CT_DTYPE_float16  ? f16
					    : whole;
}

static void produce(void *arg)
{
	struct host_function_work *work = arg;
	const uint64_t n = n_sent(work->data, &work->op);
	const uint64_t *as = patterns(work->op.dtype);
	const int rank = work->data->rank;

#define FILL(type)                                                                                 \
	for (uint64_t i = 0; i < n; i++)                                                           \
	((type *)work->buffers.send)[i] = (type)as[element(&work->op, rank, i)]
	switch (ct_workload_dtype_bytes(work->op.dtype)) {
	case 1:
		FILL(uint8_t);
		break;
	case 2:
		FILL(uint16_t);
		break;
	case 4:
		FILL(uint32_t);
		break;
	default:
		FILL(uint64_t);
		break;
	}
#undef FILL
	free(work);
}

/* NAN: of a type that is not looked at. */
static double value_at(const void *at, unsigned dtype, uint64_t i)
{
	uint32_t bits;
	float value;

	switch (dtype) {
	case CT_DTYPE_float32:
		return (double)((const float *)at)[i];
	case CT_DTYPE_bfloat16:
		bits = (uint32_t)((const uint16_t *)at)[i] << 16;
		memcpy(&value, &bits, sizeof(value));
		return (double)value;
	case CT_DTYPE_int32:
		return ((const int32_t *)at)[i];
	case CT_DTYPE_int64:
		return (double)((const int64_t *)at)[i];
	default:
		return NAN;
	}
}

static double reduced(const struct simjob_data *data, const struct ct_workload_op *op, uint64_t i)
{
	const struct ct_workload *w = data->job->workload;
	const int n = members(data, op);
	double sum = 0, most = 0;

	for (int p = 0; p < n; p++) {
		const double one = element(op, ct_workload_member(w, op->comm, p), i);

		sum += one;
		most = one > most ? one : most;
	}
	return op->redop == CT_REDOP_max ? most : op->redop == CT_REDOP_avg ? sum / n : sum;
}

/* What must be at index i of the buffer that the op brought. */
static double expected(const struct simjob_data *data, const struct ct_workload_op *op, uint64_t i)
{
	const struct ct_workload *w = data->job->workload;
	const uint64_t own = (uint64_t)comm_rank(data, op), count = op->count;

	switch (op->op) {
	case CT_OP_AllReduce:
	case CT_OP_Reduce:
		return reduced(data, op, i);
	case CT_OP_ReduceScatter:
		return reduced(data, op, own * count + i);
	case CT_OP_Broadcast:
	case CT_OP_Recv:
		return element(op, ct_workload_member(w, op->comm, op->peer), i);
	case CT_OP_AllGather:
		return element(op, ct_workload_member(w, op->comm, (int)(i / count)), i % count);
	case CT_OP_AllToAll:
		return element(op, ct_workload_member(w, op->comm, (int)(i / count)),
			       own * count + i % count);
	default:
		return NAN;
	}
}

static void check(struct simjob_data *data, const struct ct_workload_op *op, const void *at,
		  uint64_t n)
{
	uint64_t wrong = 0;

	for (uint64_t k = 0; k < SAMPLES && k < n; k++) {
		const uint64_t i = k * (n - 1) / SAMPLES + (k ? n / SAMPLES / 2 : 0);
		const double is = value_at(at, op->dtype, i), should = expected(data, op, i);

		/* Averages are rounded. */
		wrong += fabs(is - should) > 0.01 * fabs(should);
	}
	if (wrong)
		atomic_fetch_add(&data->job->board->ranks[data->rank].wrong, wrong);
}

static void consume(void *arg)
{
	struct host_function_work *work = arg;
	struct simjob_data *data = work->data;
	const uint64_t n = n_received(data, &work->op);
	size_t bytes = n * ct_workload_dtype_bytes(work->op.dtype);
	const unsigned char *at = work->buffers.receive;
	uint64_t hash = data->hash, word;

	if (!work->op.bent && !data->is_stopped)
		check(data, &work->op, at, n);
	for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
	}
	for (; bytes; bytes--, at++)
		hash = (hash ^ *at) * 0x100000001b3;
	data->hash = hash;
	free(work);
}

static void end_step(void *arg)
{
	struct host_function_work *work = arg;

	work->data->checksums[work->step] = work->data->hash;
	work->data->hash = 0;
	free(work);
}

static cudaError_t put(struct simjob_data *data, const struct ct_workload_op *op,
		       cudaHostFn_t function, uint64_t step, cudaStream_t stream)
{
	struct host_function_work *work = malloc(sizeof(*work));
	cudaError_t error = work ? cudaSuccess : cudaErrorMemoryAllocation;

	if (error)
		return error;
	*work = (struct host_function_work){ .data = data, .step = step };
	if (op) {
		work->op = *op;
		error = simjob_data_buffers(data, op, &work->buffers);
	}
	if (!error)
		error = cudaLaunchHostFunc(stream, function, work);
	if (error)
		free(work);
	return error;
}

cudaError_t simjob_data_produce(struct simjob_data *data, const struct ct_workload_op *op,
				cudaStream_t stream)
{
	return n_sent(data, op) ? put(data, op, produce, 0, stream) : cudaSuccess;
}

cudaError_t simjob_data_consume(struct simjob_data *data, const struct ct_workload_op *op,
				cudaStream_t stream)
{
	return n_received(data, op) ? put(data, op, consume, 0, stream) : cudaSuccess;
}

cudaError_t simjob_data_deed(struct simjob_data *data, const struct ct_workload_op *op,
			     int consumes, simjob_deed_fn **deed, void **arg)
{
	struct host_function_work *work;
	cudaError_t error;

	*deed = NULL;
	if (!(consumes ? n_received(data, op) : n_sent(data, op)))
		return cudaSuccess;
	work = malloc(sizeof(*work));
	if (!work)
		return cudaErrorMemoryAllocation;
	*work = (struct host_function_work){ .data = data, .op = *op };
	error = simjob_data_buffers(data, op, &work->buffers);
	*deed = consumes ? consume : produce;
	*arg = work;
	return error;
}

cudaError_t simjob_data_end_step(struct simjob_data *data, uint64_t step, cudaStream_t stream)
{
	return put(data, NULL, end_step, step, stream);
}

void simjob_data_stop(struct simjob_data *data)
{
	data->is_stopped = 1;
}

uint64_t simjob_data_checksum(const struct simjob_data *data, uint64_t step)
{
	return data->checksums[step];
}
