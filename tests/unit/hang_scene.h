/* SPDX-License-Identifier: Apache-2.0 */
/* hang_scene.h — a job whose processes ended in ways that are written down, as hang/lives.c is given it. For tests; times in
 * milliseconds since the run began. */
#ifndef CT_HANG_SCENE_H
#define CT_HANG_SCENE_H

#include "analyzer/hang/gather.h"

#define CT_SCENE_MOST 8u
#define CT_SCENE_LAUNCHER 77u
#define CT_SCENE_PID(p) (100u + (p))

/* One process, which is one rank. */
struct ct_scene_process {
	enum ct_end_how how;
	int signal, code;
	uint64_t last;	 /* sign of life */
	uint64_t gone;	 /* when its parent saw that; 0 nobody did */
	uint64_t said;	 /* that it ends; 0 it did not */
	uint64_t killed; /* somebody was seen to send it a signal; 0 nobody */
	int kill_signal;
	uint32_t kill_by;
	uint64_t failed; /* the last that it did, did so; 0 it did not */
	uint64_t waited; /* in its oldest unfinished operation */
	uint64_t err;	 /* of its host's clock */
	uint64_t aborts; /* called MPI_Abort then; 0 it did not */
	uint32_t host;
	int damaged, ring_gone, imported;
	int mpi; /* came back from MPI_Init */
};

struct ct_scene {
	struct ct_run run;
	struct ct_process_info infos[CT_SCENE_MOST];
	struct ct_hang_process processes[CT_SCENE_MOST];
	struct ct_place places[CT_SCENE_MOST];
	struct ct_seat seats[CT_SCENE_MOST];
	uint32_t index[CT_SCENE_MOST];
	struct ct_model_process read[CT_SCENE_MOST];
	struct ct_attempts attempts;
	struct ct_model model;
	struct ct_hang_seen_call calls[CT_SCENE_MOST];
	struct ct_hang_rank ranks[CT_SCENE_MOST];
	uint64_t shift[CT_SCENE_MOST], torn_down[CT_SCENE_MOST];
	struct ct_gather g;
	struct ct_hang_run out;
};

/* All of them judged; the caller frees it. `after_ms`: COMMTRACE_HANG_AFTER. */
struct ct_scene *ct_scene_judged(const struct ct_scene_process *all, uint32_t n, uint64_t after_ms);
void ct_scene_free(struct ct_scene *s);

#endif
