/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/causes.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

#define EDGE_KEY (1ull << 63) /* code: set in the key of a link; a communicator's is its index */

/* ---- paths ---- */

static int set_slots(const struct ct_track *t, struct ct_path *path)
{
	uint32_t room = t->is_edge ? 2 : t->comm->nranks;

	path->slots = calloc((size_t)room + 1, sizeof(*path->slots));
	if (!path->slots)
		return CT_NOMEM;
	if (t->is_edge) {
		path->slots[path->n++] = t->src;
		path->slots[path->n++] = t->dst;
	}
	for (uint32_t r = 0; r < room && !t->is_edge; r++) {
		if (t->comm->slots[r])
			path->slots[path->n++] = t->comm->slots[r] - 1;
	}
	qsort(path->slots, path->n, sizeof(*path->slots), ct_by_u32);
	return CT_OK;
}

/* The operations of a communicator are one path: slow if those with most of its time are. */
static int add_track(const struct ct_transfers *all, const struct ct_comparison *cmp, uint32_t t,
		     struct ct_table *by_key, struct ct_causes *out)
{
	const struct ct_track *track = &all->tracks[t];
	uint64_t key = track->is_edge ? EDGE_KEY | t : track->comm->index;
	uintptr_t at = (uintptr_t)ct_table_get(by_key, key);
	struct ct_path *path;

	if (!at) {
		at = (uintptr_t)++out->n_paths;
		path = &out->paths[at - 1];
		path->track = t;
		path->n_hosts = track->n_hosts;
		if (ct_table_put(by_key, key, (void *)at) || set_slots(track, path))
			return CT_NOMEM;
	}
	path = &out->paths[at - 1];
	out->path_of[t] = (uint32_t)at - 1;
	if (track->ns > all->tracks[path->track].ns)
		path->track = t;
	path->all_ns += track->ns;
	path->slow_ns += cmp->of[t].state == CT_TOMO_SLOW_ONE ? track->ns : 0;
	path->good_ns += cmp->of[t].state == CT_TOMO_GOOD_ONE ? track->ns : 0;
	return CT_OK;
}

static int make_paths(const struct ct_transfers *all, const struct ct_comparison *cmp,
		      struct ct_causes *out)
{
	struct ct_table by_key = { 0 };
	int st = CT_OK;

	out->paths = calloc((size_t)all->n_tracks + 1, sizeof(*out->paths));
	out->path_of = calloc((size_t)all->n_tracks + 1, sizeof(*out->path_of));
	if (!out->paths || !out->path_of)
		return CT_NOMEM;
	for (uint32_t t = 0; t < all->n_tracks && st == CT_OK; t++)
		st = add_track(all, cmp, t, &by_key, out);
	ct_table_fini(&by_key);
	for (uint32_t p = 0; p < out->n_paths; p++) {
		struct ct_path *path = &out->paths[p];

		if (path->slow_ns > path->all_ns / 2)
			path->state = CT_TOMO_SLOW_ONE;
		else if (path->good_ns >= path->all_ns / 2 && path->slow_ns <= 0)
			path->state = CT_TOMO_GOOD_ONE;
	}
	return st;
}

/* ---- suspects ---- */

/* Paths within hosts, or between them, as a question about ranks or about hosts. */
struct suspects {
	struct ct_tomo_comm *comms;
	uint32_t *path_of; /* by comm */
	uint32_t *units;   /* all of them */
	uint32_t n;
	struct ct_tomo answer;
};

static void question_fini(struct suspects *q)
{
	free(q->comms);
	free(q->path_of);
	free(q->units);
	ct_tomo_fini(&q->answer);
}

/* `seen`: by unit, the path that it was last found in, + 1. */
static uint32_t put_units(const struct ct_path *path, uint32_t stamp, const uint32_t *host_of,
			  int of_hosts, uint32_t *seen, uint32_t *units)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < path->n; s++) {
		uint32_t unit = of_hosts ? host_of[path->slots[s]] : path->slots[s];

		if (seen[unit] == stamp)
			continue;
		seen[unit] = stamp;
		units[n++] = unit;
	}
	return n;
}

