/* SPDX-License-Identifier: Apache-2.0 */
/* The communicators of the plugin, what we request from NCCL, and which copy may record. */
#include <errno.h>
#include <string.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/driver/cuda.h"
#include "interpose/gpu/kernel_events.h"
#include "interpose/nccl/nccl.h"
#include "interpose/profiler/event.h"
#include "interpose/profiler/handle.h"
#include "interpose/recorder.h"
#include "trace/pages.h"

/* fact: the first version that reports the GPU's timer. */
#define TIMES_SINCE 4

static struct ct_profiler_comm *pool;
static int may_time_alone;
static _Atomic uint32_t times_wanted; /* by version: from this one on; 0: of none */

static struct name {
	_Atomic uint32_t id; /* string id, 0: free or being filled. release: text is there */
	_Atomic uint32_t taken;
	char text[24];
} names[32];

int ct_profiler_init(int alone)
{
	void *map = ct_pages_map(CT_COMMS_MAX * sizeof(*pool));

	if (!map || ct_profiler_handles_init() != CT_OK)
		return CT_NOMEM;
	pool = map;
	may_time_alone = alone;
	memset(names, 0, sizeof(names));
	ct_kernel_events_init();
	atomic_store_explicit(&times_wanted, 0, memory_order_relaxed);
	return CT_OK;
}

uint32_t ct_profiler_number(const struct ct_profiler_comm *comm)
{
	return (uint32_t)(comm - pool);
}

struct ct_profiler_comm *ct_profiler_nth(uint32_t number)
{
	return &pool[number % CT_COMMS_MAX];
}

/* ---- what NCCL reports
 * -------------------------------------------------------------------------------------------------
 */

int ct_profiler_has_times(const struct ct_profiler_comm *c)
{
	return c->has_times && ct_kernel_events_are_reported();
}

/* Kernels only if they are to be timed: it costs NCCL time. */
static void ask(struct ct_profiler_comm *c)
{
	uint32_t since = atomic_load_explicit(&times_wanted, memory_order_relaxed);
	int mask = NCCL_PROFILE_COLL | NCCL_PROFILE_P2P;

	if (c->version >= CT_PROFILER_CALLS_SINCE)
		mask |= NCCL_PROFILE_COLL_API | NCCL_PROFILE_P2P_API;
	if (since && c->version >= since)
		mask |= NCCL_PROFILE_KERNEL_CH;
	c->has_times = (uint8_t)ct_kernel_events_request(c->mask, mask);
}

int ct_profiler_is_active(void)
{
	for (uint32_t i = 0; pool && i < CT_COMMS_MAX; i++)
		if (atomic_load_explicit(&pool[i].taken, memory_order_acquire) == 2)
			return pool[i].version >= TIMES_SINCE;
	return 0;
}

/* ---- who may record
 * ---------------------------------------------------------------------------------------------------
 */

static enum ct_profiler_way way_in(enum ct_guard_call kind)
{
	uint32_t gate = ct_guard_gate();

	if (gate & CT_GATE_ON && ct_self.gate == gate && ct_self.depth)
		return CT_PROFILER_IN_WRAPPER;
	return ct_guard_enter(kind) ? CT_PROFILER_BY_ITSELF : CT_PROFILER_OUT;
}

enum ct_profiler_way ct_profiler_enter(const struct ct_profiler_comm *c)
{
	/* what a forked child has of its parent is not its own */
	return c->gate == ct_guard_gate() ? way_in(CT_CALL_DATA) : CT_PROFILER_OUT;
}

void ct_profiler_leave(enum ct_profiler_way way)
{
	if (way == CT_PROFILER_BY_ITSELF)
		ct_guard_leave();
}

/* ---- communicators
 * -----------------------------------------------------------------------------------------------------
 */

