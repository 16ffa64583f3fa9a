/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/mode.h"

#include <stdlib.h>

#include "interpose/recorder.h"
#include "trace/format.h"

_Atomic uint32_t ct_gpu_mode;
static _Atomic uint32_t plugin_loaded;
static _Atomic uint32_t why, connections, may_rise;
static _Atomic uint64_t raised_ns, lowered_ns;
static struct ct_gpu_options options;

void ct_gpu_mode_init(const struct ct_gpu_options *from)
{
	enum ct_gpu_timing how = from->timing;

	options = *from;
	atomic_store_explicit(&why, from->why, memory_order_relaxed);
	atomic_store_explicit(&connections, from->connections, memory_order_relaxed);
	atomic_store_explicit(&may_rise, (uint32_t)from->may_rise, memory_order_relaxed);
	atomic_store_explicit(&raised_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&lowered_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&ct_gpu_mode, how, memory_order_relaxed);
	ct_gpu_set_unusual(CT_GPU_NO_EVENTS, how == CT_GPU_UNTIMED || how == CT_GPU_PLUGIN);
	atomic_store_explicit(&plugin_loaded, 0, memory_order_relaxed);
}

void ct_gpu_decide(enum ct_gpu_timing how)
{
	uint32_t open = CT_GPU_PLUGIN_OR_HOST;

	if (atomic_compare_exchange_strong_explicit(&ct_gpu_mode, &open, how, memory_order_acq_rel,
						    memory_order_acquire) &&
	    how == CT_GPU_PLUGIN)
		ct_gpu_set_unusual(CT_GPU_NO_EVENTS, 1);
}

/* Timed events are given up, also those that were to come. 0: there are none. This and
 * ct_gpu_mode_rise() change two words in opposite order; acq_rel: whichever comes second to
 * `may_rise` sees what the other did before. */
static int calm_down(enum ct_timed_why because)
{
	uint32_t timed = CT_GPU_TIMED;
	int was_early = (int)atomic_exchange_explicit(&may_rise, 0, memory_order_acq_rel);
	int was_timed = options.is_auto &&
			atomic_compare_exchange_strong_explicit(&ct_gpu_mode, &timed, CT_GPU_HOST,
								memory_order_acq_rel,
								memory_order_acquire);

	if (was_timed)
		atomic_store_explicit(&lowered_ns, ct_now_ns(), memory_order_relaxed);
	if (was_timed || was_early)
		atomic_store_explicit(&why, because, memory_order_relaxed);
	return was_timed;
}

int ct_gpu_mode_may_rise(void)
{
	return (int)atomic_load_explicit(&may_rise, memory_order_relaxed);
}

int ct_gpu_mode_rise(void)
{
	uint32_t host = CT_GPU_HOST, timed = CT_GPU_TIMED;

	if (!ct_gpu_mode_may_rise() ||
	    !atomic_compare_exchange_strong_explicit(&ct_gpu_mode, &host, CT_GPU_TIMED,
						     memory_order_acq_rel, memory_order_acquire))
		return 0;
	/* calm_down() may have come before, and not have seen that */
	if (!atomic_exchange_explicit(&may_rise, 0, memory_order_acq_rel)) {
		atomic_compare_exchange_strong_explicit(&ct_gpu_mode, &timed, CT_GPU_HOST,
							memory_order_acq_rel, memory_order_acquire);
		return 0;
	}
	atomic_store_explicit(&raised_ns, ct_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&why, CT_TIMED_WHY_AUTO, memory_order_relaxed);
	return 1;
}

int ct_gpu_mode_lower(void)
{
	return calm_down(CT_TIMED_WHY_SLOWER);
}

void ct_gpu_mode_connected(void)
{
	unsigned n = ct_gpu_connections(getenv("CUDA_DEVICE_MAX_CONNECTIONS"));

	atomic_store_explicit(&connections, n, memory_order_relaxed);
	if (n < CT_GPU_FEW_CONNECTIONS)
		calm_down(n == 1 ? CT_TIMED_WHY_ONE_CONNECTION : CT_TIMED_WHY_STREAMS);
}

/* Streams that compute and copy are not always seen; those that communicate are. Anchors have one
 * of their own. */
int ct_gpu_mode_is_crowded(uint32_t streams, uint32_t launching)
{
	uint32_t others = launching + CT_GPU_FEW_CONNECTIONS - 2;
	uint32_t all = 1 + (streams > others ? streams : others);

	return all > atomic_load_explicit(&connections, memory_order_relaxed) &&
	       calm_down(CT_TIMED_WHY_STREAMS);
}

void ct_gpu_mode_distrust(void)
{
	atomic_store_explicit(&why, CT_TIMED_WHY_CLOCK, memory_order_relaxed);
}

void ct_gpu_plugin_loaded(void)
{
	atomic_store_explicit(&plugin_loaded, 1, memory_order_relaxed);
	ct_gpu_decide(CT_GPU_PLUGIN);
}

void ct_gpu_ledger(struct ct_cost_rec *cost)
{
	static const uint8_t by[] = {
		[CT_GPU_UNTIMED] = CT_TIMED_BY_NOTHING,
		[CT_GPU_TIMED] = CT_TIMED_BY_EVENTS,
		[CT_GPU_UNANCHORED] = CT_TIMED_BY_EVENTS,
		[CT_GPU_HOST] = CT_TIMED_BY_HOST,
		[CT_GPU_PLUGIN] = CT_TIMED_BY_PLUGIN,
		[CT_GPU_PLUGIN_OR_HOST] = CT_TIMED_BY_UNKNOWN,
	};

	cost->timed_by = by[ct_gpu_timing()];
	cost->timed_why = (uint8_t)atomic_load_explicit(&why, memory_order_relaxed);
	cost->plugin_loaded = (uint8_t)atomic_load_explicit(&plugin_loaded, memory_order_relaxed);
	cost->sample = options.sample < CT_GPU_ALL ? (uint32_t)options.sample : 0;
	cost->budget_millionths = options.budget_millionths;
	cost->raised_ns = atomic_load_explicit(&raised_ns, memory_order_relaxed);
	cost->lowered_ns = atomic_load_explicit(&lowered_ns, memory_order_relaxed);
	cost->duty_on_ms = options.duty_on_ms;
	cost->duty_ms = options.duty_ms;
}