static int ask(const struct ct_causes *in, const uint32_t *host_of, int between_hosts, int of_hosts,
	       uint32_t n_units, struct suspects *q)
{
	uint32_t *seen = calloc((size_t)n_units + 1, sizeof(*seen));
	size_t room = 0, at = 0;
	int st = CT_NOMEM;

	*q = (struct suspects){ 0 };
	for (uint32_t p = 0; p < in->n_paths; p++)
		room += in->paths[p].n;
	q->comms = calloc((size_t)in->n_paths + 1, sizeof(*q->comms));
	q->path_of = calloc((size_t)in->n_paths + 1, sizeof(*q->path_of));
	q->units = calloc(room + 1, sizeof(*q->units));
	if (!seen || !q->comms || !q->path_of || !q->units)
		goto out;
	for (uint32_t p = 0; p < in->n_paths; p++) {
		const struct ct_path *path = &in->paths[p];
		struct ct_tomo_comm *comm = &q->comms[q->n];

		if ((path->n_hosts > 1) != between_hosts)
			continue;
		comm->units = q->units + at;
		comm->n = put_units(path, p + 1, host_of, of_hosts, seen, q->units + at);
		comm->state = path->state;
		at += comm->n;
		q->path_of[q->n++] = p;
	}
	st = ct_tomo_solve(q->comms, q->n, n_units, &q->answer);
out:
	free(seen);
	return st;
}

/* The better explanation: of more of what is slow, by fewer causes, among fewer suspects. */
static int is_better(const struct ct_tomo *a, const struct ct_tomo *b)
{
	uint32_t a_suspects = 0, b_suspects = 0;

	for (uint32_t g = 0; g < a->n_groups; g++)
		a_suspects += a->groups[g].n;
	for (uint32_t g = 0; g < b->n_groups; g++)
		b_suspects += b->groups[g].n;
	if (a->n_unresolved != b->n_unresolved)
		return a->n_unresolved < b->n_unresolved;
	if (a->n_groups != b->n_groups)
		return a->n_groups < b->n_groups;
	return a_suspects < b_suspects;
}

static struct ct_cause *new_cause(struct ct_causes *out, enum ct_cause_kind kind,
				  const uint32_t *suspects, uint32_t n)
{
	struct ct_cause *more = realloc(out->all, (out->n + 1) * sizeof(*more)), *cause;

	if (!more)
		return NULL;
	out->all = more;
	cause = &out->all[out->n++];
	*cause = (struct ct_cause){ .kind = kind, .n = n };
	cause->suspects = malloc(((size_t)n + 1) * sizeof(*cause->suspects));
	cause->paths = calloc((size_t)out->n_paths + 1, sizeof(*cause->paths));
	if (!cause->suspects || !cause->paths)
		return NULL;
	memcpy(cause->suspects, suspects, n * sizeof(*suspects));
	return cause;
}

static int holds_any(const struct ct_tomo_comm *comm, const uint32_t *units, uint32_t n)
{
	for (uint32_t u = 0; u < comm->n; u++) {
		for (uint32_t k = 0; k < n; k++) {
			if (comm->units[u] == units[k])
				return 1;
		}
	}
	return 0;
}

static int is_same_set(const struct ct_path *a, const struct ct_path *b)
{
	return a->n == b->n && memcmp(a->slots, b->slots, a->n * sizeof(*a->slots)) == 0;
}

/* What is slow between the same members already; NULL: nothing. */
static struct ct_cause *link_of(struct ct_causes *out, const struct ct_path *path)
{
	for (uint32_t c = 0; c < out->n; c++) {
		struct ct_cause *cause = &out->all[c];

		if (cause->kind == CT_CAUSE_LINK && is_same_set(&out->paths[cause->paths[0]], path))
			return cause;
	}
	return NULL;
}