static struct ct_profiler_comm *claim_comm(void)
{
	for (uint32_t i = 0; i < CT_COMMS_MAX; i++) {
		uint32_t free = 0;

		if (!atomic_load_explicit(&pool[i].taken, memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(
			    &pool[i].taken, &free, 1, memory_order_acquire, memory_order_relaxed))
			return &pool[i];
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_PLUGIN_FULL, 1);
	return NULL;
}

static uint16_t current_device(void)
{
	const struct ct_cuda *cuda = ct_cuda_find();
	CUcontext context = NULL;
	CUdevice device = -1;

	if (!cuda || cuda->ctx_get_current(&context) != CUDA_SUCCESS || !context)
		return 0;
	return cuda->ctx_get_device(&device) == CUDA_SUCCESS ? (uint16_t)(device + 1) : 0;
}

static void fill(struct ct_profiler_comm *c, const struct ct_profiler_open *what, int alone)
{
	c->gate = ct_guard_gate();
	c->version = what->version;
	c->hash = what->hash;
	c->n_ranks = what->n_ranks;
	c->rank = what->rank;
	c->mask = what->mask;
	c->name = alone && what->name ? ct_ring_string(&ct_recorder.ring, what->name) : 0;
	c->device = alone ? current_device() : 0;
	c->group = NULL;
	c->launch = c->profiled = 0;
	memset(&c->order, 0, sizeof(c->order));
	atomic_store_explicit(&c->own, NULL, memory_order_relaxed);
	ask(c);
	atomic_store_explicit(&c->taken, 2, memory_order_release);
}

static struct ct_profiler_comm *open_comm(const struct ct_profiler_open *what)
{
	int alone = !atomic_load_explicit(&ct_nccl_seen, memory_order_relaxed);
	const struct ct_detail_rec rec = {
		.peer = -1,
		.channels = (uint8_t)what->version,
		.flags = (alone ? CT_DETAIL_ALONE : 0) |
			 (*what->mask & CT_PROFILER_HANDED_ON ? CT_DETAIL_COPY : 0),
	};
	struct ct_profiler_comm *c = claim_comm();

	if (!c) {
		__atomic_store_n(what->mask, 0, __ATOMIC_RELAXED);
		return NULL;
	}
	if (what->version >= TIMES_SINCE)
		ct_gpu_plugin_loaded();
	if (ct_gpu_timing() == CT_GPU_PLUGIN)
		atomic_store_explicit(&times_wanted, TIMES_SINCE, memory_order_relaxed);
	else if (alone && may_time_alone)
		atomic_store_explicit(&times_wanted, CT_PROFILER_CALLS_SINCE, memory_order_relaxed);
	fill(c, what, alone);
	ct_recorder_rare(CT_KIND_DETAIL, &rec);
	return c;
}

struct ct_profiler_comm *ct_profiler_open(const struct ct_profiler_open *what)
{
	int saved = errno;
	enum ct_profiler_way way = way_in(CT_CALL_CREATE);
	struct ct_profiler_comm *c = NULL;

	if (way != CT_PROFILER_OUT && ct_nccl_is_wanted)
		c = open_comm(what);
	else
		__atomic_store_n(what->mask, 0, __ATOMIC_RELAXED);
	ct_profiler_leave(way);
	errno = saved;
	return c;
}

void ct_profiler_close(struct ct_profiler_comm *c)
{
	enum ct_profiler_way way = c ? ct_profiler_enter(c) : CT_PROFILER_OUT;
	int saved = errno;

	if (way == CT_PROFILER_OUT)
		return;
	ct_gpu_profiled_close(&c->order);
	ct_kernel_events_close(c->mask);
	if (atomic_load_explicit(&c->own, memory_order_relaxed))
		ct_comms_end(c);
	atomic_store_explicit(&c->taken, 0, memory_order_release);
	ct_profiler_leave(way);
	errno = saved;
}

/* ---- names
 * ----------------------------------------------------------------------------------------------------------------
 */

uint32_t ct_profiler_string(const char *text)
{
	const unsigned n = sizeof(names) / sizeof(names[0]);

	for (unsigned i = 0; text && text[0] && i < n; i++) {
		struct name *name = &names[i];
		uint32_t id = atomic_load_explicit(&name->id, memory_order_acquire);
		uint32_t free = 0;

		if (id && strncmp(name->text, text, sizeof(name->text) - 1) == 0)
			return id;
		if (id || !atomic_compare_exchange_strong_explicit(&name->taken, &free, 1,
								   memory_order_relaxed,
								   memory_order_relaxed))
			continue;
		strncpy(name->text, text, sizeof(name->text) - 1);
		id = ct_ring_string(&ct_recorder.ring, name->text);
		atomic_store_explicit(&name->id, id, memory_order_release);
		return id;
	}
	return 0;
}

/* NCCL names its functions without their prefix. */
uint8_t ct_profiler_op(const char *func, uint16_t *call)
{
	static const struct {
		const char *name;
		uint8_t op, call;
	} ops[] = {
#define NCCL_CALL(symbol, name, since, op, ...) { symbol, CT_OP_##op, CT_NCCL_##name },
#include "interpose/abi/nccl_calls.def"
	};

	for (unsigned i = 0; func && i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name + strlen("nccl"), func) != 0)
			continue;
		if (call)
			*call = ct_nccl_call_ids[ops[i].call];
		return ops[i].op;
	}
	return 0;
}

uint8_t ct_profiler_dtype(const char *type)
{
	static const struct {
		const char *name;
		uint8_t dtype;
	} types[] = {
#define NCCL_DTYPE(name, value, dtype) { #name, CT_DTYPE_##dtype },
#include "interpose/abi/nccl_values.def"
	};

	for (unsigned i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type) == 0)
			return types[i].dtype;
	return 0;
}
