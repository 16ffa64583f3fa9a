/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h — what a launch is, and how launches are timed: types that time.h and the files below it
 * share. */
#ifndef CT_INTERPOSE_GPU_CHOICE_LAUNCH_H
#define CT_INTERPOSE_GPU_CHOICE_LAUNCH_H

#include <stdint.h>

#include "interpose/abi/cuda.h"

enum ct_gpu_timing {
	CT_GPU_UNTIMED,	   /* ops say so, launches are not recorded, and CUDA is left alone */
	CT_GPU_TIMED,	   /* with events and anchors */
	CT_GPU_UNANCHORED, /* with events: where all streams share one connection an anchor would
			      wait for all */
	CT_GPU_HOST,   /* ends only, as the host sees them: one event without timing a launch, no
			  anchors */
	CT_GPU_PLUGIN, /* by NCCL's profiler interface (profiled.h): CUDA is used only for streams */
	CT_GPU_PLUGIN_OR_HOST, /* not decided: CT_GPU_PLUGIN if ct_gpu_plugin_loaded() (mode.h)
				  comes before the first launch; what was made for CT_GPU_HOST until
				  then is left unused */
};

/* Where a stream's work goes now: to itself, to a capture, or unknown, and then the stream is left
 * alone. If it was not queried yet, it is queried when the launch begins. */
enum ct_gpu_capture { CT_GPU_UNASKED, CT_GPU_FREE, CT_GPU_CAPTURED, CT_GPU_UNKNOWN };

/* What is launched: all that one outermost group end puts on one stream of one communicator. */
struct ct_gpu_launch {
	uint64_t enter_ns; /* of its first op */
	uint64_t seq;	   /* of its first op */
	uint64_t bytes;	   /* of all its ops */
	CUstream stream;
	uint32_t id;   /* as in its ops */
	uint32_t comm; /* struct ct_traced_comm's id */
	uint32_t n_ops;
	uint32_t device; /* CUDA device of the communicator + 1, 0 not known: the default streams
			    are its */
	enum ct_gpu_capture asked;
	CUcontext
		current; /* the calling thread's context, if it was asked for just now; else NULL */
	int32_t peer;	 /* or root, of its first op; -1 none */
	uint8_t op;	 /* of its first op, trace/ops.def */
	uint8_t unpicked; /* none of its ops is to be timed (sampling.h): it gets a record without
			     times */
};

#endif