/* Slow with the same others only: then it may as well be the link to one of them, though they are
 * fast elsewhere. Of two, both are suspects. */
static int doubt(const struct ct_causes *out, struct ct_cause *cause)
{
	const struct ct_path *first = &out->paths[cause->paths[0]];
	uint32_t *both;

	for (uint32_t p = 1; p < cause->n_paths; p++) {
		if (!is_same_set(&out->paths[cause->paths[p]], first))
			return CT_OK;
	}
	cause->is_exact = 0;
	if (cause->kind != CT_CAUSE_RANKS || first->n != 2 || cause->n != 1)
		return CT_OK;
	both = realloc(cause->suspects, 2 * sizeof(*both));
	if (!both)
		return CT_NOMEM;
	memcpy(both, first->slots, 2 * sizeof(*both));
	cause->suspects = both;
	cause->n = 2;
	return CT_OK;
}

static int take_answer(const struct suspects *q, enum ct_cause_kind kind, struct ct_causes *out)
{
	uint32_t links = 0;

	for (uint32_t g = 0; g < q->answer.n_groups; g++) {
		const struct ct_tomo_group *group = &q->answer.groups[g];
		const uint32_t *suspects = q->answer.suspects + group->first;
		struct ct_cause *cause = new_cause(out, kind, suspects, group->n);

		if (!cause)
			return CT_NOMEM;
		cause->is_exact = group->n == 1;
		for (uint32_t c = 0; c < q->n; c++) {
			if (q->comms[c].state == CT_TOMO_SLOW_ONE &&
			    holds_any(&q->comms[c], suspects, group->n))
				cause->paths[cause->n_paths++] = q->path_of[c];
		}
		if (doubt(out, cause) != CT_OK)
			return CT_NOMEM;
	}
	for (uint32_t c = 0; c < q->n; c++) {
		const struct ct_path *path = &out->paths[q->path_of[c]];
		struct ct_cause *cause;

		if (!q->comms[c].unresolved)
			continue;
		cause = link_of(out, path);
		if (!cause && links++ == CT_CAUSE_LINKS)
			break;
		if (!cause)
			cause = new_cause(out, CT_CAUSE_LINK, path->slots, path->n);
		if (!cause)
			return CT_NOMEM;
		cause->is_exact = path->n == 2;
		cause->paths[cause->n_paths++] = q->path_of[c];
	}
	return CT_OK;
}

int ct_causes_find(const struct ct_transfers *transfers, const struct ct_comparison *comparison,
		   const uint32_t *host_of, uint32_t n_slots, uint32_t n_hosts,
		   struct ct_causes *out)
{
	struct suspects within, ranks, hosts;
	int st;

	*out = (struct ct_causes){ 0 };
	st = make_paths(transfers, comparison, out);
	if (st != CT_OK)
		return st;
	st = ask(out, host_of, 0, 0, n_slots, &within) ?: take_answer(&within, CT_CAUSE_RANKS, out);
	question_fini(&within);
	if (st != CT_OK)
		return st;
	st = ask(out, host_of, 1, 0, n_slots, &ranks);
	if (st == CT_OK) {
		st = ask(out, host_of, 1, 1, n_hosts, &hosts);
		if (st == CT_OK)
			st = is_better(&hosts.answer, &ranks.answer)
				     ? take_answer(&hosts, CT_CAUSE_HOSTS, out)
				     : take_answer(&ranks, CT_CAUSE_RANKS, out);
		question_fini(&hosts);
	}
	question_fini(&ranks);
	return st;
}

void ct_causes_fini(struct ct_causes *causes)
{
	for (uint32_t p = 0; p < causes->n_paths && causes->paths; p++)
		free(causes->paths[p].slots);
	for (uint32_t c = 0; c < causes->n; c++) {
		free(causes->all[c].suspects);
		free(causes->all[c].paths);
	}
	free(causes->paths);
	free(causes->path_of);
	free(causes->all);
	*causes = (struct ct_causes){ 0 };
}
