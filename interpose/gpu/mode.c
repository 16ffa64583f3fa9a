/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/mode.h"

#include "trace/format.h"

_Atomic uint32_t ct_gpu_mode;
_Atomic uint32_t ct_gpu_events_used;
static _Atomic uint32_t plugin_loaded;
static struct ct_gpu_options options;

void ct_gpu_mode_init(const struct ct_gpu_options *from)
{
	enum ct_gpu_timing how = from->timing;

	options = *from;
	atomic_store_explicit(&ct_gpu_mode, how, memory_order_relaxed);
	atomic_store_explicit(&ct_gpu_events_used, how != CT_GPU_UNTIMED && how != CT_GPU_PLUGIN,
			      memory_order_relaxed);
	atomic_store_explicit(&plugin_loaded, 0, memory_order_relaxed);
}

void ct_gpu_decide(enum ct_gpu_timing how)
{
	uint32_t open = CT_GPU_PLUGIN_OR_HOST;

	if (atomic_compare_exchange_strong(&ct_gpu_mode, &open, how) && how == CT_GPU_PLUGIN)
		atomic_store_explicit(&ct_gpu_events_used, 0, memory_order_relaxed);
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
	cost->timed_why = (uint8_t)options.why;
	cost->plugin_loaded = (uint8_t)atomic_load_explicit(&plugin_loaded, memory_order_relaxed);
	cost->sample = options.sample < CT_GPU_ALL ? (uint32_t)options.sample : 0;
	cost->budget_millionths = options.budget_millionths;
	cost->duty_on_ms = options.duty_on_ms;
	cost->duty_ms = options.duty_ms;
}
