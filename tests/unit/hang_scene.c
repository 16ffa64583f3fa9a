/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/hang_scene.h"

#include <stdlib.h>

#include "trace/status.h"

#define MS 1000000ull

static struct ct_end end_of(const struct ct_scene_process *p)
{
	return (struct ct_end){ .how = p->how,
				.signal = p->signal,
				.exit_code = p->code,
				.after_ns = p->last * MS,
				.before_ns = p->gone ? p->gone * MS : UINT64_MAX,
				.said_ns = p->said * MS,
				.seen_by = p->gone ? CT_SCENE_LAUNCHER : 0,
				.kill_ns = p->killed * MS,
				.kill_signal = p->kill_signal,
				.kill_by = p->kill_by };
}

struct ct_scene *ct_scene_judged(const struct ct_scene_process *all, uint32_t n, uint64_t after_ms)
{
	struct ct_scene *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	for (uint32_t i = 0; i < n; i++) {
		const struct ct_scene_process *p = &all[i];
		struct ct_process_facts facts = { .clocks = 1, .wall_err_ns = p->err * MS };

		s->infos[i].id.pid = CT_SCENE_PID(i);
		s->infos[i].id.hang_after_ns = after_ms * MS;
		s->infos[i].id.ring_kind = p->imported ? CT_RING_NONE : CT_RING_SHARED;
		s->infos[i].ring = p->ring_gone ? CT_RING_NOT_FOUND : CT_RING_ARCHIVED;
		s->processes[i] = (struct ct_hang_process){ .end = end_of(p),
							    .last_sign_ns = p->last * MS,
							    .failed_ns = p->failed * MS,
							    .waited_ns = p->waited * MS,
							    .damaged = p->damaged };
		s->read[i] = (struct ct_model_process){ .facts = facts, .read = 1 };
		s->places[i].host = p->host;
		s->seats[i] = (struct ct_seat){ .rank = (int)i, .process = i };
		s->index[i] = i;
		s->ranks[i].rank = (int)i;
		if (p->aborts)
			s->calls[s->g.n_calls++] = (struct ct_hang_seen_call){
				.rec.enter_ns = p->aborts * MS,
				.call = "MPI_Abort",
				.kind = CT_HOST_ABORT,
				.process = i,
			};
		if (p->mpi)
			s->calls[s->g.n_calls++] = (struct ct_hang_seen_call){
				.rec.enter_ns = MS,
				.rec.return_ns = 2 * MS,
				.call = "MPI_Init_thread",
				.kind = CT_HOST_INIT,
				.process = i,
			};
		if (p->host >= s->attempts.n_hosts)
			s->attempts.n_hosts = p->host + 1;
	}
	s->run = (struct ct_run){ .processes = s->infos, .n_processes = n };
	s->g.run = &s->run;
	s->attempts.places = s->places;
	s->model = (struct ct_model){ .run = &s->run,
				      .attempts = &s->attempts,
				      .seats = s->seats,
				      .n_seats = n,
				      .shift = s->shift,
				      .processes = s->read };
	s->g.model = &s->model;
	s->g.processes = s->processes;
	s->g.ranks = s->index;
	s->g.calls = s->calls;
	s->g.torn_down = s->torn_down;
	s->g.memory = ct_arena_new();
	s->out.hang_after_ns = after_ms * MS;
	s->out.hang_case.ranks = s->ranks;
	s->out.hang_case.n_ranks = n;
	if (ct_hang_lives(&s->g, &s->out) != CT_OK)
		abort();
	return s;
}

void ct_scene_free(struct ct_scene *s)
{
	ct_table_fini(&s->g.texts);
	ct_arena_free(s->g.memory);
	free(s);
}
